/* SPDX-License-Identifier: Apache-2.0 */
/* repeat_refs.c - see repeat_refs.h. */
#include "codegen/repeat_refs.h"

#include <string.h>

/* What a symbol is. */
typedef struct meaning {
	qn_ref_kind kind;
	const char *type, *element;
} meaning;

typedef struct reader {
	qn_repeat_refs *x;
	qn_arena *arena;
	qn_map symbol, state; /* meanings */
	qn_buf trace;         /* "NET_TRACED" */
	qn_buf mask;          /* the statements without what they refer to */
	const char **masks;   /* of the numbers given so far, counted from 1 */
	size_t nmask, mask_cap;
	qn_hashes by_mask;
	size_t step;
} reader;

static void
add_meaning(reader *r, qn_map *to, const char *name, meaning m)
{
	if (qn_map_gets(to, name) == NULL)
		qn_map_puts(to, name, qn_arena_copy(r->arena, &m, sizeof(m)));
}

static void
read_symbols(reader *r)
{
	const qn_emitter *e = r->x->e;

	for (size_t i = 0; i < e->nconstant; i++)
		add_meaning(r, &r->symbol, e->constant[i].name,
			    (meaning){QN_REF_CONSTANT, qn_ctype(e->constant[i].type), NULL});
	for (size_t i = 0; i < e->ntext; i++)
		add_meaning(r, &r->symbol, e->text[i].symbol,
			    (meaning){e->text[i].count == 0 ? QN_REF_STRUCT : QN_REF_CONSTANT,
				      e->text[i].type, NULL});
	for (size_t k = 0; k < e->g->nstate; k++) {
		const qn_port t = qn_state_port_of(e, k);

		add_meaning(r, &r->state, t.name,
			    (meaning){QN_REF_STATE, NULL, qn_ctype(qn_stored_plain(t.type))});
	}
	qn_buff(&r->trace, "%s_TRACED", e->macro);
}

static void
add_ref(reader *r, qn_repeat_ref ref)
{
	qn_repeat_refs *x = r->x;

	ref.step = r->step;
	x->ref = qn_arena_grow(r->arena, x->ref, &x->cap, x->n + 1, sizeof(*x->ref));
	x->ref[x->n++] = ref;
}

static bool
ends_with(const char *text, const char *at, const char *what)
{
	const size_t n = strlen(what);

	return (size_t)(at - text) >= n && memcmp(at - n, what, n) == 0;
}

static bool
is_word(const char *word, const char *end, const char *what)
{
	return (size_t)(end - word) == strlen(what) && memcmp(word, what, strlen(what)) == 0;
}

/* Whether the word names a place that bytes can be added to. */
static bool
is_place(const char *text, const char *word, const char *end)
{
	return ends_with(text, word, "in->") || ends_with(text, word, "out->") ||
	       ends_with(text, word, "state->") ||
	       (is_word(word, end, "s") && !ends_with(text, word, ".") &&
		!ends_with(text, word, ">"));
}

/* What the word at `word` refers to; false: nothing.  The reference may begin before it. */
static bool
refers(const reader *r, const char *text, const char *word, const char *end, qn_repeat_ref *ref)
{
	static const char state[] = "state->";
	const meaning *m = qn_map_get(&r->symbol, word, (size_t)(end - word));
	const char *before = word;

	if (m == NULL && ends_with(text, word, state)) {
		m = qn_map_get(&r->state, word, (size_t)(end - word));
		before = word - strlen(state);
	}
	if (m == NULL)
		return false;
	if (m->kind == QN_REF_STRUCT && ends_with(text, word, "&"))
		before = word - 1;
	*ref = (qn_repeat_ref){.kind = m->kind,
			       .at = before,
			       .n = (size_t)(end - before),
			       .type = m->type,
			       .element = m->element};
	return true;
}

/* A reference: the statements before it go to the mask, and a sign for it. */
static void
take(reader *r, const char **from, qn_repeat_ref ref)
{
	static const char sign[] = {
		[QN_REF_STRUCT] = '\1', [QN_REF_CONSTANT] = '\2', [QN_REF_STATE] = '\3',
		[QN_REF_OFFSET] = '\4', [QN_REF_TRACE] = '\5',    [QN_REF_BYTES] = '\6'};

	qn_buf_put(&r->mask, *from, (size_t)(ref.at - *from));
	qn_buf_puts(&r->mask, ref.kind == QN_REF_OFFSET && ref.n == 0 ? " + " : "");
	qn_buf_putc(&r->mask, sign[ref.kind]);
	if (ref.type != NULL || ref.element != NULL)
		qn_buff(&r->mask, "%s\7", ref.type != NULL ? ref.type : ref.element);
	add_ref(r, ref);
	*from = ref.at + ref.n;
}

/* What the number from word to end refers to; added: a place stands before it; traced: it is an argument of the trace. */
static bool
number_refers(const char *text, const char *word, const char *end, bool added, bool traced,
	      qn_ref_kind *kind)
{
	*kind = QN_REF_OFFSET;
	if (traced && ends_with(text, word, "("))
		*kind = QN_REF_TRACE;
	else if (traced && *end == ')')
		*kind = QN_REF_BYTES;
	else
		return added || ends_with(text, word, ") + ");
	return true;
}

/* The statements from text to end. */
static void
read_statements(reader *r, const char *text, const char *end)
{
	const char *from = text, *s = text, *word, *added = NULL;
	bool traced = false; /* the arguments of the macro come */
	qn_repeat_ref ref;

	while ((word = qn_code_word(&s, end)) != NULL) {
		const bool number = *word >= '0' && *word <= '9';

		ref = (qn_repeat_ref){.at = word, .n = (size_t)(s - word)};
		if (number && number_refers(text, word, s, word == added, traced, &ref.kind))
			take(r, &from, ref);
		else if (!number && refers(r, text, word, s, &ref))
			take(r, &from, ref);
		if (is_word(word, s, qn_buf_str(&r->trace)))
			traced = true;
		if (*s == ';')
			traced = false;
		if (!is_place(text, word, s))
			continue;
		if (end - s > 3 && memcmp(s, " + ", 3) == 0)
			added = s + 3;
		else
			take(r, &from, (qn_repeat_ref){.kind = QN_REF_OFFSET, .at = s});
	}
	qn_buf_put(&r->mask, from, (size_t)(end - from));
}

/* The number of the mask: that of an equal one. */
static uint32_t
number_of(reader *r)
{
	const uint32_t hash = qn_hash(r->mask.data, r->mask.n, 0);
	uint32_t id;

	for (size_t at = 0; (id = qn_hashes_next(&r->by_mask, hash, &at)) != 0;)
		if (strcmp(r->masks[id - 1], qn_buf_str(&r->mask)) == 0)
			return id;
	r->masks = qn_arena_grow(r->arena, r->masks, &r->mask_cap, r->nmask + 1, sizeof(*r->masks));
	r->masks[r->nmask++] = qn_arena_strn(r->arena, r->mask.data, r->mask.n);
	qn_hashes_add(&r->by_mask, hash, (uint32_t)r->nmask);
	return (uint32_t)r->nmask;
}

/* The statements of a step begin after its comment; those of a loop do not stand alone. */
static void
read_step(reader *r, size_t i)
{
	static const char close[] = "*/\n";
	const qn_emitter *e = r->x->e;
	const qn_step *s = &e->plan->step[i];
	const char *text = e->run.data + r->x->at[i], *end = e->run.data + r->x->at[i + 1];
	const char *title = strstr(text, close);

	r->step = i;
	r->mask.n = 0;
	if ((e->loops.n > 0 && e->loops.with[s->node] != 0) || title == NULL || title >= end)
		return;
	read_statements(r, title + strlen(close), end);
	r->x->same[i] = number_of(r);
}

void
qn_repeat_refs_read(qn_repeat_refs *x, const qn_emitter *e, const size_t *at)
{
	const size_t n = e->plan->nstep;
	reader r = {.x = x, .arena = e->arena};

	*x = (qn_repeat_refs){.e = e, .at = at};
	x->first = QN_NEW(e->arena, size_t, n + 1);
	x->same = QN_NEW(e->arena, uint32_t, n + 1);
	qn_map_init(&r.symbol, e->arena);
	qn_map_init(&r.state, e->arena);
	qn_hashes_init(&r.by_mask, e->arena);
	qn_buf_init(&r.trace, e->arena);
	qn_buf_init(&r.mask, e->arena);
	read_symbols(&r);
	for (size_t i = 0; i < n; i++) {
		read_step(&r, i);
		x->first[i + 1] = x->n;
	}
}

/* Where its symbol begins, and its bytes. */
static const char *
text_of(const qn_repeat_ref *ref, size_t *n)
{
	const size_t skip = ref->kind == QN_REF_STATE                       ? strlen("state->")
			    : ref->kind == QN_REF_STRUCT && *ref->at == '&' ? 1
									    : 0;

	*n = ref->n - skip;
	return ref->n > 0 ? ref->at + skip : "0";
}

const char *
qn_repeat_ref_text(const qn_repeat_refs *x, const qn_repeat_ref *ref)
{
	size_t n;
	const char *text = text_of(ref, &n);

	return qn_arena_strn(x->e->arena, text, n > 0 ? n : 1);
}

bool
qn_repeat_ref_equal(const qn_repeat_ref *a, const qn_repeat_ref *b)
{
	size_t n, m;
	const char *p = text_of(a, &n), *q = text_of(b, &m);

	return a->kind == b->kind && n == m && memcmp(p, q, n > 0 ? n : 1) == 0;
}
