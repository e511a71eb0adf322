/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_pattern.c - any bytes as the text of a pattern: an error, or a pattern whose own text reads back
 * as itself and which matches the same values of a small graph. */
#include "tests/fuzz/fuzz.h"

#include "patterns/build.h"

static const char graph[] =
	"graph @f(%p: tensor<4xf32>) { %s = relu %p  return %s }\n"
	"graph @main(%x: tensor<4xf32>, %m: tensor<1x4xf32>) {\n"
	"  %k = const : tensor<4xf32> splat 1.5\n"
	"  %kw = const : tensor<4x4xf32> splat 0.5\n"
	"  %d = dense %m, %kw  %b = bias_add %d, %k  %r = relu %b  %s = relu %d  %t = add %r, %s\n"
	"  %p = tuple %x, %t  %g = get %p {index=1}  %c = clip %g {min=-1.0}\n"
	"  %e = mul %c, %t  %h = call @f %x  %o = div %e, %h  return %o\n"
	"}\n";

/* The values that match, by root and by the number of bindings; a search may give up. */
static const char *
matches(fuzz *f, const qn_graph *g, const qn_pattern *p, bool *gave_up)
{
	qn_matcher *s = qn_matcher_new(&f->arena, 0);
	qn_match m;
	qn_buf b;

	qn_matcher_set_limit(s, 2000);
	qn_buf_init(&b, &f->arena);
	for (qn_id id = 1; id < g->n; id++) {
		if (qn_match_at(s, g, &p->pat, id, &m))
			qn_buff(&b, "%u ", id);
		*gave_up = *gave_up || qn_matcher_exhausted(s);
	}
	return qn_buf_str(&b);
}

static const char *
print(fuzz *f, const qn_pattern *p)
{
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	return qn_patterns_print(&b, p) == QN_OK ? qn_buf_str(&b) : NULL;
}

static void
target(fuzz *f, const char *data, size_t size)
{
	qn_patterns *set = QN_NEW(&f->arena, qn_patterns, 1);
	qn_model *m = fuzz_model(f);
	qn_pattern *p, *again;
	bool gave_up = false;

	qn_patterns_init(set, &f->env, &f->arena);
	if (qn_patterns_parse(set, qn_arena_strn(&f->arena, data, size), &p) != QN_OK) {
		FUZZ_CHECK(fuzz_told(f));
		return;
	}
	const char *text = print(f, p);
	FUZZ_CHECK(text != NULL);
	FUZZ_CHECK(qn_patterns_parse(set, text, &again) == QN_OK);
	FUZZ_CHECK(strcmp(print(f, again), text) == 0);
	FUZZ_CHECK(qn_model_parse(m, "g", graph, sizeof graph - 1) == QN_OK);
	const char *first = matches(f, qn_model_entry(m), p, &gave_up);
	const char *second = matches(f, qn_model_entry(m), again, &gave_up);
	FUZZ_CHECK(gave_up || strcmp(first, second) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_run(target, data, size);
	return 0;
}
