/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.c - see nearest.h: the least number of letters to insert, leave out, replace or swap with
 * the next one (optimal string alignment), without regard to the case of ASCII letters. */
#include "ir/nearest.h"

#include <limits.h>
#include <string.h>

#include "ir/buf.h"
#include "ir/custom.h"
#include "ir/diag.h"

enum {
	LONGEST = 64, /* letters that are compared, after what is equal at both ends */
	MOST = 3,     /* changes */
	PREFIX = 3,   /* letters of a name that stand for the whole of it */
	WORD = 2      /* letters of a part between separators that does */
};

static int
lesser(int a, int b)
{
	return a < b ? a : b;
}

static int
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static bool
same(char a, char b)
{
	return lower(a) == lower(b);
}

/* More than MOST are MOST + 1. */
static int
changes(const char *a, int n, const char *b, int k)
{
	int row[3][LONGEST + 1]; /* of i - 2, i - 1 and i letters of a */
	int least = 0;

	for (int j = 0; j <= k; j++)
		row[0][j] = j;
	for (int i = 1; i <= n; i++) {
		int *at = row[i % 3];
		const int *before = row[(i + 2) % 3], *second = row[(i + 1) % 3];
		const int least_before = least;

		at[0] = least = i;
		for (int j = 1; j <= k; j++) {
			at[j] = lesser(lesser(before[j], at[j - 1]) + 1,
				       before[j - 1] + !same(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
				at[j] = lesser(at[j], second[j - 2] + 1);
			least = lesser(least, at[j]);
		}
		if (least > MOST && least_before > MOST)
			return MOST + 1;
	}
	return row[n % 3][k];
}

/* Whether a stands at the beginning or the end of b as words of its own: m4 in cortex-m4, fc in fc.x. */
static bool
is_part(const char *a, size_t n, const char *b, size_t k)
{
	static const char between[] = "-_./:";
	bool first = n >= WORD && n < k && strchr(between, b[n]) != NULL;
	bool last = n >= WORD && n < k && strchr(between, b[k - n - 1]) != NULL;

	for (size_t i = 0; i < n && (first || last); i++) {
		first = first && same(a[i], b[i]);
		last = last && same(a[i], b[k - n + i]);
	}
	return first || last;
}

/* Twice the changes from a to b; more than any of these where a is a part of b; INT_MAX when these are more than a typo or an abbreviation makes. */
static int
distance(const char *a, const char *b)
{
	size_t n = strlen(a), k = strlen(b), equal = 0;
	const size_t longer = n > k ? n : k;

	if (is_part(a, n, b, k))
		return 2 * LONGEST + (k - n < LONGEST ? (int)(k - n) : LONGEST);
	for (; n > 0 && k > 0 && same(*a, *b); a++, b++, n--, k--)
		equal++;
	if (equal >= PREFIX &&
	    (n == 0 || k == 0)) /* one begins with the other: better than as many changes */
		return 2 * (n + k < LONGEST ? (int)(n + k) : LONGEST) - 1;
	for (; n > 0 && k > 0 && same(a[n - 1], b[k - 1]); n--)
		k--;
	if (n > LONGEST || k > LONGEST || n > k + MOST || k > n + MOST)
		return INT_MAX;
	const int far = changes(a, (int)n, b, (int)k);
	return far <= MOST && (size_t)far * 3 <= longer + 1 ? 2 * far : INT_MAX;
}

const char *
qn_nearer_name(const char *wanted, const char *best, const char *name)
{
	if (wanted == NULL || name == NULL)
		return best;
	const int far = distance(wanted, name);

	return far < (best != NULL ? distance(wanted, best) : INT_MAX) ? name : best;
}

const char *
qn_nearest_name(const char *wanted, size_t n, const char *const *name)
{
	const char *best = NULL;

	for (size_t i = 0; i < n; i++)
		best = qn_nearer_name(wanted, best, name[i]);
	return best;
}

/* The op that other tools know by this name, without regard to case and `_`; NULL: none. */
static const char *
op_of_others(const char *name)
{
	static const struct {
		const char *theirs;
		qn_op op;
	} rows[] = {
		{"linear", QN_OP_dense},
		{"gemm", QN_OP_dense},
		{"fullyconnected", QN_OP_dense},
		{"innerproduct", QN_OP_dense},
		{"conv", QN_OP_conv2d},
		{"convolution", QN_OP_conv2d},
		{"depthwiseconv", QN_OP_conv2d},
		{"depthwiseconv2d", QN_OP_conv2d},
		{"convtranspose", QN_OP_conv2d_transpose},
		{"convtranspose2d", QN_OP_conv2d_transpose},
		{"maxpool2d", QN_OP_max_pool},
		{"maxpooling2d", QN_OP_max_pool},
		{"avgpool2d", QN_OP_avg_pool},
		{"averagepool", QN_OP_avg_pool},
		{"averagepool2d", QN_OP_avg_pool},
		{"averagepooling2d", QN_OP_avg_pool},
		{"globalaveragepool", QN_OP_global_avg_pool},
		{"globalaveragepooling2d", QN_OP_global_avg_pool},
		{"batchnorm2d", QN_OP_batch_norm},
		{"batchnormalization", QN_OP_batch_norm},
		{"concatenate", QN_OP_concat},
		{"concatenation", QN_OP_concat},
		{"logistic", QN_OP_sigmoid},
	};

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		const char *a = name, *b = rows[i].theirs;

		while (*a == '_' || (*a != '\0' && same(*a, *b)))
			b += *a++ != '_';
		if (*a == '\0' && *b == '\0')
			return qn_opinfo_get(rows[i].op)->name;
	}
	return NULL;
}

const char *
qn_nearest_op(const qn_env *env, const char *wanted)
{
	const char *best = NULL;

	if (env->diags->n == QN_MAX_DIAGS)
		return NULL;
	if ((best = op_of_others(wanted)) != NULL)
		return best;
	for (int op = 0; op < QN_NOP; op++)
		if (op != QN_OP_custom)
			best = qn_nearer_name(wanted, best, qn_opinfo_get((qn_op)op)->name);
	for (const qn_custom *c = env->customs; c != NULL; c = c->next)
		best = qn_nearer_name(wanted, best, c->info.name);
	return best;
}

/* The plain type whose name is one of other tools, int8, uint8 or float32; NULL: it is not one. */
static const char *
plain_of_others(const char *name)
{
	static const char *const prefix[] = {"int", "uint", "float"};

	for (size_t k = 0; k < QN_COUNT(prefix); k++) {
		const size_t n = strlen(prefix[k]);

		for (size_t i = 0; i < QN_NPLAIN && strncmp(name, prefix[k], n) == 0; i++)
			if (qn_plain_table[i].name[0] == prefix[k][0] &&
			    strcmp(qn_plain_table[i].name + 1, name + n) == 0)
				return qn_plain_table[i].name;
	}
	return NULL;
}

const char *
qn_nearest_plain(const char *wanted)
{
	const char *const other = plain_of_others(wanted);
	const char *best = other;

	for (size_t i = 0; i < QN_NPLAIN && other == NULL; i++)
		best = qn_nearer_name(wanted, best, qn_plain_table[i].name);
	return best;
}

const char *
qn_nearest_value(const qn_graph *g, const char *wanted)
{
	const char *best = NULL;

	if (g->model->env->diags->n == QN_MAX_DIAGS)
		return NULL;
	for (qn_id id = 1; id < g->n && id <= QN_MAX_COMPARED; id++)
		best = qn_nearer_name(wanted, best, qn_graph_node(g, id)->name);
	return best;
}

const char *
qn_nearest_graph(const qn_model *m, const char *wanted)
{
	const char *best = NULL;

	if (m->env->diags->n == QN_MAX_DIAGS)
		return NULL;
	for (size_t i = 0; i < m->ngraph && i < QN_MAX_COMPARED; i++)
		best = qn_nearer_name(wanted, best, m->graph[i]->name);
	return best;
}

const char *
qn_nearest_symbol(const qn_types *t, const char *wanted)
{
	const char *best = NULL;

	if (t->arena->env->diags->n == QN_MAX_DIAGS)
		return NULL;
	for (size_t i = 0; i < t->nsymbol && i < QN_MAX_COMPARED; i++)
		best = qn_nearer_name(wanted, best, t->symbol[i]->name);
	return best;
}

const char *
qn_choices(qn_arena *a, size_t n, const char *const *name)
{
	qn_buf b;

	qn_buf_init(&b, a);
	for (size_t i = 0; i < n; i++)
		qn_buff(&b, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " or ", name[i]);
	return n > 0 ? qn_buf_str(&b) : "none";
}
