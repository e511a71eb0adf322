/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_unsupported.c - operators that are not read: each is named once, with how many nodes have it, why,
 * and a way out; also those inside a node that could not be looked at.
 *
 *   Relu(NoSuchOp(x))        Relu comes after a node that failed: counted, and not reported
 *   If(NoSuchOp(x)) {…}      so is If, but operators of its branches are looked up by name */
#include "import/onnx.h"

#include <onnx/onnx.pb-c.h>
#include <string.h>

enum { MAX_DEPTH = 64 }; /* of bodies and functions, as in onnx_nodes.c */

/* One operator in one version that is not read. */
typedef struct lack {
	size_t nodes; /* of the main graph, of bodies, and of functions that are called */
	bool reported;
} lack;

/* A way through all nodes: counts what is not read, or names it. */
typedef struct walk {
	qn_onnx *o;
	qn_map called; /* functions that were searched, by their address */
	bool naming;
} walk;

static const char *
text(const char *s)
{
	return s != NULL ? s : "";
}

/* ---- why ---- */

#define READ_OPS "replace it in the model by operators of docs/supported-ops.md", true
#define OUTSIDE "cut the model after it, and do this in the program that calls the model", false
#define TEXTS "it works on strings, and a compiled model has only numbers", OUTSIDE
#define RANDOM                                                                                     \
	"it draws random numbers, and a compiled model gives the same result for the same input",  \
		"make the numbers an input of the model, or a constant", false
#define TREES                                                                                      \
	"decision trees are not supported",                                                        \
		"turn them into products of matrices before the export (as Hummingbird does, "     \
		"strategy gemm), for --activations i16, or write them in C with a tool for trees", \
		false
#define TRAINING                                                                                   \
	"it is an operator for training",                                                          \
		"export the model for inference, which does not have them", false

/* The first row that fits gives the reason; op NULL: any of the domain; domain NULL: any. */
static const struct {
	const char *domain, *op, *why, *way;
	bool cut; /* or the model ends before it */
} reasons[] = {
	{"", "RandomNormal", RANDOM},
	{"", "RandomNormalLike", RANDOM},
	{"", "RandomUniform", RANDOM},
	{"", "RandomUniformLike", RANDOM},
	{"", "Multinomial", RANDOM},
	{"", "Bernoulli", RANDOM},
	{"", "StringNormalizer", TEXTS},
	{"", "StringConcat", TEXTS},
	{"", "StringSplit", TEXTS},
	{"", "RegexFullMatch", TEXTS},
	{"", "TfIdfVectorizer", TEXTS},
	{"", "ImageDecoder", "it decodes image files", OUTSIDE},
	{"", "SequenceMap", "its body runs once per value of a sequence",
	 "export the model with the sequence written out", false},
	{"", NULL, "it is not implemented", READ_OPS},
	{"ai.onnx.training", NULL, TRAINING},
	{"ai.onnx.preview.training", NULL, TRAINING},
	{"ai.onnx.ml", "TreeEnsemble", TREES},
	{"ai.onnx.ml", "TreeEnsembleClassifier", TREES},
	{"ai.onnx.ml", "TreeEnsembleRegressor", TREES},
	{"ai.onnx.ml", NULL, "operators for trees, maps and texts are not supported", READ_OPS},
	{"com.microsoft.nchwc", NULL,
	 "ONNX Runtime has arranged its weights for the processor on which it saved the model",
	 "save the optimized model at the level 'extended' (graph_optimization_level = "
	 "ORT_ENABLE_EXTENDED) or below, or use the model from before that",
	 false},
	{"com.microsoft", NULL, "an operator of ONNX Runtime that is not implemented",
	 "use the model from before ONNX Runtime optimized or quantized it, " READ_OPS},
	{NULL, NULL, "it is a custom operator, and the file has no function that defines it",
	 "define it in a text (--lib FILE.qir, docs/compositions.md), export it as a function of "
	 "the model, or " READ_OPS},
};

static size_t
reason_of(const char *domain, const char *op)
{
	size_t i = 0;

	while ((reasons[i].domain != NULL && strcmp(reasons[i].domain, domain) != 0) ||
	       (reasons[i].op != NULL && strcmp(reasons[i].op, op) != 0))
		i++;
	return i;
}

/* Whether a node of the graph itself gives the value. */
static bool
is_result(const qn_onnx *o, const char *name)
{
	for (size_t i = 0; i < o->graph->n_node; i++)
		for (size_t k = 0; k < o->graph->node[i]->n_output; k++)
			if (strcmp(text(o->graph->node[i]->output[k]), name) == 0)
				return name[0] != '\0';
	return false;
}

/* The advice to end the model before a node, which needs a value there. */
static const char *
cut_before(const qn_onnx *o, const Onnx__NodeProto *p)
{
	qn_buf b;

	qn_buf_init(&b, o->im.scratch);
	for (size_t i = 0; i < p->n_input && b.n == 0; i++)
		if (is_result(o, text(p->input[i])))
			qn_buff(&b, ", or cut the model before it (--cut %s)", p->input[i]);
	return qn_buf_str(&b);
}

void
qn_onnx_refuse_unknown(qn_onnx *o, const qn_onnx_node *n, uint32_t i, const char *why)
{
	const Onnx__NodeProto *p = n->proto;
	qn_buf cut;

	qn_buf_init(&cut, o->im.scratch);
	for (size_t k = 0; k < p->n_input; k++)
		if (is_result(o, text(p->input[k])))
			qn_buff(&cut, "%s--cut %s", cut.n > 0 ? " " : "", p->input[k]);
	(void)qn_importer_refuse(&o->im, "import.constant",
				 "input %u must be a constant of at most 2^20 elements; %s%s%s%s",
				 i, why, cut.n > 0 ? "; cut the model before it (" : "",
				 cut.n > 0 ? qn_buf_str(&cut) : "",
				 cut.n > 0 ? "), and compute the rest in your program" : "");
}

static void
report(qn_onnx *o, const Onnx__NodeProto *p, size_t nodes)
{
	const char *domain = qn_onnx_domain(p), *op = text(p->op_type);
	const char *dot = domain[0] != '\0' ? "." : "";
	const size_t i = reason_of(domain, op);
	int32_t min, max;

	if (qn_onnx_versions(domain, op, &min, &max))
		(void)qn_importer_refuse(
			&o->im, "import.version",
			"%s%s%s is not supported in version %lld of its operator set%s, but from "
			"%d %s; convert the model to another operator set%s",
			domain, dot, op, (long long)o->im.version, qn_importer_nodes(&o->im, nodes),
			(int)min,
			max == QN_ONNX_NEWEST ? "on" : "on, until a later set took it out",
			cut_before(o, p));
	else
		(void)qn_importer_refuse(
			&o->im, "import.op",
			"the operator %s%s%s, version %lld of its operator set, is not "
			"supported%s: %s; %s%s",
			domain, dot, op, (long long)o->im.version, qn_importer_nodes(&o->im, nodes),
			reasons[i].why, reasons[i].way, reasons[i].cut ? cut_before(o, p) : "");
}

/* ---- all nodes ---- */

static lack *
lack_of(qn_onnx *o, const char *domain, const char *op, int64_t version)
{
	qn_buf b;

	qn_buf_init(&b, o->im.scratch);
	qn_buff(&b, "%lld/%s/%s", (long long)version, domain, op);
	lack *k = qn_map_gets(o->lacks, qn_buf_str(&b));
	if (k == NULL) {
		k = QN_NEW(o->im.scratch, lack, 1);
		qn_map_puts(o->lacks, qn_buf_str(&b), k);
	}
	return k;
}

static void
look_at(walk *w, const qn_map *versions, const Onnx__NodeProto *p)
{
	const char *domain = qn_onnx_domain(p), *op = text(p->op_type);
	const int64_t version = qn_onnx_version(versions, domain);

	if (qn_onnx_find(domain, op, version) != NULL ||
	    qn_onnx_composition(w->o, domain, op, version) != NULL)
		return;
	if (w->naming)
		qn_onnx_refuse_unsupported(w->o, p, version);
	else
		lack_of(w->o, domain, op, version)->nodes++;
}

static void go_inside(walk *w, const qn_map *versions, const Onnx__NodeProto *p, int depth);

static void
go_through(walk *w, const qn_map *versions, size_t n, Onnx__NodeProto *const *node, int depth)
{
	for (size_t i = 0; i < n && depth <= MAX_DEPTH; i++) {
		if (w->naming && !qn_importer_may_read(&w->o->im, &w->o->nodes))
			return;
		if (qn_onnx_function_of(w->o, node[i]) == NULL)
			look_at(w, versions, node[i]);
		go_inside(w, versions, node[i], depth + 1);
	}
}

/* Bodies, and a function, once however often it is called. */
static void
go_inside(walk *w, const qn_map *versions, const Onnx__NodeProto *p, int depth)
{
	const qn_onnx_function *f = qn_onnx_function_of(w->o, p);

	for (size_t i = 0; i < p->n_attribute; i++) {
		const Onnx__AttributeProto *a = p->attribute[i];

		if (a->g != NULL)
			go_through(w, versions, a->g->n_node, a->g->node, depth);
		for (size_t k = 0; k < a->n_graphs; k++)
			go_through(w, versions, a->graphs[k]->n_node, a->graphs[k]->node, depth);
	}
	if (f == NULL || qn_map_get(&w->called, &f, sizeof f) != NULL)
		return;
	qn_map_put(&w->called, &f, sizeof f, w);
	go_through(w, &f->versions, f->proto->n_node, f->proto->node, depth);
}

/* Nothing is counted before the first lack: most files have none. */
static void
count_all(qn_onnx *o)
{
	walk w = {.o = o};

	o->lacks = QN_NEW(o->im.scratch, qn_map, 1);
	qn_map_init(o->lacks, o->im.scratch);
	qn_map_init(&w.called, o->im.scratch);
	go_through(&w, o->sets, o->graph->n_node, o->graph->node, 0);
}

void
qn_onnx_refuse_unsupported(qn_onnx *o, const Onnx__NodeProto *p, int64_t version)
{
	const char *domain = qn_onnx_domain(p), *op = text(p->op_type);

	if (o->lacks == NULL)
		count_all(o);
	lack *k = lack_of(o, domain, op, version);
	if (k->reported) {
		o->im.problems++;
		return;
	}
	k->reported = true;
	qn_importer_at(&o->im, qn_onnx_name(p), op, version);
	report(o, p, k->nodes);
}

void
qn_onnx_refuse_unsupported_inside(qn_onnx *o, const Onnx__NodeProto *p)
{
	walk w = {.o = o, .naming = true};

	qn_map_init(&w.called, o->im.scratch);
	go_inside(&w, o->versions, p, o->scope->depth);
}
