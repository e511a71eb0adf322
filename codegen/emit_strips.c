/* SPDX-License-Identifier: Apache-2.0 */
/* emit_strips.c - a convolution or element-wise step of whose result only the rows of a window are in memory, of the
 * pool or convolution that reads it, after the element-wise step between them, if there is one:
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
 *                   c.n = (r.rows - r.kept) * 224;
 *                   qn_lut_s8(&c, strip + r.kept * 224, strip + r.kept * 224);
 *           }
 *           …
 *           qn_max_pool_s8(&b, strip, rows, y + i * 112);
 *   }
 *   } */
#include <string.h>

#include "codegen/emitter.h"
#include "codegen/strips.h"
#include "runtime/impl_args.h"

/* The type of a value's elements, and how many elements of it are a row of an operand or result. */
typedef struct image {
	const char *type;
	long long row;
} image;

static image
image_of(const qn_graph *g, qn_id id, int32_t row)
{
	return (image){qn_ctype(qn_stored_plain(qn_graph_node(g, id)->type)), row};
}

static void
put_places(qn_emitter *e, const qn_step *s, const image *x, const image *rows, const image *y)
{
	const size_t at = s->work_offset + s->strip->at;

	e->uses_scratch = true;
	qn_buff(&e->run, "\tconst %s *x = %s;\n", x->type, qn_emit_ref(e, s->in[0], QN_OWN));
	qn_buff(&e->run, "\t%s *strip = (%s *)(void *)(s + %zu);\n", rows->type, rows->type, at);
	qn_buff(&e->run, "\t%s *y = %s;\n", y->type, qn_emit_ref(e, s->node, QN_OWN));
}

/* The begin of each turn: which rows of the first step's result it wants. */
static void
put_turn(qn_emitter *e, const qn_strip_of *s)
{
	const qn_windows *v = &s->windows;

	if (v->at_once == 1) {
		qn_buff(&e->run, "\tint32_t i;\n\n\tb.out_h = 1;\n\tfor (i = 0; i < %d; i++) {\n",
			v->n);
		qn_buff(&e->run, "\tqn_strip_next(&r, i * %d - %d, %d", v->stride, v->pad,
			v->reach);
	} else {
		qn_buff(&e->run,
			"\tint32_t i, n;\n\n\tfor (i = 0; i < %d; i += n) {\n"
			"\tn = %d - i < %d ? %d - i : %d;\n",
			v->n, v->n, v->at_once, v->n, v->at_once);
		qn_buff(&e->run, "\tqn_strip_next(&r, i * %d - %d, (n - 1) * %d + %d", v->stride,
			v->pad, v->stride, v->reach);
	}
	qn_buff(&e->run, ", %d, (int8_t *)strip, %zu);\n", s->made.out_h, s->row_bytes);
}

/* Where the rows begin that were not there, for a value of this type. */
static const char *
new_rows(qn_emitter *e, const image *rows, const char *type)
{
	qn_buf b;

	qn_buf_init(&b, e->arena);
	if (strcmp(type, rows->type) != 0)
		qn_buff(&b, "(%s *)(strip + r.kept * %lld)", type, rows->row);
	else
		qn_buff(&b, "strip + r.kept * %lld", rows->row);
	return qn_buf_str(&b);
}

/* Sets how many elements an element-wise step makes in its arguments, of this name. */
static void
put_count(qn_emitter *e, const qn_strip_of *s, const qn_step *step, const char *args)
{
	const qn_fields *f = qn_emit_fields(e, qn_emit_name(e, step, step->kernel->args));

	qn_buff(&e->run, "\t%s.%s = (r.rows - r.kept) * %d;\n", args, f->item[s->count].name,
		s->each);
}

/* The step between on these rows, in place; made: what they are before. */
static void
put_between(qn_emitter *e, const qn_strip_of *s, const image *rows, const char *made)
{
	put_count(e, s, s->between, "c");
	qn_emit_kernel_call(e, s->between, s->between->kernel, s->between->args,
			    &(qn_call){"c", made, new_rows(e, rows, rows->type)});
}

/* The rows that a turn wants and that are not there. */
static void
put_rows(qn_emitter *e, const qn_strip_of *s, const qn_step *maker, const image *x,
	 const image *rows)
{
	const qn_maker *m = &s->made;
	const char *to = new_rows(e, rows, image_of(e->g, maker->node, 1).type);
	qn_buf from;

	qn_buf_init(&from, e->arena);
	qn_buff(&from, "x + r.in_first * %lld", x->row);
	qn_buff(&e->run,
		"\tif (r.rows > r.kept) {\n"
		"\tqn_strip_operand(&r, %d, %d, %d, %d);\n",
		m->in_h, m->stride, m->reach, m->pad);
	if (m->element_wise)
		put_count(e, s, maker, "a");
	else
		qn_buf_puts(&e->run, "\ta.in_h = r.in_h;\n"
				     "\ta.out_h = r.rows - r.kept;\n"
				     "\ta.pad_t = r.pad_t;\n");
	qn_emit_kernel_call(e, maker, maker->kernel, maker->args,
			    &(qn_call){"a", qn_buf_str(&from), to});
	if (s->between != NULL)
		put_between(e, s, rows, to);
	qn_buf_puts(&e->run, "\t}\n");
}

static void
put_window(qn_emitter *e, const qn_step *reader, const qn_windows *v)
{
	const qn_pool_args *pool = reader->kernel->reads_rows ? reader->args : NULL;
	qn_buf to;

	qn_buf_init(&to, e->arena);
	qn_buff(&to, "y + i * %d", v->elements);
	qn_buff(&e->run, "\tb.in_h = r.rows;\n\tb.pad_t = r.first - (i * %d - %d);\n", v->stride,
		v->pad);
	if (v->at_once > 1)
		qn_buf_puts(&e->run, "\tb.out_h = n;\n");
	if (pool != NULL && pool->end_h != 0)
		qn_buff(&e->run, "\tb.end_h = %d - r.first;\n", pool->end_h);
	qn_emit_kernel_call(e, reader, reader->kernel, reader->args,
			    &(qn_call){"b", "strip", qn_buf_str(&to)});
}

/* A copy of a kernel's arguments, of which some change from turn to turn. */
static void
put_args(qn_emitter *e, const qn_step *s, const char *name)
{
	const char *symbol = qn_emit_kernel_args(e, s, s->kernel, s->args);

	qn_buff(&e->run, "\t%s %s = %s;\n", qn_emit_name(e, s, s->kernel->args), name, symbol);
}

void
qn_emit_strips(qn_emitter *e, const qn_step *s)
{
	qn_step maker = *s->strip->maker, reader = *s->strip->reader;
	const qn_windows *v = &s->strip->windows;
	const image x = image_of(e->g, s->in[0], s->strip->made.in_row),
		    rows = image_of(e->g, reader.in[0], s->strip->made.out_row),
		    y = image_of(e->g, s->node, v->elements);

	maker.work_offset = s->work_offset;
	reader.work_offset = s->work_offset + s->strip->reader_at;
	qn_buf_puts(&e->run, "\t{\n");
	put_places(e, s, &x, &rows, &y);
	qn_buf_puts(&e->run, "\tqn_strip r = {0, 0, 0, 0, 0, 0};\n");
	put_args(e, &maker, "a");
	put_args(e, &reader, "b");
	if (s->strip->between != NULL)
		put_args(e, s->strip->between, "c");
	put_turn(e, s->strip);
	put_rows(e, s->strip, &maker, &x, &rows);
	put_window(e, &reader, v);
	qn_buf_puts(&e->run, "\t}\n\t}\n");
}
