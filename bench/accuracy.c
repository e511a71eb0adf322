/* SPDX-License-Identifier: Apache-2.0 */
/* accuracy.c - what quantization costs: float models, Quern's integer models made from them, and the integer files that
 * other tools made of the same networks, on the same samples.
 *
 *   accuracy FOLDER [method[:…] [max|mse]]       FOLDER holds models/ and samples/
 *   accuracy FOLDER --bars [network]             one table (accuracy_bars.c)
 *
 *   | model | metric | float | Quern int8 | other int8 | weights, bytes | … |
 *
 * The first samples calibrate, the others are measured.  Then one network layer by layer: what it costs when one of them
 * has a single scale for its weights; all of them with weights of 4 bits and in blocks; and with the storage that qn_tune
 * finds for 60 % of the bytes that int8's weights have, decided on the samples that calibrate. */
#include "accuracy.h"

#include <stdio.h>
#include <string.h>

enum { MOST_PATH = 1024, LAYERS_OF = 5 /* that is shown layer by layer */ };

static int
row(const session *s, const network *n)
{
	parts p;
	figures f;

	if (load_parts(s, n, &p) != 0 || measure(s, n, &p, p.labels, &f) != 0)
		return 1;
	printf("| %s | %s | %zu, %zu |", n->name, n->metric, n->calib, p.count);
	if (p.labels != NULL)
		print_figure(&f.real);
	else
		printf(" |");
	print_figure(&f.made);
	if (n->quantized != NULL) {
		print_figure(&f.other);
		printf(" %zu | %zu |\n", f.made_info.weight_bytes, f.other_info.weight_bytes);
	} else {
		printf(" | %zu | |\n", f.made_info.weight_bytes);
	}
	return fflush(stdout) == 0 ? 0 : 1;
}

/* ---- layer by layer ---- */

/* A row: the autoencoder with these rules, against the float model. */
static int
row_of_rules(session *s, const network *n, const parts *p, const char *what, const char *rules)
{
	figures f;

	s->how.recipe = rules;
	int code = measure(s, n, p, NULL, &f);
	s->how.recipe = NULL;
	if (code != 0)
		return code;
	printf("| %s |", what);
	print_figure(&f.made);
	printf(" %zu |\n", f.made_info.weight_bytes);
	return 0;
}

static int
layers(session *s, const network *n)
{
	parts p;
	qn_model *m = load_model(s, n->real);

	if (m == NULL || load_parts(s, n, &p) != 0)
		return fail(s, n->real);
	printf("\n| %s: change | %s | weights, bytes |\n|---|---|---|\n", n->name, n->metric);
	if (row_of_rules(s, n, &p, "none", "{\"rules\": []}") != 0 ||
	    row_of_rules(s, n, &p, "16-bit activations",
			 "{\"rules\": [{\"activations\": \"i16\"}]}") != 0 ||
	    row_of_rules(s, n, &p, "one scale for the weights of every layer",
			 "{\"rules\": [{\"granularity\": \"per-tensor\"}]}") != 0)
		return 1;
	qn_graph *g = qn_model_main(m);
	for (qn_id v = 1, k = 0; v <= qn_graph_size(g); v++) {
		qn_value_info info = qn_value(g, v);
		char rules[MOST_PATH];
		char what[128];

		if (info.op == NULL || strcmp(info.op, "dense") != 0)
			continue;
		qn_value_info w = qn_value(g, info.in[1]);
		(void)snprintf(rules, sizeof rules,
			       "{\"rules\": [{\"name\": \"%s\", \"granularity\": \"per-tensor\"}]}",
			       info.name);
		(void)snprintf(what, sizeof what, "… of dense %u alone, %lld to %lld", ++k,
			       (long long)w.shape[1], (long long)w.shape[0]);
		if (row_of_rules(s, n, &p, what, rules) != 0)
			return 1;
	}
	return 0;
}

/* ---- storage of weights ---- */

/* A cell: the network's metric, or its SQNR against float, with the weights that s->how says. */
static int
cell(const session *s, const network *n, const parts *p, const char *metric, size_t *bytes)
{
	const int sqnr = strcmp(metric, "sqnr") == 0;
	network one = *n;
	figures f;

	one.metric = metric;
	one.quantized = NULL;
	if (measure(s, &one, p, sqnr ? NULL : p->labels, &f) != 0)
		return 1;
	*bytes = f.made_info.weight_bytes;
	print_figure(&f.made);
	return 0;
}

enum { I8 = 0, I4 = 3 }; /* rows of the table below */

static int
tuned(session *s, const network *n, const parts *p, const size_t *bytes)
{
	const qn_compile_opts before = s->how;
	const char *recipe = find_recipe(s, n, p, bytes[I8], bytes[I4]);
	size_t used = 0;

	if (recipe == NULL)
		return 1;
	s->how = (qn_compile_opts){
		.method = before.method, .weight_method = before.weight_method, .recipe = recipe};
	printf("| %s | tuned at 60 %% of the weights' bytes | %s |", n->name, n->metric);
	const int code = cell(s, n, p, n->metric, &used) != 0 || cell(s, n, p, "sqnr", &used) != 0;
	s->how = before;
	printf(" %zu |\n", used);
	return code;
}

static int
storage(session *s)
{
	static const struct {
		const char *name;
		qn_weights_type type;
		int block, repaired;
		qn_activations activations;
	} rows[] = {
		{"i8 per channel", QN_WEIGHTS_I8, 0, 0, QN_ACTIVATIONS_I8},
		{"i8 per channel, repaired", QN_WEIGHTS_I8, 0, 1, QN_ACTIVATIONS_I8},
		{"i8 block 32", QN_WEIGHTS_I8, 32, 0, QN_ACTIVATIONS_I8},
		{"i4 per channel", QN_WEIGHTS_I4, 0, 0, QN_ACTIVATIONS_I8},
		{"i4 per channel, repaired", QN_WEIGHTS_I4, 0, 1, QN_ACTIVATIONS_I8},
		{"i4 block 64", QN_WEIGHTS_I4, 64, 0, QN_ACTIVATIONS_I8},
		{"i4 block 32", QN_WEIGHTS_I4, 32, 0, QN_ACTIVATIONS_I8},
		{"i4 block 32, repaired", QN_WEIGHTS_I4, 32, 1, QN_ACTIVATIONS_I8},
		{"i4 block 16", QN_WEIGHTS_I4, 16, 0, QN_ACTIVATIONS_I8},
		{"i4 block 16, repaired", QN_WEIGHTS_I4, 16, 1, QN_ACTIVATIONS_I8},
		{"i2 block 16, repaired", QN_WEIGHTS_I2, 16, 1, QN_ACTIVATIONS_I8},
		{"i8 per channel, 16-bit activations", QN_WEIGHTS_I8, 0, 0, QN_ACTIVATIONS_I16}};
	size_t bytes[sizeof rows / sizeof rows[0]];
	int code = 0;

	printf("\n| network | weights | metric | value | SQNR | weights, bytes |\n"
	       "|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < nnetworks && code == 0; i++) {
		const network *n = &networks[i];
		parts p;

		if (is_repeated(i))
			continue;
		code = load_parts(s, n, &p);
		for (size_t k = 0; k < sizeof rows / sizeof rows[0] && code == 0; k++) {
			s->how.weights_type = rows[k].type;
			s->how.weight_block = rows[k].block;
			s->how.activations = rows[k].activations;
			s->how.bias_correction = rows[k].repaired;
			s->how.weight_rounding =
				rows[k].repaired != 0 ? QN_WEIGHTS_ADAPTIVE : QN_WEIGHTS_NEAREST;
			printf("| %s | %s | %s |", n->name, rows[k].name, n->metric);
			code = cell(s, n, &p, n->metric, &bytes[k]) != 0 ||
			       cell(s, n, &p, "sqnr", &bytes[k]) != 0;
			printf(" %zu |\n", bytes[k]);
		}
		s->how.activations = QN_ACTIVATIONS_I8;
		if (code == 0)
			code = tuned(s, n, &p, bytes);
	}
	return code;
}

int
main(int argc, char **argv)
{
	session s = {.folder = argc > 1 ? argv[1] : "."};
	int code = 0;

	if (argc < 2 || argc > 4) {
		fprintf(stderr, "usage: accuracy FOLDER [METHOD [max|mse] | --bars [NETWORK]]\n");
		return 2;
	}
	s.ctx = qn_open(&(qn_config){.threads = 2});
	if (s.ctx != NULL && argc > 2 && strcmp(argv[2], "--bars") == 0) {
		code = bars(&s, argc > 3 ? argv[3] : "");
		qn_close(s.ctx);
		return code;
	}
	s.how.method = argc > 2 ? argv[2] : NULL;
	s.how.weight_method =
		argc > 3 && strcmp(argv[3], "mse") == 0 ? QN_WEIGHTS_BY_MSE : QN_WEIGHTS_BY_MAX;
	if (s.ctx == NULL)
		return 1;
	printf("| network | metric | samples: calibrate, measure | float | Quern int8 | TFLite's "
	       "int8 | "
	       "weights, bytes | TFLite's |\n|---|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < nnetworks && code == 0; i++)
		code = row(&s, &networks[i]);
	if (code == 0)
		code = layers(&s, &networks[LAYERS_OF]);
	if (code == 0)
		code = storage(&s);
	qn_close(s.ctx);
	return code;
}
