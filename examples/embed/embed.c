/* SPDX-License-Identifier: MIT-0 */
/* embed.c - a program that has Quern inside: float network in, integer C out, all of it in memory.
 *
 *   samples ──────────────────────────────┐
 *   weights ─▶ graph ─▶ run (float)       ▼
 *                 └───▶ compile ◀── calibration ─▶ run (integer) ─▶ C text on stdout
 *                          ▲
 *   our operator, our pattern
 *
 * The network has 16 readings of a sensor as input, computes 8 features, removes noise from them with a custom operator,
 * and computes 3 scores.  No file is read or written.
 *
 *   cc embed.c $(pkg-config --cflags --libs quern) -o embed && ./embed */
#include <stdio.h>

#include <quern/host_ops.h>
#include <quern/measure.h>
#include <quern/patterns.h>

enum { READINGS = 16, FEATURES = 8, CLASSES = 3, SAMPLES = 64 };

/* ---- a custom operator: demo.shrink ----
 *
 * y = x - t for x > t, x + t for x < -t, else 0: what is smaller than the threshold t is noise.
 *
 * Quern needs three things: what it computes in floats, its integer parameters, and what it computes
 * on quantized values.  The shape of the result is that of the input, so it needs no shape rule. */

static void
shrink_real(void *user, const qn_op_call *c, const float *const *in, float *out)
{
	float t = (float)c->attr[0].real; /* attributes come in the order of the descriptor */
	size_t n = 1;

	(void)user;
	for (int i = 0; i < c->out->rank; i++)
		n *= (size_t)c->out->shape[i];
	for (size_t i = 0; i < n; i++) {
		float x = in[0][i];

		out[i] = x > t ? x - t : x < -t ? x + t : 0.0f;
	}
}

/* Called once per node, when all scales are known: float = (q - zero_point) * scale.  shrink_quantized
 * gets what it writes into param, here and on the device. */
static int
shrink_prepare(void *user, const qn_op_call *c, int32_t *param, int cap, const char **why)
{
	double steps = c->attr[0].real / c->in[0]->scale; /* the threshold in steps of the scale */
	int64_t n = 1;

	(void)user;
	if (cap < 8 || c->in[0]->bits != 8 || !c->in[0]->is_signed || c->out->bits != 8) {
		*why = "shrink supports signed 8-bit values only";
		return -1;
	}
	if (!(steps >= 0 && steps < 255)) {
		*why = "the threshold is not within the input's range";
		return -1;
	}
	/* The ratio of the scales as an integer and a shift: it is below 1 or near it, for shrink
	 * makes ranges smaller. */
	if (qn_multiplier_of(c->in[0]->scale / c->out->scale, &param[0], &param[1]) != QN_OK ||
	    param[1] > 15) {
		*why = "the output's scale is too small for the input's";
		return -1;
	}
	for (int i = 0; i < c->out->rank; i++)
		n *= c->out->shape[i];
	param[2] = (int32_t)(steps + 0.5);
	param[3] = (int32_t)c->in[0]->zero_point;
	param[4] = (int32_t)c->out->zero_point;
	param[5] = (int32_t)c->out->lo;
	param[6] = (int32_t)c->out->hi;
	param[7] = (int32_t)n;
	return 8;
}

/* The integer function is needed twice: compiled in here for the interpreter, and as text for
 * the emitted C.  The macro makes both from one source.  The text must be C99 and C++11, and
 * integers alone.  (It may also use the arithmetic of <quern/fixed.h>, which Quern then emits with
 * it; this one does without.) */
#define CODE_AND_TEXT(name, ...)                                                                   \
	__VA_ARGS__                                                                                \
	static const char name##_text[] = #__VA_ARGS__;

CODE_AND_TEXT(
	shrink_quantized,
	static void shrink_quantized(const int32_t *p, const void *const *in, void *out) {
		const int8_t *x = (const int8_t *)in[0];
		int8_t *y = (int8_t *)out;
		int32_t i;

		for (i = 0; i < p[7]; i++) {
			int32_t v = x[i] - p[3];
			int64_t w;

			v = v > p[2] ? v - p[2] : v < -p[2] ? v + p[2] : 0;
			w = (int64_t)v * p[0] + ((int64_t)1 << (30 - p[1]));
			v = (int32_t)(w >> (31 - p[1])) + p[4]; /* times m * 2^(s-31), rounded */
			y[i] = (int8_t)(v < p[5] ? p[5] : v > p[6] ? p[6] : v);
		}
	})

static qn_status
register_shrink(qn_ctx *ctx)
{
	static const qn_op_attr threshold = {"threshold", 1, NULL}; /* a real; must be given */
	const qn_op_desc shrink = {
		.size = sizeof(qn_op_desc), /* of the header that we were built with */
		.name = "demo.shrink",
		.min_inputs = 1,
		.max_inputs = 1,
		.behaviour =
			QN_OP_MIX, /* its result has a range of its own, which calibration finds */
		.nattr = 1,
		.attr = &threshold,
		.run_float = shrink_real,
		.prepare = shrink_prepare,
		.run_integer = shrink_quantized,
		.integer_name = "shrink_quantized",
		.integer_text = shrink_quantized_text,
	};

	return qn_op_register(ctx, &shrink);
}

/* ---- a quantizer pattern of our own: how a dense layer is quantized, and by which ranges ----
 *
 *   dense(x, w)  ->  dequantize(dense(quantize(x): $fc.x, quantize(w): $fc.w))
 *
 * Quern has a pattern for that; this one is tried first.  It chooses other ranges: the readings have spikes, so the
 * largest values saturate and the others get finer steps. */

/* Has float inputs and a float result; Quern handles what is between two matches. */
static qn_id
dense_quantize(void *user, qn_quantizing *q, const qn_match *m)
{
	const qn_graph *before = qn_quantizing_before(q); /* the match as it was, in floats */
	qn_id dense = qn_match_root(qn_quantizing_match(q));
	const char *name = qn_value(before, dense).name;
	const qn_id in[2] = {
		qn_quantize_activation(q, qn_match_get(m, "x"), name, "x"),
		qn_quantize_weights(q, qn_match_get(m, "w"), name, "w", 0), /* a scale a row */
	};

	(void)user;
	return qn_dequantize(q, qn_quantizing_op(q, dense, NULL, 2, in), name);
}

/* Finds the scales of one match: reads the float graph's values and gives 15/16 of their range. */
static qn_status
dense_calibrate(void *user, qn_info *info)
{
	(void)user;
	for (size_t k = 0; qn_info_symbol(info, k).name != NULL; k++) {
		float lo = 0, hi = 0;

		if (qn_info_symbol(info, k).constant)
			continue; /* the weights' scales are known from the weights */
		for (size_t b = 0; b < qn_info_batches(info); b++) {
			qn_info_data d;
			qn_status s = qn_info_read(info, QN_INFO_FLOAT_INPUT, k, b, 0, NULL, &d);

			if (s != QN_OK)
				return s;
			for (size_t i = 0; i < d.count; i++) {
				lo = d.values[i] < lo ? d.values[i] : lo;
				hi = d.values[i] > hi ? d.values[i] : hi;
			}
		}
		qn_status s = qn_info_set_range(info, k, (double)lo * 0.9375, (double)hi * 0.9375);
		if (s != QN_OK)
			return s;
	}
	return QN_OK;
}

static const qn_quantizer dense_quantizer = {
	.size = sizeof(qn_quantizer),
	.name = "demo.dense",
	.text = "dense(x, w)", /* or .pattern, put together by qn_pat_… */
	.quantize = dense_quantize,
	.calibrate = dense_calibrate,
};

/* ---- the network ---- */

/* Stands for trained weights and for measured samples: numbers within -1 and 1, the same ones everywhere. */
static void
fill(float *x, size_t n, uint32_t seed, float scale)
{
	for (size_t i = 0; i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		x[i] = scale * ((float)(seed >> 8) / 8388608.0f - 1.0f);
	}
}

/* An array of the context, which keeps a copy of the data. */
static qn_array *
array_of(qn_ctx *ctx, int64_t rows, int64_t columns, uint32_t seed, float scale)
{
	float data[FEATURES * READINGS];
	qn_array *a = NULL;

	fill(data, (size_t)(rows * columns), seed, scale);
	(void)qn_array_new(ctx, "f32", 2, (const int64_t[]){rows, columns}, data, &a);
	return a; /* NULL: out of memory; qn_add_const accepts it and returns 0 */
}

/* A value that could not be added is 0, and what is built on a 0 is 0: only the end needs a look. */
static qn_status
build(qn_ctx *ctx, qn_model **out)
{
	qn_status status = qn_model_new(ctx, "sensor", out);

	if (status != QN_OK)
		return status;
	qn_graph *g = qn_model_main(*out);
	qn_id x = qn_add_input(g, "readings", "tensor<1x16xf32>");
	qn_id w1 = qn_add_const(g, "features.w", array_of(ctx, FEATURES, READINGS, 1, 0.5f));
	qn_id w2 = qn_add_const(g, "scores.w", array_of(ctx, CLASSES, FEATURES, 2, 0.7f));
	qn_id f = qn_add_op(g, "dense", "features", 2, (const qn_id[]){x, w1}, NULL, NULL);
	qn_id s = qn_add_op(g, "demo.shrink", "quiet", 1, &f, "threshold=0.25", NULL);
	qn_id y = qn_add_op(g, "dense", "scores", 2, (const qn_id[]){s, w2}, NULL, NULL);

	return qn_add_output(g, "scores", y);
}

/* Writes one sample, of the type of the input without its dimension 0.  Quern asks for a sample when it needs it,
 * maybe again, so the data set may be larger than memory. */
static int
read_sensor(void *user, size_t index, void *dst)
{
	(void)user;
	fill(dst, READINGS, 3 + (uint32_t)index, 1.0f);
	return 0; /* else: the data set failed, and so does the call */
}

/* ---- what comes out ---- */

/* The largest difference between two results, and the largest result. */
static void
compare(const qn_array *a, const qn_array *b)
{
	const float *x = qn_array_data(a);
	const float *y = qn_array_data(b);
	float most = 0, error = 0;

	for (int i = 0; i < SAMPLES * CLASSES; i++) {
		float d = x[i] > y[i] ? x[i] - y[i] : y[i] - x[i];
		float v = x[i] < 0 ? -x[i] : x[i];

		error = d > error ? d : error;
		most = v > most ? v : most;
	}
	(void)fprintf(stderr, "scores up to %.3f, integers differ by %.3f at most\n", (double)most,
		      (double)error);
}

/* Receives the emitted files piece by piece; a new name is a new file.  A build system in memory would put them
 * into its own store; here they are printed, each after a line with its name. */
typedef struct printer {
	char last[100];
} printer;

static int
print_file(void *user, const char *name, const char *text, size_t n)
{
	printer *p = user;
	size_t k = 0;

	while (name[k] != '\0' && name[k] == p->last[k])
		k++;
	if (name[k] != p->last[k]) {
		(void)snprintf(p->last, sizeof p->last, "%s", name);
		(void)printf("#### %s\n", name);
	}
	return fwrite(text, 1, n, stdout) != n; /* not 0: Quern stops with QN_EIO */
}

static qn_status
work(qn_ctx *ctx)
{
	qn_model *m;
	qn_array *in, *real, *quantized;
	printer p = {""};
	qn_status s = register_shrink(ctx);

	if (s == QN_OK)
		s = build(ctx, &m);
	if (s == QN_OK) /* dimension 0 counts the samples */
		s = qn_samples_new(ctx, "f32", 2, (const int64_t[]){SAMPLES, READINGS}, "readings",
				   read_sensor, NULL, &in);
	if (s == QN_OK)
		s = qn_run(m, 1, &in, 1, 1, &real); /* the float graph */
	if (s == QN_OK) /* the samples show the range of each value, from which scales follow */
		s = qn_compile(m, &(qn_compile_opts){.calib = &in,
						     .ncalib = 1,
						     .quantizers = &dense_quantizer,
						     .nquantizers = 1});
	if (s == QN_OK)
		s = qn_run(m, 1, &in, 1, 1,
			   &quantized); /* the integer graph, its results as reals */
	if (s != QN_OK)
		return s;
	compare(real, quantized);
	/* With samples for the self-test, which shows on the device that the C computes what the
	 * interpreter did, bit by bit. */
	return qn_emit_to(m, &(qn_emit_opts){.test = &in, .ntest = 1}, print_file, &p, NULL);
}

int
main(void)
{
	qn_ctx *ctx =
		qn_open(NULL); /* or with a qn_config: our allocator, our log, threads, limits */

	if (ctx == NULL)
		return QN_ENOMEM;
	qn_status s = work(ctx);
	for (size_t i = 0; i < qn_diag_count(ctx); i++) {
		qn_diagnostic d = qn_diag_get(ctx, i);

		(void)fprintf(stderr, "%s: %s [%s]\n", d.place, d.message, d.id);
	}
	qn_close(ctx); /* frees the model and the arrays too */
	return (int)s;
}
