/* SPDX-License-Identifier: Apache-2.0 */
/* Random integer graphs, emitted, compiled and run, against the interpreter: every step and every
 * output, byte for byte, on inputs that reach the least and the largest code.  In some of the graphs
 * each op has a storage of its own, as recipes give them, or sums of aligned scales; weights have a scale for each
 * block, channel or tensor, and some values one for each channel.  They are emitted for one target after the other.
 *
 * 20 graphs become one program, which is built at -O0 with UBSan and at -O3.  The quick tier takes
 * 60 seeds out of 300; QUERN_FULL=1 takes all, QUERN_SEED=17 takes one, QUERN_SEED=301-900 these.  A
 * failure names the seed and the step. */
#include "tests/e2e/e2e.h"

#include "tests/e2e/random_graph.h"

enum { SEEDS = 300, BATCH = 20, SAMPLES = 5 };

/* In turn: targets whose kernels' instructions are defined in C then. */
static const char *const targets[] = {NULL,  "cortex-m4",     NULL, "cortex-m55", NULL,
				      "avr", "cortex-m0plus", NULL, "cortex-m4",  "aarch64-dotprod",
				      NULL,  "x86-64-avx2"};

#define FLAGS "-std=c99 " E2E_WARNINGS " -Wstrict-prototypes -Wmissing-prototypes -include trace.h"

static const char *const builds[] = {
	"cc " FLAGS " -DQN_PORTABLE -O0 -g -fsanitize=undefined -fno-sanitize-recover=all",
	"cc " FLAGS " -DQN_PORTABLE -O3",
};

/* Build i, for the target where there is one; it holds until the next call. */
static const char *
build_text(size_t i)
{
	static char text[512];

	if (e2e_target_cc() == NULL)
		return builds[i];
	snprintf(text, sizeof(text), "%s " FLAGS " %s", e2e_target_cc(), e2e_levels[i]);
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

static FILE *
create(const batch *t, const char *name, const char *suffix)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s%s", t->dir, name, suffix);
	f = fopen(path, "wb");
	assert_non_null(f);
	return f;
}

static void
write_text(const batch *t, const char *name, const char *suffix, const char *text, size_t n)
{
	FILE *f = create(t, name, suffix);

	assert_int_equal(fwrite(text, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void
write_lines(batch *t, const qn_plan *p, uint64_t seed)
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
target_of(builder *b, uint64_t seed)
{
	const char *name = getenv("QUERN_TARGET");
	const qn_target *target = qn_target_find(
		&b->env,
		name != NULL || e2e_target_cc() != NULL ? name : targets[seed % QN_COUNT(targets)]);

	build_check(b, target != NULL);
	return target;
}

/* One graph: interpreted, emitted, written. */
static void
add_graph(batch *t, uint64_t seed)
{
	const qn_emit_style opts = {"--test", (uint32_t)seed, .proof = false,
				    .constants = seed % 2 == 0 ? QN_CONSTANTS_WORDS
							       : QN_CONSTANTS_NUMBERS};
	builder b;
	e2e e;
	qn_id id;
	size_t i;

	random_graph_build(&b, seed);
	for (id = 1; id < b.g->n; id++)
		t->seen[qn_graph_node(b.g, id)->op] = true;
	e2e_prepare_for(&b, target_of(&b, seed), &e, SAMPLES);
	build_check(&b, qn_emit_c(e.plan, &opts, &e.test, &b.arena, e.file) == QN_OK);
	for (i = 0; i < QN_EMITTED_FILES && e.file[i].text != NULL; i++)
		write_text(t, e.plan->name, e.file[i].suffix, e.file[i].text, e.file[i].n);
	write_lines(t, e.plan, seed);
	build_end(&b);
}

static void
begin_batch(batch *t)
{
	static const char text[] =
		"#include <stdio.h>\n#include \"labels.h\"\n\nint\nmain(void)\n{\n"
		"\tuint32_t sample = 0, step = 0;\n\tint bad = 0;\n\n#include \"calls.h\"\n"
		"\treturn bad;\n}\n";

	snprintf(t->dir, sizeof(t->dir), "%s/quern-random-XXXXXX",
		 getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
	assert_non_null(mkdtemp(t->dir));
	write_text(t, "main", ".c", text, sizeof(text) - 1);
	t->trace = create(t, "trace", ".h");
	t->labels = create(t, "labels", ".h");
	t->calls = create(t, "calls", ".h");
}

/* Prints the program's lines. */
static void
print_log(const batch *t)
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

static bool
shell(const batch *t, const char *what, const char *arg, const char *rest)
{
	char cmd[1024];

	snprintf(cmd, sizeof(cmd), "cd %s && %s%s%s", t->dir, what, arg, rest);
	return system(cmd) == 0;
}

static void
end_batch(batch *t)
{
	size_t i;

	assert_int_equal(fclose(t->trace) | fclose(t->labels) | fclose(t->calls), 0);
	for (i = 0; i < QN_COUNT(builds); i++) {
		const char *build = build_text(i);
		bool built = shell(t, "rm -f *.o && ls *.c | xargs -P 2 -n 8 ", build,
				   " -c > log 2>&1") &&
			     shell(t, "", build, " *.o -o t >> log 2>&1");

		if (built && shell(t, e2e_target_run(), " ./t", " > log 2>&1"))
			continue;
		print_log(t);
		fail_msg("%s in %s with %s", built ? "a graph differs" : "a graph does not compile",
			 t->dir, build);
	}
	assert_true(shell(t, "rm -r ", t->dir, ""));
}

static void
run_seeds(const uint64_t *seed, size_t n, bool *seen)
{
	size_t first, i;

	const size_t each = getenv("QUERN_TARGET") != NULL ? BATCH / 5 : BATCH; /* less flash */

	for (first = 0; first < n; first += each) {
		batch t = {0};

		begin_batch(&t);
		for (i = first; i < n && i < first + each; i++)
			add_graph(&t, seed[i]);
		end_batch(&t);
		for (i = 0; i < QN_NOP; i++)
			seen[i] = seen[i] || t.seen[i];
	}
}

/* Every op with an integer form stands in one of the graphs; in the quick tier's sample most do. */
static void
check_seen(const bool *seen, bool sample)
{
	/* clang-format off */
	static const qn_op ops[] = {
		QN_OP_conv2d, QN_OP_dense, QN_OP_requantize, QN_OP_add, QN_OP_mul,
		/* view, split, gather, resize */
		QN_OP_squeeze, QN_OP_expand_dims, QN_OP_slice, QN_OP_expand, QN_OP_tile,
		QN_OP_depth_to_space, QN_OP_space_to_depth, QN_OP_gather, QN_OP_resize_nearest,
		QN_OP_resize_bilinear,
		QN_OP_bias_add, QN_OP_clamp, QN_OP_max_pool, QN_OP_avg_pool,
		QN_OP_global_avg_pool, QN_OP_softmax, QN_OP_reshape, QN_OP_flatten,
		QN_OP_transpose, QN_OP_concat, QN_OP_pad, QN_OP_scast, QN_OP_relu, QN_OP_relu6,
		QN_OP_clip, QN_OP_pow, QN_OP_prelu,
		/* A cast stands behind one of the comparisons, which are one kernel. */
		QN_OP_sub, QN_OP_minimum, QN_OP_maximum, QN_OP_div, QN_OP_where, QN_OP_cast,
		QN_OP_squared_difference, QN_OP_logical_and, QN_OP_logical_or, QN_OP_logical_xor, QN_OP_logical_not,
		QN_OP_argmin, QN_OP_cumsum, QN_OP_gather_elements, QN_OP_gather_nd,
		QN_OP_scatter_elements, QN_OP_scatter_nd, QN_OP_one_hot, QN_OP_trilu, QN_OP_reverse, QN_OP_top_k,
		QN_OP_l2_norm, QN_OP_rms_norm, QN_OP_conv3d, QN_OP_max_pool3d, QN_OP_avg_pool3d,
		QN_OP_matmul, QN_OP_conv1d, QN_OP_conv2d_transpose,
	};
	/* clang-format on */
	size_t i, missing = 0;

	for (i = 0; i < QN_COUNT(ops); i++) {
		if (seen[ops[i]])
			continue;
		missing++;
		print_message("no graph holds %s\n", qn_opinfo_get(ops[i])->name);
	}
	assert_true(missing <= (sample ? QN_COUNT(ops) / 8 : 0));
}

static bool
is_set(const char *name, const char *value)
{
	const char *v = getenv(name);

	return v != NULL && strcmp(v, value) == 0;
}

/* "17", or "301-900". */
static void
run_range(const char *text, bool *seen)
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
		run_seeds(seed, n, seen);
		n = 0;
	}
}

static void
random_graphs(void **state)
{
	uint64_t seed[SEEDS];
	bool seen[QN_NOP] = {false};
	size_t n = 0, i;

	(void)state;
	if (getenv("QUERN_SEED") != NULL) {
		run_range(getenv("QUERN_SEED"), seen);
		return;
	}
	for (i = 0; i < SEEDS; i++) /* one of each five, not always at the same place */
		if (is_set("QUERN_FULL", "1") || i % 5 == i / 5 * 3 % 5)
			seed[n++] = i + 1;
	run_seeds(seed, n, seen);
	check_seen(seen, !is_set("QUERN_FULL", "1"));
}

/* The same seed gives the same graph: a failure can be run again. */
static void
same_graph(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 10; seed++) {
		builder a, b;

		random_graph_build(&a, seed);
		random_graph_build(&b, seed);
		assert_true(qn_graph_equal(a.g, b.g));
		build_end(&b);
		random_graph_build(&b, seed + 1);
		assert_false(qn_graph_equal(a.g, b.g));
		build_end(&b);
		build_end(&a);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_graph),
		cmocka_unit_test(random_graphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
