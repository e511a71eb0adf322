/* SPDX-License-Identifier: Apache-2.0 */
/* type_name.c - types by the names that MLIR, NumPy, TFLite and ONNX give them. */
#include <string.h>

#include "ir/type.h"

const char *
qn_type_of_mlir(const char *name, size_t n)
{
	static const struct {
		const char *theirs, *ours;
	} rows[] = {
		{"si2", "i2"},   {"ui2", "u2"},   {"si4", "i4"},   {"ui4", "u4"},
		{"si8", "i8"},   {"ui8", "u8"},   {"si16", "i16"}, {"ui16", "u16"},
		{"si32", "i32"}, {"ui32", "u32"}, {"si64", "i64"}, {"ui64", "u64"},
	};

	for (size_t i = 0; i < QN_COUNT(rows); i++)
		if (strlen(rows[i].theirs) == n && memcmp(name, rows[i].theirs, n) == 0)
			return rows[i].ours;
	return NULL;
}

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
	const char *ours = qn_type_of_mlir(name, strlen(name));
	return ours != NULL ? ours : name;
}
