/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_match.c - quern match: where a pattern matches in a model. */
#include <stdio.h>

#include "program.h"
#include "quern/graph.h"
#include "quern/patterns.h"

typedef struct listing {
	qn_graph *g;
	size_t n;
} listing;

/* "relu1  c=conv1 x=image": the root, then what has a name in the pattern. */
static int
print_match(void *user, const qn_match *m)
{
	listing *l = user;
	qn_binding b;

	l->n++;
	printf("%s", qn_value(l->g, qn_match_root(m)).name);
	for (size_t i = 0; (b = qn_match_binding(m, i)).name != NULL; i++)
		printf("%s%s=%s", i == 0 ? "  " : " ", b.name, qn_value(b.graph, b.value).name);
	return printf("\n") < 0;
}

static qn_status
match(qn_ctx *ctx, const options *o)
{
	qn_match_opts opts = {0};
	listing l = {0};
	qn_pattern *p;
	qn_model *m;
	qn_status status = qn_pattern_parse(ctx, o->arg[0], &p);
	qn_status loaded = program_load_model(ctx, o, &m); /* the model's problems too */
	qn_id value = 0;

	if (status == QN_OK)
		status = loaded;
	if (status != QN_OK)
		return status;
	l.g = qn_model_main(m);
	if (o->at != NULL && (value = qn_value_find(l.g, o->at)) == 0) {
		fprintf(stderr,
			"quern match: --at: unknown value '%s'; quern inspect lists the nodes\n",
			o->at);
		return QN_EUSAGE;
	}
	opts.flags = (o->greedy ? QN_MATCH_GREEDY : 0) | (o->reassociate ? QN_MATCH_REASSOC : 0);
	status = qn_pattern_match(p, l.g, value, &opts, print_match, &l, NULL);
	if (status == QN_OK && !o->quiet)
		fprintf(stderr, "%zu %s%s\n", l.n, l.n == 1 ? "match" : "matches",
			l.n == 0 ? "; OP(...) matches nodes with any number of inputs" : "");
	return status;
}

int
cmd_match(const options *o)
{
	qn_ctx *ctx = program_open(o);

	return ctx == NULL ? 1 : program_close(ctx, match(ctx, o));
}
