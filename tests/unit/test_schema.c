/* SPDX-License-Identifier: Apache-2.0 */
/* test_schema.c - the JSON that the program writes is what its schemas in docs/ say. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "schema_check.h"

#define DIGITS "examples/digits/digits.json --calib examples/digits/calib.npy"

static char folder[] = "/tmp/quern-schema.XXXXXX";

static cJSON *
read_json(const char *path)
{
	FILE *f = fopen(path, "rb");
	size_t n = 0, cap = 1 << 22;
	char *text = malloc(cap);

	assert_non_null(f);
	assert_non_null(text);
	n = fread(text, 1, cap - 1, f);
	assert_true(n < cap - 1);
	text[n] = '\0';
	fclose(f);
	cJSON *v = cJSON_Parse(text);
	free(text);
	assert_non_null(v);
	return v;
}

/* Runs the program with the folder for its output; what: its arguments, $1 is the folder. */
static void
run(const char *what)
{
	char line[1000];

	assert_non_null(getenv("QUERN_BIN"));
	(void)snprintf(line, sizeof line, "set -- %s; \"$QUERN_BIN\" %s", folder, what);
	assert_int_equal(system(line), 0);
}

static cJSON *
result(const char *name)
{
	char path[200];

	(void)snprintf(path, sizeof path, "%s/%s", folder, name);
	cJSON *v = read_json(path);
	assert_int_equal(remove(path), 0);
	return v;
}

static bool
is_valid(const char *schema_file, const cJSON *v, char *why)
{
	cJSON *rules = read_json(schema_file);
	schema s = {.root = rules};
	const bool ok = schema_holds(&s, rules, v);

	(void)snprintf(why, sizeof s.why, "%s", s.why);
	cJSON_Delete(rules);
	return ok;
}

static void
expect_valid(const char *schema_file, const cJSON *v)
{
	char why[300];

	if (!is_valid(schema_file, v, why))
		fail_msg("%s: %s", schema_file, why);
}

static void
expect_invalid(const char *schema_file, const cJSON *v, const char *want)
{
	char why[300];

	assert_false(is_valid(schema_file, v, why));
	assert_string_equal(why, want);
}

/* What analyze prints, with all that it can: and faults in it are found. */
static void
analyze(void **state)
{
	static const char file[] = "docs/quern-analyze.schema.json";

	(void)state;
	run("analyze -q " DIGITS " --data examples/digits/test_x.npy "
	    "--labels examples/digits/test_y.npy --json >$1/a.json");
	cJSON *v = result("a.json");
	expect_valid(file, v);
	assert_non_null(cJSON_GetObjectItem(v, "accuracy"));
	cJSON *layer = cJSON_GetObjectItem(v, "layers")->child;
	while (cJSON_GetObjectItem(layer, "weight_values") == NULL)
		layer = layer->next;
	assert_non_null(cJSON_GetObjectItem(layer, "input_values"));
	cJSON_AddNumberToObject(layer, "other", 1);
	expect_invalid(file, v, "additionalProperties: other");
	cJSON_DeleteItemFromObject(layer, "other");
	cJSON_ReplaceItemInObject(layer, "cosine", cJSON_CreateNumber(1.5));
	expect_invalid(file, v, "maximum: cosine");
	cJSON_ReplaceItemInObject(layer, "cosine", cJSON_CreateNumber(0.5));
	cJSON_ReplaceItemInObject(layer, "alone", cJSON_CreateString("none"));
	expect_invalid(file, v, "anyOf: alone");
	cJSON_DeleteItemFromObject(layer, "alone");
	expect_invalid(file, v, "required: (element)");
	cJSON_Delete(v);
}

static void
report(void **state)
{
	(void)state;
	run("compile -q " DIGITS " --weight-rounding gptq -o $1/out >$1/log");
	char path[200];

	(void)snprintf(path, sizeof path, "%s/out/digits.report.json", folder);
	cJSON *v = read_json(path);
	expect_valid("docs/quern-report.schema.json", v);
	cJSON_DeleteItemFromObject(v, "target");
	expect_invalid("docs/quern-report.schema.json", v, "required: (element)");
	cJSON_Delete(v);
}

static void
front(void **state)
{
	(void)state;
	run("tune -q " DIGITS
	    " --no-repairs --max-weights 6K --min sqnr=20 -o $1/d.recipe.json >$1/log");
	cJSON *v = result("d.front.json");
	expect_valid("docs/quern-front.schema.json", v);
	cJSON_DeleteItemFromObject(v, "points");
	expect_invalid("docs/quern-front.schema.json", v, "required: (element)");
	cJSON_Delete(v);
	v = result("d.recipe.json");
	expect_valid("docs/recipe.schema.json", v);
	cJSON_Delete(v);
	v = result("d.journal.json");
	expect_valid("docs/quern-journal.schema.json", v);
	cJSON *entry = cJSON_GetObjectItem(v, "entries")->child;
	assert_non_null(cJSON_GetObjectItem(entry, "layers"));
	cJSON_ReplaceItemInObject(entry, "check", cJSON_CreateString("what"));
	expect_invalid("docs/quern-journal.schema.json", v, "pattern: check");
	cJSON_Delete(v);
}

static void
statistics(void **state)
{
	(void)state;
	run("calibrate -q " DIGITS " -o $1/s.json");
	cJSON *v = result("s.json");
	expect_valid("docs/quern-statistics.schema.json", v);
	cJSON_Delete(v);
}

/* A program with weights that are not the model's: steps and outputs differ. */
static void
validation(void **state)
{
	static const char file[] = "docs/quern-validate.schema.json";

	(void)state;
	run("compile -q " DIGITS " --validation -o $1/wrong >$1/log && "
	    "sed -i 's/^\t-*[0-9]*,/\t7,/' $1/wrong/digits_weights.c");
	run("validate -q $1/wrong --data examples/digits/test_x.npy "
	    "--labels examples/digits/test_y.npy --json >$1/v.json || [ $? -eq 4 ]");
	cJSON *v = result("v.json");
	expect_valid(file, v);
	assert_true(cJSON_IsFalse(cJSON_GetObjectItem(v, "equal")));
	cJSON *steps = cJSON_GetObjectItem(cJSON_GetObjectItem(v, "steps"), "different");
	assert_non_null(steps->child);
	cJSON_ReplaceItemInObject(steps->child, "samples", cJSON_CreateNumber(0));
	expect_invalid(file, v, "minimum: samples");
	cJSON_Delete(v);
}

/* A network with an open dimension and a state. */
static void
write_stateful(void)
{
	char path[200];

	(void)snprintf(path, sizeof path, "%s/s.qir", folder);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs("model \"s\" stage float\n"
	      "graph @main(%x: tensor<?x4xf32>, %h: tensor<1x4xf32> state) {\n"
	      "  %y = relu %x\n"
	      "  %n = tanh %h\n"
	      "  return %y, %n as \"n\" to %h\n"
	      "}\n",
	      f);
	assert_int_equal(fclose(f), 0);
}

/* Networks that are float, stateful, calibrated, and symbolic, whose scales are not known yet. */
static void
inspect(void **state)
{
	static const char file[] = "docs/quern-inspect.schema.json";

	(void)state;
	run("inspect examples/digits/digits.json --json >$1/i.json");
	cJSON *v = result("i.json");
	expect_valid(file, v);
	const cJSON *in = cJSON_GetObjectItem(v, "inputs")->child;
	assert_string_equal(cJSON_GetObjectItem(in, "name")->valuestring, "image");
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(in, "shape")), 4);
	assert_int_equal(cJSON_GetObjectItem(in, "bytes")->valueint, 8 * 8 * 4);
	cJSON *kinds = cJSON_GetObjectItem(v, "kinds");
	cJSON *nodes = cJSON_GetObjectItem(cJSON_GetObjectItem(v, "graphs")->child, "nodes");
	int all = 0;
	const cJSON *one;
	cJSON_ArrayForEach(one, kinds) all += one->valueint;
	assert_int_equal(all, cJSON_GetArraySize(nodes));
	cJSON_AddNumberToObject(nodes->child, "other", 1);
	expect_invalid(file, v, "additionalProperties: other");
	cJSON_Delete(v);

	write_stateful();
	run("inspect $1/s.qir --json >$1/i.json");
	v = result("i.json");
	expect_valid(file, v);
	in = cJSON_GetObjectItem(v, "inputs")->child;
	assert_int_equal(cJSON_GetObjectItem(in, "shape")->child->valueint, -1);
	assert_null(cJSON_GetObjectItem(in, "bytes"));
	in = cJSON_GetObjectItem(v, "states")->child;
	assert_string_equal(cJSON_GetObjectItem(in, "next")->valuestring, "n");
	cJSON_Delete(v);
	run("opt -q " DIGITS " --stop-after=bind -o $1/q.qir && "
	    "\"$QUERN_BIN\" inspect $1/q.qir --json >$1/i.json");
	v = result("i.json");
	expect_valid(file, v);
	assert_string_equal(cJSON_GetObjectItem(v, "stage")->valuestring, "calibrated");
	size_t scales = 0;
	nodes = cJSON_GetObjectItem(cJSON_GetObjectItem(v, "graphs")->child, "nodes");
	cJSON_ArrayForEach(one, nodes) scales += cJSON_GetObjectItem(one, "scale") != NULL;
	assert_true(scales > 0);
	cJSON_Delete(v);
	run("opt -q examples/digits/digits.json --stop-after=quantize -o $1/q.qir && "
	    "\"$QUERN_BIN\" inspect $1/q.qir --json >$1/i.json");
	v = result("i.json");
	expect_valid(file, v);
	cJSON_Delete(v);
}

static void
targets(void **state)
{
	static const char file[] = "docs/quern-targets.schema.json";

	(void)state;
	run("targets --json >$1/t.json");
	cJSON *v = result("t.json");
	expect_valid(file, v);
	cJSON *one = cJSON_GetObjectItem(v, "targets")->child;
	assert_string_equal(cJSON_GetObjectItem(one, "name")->valuestring, "generic");
	cJSON_DeleteItemFromObject(one, "description");
	expect_invalid(file, v, "required: (element)");
	cJSON_Delete(v);
}

static void
supported_ops(void **state)
{
	static const char file[] = "docs/quern-supported-ops.schema.json";

	(void)state;
	run("supported-ops --json >$1/s.json");
	cJSON *v = result("s.json");
	expect_valid(file, v);
	assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(v, "ops")) > 100);
	cJSON *tflite = cJSON_GetObjectItem(v, "tflite");
	assert_true(cJSON_GetArraySize(tflite) > 50);
	cJSON_AddNumberToObject(tflite->child, "first", 1);
	expect_invalid(file, v, "additionalProperties: first");
	cJSON_Delete(v);
}

static int
set_up(void **state)
{
	(void)state;
	return mkdtemp(folder) == NULL;
}

static int
clean_up(void **state)
{
	char line[200];

	(void)state;
	(void)snprintf(line, sizeof line, "rm -r %s", folder);
	return system(line);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(analyze),    cmocka_unit_test(report),
		cmocka_unit_test(front),      cmocka_unit_test(statistics),
		cmocka_unit_test(validation), cmocka_unit_test(inspect),
		cmocka_unit_test(targets),    cmocka_unit_test(supported_ops),
	};

	return cmocka_run_group_tests(tests, set_up, clean_up);
}
