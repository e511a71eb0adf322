/* SPDX-License-Identifier: Apache-2.0 */
/* emit_repeats.c - steps that come several times in a row, as those of a transformer's blocks, are one function.
 *
 *   typedef struct net_blk_1_repeat {            what differs: argument structs, constants, places
 *           uint32_t step;
 *           const qn_norm_args *attn_norm_args;
 *           uint32_t k;                          a state, or elements that are added to a place
 *   } net_blk_1_repeat;
 *   static const net_blk_1_repeat net_blk_1_repeats[4] = {…
 *   static void net_blk_1_run(const net_blk_1_repeat *one, net_state *state, int8_t *s) {…
 *
 * Steps are equal when their statements are, but for what is named above (repeat_refs.h).  A call is about 32
 * bytes of code on a Cortex-M4, an entry of the table 4. */
#include "codegen/repeat_refs.h"
#include "codegen/emitter.h"
#include "codegen/repeats.h"

#include <string.h>

enum { CALL_BYTES = 32, ENTRY_BYTES = 4, FUNCTION_BYTES = 64 };
enum { LEAST_GAIN = 1536, LEAST_GAIN_SIZE = 256 };

/* A member of the table: the references in the same place of every time. */
typedef struct member {
	const char *name;
	const qn_repeat_ref *ref; /* of the first time */
	size_t column;
} member;

typedef struct repeat {
	qn_emitter *e;
	const qn_repeat_refs *refs;
	qn_repeat r;
	size_t nref;      /* of one time */
	member *member;   /* in order of first use */
	uint32_t *of_ref; /* the member of a reference, plus 1; 0: it is the same every time */
	size_t nmember;
	const char *prefix; /* that the names of all its steps have, without the '_' after it */
	const char *type, *table, *function;
} repeat;

static const qn_repeat_ref *
ref_of(const repeat *x, size_t k, size_t column)
{
	return &x->refs->ref[x->refs->first[k * x->r.length] + column];
}

static bool
same_column(const repeat *x, size_t i, size_t j)
{
	for (size_t k = 0; k < x->r.count; k++)
		if (!qn_repeat_ref_equal(ref_of(x, k, i), ref_of(x, k, j)))
			return false;
	return true;
}

static bool
is_constant(const repeat *x, size_t column)
{
	for (size_t k = 1; k < x->r.count; k++)
		if (!qn_repeat_ref_equal(ref_of(x, 0, column), ref_of(x, k, column)))
			return false;
	return true;
}

/* Members for the references that differ; those that differ in the same way share one. */
static void
find_members(repeat *x)
{
	qn_arena *a = x->e->arena;

	x->nref = x->refs->first[x->r.length];
	x->member = QN_NEW(a, member, x->nref + 1);
	x->of_ref = QN_NEW(a, uint32_t, x->nref + 1);
	for (size_t i = 0; i < x->nref; i++) {
		uint32_t m = 0;

		if (ref_of(x, 0, i)->kind == QN_REF_TRACE || is_constant(x, i))
			continue;
		while (m < x->nmember && !same_column(x, i, x->member[m].column))
			m++;
		if (m == x->nmember)
			x->member[x->nmember++] = (member){.ref = ref_of(x, 0, i), .column = i};
		x->of_ref[i] = m + 1;
	}
}

/* Characters that the names of these steps begin with, up to the last '_'. */
static size_t
common_prefix(const qn_step *s, size_t n)
{
	size_t most = strlen(s[0].name);

	for (size_t i = 1; i < n; i++) {
		size_t k = 0;

		while (k < most && s[i].name[k] == s[0].name[k])
			k++;
		most = k;
	}
	while (most > 0 && s[0].name[most] != '_')
		most--;
	return most;
}

/* Where several begins save as much: that whose steps have the longest common prefix, which is most likely what the
 * author of the network calls a block. */
static void
choose_begin(repeat *x)
{
	const qn_step *step = x->e->plan->step;
	const size_t first = x->r.begin;
	size_t best = 0;

	for (size_t i = first; i <= first + x->r.slack; i++) {
		const size_t n = common_prefix(&step[i], x->r.length);

		if (n > best)
			x->r.begin = i;
		best = n > best ? n : best;
	}
	x->prefix = qn_arena_strn(x->e->arena, step[x->r.begin].name, best);
}

static const char *
symbol(const repeat *x, const char *base, const char *suffix)
{
	qn_emitter *e = x->e;
	qn_buf b, full;

	qn_buf_init(&b, e->arena);
	qn_buff(&b, "%s_%s", base, suffix);
	qn_buf_init(&full, e->arena);
	qn_buff(&full, "%s_%s", e->plan->name, qn_names_add(&e->names, qn_buf_str(&b)));
	return qn_buf_str(&full);
}

/* "attn_norm_args" for net_blk_1_attn_norm_args. */
static const char *
member_base(const repeat *x, const qn_repeat_ref *ref)
{
	const size_t skip = strlen(x->e->plan->name) + 1, n = strlen(x->prefix);
	const char *name = qn_repeat_ref_text(x->refs, ref);

	if (ref->kind == QN_REF_OFFSET)
		return "at";
	if (ref->kind == QN_REF_BYTES)
		return "bytes";
	if (ref->kind != QN_REF_STATE)
		name += skip;
	return n > 0 && strncmp(name, x->prefix, n) == 0 && name[n] == '_' ? name + n + 1 : name;
}

static void
name_all(repeat *x)
{
	const char *base = x->prefix[0] != '\0' ? x->prefix : x->e->plan->step[x->r.begin].name;
	qn_names names;

	x->type = symbol(x, base, "repeat");
	x->table = symbol(x, base, "repeats");
	x->function = symbol(x, base, "run");
	qn_names_init_as(&names, x->e->arena, QN_NAME_MEMBER, NULL);
	(void)qn_names_add(&names, "step");
	for (size_t m = 0; m < x->nmember; m++)
		x->member[m].name = qn_names_add(&names, member_base(x, x->member[m].ref));
}

/* ---- printing ---- */

static void
put_type(const repeat *x, qn_buf *b)
{
	qn_buff(b, "typedef struct %s {\n\tuint32_t step; /* the first one */\n", x->type);
	for (size_t m = 0; m < x->nmember; m++) {
		const qn_repeat_ref *ref = x->member[m].ref;

		const char *type = qn_repeat_ref_type(x->refs, ref).type;

		if (type != NULL)
			qn_buff(b, "\tconst %s *%s;\n", type, x->member[m].name);
		else
			qn_buff(b, "\tuint32_t %s;%s\n", x->member[m].name,
				ref->kind == QN_REF_STATE ? " /* a state */" : "");
	}
	qn_buff(b, "} %s;\n\n", x->type);
}

static void
put_entry(const repeat *x, const qn_repeat_ref *ref, qn_buf *b)
{
	const char *text = qn_repeat_ref_text(x->refs, ref);

	if (ref->kind == QN_REF_STATE)
		qn_buff(b, "(uint32_t)offsetof(%s_state, %s)", x->e->plan->name, text);
	else
		qn_buff(b, "%s%s", ref->kind == QN_REF_STRUCT ? "&" : "", text);
}

static void
put_table(const repeat *x, qn_buf *b)
{
	qn_buff(b, "static const %s %s[%zu] = {\n", x->type, x->table, x->r.count);
	for (size_t k = 0; k < x->r.count; k++) {
		qn_buff(b, "\t{\n\t\t%zu,\n", x->r.begin + k * x->r.length);
		for (size_t m = 0; m < x->nmember; m++) {
			qn_buf_puts(b, "\t\t");
			put_entry(x, ref_of(x, k, x->member[m].column), b);
			qn_buf_puts(b, ",\n");
		}
		qn_buf_puts(b, "\t},\n");
	}
	qn_buf_puts(b, "};\n\n");
}

/* What stands in the function for a reference. */
static void
put_ref(const repeat *x, const qn_repeat_ref *ref, uint32_t of, qn_buf *b)
{
	const char *name = of > 0 ? x->member[of - 1].name : NULL;

	if (ref->kind == QN_REF_TRACE)
		qn_buff(b, "one->step + %zu", ref->step - x->r.begin);
	else if (name == NULL)
		qn_buf_put(b, ref->at, ref->n);
	else if (ref->kind == QN_REF_OFFSET)
		qn_buff(b, "%sone->%s", ref->n == 0 ? " + " : "", name);
	else if (ref->kind == QN_REF_STATE)
		qn_buff(b, "((%s *)(void *)((char *)state + one->%s))",
			qn_repeat_ref_type(x->refs, ref).element, name);
	else
		qn_buff(b, ref->kind == QN_REF_STRUCT && *ref->at != '&' ? "(*one->%s)" : "one->%s",
			name);
}

/* The statements of the first time, for every one. */
static void
put_statements(const repeat *x, qn_buf *b)
{
	const size_t *from = &x->refs->at[x->r.begin];
	const char *at = x->e->run.data + from[0], *end = x->e->run.data + from[x->r.length];

	for (size_t i = 0; i < x->nref; i++) {
		const qn_repeat_ref *ref = ref_of(x, 0, i);

		qn_buf_put(b, at, (size_t)(ref->at - at));
		put_ref(x, ref, x->of_ref[i], b);
		at = ref->at + ref->n;
	}
	qn_buf_put(b, at, (size_t)(end - at));
}

/* A parameter of NAME_run that the statements may need. */
typedef struct parameter {
	const char *name, *before, *after; /* "const " net "_inputs *in" */
} parameter;

static const parameter parameters[] = {
	{"state", "", "_state *"},
	{"s", NULL, "int8_t *"},
	{"in", "const ", "_inputs *"},
	{"out", "", "_outputs *"},
};

static void
put_parameters(const repeat *x, const qn_buf *text, bool types, qn_buf *b)
{
	for (size_t i = 0; i < QN_COUNT(parameters); i++) {
		const parameter *p = &parameters[i];

		if (!qn_code_has_word(text->data, text->n, p->name))
			continue;
		qn_buf_puts(b, ", ");
		if (types && p->before != NULL)
			qn_buff(b, "%s%s", p->before, x->e->plan->name);
		qn_buff(b, "%s%s", types ? p->after : "", p->name);
	}
}

static void
put_title(const repeat *x, qn_buf *b)
{
	const qn_plan *p = x->e->plan;
	const qn_step *first = &p->step[x->r.begin], *last = first + x->r.length - 1;

	qn_emit_comment(b, qn_graph_node(x->e->g, first->core)->name);
	if (last == first)
		return;
	qn_buf_puts(b, " to ");
	qn_emit_comment(b, qn_graph_node(x->e->g, last->core)->name);
}

/* The function with its table goes to e->repeats, the loop that calls it to `run`. */
static void
put_repeat(repeat *x, qn_buf *run)
{
	qn_buf text, *b = &x->e->repeats;

	qn_buf_init(&text, x->e->arena);
	put_statements(x, &text);
	qn_buf_puts(b, "\n/* The steps from ");
	put_title(x, b);
	qn_buff(b, ", which come %zu times: what differs, and what does not. */\n", x->r.count);
	put_type(x, b);
	put_table(x, b);
	qn_buff(b, "static void\n%s(const %s *one", x->function, x->type);
	put_parameters(x, &text, true, b);
	qn_buf_puts(b, ")\n{\n");
	const size_t empty = b->n;
	qn_emit_windows(x->e, qn_buf_str(&text), text.n, b);
	if (x->nmember == 0)
		qn_buf_puts(b, "\t(void)one;\n");
	const size_t skip = b->n == empty; /* the empty line before the first comment */
	qn_buf_put(b, text.data + skip, text.n - skip);
	qn_buf_puts(b, "}\n");

	qn_buf_puts(run, "\n\t/* ");
	put_title(x, run);
	qn_buff(run, ", %zu times */\n\tfor (int i = 0; i < %zu; i++)\n\t\t%s(&%s[i]", x->r.count,
		x->r.count, x->function, x->table);
	put_parameters(x, &text, false, run);
	qn_buf_puts(run, ");\n");
}

/* ---- which ---- */

/* What a compiler knows of the arguments of a kernel that few steps call, it does not know when a table has them: 5 to 15
 * percent more instructions in networks of three or four blocks. */
static size_t
least_gain(const qn_emitter *e)
{
	return e->plan->optimize == QN_OPTIMIZE_SIZE ? LEAST_GAIN_SIZE : LEAST_GAIN;
}

static bool
pays(const repeat *x, const uint32_t *weight)
{
	const size_t n = x->r.count;
	size_t calls = 0;

	for (size_t i = 0; i < x->r.length; i++)
		calls += weight[x->r.begin + i];
	return CALL_BYTES * calls * (n - 1) >
	       ENTRY_BYTES * (x->nmember + 1) * n + FUNCTION_BYTES + least_gain(x->e);
}

/* Moves those that pay out of e->run, and gives what is left of it. */
static void
move(qn_emitter *e, qn_repeat_refs *refs, const uint32_t *weight, size_t count,
     const qn_repeat *list, qn_buf *run)
{
	const size_t *at = refs->at;
	size_t done = 0;

	for (size_t i = 0; i < count; i++) {
		repeat x = {.e = e, .refs = refs, .r = list[i]};

		choose_begin(&x);
		if (!qn_repeat_refs_read(refs, &x.r))
			continue;
		find_members(&x);
		if (!pays(&x, weight))
			continue;
		name_all(&x);
		qn_buf_put(run, e->run.data + at[done], at[x.r.begin] - at[done]);
		put_repeat(&x, run);
		done = x.r.begin + x.r.length * x.r.count;
	}
	if (done > 0)
		qn_buf_put(run, e->run.data + at[done], e->run.n - at[done]);
}

void
qn_emit_repeats(qn_emitter *e, const size_t *at)
{
	const size_t n = e->plan->nstep;
	qn_arena *tmp = qn_arena_child(e->arena);
	uint32_t *weight = QN_NEW(tmp, uint32_t, n + 1);
	qn_repeat_refs refs;
	qn_repeat *list;
	qn_buf run;

	for (size_t i = 0; i < n; i++)
		weight[i] = e->plan->step[i].alias == 0;
	qn_repeat_refs_init(&refs, e, at, tmp);
	const uint32_t *number = qn_repeat_refs_numbers(&refs);
	const size_t count =
		qn_repeats_find(number, weight, n, least_gain(e) / CALL_BYTES, tmp, &list);
	qn_buf_init(&run, e->arena);
	move(e, &refs, weight, count, list, &run);
	if (run.n > 0)
		e->run = run;
	qn_arena_release(tmp);
}
