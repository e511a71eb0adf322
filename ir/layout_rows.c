/* SPDX-License-Identifier: Apache-2.0 */
/* layout_rows.c - the table of layouts, and those that the host adds. */
#include <string.h>

#include "ir/diag.h"
#include "ir/layout_impl.h"
#include "ir/nearest.h"
#include "quern/layout.h"

static const qn_plane_row plain_planes[] = {{.name = ""}};
static const qn_plane_row scaled_planes[] = {
	{.name = "d"}, {.name = "qs"}, {.name = "m", .optional = true}};
static const qn_plane_row super_planes[] = {{.name = "d", .tail = {1}},
					    {.name = "dmin", .tail = {1}},
					    {.name = "sb_scales_high", .dtype = "u8", .tail = {2}},
					    {.name = "sb_scales_low", .dtype = "u8", .tail = {4}},
					    {.name = "sb_mins_high", .dtype = "u8", .tail = {2}},
					    {.name = "sb_mins_low", .dtype = "u8", .tail = {4}},
					    {.name = "qs", .dtype = "u8", .tail = {8, 16}}};

#define PLANES(list) .nplane = (int32_t)QN_COUNT(list), .plane = list

/* name, elements of a block, bytes of one, GGUF type, planar layout, what it is */
#define PACKED(X)                                                                                  \
	X(q4_0, 32, 18, "4 bits, a scale for each 32")                                             \
	X(q4_1, 32, 20, "4 bits, a scale and an offset for each 32")                               \
	X(q5_0, 32, 22, "5 bits, a scale for each 32")                                             \
	X(q5_1, 32, 24, "5 bits, a scale and an offset for each 32")                               \
	X(q8_0, 32, 34, "8 bits, a scale for each 32")                                             \
	X(q2_K, 256, 84, "2 bits, a 4-bit scale and offset for each 16 of 256")                    \
	X(q3_K, 256, 110, "3 bits, a 6-bit scale for each 16 of 256")                              \
	X(q4_K, 256, 144, "4 bits, a 6-bit scale and offset for each 32 of 256")                   \
	X(q5_K, 256, 176, "5 bits, a 6-bit scale and offset for each 32 of 256")                   \
	X(q6_K, 256, 210, "6 bits, an 8-bit scale for each 16 of 256")

#define X(id, elements, size, text)                                                                \
	static const qn_plane_row planes_##id[] = {{.name = "", .dtype = "u8", .tail = {size}}};
PACKED(X)
#undef X

static const qn_layout_row rows[] = {
	{.name = "plain",
	 .help = "one array of any element type",
	 PLANES(plain_planes),
	 .check = qn_layout_check_plain,
	 .dequant = qn_layout_dequant_plain},
	{.name = "TensorScaledLayout",
	 .help = "(qs - m) * d, a scale for the tensor or for each index of an axis",
	 PLANES(scaled_planes),
	 .check = qn_layout_check_scaled,
	 .dequant = qn_layout_dequant_scaled},
	{.name = "BlockScaledLayout",
	 .help = "d * qs + m, a scale for each block of the last axis",
	 PLANES(scaled_planes),
	 .check = qn_layout_check_blocks,
	 .dequant = qn_layout_dequant_blocks,
	 .twin = "q8_0"},
	{.name = "BlockScaledI4Layout",
	 .help = "the same with two values of 4 bits in a byte",
	 PLANES(scaled_planes),
	 .check = qn_layout_check_blocks_i4,
	 .dequant = qn_layout_dequant_blocks,
	 .twin = "q4_0"},
	{.name = "SuperBlockOffsetScaled_4_6_Layout",
	 .help = "4 bits, a 6-bit scale and offset for each 32 of 256",
	 .block = 256,
	 PLANES(super_planes),
	 .dequant = qn_layout_dequant_super,
	 .twin = "q4_K"},
#define X(id, elements, size, text)                                                                \
	{.name = #id,                                                                              \
	 .help = text,                                                                             \
	 .block = elements,                                                                        \
	 .packed = &qn_packed_##id,                                                                \
	 PLANES(planes_##id)},
	PACKED(X)
#undef X
};

const qn_layout_row *
qn_layout_builtin(size_t i)
{
	return i < QN_COUNT(rows) ? &rows[i] : NULL;
}

const qn_layout_row *
qn_layout_by_ggml(uint32_t type)
{
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		if (rows[i].packed != NULL && (uint32_t)rows[i].packed->ggml == type)
			return &rows[i];
	return NULL;
}

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool
same_name(const char *a, const char *b)
{
	while (*a != '\0' && lower(*a) == lower(*b)) {
		a++;
		b++;
	}
	return *a == *b;
}

static const qn_layout_row *
find(const qn_env *env, const char *name)
{
	for (const qn_layout_row *r = env->layouts; r != NULL; r = r->next)
		if (same_name(r->name, name))
			return r;
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		if (same_name(rows[i].name, name))
			return &rows[i];
	return NULL;
}

qn_status
qn_layout_find(qn_env *env, const char *place, const char *name, const qn_layout_row **out)
{
	const char *best = NULL;

	*out = find(env, name);
	if (*out != NULL)
		return QN_OK;
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		best = qn_nearer_name(name, best, rows[i].name);
	return qn_report(env, QN_EUNSUPPORTED, "layout.unknown", place,
			 "unknown layout '%s'" QN_DID_YOU_MEAN, name, QN_SUGGEST(best));
}

/* ---- layouts of the host ---- */

static const char *
problem(const qn_env *env, const struct qn_layout_desc *d)
{
	if (d->name == NULL || d->name[0] == '\0')
		return "it has no name";
	if (find(env, d->name) != NULL)
		return "a layout of this name exists";
	if (d->block < 1 || d->block > QN_LAYOUT_BLOCK_MOST)
		return "block is not in 1..65536";
	if (d->nplane < 1 || d->nplane > QN_PLANES || d->plane == NULL)
		return "it must have 1 to 8 planes";
	if (d->dequant == NULL)
		return "it needs a function dequant";
	for (size_t i = 0; i < d->nplane; i++) {
		const qn_plane_spec *p = &d->plane[i];

		if (p->name == NULL || p->dtype == NULL || qn_dtype_by_name(p->dtype) == NULL)
			return "a plane needs a name and an element type (f16, u8 …)";
		if (p->tail[0] < 1 || p->tail[1] < 0 || p->tail[0] > QN_LAYOUT_BLOCK_MOST ||
		    p->tail[1] > QN_LAYOUT_BLOCK_MOST)
			return "a plane's tail is not in 1..65536";
	}
	return NULL;
}

qn_status
qn_layout_add(qn_env *env, qn_arena *a, const struct qn_layout_desc *desc)
{
	const char *wrong = problem(env, desc);

	if (wrong != NULL)
		return qn_report(env, QN_EUSAGE, "layout.register",
				 desc->name != NULL ? desc->name : "", "%s", wrong);
	struct qn_layout_desc *copy = qn_arena_copy(a, desc, sizeof *desc);
	qn_plane_row *planes = QN_NEW(a, qn_plane_row, desc->nplane);
	qn_layout_row *row = QN_NEW(a, qn_layout_row, 1);
	for (size_t i = 0; i < desc->nplane; i++)
		planes[i] =
			(qn_plane_row){.name = qn_arena_str(a, desc->plane[i].name),
				       .dtype = qn_dtype_by_name(desc->plane[i].dtype)->name,
				       .tail = {desc->plane[i].tail[0], desc->plane[i].tail[1]}};
	*row = (qn_layout_row){.name = qn_arena_str(a, desc->name),
			       .help = desc->help != NULL ? qn_arena_str(a, desc->help) : "",
			       .block = desc->block,
			       .nplane = (int32_t)desc->nplane,
			       .plane = planes,
			       .dequant = qn_layout_dequant_host,
			       .host = copy,
			       .next = env->layouts};
	env->layouts = row;
	return QN_OK;
}
