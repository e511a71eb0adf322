/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_graph.c - random integer graphs, made from the bytes: the interpreter gives each value the
 * same codes in the graph as in the graph that comes back from its text and from its JSON. */
#include "tests/fuzz/fuzz.h"

#include "formats/json_graph.h"
#include "ir/map.h"
#include "runtime/interp.h"
#include "tests/e2e/random_graph.h"

/* Sums of all values by the names of their nodes, of a value of a loop in all of its steps. */
typedef struct trace {
	qn_map sums; /* node name -> uint32_t */
	size_t n;
} trace;

static qn_status
watch(void *user, const qn_graph *g, qn_id id, const qn_tensor *value)
{
	trace *t = user;
	const char *name = qn_graph_node(g, id)->name;
	uint32_t *sum = qn_map_gets(&t->sums, name), have = qn_tensor_crc(value);

	t->n++;
	if (sum == NULL) {
		sum = QN_NEW(t->sums.arena, uint32_t, 1);
		qn_map_puts(&t->sums, name, sum);
	}
	*sum = qn_crc32(*sum, &have, sizeof have);
	return QN_OK;
}

static const qn_tensor *const *
samples(builder *b)
{
	const qn_tensor **x = QN_NEW(&b->arena, const qn_tensor *, b->g->ninput);

	for (size_t k = 0; k < b->g->ninput; k++) {
		const qn_type *type = qn_graph_node(b->g, b->g->input[k])->type;
		void *data;

		x[k] = qn_tensor_new(&b->arena, type, &data);
		for (int64_t i = 0; i < qn_type_count(type); i++)
			qn_store_i64(data, type->elem->plain, i,
				     build_random(b, type->elem->qmin, type->elem->qmax));
	}
	return x;
}

/* The inputs by the types of g, which may belong to another model. */
static void
run(builder *b, const qn_graph *g, const qn_tensor *const *like, trace *t)
{
	const qn_tensor **x = QN_NEW(&b->arena, const qn_tensor *, g->ninput);
	qn_interp *in = NULL;

	for (size_t k = 0; k < g->ninput; k++)
		x[k] = qn_tensor_view(&b->arena, qn_graph_node(g, g->input[k])->type,
				      like[k]->data);
	const qn_status status = qn_interp_new(g, &b->arena, &in);
	for (size_t i = 0; status != QN_OK && i < b->diags.n; i++)
		fprintf(stderr, "%s\n", b->diags.item[i].message);
	FUZZ_CHECK(status == QN_OK);
	t->n = 0;
	qn_map_init(&t->sums, &b->arena);
	FUZZ_CHECK(qn_interp_run(in, x, watch, t) == QN_OK);
}

static void
compare(builder *b, const qn_model *again, const qn_tensor *const *x, const trace *t)
{
	trace now;

	FUZZ_CHECK(qn_model_verify(again) == QN_OK);
	run(b, qn_model_entry(again), x, &now);
	FUZZ_CHECK(now.n == t->n);
	for (qn_id id = 1; id < b->g->n; id++) {
		const char *name = qn_graph_node(b->g, id)->name;
		const uint32_t *want = qn_map_gets(&t->sums, name),
			       *have = qn_map_gets(&now.sums, name);

		FUZZ_CHECK(want == NULL ? have == NULL : have != NULL && *have == *want);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	builder b;
	qn_buf text, json;

	random_graph_build_bytes(&b, data, size);
	const qn_tensor *const *x = samples(&b);
	trace t;

	run(&b, b.g, x, &t);

	qn_model *again = QN_NEW(&b.arena, qn_model, 2);
	qn_model_init(&again[0], &b.env, &b.arena, "text");
	qn_model_init(&again[1], &b.env, &b.arena, "json");
	qn_buf_init(&text, &b.arena);
	qn_buf_init(&json, &b.arena);
	qn_model_print(&text, &b.model);
	FUZZ_CHECK(qn_model_parse(&again[0], "x.qir", qn_buf_str(&text), text.n) == QN_OK);
	compare(&b, &again[0], x, &t);
	qn_json_print(&json, &b.model, &(qn_json_opts){0}, NULL);
	FUZZ_CHECK(qn_json_parse(&again[1], "x.json", NULL, qn_buf_str(&json), json.n) == QN_OK);
	compare(&b, &again[1], x, &t);
	build_end(&b);
	return 0;
}
