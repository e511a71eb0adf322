/* SPDX-License-Identifier: Apache-2.0 */
/* test_json_errors.c - every mistake in a model file by its id and place, and constants in other
 * files. */
#define _POSIX_C_SOURCE 200809L

#include <sys/stat.h>

#include "tests/unit/formats_fixture.h"

#include "formats/json_graph.h"
#include "formats/npy.h"
#include "formats/safetensors.h"

#define HEAD                                                                                       \
	"{\"quern\": 1, \"graph\": {\"inputs\": [{\"name\": \"x\", \"type\": "                     \
	"\"tensor<1x4xf32>\"}], "
#define OUT ", \"outputs\": [\"y\"]}}"
#define Y "{\"name\": \"y\", \"op\": \"relu\", \"inputs\": [\"x\"]}"
#define NODES(list) HEAD "\"nodes\": [" list "]" OUT
#define CONST(c) HEAD "\"constants\": {\"c\": " c "}, \"nodes\": [" Y "]" OUT
#define TOP(keys) "{\"quern\": 1, " keys ", \"graph\": {\"outputs\": []}}"

typedef struct mistake {
	const char *json, *id, *place;
} mistake;

static const mistake mistakes[] = {
	{"[]", "json.kind", "x.json:/"},
	{"{}", "json.key.missing", "x.json:/"},
	{"{\"quern\": 2}", "json.version", "x.json:/quern"},
	{"{\"quern\": \"1\"}", "json.kind", "x.json:/quern"},
	{"{\"quern\": 1}", "json.key.missing", "x.json:/"},
	{"{\"quern\": 1,\n \"graph\": ]", "json.syntax", "x.json:2:11"},
	{"{\"quern\": 1, \"graph\": {}}", "json.key.missing", "x.json:/graph"},
	{"{\"quern\": 1, \"graph\": {\"outputs\": []}, \"graph\": 1}", "json.key.duplicate",
	 "x.json:/graph"},
	{TOP("\"Name\": \"n\""), "json.key.unknown", "x.json:/Name"},
	{TOP("\"name\": 1"), "json.kind", "x.json:/name"},
	{TOP("\"stage\": \"done\""), "json.value", "x.json:/stage"},
	{TOP("\"rounding\": \"up\""), "json.value", "x.json:/rounding"},
	{TOP("\"symbols\": [{\"name\": \"a\", \"kind\": \"x\"}]"), "json.value",
	 "x.json:/symbols/0/kind"},
	{TOP("\"symbols\": [{\"name\": \"a\"}]"), "json.key.missing", "x.json:/symbols/0"},
	{TOP("\"symbols\": [{\"name\": \"a\", \"kind\": \"sym\", \"len\": 0}]"), "symbol.len",
	 "x.json:/symbols/0/len"},
	{TOP("\"symbols\": [{\"name\": \"a\", \"kind\": \"sym\", \"scale\": 0}]"), "symbol.scale",
	 "x.json:/symbols/0"},
	{TOP("\"symbols\": [{\"name\": \"a\", \"kind\": \"sym\", \"scale\": [1]}]"), "json.kind",
	 "x.json:/symbols/0/scale"},
	{TOP("\"symbols\": [{\"name\": \"a\", \"kind\": \"sym\", \"scale\": []}]"), "json.kind",
	 "x.json:/symbols/0/scale"},
	{TOP("\"symbols\": [{\"name\": \"a\", \"kind\": \"sym\", \"scale\": 1, \"zero_point\": "
	     "1}]"),
	 "symbol.zp", "x.json:/symbols/0"},
	{TOP("\"symbols\": [{\"name\": \"a\", \"kind\": \"sym\", \"zero_point\": 0}]"),
	 "json.key.missing", "x.json:/symbols/0"},
	{TOP("\"symbols\": [{\"name\": \"a\", \"kind\": \"sym\", \"len\": 2, \"scale\": [1, 2], "
	     "\"zero_point\": [0]}]"),
	 "param.length", "x.json:/symbols/0/zero_point"},
	{TOP("\"symbols\": [{\"name\": \"a\", \"kind\": \"sym\"}, {\"name\": \"a\", \"kind\": "
	     "\"sym\"}]"),
	 "symbol.duplicate", "x.json:/symbols/1"},
	{TOP("\"params\": {\"a\": {\"scale\": [1, 2]}}"), "param.length", "x.json:/params/a"},
	{TOP("\"params\": {\"a\": {\"scale\": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0]}}"),
	 "param.scale", "x.json:/params/a/scale/16"},
	{TOP("\"params\": {\"a\": {\"scale\": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1], \"shape\": [2, "
	     "9]}}"),
	 "type.param.shape", "x.json:/params/a"},
	{TOP("\"functions\": [{\"outputs\": []}]"), "json.key.missing", "x.json:/functions/0"},
	{TOP("\"functions\": [{\"name\": \"f\", \"outputs\": []}, {\"name\": \"f\", \"outputs\": "
	     "[]}]"),
	 "graph.name.duplicate", "x.json:/functions/1"},
	{NODES("1, " Y), "json.kind", "x.json:/graph/nodes/0"},
	{NODES(Y ", " Y), "graph.name.duplicate", "x.json:/graph/nodes/1"},
	{NODES("{\"name\": \"y\", \"inputs\": [\"x\"]}"), "json.key.missing",
	 "x.json:/graph/nodes/0"},
	{NODES("{\"name\": \"y\", \"op\": \"relux\", \"inputs\": [\"x\"]}"), "op.unknown",
	 "x.json:/graph/nodes/0/op"},
	{NODES("{\"name\": \"y\", \"op\": \"const\", \"inputs\": []}"), "op.unknown",
	 "x.json:/graph/nodes/0/op"},
	{NODES("{\"name\": \"y\", \"op\": \"relu\", \"inputs\": [\"z\"]}"), "graph.value.undefined",
	 "x.json:/graph/nodes/0/inputs/0"},
	{NODES("{\"name\": \"y\", \"op\": \"relu\", \"inputs\": [1]}"), "json.kind",
	 "x.json:/graph/nodes/0/inputs/0"},
	{NODES("{\"name\": \"y\", \"op\": \"relu\", \"inputs\": [\"x\", \"x\"]}"), "op.arity",
	 NULL},
	{NODES("{\"name\": \"y\", \"op\": \"relu\", \"inputs\": [\"x\"], \"input\": 1}"),
	 "json.key.unknown", "x.json:/graph/nodes/0/input"},
	{NODES("{\"name\": \"y\", \"op\": \"relu\", \"inputs\": [\"x\"], \"type\": "
	       "\"tensor<1x5xf32>\"}"),
	 "type.mismatch", NULL},
	{NODES("{\"name\": \"y\", \"op\": \"relu\", \"inputs\": [\"x\"], \"callee\": \"f\"}"),
	 "json.key.unknown", "x.json:/graph/nodes/0/callee"},
	{NODES("{\"name\": \"y\", \"op\": \"call\", \"inputs\": [\"x\"], \"callee\": \"f\"}"),
	 "graph.callee.undefined", "x.json:/graph/nodes/0/callee"},
	{NODES("{\"name\": \"y\", \"op\": \"call\", \"inputs\": [\"x\"]}"), "json.key.missing",
	 "x.json:/graph/nodes/0"},
	{NODES("{\"name\": \"y\", \"op\": \"clip\", \"inputs\": [\"x\"], \"attrs\": {\"mim\": 0}}"),
	 "attr.unknown", "x.json:/graph/nodes/0/attrs/mim"},
	{NODES("{\"name\": \"y\", \"op\": \"clip\", \"inputs\": [\"x\"], \"attrs\": {\"min\": "
	       "\"nan\"}}"),
	 "attr.value", "x.json:/graph/nodes/0/attrs/min"},
	{NODES("{\"name\": \"y\", \"op\": \"reshape\", \"inputs\": [\"x\"]}"), "attr.missing",
	 "x.json:/graph/nodes/0"},
	{NODES("{\"name\": \"y\", \"op\": \"reshape\", \"inputs\": [\"x\"], \"attrs\": {\"shape\": "
	       "[1,1,1,1,1,1,1,2,2]}}"),
	 "attr.value", "x.json:/graph/nodes/0/attrs/shape"},
	{NODES("{\"name\": \"y\", \"op\": \"max_pool\", \"inputs\": [\"x\"], \"attrs\": "
	       "{\"kernel\": [2]}}"),
	 "attr.value", "x.json:/graph/nodes/0/attrs/kernel"},
	{NODES("{\"name\": \"y\", \"op\": \"softmax\", \"inputs\": [\"x\"], \"attrs\": {\"axis\": "
	       "0.5}}"),
	 "attr.value", "x.json:/graph/nodes/0/attrs/axis"},
	{NODES("{\"name\": \"y\", \"op\": \"relu\", \"inputs\": [\"y\"]}"), "json.cycle",
	 "x.json:/graph/nodes/0"},
	{NODES("{\"name\": \"y\", \"op\": \"relu\", \"inputs\": [\"z\"]}, {\"name\": \"z\", "
	       "\"op\": \"relu\", \"inputs\": [\"y\"]}"),
	 "json.cycle", "x.json:/graph/nodes/0"},
	{HEAD "\"outputs\": [\"y\"]}}", "graph.value.undefined", "x.json:/graph/outputs/0"},
	{HEAD "\"outputs\": [\"x\", \"x\"]}}", "graph.name.duplicate", "x.json:/graph/outputs/1"},
	{HEAD "\"outputs\": [{\"name\": \"x\"}]}}", "json.key.missing", "x.json:/graph/outputs/0"},
	{CONST("1"), "json.kind", "x.json:/graph/constants/c"},
	{CONST("{\"data\": [1]}"), "json.key.missing", "x.json:/graph/constants/c"},
	{CONST("{\"type\": \"tensor<1xf32>\"}"), "json.key.missing", "x.json:/graph/constants/c"},
	{CONST("{\"type\": \"tensor<?xf32>\", \"data\": [1]}"), "tensor.type",
	 "x.json:/graph/constants/c"},
	{CONST("{\"type\": \"tuple<tensor<f32>>\", \"data\": [1]}"), "tensor.type",
	 "x.json:/graph/constants/c"},
	{CONST("{\"type\": \"tensor<2xf32>\", \"data\": [1]}"), "tensor.size",
	 "x.json:/graph/constants/c/data"},
	{CONST("{\"type\": \"tensor<1099511627776xf32>\", \"data\": [1]}"), "tensor.size",
	 "x.json:/graph/constants/c/data"},
	{CONST("{\"type\": \"tensor<1xf32>\", \"data\": [\"inf\"]}"), "tensor.nonfinite",
	 "x.json:/graph/constants/c/data/0"},
	{CONST("{\"type\": \"tensor<2xf32>\", \"data\": [1, 1e39]}"), "tensor.nonfinite",
	 "x.json:/graph/constants/c/data/1"},
	{CONST("{\"type\": \"tensor<1xf16>\", \"data\": [1e5]}"), "tensor.nonfinite",
	 "x.json:/graph/constants/c/data/0"},
	{CONST("{\"type\": \"tensor<1xf32>\", \"data\": [true]}"), "json.kind",
	 "x.json:/graph/constants/c/data/0"},
	{CONST("{\"type\": \"tensor<1xi8>\", \"data\": [128]}"), "tensor.range",
	 "x.json:/graph/constants/c/data/0"},
	{CONST("{\"type\": \"tensor<1xi8>\", \"data\": [0.5]}"), "tensor.range",
	 "x.json:/graph/constants/c/data/0"},
	{CONST("{\"type\": \"tensor<1xu64>\", \"data\": [-1]}"), "tensor.range",
	 "x.json:/graph/constants/c/data/0"},
	{CONST("{\"type\": \"tensor<1xi64>\", \"data\": [9007199254740994]}"), "tensor.range",
	 "x.json:/graph/constants/c/data/0"},
	{CONST("{\"type\": \"tensor<1xbool>\", \"data\": [2]}"), "tensor.range",
	 "x.json:/graph/constants/c/data/0"},
	{CONST("{\"type\": \"tensor<1x!quant.uniform<i8<-127:127>:f32, 5.000000e-01>>\", \"data\": "
	       "[-128]}"),
	 "tensor.range", "x.json:/graph/constants/c/data/0"},
	{CONST("{\"type\": \"tensor<1xf32>\", \"data\": [1], \"after\": \"x\"}"),
	 "graph.value.undefined", "x.json:/graph/constants/c/after"},
	{CONST("{\"file\": \"w.npy\"}"), "tensor.path", "x.json:/graph/constants/c/file"},
};

static void
every_mistake(void **state)
{
	fixture *f = *state;

	for (size_t i = 0; i < QN_COUNT(mistakes); i++) {
		const mistake *k = &mistakes[i];

		if (qn_json_parse(new_model(f), "x.json", NULL, k->json, strlen(k->json)) ==
			    QN_OK ||
		    f->diags.nerrors != 1 || strcmp(f->diags.item[0].id, k->id) != 0 ||
		    (k->place != NULL && strcmp(f->diags.item[0].place, k->place) != 0))
			fail_msg("row %zu, %s\nwanted %s %s\n%s", i, k->json, k->id,
				 k->place != NULL ? k->place : "", all_diags(f));
		restart(f);
	}
}

/* One run tells all; what follows from another mistake is not told. */
static void
all_at_once(void **state)
{
	static const char *const want[] = {
		"json.key.unknown", "type.unknown",          "tensor.range", "attr.value",
		"attr.unknown",     "graph.value.undefined", "op.arity"};
	fixture *f = *state;
	const char *s = "{\"quern\": 1, \"nam\": 1, \"graph\": {\"inputs\": [{\"name\": \"x\", "
			"\"type\": \"tensor<1x4xf33>\"}, {\"name\": \"z\", "
			"\"type\": \"tensor<4xf32>\"}], \"constants\": {\"c\": {\"type\": "
			"\"tensor<1xi8>\", \"data\": [200]}}, \"nodes\": ["
			"{\"name\": \"a\", \"op\": \"relu\", \"inputs\": [\"x\"]}, {\"name\": "
			"\"b\", \"op\": \"add\", \"inputs\": [\"a\", \"c\"]}, "
			"{\"name\": \"d\", \"op\": \"clip\", \"inputs\": [\"b\"], \"attrs\": "
			"{\"min\": [], \"foo\": 1}}, "
			"{\"name\": \"e\", \"op\": \"relu\", \"inputs\": [\"none\"]}, {\"name\": "
			"\"g\", \"op\": \"relu\", \"inputs\": [\"z\", "
			"\"z\"]}], \"outputs\": [\"d\", \"g\"]}}";

	assert_int_not_equal(qn_json_parse(new_model(f), "x.json", NULL, s, strlen(s)), QN_OK);
	if (f->diags.n != QN_COUNT(want))
		fail_msg("%s", all_diags(f));
	for (size_t i = 0; i < QN_COUNT(want); i++)
		if (i != 1) /* the wording of types belongs to types */
			assert_string_equal(f->diags.item[i].id, want[i]);
}

static void
cycle_names(void **state)
{
	fixture *f = *state;
	const char *s = NODES("{\"name\": \"y\", \"op\": \"relu\", \"inputs\": [\"c\"]}, "
			      "{\"name\": \"a\", \"op\": \"relu\", \"inputs\": [\"c\"]}, "
			      "{\"name\": \"b\", \"op\": \"relu\", \"inputs\": [\"a\"]}, "
			      "{\"name\": \"c\", \"op\": \"relu\", \"inputs\": [\"b\"]}");

	assert_int_equal(qn_json_parse(new_model(f), "x.json", NULL, s, strlen(s)), QN_EINVALID);
	assert_int_equal(f->diags.n, 1);
	assert_non_null(strstr(f->diags.item[0].message, "c -> a -> b -> c"));
}

/* ---- other files ---- */

static void
put_npy(fixture *f, const char *name, const char *type_text, const void *data)
{
	const qn_type *type = NULL;
	qn_model *m = new_model(f);
	qn_buf b;

	assert_int_equal(qn_type_parse_str(&m->types, "", type_text, &type), QN_OK);
	qn_buf_init(&b, &f->arena);
	qn_npy_print(&b, qn_tensor_of(&f->arena, type, data));
	assert_int_equal(
		qn_file_write(&f->env, qn_path_join(&f->arena, f->folder, name), b.data, b.n),
		QN_OK);
}

static void
tensors_in_files(void **state)
{
	static const float four[4] = {1, 2, 3, 4};
	static const struct {
		const char *constant, *want; /* "" or an id */
	} rows[] = {
		{"{\"file\": \"w.npy\"}", ""},
		{"{\"file\": \"sub/w.npy\"}", ""},
		{"{\"type\": \"tensor<4xf32>\", \"file\": \"w.npy\"}", ""},
		{"{\"type\": \"tensor<2x2xf32>\", \"file\": \"w.npy\"}", "tensor.type"},
		{"{\"type\": \"tensor<4xi32>\", \"file\": \"w.npy\"}", "tensor.type"},
		{"{\"type\": \"tuple<tensor<4xf32>>\", \"file\": \"w.npy\"}", "tensor.type"},
		{"{\"file\": \"w.npy\", \"tensor\": \"w\"}", "json.key.unknown"},
		{"{\"file\": \"w.npy\", \"data\": [1]}", "json.key.missing"},
		{"{\"file\": \"../w.npy\"}", "tensor.path"},
		{"{\"file\": \"sub/../w.npy\"}", "tensor.path"},
		{"{\"file\": \"sub//w.npy\"}", "tensor.path"},
		{"{\"file\": \"/tmp/w.npy\"}", "tensor.path"},
		{"{\"file\": \"./w.npy\"}", ""},
		{"{\"file\": \"w.bin\"}", "tensor.path"},
		{"{\"file\": \"\"}", "tensor.path"},
		{"{\"file\": \"none.npy\"}", "file.open"},
		{"{\"file\": \"bad.npy\"}", "tensor.nonfinite"},
		{"{\"type\": \"tensor<4x!quant.uniform<i8<-3:3>:f32, 1.000000e+00>>\", \"file\": "
		 "\"w.safetensors\", \"tensor\": \"a\"}",
		 "tensor.range"},
		{"{\"type\": \"tensor<4x!quant.uniform<i4:f32, 1.000000e+00>>\", \"file\": "
		 "\"w.safetensors\", \"tensor\": \"a\"}",
		 ""},
		{"{\"file\": \"w.safetensors\", \"tensor\": \"a\"}", ""},
		{"{\"file\": \"w.safetensors\", \"tensor\": \"A\"}", "tensor.missing"},
		{"{\"file\": \"w.safetensors\"}", "json.key.missing"},
	};
	fixture *f = *state;
	const uint32_t bad[2] = {0x3f800000, 0x7f800000};
	const char *names[1] = {"a"};
	qn_model *m = new_model(f);
	const qn_type *type = NULL;
	qn_buf b;

	assert_int_equal(mkdir(qn_path_join(&f->arena, f->folder, "sub"), 0777), 0);
	put_npy(f, "w.npy", "tensor<4xf32>", four);
	put_npy(f, "sub/w.npy", "tensor<4xf32>", four);
	put_npy(f, "bad.npy", "tensor<2xf32>", bad);
	assert_int_equal(qn_type_parse_str(&m->types, "", "tensor<4xi8>", &type), QN_OK);
	const qn_tensor *codes = qn_tensor_of(&f->arena, type, "\x01\x02\x03\x04");
	qn_buf_init(&b, &f->arena);
	qn_safetensors_print(&b, 1, names, &codes);
	assert_int_equal(qn_file_write(&f->env, qn_path_join(&f->arena, f->folder, "w.safetensors"),
				       b.data, b.n),
			 QN_OK);
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		restart(f);
		qn_buf_init(&b, &f->arena);
		qn_buff(&b, "%s\"constants\": {\"c\": %s}, \"nodes\": [%s]%s", HEAD,
			rows[i].constant, Y, OUT);
		assert_int_equal(qn_file_write(&f->env,
					       qn_path_join(&f->arena, f->folder, "m.json"), b.data,
					       b.n),
				 QN_OK);
		qn_status status =
			qn_json_read(new_model(f), qn_path_join(&f->arena, f->folder, "m.json"));
		const char *id = f->diags.n > 0 ? f->diags.item[0].id : "";
		if (strcmp(id, rows[i].want) != 0 || (status == QN_OK) != (id[0] == '\0'))
			fail_msg("row %zu %s: %s", i, rows[i].want, all_diags(f));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {T(every_mistake), T(all_at_once), T(cycle_names),
					   T(tensors_in_files)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
