/* SPDX-License-Identifier: Apache-2.0 */
/* emit_io.c - NAME_io.h: float values in and out, for hosts that have them.
 *
 *   static inline void net_io_quantize_image(const float *x, int8_t *q);
 *   static inline void net_io_dequantize_probs(const int8_t *q, float *x);
 *   static inline int net_io_quantize_rows(const float *x, int8_t *q, int32_t rank, const int32_t *dim);
 *
 * The values are those of ir/tensor_quant.c, bit for bit; emit_io_walk.c has the loops and the checks of
 * a shape that is given at run time. */
#include "codegen/emit_io.h"

#include <string.h>

#define QUOTIENT_LIMIT 0x1p40 /* that of tensor_quant.c */

/* ---- what a port needs ---- */

/* Why a port has no functions; NULL if it has them. */
static const char *
find_io(const qn_emitter *em, bool input, size_t k, qn_io *p)
{
	*p = (qn_io){.e = em, .port = qn_port_of(em, input, k), .to_quantized = input};
	const qn_type *type = p->port.type;
	const qn_elem *e = type->elem;
	const qn_types *t = &em->g->model->types;
	double scale;
	int64_t zp;

	if (e->kind != QN_ELEM_UNIFORM)
		return "its values are integers";
	if (e->expressed != QN_PLAIN_f32 && e->expressed != QN_PLAIN_f64)
		return "C has no float type of 16 bits";
	p->real = e->expressed == QN_PLAIN_f32 ? "float" : "double";
	p->open = qn_type_count(type) < 0;
	p->single = qn_elem_is_single(e);
	p->n = qn_elem_nparams(e);
	qn_elem_param(t, e, 0, &scale, &p->zp);
	p->narrow = p->single && e->bits <= 16 && p->zp >= -65536 && p->zp <= 65536;
	for (size_t i = 1; i < p->n; i++) {
		qn_elem_param(t, e, i, &scale, &zp);
		p->zeros = p->zeros || zp != p->zp;
		p->narrow = p->narrow && zp >= -65536 && zp <= 65536;
	}
	if (e->bits > 32 && (p->zeros || p->zp != 0))
		return "its zero points can overflow";
	qn_io_find_axes(p);
	return NULL;
}

/* ---- numbers ---- */

/* A literal of C with the value of v. */
static void
put_real(const qn_io *p, double v, qn_buf *b)
{
	const size_t from = b->n;

	qn_buff(b, "%g", v);
	if (strpbrk(qn_buf_str(b) + from, ".e") == NULL)
		qn_buf_puts(b, ".0");
	if (p->single)
		qn_buf_putc(b, 'f');
}

static void
put_table(const qn_io *p, bool zeros, qn_buf *b)
{
	const qn_types *t = &p->e->g->model->types;

	qn_buff(b, "\tstatic const %s %s[] = {",
		zeros ? (p->narrow ? "int32_t" : "int64_t") : (p->single ? "float" : "double"),
		zeros ? "zero_point" : "scale");
	for (size_t i = 0; i < p->n; i++) {
		double scale;
		int64_t zp;

		qn_elem_param(t, p->port.type->elem, i, &scale, &zp);
		qn_buf_puts(b, i % 8 == 0 ? "\n\t\t" : " ");
		if (zeros)
			qn_buff(b, "%lld,", (long long)zp);
		else {
			put_real(p, scale, b);
			qn_buf_putc(b, ',');
		}
	}
	qn_buf_puts(b, "\n\t};\n");
}

/* ---- one element ---- */

/* The zero point, as C. */
static void
put_zero(const qn_io *p, qn_buf *b)
{
	if (p->zeros)
		qn_buf_puts(b, "zero_point[k]");
	else if (p->zp < 0)
		qn_buff(b, "(%lld)", (long long)p->zp);
	else
		qn_buff(b, "%lld", (long long)p->zp);
}

/* What the quotient is limited to: an end of the storage range less the zero point. */
static void
put_bound(const qn_io *p, int64_t end, qn_buf *b)
{
	const char *type = p->narrow ? "float" : "double";

	if (p->port.type->elem->bits > 32) {
		qn_buff(b, end < 0 ? "-%.1f" : "%.1f", QUOTIENT_LIMIT);
	} else {
		qn_buff(b, "(%s)(%s%lld - ", type, p->narrow ? "" : "(int64_t)", (long long)end);
		put_zero(p, b);
		qn_buf_putc(b, ')');
	}
}

static void
put_quantize(const qn_io *p, qn_buf *b)
{
	const qn_elem *e = p->port.type->elem;
	const char *name = p->e->plan->name;

	qn_buff(b, "q[at] = (%s)(%s_io_round_%s(", qn_ctype(e->plain), name,
		p->narrow ? "float" : "double");
	if (p->single && !p->narrow)
		qn_buf_puts(b, "(double)(x[at] / scale[k])");
	else
		qn_buf_puts(b, p->single || e->expressed == QN_PLAIN_f64
				       ? "x[at] / scale[k]"
				       : "(double)x[at] / scale[k]");
	qn_buf_puts(b, ", ");
	put_bound(p, e->qmin, b);
	qn_buf_puts(b, ", ");
	put_bound(p, e->qmax, b);
	qn_buf_puts(b, ") + ");
	put_zero(p, b);
	qn_buf_puts(b, ");\n");
}

static void
put_dequantize(const qn_io *p, qn_buf *b)
{
	const bool rounds = !p->single && p->port.type->elem->expressed == QN_PLAIN_f32;

	qn_buff(b, "x[at] = %s(%s)((%s)q[at] - ", rounds ? "(float)(" : "",
		p->single ? "float" : "double", p->narrow ? "int32_t" : "int64_t");
	put_zero(p, b);
	qn_buff(b, ") * scale[k]%s;\n", rounds ? ")" : "");
}

/* ---- functions ---- */

static void
put_variables(const qn_io *p, qn_buf *b)
{
	const int32_t levels = 2 * p->naxis + 1;

	put_table(p, false, b);
	if (p->zeros)
		put_table(p, true, b);
	qn_buf_puts(b, "\tsize_t at = 0, k");
	for (int32_t l = 0; l < levels; l++)
		qn_buff(b, ", i%d", l);
	for (int32_t l = 0; p->open && l < levels; l++)
		qn_buff(b, ", n%d = 1", l);
	qn_buf_puts(b, p->open ? ";\n\tint32_t d;\n\n" : ";\n\n");
}

static void
put_function(const qn_io *p, qn_buf *b)
{
	const char *code = qn_ctype(p->port.type->elem->plain);

	qn_buf_puts(b, "\n/* ");
	qn_emit_comment(b, p->port.text);
	qn_buf_putc(b, ' ');
	if (p->open) {
		qn_buf t;

		qn_buf_init(&t, p->e->arena);
		t.decimal = true;
		qn_type_print(&t, p->port.type);
		qn_emit_comment(b, qn_buf_str(&t));
	} else {
		qn_emit_shape(b, p->port.type);
	}
	qn_buff(b, " */\nstatic inline %s\n%s_io_%s_%s(const %s *%s, %s *%s%s)\n{\n",
		p->open ? "int" : "void", p->e->plan->name,
		p->to_quantized ? "quantize" : "dequantize", p->port.name,
		p->to_quantized ? p->real : code, p->to_quantized ? "x" : "q",
		p->to_quantized ? code : p->real, p->to_quantized ? "q" : "x",
		p->open ? ", int32_t rank, const int32_t *dim" : "");
	put_variables(p, b);
	if (p->open)
		qn_io_shape_check(p, b);
	qn_io_loops(p, b);
	for (int32_t i = 0; i < 2; i++) {
		for (int32_t l = 0; l <= 2 * p->naxis + 1; l++)
			qn_buf_putc(b, '\t');
		if (i == 0) {
			qn_buf_puts(b, "k = ");
			qn_io_index(p, b);
			qn_buf_puts(b, ";\n");
		} else if (p->to_quantized) {
			put_quantize(p, b);
		} else {
			put_dequantize(p, b);
		}
	}
	qn_io_ends(p, b);
	if (p->open)
		qn_buff(b, "\treturn %s_IO_OK;\n", p->e->macro);
	qn_buf_puts(b, "}\n");
}

/* v, limited to lo..hi and rounded to the nearest integer, halves to the even one; NaN is 0. */
static void
put_round(const qn_emitter *e, const char *real, const char *integer, const char *end, qn_buf *b)
{
	qn_buff(b,
		"\nstatic inline %s\n%s_io_round_%s(%s v, %s lo, %s hi)\n{\n"
		"\t%s t;\n\t%s rest;\n\n"
		"\tv = v != v ? 0.0%s : v;\n"
		"\tv = v < lo ? lo : v > hi ? hi : v;\n"
		"\tt = (%s)v;\n"
		"\trest = v - (%s)t;\n"
		"\tif (rest > 0.5%s || (rest == 0.5%s && t %% 2 != 0))\n\t\tt++;\n"
		"\tif (rest < -0.5%s || (rest == -0.5%s && t %% 2 != 0))\n\t\tt--;\n"
		"\treturn t;\n}\n",
		integer, e->plan->name, real, real, real, real, integer, real, end, integer, real,
		end, end, end, end);
}

void
qn_emit_io(qn_emitter *e, qn_buf *b)
{
	const char *name = e->plan->name, *macro = e->macro;
	bool narrow = false, wide = false;
	qn_io p;

	qn_emit_notice(e, "_io.h", "float values in and out", b);
	qn_buff(b,
		" *\n"
		" * For hosts with floating point: the program itself needs nothing of it. Compile "
		"without\n"
		" * -ffast-math. Arrays are those of one call of %s_run; where the shape is "
		"given,\n"
		" * the result is %s_IO_OK, or says what does not fit the type, and nothing is "
		"written.\n"
		" */\n"
		"#ifndef %s_IO_H\n#define %s_IO_H\n\n#include <stddef.h>\n\n#include \"%s.h\"\n\n",
		name, macro, macro, macro, name);
	qn_emit_content_check(e, "_io.h", b);
	qn_buff(b,
		"#define %s_IO_OK 0\n"
		"#define %s_IO_RANK 1 /* another number of dimensions */\n"
		"#define %s_IO_SHAPE 2 /* another length of a dimension */\n",
		macro, macro, macro);
	for (int way = 1; way >= 0; way--)
		for (size_t k = 0; k < qn_port_count(e, way == 1); k++)
			if (find_io(e, way == 1, k, &p) == NULL && p.to_quantized)
				*(p.narrow ? &narrow : &wide) = true;
	if (narrow)
		put_round(e, "float", "int32_t", "f", b);
	if (wide)
		put_round(e, "double", "int64_t", "", b);
	for (int way = 1; way >= 0; way--) {
		for (size_t k = 0; k < qn_port_count(e, way == 1); k++) {
			const char *why = find_io(e, way == 1, k, &p);

			if (why == NULL)
				put_function(&p, b);
			else
				qn_buff(b, "\n/* %s: %s */\n", p.port.name, why);
		}
	}
	qn_buf_puts(b, "\n#endif\n");
}
