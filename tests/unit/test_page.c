/* SPDX-License-Identifier: Apache-2.0 */
/* test_page.c - the pages of quern analyze and quern tune: elements that close, nothing from elsewhere, all layers
 * and candidates, names that look like elements. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#endif
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "schema_check.h"

#define DIGITS "analyze -q examples/digits/digits.json --calib examples/digits/calib.npy "
#define LAYERS "docs/quern-analyze.schema.json"
#define FRONT "docs/quern-front.schema.json"
#define HOSTILE "</script><img onerror=alert(1)>&\\\"'<!--"

static char folder[] = "/tmp/quern-page.XXXXXX";

static char *
read_text(const char *name)
{
	char path[200];
	const size_t cap = 1 << 20;
	char *text = malloc(cap);

	(void)snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = fopen(path, "rb");
	if (f == NULL) {
		free(text);
		return NULL;
	}
	const size_t n = fread(text, 1, cap - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

/* The exit code of the program; what: its arguments, $1 is the folder. */
static int
run(const char *what)
{
	char line[2000];

	assert_non_null(getenv("QUERN_BIN"));
	(void)snprintf(line, sizeof line, "set -- %s; \"$QUERN_BIN\" %s >$1/out 2>$1/err", folder,
		       what);
	const int status = system(line);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* ---- elements ---- */

typedef struct open_elements {
	char name[32][32];
	size_t n;
} open_elements;

/* After the end of a tag; its attributes are quoted. */
static const char *
skip_tag(const char *s, bool *closed)
{
	for (char quote = '\0'; *s != '\0' && (quote != '\0' || *s != '>'); s++)
		if (quote != '\0')
			quote = *s == quote ? '\0' : quote;
		else if (*s == '"')
			quote = *s;
	assert_int_equal(*s, '>');
	*closed = s[-1] == '/';
	return s + 1;
}

/* One element's begin or end; the text of styles and scripts is skipped. */
static const char *
take_tag(const char *s, open_elements *e)
{
	const bool end = s[1] == '/';
	char name[32], close[40];
	size_t n = 0;
	bool closed;

	for (s += end ? 2 : 1; isalnum((unsigned char)*s) && n < sizeof name - 1; s++)
		name[n++] = *s;
	name[n] = '\0';
	assert_true(n > 0);
	s = skip_tag(s, &closed);
	if (end) {
		assert_true(e->n > 0);
		assert_string_equal(e->name[--e->n], name);
		return s;
	}
	if (closed)
		return s;
	assert_true(e->n < 32);
	strcpy(e->name[e->n++], name);
	(void)snprintf(close, sizeof close, "</%s>", name);
	if (strcmp(name, "script") != 0 && strcmp(name, "style") != 0)
		return s;
	s = strstr(s, close);
	assert_non_null(s);
	return s;
}

static void
expect_closed(const char *page)
{
	static const char begin[] = "<!DOCTYPE html>\n";
	open_elements e = {0};

	assert_memory_equal(page, begin, sizeof begin - 1);
	for (const char *s = page + sizeof begin - 1; (s = strchr(s, '<')) != NULL;) {
		if (strncmp(s, "<!--", 4) == 0)
			s = strstr(s, "-->") + 3;
		else
			s = take_tag(s, &e);
	}
	assert_int_equal(e.n, 0);
}

static size_t
count(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *s = text; (s = strstr(s, what)) != NULL; s++)
		n++;
	return n;
}

/* The only address is the name of SVG, and nothing is loaded. */
static void
expect_alone(const char *page)
{
	static const char *const loading[] = {"src=",      "href",    "url(",     "@import",
					      "<link",     "import(", "fetch(",   "XMLHttp",
					      "WebSocket", "<iframe", "innerHTML"};

	assert_int_equal(count(page, "http"), count(page, "\"http://www.w3.org/2000/svg\""));
	for (size_t i = 0; i < sizeof loading / sizeof loading[0]; i++)
		assert_int_equal(count(page, loading[i]), 0);
}

/* ---- the data ---- */

static cJSON *
data_of(const char *page, const char *path)
{
	const char *begin = strstr(page, "id=\"data\">");

	assert_non_null(begin);
	char *text = strdup(begin + strlen("id=\"data\">"));
	*strstr(text, "</script>") = '\0';
	cJSON *v = cJSON_Parse(text);
	free(text);
	assert_non_null(v);
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	char *rules = calloc(1, 1 << 16);
	assert_true(fread(rules, 1, (1 << 16) - 1, f) > 0);
	fclose(f);
	cJSON *root = cJSON_Parse(rules);
	free(rules);
	schema s = {.root = root};
	if (!schema_holds(&s, root, v))
		fail_msg("%s", s.why);
	cJSON_Delete(root);
	return v;
}

static void
all_layers(void **state)
{
	(void)state;
	assert_int_equal(run(DIGITS "--weights-type i4 --html $1/page.html --json"), 0);
	char *page = read_text("page.html"), *out = read_text("out");
	expect_closed(page);
	expect_alone(page);
	cJSON *v = data_of(page, LAYERS), *printed = cJSON_Parse(out);
	assert_true(cJSON_Compare(v, printed, true)); /* the page has what --json prints */
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(v, "layers")), 8);
	const cJSON *memory = cJSON_GetObjectItem(v, "memory");
	assert_true(cJSON_GetObjectItem(memory, "arena_bytes")->valueint > 0);
	assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(memory, "buffers")) > 3);
	const cJSON *advice =
		cJSON_GetObjectItem(cJSON_GetObjectItem(v, "layers")->child, "advice");
	assert_non_null(cJSON_GetObjectItem(cJSON_GetObjectItem(advice, "rule"), "weights"));
	cJSON_Delete(v);
	cJSON_Delete(printed);
	free(page);
	free(out);
}

static void
write_hostile(void)
{
	char path[200];

	(void)snprintf(path, sizeof path, "%s/hostile.qir", folder);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f,
		"model \"%s\" stage float\n"
		"graph @main(%%x: tensor<1x4xf32>) {\n"
		"  %%w = const : tensor<2x4xf32> [0.5,-0.25,0.75,0.1, 0.3,0.9,-0.6,0.2]\n"
		"  %%\"%s\" = dense %%x, %%w : tensor<1x2xf32> from [\"%s\"]\n"
		"  return %%\"%s\"\n}\n",
		HOSTILE, HOSTILE, HOSTILE, HOSTILE);
	fclose(f);
	(void)snprintf(path, sizeof path, "%s/x.csv", folder);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "a,b,c,d\n");
	for (int i = 0; i < 8; i++)
		fprintf(f, "%d,%d,%d,%d\n", i, -i, 3 - i, i % 3);
	fclose(f);
}

static void
hostile_names(void **state)
{
	(void)state;
	write_hostile();
	assert_int_equal(run("analyze -q $1/hostile.qir --calib $1/x.csv --html $1/page.html"), 0);
	char *page = read_text("page.html");
	expect_closed(page);
	expect_alone(page);
	assert_int_equal(count(page, "<img"), 0);
	cJSON *v = data_of(page, LAYERS);
	const cJSON *layer = cJSON_GetObjectItem(v, "layers")->child;
	assert_string_equal(cJSON_GetObjectItem(layer, "layers")->valuestring,
			    "</script><img onerror=alert(1)>&\"'<!--");
	cJSON_Delete(v);
	free(page);
}

/* The page of tune has what the front has, and a '<' of a name ends no script. */
static void
all_candidates(void **state)
{
	(void)state;
	write_hostile();
	assert_int_equal(
		run("tune -q $1/hostile.qir --calib $1/x.csv --no-repairs --max-weights 1K "
		    "-o $1/h.recipe.json --html $1/front.html"),
		0);
	char *page = read_text("front.html"), *front = read_text("h.front.json");
	expect_closed(page);
	expect_alone(page);
	assert_int_equal(count(page, "<img"), 0);
	cJSON *v = data_of(page, FRONT), *written = cJSON_Parse(front);
	assert_true(cJSON_Compare(v, written, true));
	assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(v, "points")) > 3);
	assert_string_equal(cJSON_GetObjectItem(v, "model")->valuestring,
			    "</script><img onerror=alert(1)>&\"'<!--");
	cJSON_Delete(v);
	cJSON_Delete(written);
	free(page);
	free(front);
}

/* A network that cannot be compiled is analyzed all the same; the page says why its memory is not known. */
static void
without_memory(void **state)
{
	(void)state;
	assert_int_equal(run(DIGITS "--skip name:dw --html $1/page.html"), 0);
	char *page = read_text("page.html"), *err = read_text("err");
	cJSON *v = data_of(page, LAYERS);
	const char *error =
		cJSON_GetObjectItem(cJSON_GetObjectItem(v, "memory"), "error")->valuestring;
	assert_non_null(strstr(error, "stays in float: skipped by name 'dw'"));
	assert_string_equal(err, "");
	cJSON_Delete(v);
	free(page);
	free(err);
}

/* A page that cannot be written leaves nothing, and an older one as it is. */
static void
all_or_nothing(void **state)
{
	(void)state;
	assert_int_equal(run(DIGITS "--html $1/none/page.html"), 1);
	char *out = read_text("out"), *err = read_text("err");
	assert_string_equal(out, "");
	assert_non_null(strstr(err, "none/page.html"));
	assert_null(read_text("none/page.html"));
	free(out);
	free(err);
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
		cmocka_unit_test(all_layers),     cmocka_unit_test(hostile_names),
		cmocka_unit_test(all_candidates), cmocka_unit_test(without_memory),
		cmocka_unit_test(all_or_nothing),
	};

	return cmocka_run_group_tests(tests, set_up, clean_up);
}
