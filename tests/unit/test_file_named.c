/* SPDX-License-Identifier: Apache-2.0 */
/* test_file_named.c - files that a model names: one rule for names and links, the same in every format. */
#define _XOPEN_SOURCE 700 /* symlink, mkdtemp */

#include "tests/unit/onnx_rig.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "quern/quern.h"

static char top[] = "/tmp/quern-named-XXXXXX";

static const char *
in(const char *name)
{
	static char path[4][256];
	static int which;

	which = (which + 1) % 4;
	(void)snprintf(path[which], sizeof path[which], "%s/%s", top, name);
	return path[which];
}

static void
put(const char *name, const void *data, size_t n)
{
	FILE *f = fopen(in(name), "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* Four numbers as an array of NumPy, which is data of an ONNX file from byte 128 on. */
static void
put_array(const char *name)
{
	static const float v[] = {1, 2, 3, 4};
	char data[144];

	memset(data, ' ', sizeof data);
	memcpy(data, "\x93NUMPY\x01\x00\x76\x00", 10);
	memcpy(data + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }", 57);
	data[127] = '\n';
	put_little(data + 128, v, sizeof v, 4);
	put(name, data, sizeof data);
}

enum { OUTSIDE = 1, LINK };

/* Names in model/, and what they come to. */
static const struct {
	const char *name;
	int wrong;
} rows[] = {
	{"w.npy", 0},
	{"below/w.npy", 0},
	{"./w.npy", 0},
	{"inside.npy", 0},      /* -> below/w.npy */
	{"below/up.npy", 0},    /* -> ../w.npy, which is in the folder again */
	{"out.npy", LINK},      /* -> ../other/w.npy */
	{"linked/w.npy", LINK}, /* linked -> ../other */
	{"absolute.npy", LINK}, /* -> TOP/other/w.npy */
	{"../other/w.npy", OUTSIDE},
	{"below/../w.npy", OUTSIDE}, /* one rule, also where it would end inside */
	{"below//w.npy", OUTSIDE},
	{"/etc/w.npy", OUTSIDE},
	{"below\\w.npy", OUTSIDE},
	{"c:w.npy", OUTSIDE},
	{"..", OUTSIDE},
};

static const char *const files[] = {"model/w.npy", "model/below/w.npy", "other/w.npy", "blobs/w"};
static const char *const links[][2] = {
	{"model/inside.npy", "below/w.npy"}, {"model/below/up.npy", "../w.npy"},
	{"model/out.npy", "../other/w.npy"}, {"model/linked", "../other"},
	{"model/absolute.npy", NULL},        {"cache/w.npy", "../blobs/w"},
	{"cache/out.npy", "../other/w.npy"}, {"cache/m.json", "../blobs/m"},
	{"cache/m.onnx", "../blobs/n"},
};
static const char *const folders[] = {"model", "model/below", "other", "blobs", "cache"};

static int
begin(void **state)
{
	(void)strcpy(top + strlen(top) - 6, "XXXXXX");
	assert_non_null(mkdtemp(top));
	for (size_t i = 0; i < QN_COUNT(folders); i++)
		assert_int_equal(mkdir(in(folders[i]), 0700), 0);
	for (size_t i = 0; i < QN_COUNT(files); i++)
		put_array(files[i]);
	for (size_t i = 0; i < QN_COUNT(links); i++)
		assert_int_equal(symlink(links[i][1] != NULL ? links[i][1] : in("other/w.npy"),
					 in(links[i][0])),
				 0);
	return onnx_setup(state);
}

static int
end(void **state)
{
	static const char *const made[] = {"model/m.json", "model/m.onnx", "blobs/m", "blobs/n"};

	for (size_t i = 0; i < QN_COUNT(made); i++)
		(void)unlink(in(made[i]));
	for (size_t i = 0; i < QN_COUNT(links); i++)
		(void)unlink(in(links[i][0]));
	for (size_t i = 0; i < QN_COUNT(files); i++)
		(void)unlink(in(files[i]));
	for (size_t i = QN_COUNT(folders); i-- > 0;)
		(void)rmdir(in(folders[i]));
	(void)rmdir(top);
	return onnx_teardown(state);
}

/* The model in this form, naming a file. */
static void
put_model(const char *at, const char *name, bool onnx)
{
	char text[1024], escaped[128] = "";
	size_t n;

	if (onnx) {
		onx_begin(file);
		onx_external(file, "w", ONX_FLOAT, "4", name, "128");
		onx_input(file, "x", ONX_FLOAT, "4");
		onx_node(file, "Add", "x,w", "y");
		onx_output(file, "y");
		const uint8_t *bytes = onx_end(file, 13, &n);
		put(at, bytes, n);
		return;
	}
	for (const char *s = name; *s != '\0'; s++)
		(void)snprintf(escaped + strlen(escaped), 4, *s == '\\' ? "\\\\" : "%c", *s);
	(void)snprintf(text, sizeof text,
		       "{\"quern\": 1, \"name\": \"m\", \"graph\": {\"inputs\": [{\"name\": \"x\", "
		       "\"type\": \"tensor<4xf32>\"}], \"constants\": {\"w\": {\"type\": "
		       "\"tensor<4xf32>\", \"file\": \"%s\"}}, \"nodes\": [{\"name\": \"y\", "
		       "\"op\": \"add\", \"inputs\": [\"x\", \"w\"]}], \"outputs\": [\"y\"]}}",
		       escaped);
	put(at, text, strlen(text));
}

static void
loads(const char *model, int wrong, const char *id)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_model *m;
	const qn_status status = qn_load(ctx, in(model), &m);

	if (wrong == 0) {
		if (status != QN_OK)
			fail_msg("%s: %s", model, qn_diag_get(ctx, 0).message);
	} else {
		const qn_diagnostic d = qn_diag_get(ctx, 0);

		assert_int_not_equal(status, QN_OK);
		assert_string_equal(d.id, id);
		if (strstr(d.message, wrong == LINK ? "the link leads out" : "no '..'") == NULL)
			fail_msg("%s", d.message);
	}
	qn_close(ctx);
}

static void
test_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		for (int onnx = 0; onnx < 2; onnx++) {
			if (!onnx && strcmp(rows[i].name, "..") == 0)
				continue; /* no .npy */
			put_model(onnx ? "model/m.onnx" : "model/m.json", rows[i].name, onnx);
			loads(onnx ? "model/m.onnx" : "model/m.json", rows[i].wrong,
			      onnx ? "import.external" : "tensor.path");
		}
}

/* A cache of links to one folder of blobs: the model is such a link itself. */
static void
test_cache(void **state)
{
	(void)state;
	put_model("blobs/m", "w.npy", false);
	put_model("blobs/n", "w.npy", true);
	loads("cache/m.json", 0, "");
	loads("cache/m.onnx", 0, "");
	put_model("blobs/m", "out.npy", false);
	put_model("blobs/n", "out.npy", true);
	loads("cache/m.json", LINK, "tensor.path");
	loads("cache/m.onnx", LINK, "import.external");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_names, begin, end),
		cmocka_unit_test_setup_teardown(test_cache, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
