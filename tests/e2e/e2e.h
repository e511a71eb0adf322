/* SPDX-License-Identifier: Apache-2.0 */
/* e2e.h - emits a graph, compiles it, runs it, and compares it with the interpreter.
 *
 * The interpreter runs seeded samples; the first ones are all -128, all 127, and both in turn.
 * Their outputs and the CRCs of all steps go into the emitted self-test, which is built in several
 * ways with all warnings as errors and must pass. */
#ifndef QN_TESTS_E2E_H
#define QN_TESTS_E2E_H

#include "tests/e2e/build.h"

#include <unistd.h>

#include "codegen/emit.h"
#include "codegen/kernel_table.h"
#include "runtime/interp.h"

#define E2E_WARNINGS                                                                               \
	"-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wdouble-promotion -Wundef -Werror"

typedef struct e2e {
	qn_plan *plan;
	qn_selftest test;
	qn_emitted file[QN_EMITTED_FILES];
	char dir[64];
	qn_traces traces;
	uint32_t *crc; /* of all samples */
	size_t sample;
} e2e;

/* QUERN_TARGET_CC="s390x-linux-gnu-gcc -static" QUERN_TARGET_RUN=qemu-s390x: the only compiler, and
 * what runs its programs.  Without them NULL, and "".  QUERN_TARGET=avr: what the C is written for. */
static inline const char *
e2e_target_cc(void)
{
	return getenv("QUERN_TARGET_CC");
}

static inline const char *
e2e_target_run(void)
{
	const char *run = getenv("QUERN_TARGET_RUN");

	return run != NULL ? run : "";
}

static const char *const e2e_levels[] = {"-O0", "-O2"}; /* for a target */

/* The way a self-test is built and run; %s is the name. */
typedef struct e2e_way {
	const char *needs; /* a program that must be there */
	const char *build;
} e2e_way;

static const e2e_way e2e_ways[] = {
	{"cc", "cc -std=c99 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"},
	{"clang",
	 "clang -std=c99 -O2 -DQN_WIDE=0"}, /* as where compilers make no vectors (products.h) */
	{"g++", "g++ -std=c++11 -O2 -x c++"},
};

static inline int64_t
e2e_code(builder *b, const qn_elem *e, size_t sample, int64_t i)
{
	if (sample < 3)
		return sample == 0 || (sample == 2 && i % 2 == 0) ? e->qmin : e->qmax;
	return build_random(b, e->qmin, e->qmax);
}

static inline void
e2e_sample(builder *b, e2e *t, qn_interp *in, const void **data, const void **result)
{
	const qn_tensor **x = QN_NEW(&b->arena, const qn_tensor *, qn_graph_fed(b->g) + 1);
	size_t k;
	int64_t i;

	for (k = 0; k < qn_graph_fed(b->g); k++) {
		const qn_type *type = qn_graph_node(b->g, b->g->input[k])->type;
		void *bytes;

		x[k] = qn_tensor_new(&b->arena, type, &bytes);
		for (i = 0; i < qn_type_count(type); i++)
			qn_store_i64(bytes, type->elem->plain, i,
				     e2e_code(b, type->elem, t->sample, i));
		data[k] = bytes;
	}
	qn_traces_begin(&t->traces);
	build_check(b, qn_interp_run(in, x, qn_traces_take, &t->traces) == QN_OK);
	for (k = 0; k < qn_graph_given(b->g); k++) {
		const qn_tensor *y = qn_interp_output(in, k);

		result[k] = qn_arena_copy(&b->arena, y->data, y->bytes);
	}
}

/* The graph itself, all samples in lockstep, gives what the plan's graph, in which calls are inlined,
 * gave for each. */
static inline void
e2e_same_graph(builder *b, const e2e *t)
{
	const qn_tensor **x = QN_NEW(&b->arena, const qn_tensor *, qn_graph_fed(b->g) + 1);
	size_t n = qn_graph_given(b->g), i, j, k, bundle;
	qn_interp *in;

	if (b->g->nstate > 0) /* one sample after the other */
		return;
	build_check(b, qn_interp_new_bundle(b->g, t->test.nsample, &b->arena, &in) == QN_OK);
	bundle = qn_interp_bundle(in);
	for (i = 0; i < t->test.nsample; i++) {
		for (k = 0; k < qn_graph_fed(b->g); k++)
			x[k] = qn_tensor_view(&b->arena, qn_graph_node(b->g, b->g->input[k])->type,
					      t->test.in[i * qn_graph_fed(b->g) + k]);
		build_check(b, qn_interp_load(in, i % bundle, x) == QN_OK);
		if (i % bundle + 1 < bundle && i + 1 < t->test.nsample)
			continue;
		build_check(b, qn_interp_run_bundle(in, i % bundle + 1, NULL, NULL) == QN_OK);
		for (j = 0; j <= i % bundle; j++)
			for (k = 0; k < n; k++) {
				qn_tensor y = qn_interp_output_of(in, k, j);

				assert_memory_equal(
					y.data, t->test.out[(i - i % bundle + j) * n + k], y.bytes);
			}
	}
}

/* Runs the interpreter on n samples for a plan. */
static inline void
e2e_prepare_plan(builder *b, qn_plan *plan, e2e *t, size_t n)
{
	size_t ni = qn_graph_fed(b->g), no = qn_graph_given(b->g);
	const void **in = QN_NEW(&b->arena, const void *, n *ni + 1);
	const void **out = QN_NEW(&b->arena, const void *, n *no + 1);
	qn_interp *interp;

	memset(t, 0, sizeof(*t));
	t->plan = plan;
	build_check(b, qn_interp_new(t->plan->g, &b->arena, &interp) == QN_OK);
	qn_plan_traces(plan, &b->arena, &t->traces);
	t->crc = QN_NEW(&b->arena, uint32_t, n * t->traces.n + 1);
	for (t->sample = 0; t->sample < n; t->sample++) {
		t->traces.crc = t->crc + t->sample * t->traces.n;
		e2e_sample(b, t, interp, in + t->sample * ni, out + t->sample * no);
	}
	t->test = (qn_selftest){n, in, out, t->crc, 0};
	e2e_same_graph(b, t);
}

/* Plans the graph for a target first. */
static inline void
e2e_prepare_for(builder *b, const qn_target *target, e2e *t, size_t n)
{
	qn_plan *plan = NULL;

	build_check(b,
		    qn_plan_make(b->g, b->model.name,
				 &(qn_plan_opts){.target = target, .optimize = QN_OPTIMIZE_SPEED},
				 &b->arena, &plan) == QN_OK);
	e2e_prepare_plan(b, plan, t, n);
}

static inline void
e2e_prepare(builder *b, e2e *t, size_t n)
{
	const qn_target *target = qn_target_find(&b->env, getenv("QUERN_TARGET"));

	build_check(b, target != NULL);
	e2e_prepare_for(b, target, t, n);
}

/* Emits and writes the files to a new folder. */
static inline void
e2e_write(builder *b, e2e *t)
{
	const bool words = t->plan->target != qn_target_at(0); /* in the other ways numbers */
	const qn_emit_style opts = {"--test", 0x12345678u, .proof = true, .device = true,
				    .constants = words ? QN_CONSTANTS_WORDS : QN_CONSTANTS_AUTO};
	char path[256];
	size_t i;

	build_check(b, qn_emit_c(t->plan, &opts, &t->test, &b->arena, t->file) == QN_OK);
	strcpy(t->dir, "/tmp/quern-e2e-XXXXXX");
	assert_non_null(mkdtemp(t->dir));
	for (i = 0; i < QN_EMITTED_FILES; i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s%s", t->dir, t->plan->name, t->file[i].suffix);
		f = fopen(path, "wb");
		assert_non_null(f);
		if (t->file[i].text != NULL) /* otherwise it is empty */
			assert_int_equal(fwrite(t->file[i].text, 1, t->file[i].n, f), t->file[i].n);
		assert_int_equal(fclose(f), 0);
	}
}

/* Builds the self-test in one way, with or without the trace.  0: it passes, 1: it does not, -1: it
 * does not compile.  Its output is in the file `log`. */
static inline int
e2e_build_run(builder *b, const e2e *t, const char *build, bool trace)
{
	const char *name = t->plan->name;
	qn_buf cmd;
	char *upper = qn_arena_str(&b->arena, name), *p;

	for (p = upper; *p != '\0'; p++)
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
	qn_buf_init(&cmd, &b->arena);
	qn_buff(&cmd,
		"cd %s && %s %s -D%s_SELFTEST_MAIN %s%s%s -o t %s.c %s_weights.c %s_selftest.c",
		t->dir, build, E2E_WARNINGS, upper, trace ? "-D" : "", trace ? upper : "",
		trace ? "_TRACE" : "", name, name, name);
	if (system(qn_buf_str(&cmd)) != 0)
		return -1;
	qn_buf_init(&cmd, &b->arena);
	qn_buff(&cmd, "cd %s && %s ./t > log", t->dir, e2e_target_run());
	return system(qn_buf_str(&cmd)) == 0 ? 0 : 1;
}

static inline bool
e2e_shell(builder *b, const char *command, const char *dir, const char *rest)
{
	qn_buf cmd;

	qn_buf_init(&cmd, &b->arena);
	qn_buff(&cmd, "cd %s && ", dir);
	qn_buf_puts(&cmd, command);
	if (rest != NULL)
		qn_buff(&cmd, " %s", rest);
	return system(qn_buf_str(&cmd)) == 0;
}

static inline void
e2e_remove(builder *b, e2e *t)
{
	qn_buf cmd;

	qn_buf_init(&cmd, &b->arena);
	qn_buff(&cmd, "rm -r %s", t->dir);
	assert_int_equal(system(qn_buf_str(&cmd)), 0);
}

static inline void
e2e_check_target(builder *b, const e2e *t)
{
	for (size_t i = 0; i < QN_COUNT(e2e_levels); i++) {
		qn_buf build;

		qn_buf_init(&build, &b->arena);
		qn_buff(&build, "%s -std=c99 %s", e2e_target_cc(), e2e_levels[i]);
		if (e2e_build_run(b, t, qn_buf_str(&build), true) != 0)
			fail_msg("%s fails for %s in %s", b->model.name, qn_buf_str(&build),
				 t->dir);
	}
}

/* Whether a step computes in another way than for the default target. */
static inline bool
e2e_has_own_code(const qn_target *target, const qn_step *s)
{
	if (s->kernel == NULL)
		return false;
	const bool products = s->kernel->name != NULL && strstr(s->kernel->name, "by4") != NULL;

	return s->load > 0 || (s->kernel->needs & target->features) != 0 ||
	       (products && (target->features & QN_TARGET_ROM) != 0);
}

/* Emits a plan and runs it with portable definitions of all instructions, under the sanitizers. */
static inline void
e2e_run_portable(builder *b, e2e *t)
{
	qn_buf build;

	e2e_write(b, t);
	qn_buf_init(&build, &b->arena);
	qn_buff(&build, "%s -DQN_PORTABLE", e2e_ways[0].build);
	if (e2e_build_run(b, t, qn_buf_str(&build), true) != 0)
		fail_msg("%s fails for %s in %s", b->model.name, t->plan->target->name, t->dir);
	e2e_remove(b, t);
}

/* Kernels of another target with their portable definitions, and constants that are copied before they
 * are read, under the sanitizers; false: the graph has no steps for them. */
static inline bool
e2e_check_portable(builder *b, const char *name, size_t nsample)
{
	const qn_target *target = qn_target_find(&b->env, name);
	bool differs = false;
	e2e t;

	e2e_prepare_for(b, target, &t, nsample);
	for (size_t i = 0; i < t.plan->nstep; i++)
		differs |= e2e_has_own_code(target, &t.plan->step[i]);
	if (!differs)
		return false;
	e2e_run_portable(b, &t);
	return true;
}

/* The whole way, in all ways whose compiler is there. */
static inline void
e2e_check(builder *b, size_t nsample)
{
	size_t i;
	e2e t;

	e2e_prepare(b, &t, nsample);
	e2e_write(b, &t);
	if (e2e_target_cc() != NULL)
		e2e_check_target(b, &t);
	for (i = 0; i < QN_COUNT(e2e_ways) && e2e_target_cc() == NULL; i++) {
		if (i > 0 && !e2e_shell(b, "command -v > /dev/null", t.dir, e2e_ways[i].needs))
			continue;
		if (e2e_build_run(b, &t, e2e_ways[i].build, i != 1) != 0)
			fail_msg("%s fails for %s in %s", b->model.name, e2e_ways[i].needs, t.dir);
	}
	e2e_remove(b, &t);
	if (e2e_target_cc() == NULL) {
		e2e_check_portable(b, "cortex-m4", nsample);
		e2e_check_portable(b, "cortex-m55", nsample);
		e2e_check_portable(b, "avr", nsample);
		e2e_check_portable(b, "cortex-m0plus", nsample);
	}
}

#endif
