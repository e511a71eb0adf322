/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_move.c - what moves elements, or computes indices; arithmetic on plain integers and
 * custom operators, whose functions have other parameters. */
#include "codegen/emitter.h"
#include "runtime/impl_args.h"
#include "runtime/impls.h"

/* ---- orders of elements ---- */

static const qn_kernel transpose[] = {
	{.name = "qn_transpose", .args = "qn_transpose_args", QN_ANY_1}};
static const qn_kernel view[] = {
	{.name = "qn_transpose", .args = "qn_transpose_args", .emit = qn_emit_view}};
static const qn_kernel concat[] = {
	{.name = "qn_concat_part", .args = "qn_concat_args", .emit = qn_emit_concat}};

const qn_op_kernels qn_emit_op_reshape = {.alias = true};
const qn_op_kernels qn_emit_op_flatten = {.alias = true};
const qn_op_kernels qn_emit_op_squeeze = {.alias = true};
const qn_op_kernels qn_emit_op_expand_dims = {.alias = true};
const qn_op_kernels qn_emit_op_trace = {.alias = true};
const qn_op_kernels qn_emit_op_expand_dims_like = {
	.why = "its elements are parameters of quantization, which are float values or plain "
	       "integers"};
const qn_op_kernels qn_emit_op_transpose = QN_KERNELS(transpose);
const qn_op_kernels qn_emit_op_slice = QN_KERNELS(view);
const qn_op_kernels qn_emit_op_expand = QN_KERNELS(view);
const qn_op_kernels qn_emit_op_tile = QN_KERNELS(view);
const qn_op_kernels qn_emit_op_reverse = QN_KERNELS(view);
const qn_op_kernels qn_emit_op_depth_to_space = QN_KERNELS(view);
const qn_op_kernels qn_emit_op_space_to_depth = QN_KERNELS(view);
/* The parts of a split are slices by the time there are steps (inline.c). */
const qn_op_kernels qn_emit_op_split = {.why = "a tuple has no bytes; use its fields"};
const qn_op_kernels qn_emit_op_concat = QN_KERNELS(concat);

/* ---- borders and triangles ---- */

static const char *
fits_copies(const qn_step_facts *f)
{
	return f->core->attr->pad.mode != QN_PAD_constant ? NULL : "it pads with one value";
}

/* One value is put in by its storage; elements that are not quantized are bytes. */
static const qn_kernel pad[] = {
	{.name = "qn_pad_copy", .args = "qn_pad_copy_args", QN_ANY_1, .fits = fits_copies},
	{.name = "qn_pad_q", .args = "qn_pad_args", .families = QN_ALL_FAMILIES, QN_CODES_1},
	{.name = "qn_pad_s8", .args = "qn_pad_args", .in = {QN_AS_BYTES}, .out = QN_AS_BYTES},
};
static const qn_kernel trilu[] = {{.name = "qn_trilu", .args = "qn_trilu_args", QN_ANY_1}};

const qn_op_kernels qn_emit_op_pad = QN_KERNELS(pad);
const qn_op_kernels qn_emit_op_trilu = QN_KERNELS(trilu);

/* ---- elements by indices ---- */

static const char *
fits_wide(const qn_step_facts *f)
{
	const qn_gather_call *c = f->step->args;

	return c->wide ? NULL : "its indices are i32";
}

static const qn_kernel gather[] = {
	{.name = "qn_gather_wide",
	 .args = "qn_gather_args",
	 .fits = fits_wide,
	 .emit = qn_emit_gather},
	{.name = "qn_gather", .args = "qn_gather_args", .emit = qn_emit_gather},
};
static const qn_kernel gather_elements[] = {
	{.name = "qn_gather_elements", .args = "qn_elements_args", QN_ANY_2}};
static const qn_kernel gather_nd[] = {{.name = "qn_gather_nd", .args = "qn_nd_args", QN_ANY_2}};

/* Data, indices, updates; elements that are not quantized are moved byte by byte. */
#define SCATTER(kernel, struct)                                                                    \
	{.name = kernel "_q",                                                                      \
	 .args = struct,                                                                           \
	 .families = QN_ALL_FAMILIES,                                                              \
	 .in = {QN_AS_OWN, QN_AS_ANY, QN_AS_OWN},                                                  \
	 .out = QN_AS_OWN,                                                                         \
	 .in_place = 1},                                                                           \
	{                                                                                          \
		.name = kernel "_s8", .args = struct, .in = {QN_AS_BYTES, QN_AS_ANY, QN_AS_BYTES}, \
		.out = QN_AS_BYTES, .in_place = 1                                                  \
	}
static const qn_kernel scatter_elements[] = {SCATTER("qn_scatter_elements", "qn_elements_args")};
static const qn_kernel scatter_nd[] = {SCATTER("qn_scatter_nd", "qn_nd_args")};
static const qn_kernel one_hot[] = {{.name = "qn_one_hot", .args = "qn_one_hot_args", QN_ANY_2}};

const qn_op_kernels qn_emit_op_gather = QN_KERNELS(gather);
const qn_op_kernels qn_emit_op_gather_elements = QN_KERNELS(gather_elements);
const qn_op_kernels qn_emit_op_gather_nd = QN_KERNELS(gather_nd);
const qn_op_kernels qn_emit_op_scatter_elements = QN_KERNELS(scatter_elements);
const qn_op_kernels qn_emit_op_scatter_nd = QN_KERNELS(scatter_nd);
const qn_op_kernels qn_emit_op_one_hot = QN_KERNELS(one_hot);

/* ---- pixels ---- */

static const qn_kernel nearest[] = {{.name = "qn_nearest",
				     .args = "qn_nearest_args",
				     QN_ANY_1,
				     .pointer = {QN_TABLE(qn_nearest_args, row, out_h, 1),
						 QN_TABLE(qn_nearest_args, col, out_w, 1)}}};
static const qn_kernel bilinear[] = {{.name = "qn_bilinear_q",
				      .args = "qn_bilinear_args",
				      .families = QN_ALL_FAMILIES,
				      QN_CODES_1}};

const qn_op_kernels qn_emit_op_resize_nearest = QN_KERNELS(nearest);
const qn_op_kernels qn_emit_op_resize_bilinear = QN_KERNELS(bilinear);

/* ---- loops ---- */

/* Statements around those of other steps (emit_loop.c). */
static const qn_kernel loop[] = {{.emit = qn_emit_loop}};
#define LOOP_KERNEL(op)                                                                            \
	static const qn_kernel op[] = {{.name = "qn_" #op, .args = "qn_loop_args", QN_ANY_2}};     \
	const qn_op_kernels qn_emit_op_##op = QN_KERNELS(op);

LOOP_KERNEL(loop_slice)
LOOP_KERNEL(loop_carry)
LOOP_KERNEL(loop_stack)
LOOP_KERNEL(loop_last)
const qn_op_kernels qn_emit_op_loop = QN_KERNELS(loop);
const qn_op_kernels qn_emit_op_loop_end = {.alias = true};

/* ---- functions of their own ---- */

static const qn_kernel custom[] = {{.emit = qn_emit_custom}};
static const qn_kernel plain[] = {
	{.name = "qn_plain_apply", .args = "qn_plain_args", .emit = qn_emit_plain}};
static const qn_op_kernels plain_impl = QN_KERNELS(plain);
static const qn_kernel plain_fold[] = {
	{.name = "qn_plain_fold", .args = "qn_plain_along_args", .emit = qn_emit_plain_along}};
static const qn_kernel plain_running[] = {
	{.name = "qn_plain_running", .args = "qn_plain_along_args", .emit = qn_emit_plain_along}};
static const qn_kernel plain_place[] = {
	{.name = "qn_plain_place", .args = "qn_plain_along_args", .emit = qn_emit_plain_along}};
static const qn_op_kernels fold_impl = QN_KERNELS(plain_fold);
static const qn_op_kernels place_impl = QN_KERNELS(plain_place);
static const qn_op_kernels running_impl = QN_KERNELS(plain_running);

const qn_op_kernels qn_emit_op_custom = QN_KERNELS(custom);

const qn_op_kernels *
qn_op_kernels_of(const qn_graph *g, const qn_node *n)
{
	const qn_op_kernels *blocks = qn_blocks_kernels(g, n);

	if (blocks != NULL)
		return blocks;
	if (qn_node_along_plain(g, n))
		return n->op == QN_OP_cumsum                            ? &running_impl
		       : n->op == QN_OP_argmax || n->op == QN_OP_argmin ? &place_impl
									: &fold_impl;
	return qn_node_on_plain(g, n) ? &plain_impl : qn_op_kernels_get(n->op);
}
