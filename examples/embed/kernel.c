/* SPDX-License-Identifier: MIT-0 */
/* kernel.c - a program that has a kernel of its own for dense layers with weights in GGUF's q8_0.
 *
 *   dense(x: i8, w: i8 block 32)   ──▶ prepare: sizes, zero point, scales of the blocks as integers
 *                                      run: the sums, in the interpreter
 *                                      text: the same function in the emitted C
 *
 * Here it is a plain loop.  On a device it may be what starts an accelerator: run then computes in
 * the program what the accelerator computes, and the text has the calls of its driver.
 *
 *   cc kernel.c $(pkg-config --cflags --libs quern) -o kernel && ./kernel */
#include <stdio.h>
#include <string.h>

#include <quern/graph.h>
#include <quern/kernels.h>
#include <quern/measure.h>

enum { IN = 64, OUT = 4, BLOCK = 32, SAMPLES = 16, SIZES = 4 };

/* ---- the function, compiled in here and as text ---- */

#define BOTH(name, ...)                                                                            \
	__VA_ARGS__                                                                                \
	static const char name##_text[] = #__VA_ARGS__;

/* p: rows, inputs, outputs, zero point of x; then for each output the integers of its blocks.  The
 * product of a block is exact in 32 bits; so is the sum, which Quern has checked. */
BOTH(
	dense_q8, static void dense_q8(const int32_t *p, const void *const *in, void *out) {
		const int8_t *x = (const int8_t *)in[0];
		const int8_t *w = (const int8_t *)in[1];
		int32_t *y = (int32_t *)out;
		int32_t n, o, b, k, block;

		for (n = 0; n < p[0]; n++)
			for (o = 0; o < p[2]; o++) {
				y[n * p[2] + o] = 0;
				for (b = 0; b < p[1] / 32; b++) {
					block = 0;
					for (k = 32 * b; k < 32 * b + 32; k++)
						block += (x[n * p[1] + k] - p[3]) * w[o * p[1] + k];
					y[n * p[2] + o] += block * p[4 + o * (p[1] / 32) + b];
				}
			}
	})

static size_t calls; /* of the interpreter */

static void
run(const int32_t *p, const void *const *in, void *out)
{
	calls++;
	dense_q8(p, in, out);
}

/* ---- its parameters ---- */

static const int16_t *
mantissas(const qn_kernel_operand *w)
{
	for (size_t i = 0; i < w->nplane; i++)
		if (strcmp(w->plane[i].name, "mantissa") == 0)
			return w->plane[i].data;
	return NULL;
}

static int
prepare(void *user, const qn_kernel_call *c, int32_t *param, int cap, const char **why)
{
	const int64_t *shape = c->in[1]->numbers->shape; /* [outputs, inputs] */
	const int16_t *m = mantissas(c->in[1]);
	const int n = SIZES + (int)(shape[0] * (shape[1] / BLOCK));

	(void)user;
	*why = "the last block of a row is short, or its scales are not integers";
	if (m == NULL || shape[1] % BLOCK != 0 || c->in[0]->numbers->rank != 2)
		return -1; /* the next kernel is tried */
	if (cap < n)
		return n; /* called again with room */
	param[0] = (int32_t)c->in[0]->numbers->shape[0];
	param[1] = (int32_t)shape[1];
	param[2] = (int32_t)shape[0];
	param[3] = (int32_t)c->in[0]->numbers->zero_point;
	for (int i = SIZES; i < n; i++)
		param[i] = m[i - SIZES];
	return n;
}

static qn_status
register_kernel(qn_ctx *ctx)
{
	static const char *const forms[] = {"i8", "i8 block 32"};

	return qn_kernel_register(ctx, &(qn_kernel_desc){.size = sizeof(qn_kernel_desc),
							 .name = "demo.dense_q8",
							 .op = "dense",
							 .nin = 2,
							 .in = forms,
							 .out = "i32",
							 .prepare = prepare,
							 .run = run,
							 .c_name = "dense_q8",
							 .c_text = dense_q8_text});
}

/* ---- a model that has such a layer ---- */

/* Weights as a GGUF file has them; here they are drawn. */
static const char net[] = "model \"scores\" stage float\n"
			  "graph @main(%readings: tensor<1x64xf32>) {\n"
			  "  %w = const : tensor<4x64x!quant.uniform<i8:f32:{0:1, 1:32}, {{0.01, "
			  "0.02}, {0.03, 0.01}, "
			  "{0.005, 0.01}, {0.02, 0.02}}>> rand 1\n"
			  "  %values = dequantize %w\n"
			  "  %fc = dense %readings, %values\n"
			  "  %scores = relu %fc\n"
			  "  return %scores\n}\n";

static int
read_sample(void *user, size_t index, void *dst)
{
	float *x = dst;

	(void)user;
	for (size_t i = 0; i < IN; i++)
		x[i] = (float)((index * IN + i) * 37 % 101) / 50.0f - 1.0f;
	return 0;
}

/* ---- what comes out ---- */

static int
print_file(void *user, const char *name, const char *text, size_t n)
{
	char *last = user; /* the name of the file before */

	if (strcmp(name, last) != 0) {
		(void)snprintf(last, 100, "%s", name);
		(void)printf("#### %s\n", name);
	}
	return fwrite(text, 1, n, stdout) != n;
}

/* Which kernel each step has, and which declined it. */
static int
print_explanation(void *user, const char *text, size_t n)
{
	(void)user;
	return fwrite(text, 1, n, stderr) != n;
}

static qn_status
work(qn_ctx *ctx)
{
	char last[100] = "";
	qn_array *x, *built_in, *ours;
	qn_model *m;
	qn_status s = qn_file_add(ctx, "scores.qir", net, sizeof net - 1);

	if (s == QN_OK)
		s = qn_load(ctx, "scores.qir", &m);
	if (s == QN_OK)
		s = qn_samples_new(ctx, "f32", 2, (const int64_t[]){SAMPLES, IN}, "readings",
				   read_sample, NULL, &x);
	if (s == QN_OK)
		s = qn_compile(m, &(qn_compile_opts){.calib = &x, .ncalib = 1});
	if (s == QN_OK)
		s = qn_run(m, 1, &x, 0, 1, &built_in);
	if (s == QN_OK)
		s = register_kernel(ctx);
	if (s == QN_OK)
		s = qn_run(m, 1, &x, 0, 1, &ours);
	if (s != QN_OK)
		return s;
	if (calls != SAMPLES ||
	    memcmp(qn_array_data(built_in), qn_array_data(ours), SAMPLES * OUT) != 0) {
		(void)fprintf(stderr, "the kernel computes something else\n");
		return QN_EINVALID;
	}
	(void)fprintf(stderr, "%zu calls, the same bytes\n", calls);
	return qn_emit_to(m, &(qn_emit_opts){.test = &x, .ntest = 1, .explain = print_explanation},
			  print_file, last, NULL);
}

int
main(void)
{
	qn_ctx *ctx = qn_open(NULL);

	if (ctx == NULL)
		return QN_ENOMEM;
	qn_status s = work(ctx);
	for (size_t i = 0; i < qn_diag_count(ctx); i++) {
		qn_diagnostic d = qn_diag_get(ctx, i);

		(void)fprintf(stderr, "%s: %s [%s]\n", d.place, d.message, d.id);
	}
	qn_close(ctx);
	return (int)s;
}
