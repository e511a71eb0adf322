/* SPDX-License-Identifier: Apache-2.0 */
/* golden_run.c - sections of golden files that run passes.
 *
 * `--- pass A,B bound X` compares the printed graph, and runs the graph before and after on
 * seeded inputs: real values of the outputs may differ by X. Symbols are calibrated on the same
 * kind of inputs, uniform in [-1, 1] for real ones, the full range of codes for others; plain
 * integers are -1, 0 or 1. */
#include "tests/golden.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/interp.h"
#include "tests/streamed.h"

enum { SAMPLES = 16 };

static double
uniform(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(*seed >> 33) / (double)(UINT64_C(1) << 30) - 1.0;
}

/* ---- data ---- */

typedef struct data {
	const qn_graph *g;
	const qn_graph *real; /* the graph whose inputs say how wide real values are */
	qn_arena *arena;
	const qn_tensor **x;
} data;

/* Real values of sample `index` for input k; a graph whose input became codes gets their
 * quantized form. */
static qn_tensor *
sample(const data *d, size_t index, size_t k)
{
	qn_types *t = &d->g->model->types;
	const qn_type *type = qn_graph_node(d->g, d->g->input[k])->type;
	const qn_type *real = qn_type_with_elem(t, type, qn_elem_plain(t, QN_PLAIN_f32));
	const qn_elem *like = qn_graph_node(d->real, d->real->input[k])->type->elem;
	bool plain = like->kind == QN_ELEM_PLAIN && !qn_elem_is_float(like);
	double width = 1;
	uint64_t seed = index * 1000 + k + 1;
	void *p;
	qn_tensor *x = qn_tensor_new(d->arena, plain ? type : real, &p);

	for (int64_t i = 0; plain && i < qn_type_count(type); i++)
		qn_store_f64(p, like->plain, i, uniform(&seed) + 0.5); /* rounded to -1, 0, 1 */
	if (plain)
		return x;
	if (like->kind == QN_ELEM_UNIFORM) {
		double scale;
		int64_t zp;

		qn_elem_param(t, like, 0, &scale, &zp);
		width = like->bits <= 8 ? 128 * scale : 1e4 * scale;
	}
	for (int64_t i = 0; i < qn_type_count(real); i++)
		qn_store_f64(p, QN_PLAIN_f32, i, uniform(&seed) * width);
	return type->elem->kind == QN_ELEM_UNIFORM ? qn_tensor_quantize(t, d->arena, x, type) : x;
}

static qn_status
get(qn_dataset *set, size_t index, qn_arena *scratch, const qn_tensor *const **inputs)
{
	data *d = set->user;

	(void)scratch;
	for (size_t k = 0; k < d->g->ninput; k++)
		d->x[k] = sample(d, index, k);
	*inputs = d->x;
	return QN_OK;
}

qn_dataset *
golden_data(const qn_graph *g, const qn_graph *real, qn_arena *a)
{
	data *d = QN_NEW(a, data, 1);
	qn_dataset *set = QN_NEW(a, qn_dataset, 1);

	*d = (data){g, real, a, QN_NEW(a, const qn_tensor *, g->ninput)};
	*set = (qn_dataset){.nbatch = SAMPLES, .batch = 1, .get = get, .user = d};
	return set;
}

/* ---- before and after ---- */

static bool
real_output(const qn_interp *in, const qn_graph *g, size_t k, int64_t i, double *out)
{
	const qn_tensor *y = qn_interp_output(in, k);
	double scale;
	int64_t zp;

	*out = qn_tensor_f64(y, i);
	if (y->type->elem->kind != QN_ELEM_UNIFORM)
		return true;
	if (y->type->elem->gran != QN_PER_TENSOR)
		return false;
	qn_elem_param(&g->model->types, y->type->elem, 0, &scale, &zp);
	*out = (*out - (double)zp) * scale;
	return true;
}

static bool
compare_runs(bench *b, const qn_graph *before, const qn_graph *after, double bound)
{
	qn_dataset *from = golden_data(before, before, &b->arena);
	qn_dataset *to = golden_data(after, before, &b->arena);
	qn_interp *in[2];
	double worst = 0;

	if (qn_interp_new(before, &b->arena, &in[0]) != QN_OK ||
	    qn_interp_new(after, &b->arena, &in[1]) != QN_OK)
		return complain("a graph cannot be run");
	for (size_t s = 0; s < SAMPLES; s++) {
		const qn_tensor *const *x;

		if (from->get(from, s, &b->arena, &x) != QN_OK ||
		    qn_interp_run(in[0], x, NULL, NULL) != QN_OK)
			return false;
		if (to->get(to, s, &b->arena, &x) != QN_OK ||
		    qn_interp_run(in[1], x, NULL, NULL) != QN_OK)
			return false;
		for (size_t k = 0; k < before->noutput; k++)
			for (int64_t i = 0; i < qn_type_count(qn_interp_output(in[0], k)->type);
			     i++) {
				double want, have;

				if (!real_output(in[0], before, k, i, &want) ||
				    !real_output(in[1], after, k, i, &have))
					return complain("an output is per axis");
				if (!(fabs(want - have) <= worst))
					worst = isnan(want - have) ? HUGE_VAL : fabs(want - have);
			}
	}
	if (worst <= bound)
		return true;
	(void)fprintf(stderr, "  outputs differ by %g, more than the bound %g\n", worst, bound);
	return false;
}

bool
run_pass(bench *b, const section *s, outcome *o)
{
	const char *bound_text = strstr(s->args, "bound ");
	const qn_graph *before = b->status == QN_OK ? qn_model_entry(&b->model) : NULL;
	double bound = 0;

	qn_buf_puts(&o->args, s->args);
	if (b->status != QN_OK || run_passes(&b->model, s->args) != QN_OK)
		return false;
	qn_model_print(&o->body, &b->model);
	if (bound_text == NULL)
		return true;
	if (sscanf(bound_text, "bound %lf", &bound) != 1)
		return complain("bound needs a number");
	if (streamed_is(before, qn_model_entry(&b->model)))
		return streamed_equal(before, qn_model_entry(&b->model), &b->arena, 1, 6);
	return compare_runs(b, before, qn_model_entry(&b->model), bound);
}

/* What the symbols are after the passes: "$NAME SCALE:ZERO", or "$NAME SCALE SCALE…" for each channel. */
bool
run_symbols(bench *b, const section *s, outcome *o)
{
	const qn_types *t = &b->model.types;

	qn_buf_puts(&o->args, s->args);
	if (b->status != QN_OK || run_passes(&b->model, s->args) != QN_OK)
		return false;
	for (size_t i = 0; i < t->nsymbol; i++) {
		const qn_symbol *y = t->symbol[i];

		qn_buff(&o->body, "$%s", y->name);
		for (size_t k = 0; k < (y->len > 0 ? y->vec->n : 1); k++) {
			qn_buf_puts(&o->body, " ");
			qn_buf_f32(&o->body, (float)(y->len > 0 ? y->vec->scale[k] : y->scale));
		}
		if (y->kind != QN_SYM_SYMMETRIC)
			qn_buff(&o->body, ":%lld", (long long)y->zp);
		qn_buf_puts(&o->body, "\n");
	}
	return true;
}

/* "legalize: id id": the ids that the failing run of passes reports. */
bool
run_error_in(bench *b, const section *s, outcome *o)
{
	qn_buff(&o->args, "%.*s", (int)strcspn(s->args, ":"), s->args);
	if (b->status != QN_OK)
		return false;
	if (run_passes(&b->model, s->args) == QN_OK)
		return complain("the passes report no error");
	for (size_t i = 0; i < b->diags.n; i++)
		if (b->diags.item[i].severity == QN_ERROR)
			qn_buff(&o->args, "%s %s", i == 0 ? ":" : "", b->diags.item[i].id);
	return true;
}
