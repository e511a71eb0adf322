/* SPDX-License-Identifier: Apache-2.0 */
/* front_end.c - features of sound before an input of the entry graph, so that it takes PCM samples.
 *
 *   graph @main(%x: tensor<1x49x40x1xf32>)       graph @main(%x: tensor<1x15840xf32>)
 *     …                                    ->      %a = log_mel %x
 *                                                  %b = reshape %a {shape=[1,49,40,1]} …      front end: log_mel
 *
 * An input of quantized values, or any of a model that is quantized, gets i16 samples, and a requantize to its own
 * type. The first dimension counts samples of the graph, the last one that is not 1 the channels of a frame.
 *
 * requires: a float, calibrated or integer graph.   leaves: the same with another type of the input. */
#include <string.h>

#include "ir/diag.h"
#include "ir/nearest.h"
#include "passes/passes.h"

enum { MOST_SAMPLES = 1 << 30 };

typedef struct front {
	qn_model *m;
	const qn_graph *g;
	const char *place, *text;
	qn_op op;
	qn_attrs attr;
	size_t input;                   /* index */
	int64_t batch, frames, samples; /* samples 0: what the frames need */
	bool quantized;
} front;

/* Channels or coefficients of a frame. */
static int64_t
each(const front *f)
{
	return f->op == QN_OP_mfcc ? f->attr.mfcc.coefficients : f->attr.mfcc.channels;
}

static const qn_node *
fed(const front *f)
{
	return qn_graph_node(f->g, f->g->input[f->input]);
}

static qn_status
wrong(const front *f, const char *what, const char *value)
{
	return qn_report(f->m->env, QN_EUSAGE, "import.front-end", f->place, "'%s': %s%s", f->text,
			 what, value);
}

/* ---- the text ---- */

static qn_status
find_input(front *f, const char *name)
{
	const size_t n = qn_graph_fed(f->g);

	if (name == NULL && n == 1)
		return QN_OK;
	for (f->input = 0; name != NULL && f->input < n; f->input++)
		if (strcmp(fed(f)->name, name) == 0)
			return QN_OK;
	return name == NULL ? wrong(f, "the model has several inputs; write INPUT=", f->text)
			    : wrong(f, "the model has no input ", name);
}

/* Reads the attributes as those of a node of a graph. */
static qn_status
read_attributes(front *f, const char *attributes)
{
	qn_model one;
	qn_buf b;

	qn_buf_init(&b, f->m->scratch);
	qn_buff(&b,
		"model \"front\" stage float\ngraph @main(%%x: tensor<*xf32>) {\n%%y = %s %%x "
		"{%s}\n",
		qn_opinfo_get(f->op)->name, attributes);
	qn_buf_puts(&b, "return %y\n}\n");
	if (strpbrk(attributes, "{}\n#") != NULL)
		return wrong(f, "expected ATTRIBUTE=VALUE,… after ", qn_opinfo_get(f->op)->name);
	qn_model_init(&one, f->m->env, f->m->scratch, "front");
	one.scratch = f->m->scratch;
	if (qn_model_parse(&one, "--front-end", b.data, b.n) != QN_OK)
		return QN_EUSAGE;
	const qn_graph *g = qn_model_entry(&one);
	f->attr = *qn_graph_node(g, g->output[0].value)->attr;
	return QN_OK;
}

/* Takes "samples=N", which is not an attribute of the op, from their beginning. */
static qn_status
read_samples(front *f, const char **attributes)
{
	static const char name[] = "samples=";
	const char *s = *attributes;

	if (strncmp(s, name, sizeof name - 1) != 0)
		return QN_OK;
	for (s += sizeof name - 1; *s >= '0' && *s <= '9' && f->samples < MOST_SAMPLES; s++)
		f->samples = 10 * f->samples + (*s - '0');
	if (f->samples == 0 || (*s != ',' && *s != '\0'))
		return wrong(f, "expected samples=N, 1 to 2^30, not ", *attributes);
	*attributes = *s == ',' ? s + 1 : s;
	return QN_OK;
}

static qn_status
read_text(front *f)
{
	const char *colon = strchr(f->text, ':');
	const char *attributes = colon != NULL ? colon + 1 : "";
	const size_t n = colon != NULL ? (size_t)(colon - f->text) : strlen(f->text);
	const char *head = qn_arena_strn(f->m->scratch, f->text, n);
	const char *equals = strchr(head, '=');
	const char *op = equals != NULL ? equals + 1 : head;

	f->op = qn_op_find(op);
	if (f->op != QN_OP_log_mel && f->op != QN_OP_mfcc)
		return wrong(f, "expected log_mel or mfcc, not ", op);
	QN_TRY(find_input(f, equals != NULL
				     ? qn_arena_strn(f->m->scratch, head, (size_t)(equals - head))
				     : NULL));
	QN_TRY(read_samples(f, &attributes));
	return read_attributes(f, attributes);
}

/* ---- the input ---- */

/* The samples of the frames, or those of the text, which may be up to a hop more. */
static qn_status
check_samples(front *f)
{
	const int64_t hop = f->attr.mfcc.hop;
	const int64_t least = (f->frames - 1) * hop + f->attr.mfcc.window;
	qn_buf b;

	if (f->samples == 0)
		f->samples = least;
	if (f->samples >= least && f->samples < least + hop && f->samples <= MOST_SAMPLES)
		return QN_OK;
	qn_buf_init(&b, f->m->scratch);
	qn_buff(&b, "%lld to %lld, not %lld", (long long)least, (long long)(least + hop - 1),
		(long long)f->samples);
	return wrong(f, "the frames of the input take a number of samples from ", qn_buf_str(&b));
}

/* How many frames the input takes, by its shape. */
static qn_status
read_shape(front *f)
{
	const qn_type *t = fed(f)->type;
	const int64_t count = t->is_tuple ? -1 : qn_type_count(t);
	int32_t last = count > 0 ? t->rank - 1 : 0;

	while (last > 1 && t->dim[last] == 1)
		last--;
	if (last < 1 || t->dim[last] != each(f)) {
		qn_buf b;

		qn_buf_init(&b, f->m->scratch);
		b.decimal = true;
		qn_buff(&b, "%s' is ", fed(f)->name);
		qn_type_print(&b, t);
		qn_buff(&b,
			"; its last dimension must be the %lld numbers of a frame, its first "
			"one the batch",
			(long long)each(f));
		return wrong(f, "input '", qn_buf_str(&b));
	}
	f->batch = t->dim[0];
	f->frames = count / f->batch / each(f);
	QN_TRY(check_samples(f));
	f->quantized = f->m->stage != QN_STAGE_FLOAT;
	if (f->m->stage == QN_STAGE_SYMBOLIC ||
	    !(qn_type_is_f32(t) || (qn_elem_is_quant(t->elem) && t->elem->gran == QN_PER_TENSOR)))
		return wrong(f,
			     "features can come before an input of f32 or of quantized values "
			     "with one scale, of a model without symbols, not before ",
			     fed(f)->name);
	return QN_OK;
}

/* f32, or i16 of this scale. */
static qn_status
elem_of(const front *f, double scale, const qn_elem **out)
{
	qn_elem e = qn_elem_desc(16, true);

	if (!f->quantized) {
		*out = qn_elem_plain(&f->m->types, QN_PLAIN_f32);
		return QN_OK;
	}
	e.scale = qn_scale_const(&f->m->types, scale);
	return qn_elem_make(&f->m->types, fed(f)->name, &e, out);
}

static qn_id
add_input(const front *f, qn_graph *to)
{
	const int64_t dim[2] = {f->batch, f->samples};
	const qn_elem *e;

	if (elem_of(f, 0x1p-15, &e) != QN_OK)
		return 0;
	return qn_graph_input(to, fed(f)->name, qn_type_tensor(&f->m->types, e, 2, dim));
}

/* What the graph reads instead of its input. */
static qn_id
add_features(const front *f, qn_graph *to, qn_id x)
{
	const qn_type *t = fed(f)->type;
	const int64_t dim[3] = {f->batch, f->frames, each(f)};
	const qn_elem *e;
	qn_attrs shape = {.shape = {.shape = {.n = t->rank}}};

	if (elem_of(f, (double)(float)f->attr.mfcc.scale, &e) != QN_OK)
		return 0;
	x = qn_graph_op(to, f->op, NULL, 1, &x, &f->attr, qn_type_tensor(&f->m->types, e, 3, dim));
	for (int32_t i = 0; i < t->rank; i++)
		shape.shape.shape.v[i] = t->dim[i];
	x = x == 0 ? 0 : qn_graph_op(to, QN_OP_reshape, NULL, 1, &x, &shape, NULL);
	if (x == 0 || !f->quantized)
		return x;
	return qn_type_is_f32(t) ? qn_graph_op(to, QN_OP_dequantize, NULL, 1, &x, NULL, NULL)
				 : qn_graph_op(to, QN_OP_requantize, NULL, 1, &x, NULL, t);
}

/* ---- the graph ---- */

static bool
copy(const front *f, qn_graph *to, qn_id *map, qn_id id)
{
	qn_node n = *qn_graph_node(f->g, id);
	qn_id *in = QN_NEW(f->m->scratch, qn_id, n.nin + 1);

	for (uint32_t i = 0; i < n.nin; i++)
		in[i] = map[n.in[i]];
	n.in = in;
	return map[id] != 0 || (map[id] = qn_graph_add(to, &n)) != 0;
}

static bool
rebuild(const front *f)
{
	const qn_graph *g = f->g;
	qn_graph *to = qn_graph_new(f->m, g->name);
	qn_id *map = QN_NEW(f->m->scratch, qn_id, g->n);
	qn_id x = 0;
	bool ok = true;

	for (size_t i = 0; ok && i < g->ninput; i++) {
		if (i == f->input)
			ok = (x = add_input(f, to)) != 0;
		else
			ok = copy(f, to, map, g->input[i]);
	}
	qn_graph_copy_states(to, g);
	ok = ok && (map[g->input[f->input]] = add_features(f, to, x)) != 0;
	for (qn_id id = 1; ok && id < g->n; id++)
		ok = copy(f, to, map, id);
	if (!ok)
		return false;
	for (size_t i = 0; i < g->noutput; i++)
		qn_graph_output(to, g->output[i].name, map[g->output[i].value]);
	qn_graph_copy_facts(to, g);
	f->m->graph[f->m->ngraph - 1] = to;
	return true;
}

qn_status
qn_front_end(qn_model *m, const char *place, const char *text)
{
	front f = {.m = m, .g = qn_model_entry(m), .place = place, .text = text};

	QN_TRY(read_text(&f));
	QN_TRY(read_shape(&f));
	return rebuild(&f) ? QN_OK : QN_EUSAGE;
}
