/* SPDX-License-Identifier: Apache-2.0 */
/* repeat_refs.c - see repeat_refs.h. */
#include "codegen/repeat_refs.h"

#include <string.h>

/* What a word is. */
typedef struct meaning {
	qn_ref_kind kind;
	qn_ref_type is;
} meaning;

static void
add_symbol(qn_repeat_refs *x, const char *name, size_t id)
{
	qn_hashes_add(&x->symbols, qn_hash(name, strlen(name), 0), (uint32_t)id);
}

void
qn_repeat_refs_init(qn_repeat_refs *x, const qn_emitter *e, const size_t *at, qn_arena *a)
{
	qn_buf b;

	*x = (qn_repeat_refs){.e = e, .at = at, .arena = a};
	qn_hashes_init(&x->symbols, a);
	for (size_t i = 0; i < e->nconstant; i++)
		add_symbol(x, e->constant[i].name, i + 1);
	for (size_t i = 0; i < e->ntext; i++)
		add_symbol(x, e->text[i].symbol, e->nconstant + i + 1);
	qn_buf_init(&b, a);
	qn_buff(&b, "%s_TRACED", e->macro);
	x->trace = qn_buf_str(&b);
}

static bool
is_word(const char *word, const char *end, const char *what)
{
	return (size_t)(end - word) == strlen(what) && memcmp(word, what, strlen(what)) == 0;
}

static bool
find_symbol(const qn_repeat_refs *x, const char *word, const char *end, meaning *out)
{
	const qn_emitter *e = x->e;
	const uint32_t hash = qn_hash(word, (size_t)(end - word), 0);
	uint32_t id;

	for (size_t at = 0; (id = qn_hashes_next(&x->symbols, hash, &at)) != 0;) {
		const qn_constant *c = id <= e->nconstant ? &e->constant[id - 1] : NULL;
		const qn_args_text *t = c == NULL ? &e->text[id - 1 - e->nconstant] : NULL;

		if (!is_word(word, end, c != NULL ? c->name : t->symbol))
			continue;
		out->kind = c == NULL && t->count == 0 ? QN_REF_STRUCT : QN_REF_CONSTANT;
		out->is = (qn_ref_type){c != NULL ? qn_ctype(c->type) : t->type, NULL};
		return true;
	}
	return false;
}

static bool
find_state(const qn_repeat_refs *x, const char *word, const char *end, meaning *out)
{
	for (size_t k = 0; k < x->e->g->nstate; k++) {
		const qn_port t = qn_state_port_of(x->e, k);

		if (!is_word(word, end, t.name))
			continue;
		*out = (meaning){QN_REF_STATE, {NULL, qn_ctype(qn_stored_plain(t.type))}};
		return true;
	}
	return false;
}

static bool
ends_with(const char *text, const char *at, const char *what)
{
	const size_t n = strlen(what);

	return (size_t)(at - text) >= n && memcmp(at - n, what, n) == 0;
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
refers(const qn_repeat_refs *x, const char *text, const char *word, const char *end,
       qn_repeat_ref *ref)
{
	static const char state[] = "state->";
	const bool of_state = ends_with(text, word, state);
	const char *before = of_state ? word - strlen(state) : word;
	meaning m;

	if (of_state ? !find_state(x, word, end, &m) : !find_symbol(x, word, end, &m))
		return false;
	if (m.kind == QN_REF_STRUCT && ends_with(text, word, "&"))
		before = word - 1;
	*ref = (qn_repeat_ref){
		.kind = (uint8_t)m.kind, .at = before, .n = (uint16_t)(end - before)};
	return true;
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

qn_ref_type
qn_repeat_ref_type(const qn_repeat_refs *x, const qn_repeat_ref *ref)
{
	meaning m = {QN_REF_OFFSET, {NULL, NULL}};
	size_t n;
	const char *text = text_of(ref, &n);

	if (ref->kind == QN_REF_STATE)
		(void)find_state(x, text, text + n, &m);
	else if (ref->kind == QN_REF_STRUCT || ref->kind == QN_REF_CONSTANT)
		(void)find_symbol(x, text, text + n, &m);
	return m.is;
}

/* The statements of a step while they are read. */
typedef struct reader {
	qn_repeat_refs *x;
	bool keeps; /* the references are wanted, not only the mask */
	size_t step;
	qn_buf mask; /* the statements without what they refer to */
} reader;

static void
add_ref(reader *r, qn_repeat_ref ref)
{
	qn_repeat_refs *x = r->x;

	if (!r->keeps)
		return;
	ref.step = (uint32_t)r->step;
	x->ref = qn_arena_grow(x->arena, x->ref, &x->cap, x->n + 1, sizeof(*x->ref));
	x->ref[x->n++] = ref;
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
	const qn_ref_type is = qn_repeat_ref_type(r->x, &ref);
	if (is.type != NULL || is.element != NULL)
		qn_buff(&r->mask, "%s\7", is.type != NULL ? is.type : is.element);
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
	qn_ref_kind kind;

	while ((word = qn_code_word(&s, end)) != NULL) {
		const bool number = *word >= '0' && *word <= '9';

		if (number && number_refers(text, word, s, word == added, traced, &kind))
			take(r, &from,
			     (qn_repeat_ref){
				     .kind = (uint8_t)kind, .at = word, .n = (uint16_t)(s - word)});
		else if (!number && refers(r->x, text, word, s, &ref))
			take(r, &from, ref);
		if (is_word(word, s, r->x->trace))
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

/* The mask of a step, whose statements begin after its comment; false: they do not stand alone, as those of a loop. */
static bool
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
		return false;
	read_statements(r, title + strlen(close), end);
	return true;
}

uint32_t *
qn_repeat_refs_numbers(qn_repeat_refs *x)
{
	const size_t n = x->e->plan->nstep;
	uint32_t *number = QN_NEW(x->arena, uint32_t, n + 1);
	uint32_t *second = QN_NEW(x->arena, uint32_t, n + 1); /* another hash of the same */
	reader r = {.x = x};
	qn_hashes masks;

	qn_hashes_init(&masks, x->arena);
	qn_buf_init(&r.mask, x->arena);
	for (size_t i = 0; i < n; i++) {
		if (!read_step(&r, i))
			continue;
		const uint32_t hash = qn_hash(r.mask.data, r.mask.n, 0);
		uint32_t id;

		second[i] = qn_hash(r.mask.data, r.mask.n, 1);
		for (size_t at = 0; (id = qn_hashes_next(&masks, hash, &at)) != 0;)
			if (second[id - 1] == second[i])
				break;
		number[i] = id != 0 ? id : (uint32_t)i + 1;
		if (id == 0)
			qn_hashes_add(&masks, hash, number[i]);
	}
	return number;
}

bool
qn_repeat_refs_read(qn_repeat_refs *x, const qn_repeat *r)
{
	const char **mask = QN_NEW(x->arena, const char *, r->length);
	reader one = {.x = x, .keeps = true};

	x->n = 0;
	x->first = QN_NEW(x->arena, size_t, r->length * r->count + 1);
	qn_buf_init(&one.mask, x->arena);
	for (size_t i = 0; i < r->length * r->count; i++) {
		if (!read_step(&one, r->begin + i))
			return false;
		x->first[i + 1] = x->n;
		if (i < r->length)
			mask[i] = qn_arena_strn(x->arena, one.mask.data, one.mask.n);
		else if (strcmp(mask[i % r->length], qn_buf_str(&one.mask)) != 0)
			return false;
	}
	return true;
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
