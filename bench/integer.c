/* SPDX-License-Identifier: Apache-2.0 */
/* integer.c - what a sample costs in an integer network and in the float one that it was made from.
 *
 *   network     float   integer  ratio   microseconds a sample
 *   kws         131.2      90.1   0.69
 *
 * Both are files of QUERN_DATA, run on the same samples by qn_run, as `quern eval` does, in one thread; with
 * all that it does once, spread over the samples. */
#include "bench/integer.h"

#include <stdio.h>
#include <stdlib.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "bench/rig.h"
#include "quern/measure.h"

enum { SAMPLES = 256, ROUNDS = 25, MOST_PATH = 1024 };

static const struct {
	const char *name, *floats, *integers;
	int rank;
	int64_t shape[4];
} network_files[] = {
	{"kws", "kws_hybrid_float.tflite", "kws_int8.tflite", 4, {SAMPLES, 49, 10, 1}},
	{"resnet8", "resnet8_float.tflite", "resnet8_int8.tflite", 4, {SAMPLES, 32, 32, 3}},
	{"vww", "vww_float.tflite", "vww_int8.tflite", 4, {SAMPLES, 96, 96, 3}},
	{"ad", "ad_float.tflite", "ad_int8.tflite", 2, {SAMPLES, 640}},
};

typedef struct job {
	qn_model *m;
	qn_array *x;
} job;

static void
run(const job *j)
{
	qn_array *y = NULL;

	if (qn_run(j->m, 1, &j->x, 1, 1, &y) != QN_OK)
		exit(1);
	qn_array_free(y);
}

/* Seconds of this process that a run takes: what other programs do meanwhile does not count. */
static double
seconds(job *j)
{
	const clock_t begun = clock();

	run(j);
	return (double)(clock() - begun) / CLOCKS_PER_SEC;
}

/* False when the file is missing. */
static bool
load(qn_ctx *ctx, const char *folder, const char *file, job *j)
{
	char path[MOST_PATH];

	(void)snprintf(path, sizeof path, "%s/models/%s", folder, file);
	return qn_load(ctx, path, &j->m) == QN_OK;
}

/* Both in turn; the least of each. */
static void
time_both(const char *name, job *floats, job *integers)
{
	double least[2] = {1e9, 1e9};

	for (int i = 0; i < ROUNDS; i++) {
		const double took[2] = {seconds(floats), seconds(integers)};

		for (int k = 0; k < 2; k++)
			least[k] = took[k] < least[k] ? took[k] : least[k];
	}
	printf("%-8s %9.1f %9.1f %6.2f\n", name, 1e6 * least[0] / SAMPLES, 1e6 * least[1] / SAMPLES,
	       least[1] / least[0]);
}

static qn_array *
draw(qn_ctx *ctx, int rank, const int64_t *shape)
{
	int64_t n = 1;
	qn_array *x = NULL;
	maker k = {.seed = 1};

	for (int i = 0; i < rank; i++)
		n *= shape[i];
	float *data = malloc((size_t)n * sizeof *data);
	if (data == NULL)
		exit(1);
	for (int64_t i = 0; i < n; i++)
		data[i] = maker_random(&k);
	if (qn_array_new(ctx, "f32", rank, shape, data, &x) != QN_OK)
		exit(1);
	free(data);
	return x;
}

void
time_integer(const char *folder, const char *only)
{
	qn_ctx *ctx;

	printf("\n%-8s %9s %9s %6s   microseconds of a processor a sample\n", "network", "float",
	       "integer", "ratio");
	if (folder == NULL) {
		printf("skipped: QUERN_DATA is not set\n");
		return;
	}
	ctx = qn_open(NULL);
	if (ctx == NULL)
		exit(1);
	for (size_t i = 0; i < QN_COUNT(network_files); i++) {
		if (only != NULL && strcmp(only, network_files[i].name) != 0)
			continue;
		qn_array *x = draw(ctx, network_files[i].rank, network_files[i].shape);
		job floats = {.x = x}, integers = {.x = x};

		if (load(ctx, folder, network_files[i].floats, &floats) &&
		    load(ctx, folder, network_files[i].integers, &integers))
			time_both(network_files[i].name, &floats, &integers);
		else
			printf("%-8s skipped: its files are not there\n", network_files[i].name);
		qn_model_free(floats.m);
		qn_model_free(integers.m);
		qn_array_free(x);
	}
	qn_close(ctx);
}
