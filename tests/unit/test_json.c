/* SPDX-License-Identifier: Apache-2.0 */
/* test_json.c - models as JSON: there and back at every stage, other files, and every mistake by its id and place. */
#define _POSIX_C_SOURCE 200809L

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/file.h"
#include "formats/json_graph.h"
#include "formats/npy.h"
#include "formats/safetensors.h"
#include "ir/diag.h"

/* ---- fixture ---- */

typedef struct fixture {
	qn_env env;
	qn_diags diags;
	qn_arena arena;
	char folder[64];
} fixture;

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

static int
setup(void **state)
{
	fixture *f = calloc(1, sizeof *f);

	f->env = (qn_env){.alloc = heap, .diags = &f->diags};
	qn_arena_init(&f->arena, &f->env);
	(void)snprintf(f->folder, sizeof f->folder, "/tmp/quern-test-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	*state = f;
	return 0;
}

static const char *const file_names[] = {"m.json", "w.safetensors", "w.npy", "sub/w.npy", "bad.npy", "sub"};

static int
teardown(void **state)
{
	fixture *f = *state;
	char path[256];

	for (size_t i = 0; i < QN_COUNT(file_names); i++) {
		(void)snprintf(path, sizeof path, "%s/%s", f->folder, file_names[i]);
		if (unlink(path) != 0)
			(void)rmdir(path);
	}
	(void)rmdir(f->folder);
	qn_arena_release(&f->arena);
	qn_diags_clear(&f->env, &f->diags);
	free(f);
	return 0;
}

static void
restart(fixture *f)
{
	qn_arena_release(&f->arena);
	qn_diags_clear(&f->env, &f->diags);
}

static const char *
all_diags(fixture *f)
{
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	for (size_t i = 0; i < f->diags.n; i++)
		qn_buff(&b, "%s: %s: %s\n", f->diags.item[i].place, f->diags.item[i].id, f->diags.item[i].message);
	return qn_buf_str(&b);
}

static qn_model *
new_model(fixture *f)
{
	qn_model *m = QN_NEW(&f->arena, qn_model, 1);

	qn_model_init(m, &f->env, &f->arena, "none");
	return m;
}

static qn_model *
from_json(fixture *f, const char *s, size_t n, const char *folder)
{
	qn_model *m = new_model(f);

	if (qn_json_parse(m, "x.json", folder, s, n) != QN_OK)
		fail_msg("%s", all_diags(f));
	return m;
}

static const char *
model_text(fixture *f, const qn_model *m)
{
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	qn_model_print(&b, m);
	return qn_buf_str(&b);
}

static const char *
json_text(fixture *f, const qn_model *m)
{
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	qn_json_print(&b, m, NULL, NULL);
	return qn_buf_str(&b);
}

/* ---- there and back ---- */

#define SEVENTEEN "0.5, 0.25:0, 0.125, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.1"

static const char *const models[] = {
	/* float: constants between nodes, attributes, several outputs, an unused constant at the end */
	"model \"float\" stage float\n"
	"graph @main(%image: tensor<1x8x8x1xf32>, %other: tensor<?x4xf32>) {\n"
	"  %w = const : tensor<4x3x3x1xf32> rand 7\n"
	"  %conv1 = conv2d %image, %w {stride=[2,2], padding=same}\n"
	"  %b = const : tensor<4xf32> [0.1, -1e-30, 3.4028235e+38, -0.0]\n"
	"  %w2 = const : tensor<2x1x1x4xf32> rand 9\n"
	"  %\"bias add\" = bias_add %conv1, %b\n"
	"  %c = clip %\"bias add\" {max=6.5}\n"
	"  %pool = max_pool %c {kernel=[2,2], stride=[2,2]}\n"
	"  %conv2 = conv2d %pool, %w2\n"
	"  %flat = flatten %conv2\n"
	"  %soft = softmax %flat\n"
	"  %p = pad %other {before=[0,1], after=[0,2], value=-1.5}\n"
	"  %last = const : tensor<f32> [2.0]\n"
	"  return %soft as \"probs\", %p, %soft, %last as \"two\"\n"
	"}\n",
	/* symbolic: symbols, bound and not, vector symbols, scale expressions */
	"model \"symbolic\" stage symbolic\n"
	"symbol $conv1.x : asym\n"
	"symbol $conv1.w : sym, len 4\n"
	"symbol $y : asym = 0.1:-3\n"
	"symbol $v : sym, len 3 = {0.5, 0.25, 0.1}\n"
	"symbol $long : asym, len 17 = {" SEVENTEEN "}\n"
	"graph @main(%x: tensor<1x8x8x1xf32>) {\n"
	"  %w = const : tensor<4x3x3x1xf32> rand 7\n"
	"  %qx = quantize %x : tensor<1x8x8x1x!quant.uniform<i8:f32, $conv1.x:$conv1.x>>\n"
	"  %qw = quantize %w : tensor<4x3x3x1x!quant.uniform<i8<-127:127>:f32:0, $conv1.w>>\n"
	"  %acc = conv2d %qx, %qw\n"
	"  %out = dequantize %acc : tensor<1x6x6x4xf32>\n"
	"  return %out\n"
	"}\n",
	/* calibrated: named parameters, composites, tuples */
	"model \"calibrated\" stage calibrated rounding single\n"
	"param @w.q = {" SEVENTEEN "}\n"
	"graph @block(%a: tensor<2x17xf32>) {\n"
	"  %q = quantize %a : tensor<2x17x!quant.uniform<i8:f32:1, {@w.q}>>\n"
	"  %d = dequantize %q : tensor<2x17xf32>\n"
	"  %r = relu %d\n"
	"  return %d, %r\n"
	"}\n"
	"graph @main(%x: tensor<2x17xf32>) {\n"
	"  %both = call @block %x\n"
	"  %one = get %both {index=1}\n"
	"  %t = tuple %one, %x\n"
	"  %zero = get %t {index=0}\n"
	"  return %zero, %one as \"second\"\n"
	"}\n",
	/* integer: codes, clamps, plain integers beyond 2^53 */
	"model \"integer\" stage integer rounding nearest\n"
	"graph @main(%x: tensor<1x4x!quant.uniform<i8:f32, 5.000000e-01:3>>) {\n"
	"  %w = const : tensor<2x4x!quant.uniform<i8<-127:127>:f32:0, {5.000000e-01,2.500000e-01}>> [1, -2, 3, -127, 0, 127, 5, 6]\n"
	"  %acc = dense %x, %w\n"
	"  %n4 = const : tensor<3x!quant.uniform<i4:f32, 1.000000e+00>> [-8, 7, 0]\n"
	"  %big = const : tensor<2xi64> [9223372036854775807, -9223372036854775808]\n"
	"  %huge = const : tensor<1xu64> bytes \"ffffffffffffffff\"\n"
	"  %y = requantize %acc {lo=-100, hi=127} : tensor<1x2x!quant.uniform<i8:f32, 1.000000e-01:-4>>\n"
	"  return %y, %n4, %big\n"
	"}\n",
};

static void
there_and_back(void **state)
{
	fixture *f = *state;

	for (size_t i = 0; i < QN_COUNT(models); i++) {
		qn_model *m = new_model(f);

		if (qn_model_parse(m, "x.qir", models[i], strlen(models[i])) != QN_OK)
			fail_msg("model %zu: %s", i, all_diags(f));
		const char *json = json_text(f, m);
		const qn_model *back = from_json(f, json, strlen(json), NULL);
		assert_string_equal(model_text(f, back), model_text(f, m));
		assert_string_equal(json_text(f, back), json);
	}
}

/* All of it in another file: the same model again. */
static void
weights_aside(void **state)
{
	fixture *f = *state;
	const char *path = qn_path_join(&f->arena, f->folder, "m.json");
	const qn_json_opts opts = {.weights_file = "w.safetensors", .inline_limit = 2};

	for (size_t i = 0; i < QN_COUNT(models); i++) {
		qn_model *m = new_model(f);
		qn_model *back = new_model(f);
		qn_buf text, weights, text2, weights2;

		assert_int_equal(qn_model_parse(m, "x.qir", models[i], strlen(models[i])), QN_OK);
		qn_buf_init(&text, &f->arena);
		qn_buf_init(&weights, &f->arena);
		qn_json_print(&text, m, &opts, &weights);
		assert_int_equal(qn_file_write(&f->env, path, text.data, text.n), QN_OK);
		assert_int_equal(qn_file_write(&f->env, qn_path_join(&f->arena, f->folder, "w.safetensors"), weights.data, weights.n),
		                 QN_OK);
		if (qn_json_read(back, path) != QN_OK)
			fail_msg("model %zu: %s", i, all_diags(f));
		assert_string_equal(model_text(f, back), model_text(f, m));
		qn_buf_init(&text2, &f->arena);
		qn_buf_init(&weights2, &f->arena);
		qn_json_print(&text2, back, &opts, &weights2);
		assert_string_equal(qn_buf_str(&text2), qn_buf_str(&text));
		assert_int_equal(weights2.n, weights.n);
		assert_memory_equal(weights2.data, weights.data, weights.n);
		if (i == 0)
			assert_non_null(strstr(qn_buf_str(&text), "\"file\": \"w.safetensors\", \"tensor\": \"w\"}"));
	}
}

/* ---- reading ---- */

#define HEAD "{\"quern\": 1, \"graph\": {\"inputs\": [{\"name\": \"x\", \"type\": \"tensor<1x4xf32>\"}], "
#define OUT ", \"outputs\": [\"y\"]}}"
#define Y "{\"name\": \"y\", \"op\": \"relu\", \"inputs\": [\"x\"]}"
#define NODES(list) HEAD "\"nodes\": [" list "]" OUT
#define CONST(c) HEAD "\"constants\": {\"c\": " c "}, \"nodes\": [" Y "]" OUT
#define TOP(keys) "{\"quern\": 1, " keys ", \"graph\": {\"outputs\": []}}"

static void
order_of_nodes(void **state)
{
	fixture *f = *state;
	const char *s = HEAD "\"nodes\": [{\"name\": \"y\", \"op\": \"add\", \"inputs\": [\"b\", \"a\"]}, "
	                     "{\"name\": \"a\", \"op\": \"relu\", \"inputs\": [\"x\"]}, "
	                     "{\"name\": \"b\", \"op\": \"relu6\", \"inputs\": [\"a\"]}]" OUT;
	const qn_model *m = from_json(f, s, strlen(s), NULL);
	const qn_graph *g = qn_model_entry(m);

	assert_int_equal(g->n, 5);
	assert_string_equal(g->node[2].name, "a");
	assert_string_equal(g->node[3].name, "b");
	assert_string_equal(g->node[4].name, "y");
	assert_string_equal(g->node[4].place, "x.json:/graph/nodes/0");
	assert_string_equal(g->name, "main");
	assert_string_equal(g->output[0].name, "y");
	assert_string_equal(m->name, "none");
}

/* 50000 nodes in the reverse order: no deep recursion, no quadratic search. */
static void
long_chain(void **state)
{
	fixture *f = *state;
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	qn_buf_puts(&b, HEAD "\"nodes\": [");
	for (int i = 50000; i > 0; i--)
		qn_buff(&b, "{\"name\": \"n%d\", \"op\": \"relu\", \"inputs\": [\"%c%d\"]},\n", i, i > 1 ? 'n' : 'm', i - 1);
	qn_buf_puts(&b, "{\"name\": \"m0\", \"op\": \"relu\", \"inputs\": [\"x\"]}], \"outputs\": [\"n50000\"]}}");
	const qn_model *m = from_json(f, b.data, b.n, NULL);
	assert_int_equal(qn_model_entry(m)->n, 50003);
}

static void
ignored_keys(void **state)
{
	fixture *f = *state;
	const char *s = "{\"quern\": 1, \"producer\": \"me\", \"_note\": [1], \"name\": \"n\", \"graph\": {\"_a\": 1, \"inputs\": "
	                "[{\"name\": \"x\", \"type\": \"tensor<2xf32>\", \"_b\": 2}], \"nodes\": [{\"name\": \"y\", \"op\": \"clip\", "
	                "\"inputs\": [\"x\"], \"attrs\": {\"min\": \"-inf\", \"max\": 6, \"_c\": 3}, \"_d\": {}}], \"outputs\": "
	                "[{\"name\": \"o\", \"value\": \"y\", \"_e\": 0}]}}";
	const qn_model *m = from_json(f, s, strlen(s), NULL);

	assert_string_equal(m->name, "n");
	assert_true(qn_model_entry(m)->node[2].attr->clip.max == 6.0);
}

/* The pattern that made a composite; a constant behind a node. */
static void
pattern_and_after(void **state)
{
	fixture *f = *state;
	const char *s = "{\"quern\": 1, \"functions\": [{\"name\": \"f\", \"pattern\": \"dense\", \"inputs\": [{\"name\": \"a\", "
	                "\"type\": \"tensor<2xf32>\"}], \"constants\": {\"c2\": {\"type\": \"tensor<2xf32>\", \"data\": [1, 2], "
	                "\"after\": \"r\"}, \"c1\": {\"type\": \"tensor<2xf32>\", \"data\": [3, 4]}}, \"nodes\": [{\"name\": "
	                "\"r\", \"op\": \"relu\", \"inputs\": [\"c1\"]}], \"outputs\": [\"r\", \"c2\"]}], \"graph\": {\"outputs\": []}}";
	const qn_model *m = from_json(f, s, strlen(s), NULL);
	const qn_graph *g = m->graph[0];

	assert_string_equal(g->pattern, "dense");
	assert_string_equal(g->node[2].name, "c1");
	assert_string_equal(g->node[3].name, "r");
	assert_string_equal(g->node[4].name, "c2");
	const char *json = json_text(f, m);
	assert_string_equal(json_text(f, from_json(f, json, strlen(json), NULL)), json);
	assert_non_null(strstr(json, "\"pattern\": \"dense\""));
}

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
	{"{\"quern\": 1, \"graph\": {\"outputs\": []}, \"graph\": 1}", "json.key.duplicate", "x.json:/graph"},
	{TOP("\"Name\": \"n\""), "json.key.unknown", "x.json:/Name"},
	{TOP("\"name\": 1"), "json.kind", "x.json:/name"},
	{TOP("\"stage\": \"done\""), "json.value", "x.json:/stage"},
	{TOP("\"rounding\": \"up\""), "json.value", "x.json:/rounding"},
	{TOP("\"symbols\": [{\"name\": \"a\", \"kind\": \"x\"}]"), "json.value", "x.json:/symbols/0/kind"},
	{TOP("\"symbols\": [{\"name\": \"a\"}]"), "json.key.missing", "x.json:/symbols/0"},
	{TOP("\"symbols\": [{\"name\": \"a\", \"kind\": \"sym\", \"len\": 0}]"), "symbol.len", "x.json:/symbols/0/len"},
	{TOP("\"symbols\": [{\"name\": \"a\", \"kind\": \"sym\", \"scale\": 0}]"), "symbol.scale", "x.json:/symbols/0"},
	{TOP("\"symbols\": [{\"name\": \"a\", \"kind\": \"sym\", \"scale\": [1]}]"), "json.kind", "x.json:/symbols/0/scale"},
	{TOP("\"symbols\": [{\"name\": \"a\", \"kind\": \"sym\", \"scale\": []}]"), "json.kind", "x.json:/symbols/0/scale"},
	{TOP("\"symbols\": [{\"name\": \"a\", \"kind\": \"sym\", \"scale\": 1, \"zero_point\": 1}]"), "symbol.zp", "x.json:/symbols/0"},
	{TOP("\"symbols\": [{\"name\": \"a\", \"kind\": \"sym\", \"zero_point\": 0}]"), "json.key.missing", "x.json:/symbols/0"},
	{TOP("\"symbols\": [{\"name\": \"a\", \"kind\": \"sym\", \"len\": 2, \"scale\": [1, 2], \"zero_point\": [0]}]"), "param.length",
	 "x.json:/symbols/0/zero_point"},
	{TOP("\"symbols\": [{\"name\": \"a\", \"kind\": \"sym\"}, {\"name\": \"a\", \"kind\": \"sym\"}]"), "symbol.duplicate",
	 "x.json:/symbols/1"},
	{TOP("\"params\": {\"a\": {\"scale\": [1, 2]}}"), "param.length", "x.json:/params/a"},
	{TOP("\"params\": {\"a\": {\"scale\": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0]}}"), "param.scale", "x.json:/params/a/scale/16"},
	{TOP("\"params\": {\"a\": {\"scale\": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1], \"shape\": [2, 9]}}"), "type.param.shape",
	 "x.json:/params/a"},
	{TOP("\"functions\": [{\"outputs\": []}]"), "json.key.missing", "x.json:/functions/0"},
	{TOP("\"functions\": [{\"name\": \"f\", \"outputs\": []}, {\"name\": \"f\", \"outputs\": []}]"), "graph.name.duplicate",
	 "x.json:/functions/1"},
	{NODES("1, " Y), "json.kind", "x.json:/graph/nodes/0"},
	{NODES(Y ", " Y), "graph.name.duplicate", "x.json:/graph/nodes/1"},
	{NODES("{\"name\": \"y\", \"inputs\": [\"x\"]}"), "json.key.missing", "x.json:/graph/nodes/0"},
	{NODES("{\"name\": \"y\", \"op\": \"relux\", \"inputs\": [\"x\"]}"), "op.unknown", "x.json:/graph/nodes/0/op"},
	{NODES("{\"name\": \"y\", \"op\": \"const\", \"inputs\": []}"), "op.unknown", "x.json:/graph/nodes/0/op"},
	{NODES("{\"name\": \"y\", \"op\": \"relu\", \"inputs\": [\"z\"]}"), "graph.value.undefined", "x.json:/graph/nodes/0/inputs/0"},
	{NODES("{\"name\": \"y\", \"op\": \"relu\", \"inputs\": [1]}"), "json.kind", "x.json:/graph/nodes/0/inputs/0"},
	{NODES("{\"name\": \"y\", \"op\": \"relu\", \"inputs\": [\"x\", \"x\"]}"), "op.arity", NULL},
	{NODES("{\"name\": \"y\", \"op\": \"relu\", \"inputs\": [\"x\"], \"input\": 1}"), "json.key.unknown", "x.json:/graph/nodes/0/input"},
	{NODES("{\"name\": \"y\", \"op\": \"relu\", \"inputs\": [\"x\"], \"type\": \"tensor<1x5xf32>\"}"), "type.mismatch", NULL},
	{NODES("{\"name\": \"y\", \"op\": \"relu\", \"inputs\": [\"x\"], \"callee\": \"f\"}"), "json.key.unknown",
	 "x.json:/graph/nodes/0/callee"},
	{NODES("{\"name\": \"y\", \"op\": \"call\", \"inputs\": [\"x\"], \"callee\": \"f\"}"), "graph.callee.undefined",
	 "x.json:/graph/nodes/0/callee"},
	{NODES("{\"name\": \"y\", \"op\": \"call\", \"inputs\": [\"x\"]}"), "json.key.missing", "x.json:/graph/nodes/0"},
	{NODES("{\"name\": \"y\", \"op\": \"clip\", \"inputs\": [\"x\"], \"attrs\": {\"mim\": 0}}"), "attr.unknown",
	 "x.json:/graph/nodes/0/attrs/mim"},
	{NODES("{\"name\": \"y\", \"op\": \"clip\", \"inputs\": [\"x\"], \"attrs\": {\"min\": \"nan\"}}"), "attr.value",
	 "x.json:/graph/nodes/0/attrs/min"},
	{NODES("{\"name\": \"y\", \"op\": \"reshape\", \"inputs\": [\"x\"]}"), "attr.missing", "x.json:/graph/nodes/0"},
	{NODES("{\"name\": \"y\", \"op\": \"reshape\", \"inputs\": [\"x\"], \"attrs\": {\"shape\": [1,1,1,1,1,1,1,2,2]}}"), "attr.value",
	 "x.json:/graph/nodes/0/attrs/shape"},
	{NODES("{\"name\": \"y\", \"op\": \"max_pool\", \"inputs\": [\"x\"], \"attrs\": {\"kernel\": [2]}}"), "attr.value",
	 "x.json:/graph/nodes/0/attrs/kernel"},
	{NODES("{\"name\": \"y\", \"op\": \"softmax\", \"inputs\": [\"x\"], \"attrs\": {\"axis\": 0.5}}"), "attr.value",
	 "x.json:/graph/nodes/0/attrs/axis"},
	{NODES("{\"name\": \"y\", \"op\": \"relu\", \"inputs\": [\"y\"]}"), "json.cycle", "x.json:/graph/nodes/0"},
	{NODES("{\"name\": \"y\", \"op\": \"relu\", \"inputs\": [\"z\"]}, {\"name\": \"z\", \"op\": \"relu\", \"inputs\": [\"y\"]}"), "json.cycle",
	 "x.json:/graph/nodes/0"},
	{HEAD "\"outputs\": [\"y\"]}}", "graph.value.undefined", "x.json:/graph/outputs/0"},
	{HEAD "\"outputs\": [\"x\", \"x\"]}}", "graph.name.duplicate", "x.json:/graph/outputs/1"},
	{HEAD "\"outputs\": [{\"name\": \"x\"}]}}", "json.key.missing", "x.json:/graph/outputs/0"},
	{CONST("1"), "json.kind", "x.json:/graph/constants/c"},
	{CONST("{\"data\": [1]}"), "json.key.missing", "x.json:/graph/constants/c"},
	{CONST("{\"type\": \"tensor<1xf32>\"}"), "json.key.missing", "x.json:/graph/constants/c"},
	{CONST("{\"type\": \"tensor<?xf32>\", \"data\": [1]}"), "tensor.type", "x.json:/graph/constants/c"},
	{CONST("{\"type\": \"tuple<tensor<f32>>\", \"data\": [1]}"), "tensor.type", "x.json:/graph/constants/c"},
	{CONST("{\"type\": \"tensor<2xf32>\", \"data\": [1]}"), "tensor.size", "x.json:/graph/constants/c/data"},
	{CONST("{\"type\": \"tensor<1099511627776xf32>\", \"data\": [1]}"), "tensor.size", "x.json:/graph/constants/c/data"},
	{CONST("{\"type\": \"tensor<1xf32>\", \"data\": [\"inf\"]}"), "tensor.nonfinite", "x.json:/graph/constants/c/data/0"},
	{CONST("{\"type\": \"tensor<2xf32>\", \"data\": [1, 1e39]}"), "tensor.nonfinite", "x.json:/graph/constants/c/data/1"},
	{CONST("{\"type\": \"tensor<1xf16>\", \"data\": [1e5]}"), "tensor.nonfinite", "x.json:/graph/constants/c/data/0"},
	{CONST("{\"type\": \"tensor<1xf32>\", \"data\": [true]}"), "json.kind", "x.json:/graph/constants/c/data/0"},
	{CONST("{\"type\": \"tensor<1xi8>\", \"data\": [128]}"), "tensor.range", "x.json:/graph/constants/c/data/0"},
	{CONST("{\"type\": \"tensor<1xi8>\", \"data\": [0.5]}"), "tensor.range", "x.json:/graph/constants/c/data/0"},
	{CONST("{\"type\": \"tensor<1xu64>\", \"data\": [-1]}"), "tensor.range", "x.json:/graph/constants/c/data/0"},
	{CONST("{\"type\": \"tensor<1xi64>\", \"data\": [9007199254740994]}"), "tensor.range", "x.json:/graph/constants/c/data/0"},
	{CONST("{\"type\": \"tensor<1xbool>\", \"data\": [2]}"), "tensor.range", "x.json:/graph/constants/c/data/0"},
	{CONST("{\"type\": \"tensor<1x!quant.uniform<i8<-127:127>:f32, 5.000000e-01>>\", \"data\": [-128]}"), "tensor.range",
	 "x.json:/graph/constants/c/data/0"},
	{CONST("{\"type\": \"tensor<1xf32>\", \"data\": [1], \"after\": \"x\"}"), "graph.value.undefined", "x.json:/graph/constants/c/after"},
	{CONST("{\"file\": \"w.npy\"}"), "tensor.path", "x.json:/graph/constants/c/file"},
};

static void
every_mistake(void **state)
{
	fixture *f = *state;

	for (size_t i = 0; i < QN_COUNT(mistakes); i++) {
		const mistake *k = &mistakes[i];

		if (qn_json_parse(new_model(f), "x.json", NULL, k->json, strlen(k->json)) == QN_OK || f->diags.nerrors != 1 ||
		    strcmp(f->diags.item[0].id, k->id) != 0 || (k->place != NULL && strcmp(f->diags.item[0].place, k->place) != 0))
			fail_msg("row %zu, %s\nwanted %s %s\n%s", i, k->json, k->id, k->place != NULL ? k->place : "", all_diags(f));
		restart(f);
	}
}

/* One run tells all; what follows from another mistake is not told. */
static void
all_at_once(void **state)
{
	static const char *const want[] = {"json.key.unknown", "type.unknown", "tensor.range", "attr.value", "attr.unknown",
	                                   "graph.value.undefined", "op.arity"};
	fixture *f = *state;
	const char *s = "{\"quern\": 1, \"nam\": 1, \"graph\": {\"inputs\": [{\"name\": \"x\", \"type\": \"tensor<1x4xf33>\"}, {\"name\": \"z\", "
	                "\"type\": \"tensor<4xf32>\"}], \"constants\": {\"c\": {\"type\": \"tensor<1xi8>\", \"data\": [200]}}, \"nodes\": ["
	                "{\"name\": \"a\", \"op\": \"relu\", \"inputs\": [\"x\"]}, {\"name\": \"b\", \"op\": \"add\", \"inputs\": [\"a\", \"c\"]}, "
	                "{\"name\": \"d\", \"op\": \"clip\", \"inputs\": [\"b\"], \"attrs\": {\"min\": [], \"foo\": 1}}, "
	                "{\"name\": \"e\", \"op\": \"relu\", \"inputs\": [\"none\"]}, {\"name\": \"g\", \"op\": \"relu\", \"inputs\": [\"z\", "
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
	const char *s = NODES("{\"name\": \"y\", \"op\": \"relu\", \"inputs\": [\"c\"]}, {\"name\": \"a\", \"op\": \"relu\", \"inputs\": [\"c\"]}, "
	                      "{\"name\": \"b\", \"op\": \"relu\", \"inputs\": [\"a\"]}, {\"name\": \"c\", \"op\": \"relu\", \"inputs\": [\"b\"]}");

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
	assert_int_equal(qn_file_write(&f->env, qn_path_join(&f->arena, f->folder, name), b.data, b.n), QN_OK);
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
		{"{\"file\": \"/tmp/w.npy\"}", "tensor.path"},
		{"{\"file\": \"./w.npy\"}", "tensor.path"},
		{"{\"file\": \"w.bin\"}", "tensor.path"},
		{"{\"file\": \"\"}", "tensor.path"},
		{"{\"file\": \"none.npy\"}", "file.open"},
		{"{\"file\": \"bad.npy\"}", "tensor.nonfinite"},
		{"{\"type\": \"tensor<4x!quant.uniform<i8<-3:3>:f32, 1.000000e+00>>\", \"file\": \"w.safetensors\", \"tensor\": \"a\"}",
		 "tensor.range"},
		{"{\"type\": \"tensor<4x!quant.uniform<i4:f32, 1.000000e+00>>\", \"file\": \"w.safetensors\", \"tensor\": \"a\"}", ""},
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

	assert_int_equal(qn_folder_make(&f->env, qn_path_join(&f->arena, f->folder, "sub")), QN_OK);
	put_npy(f, "w.npy", "tensor<4xf32>", four);
	put_npy(f, "sub/w.npy", "tensor<4xf32>", four);
	put_npy(f, "bad.npy", "tensor<2xf32>", bad);
	assert_int_equal(qn_type_parse_str(&m->types, "", "tensor<4xi8>", &type), QN_OK);
	const qn_tensor *codes = qn_tensor_of(&f->arena, type, "\x01\x02\x03\x04");
	qn_buf_init(&b, &f->arena);
	qn_safetensors_print(&b, 1, names, &codes);
	assert_int_equal(qn_file_write(&f->env, qn_path_join(&f->arena, f->folder, "w.safetensors"), b.data, b.n), QN_OK);
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		restart(f);
		qn_buf_init(&b, &f->arena);
		qn_buff(&b, "%s\"constants\": {\"c\": %s}, \"nodes\": [%s]%s", HEAD, rows[i].constant, Y, OUT);
		assert_int_equal(qn_file_write(&f->env, qn_path_join(&f->arena, f->folder, "m.json"), b.data, b.n), QN_OK);
		qn_status status = qn_json_read(new_model(f), qn_path_join(&f->arena, f->folder, "m.json"));
		const char *id = f->diags.n > 0 ? f->diags.item[0].id : "";
		if (strcmp(id, rows[i].want) != 0 || (status == QN_OK) != (id[0] == '\0'))
			fail_msg("row %zu %s: %s", i, rows[i].want, all_diags(f));
	}
}

/* ---- any bytes ---- */

static void
hurt(void **state)
{
	static const unsigned char masks[] = {0x01, 0x10, 0x80};
	fixture *f = *state;

	for (size_t k = 0; k < QN_COUNT(models); k++) {
		qn_model *m = new_model(f);

		assert_int_equal(qn_model_parse(m, "x.qir", models[k], strlen(models[k])), QN_OK);
		const char *json = json_text(f, m);
		size_t n = strlen(json);
		char *copy = malloc(n);
		memcpy(copy, json, n);
		size_t step = n > 4000 ? n / 2000 : 1;
		for (size_t i = 0; i < n; i += step) {
			char *exact = malloc(i > 0 ? i : 1);
			memcpy(exact, copy, i);
			restart(f);
			qn_status status = qn_json_parse(new_model(f), "x.json", NULL, exact, i);
			if (i + 1 < n)
				assert_int_not_equal(status, QN_OK);
			free(exact);
		}
		for (size_t i = 0; i < n; i += step) {
			unsigned char mask = masks[i % sizeof masks];
			copy[i] = (char)((unsigned char)copy[i] ^ mask);
			restart(f);
			qn_status status = qn_json_parse(new_model(f), "x.json", NULL, copy, n);
			assert_true((status == QN_OK) == (f->diags.nerrors == 0));
			copy[i] = (char)((unsigned char)copy[i] ^ mask);
		}
		restart(f);
		free(copy);
	}
}

/* ---- memory ---- */

typedef struct meter {
	long left; /* allocations until there is no more memory; -1: never */
} meter;

static void *
metered(void *user, void *p, size_t old_size, size_t new_size)
{
	meter *m = user;

	if (new_size > 0 && m->left == 0)
		return NULL;
	if (new_size > 0 && m->left > 0)
		m->left--;
	return heap(NULL, p, old_size, new_size);
}

/* Reading runs out of memory at every allocation in turn; the leak checker sees what is left behind (a file, a tree). */
static void
out_of_memory(void **state)
{
	fixture *f = *state;
	const qn_json_opts opts = {.weights_file = "w.safetensors", .inline_limit = 2};
	const char *folder = qn_path_join(&f->arena, f->folder, "");
	char path[256];
	meter left = {.left = -1};
	jmp_buf oom;
	qn_model *m = new_model(f);
	qn_buf text, weights;

	(void)snprintf(path, sizeof path, "%sm.json", folder);
	assert_int_equal(qn_model_parse(m, "x.qir", models[0], strlen(models[0])), QN_OK);
	qn_buf_init(&text, &f->arena);
	qn_buf_init(&weights, &f->arena);
	qn_json_print(&text, m, &opts, &weights);
	assert_int_equal(qn_file_write(&f->env, path, text.data, text.n), QN_OK);
	assert_int_equal(qn_file_write(&f->env, qn_path_join(&f->arena, f->folder, "w.safetensors"), weights.data, weights.n), QN_OK);
	restart(f);
	f->env = (qn_env){.alloc = metered, .alloc_user = &left, .diags = &f->diags, .oom = &oom};
	for (volatile long k = 0; k < 10000; k++) {
		volatile bool done = false;

		left.left = k;
		if (setjmp(oom) == 0) {
			assert_int_equal(qn_json_read(new_model(f), path), QN_OK);
			assert_int_equal(qn_file_write(&f->env, path, "{}", 2), QN_OK);
			done = true;
		}
		left.left = -1;
		restart(f);
		if (done) {
			assert_true(k > 3);
			return;
		}
	}
	fail_msg("memory is never enough");
}

/* Reading and writing give the same where the decimal point is a comma. */
static void
comma_locale(void **state)
{
	fixture *f = *state;
	qn_model *m = new_model(f);

	assert_int_equal(qn_model_parse(m, "x.qir", models[0], strlen(models[0])), QN_OK);
	const char *json = json_text(f, m);
	if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL) {
		print_message("skipped: the locale de_DE.UTF-8 is not installed\n");
		skip();
	}
	const char *comma = json_text(f, m);
	qn_model *back = new_model(f);
	qn_status status = qn_json_parse(back, "x.json", NULL, json, strlen(json));
	(void)setlocale(LC_ALL, "C");
	assert_int_equal(status, QN_OK);
	assert_string_equal(comma, json);
	assert_string_equal(model_text(f, back), model_text(f, m));
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(there_and_back), T(weights_aside), T(order_of_nodes), T(long_chain),       T(ignored_keys), T(every_mistake),
		T(pattern_and_after),
		T(all_at_once),    T(cycle_names),   T(hurt),           T(tensors_in_files), T(comma_locale),
		T(out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
