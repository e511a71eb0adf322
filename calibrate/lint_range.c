/* SPDX-License-Identifier: Apache-2.0 */
/* lint_range.c - do samples lie in the ranges of a model's quantized inputs?  What lies outside saturates.
 *
 *   range 0 to 1; samples of 0 to 255       ──▶   "34 % of the values are outside of its range"
 *   range 0 to 255; samples of 0 to 1       ──▶   "they become at most 2 different quantized values"
 *   column 3 of 0 to 0.01, others to 40000  ──▶   "1 of the 8 columns becomes at most 2 different quantized values"
 *   int8 samples with --input-scale 1       ──▶   "its int8 values are taken as float values" */
#include <math.h>

#include "calibrate/lint.h"
#include "ir/diag.h"

#define MOST_OUTSIDE 0.125 /* of all values */
#define FEWEST_STEPS 8     /* different quantized values at most: too few to be meant */
#define FEWEST_VALUES 64   /* of all samples, before that is said */
#define BETWEEN 0.01       /* steps from a quantized value that are not the rounding of f32 */
#define LOST_STEPS 2       /* different quantized values at most of a column that says nothing */
#define LOST_SHARE                                                                                 \
	0.0625 /* … of its spread, that rounding moves a value by: flags of 0 and 1 may be exact */
#define MOST_COLUMNS 64 /* of measurements; rows of images and texts are longer */
#define FAR_OUTSIDE 8.0 /* widths of the range that one value lies beyond its end */

/* What the samples have at one index of the last axis. */
typedef struct column {
	double least, most;
	double error; /* the largest of rounding them */
} column;

/* The range of one input, and what its samples are. */
typedef struct range {
	const qn_type *one; /* of a sample, as it is read; NULL: there is nothing to compare */
	const qn_elem *elem;
	double scale, zp;
	double lo, hi;      /* what the quantized values stand for */
	double least, most; /* of the samples */
	uint64_t n, outside, between;
	column *column;
	int64_t ncolumn; /* 0: their values are of one kind */
} range;

/* The type to which values of an input are quantized: its own, or that of a quantize after it. */
static const qn_elem *
quantized_elem(const qn_graph *g, qn_id input)
{
	const qn_elem *e = qn_graph_node(g, input)->type->elem;

	for (qn_id id = input + 1; e->kind != QN_ELEM_UNIFORM && id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op == QN_OP_quantize && n->in[0] == input)
			e = n->type->elem;
	}
	return e;
}

/* Scale and zero point, if the type has one of each and they are known. */
static bool
find_params(const qn_types *t, const qn_elem *e, double *scale, double *zp)
{
	int64_t zero = 0;

	if (e->kind != QN_ELEM_UNIFORM || e->gran != QN_PER_TENSOR)
		return false;
	if (e->scale->kind == QN_SCALE_SYM && e->scale->sym->bound) {
		*scale = e->scale->sym->scale;
		zero = e->scale->sym->zp;
	} else if (!qn_elem_has_symbol(e)) {
		qn_elem_param(t, e, 0, scale, &zero);
	} else {
		return false;
	}
	*zp = (double)zero;
	return true;
}

static void
init(range *r, const qn_graph *g, size_t k, const qn_source *s, qn_arena *a)
{
	qn_types *t = &g->model->types;
	const qn_plain have = s->type->elem->plain;
	int64_t dim[QN_MAX_RANK] = {1};

	*r = (range){.elem = quantized_elem(g, g->input[k]), .least = HUGE_VAL, .most = -HUGE_VAL};
	if (!find_params(t, r->elem, &r->scale, &r->zp) || !qn_plain_table[have].is_float)
		return;
	for (int32_t i = 1; i < s->type->rank; i++)
		dim[i] = s->type->dim[i];
	r->one = qn_type_plain(t, have, s->type->rank, dim);
	r->lo = ((double)r->elem->qmin - r->zp) * r->scale;
	r->hi = ((double)r->elem->qmax - r->zp) * r->scale;
	r->ncolumn = r->one->rank == 2 ? r->one->dim[1] : 0;
	if (r->ncolumn < 2 || r->ncolumn > MOST_COLUMNS)
		r->ncolumn = 0;
	r->column = QN_NEW(a, column, (size_t)r->ncolumn);
	for (int64_t c = 0; c < r->ncolumn; c++)
		r->column[c] = (column){.least = HUGE_VAL, .most = -HUGE_VAL};
}

static void
add_to_column(range *r, int64_t i, double v)
{
	column *c = &r->column[i % r->ncolumn];

	c->least = fmin(c->least, v);
	c->most = fmax(c->most, v);
	c->error = fmax(c->error, fabs(v - rint(v / r->scale) * r->scale));
}

/* What rounds to an end of the range belongs to it. */
static void
look(void *user, size_t input, size_t index, const void *data)
{
	range *r = (range *)user + input;
	const qn_tensor x = {.type = r->one, .data = data};
	const int64_t n = r->one != NULL ? qn_type_count(r->one) : 0;
	const double lo = r->lo - 0.5 * r->scale, hi = r->hi + 0.5 * r->scale;

	(void)index;
	for (int64_t i = 0; i < n; i++) {
		const double v = qn_tensor_f64(&x, i);

		r->least = fmin(r->least, v);
		r->most = fmax(r->most, v);
		r->outside += v < lo || v > hi;
		r->between += fabs(v / r->scale - rint(v / r->scale)) > BETWEEN;
		if (r->ncolumn > 0)
			add_to_column(r, i, v);
	}
	r->n += (uint64_t)n;
}

/* The shortest decimal text of a number that is an f32, or nearly. */
static const char *
number(double v, qn_arena *a)
{
	qn_buf b;

	qn_buf_init(&b, a);
	qn_buf_f32(&b, (float)v);
	return qn_buf_str(&b);
}

/* How many different quantized values there are from `least` to `most`. */
static double
steps_of(const range *r, double least, double most)
{
	return rint(most / r->scale) - rint(least / r->scale) + 1;
}

/* Measurements in units of their own, some of which the range of the others leaves no steps. */
static void
warn_units(const range *r, const char *name, const char *place, qn_arena *a)
{
	const column *first = NULL, *widest = r->column;
	int64_t lost = 0;

	if (r->ncolumn == 0 || r->n / (uint64_t)r->ncolumn < QN_LINT_FEWEST)
		return;
	for (const column *c = r->column; c < r->column + r->ncolumn; c++) {
		if (c->most - c->least > widest->most - widest->least)
			widest = c;
		if (!(c->least < c->most) || !(c->error > LOST_SHARE * (c->most - c->least)) ||
		    steps_of(r, c->least, c->most) > LOST_STEPS)
			continue;
		lost++;
		first = first != NULL ? first : c;
	}
	if (first == NULL || steps_of(r, widest->least, widest->most) <= 2 * FEWEST_STEPS)
		return;
	qn_warn(a->env, "data.units", place,
		"%lld of the %lld columns of input '%s' %s at most %d different quantized "
		"values: column %lld goes from %s to %s, column %lld from %s to %s, and one step "
		"is %s; standardize each column, (x - mean) / std (--mean and --std take a number "
		"for "
		"each), and train so or fold it into the first layer; or feed those in other "
		"units as an input of their own",
		(long long)lost, (long long)r->ncolumn, name, lost > 1 ? "become" : "becomes",
		LOST_STEPS, (long long)(first - r->column), number(first->least, a),
		number(first->most, a), (long long)(widest - r->column), number(widest->least, a),
		number(widest->most, a), number(r->scale, a));
}

static void
warn_outside(const range *r, const char *name, const char *place, qn_arena *a)
{
	const double share = r->n > 0 ? (double)r->outside / (double)r->n : 0;
	const double far = fmax(r->lo - r->least, r->most - r->hi);

	if (r->outside > 0 && (share > MOST_OUTSIDE || far > FAR_OUTSIDE * (r->hi - r->lo)))
		qn_warn(a->env, "data.range", place,
			"%llu of %llu values (%llu %%) are outside of the range %s to %s of input "
			"'%s' and saturate (smallest %s, largest %s): scale them as for the "
			"training (--input-scale, --input-zero, --mean, --std)",
			(unsigned long long)r->outside, (unsigned long long)r->n,
			(unsigned long long)rint(100 * share), number(r->lo, a), number(r->hi, a),
			name, number(r->least, a), number(r->most, a));
}

/* Values that all lie close together for the range, and are not quantized values themselves, as those of
 * a mask are. */
static bool
warn_narrow(const range *r, const char *name, const char *place, qn_arena *a)
{
	const double steps = steps_of(r, r->least, r->most);
	const int64_t all = (int64_t)r->elem->qmax - r->elem->qmin + 1;

	if (r->n < FEWEST_VALUES || r->outside > 0 || r->between == 0 || r->least == r->most ||
	    steps > FEWEST_STEPS || all <= 2 * FEWEST_STEPS)
		return false;
	qn_warn(a->env, "data.range", place,
		"the values from %s to %s become at most %lld of the %lld quantized values that "
		"input '%s' has for its range %s to %s: scale them as for the training "
		"(--input-scale, --input-zero, --mean, --std)",
		number(r->least, a), number(r->most, a), (long long)steps, (long long)all, name,
		number(r->lo, a), number(r->hi, a));
	return true;
}

/* Whether samples of the input's own storage type were made float values by options that change no value. */
static bool
was_quantized(const range *r, const qn_source *s)
{
	return r->one != NULL && s->stored != NULL && qn_prep_is_identity(s->prep) &&
	       s->stored->elem->plain == r->elem->plain && (r->scale != 1 || r->zp != 0);
}

static void
warn_stored(const range *r, const qn_source *s, const char *name, qn_arena *a)
{
	qn_warn(a->env, "data.stored", s->name,
		"elements of type %s, the storage type of input '%s', are taken as float values "
		"because of --input-scale 1, and quantized (scale %s, zero point %s): if they are "
		"quantized values already, omit the option; else give the factor of the training",
		qn_plain_table[r->elem->plain].name, name, number(r->scale, a), number(r->zp, a));
}

/* Reads the samples; by input what they have. */
static qn_status
look_at(const qn_graph *g, qn_dataset *d, size_t batches, qn_arena *a, range **out)
{
	range *of = QN_NEW(a, range, qn_graph_fed(g));

	*out = of;
	for (size_t k = 0; k < qn_graph_fed(g); k++)
		init(&of[k], g, k, qn_dataset_source(d, k), a);
	return qn_dataset_check(d, a, &(qn_check){.batches = batches, .look = look, .user = of});
}

qn_status
qn_lint_units(const qn_graph *g, qn_dataset *d, qn_arena *a)
{
	range *of;

	QN_TRY(look_at(g, d, QN_LINT_UNITS, a, &of));
	for (size_t k = 0; k < qn_graph_fed(g); k++)
		warn_units(&of[k], qn_graph_node(g, g->input[k])->name,
			   qn_dataset_source(d, k)->name, a);
	return QN_OK;
}

qn_status
qn_lint_data(const qn_graph *g, qn_dataset *d, size_t batches, qn_arena *a)
{
	range *of;

	QN_TRY(look_at(g, d, batches, a, &of));
	for (size_t k = 0; k < qn_graph_fed(g); k++) {
		const qn_source *s = qn_dataset_source(d, k);
		const char *name = qn_graph_node(g, g->input[k])->name;

		if (was_quantized(&of[k], s))
			warn_stored(&of[k], s, name, a);
		else if (of[k].n > 0 && !warn_narrow(&of[k], name, s->name, a)) {
			warn_outside(&of[k], name, s->name, a);
			if (!g->model->quantized_here) /* else said when it was */
				warn_units(&of[k], name, s->name, a);
		}
	}
	return g->model->stage == QN_STAGE_FLOAT ? qn_lint_model(d, g, a) : QN_OK;
}
