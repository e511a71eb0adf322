/* SPDX-License-Identifier: Apache-2.0 */
/* type_name.c - types by the names that NumPy, TFLite and ONNX give them. */
#include <string.h>

#include "ir/type.h"

const char *
qn_type_name(const char *name)
{
	static const struct {
		const char *theirs, *ours;
	} rows[] = {
		{"int4", "i4"},     {"int8", "i8"},     {"uint8", "u8"},    {"int16", "i16"},
		{"uint16", "u16"},  {"int32", "i32"},   {"uint32", "u32"},  {"int64", "i64"},
		{"float16", "f16"}, {"float32", "f32"}, {"float64", "f64"}, {"bfloat16", "bf16"},
	};

	for (size_t i = 0; i < QN_COUNT(rows); i++)
		if (strcmp(name, rows[i].theirs) == 0)
			return rows[i].ours;
	return name;
}
