/* SPDX-License-Identifier: Apache-2.0 */
/* cut.c - see cut.h. */
#include "patterns/cut.h"

#include <string.h>

#include "ir/diag.h"

enum { ORIGIN = 1 }; /* attributes beside the host's */

/* "conv2d_", "Tuple_", "TupleGetItem1_", "Call_" */
static void
print_kind(qn_buf *b, const qn_node *n)
{
	if (n->op == QN_OP_tuple)
		qn_buf_puts(b, "Tuple_");
	else if (n->op == QN_OP_get)
		qn_buff(b, "TupleGetItem%lld_", (long long)n->attr->get.index);
	else if (n->op == QN_OP_call)
		qn_buf_puts(b, "Call_");
	else if (n->op != QN_OP_const)
		qn_buff(b, "%s_", qn_opinfo_of(n)->name);
}

typedef struct visit {
	qn_id id;
	uint32_t next; /* input */
} visit;

/* What lies inside, operands before their op. */
static const char *
origin_of(qn_arena *a, const qn_graph *g, const qn_group *gr, bool *inside)
{
	visit *stack = QN_NEW(a, visit, gr->ninner + 1);
	size_t n = 0;
	qn_buf b;

	qn_buf_init(&b, a);
	for (uint32_t k = 0; k < gr->ninner; k++)
		inside[gr->inner[k]] = true;
	stack[n++] = (visit){gr->root, 0};
	inside[gr->root] = false; /* each once */
	while (n > 0) {
		const qn_node *node = qn_graph_node(g, stack[n - 1].id);
		uint32_t i = stack[n - 1].next++;

		if (i == node->nin) {
			print_kind(&b, node);
			n--;
		} else if (inside[node->in[i]]) {
			inside[node->in[i]] = false;
			stack[n++] = (visit){node->in[i], 0};
		}
	}
	return qn_buf_str(&b);
}

/* The host's attributes, then where the group came from. */
static void
describe(qn_model *m, const qn_cut *cut, const qn_graph *g, bool *inside, qn_group *gr)
{
	qn_graph_attr *attr = QN_NEW(m->scratch, qn_graph_attr, cut->nattr + ORIGIN);

	if (cut->nattr > 0)
		memcpy(attr, cut->attr, cut->nattr * sizeof *attr);
	attr[cut->nattr] =
		(qn_graph_attr){"PartitionedFromPattern", origin_of(m->scratch, g, gr, inside)};
	gr->attr = attr;
	gr->nattr = cut->nattr + ORIGIN;
	gr->label = cut->label;
}

static qn_status
find(qn_model *m, const qn_cut *cut, qn_grouper *s, size_t *count)
{
	bool *inside = QN_NEW(m->scratch, bool, s->g->n);

	for (qn_id id = s->g->n - 1; id > 0; id--) {
		qn_match match;
		qn_group group;
		bool found = qn_group_find(s, cut->pattern, id, cut->flags, &match, &group);

		if (qn_matcher_exhausted(s->matcher))
			return qn_matcher_report(s->matcher, s->g, id);
		if (!found)
			continue;
		bool wanted = cut->check == NULL || cut->check(cut->user, s->g, id);
		if (wanted)
			describe(m, cut, s->g, inside, &group);
		if (wanted || (cut->flags & QN_CHECK_LATE) != 0)
			qn_group_take(s, &group);
		*count += wanted;
	}
	return QN_OK;
}

static const qn_pat *
without_tests(const qn_pat *p)
{
	while (p->kind == QN_PAT_TEST || (p->kind == QN_PAT_ANY && p->narg > 0 && p != p->arg[0]))
		p = p->arg[0];
	return p;
}

qn_status
qn_cut_pattern(qn_model *m, const qn_cut *cut, const qn_matcher *like, size_t *count)
{
	qn_matcher *matcher = qn_matcher_new(m->scratch, 0);
	qn_grouper s;

	*count = 0;
	if (without_tests(cut->pattern)->kind == QN_PAT_FUNCTION) {
		qn_warn(m->env, "pattern.function", cut->label,
			"a pattern of a function matches calls, which have their own graph "
			"already; nothing was changed");
		return QN_OK;
	}
	qn_matcher_set_like(matcher, like);
	qn_grouper_init(&s, m->scratch, matcher, qn_model_entry(m));
	QN_TRY(find(m, cut, &s, count));
	return *count > 0 ? qn_groups_cut(m, &s) : QN_OK;
}
