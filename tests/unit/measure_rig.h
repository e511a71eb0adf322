/* SPDX-License-Identifier: Apache-2.0 */
/* measure_rig.h - for tests of metrics: the figures that a call gives, and small models. */
#ifndef TESTS_UNIT_MEASURE_RIG_H
#define TESTS_UNIT_MEASURE_RIG_H

#include "tests/unit/samples_rig.h"

#include <math.h>
#include <string.h>

#include "driver/context.h"
#include "quern/graph.h"
#include "quern/measure.h"

enum { MOST_FIGURES = 32 };

typedef struct figures {
	qn_metric of[MOST_FIGURES];
	size_t n;
} figures;

static inline void
keep(void *user, const qn_metric *m)
{
	figures *f = user;

	assert_true(f->n < MOST_FIGURES);
	f->of[f->n++] = *m;
}

static inline const qn_metric *
find(const figures *f, const char *name)
{
	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->of[i].name, name) == 0)
			return &f->of[i];
	return NULL;
}

static inline void
is_near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-12 * (fabs(a) + fabs(b))))
		fail_msg("%.17g is not %.17g", a, b);
}

static inline void
value_is(const figures *f, const char *name, double want)
{
	const qn_metric *m = find(f, name);

	if (m == NULL)
		fail_msg("no figure '%s'", name);
	else
		is_near(m->value, want);
}

/* y = op(x), or add(x, x), of one input of this type. */
static inline qn_model *
small(world *w, const char *op, const char *type)
{
	qn_model *m;

	assert_int_equal(qn_model_new(w->ctx, op, &m), QN_OK);
	qn_graph *g = qn_model_main(m);
	qn_id x = qn_add_input(g, "x", type);
	bool two = strcmp(op, "add") == 0;
	qn_id y = qn_add_op(g, op, "y", two ? 2 : 1, (qn_id[]){x, x}, NULL, NULL);
	assert_int_equal(qn_add_output(g, "y", y), QN_OK);
	return m;
}

static inline qn_array *
floats(world *w, int64_t n, int64_t each, const float *v)
{
	qn_array *x;

	assert_int_equal(qn_array_new(w->ctx, "f32", 2, (int64_t[]){n, each}, v, &x), QN_OK);
	return x;
}

static inline qn_array *
classes(world *w, int64_t n, const int64_t *v)
{
	qn_array *x;

	assert_int_equal(qn_array_new(w->ctx, "i64", 1, &n, v, &x), QN_OK);
	return x;
}

static inline qn_status
measure(qn_model *m, qn_array *x, const qn_measure_opts *o, figures *f)
{
	f->n = 0;
	return qn_measure(m, 1, &x, o, keep, f);
}

static const float four[] = {1, 5, 3, /* */ 7, -2, 6, /* */ -1, -1, -2, /* */ 0, 4, 4};

#endif
