/* SPDX-License-Identifier: Apache-2.0 */
/* test_requantize.c - the requantizer keeps what its rules say (requantize_proof.c), on many graphs.
 *
 *   golden_graphs    every calibrated graph of tests/golden
 *   wide_graphs      the same of i16 codes
 *   random_graphs    1,000 seeded ones of 8-bit codes; the quick tier takes 100, QUERN_FULL=1 all, QUERN_SEED=17 one */
#include "tests/proof/requantize_proof.h"

#include <dirent.h>

enum { GRAPHS = 1000, SAMPLE = 100 };

static char *
read_text(const char *path)
{
	FILE *f = fopen(path, "rb");
	char *text = calloc(1, 1 << 20);

	assert_non_null(f);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
	fclose(f);
	return text;
}

/* Whether the file's first section, or a later one, runs requantize on a calibrated graph. */
static bool
is_candidate(const char *text)
{
	const char *section = strstr(text, "\n--- ");
	const char *stage = strstr(text, "stage calibrated");

	return section != NULL && stage != NULL && stage < section &&
	       strstr(section, "--- pass requantize") != NULL;
}

/* Weights get other scales or are quantized, or values that have no parameters get some (add 'y2' of
 * bias-stays), so that the graph before is another one; or an op has its integer form
 * only after legalize; or inputs are plain integers, which are not drawn here; or results are sums of products that
 * nothing quantizes, which are rounded as floats before; values of u16, which have no kernels before, and of
 * functions that make one step of their operand many. */
static bool
cannot_compare(const char *name)
{
	return strcmp(name, "requantize-bias-room.qir") == 0 ||
	       strcmp(name, "requantize-bias-stays.qir") == 0 ||
	       strncmp(name, "requantize-cast", 15) == 0 ||
	       strncmp(name, "requantize-rescale", 18) == 0 ||
	       strcmp(name, "requantize-products-transposed.qir") == 0 ||
	       strncmp(name, "requantize-widths", 17) == 0 ||
	       strncmp(name, "requantize-sum-smooth", 21) == 0 ||
	       strncmp(name, "requantize-gaps", 15) == 0 ||
	       strncmp(name, "legalize-softmax-", 17) == 0;
}

static void
show(const tally *t)
{
	print_message("%zu graphs, %zu values: %zu one code apart, %zu more, at most %lld\n",
		      t->graphs, t->values, t->by_one, t->by_more, (long long)t->worst);
}

static void
golden_graphs(void **state)
{
	DIR *d = opendir("tests/golden");
	struct dirent *entry;
	tally t = {0};

	(void)state;
	assert_non_null(d);
	while ((entry = readdir(d)) != NULL) {
		char path[512];
		builder b;

		if (strstr(entry->d_name, ".qir") == NULL || cannot_compare(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "tests/golden/%s", entry->d_name);
		char *text = read_text(path);
		if (is_candidate(text)) {
			*strstr(text, "\n--- ") = '\0';
			build_parse(&b, text);
			b.model.name = entry->d_name;
			requantize_prove(&b, &t);
			build_end(&b);
			t.graphs++;
		}
		free(text);
	}
	closedir(d);
	show(&t);
	assert_true(t.graphs >= 50);
}

static void
run_random(qn_plain code)
{
	const char *one = getenv("QUERN_SEED"), *full = getenv("QUERN_FULL");
	bool all = full != NULL && strcmp(full, "1") == 0;
	uint64_t seed = one != NULL ? strtoull(one, NULL, 10) : 1;
	size_t want = one != NULL ? 1 : all ? GRAPHS : SAMPLE;
	tally t = {0};

	for (; t.graphs < want; seed++) {
		builder b;

		real_graph_build(&b, seed, code);
		requantize_prove(&b, &t);
		build_end(&b);
		t.graphs++;
	}
	show(&t);
}

static void
random_graphs(void **state)
{
	(void)state;
	run_random(QN_PLAIN_i8);
}

static void
wide_graphs(void **state)
{
	(void)state;
	run_random(QN_PLAIN_i16);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_graphs),
		cmocka_unit_test(random_graphs),
		cmocka_unit_test(wide_graphs),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
