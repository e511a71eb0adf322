/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_unary.c - functions of one value, by a table among the constants, prelu, bounds, and
 * changes of scale and storage.
 *
 *   NET_WEIGHTS_ATTR const int8_t net_act_lut[256] = {…        qn_lut_s8(&net_act_args, …); */
#include "codegen/kernel_table.h"
#include "runtime/channels.h"
#include "runtime/impl_args.h"

/* ---- tables ---- */

#define LUT(entries) .pointer = {{.table = "lut", .at = offsetof(qn_lut, table), .each = (entries)}}
#define TABLE QN_CODES_1, .in_place = 1, .counts = 1
#define TABLE_8                                                                                    \
	{                                                                                          \
		.name = "qn_lut_q", .args = "qn_lut_args_o", .families = QN_8BIT_FAMILIES, TABLE,  \
		LUT(256)                                                                           \
	}
#define TABLE_16                                                                                   \
	{                                                                                          \
		.name = "qn_lut_q", .args = "qn_lut_args_o", .families = 1 << QN_FAMILY_s16,       \
		TABLE, LUT(QN_LUT_LINES + 1)                                                       \
	}

static const char *
fits_lines(const qn_step_facts *f)
{
	const qn_lut *lut = f->step->args;

	return lut->part != NULL ? NULL : "its table is given";
}

#define LINES                                                                                      \
	{                                                                                          \
		.name = "qn_lut_lines_s16", .args = "qn_lut_lines_args",                           \
		.families = 1 << QN_FAMILY_s16, TABLE, .fits = fits_lines, .pointer = {            \
			{.table = "part", .at = offsetof(qn_lut, part), .each = QN_LUT_PARTS},     \
			{.table = "lut",                                                           \
			 .at = offsetof(qn_lut, table),                                            \
			 .count = offsetof(qn_lut, points),                                        \
			 .each = 1},                                                               \
		}                                                                                  \
	}

const qn_kernel qn_table_kernels[QN_TABLE_KERNELS] = {TABLE_8, LINES, TABLE_16};

/* TFLite's sigmoid and tanh of i16 (qn_lut_curve). */
static const char *
fits_curve(const qn_step_facts *f)
{
	const qn_lut *lut = f->step->args;

	return lut->plain == QN_PLAIN_u16 ? NULL : "its scales differ from those of its table";
}

#define CURVE(kernel)                                                                              \
	{                                                                                          \
		.name = kernel, .args = "qn_sigmoid_args", .families = 1 << QN_FAMILY_s16, TABLE,  \
		LUT(256), .fits = fits_curve                                                       \
	}

static const qn_kernel sigmoid[] = {CURVE("qn_sigmoid_s16"), TABLE_8, LINES};
static const qn_kernel tangent[] = {CURVE("qn_tanh_s16"), TABLE_8, LINES};

const qn_op_kernels qn_emit_op_sigmoid = QN_KERNELS(sigmoid);
const qn_op_kernels qn_emit_op_tanh = QN_KERNELS(tangent);

/* Functions whose integer arithmetic is that of a table have its kernels, the others those above. */
#define EMITS_LUT(name) const qn_op_kernels qn_emit_op_##name = QN_KERNELS(qn_table_kernels);
#define EMITS_FIXED(name)
#define FUNCTION(name, attributes, behaviour, types, value, facts) EMITS_##behaviour(name)
#include "ir/ops.def"

EMITS_LUT(pow)
EMITS_LUT(table)

/* ---- prelu and bounds ---- */

static const qn_kernel prelu[] = {{.name = "qn_prelu_q",
				   .args = "qn_prelu_args",
				   .families = QN_ALL_FAMILIES,
				   QN_CODES_2,
				   .in_place = 1}};
static const qn_kernel clip[] = {{.name = "qn_clip_q",
				  .args = "qn_clip_args",
				  .families = QN_ALL_FAMILIES,
				  QN_CODES_1,
				  .in_place = 1,
				  .counts = 1}};

const qn_op_kernels qn_emit_op_prelu = QN_KERNELS(prelu);
const qn_op_kernels qn_emit_op_relu = QN_KERNELS(clip);
const qn_op_kernels qn_emit_op_relu6 = QN_KERNELS(clip);
const qn_op_kernels qn_emit_op_clip = QN_KERNELS(clip);
const qn_op_kernels qn_emit_op_clamp = QN_KERNELS(clip);

/* ---- requantize: a kernel by what it reads; what it writes is the step's family ---- */

static int32_t
bits_read(const qn_step_facts *f)
{
	return qn_graph_node(f->g, f->step->in[0])->type->elem->bits;
}

/* Whether the node has zero points for each channel, or has one, and reads what `reads` says. */
#define FITS(name, is_axis, reads)                                                                 \
	static const char *name(const qn_step_facts *f)                                            \
	{                                                                                          \
		if (f->core->attr->requantize.align != 0)                                          \
			return "its scales are aligned";                                           \
		if (qn_zero_points_differ(f->g, f->core) != (is_axis))                             \
			return "its zero points must be one, or one per channel";                  \
		return (reads) ? NULL : "its kernel reads another storage type";                   \
	}
FITS(fits_own, false, f->from == f->family)
FITS(fits_from, false, true)
FITS(fits_32, false, bits_read(f) == 32)
FITS(fits_64, false, bits_read(f) == 64)
FITS(fits_axis_own, true, f->from == f->family)
FITS(fits_axis_from, true, true)
FITS(fits_axis_32, true, bits_read(f) == 32)
FITS(fits_axis_64, true, bits_read(f) == 64)

static const char *
fits_aligned_from(const qn_step_facts *f)
{
	return f->core->attr->requantize.align != 0 ? NULL : "its scales are not aligned";
}

static const char *
fits_aligned_own(const qn_step_facts *f)
{
	return f->from == f->family ? fits_aligned_from(f)
				    : "its kernel reads another storage type";
}

/* One multiplier that is a power of two rounds nothing. */
static const char *
fits_shift(const qn_step_facts *f)
{
	const qn_requantize_args *r = f->step->args;
	const char *why = fits_from(f);

	if (why != NULL)
		return why;
	return r->mult_n == 1 && r->mult[0] == 1 << 30 && r->shift[0] >= 1 && r->shift[0] <= 8
		       ? NULL
		       : "its multiplier is not a power of two from 1 to 128";
}

static void *
pack_shift(const qn_step_facts *f, qn_arena *a)
{
	const qn_requantize_args *r = f->step->args;
	qn_shift_args *s = QN_NEW(a, qn_shift_args, 1);

	*s = (qn_shift_args){.outer = r->outer,
			     .channels = r->channels,
			     .inner = r->inner,
			     .zi = r->zi,
			     .zo = r->zo,
			     .lo = r->lo,
			     .hi = r->hi,
			     .up = r->shift[0] - 1};
	return s;
}

#define SHIFT(from, smaller)                                                                       \
	{                                                                                          \
		.name = "qn_shift_from_" #from "_q", .args = "qn_shift_args", QN_CODES_1,          \
		.in_place = 1, .counts = 3, FROM(from), .fits = fits_shift, .pack = pack_shift,    \
		.shrinks = smaller                                                                 \
	}
#define REQUANTIZE(kernel, ...)                                                                    \
	{                                                                                          \
		.name = kernel, .args = "qn_requantize_args", QN_CODES_1, .in_place = 1,           \
		.counts = 3,                                                                       \
		.pointer = {QN_TABLE(qn_requantize_args, mult, mult_n, 1),                         \
			    QN_TABLE(qn_requantize_args, shift, mult_n, 1)},                       \
		__VA_ARGS__                                                                        \
	}
#define BY_AXIS(kernel, ...)                                                                       \
	{                                                                                          \
		.name = kernel, .args = "qn_requantize_axis_args", QN_CODES_1, .in_place = 1,      \
		.counts = 3,                                                                       \
		.pointer = {QN_TABLE(qn_requantize_axis_args, zero, channels, 2),                  \
			    QN_TABLE(qn_requantize_axis_args, mult, channels, 1),                  \
			    QN_TABLE(qn_requantize_axis_args, shift, channels, 1)},                \
		__VA_ARGS__                                                                        \
	}
#define ALIGNED(kernel, ...)                                                                       \
	{                                                                                          \
		.name = kernel, .args = "qn_requantize_aligned_args", QN_CODES_1, .in_place = 1,   \
		.counts = 3,                                                                       \
		.pointer = {QN_TABLE(qn_requantize_aligned_args, table, channels, 3)}, __VA_ARGS__ \
	}
#define FROM(f) .families = QN_ALL_FAMILIES & ~(1 << QN_FAMILY_##f), .reads = 1 << QN_FAMILY_##f
#define TO_ALL .families = QN_ALL_FAMILIES

static const qn_kernel requantize[] = {
	REQUANTIZE("qn_requantize_q", TO_ALL, .fits = fits_own),
	SHIFT(s8, false),
	SHIFT(u8, false),
	SHIFT(s16, true),
	REQUANTIZE("qn_requantize_from_s8_q", FROM(s8), .fits = fits_from),
	REQUANTIZE("qn_requantize_from_u8_q", FROM(u8), .fits = fits_from),
	REQUANTIZE("qn_requantize_from_s16_q", FROM(s16), .fits = fits_from),
	REQUANTIZE("qn_requantize_s32_q", TO_ALL, .fits = fits_32),
	REQUANTIZE("qn_requantize_s64_q", TO_ALL, .fits = fits_64),
	BY_AXIS("qn_requantize_axis_q", TO_ALL, .fits = fits_axis_own),
	BY_AXIS("qn_requantize_axis_from_s8_q", FROM(s8), .fits = fits_axis_from),
	BY_AXIS("qn_requantize_axis_from_u8_q", FROM(u8), .fits = fits_axis_from),
	BY_AXIS("qn_requantize_axis_from_s16_q", FROM(s16), .fits = fits_axis_from),
	BY_AXIS("qn_requantize_axis_s32_q", TO_ALL, .fits = fits_axis_32),
	BY_AXIS("qn_requantize_axis_s64_q", TO_ALL, .fits = fits_axis_64),
	ALIGNED("qn_requantize_aligned_q", TO_ALL, .fits = fits_aligned_own),
	ALIGNED("qn_requantize_aligned_from_s8_q", FROM(s8), .fits = fits_aligned_from),
	ALIGNED("qn_requantize_aligned_from_u8_q", FROM(u8), .fits = fits_aligned_from),
	ALIGNED("qn_requantize_aligned_from_s16_q", FROM(s16), .fits = fits_aligned_from),
};

const qn_op_kernels qn_emit_op_quantize = {.why = "it reads float values; emitted code has none"};
const qn_op_kernels qn_emit_op_const_fake_quant = {
	.why = "it stands for a quantize and a dequantize (pass fake-quant)"};
#define STATISTICS "it is a note for the pass transform"
const qn_op_kernels qn_emit_op_stats_ref = {.why = STATISTICS};
const qn_op_kernels qn_emit_op_stats = {.why = STATISTICS};
const qn_op_kernels qn_emit_op_coupled_ref = {.why = STATISTICS};
const qn_op_kernels qn_emit_op_dequantize = {
	.why = "its result is float; emitted code has no float values"};
const qn_op_kernels qn_emit_op_requantize = QN_KERNELS(requantize);
const qn_op_kernels qn_emit_op_scast = {.alias = true};

/* ---- plain integers of another width ---- */

static const qn_kernel cast[] = {{.name = "qn_cast", .args = "qn_cast_args", QN_ANY_1}};

const qn_op_kernels qn_emit_op_cast = QN_KERNELS(cast);
