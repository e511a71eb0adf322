/* SPDX-License-Identifier: Apache-2.0 */
/* encodings.c - the parameters of a calibrated model in the formats of AIMET's encodings.
 *
 *   0.6.1  {"version": "0.6.1",
 *           "activation_encodings": {"relu1": [{"bitwidth": 8, "dtype": "int", "is_symmetric": "False", "max": 1.5, "min": 0.0, "offset": 0, "scale": 0.5}]},
 *           "param_encodings": {"conv1.w": [one, or one per channel]}}
 *   1.0.0  "activation_encodings": [{"bw": 8, "dtype": "INT", "enc_type": "PER_TENSOR", "is_sym": false, "name": "relu1", "offset": [0], "scale": [0.5]}]
 *   2.0.0  "encodings": [{"name": "relu1", "output_dtype": "int8", "y_scale": 0.5, "y_zero_point": -128}]
 *
 * float = (k + offset) * scale for k = 0 ... 2^bitwidth - 1, so offset is the smallest integer
 * less the zero point. Names are those of the file that the model was read from, in graphs of Quern's those
 * of nodes. A value that is quantized in several ways has one entry per way, the others under the names
 * of their quantize nodes.  Biases, which have the scale of their product, are left out. */
#include "driver/encodings.h"

#include <string.h>

#include "formats/file.h"
#include "formats/json_out.h"
#include "ir/foreign_names.h"

typedef struct writer {
	const qn_graph *g;
	qn_json_out o;
	qn_encodings_version version;
	qn_map seen; /* name -> element type */
} writer;

/* The quantized value that k = 0 stands for: the smallest of the storage, or one more if the range
 * is symmetric; the file cannot express other ranges. */
static int64_t
lowest(const qn_elem *e, int64_t zp)
{
	const int64_t half = (int64_t)1 << (e->bits - 1);

	if (!e->is_signed)
		return 0;
	return zp == 0 && e->qmin == 1 - half ? 1 - half : -half;
}

static void
one(writer *w, const qn_elem *e, size_t k)
{
	double scale;
	int64_t zp;

	qn_elem_param(&w->g->model->types, e, k, &scale, &zp);
	const int64_t low = lowest(e, zp);
	const int64_t top = ((int64_t)1 << (e->bits - e->is_signed)) - 1;
	qn_json_open(&w->o, NULL, '{', QN_JSON_FLAT);
	qn_json_put_i64(&w->o, "bitwidth", e->bits);
	qn_json_put_string(&w->o, "dtype", "int");
	qn_json_put_string(&w->o, "is_symmetric", e->is_signed && zp == 0 ? "True" : "False");
	qn_json_put_f64(&w->o, "max", (double)(top - zp) * scale);
	qn_json_put_f64(&w->o, "min", (double)(low - zp) * scale);
	qn_json_put_i64(&w->o, "offset", low - zp);
	qn_json_put_f64(&w->o, "scale", scale);
	qn_json_close(&w->o);
}

/* Scales, offsets of integers from 0 on, or zero points; key NULL: whether all are without a
 * zero point. */
static bool
list(writer *w, const char *key, const qn_elem *e, char what)
{
	const size_t n = qn_elem_nparams(e);
	const bool bracket = key != NULL && (w->version == QN_ENCODINGS_1 || n > 1);
	bool symmetric = e->is_signed;
	double scale;
	int64_t zp;

	if (bracket)
		qn_json_open(&w->o, key, '[', QN_JSON_FLAT);
	for (size_t k = 0; k < n; k++) {
		qn_elem_param(&w->g->model->types, e, k, &scale, &zp);
		symmetric = symmetric && zp == 0;
		if (key != NULL && what == 's')
			qn_json_put_f64(&w->o, bracket ? NULL : key, scale);
		else if (key != NULL)
			qn_json_put_i64(&w->o, bracket ? NULL : key,
					what == 'z' ? zp : lowest(e, zp) - zp);
	}
	if (bracket)
		qn_json_close(&w->o);
	return symmetric;
}

static void
entry_1(writer *w, const char *name, const qn_elem *e)
{
	const bool one = qn_elem_nparams(e) == 1;

	qn_json_put_i64(&w->o, "bw", e->bits);
	qn_json_put_string(&w->o, "dtype", "INT");
	qn_json_put_string(&w->o, "enc_type", one ? "PER_TENSOR" : "PER_CHANNEL");
	qn_json_put_bool(&w->o, "is_sym", list(w, NULL, e, 'z'));
	qn_json_put_string(&w->o, "name", name);
	(void)list(w, "offset", e, 'o');
	(void)list(w, "scale", e, 's');
}

static void
entry_2(writer *w, const char *name, const qn_elem *e)
{
	qn_buf b;

	qn_buf_init(&b, w->g->model->scratch);
	qn_buff(&b, "%s%d", e->is_signed ? "int" : "uint", (int)e->bits);
	qn_json_put_string(&w->o, "name", name);
	qn_json_put_string(&w->o, "output_dtype", qn_buf_str(&b));
	(void)list(w, "y_scale", e, 's');
	(void)list(w, "y_zero_point", e, 'z');
	if (qn_elem_nparams(e) > 1)
		qn_json_put_i64(&w->o, "axis", e->axis[0]);
}

static void
encoding(writer *w, const char *name, const qn_elem *e)
{
	if (w->version == QN_ENCODINGS_0) {
		qn_json_open(&w->o, name, '[', QN_JSON_LINES);
		for (size_t k = 0; k < qn_elem_nparams(e); k++)
			one(w, e, k);
	} else {
		qn_json_open(&w->o, NULL, '{', QN_JSON_FLAT);
		(w->version == QN_ENCODINGS_1 ? entry_1 : entry_2)(w, name, e);
	}
	qn_json_close(&w->o);
	qn_map_puts(&w->seen, name, (void *)(uintptr_t)e);
}

/* Where all elements of a value come from; NULL: it computes them. */
static const qn_node *
moved(const qn_graph *g, const qn_node *n)
{
	return qn_op_keeps_bytes(n->op) || n->op == QN_OP_transpose ? qn_encoded_value(g, n) : NULL;
}

/* The name under which the parameters of `how`, a value's quantize or the value itself, stand in the
 * file; NULL: they stand there already, or no other tool has this value. */
static const char *
name_of(const writer *w, const qn_node *of, const qn_node *how)
{
	const qn_model *m = w->g->model;
	const qn_foreign_name *called = qn_model_foreign_names(m, of);
	const char *name = NULL;

	for (const qn_node *x = of; called == NULL && (x = moved(w->g, x)) != NULL;)
		called = qn_model_foreign_names(m, x);
	if (called != NULL)
		name = called->name;
	else if (m->tensors != NULL && how == of)
		return NULL; /* intermediate quantized values, which only this reader of the file makes */
	else
		name = qn_model_is_taken(m, of) ? how->name : of->name;
	const qn_elem *seen = qn_map_gets(&w->seen, name);
	if (seen == NULL)
		return name;
	return seen == how->type->elem || qn_model_is_taken(m, how) ||
			       qn_map_gets(&w->seen, how->name) != NULL
		       ? NULL
		       : how->name;
}

/* All quantized values: constants, or the others.  key NULL: in the list that is open. */
static void
encodings(writer *w, const char *key, bool constants)
{
	const qn_graph *g = w->g;

	if (key != NULL)
		qn_json_open(&w->o, key, w->version == QN_ENCODINGS_0 ? '{' : '[', QN_JSON_LINES);
	qn_map_init(&w->seen, g->model->scratch);
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->type->is_tuple || !qn_elem_is_quant(n->type->elem) ||
		    n->type->elem->bits > 16 || n->type->elem->gran == QN_SUB_CHANNEL)
			continue;
		const qn_node *of = n->op == QN_OP_quantize ? qn_encoded_value(g, n) : n;
		if ((of->op == QN_OP_const) != constants)
			continue;
		const char *name = name_of(w, of, n);
		if (name != NULL)
			encoding(w, name, n->type->elem);
	}
	if (key != NULL)
		qn_json_close(&w->o);
}

void
qn_encodings_write(const qn_model *m, qn_encodings_version version, qn_buf *out)
{
	static const char *const versions[] = {"0.6.1", "1.0.0", "2.0.0"};
	writer w = {.g = qn_model_entry(m), .version = version};

	qn_json_out_init(&w.o, out);
	qn_json_open(&w.o, NULL, '{', QN_JSON_LINES);
	qn_json_put_string(&w.o, "version", versions[version]);
	if (version == QN_ENCODINGS_2) {
		qn_json_open(&w.o, "encodings", '[', QN_JSON_LINES);
		encodings(&w, NULL, false);
		encodings(&w, NULL, true);
		qn_json_close(&w.o);
	} else {
		encodings(&w, "activation_encodings", false);
		encodings(&w, "param_encodings", true);
	}
	qn_json_close(&w.o);
}

qn_status
qn_encodings_load(qn_env *env, const char *path, qn_arena *a, const char **id, qn_encodings **out)
{
	const char *slash = strrchr(path, '/');
	const char *text;
	qn_buf b;
	size_t n;

	QN_TRY(qn_file_map(a, path, &text, &n));
	qn_buf_init(&b, a);
	qn_buff(&b, "%s:%08x", slash != NULL ? slash + 1 : path, qn_crc32(0, text, n));
	*id = qn_buf_str(&b);
	return qn_encodings_read(env, a, path, text, n, out);
}
