/* SPDX-License-Identifier: Apache-2.0 */
/* interp.c - how fast the float interpreter is, beside OpenBLAS's sgemm in the same run.
 *
 *   layer                 M     N     K   quern   sgemm  ratio      GFLOP/s, one thread
 *   dense 512^3         512   512   512    38.1    71.9   0.53
 *   network  bundle  one by one  bundled  with min, max   1.5 x ONNX Runtime    us/sample
 *   kws           4       150.2    148.4          160.1                201.0
 *
 *   bench_interp 1        no bundles; another number: bytes of the values in a bundle
 *   bench_interp integer [NETWORK]   only the last table, of one of its networks
 *
 * Then the operators that move more than they compute (streams.c), and integer networks beside float ones
 * (integer.c).
 *
 * Times are the smallest of many runs.  A layer's sgemm is that of its matrix product alone: M
 * positions, N outputs, K terms.  ONNX Runtime's figures were measured where sgemm 512^3 gave
 * 72.6 GFLOP/s with OpenBLAS's kernels for Haswell and 118 with those for SkylakeX, and are scaled
 * by this run's sgemm when it uses one of these. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef QN_BENCH_OPENBLAS
#include <cblas.h>
#endif

#include "bench/integer.h"
#include "bench/streams.h"
#include "runtime/simd.h"

#ifdef QN_BENCH_OPENBLAS
/* GFLOP/s of sgemm 512^3 where ONNX Runtime was measured, by OpenBLAS's kernels. */
static const struct {
	const char *kernels;
	double gflops;
} peer[] = {{"Haswell", 72.6}, {"SkylakeX", 118.0}};
#endif

typedef struct layer {
	const char *name;
	int64_t h, w, c, out, kh, kw, sh, sw; /* h 0: dense of w rows */
} layer;

static const layer layers[] = {
	{"dense 512^3", 0, 512, 512, 512, 1, 1, 1, 1},
	{"kws conv 10x4 s2", 49, 10, 1, 64, 10, 4, 2, 2},
	{"kws conv 1x1 64", 25, 5, 64, 64, 1, 1, 1, 1},
	{"ic conv 3x3 3-16", 32, 32, 3, 16, 3, 3, 1, 1},
	{"ic conv 3x3 16", 32, 32, 16, 16, 3, 3, 1, 1},
	{"ic conv 3x3 32 s2", 32, 32, 16, 32, 3, 3, 2, 2},
	{"ic conv 3x3 32", 16, 16, 32, 32, 3, 3, 1, 1},
	{"ic conv 3x3 64", 8, 8, 64, 64, 3, 3, 1, 1},
	{"vww conv 3x3 s2", 96, 96, 3, 8, 3, 3, 2, 2},
	{"vww conv 1x1 8-16", 48, 48, 8, 16, 1, 1, 1, 1},
	{"vww conv 1x1 32", 24, 24, 32, 32, 1, 1, 1, 1},
	{"vww conv 1x1 128", 6, 6, 128, 128, 1, 1, 1, 1},
	{"vww conv 1x1 256", 3, 3, 256, 256, 1, 1, 1, 1},
	{"ad dense 640-128", 0, 1, 640, 128, 1, 1, 1, 1},
	{"ad dense 640-128 x32", 0, 32, 640, 128, 1, 1, 1, 1},
};

static qn_status
observe(void *user, const qn_graph *g, qn_id id, const qn_tensor *value)
{
	bench *b = user;

	if (qn_graph_node(g, id)->op != QN_OP_const)
		qn_observer_add(&b->seen[id], 0, value->data, value->bytes / sizeof(float));
	return QN_OK;
}

static void
run_bundle(bench *b, qn_observe_fn *fn)
{
	for (size_t i = 0; i < b->bundle; i++)
		if (qn_interp_load(b->in, i, &b->x) != QN_OK)
			exit(1);
	if (qn_interp_run_bundle(b->in, b->bundle, fn, b) != QN_OK)
		exit(1);
}

static void
run_bundled(void *arg)
{
	run_bundle(arg, NULL);
}

static void
run_observed(void *arg)
{
	run_bundle(arg, observe);
}

typedef struct product {
	int m, n, k;
	float *a, *b, *c;
} product;

#ifdef QN_BENCH_OPENBLAS
static void
run_sgemm(void *arg)
{
	product *p = arg;

	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, p->m, p->n, p->k, 1.0f, p->a, p->k,
		    p->b, p->k, 0.0f, p->c, p->n);
}
#endif

/* GFLOP/s of sgemm; 0 without OpenBLAS. */
static double
sgemm(int64_t m, int64_t n, int64_t k, qn_arena *arena)
{
	product p = {(int)m,
		     (int)n,
		     (int)k,
		     QN_NEW(arena, float, (size_t)(m * k)),
		     QN_NEW(arena, float, (size_t)(n * k)),
		     QN_NEW(arena, float, (size_t)(m * n))};

	for (int64_t i = 0; i < m * k; i++)
		p.a[i] = (float)(i % 17) - 8.0f;
	for (int64_t i = 0; i < n * k; i++)
		p.b[i] = (float)(i % 13) - 6.0f;
#ifdef QN_BENCH_OPENBLAS
	openblas_set_num_threads(1);
	return 2e-9 * (double)(m * n * k) / bench_smallest(run_sgemm, &p);
#else
	return 0.0;
#endif
}

/* Prints a row; the sgemm of its shape in GFLOP/s. */
static double
time_layer(const layer *l)
{
	bench b;
	jmp_buf oom;
	qn_id y;

	bench_begin(&b, &oom);
	if (setjmp(oom) != 0)
		exit(1);
	if (l->h == 0) {
		y = maker_dense(&b.k, maker_input(&b.k, 2, (int64_t[]){l->w, l->c}), l->out);
	} else {
		qn_id x = maker_input(&b.k, 4, (int64_t[]){1, l->h, l->w, l->c});

		y = maker_conv(&b.k, x, l->out, l->kh, l->kw, l->sh, l->sw);
	}
	bench_prepare(&b, y, 1);
	int64_t m = qn_type_count(qn_graph_node(b.k.g, y)->type) / l->out;
	int64_t k = l->kh * l->kw * l->c;
	double other = sgemm(m, l->out, k, &b.arena);
	double own = 2e-9 * (double)(m * l->out * k) / bench_smallest(bench_run, &b);

	printf("%-22s %5d %5d %5d %7.2f", l->name, (int)m, (int)l->out, (int)k, own);
	if (other > 0)
		printf(" %7.2f %6.2f\n", other, own / other);
	else
		printf(" %7s %6s\n", "-", "-");
	qn_arena_release(&b.arena);
	return other;
}

static void
time_network(const network *n, double scale, size_t bundle_bytes)
{
	bench b;
	jmp_buf oom;

	bench_begin(&b, &oom);
	if (setjmp(oom) != 0)
		exit(1);
	b.env.bundle_bytes = bundle_bytes;
	bench_prepare(&b, n->build(&b.k), SIZE_MAX);
	double each = 1e6 / (double)b.bundle;
	double plain = bench_smallest(bench_run, &b) * 1e6;
	double bundled = bench_smallest(run_bundled, &b) * each;
	double observed = bench_smallest(run_observed, &b) * each;
	double bar = 1.5 * n->onnxruntime_us * scale;

	printf("%-8s %6zu %11.1f %8.1f %14.1f %20.1f %6.2f\n", n->name, b.bundle, plain, bundled,
	       observed, bar, observed / bar);
	qn_arena_release(&b.arena);
}

/* How much faster ONNX Runtime's machine is; 1 when this cannot be told. */
static double
peer_scale(double sgemm_here)
{
#ifdef QN_BENCH_OPENBLAS
	for (size_t i = 0; i < QN_COUNT(peer); i++)
		if (strcmp(openblas_get_corename(), peer[i].kernels) == 0)
			return peer[i].gflops / sgemm_here;
#endif
	(void)sgemm_here;
	return 1.0;
}

int
main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "integer") == 0) {
		time_integer(getenv("QUERN_DATA"), argc > 2 ? argv[2] : NULL);
		return 0;
	}
	size_t bundle_bytes = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 0;
	double first = 0;

#ifdef QN_BENCH_OPENBLAS
	printf("OpenBLAS kernels: %s\n", openblas_get_corename());
#else
	puts("sgemm is not timed: built without OpenBLAS (Debian: libopenblas-dev)");
#endif
	printf("float implementations: %s\n", qn_simd_get(QN_SIMD_BEST)->name);
	printf("%-22s %5s %5s %5s %7s %7s %6s   GFLOP/s, one thread\n", "layer", "M", "N", "K",
	       "quern", "sgemm", "ratio");
	for (size_t i = 0; i < QN_COUNT(layers); i++) {
		double other = time_layer(&layers[i]);

		first = i == 0 ? other : first;
	}
	printf("\n%-8s %6s %11s %8s %14s %20s %6s   microseconds a sample\n", "network", "bundle",
	       "one by one", "bundled", "with min, max", "1.5 x ONNX Runtime", "ratio");
	for (size_t i = 0; i < nnetwork; i++)
		time_network(&networks[i], peer_scale(first), bundle_bytes);
	time_streams();
	time_integer(getenv("QUERN_DATA"), NULL);
	return 0;
}
