/* SPDX-License-Identifier: Apache-2.0 */
/* json_graph_write.c - a model as JSON text: two blanks per level, one node, constant, symbol or
 * parameter vector a line.
 *
 *     "nodes": [
 *       {"name": "relu1", "op": "relu", "inputs": ["conv1"], "type": "tensor<1x8x8x16xf32>"}
 *     ],
 *
 * The text depends on the model alone.  Attributes that have their default are left out, types
 * are always there.  Reading the text gives an equal model, and that one's text is the same. */
#include <string.h>

#include "formats/dtype.h"
#include "formats/json_graph.h"
#include "formats/json_read.h"
#include "formats/safetensors.h"
#include "ir/graph_text.h"

enum { INLINE_LIMIT = 16 };

/* The tensors of the safetensors file, in the order in which they are referred to. */
typedef struct writer {
	qn_buf type; /* text of the type at hand */
	qn_json_out o;
	const qn_model *m;
	const char *file; /* NULL: all inline */
	bool facts;       /* are written too */
	bool seal;
	int64_t limit;
	qn_arena *arena;
	qn_map taken; /* names in the file */
	const char **name;
	const qn_tensor **tensor;
	size_t n, name_cap, tensor_cap;
} writer;

/* ---- symbols and parameters ---- */

static void
put_zps(qn_json_out *o, size_t n, const int64_t *zp)
{
	if (zp == NULL)
		return;
	qn_json_open(o, "zero_point", '[', QN_JSON_FLAT);
	for (size_t i = 0; i < n; i++)
		qn_json_put_i64(o, NULL, zp[i]);
	qn_json_close(o);
}

/* f32: a symbol's scales, which are rounded to it when they are read; those of parameters are
 * kept as they are. */
static void
put_params(qn_json_out *o, const qn_params *p, bool f32)
{
	qn_json_open(o, "scale", '[', QN_JSON_FLAT);
	for (size_t i = 0; i < p->n; i++)
		if (f32)
			qn_json_put_f32(o, NULL, (float)p->scale[i]);
		else
			qn_json_put_f64(o, NULL, p->scale[i]);
	qn_json_close(o);
	put_zps(o, p->n, p->zp);
}

static void
put_dims(qn_json_out *o, const char *key, int32_t rank, const int64_t *dim)
{
	qn_json_open(o, key, '[', QN_JSON_FLAT);
	for (int32_t k = 0; k < rank; k++)
		qn_json_put_i64(o, NULL, dim[k]);
	qn_json_close(o);
}

/* Of super-blocks: their scales, and the integers in place of the products. */
static void
put_super(qn_json_out *o, const qn_params *p)
{
	const qn_super *s = p->super;

	qn_json_open(o, "scale", '[', QN_JSON_FLAT);
	for (size_t i = 0; i < s->n; i++)
		qn_json_put_f64(o, NULL, s->scale[i]);
	qn_json_close(o);
	put_dims(o, "shape", p->rank, s->shape);
	qn_json_put_i64(o, "times_bits", s->bits);
	qn_json_open(o, "times", '[', QN_JSON_FLAT);
	for (size_t i = 0; i < p->n; i++)
		qn_json_put_i64(o, NULL, (int64_t)s->sub[i]);
	qn_json_close(o);
	put_dims(o, "times_shape", p->rank, p->shape);
}

static void
put_symbol(qn_json_out *o, const qn_symbol *s, bool facts)
{
	qn_json_open(o, NULL, '{', QN_JSON_FLAT);
	qn_json_put_string(o, "name", s->name);
	qn_json_put_string(o, "kind", s->kind == QN_SYM_SYMMETRIC ? "sym" : "asym");
	if (s->len > 0)
		qn_json_put_i64(o, "len", s->len);
	if (facts && s->method != NULL && !s->bound) /* it has found its values */
		qn_json_put_string(o, "method", s->method);
	if (s->bound && s->len > 0) {
		put_params(o, s->vec, true);
	} else if (s->bound) {
		qn_json_put_f32(o, "scale", (float)s->scale);
		if (s->zp != 0)
			qn_json_put_i64(o, "zero_point", s->zp);
	}
	qn_json_close(o);
}

static void
put_tables(qn_json_out *o, const qn_types *t, bool facts)
{
	if (t->nsymbol > 0)
		qn_json_open(o, "symbols", '[', QN_JSON_LINES);
	for (size_t i = 0; i < t->nsymbol; i++)
		put_symbol(o, t->symbol[i], facts);
	if (t->nsymbol > 0)
		qn_json_close(o);
	if (t->nparam > 0)
		qn_json_open(o, "params", '{', QN_JSON_LINES);
	for (size_t i = 0; i < t->nparam; i++) {
		const qn_params *p = t->param[i];

		qn_json_open(o, p->name, '{', QN_JSON_FLAT);
		if (p->super != NULL)
			put_super(o, p);
		else
			put_params(o, p, false);
		if (p->super == NULL && p->rank != 1)
			put_dims(o, "shape", p->rank, p->shape);
		qn_json_close(o);
	}
	if (t->nparam > 0)
		qn_json_close(o);
}

/* ---- constants ---- */

static void
put_type(writer *w, const qn_type *type)
{
	w->type.n = 0;
	qn_type_print(&w->type, type);
	qn_json_put_string(&w->o, "type", qn_buf_str(&w->type));
}

/* All of the range, which a signed number cannot hold. */
static uint64_t
u64_at(const qn_tensor *x, int64_t i)
{
	uint64_t v;

	memcpy(&v, (const char *)x->data + (size_t)i * sizeof v, sizeof v);
	return v;
}

/* Weights that are infinite or NaN are an error of a file that does not say so. */
static void
put_nonfinite(qn_json_out *o, const qn_tensor *x)
{
	if (qn_elem_is_float(x->type->elem) && qn_tensor_find_nonfinite(x) >= 0)
		qn_json_put_bool(o, "nonfinite", true);
}

static void
put_data(qn_json_out *o, const qn_tensor *x)
{
	const qn_elem *e = x->type->elem;
	bool real = qn_elem_is_float(e);
	bool wide = qn_dtype_of(e) == QN_PLAIN_f64;

	qn_json_open(o, "data", '[', QN_JSON_FLAT);
	for (int64_t i = 0, n = qn_type_count(x->type); i < n; i++) {
		if (real && wide)
			qn_json_put_f64(o, NULL, qn_tensor_f64(x, i));
		else if (real)
			qn_json_put_f32(o, NULL, (float)qn_tensor_f64(x, i));
		else if (e->kind == QN_ELEM_PLAIN && e->plain == QN_PLAIN_u64)
			qn_json_put_u64(o, NULL, u64_at(x, i));
		else
			qn_json_put_i64(o, NULL, qn_tensor_i64(x, i));
	}
	qn_json_close(o);
}

/* The constant's name; in a function "function/name"; with "_2", "_3" … appended if it is taken. */
static const char *
tensor_name(writer *w, const qn_graph *g, const qn_node *n)
{
	qn_buf b;

	for (unsigned k = 1;; k++) {
		qn_buf_init(&b, w->arena);
		if (g != qn_model_entry(w->m))
			qn_buff(&b, "%s/", g->name);
		qn_buf_puts(&b, n->name);
		if (k > 1)
			qn_buff(&b, "_%u", k);
		if (strcmp(qn_buf_str(&b), "__metadata__") != 0 &&
		    qn_map_gets(&w->taken, qn_buf_str(&b)) == NULL)
			break;
	}
	qn_map_puts(&w->taken, qn_buf_str(&b), w);
	return qn_buf_str(&b);
}

static void
put_reference(writer *w, const qn_graph *g, const qn_node *n)
{
	const char *name = tensor_name(w, g, n);

	w->name = qn_arena_grow(w->arena, (void *)w->name, &w->name_cap, w->n + 1, sizeof *w->name);
	w->tensor = qn_arena_grow(w->arena, (void *)w->tensor, &w->tensor_cap, w->n + 1,
				  sizeof *w->tensor);
	w->name[w->n] = name;
	w->tensor[w->n++] = n->value;
	qn_json_put_string(&w->o, "file", w->file);
	qn_json_put_string(&w->o, "tensor", name);
	if (!w->seal)
		return;
	qn_buf crc;
	qn_buf_init(&crc, w->arena);
	qn_buff(&crc, "%08x", (unsigned)qn_tensor_crc(n->value));
	qn_json_put_string(&w->o, "crc", qn_buf_str(&crc));
}

static void
put_constant(writer *w, const qn_graph *g, const qn_node *n, const qn_node *after)
{
	qn_json_open(&w->o, n->name, '{', QN_JSON_FLAT);
	put_type(w, n->type);
	if (after != NULL)
		qn_json_put_string(&w->o, "after", after->name);
	put_nonfinite(&w->o, n->value);
	if (w->file != NULL && qn_type_count(n->type) > w->limit)
		put_reference(w, g, n);
	else
		put_data(&w->o, n->value);
	qn_json_close(&w->o);
}

/* ---- graphs ---- */

static void
put_constants(writer *w, const qn_graph *g)
{
	const qn_node *after = NULL; /* the last node before the constant */

	qn_json_open(&w->o, "constants", '{', QN_JSON_LINES);
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op == QN_OP_const)
			put_constant(w, g, n, after);
		else if (n->op != QN_OP_input)
			after = n;
	}
	qn_json_close(&w->o);
}

static void
put_input(writer *w, const qn_graph *g, size_t i)
{
	const qn_node *n = qn_graph_node(g, g->input[i]);

	qn_json_open(&w->o, NULL, '{', QN_JSON_FLAT);
	qn_json_put_string(&w->o, "name", n->name);
	put_type(w, n->type);
	if (i >= qn_graph_fed(g)) {
		const qn_tensor *init = g->init[i - qn_graph_fed(g)];

		qn_json_put_bool(&w->o, "state", true);
		if (init != NULL) {
			put_nonfinite(&w->o, init);
			put_data(&w->o, init);
		}
	}
	qn_json_close(&w->o);
}

static void
put_node(writer *w, const qn_graph *g, const qn_node *n)
{
	const qn_opinfo *op = qn_opinfo_of(n);

	qn_json_open(&w->o, NULL, '{', QN_JSON_FLAT);
	qn_json_put_string(&w->o, "name", n->name);
	qn_json_put_string(&w->o, "op", op->name);
	qn_json_open(&w->o, "inputs", '[', QN_JSON_FLAT);
	for (uint32_t i = 0; i < n->nin; i++)
		qn_json_put_string(&w->o, NULL, qn_graph_node(g, n->in[i])->name);
	qn_json_close(&w->o);
	qn_json_put_attrs(&w->o, op->attrs, n->attr);
	if (n->callee != NULL)
		qn_json_put_string(&w->o, "callee", n->callee->name);
	put_type(w, n->type);
	if (w->facts)
		qn_json_put_facts(&w->o, n->facts);
	qn_json_close(&w->o);
}

static void
put_outputs(writer *w, const qn_graph *g)
{
	qn_json_open(&w->o, "outputs", '[', QN_JSON_LINES);
	for (size_t i = 0; i < g->noutput; i++) {
		qn_json_open(&w->o, NULL, '{', QN_JSON_FLAT);
		qn_json_put_string(&w->o, "name", g->output[i].name);
		qn_json_put_string(&w->o, "value", qn_graph_node(g, g->output[i].value)->name);
		if (i >= qn_graph_given(g))
			qn_json_put_string(&w->o, "to",
					   qn_graph_state(g, i - qn_graph_given(g))->name);
		qn_json_close(&w->o);
	}
	qn_json_close(&w->o);
}

static void
put_graph(writer *w, const char *key, const qn_graph *g)
{
	qn_json_open(&w->o, key, '{', QN_JSON_LINES);
	qn_json_put_string(&w->o, "name", g->name);
	if (g->pattern != NULL)
		qn_json_put_string(&w->o, "pattern", g->pattern);
	qn_json_put_graph_attrs(&w->o, g);
	qn_json_open(&w->o, "inputs", '[', QN_JSON_LINES);
	for (size_t i = 0; i < g->ninput; i++)
		put_input(w, g, i);
	qn_json_close(&w->o);
	put_constants(w, g);
	qn_json_open(&w->o, "nodes", '[', QN_JSON_LINES);
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op != QN_OP_const && n->op != QN_OP_input)
			put_node(w, g, n);
	}
	qn_json_close(&w->o);
	if (w->facts)
		qn_json_put_parts(&w->o, g);
	put_outputs(w, g);
	qn_json_close(&w->o);
}

void
qn_json_print(qn_buf *b, const qn_model *m, const qn_json_opts *opts, qn_buf *weights)
{
	writer w = {.m = m,
		    .arena = b->arena,
		    .limit = INLINE_LIMIT,
		    .facts = opts == NULL || !opts->values_only};

	if (opts != NULL && weights != NULL)
		w.file = opts->weights_file;
	w.seal = opts != NULL && opts->seal;
	if (opts != NULL && opts->inline_limit > 0)
		w.limit = opts->inline_limit;
	qn_map_init(&w.taken, w.arena);
	qn_buf_init(&w.type, w.arena);
	qn_json_out_init(&w.o, b);
	qn_json_open(&w.o, NULL, '{', QN_JSON_LINES);
	qn_json_put_i64(&w.o, "quern", 1);
	qn_json_put_string(&w.o, "name", m->name);
	qn_json_put_string(&w.o, "stage", qn_stage_names[m->stage]);
	if (m->after != NULL && w.facts)
		qn_json_put_string(&w.o, "after", m->after);
	if (m->rounding != 0)
		qn_json_put_string(&w.o, "rounding", qn_rounding_names[m->rounding]);
	if (m->options[0] != '\0')
		qn_json_put_string(&w.o, "options", m->options);
	if (w.facts)
		qn_json_put_model_facts(&w.o, m);
	put_tables(&w.o, &m->types, w.facts);
	if (m->ngraph > 1)
		qn_json_open(&w.o, "functions", '[', QN_JSON_LINES);
	for (size_t i = 0; i + 1 < m->ngraph; i++)
		put_graph(&w, NULL, m->graph[i]);
	if (m->ngraph > 1)
		qn_json_close(&w.o);
	if (m->ngraph > 0)
		put_graph(&w, "graph", qn_model_entry(m));
	qn_json_close(&w.o);
	qn_buf_end(b);
	if (w.file != NULL)
		qn_safetensors_print(weights, w.n, w.name, w.tensor);
}
