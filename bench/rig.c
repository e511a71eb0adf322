/* SPDX-License-Identifier: Apache-2.0 */
/* rig.c - begins a graph, makes it ready to run, and takes times. */
#define _POSIX_C_SOURCE 200809L
#include "bench/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void *
heap(void *user, void *p, size_t old_size, size_t new_size)
{
	(void)user;
	(void)old_size;
	if (new_size == 0) {
		free(p);
		return NULL;
	}
	return realloc(p, new_size);
}

void
bench_begin(bench *b, jmp_buf *oom)
{
	*b = (bench){.env = {.alloc = heap, .oom = oom}};
	b->env.diags = &b->diags;
	qn_arena_init(&b->arena, &b->env);
	qn_model_init(&b->k.m, &b->env, &b->arena, "bench");
	b->k.g = qn_graph_new(&b->k.m, "main");
	b->k.seed = 1;
}

void
bench_prepare(bench *b, qn_id y, size_t most)
{
	void *data;
	qn_graph *g = b->k.g;

	qn_graph_output(g, "y", y);
	if (qn_interp_new_bundle(g, most, &b->arena, &b->in) != QN_OK) {
		fprintf(stderr, "bench: the graph cannot run\n");
		exit(1);
	}
	qn_tensor *x = qn_tensor_new(&b->arena, qn_graph_node(g, g->input[0])->type, &data);
	for (int64_t i = 0; i < qn_type_count(x->type); i++)
		((float *)data)[i] = maker_random(&b->k);
	b->x = x;
	b->bundle = qn_interp_bundle(b->in);
	b->seen = QN_NEW(&b->arena, qn_observer, g->n);
}

static double
now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double
bench_smallest(void (*work)(void *), void *arg)
{
	double begun = now(), best = 1e9;

	for (int i = 0; i < 3 || now() - begun < 0.25; i++) {
		double start = now();

		work(arg);
		double took = now() - start;
		best = took < best ? took : best;
	}
	return best;
}

void
bench_run(void *arg)
{
	bench *b = arg;

	if (qn_interp_run(b->in, &b->x, NULL, NULL) != QN_OK)
		exit(1);
}
