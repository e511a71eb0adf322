/* SPDX-License-Identifier: Apache-2.0 */
/* judge.c - a network through the library: as it was read, and compiled to integers.
 *
 *   FOLDER/NAME.onnx -> qn_load -> qn_run                 the file's operators, in float where it has them
 *                    -> qn_compile -> qn_run, qn_emit     integers; the self-test holds the C to them */
#include "tests/networks/judge.h"
#include "quern/measure.h"

#include <math.h>
#include <stdio.h>

const char *const judge_names[JUDGE_NCLASS] = {
	"equal", "within reason", "calibrated anew", "other runtime off", "refused", "unexplained"};

typedef struct run {
	judge *j;
	const net *n;
	const judge_given *given;
	qn_ctx *ctx;
	qn_array *in, *real[NET_OUTPUTS], *codes[NET_OUTPUTS];
	qn_array *read[NET_OUTPUTS]; /* what the file's operators give */
	bool off;                    /* … beyond what the other runtime may differ by */
} run;

static bool
write_file(const char *path, const uint8_t *data, size_t bytes)
{
	FILE *f = fopen(path, "wb");

	if (f == NULL)
		return false;
	bool ok = fwrite(data, 1, bytes, f) == bytes;
	return fclose(f) == 0 && ok;
}

static void
refused(run *r, const char *where)
{
	judge *j = r->j;

	j->class = JUDGE_REFUSED;
	(void)snprintf(j->message, sizeof j->message, "%s: no message", where);
	for (size_t i = 0; i < qn_diag_count(r->ctx); i++) {
		qn_diagnostic d = qn_diag_get(r->ctx, i);

		if (d.severity != QN_ERROR)
			continue;
		(void)snprintf(j->message, sizeof j->message, "%s: %s: %s: %s", where, d.id,
			       d.place, d.message);
		return;
	}
}

static const char *
dtype(int type)
{
	return type == ONX_FLOAT ? "f32" : type == ONX_UINT8 ? "u8" : "i8";
}

static bool
make_input(run *r)
{
	static float f[NET_SAMPLES * NET_ELEMENTS];
	static uint8_t b[NET_SAMPLES * NET_ELEMENTS];
	const net_val *x = r->n->input;
	int64_t shape[NET_RANK];

	memcpy(shape, x->dim, sizeof shape);
	shape[0] *= NET_SAMPLES;
	for (int64_t i = 0; i < NET_SAMPLES * x->count; i++) {
		f[i] = (float)x->lo[i];
		b[i] = (uint8_t)(int64_t)x->lo[i];
	}
	return qn_array_new(r->ctx, dtype(x->type), x->rank, shape,
			    x->type == ONX_FLOAT ? (const void *)f : b, &r->in) == QN_OK;
}

static double
element(const qn_array *x, int64_t i)
{
	const void *data = qn_array_data(x);
	const char *type = qn_array_dtype(x);

	if (strcmp(type, "f32") == 0)
		return (double)((const float *)data)[i];
	if (strcmp(type, "i8") == 0)
		return ((const int8_t *)data)[i];
	if (strcmp(type, "i16") == 0)
		return ((const int16_t *)data)[i];
	if (strcmp(type, "u16") == 0)
		return ((const uint16_t *)data)[i];
	if (strcmp(type, "i32") == 0)
		return ((const int32_t *)data)[i];
	if (strcmp(type, "i64") == 0)
		return (double)((const int64_t *)data)[i];
	return ((const uint8_t *)data)[i];
}

static int64_t
count_of(const qn_array *x)
{
	int64_t n = 1;

	for (int k = 0; k < qn_array_rank(x); k++)
		n *= qn_array_dim(x, k);
	return n;
}

/* What two right implementations in floating point may differ by. */
static double
tolerance(const net_val *y, double v)
{
	if (y->type != ONX_FLOAT)
		return 0;
	return y->q.scale > 0 ? 0.01 * y->q.scale : 1e-5 + 1e-4 * fabs(v);
}

static bool
inside(const net_val *y, int64_t i, double v)
{
	double t = tolerance(y, v);

	return v >= y->lo[i] - t && v <= y->hi[i] + t;
}

static void
worse(run *r, judge_class class, const char *where, const net_val *y, int64_t i, double have,
      double other)
{
	judge *j = r->j;

	if (class <= j->class)
		return;
	j->class = class;
	(void)snprintf(j->message, sizeof j->message,
		       "%s: %s[%lld of %lld]: %.9g, the other runtime %.9g, expected %.9g to %.9g "
		       "(step %g)",
		       where, y->name, (long long)i, (long long)y->count, have, other, y->lo[i],
		       y->hi[i], y->q.scale);
}

static void
compare(run *r, const char *where, bool counts)
{
	for (int k = 0; k < r->n->noutput; k++) {
		const net_val *y = r->n->output[k];
		const qn_array *have = y->type == ONX_FLOAT ? r->real[k] : r->codes[k];
		int64_t all = NET_SAMPLES * y->count;
		const double step = y->type == ONX_FLOAT && y->q.scale > 0 ? y->q.scale : 1;

		if (count_of(have) != all) {
			worse(r, JUDGE_UNEXPLAINED, "number of elements", y, 0,
			      (double)count_of(have), (double)all);
			continue;
		}
		for (int64_t i = 0; i < all; i++) {
			double v = element(have, i),
			       w = r->given->output[k] != NULL ? r->given->output[k][i] : y->lo[i];
			double d = fabs(v - w);

			if (d > tolerance(y, v)) {
				bool mine = inside(y, i, v), theirs = inside(y, i, w);

				worse(r,
				      !mine    ? JUDGE_UNEXPLAINED
				      : theirs ? JUDGE_REASON
					       : JUDGE_RUNTIME,
				      where, y, i, v, w);
				if (counts) {
					r->j->differ++;
					r->j->most = d / step > r->j->most ? d / step : r->j->most;
				}
			}
			r->j->all += counts;
		}
	}
}

static bool
run_model(run *r, qn_model *m, const char *where)
{
	size_t nout = (size_t)r->n->noutput;

	if (qn_run(m, 1, &r->in, 1, nout, r->real) == QN_OK &&
	    qn_run(m, 1, &r->in, 0, nout, r->codes) == QN_OK)
		return true;
	refused(r, where);
	return false;
}

static bool
compiled(run *r, const char *path, bool from_float, qn_model **m)
{
	const qn_import_opts how = {.size = sizeof how, .from_float = from_float};
	const qn_compile_opts opts = {.size = sizeof opts, .calib = &r->in, .ncalib = 1};

	if (qn_import(r->ctx, path, &how, m) == QN_OK && qn_compile(*m, &opts) == QN_OK)
		return true;
	refused(r, from_float ? "compile --from-float" : "compile");
	return false;
}

/* The largest difference to the other runtime as a part of an output's range: the intervals are wide, for a scale that is
 * found close to a tie changes all values.  Where that runtime is off itself, to what the file's operators give. */
static double
error_of(const run *r)
{
	double worst = 0, lo, hi, least;

	net_range(r->n->input, &lo, &least);
	least = 0.02 * (least - lo); /* a result that is 0 has no range */
	for (int k = 0; k < r->n->noutput; k++) {
		const net_val *y = r->n->output[k];

		net_range(y, &lo, &hi);
		hi = hi - lo < least ? lo + least : hi;
		for (int64_t i = 0; i < NET_SAMPLES * y->count && y->type == ONX_FLOAT; i++) {
			const double w = r->off                        ? element(r->read[k], i)
					 : r->given->output[k] != NULL ? r->given->output[k][i]
								       : y->lo[i];
			const double e = fabs(element(r->real[k], i) - w) / (hi - lo);

			worst = e > worst ? e : worst;
		}
	}
	return worst;
}

/* A network whose scales each run finds: refused as it is, with the way out, and calibrated anew
 * with from_float. */
static void
anew(run *r, const char *path)
{
	qn_model *m = NULL;

	if (strstr(r->j->message, "--from-float") == NULL)
		return;
	qn_diag_clear(r->ctx);
	if (!compiled(r, path, true, &m) || !run_model(r, m, "run of integers"))
		return;
	const double worst = error_of(r);
	r->j->class = worst <= 0.08 ? JUDGE_ANEW : JUDGE_UNEXPLAINED;
	if (r->j->class == JUDGE_UNEXPLAINED)
		(void)snprintf(r->j->message, sizeof r->j->message,
			       "far off when it is calibrated anew: %.2g of the range", worst);
}

/* A network in integers whose file has no scales, or whose scales each run finds: what these scales are found from
 * has ranges of samples, and a value next to a half is another one of 256, so it is compared as a part of an output's
 * range. */
static void
within_range(run *r)
{
	const double worst = error_of(r);

	if (r->j->class == JUDGE_UNEXPLAINED)
		return;
	r->j->class = worst <= r->n->apart ? JUDGE_ANEW : JUDGE_UNEXPLAINED;
	if (r->j->class == JUDGE_UNEXPLAINED)
		(void)snprintf(r->j->message, sizeof r->j->message,
			       "far off in integers: %.2g of the range", worst);
}

static void
emit(run *r, qn_model *m)
{
	const qn_emit_opts opts = {.size = sizeof opts,
				   .name = r->j->name,
				   .test = &r->in,
				   .ntest = 1,
				   .test_samples = NET_SAMPLES};
	qn_emit_info info;

	r->j->emitted = qn_emit(m, r->j->folder, &opts, &info) == QN_OK;
	if (!r->j->emitted)
		refused(r, "emit");
}

static void
both(run *r, const char *path)
{
	qn_model *m = NULL;

	if (qn_load(r->ctx, path, &m) != QN_OK) {
		refused(r, "read");
		return;
	}
	if (!run_model(r, m, "run"))
		return;
	compare(r, "as read", false);
	r->off = r->j->class == JUDGE_RUNTIME || (r->n->apart > 0 && error_of(r) > r->n->apart);
	memcpy(r->read, r->real, sizeof r->read);
	m = NULL;
	if (!compiled(r, path, false, &m)) {
		if (r->n->dynamic)
			anew(r, path);
		return;
	}
	if (!run_model(r, m, "run of integers"))
		return;
	if (r->n->apart > 0)
		within_range(r);
	else
		compare(r, "in integers", true);
	if (r->j->emit)
		emit(r, m);
}

void
judge_network(judge *j, const net *n, const uint8_t *file, size_t bytes, const judge_given *given)
{
	run r = {.j = j, .n = n, .given = given};
	char path[512];

	j->class = JUDGE_EQUAL;
	j->emitted = false;
	j->differ = j->all = 0;
	j->most = 0;
	j->message[0] = '\0';
	(void)snprintf(path, sizeof path, "%s/%s.onnx", j->folder, j->name);
	r.ctx = qn_open(NULL);
	if (r.ctx == NULL || !write_file(path, file, bytes) || !make_input(&r))
		refused(&r, path);
	else
		both(&r, path);
	qn_close(r.ctx);
}
