/* SPDX-License-Identifier: Apache-2.0 */
/* emit_io.c - NAME_io.h: float values in and out, for hosts that have them.
 *
 *   static inline void net_io_quantize_image(const float *x, int8_t *q);
 *   static inline void net_io_dequantize_probs(const int8_t *q, float *x);
 *   static inline int net_io_quantize_rows(const float *x, int8_t *q, int32_t rank, const int32_t *dim);
 *
 * The values are those of ir/tensor_quant.c, bit for bit.  A tensor is walked as nested loops: one over
 * each axis that has parameters, and one over what is before, between and after them.  Where the type
 * leaves the shape open, the caller gives it, and it is checked against the type. */
#include "codegen/emitter.h"

#include <string.h>

enum { LEVELS = 2 * QN_MAX_RANK + 1 };

#define QUOTIENT_LIMIT 0x1p40 /* that of tensor_quant.c */

/* ---- what a port needs ---- */

typedef struct io {
	const qn_emitter *e;
	qn_port port;
	bool to_quantized;
	bool open;   /* its shape is given at run time */
	bool single; /* arithmetic in f32, else in double */
	bool narrow; /* storage of at most 16 bits, whose differences float holds exactly */
	size_t n;    /* parameters */
	bool zeros;  /* zero points differ: a table */
	int64_t zp;  /* the one of all */
	int32_t naxis;
	int32_t axis[QN_MAX_RANK];
	int64_t length[QN_MAX_RANK]; /* parameters along it */
	int64_t block[QN_MAX_RANK];
	const char *real; /* the C type of float values */
} io;

static void
find_axes(io *p)
{
	const qn_elem *e = p->port.type->elem;
	const qn_params *v = e->gran == QN_SUB_CHANNEL ? qn_scale_params(e->scale) : NULL;

	p->naxis = e->gran == QN_PER_TENSOR ? 0 : e->naxis;
	for (int32_t i = 0; i < p->naxis; i++) {
		p->axis[i] = e->axis[i];
		p->block[i] = e->gran == QN_SUB_CHANNEL ? e->block[i] : 1;
		p->length[i] = e->gran == QN_PER_AXIS ? (int64_t)qn_elem_nparams(e) : 1;
		if (v != NULL && e->axis[i] < v->rank)
			p->length[i] = v->shape[e->axis[i]];
	}
}

/* Why a port has no functions; NULL if it has them. */
static const char *
find_io(const qn_emitter *em, bool input, size_t k, io *p)
{
	*p = (io){.e = em, .port = qn_port_of(em, input, k), .to_quantized = input};
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
	find_axes(p);
	return NULL;
}

/* ---- numbers ---- */

/* A literal of C with the value of v. */
static void
put_real(const io *p, double v, qn_buf *b)
{
	const size_t from = b->n;

	qn_buff(b, "%g", v);
	if (strpbrk(qn_buf_str(b) + from, ".e") == NULL)
		qn_buf_puts(b, ".0");
	if (p->single)
		qn_buf_putc(b, 'f');
}

static void
put_table(const io *p, bool zeros, qn_buf *b)
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

/* ---- loops ---- */

/* Level l: even ones go over what is before, between and after the axes, odd ones over an axis. */
static void
put_extent(const io *p, int32_t level, qn_buf *b)
{
	const qn_type *type = p->port.type;
	const int32_t k = level / 2;
	int64_t n = 1;

	if (p->open) {
		qn_buff(b, "n%d", level);
		return;
	}
	if (level % 2 == 1) {
		n = type->dim[p->axis[k]];
	} else {
		const int32_t end = k < p->naxis ? p->axis[k] : type->rank;

		for (int32_t d = k > 0 ? p->axis[k - 1] + 1 : 0; d < end; d++)
			n *= type->dim[d];
	}
	qn_buff(b, "%lld", (long long)n);
}

/* The index of a parameter at the loops' indices: (i1 / 2) * 3 + i3. */
static void
put_index(const io *p, qn_buf *b)
{
	if (p->naxis == 0)
		qn_buf_putc(b, '0');
	for (int32_t k = 0; k < p->naxis; k++) {
		int64_t stride = 1;

		for (int32_t j = k + 1; j < p->naxis; j++)
			stride *= p->length[j];
		qn_buf_puts(b, k > 0 ? " + " : "");
		qn_buff(b, p->block[k] > 1 ? "i%d / %lld" : "i%d", 2 * k + 1,
			(long long)p->block[k]);
		if (stride > 1)
			qn_buff(b, " * %lld", (long long)stride);
	}
}

static void
put_loops(const io *p, qn_buf *b)
{
	const int32_t levels = 2 * p->naxis + 1;

	for (int32_t l = 0; l < levels; l++) {
		qn_buf_putc(b, '\t');
		for (int32_t i = 0; i < l; i++)
			qn_buf_putc(b, '\t');
		qn_buff(b, "for (i%d = 0; i%d < ", l, l);
		put_extent(p, l, b);
		qn_buff(b, "; i%d++%s) {\n", l, l + 1 == levels ? ", at++" : "");
	}
}

static void
put_ends(const io *p, qn_buf *b)
{
	for (int32_t l = 2 * p->naxis; l >= 0; l--) {
		qn_buf_putc(b, '\t');
		for (int32_t i = 0; i < l; i++)
			qn_buf_putc(b, '\t');
		qn_buf_puts(b, "}\n");
	}
}

/* ---- one element ---- */

/* The zero point, as C. */
static void
put_zero(const io *p, qn_buf *b)
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
put_bound(const io *p, int64_t end, qn_buf *b)
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
put_quantize(const io *p, qn_buf *b)
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
put_dequantize(const io *p, qn_buf *b)
{
	const bool rounds = !p->single && p->port.type->elem->expressed == QN_PLAIN_f32;

	qn_buff(b, "x[at] = %s(%s)((%s)q[at] - ", rounds ? "(float)(" : "",
		p->single ? "float" : "double", p->narrow ? "int32_t" : "int64_t");
	put_zero(p, b);
	qn_buff(b, ") * scale[k]%s;\n", rounds ? ")" : "");
}

/* ---- the shape at run time ---- */

/* Known lengths of an axis: parameters times their block, or, with a short last block, between two. */
static void
put_axis_check(const io *p, int32_t k, qn_buf *b)
{
	const int64_t whole = p->length[k] * p->block[k];
	const int32_t a = p->axis[k];

	if (p->port.type->elem->partial && p->block[k] > 1)
		qn_buff(b,
			"\tif (dim[%d] <= %lld || dim[%d] > %lld || dim[%d] < %lld)\n"
			"\t\treturn %s_IO_SHAPE;\n",
			a, (long long)(whole - p->block[k]), a, (long long)whole, a,
			(long long)p->block[k], p->e->macro);
	else
		qn_buff(b, "\tif (dim[%d] != %lld)\n\t\treturn %s_IO_SHAPE;\n", a, (long long)whole,
			p->e->macro);
}

static void
put_shape_check(const io *p, qn_buf *b)
{
	const qn_type *type = p->port.type;
	const char *macro = p->e->macro;

	if (type->rank >= 0)
		qn_buff(b, "\tif (rank != %d)\n\t\treturn %s_IO_RANK;\n", type->rank, macro);
	else
		qn_buff(b, "\tif (rank < %d || rank > %d)\n\t\treturn %s_IO_RANK;\n",
			p->naxis > 0 ? p->axis[p->naxis - 1] + 1 : 0, (int)QN_MAX_RANK, macro);
	qn_buff(b,
		"\tfor (d = 0; d < rank; d++)\n\t\tif (dim[d] < %d)\n\t\t\treturn %s_IO_SHAPE;\n",
		p->port.type->elem->gran == QN_SUB_CHANNEL ? 1 : 0, macro);
	for (int32_t i = 0; i < type->rank; i++)
		if (type->dim[i] != QN_DYNAMIC)
			qn_buff(b, "\tif (dim[%d] != %lld)\n\t\treturn %s_IO_SHAPE;\n", i,
				(long long)type->dim[i], macro);
	for (int32_t k = 0; k < p->naxis; k++)
		put_axis_check(p, k, b);
	for (int32_t l = 0; l <= 2 * p->naxis; l++) {
		const int32_t k = l / 2;

		if (l % 2 == 1) {
			qn_buff(b, "\tn%d = (size_t)dim[%d];\n", l, p->axis[k]);
			continue;
		}
		qn_buff(b, "\tfor (d = %d; d < ", k > 0 ? p->axis[k - 1] + 1 : 0);
		qn_buff(b, k < p->naxis ? "%d" : "rank", k < p->naxis ? p->axis[k] : 0);
		qn_buff(b, "; d++)\n\t\tn%d *= (size_t)dim[d];\n", l);
	}
}

/* ---- functions ---- */

static void
put_variables(const io *p, qn_buf *b)
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
put_function(const io *p, qn_buf *b)
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
		put_shape_check(p, b);
	put_loops(p, b);
	for (int32_t i = 0; i < 2; i++) {
		for (int32_t l = 0; l <= 2 * p->naxis + 1; l++)
			qn_buf_putc(b, '\t');
		if (i == 0) {
			qn_buf_puts(b, "k = ");
			put_index(p, b);
			qn_buf_puts(b, ";\n");
		} else if (p->to_quantized) {
			put_quantize(p, b);
		} else {
			put_dequantize(p, b);
		}
	}
	put_ends(p, b);
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
	io p;

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
