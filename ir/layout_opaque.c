/* SPDX-License-Identifier: Apache-2.0 */
/* layout_opaque.c - packed forms of GGUF files that nothing here computes with: their tensors have a name, a shape and
 * bytes, and can be copied to another GGUF file.
 *
 *   iq4_nl   ""  u8 [N,K/32,18] */
#include <math.h>

#include "ir/diag.h"
#include "ir/layout.h"

/* name, type in a GGUF file, elements of a block, bytes of one: ggml.h and ggml-common.h of ggml */
#define OPAQUE(X)                                                                                  \
	X(q8_1, 9, 32, 36)                                                                         \
	X(q8_K, 15, 256, 292)                                                                      \
	X(iq2_xxs, 16, 256, 66)                                                                    \
	X(iq2_xs, 17, 256, 74)                                                                     \
	X(iq3_xxs, 18, 256, 98)                                                                    \
	X(iq1_s, 19, 256, 50)                                                                      \
	X(iq4_nl, 20, 32, 18)                                                                      \
	X(iq3_s, 21, 256, 110)                                                                     \
	X(iq2_s, 22, 256, 82)                                                                      \
	X(iq4_xs, 23, 256, 136)                                                                    \
	X(iq1_m, 29, 256, 56)                                                                      \
	X(tq1_0, 34, 256, 54)                                                                      \
	X(tq2_0, 35, 256, 66)                                                                      \
	X(mxfp4, 39, 32, 17)

#define X(id, type, elements, size)                                                                \
	static const qn_plane_row planes_##id[] = {{.name = "", .dtype = "u8", .tail = {size}}};
OPAQUE(X)
#undef X

/* There are none. */
static void
no_values(const qn_layout_tensor *t, float *out)
{
	for (int64_t i = 0; i < qn_layout_elements(t); i++)
		out[i] = NAN;
}

static const qn_layout_row rows[] = {
#define X(id, type, elements, size)                                                                \
	{.name = #id,                                                                              \
	 .help = "a type of GGUF files whose values are not read",                                 \
	 .block = elements,                                                                        \
	 .nplane = 1,                                                                              \
	 .plane = planes_##id,                                                                     \
	 .dequant = no_values},
	OPAQUE(X)
#undef X
};

#define X(id, type, elements, size) type,
static const int32_t types[] = {OPAQUE(X)};
#undef X

const qn_layout_row *
qn_layout_opaque(uint32_t type)
{
	for (size_t i = 0; i < QN_COUNT(types); i++)
		if ((uint32_t)types[i] == type)
			return &rows[i];
	return NULL;
}

int32_t
qn_layout_opaque_type(const qn_layout_tensor *t)
{
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		if (t->layout == &rows[i])
			return types[i];
	return -1;
}

qn_status
qn_layout_readable(qn_env *env, const char *place, const qn_layout_tensor *t)
{
	if (qn_layout_opaque_type(t) < 0)
		return QN_OK;
	return qn_report(env, QN_EUNSUPPORTED, "layout.values", place,
			 "its values have the type %s of GGUF files, which cannot be read; "
			 "llama-quantize --allow-requantize of llama.cpp writes a file of another "
			 "type, such as q4_0 or q4_K",
			 t->layout->name);
}
