/* SPDX-License-Identifier: Apache-2.0 */
/* emit_strips.c - a convolution of whose result only the rows of a pool's window are in memory:
 *
 *   {
 *   const int8_t *x = in->image;
 *   int8_t *strip = s + 64, *y = out->pool;
 *   qn_strip r = {0, 0, 0, 0, 0, 0};
 *   qn_conv2d_args a = net_conv1_args;
 *   qn_pool_args b = net_pool1_args;
 *   int32_t i;
 *
 *   b.out_h = 1;
 *   for (i = 0; i < 14; i++) {
 *           qn_strip_next(&r, i * 2, 2, 28, strip, 224);
 *           if (r.rows > r.kept) {
 *                   …
 *                   qn_conv2d_s8(&a, x + r.in_first * 28, rows, strip + r.kept * 224);
 *           }
 *           …
 *           qn_max_pool_s8(&b, strip, rows, y + i * 112);
 *   }
 *   } */
#include "codegen/emitter.h"
#include "codegen/strips.h"
#include "runtime/impl_args.h"

/* The type of a value's elements, and how many elements of it are a row of a pool's operand or result. */
typedef struct image {
	const char *type;
	long long row;
} image;

static image
image_of(const qn_graph *g, qn_id id, int32_t w, int32_t c)
{
	return (image){qn_ctype(qn_stored_plain(qn_graph_node(g, id)->type)), (long long)w * c};
}

static void
put_places(qn_emitter *e, const qn_step *s, const image *x, const image *y)
{
	const size_t at = s->work_offset + s->strip->at;

	e->uses_scratch = true;
	qn_buff(&e->run, "\tconst %s *x = %s;\n", x->type, qn_emit_ref(e, s->in[0], QN_OWN));
	qn_buff(&e->run, "\t%s *strip = (%s *)(void *)(s + %zu);\n", y->type, y->type, at);
	qn_buff(&e->run, "\t%s *y = %s;\n", y->type, qn_emit_ref(e, s->node, QN_OWN));
}

/* The rows that a window wants and that are not there. */
static void
put_rows(qn_emitter *e, const qn_step *conv, const image *x, const image *rows)
{
	const qn_conv2d_args *c = &((const qn_conv2d_call *)conv->prepared)->args;
	qn_buf from, to;

	qn_buf_init(&from, e->arena);
	qn_buf_init(&to, e->arena);
	qn_buff(&from, "x + r.in_first * %lld", x->row);
	qn_buff(&to, "strip + r.kept * %lld", rows->row);
	qn_buff(&e->run,
		"\tif (r.rows > r.kept) {\n"
		"\tqn_strip_operand(&r, %d, %d, %d, %d);\n"
		"\ta.in_h = r.in_h;\n"
		"\ta.out_h = r.rows - r.kept;\n"
		"\ta.pad_t = r.pad_t;\n",
		c->in_h, c->stride_h, (c->k_h - 1) * c->dil_h + 1, c->pad_t);
	qn_emit_kernel_call(e, conv, conv->kernel, conv->args,
			    &(qn_call){"a", qn_buf_str(&from), qn_buf_str(&to)});
	qn_buf_puts(&e->run, "\t}\n");
}

static void
put_window(qn_emitter *e, const qn_step *pool, const image *y)
{
	const qn_pool_args *b = pool->args;
	qn_buf to;

	qn_buf_init(&to, e->arena);
	qn_buff(&to, "y + i * %lld", y->row);
	qn_buff(&e->run, "\tb.in_h = r.rows;\n\tb.pad_t = r.first - (i * %d - %d);\n", b->stride_h,
		b->pad_t);
	if (b->end_h != 0)
		qn_buff(&e->run, "\tb.end_h = %d - r.first;\n", b->end_h);
	qn_emit_kernel_call(e, pool, pool->kernel, pool->args,
			    &(qn_call){"b", "strip", qn_buf_str(&to)});
}

void
qn_emit_strips(qn_emitter *e, const qn_step *s)
{
	qn_step conv = *s->strip->conv;
	const qn_step *pool = s->strip->pool;
	const qn_conv2d_args *c = &((const qn_conv2d_call *)conv.prepared)->args;
	const qn_pool_args *b = pool->args;
	const image x = image_of(e->g, s->in[0], c->in_w, c->in_c),
		    rows = image_of(e->g, pool->in[0], c->out_w, c->out_c),
		    y = image_of(e->g, s->node, b->out_w, b->c);

	conv.work_offset = s->work_offset;
	const char *a = qn_emit_kernel_args(e, &conv, conv.kernel, conv.args),
		   *other = qn_emit_kernel_args(e, pool, pool->kernel, pool->args);
	qn_buf_puts(&e->run, "\t{\n");
	put_places(e, s, &x, &rows);
	qn_buf_puts(&e->run, "\tqn_strip r = {0, 0, 0, 0, 0, 0};\n");
	qn_buff(&e->run, "\t%s a = %s;\n", qn_emit_name(e, &conv, conv.kernel->args), a);
	qn_buff(&e->run, "\t%s b = %s;\n", qn_emit_name(e, pool, pool->kernel->args), other);
	qn_buff(&e->run, "\tint32_t i;\n\n\tb.out_h = 1;\n\tfor (i = 0; i < %d; i++) {\n",
		b->out_h);
	qn_buff(&e->run, "\tqn_strip_next(&r, i * %d - %d, %d, %d, (int8_t *)strip, %zu);\n",
		b->stride_h, b->pad_t, b->k_h, c->out_h, s->strip->row_bytes);
	put_rows(e, &conv, &x, &rows);
	put_window(e, pool, &y);
	qn_buf_puts(&e->run, "\t}\n\t}\n");
}
