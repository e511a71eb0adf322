/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h - seeded graphs, emitted, compiled and run, against the interpreter: every step and every output, byte for
 * byte, on inputs that reach the least and the largest quantized value.
 *
 *   batch_run(add, seed, n, seen)         add(batch, seed) builds a graph and calls batch_add
 *   batch_range(add, "301-900", seen)
 *
 * 20 graphs become one program, which is built at -O0 with UBSan and at -O3.  They are emitted for one target after the
 * other. */
#ifndef QN_TESTS_BATCH_H
#define QN_TESTS_BATCH_H

#include "tests/e2e/e2e.h"

enum { BATCH = 20, BATCH_SAMPLES = 5 };

/* In turn: batch_targets whose kernels' instructions are defined in C then. */
static const char *const batch_targets[] = {
	NULL,        "cortex-m4",       NULL, "cortex-m55", NULL, "avr", "cortex-m0plus", NULL,
	"cortex-m4", "aarch64-dotprod", NULL, "x86-64-avx2"};

#define BATCH_FLAGS                                                                                \
	"-std=c99 " E2E_WARNINGS " -Wstrict-prototypes -Wmissing-prototypes -include trace.h"

static const char *const batch_builds[] = {
	"cc " BATCH_FLAGS " -DQN_PORTABLE -O0 -g -fsanitize=undefined -fno-sanitize-recover=all",
	"cc " BATCH_FLAGS " -DQN_PORTABLE -O3",
};

/* Build i, for the target where there is one; it holds until the next call. */
static const char *
batch_build(size_t i)
{
	static char text[512];

	if (e2e_target_cc() == NULL)
		return batch_builds[i];
	snprintf(text, sizeof(text), "%s " BATCH_FLAGS " %s", e2e_target_cc(), e2e_levels[i]);
	return text;
}

/* The program of a batch while it is written. */
typedef struct batch {
	char dir[200];
	FILE *trace;  /* trace.h: #define R17_TRACE */
	FILE *labels; /* labels.h: names of steps and outputs */
	FILE *calls;  /* calls.h: one check a graph */
	bool seen[QN_NOP];
} batch;

static inline FILE *
batch_file(const batch *t, const char *name, const char *suffix)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s%s", t->dir, name, suffix);
	f = fopen(path, "wb");
	assert_non_null(f);
	return f;
}

static inline void
batch_text(const batch *t, const char *name, const char *suffix, const char *text, size_t n)
{
	FILE *f = batch_file(t, name, suffix);

	assert_int_equal(fwrite(text, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static inline void
batch_lines(batch *t, const qn_plan *p, uint64_t seed)
{
	const char *name = p->name;
	size_t k;

	fprintf(t->trace, "#define R%llu_TRACE\n", (unsigned long long)seed);
	fprintf(t->labels, "#include \"%s.h\"\nstatic const char *const label_%s[] = {\n", name,
		name);
	for (k = 0; k < p->nstep; k++)
		fprintf(t->labels, "\t\"step %s\",\n", p->step[k].name);
	for (k = 0; k < p->g->noutput; k++)
		fprintf(t->labels, "\t\"output %s\",\n", p->g->output[k].name);
	fprintf(t->labels, "};\n");
	fprintf(t->calls,
		"\tif (%s_selftest(&sample, &step) != 0) {\n"
		"\t\tprintf(\"seed %llu: sample %%lu: %%s differs\\n\",\n"
		"\t\t\t(unsigned long)sample, label_%s[step]);\n"
		"\t\tbad = 1;\n\t}\n",
		name, (unsigned long long)seed, name);
}

/* QUERN_TARGET, or the next one in turn; built for one, the default unless it is named. */
static const qn_target *
batch_target(builder *b, uint64_t seed)
{
	const char *name = getenv("QUERN_TARGET");
	const qn_target *target =
		qn_target_find(&b->env, name != NULL || e2e_target_cc() != NULL
						? name
						: batch_targets[seed % QN_COUNT(batch_targets)]);

	build_check(b, target != NULL);
	return target;
}

/* The integer graph b: interpreted, emitted, written.  Its model is named r<seed>. */
static inline void
batch_add(batch *t, builder *b, uint64_t seed)
{
	const qn_emit_style opts = {"--test", (uint32_t)seed, .proof = false,
				    .constants = seed % 2 == 0 ? QN_CONSTANTS_WORDS
							       : QN_CONSTANTS_NUMBERS};
	e2e e;

	for (qn_id id = 1; id < b->g->n; id++)
		t->seen[qn_graph_node(b->g, id)->op] = true;
	e2e_prepare_for(b, batch_target(b, seed), &e, BATCH_SAMPLES);
	build_check(b, qn_emit_c(e.plan, &opts, &e.test, &b->arena, e.file) == QN_OK);
	for (size_t i = 0; i < QN_EMITTED_FILES && e.file[i].text != NULL; i++)
		batch_text(t, e.plan->name, e.file[i].suffix, e.file[i].text, e.file[i].n);
	batch_lines(t, e.plan, seed);
}

static inline void
batch_begin(batch *t)
{
	static const char text[] =
		"#include <stdio.h>\n#include \"labels.h\"\n\nint\nmain(void)\n{\n"
		"\tuint32_t sample = 0, step = 0;\n\tint bad = 0;\n\n#include \"calls.h\"\n"
		"\treturn bad;\n}\n";

	snprintf(t->dir, sizeof(t->dir), "%s/quern-random-XXXXXX",
		 getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
	assert_non_null(mkdtemp(t->dir));
	batch_text(t, "main", ".c", text, sizeof(text) - 1);
	t->trace = batch_file(t, "trace", ".h");
	t->labels = batch_file(t, "labels", ".h");
	t->calls = batch_file(t, "calls", ".h");
}

/* Prints the program's lines. */
static inline void
batch_log(const batch *t)
{
	char line[512], path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/log", t->dir);
	f = fopen(path, "r");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		print_error("%s", line);
	if (f != NULL)
		fclose(f);
}

static inline bool
batch_shell(const batch *t, const char *what, const char *arg, const char *rest)
{
	char cmd[1024];

	snprintf(cmd, sizeof(cmd), "cd %s && %s%s%s", t->dir, what, arg, rest);
	return system(cmd) == 0;
}

static inline void
batch_end(batch *t)
{
	size_t i;

	assert_int_equal(fclose(t->trace) | fclose(t->labels) | fclose(t->calls), 0);
	for (i = 0; i < QN_COUNT(batch_builds); i++) {
		const char *build = batch_build(i);
		bool built = batch_shell(t, "rm -f *.o && ls *.c | xargs -P 2 -n 8 ", build,
					 " -c > log 2>&1") &&
			     batch_shell(t, "", build, " *.o -o t >> log 2>&1");

		if (built && batch_shell(t, e2e_target_run(), " ./t", " > log 2>&1"))
			continue;
		batch_log(t);
		fail_msg("%s in %s with %s", built ? "a graph differs" : "a graph does not compile",
			 t->dir, build);
	}
	assert_true(batch_shell(t, "rm -r ", t->dir, ""));
}

/* Builds the graph of a seed and adds it to the batch. */
typedef void batch_fn(batch *t, uint64_t seed);

static inline void
batch_run(batch_fn *add, const uint64_t *seed, size_t n, bool *seen)
{
	size_t first, i;

	const size_t each = getenv("QUERN_TARGET") != NULL ? BATCH / 5 : BATCH; /* less flash */

	for (first = 0; first < n; first += each) {
		batch t = {0};

		batch_begin(&t);
		for (i = first; i < n && i < first + each; i++)
			add(&t, seed[i]);
		batch_end(&t);
		for (i = 0; i < QN_NOP; i++)
			seen[i] = seen[i] || t.seen[i];
	}
}

/* "17", or "301-900". */
static inline void
batch_range(batch_fn *add, const char *text, bool *seen)
{
	char *end;
	uint64_t seed[BATCH], next = strtoull(text, &end, 10), last = next;
	size_t n = 0;

	if (*end == '-')
		last = strtoull(end + 1, NULL, 10);
	for (; next <= last; next++) {
		seed[n++] = next;
		if (n < BATCH && next < last)
			continue;
		batch_run(add, seed, n, seen);
		n = 0;
	}
}

#endif
