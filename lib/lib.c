/* SPDX-License-Identifier: Apache-2.0 */
/* lib.c - finds compositions by name (files.c has read them) and walks them: operands and attributes by name, then the
 * statements. */
#include "lib/lib.h"

#include <string.h>

#include "ir/limits.h"
#include "lib/parser.h"

enum { READ_AT_ONCE = 16 }; /* bytes of text that take as long as one of these */

static bool
may(qn_lib_walk *w, uint64_t n, uint64_t bytes)
{
	if (n <= w->lib->work && bytes <= w->lib->room) {
		w->lib->room -= bytes;
		w->lib->work -= n;
		return true;
	}
	w->lib->work = 0;
	return qn_lib_fail(w, "lib.work",
			   "the compositions of this model compute too much; shorten their loops, "
			   "or allow more (--import-limit)");
}

bool
qn_lib_may(qn_lib_walk *w, uint64_t n)
{
	return may(w, n, n > 1 ? n * sizeof(qn_item) : 0);
}

bool
qn_lib_may_look(qn_lib_walk *w, size_t n)
{
	return may(w, n, 0);
}

bool
qn_lib_may_read(qn_lib_walk *w, size_t bytes)
{
	return may(w, bytes / READ_AT_ONCE, 0);
}

const char *
qn_lib_place(const qn_lib_walk *w)
{
	const qn_lib_file *file = w->def->file;
	qn_text t = w->r.text;
	size_t low = 0, high = file->nline;
	qn_buf b;

	if (w->at != NULL)
		t.at = w->at;
	qn_text_skip(&t);
	const size_t at = (size_t)(t.at - file->text);
	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;

		if (file->line[middle] <= at)
			low = middle;
		else
			high = middle;
	}
	qn_buf_init(&b, w->lib->a);
	qn_buff(&b, "%s:%zu:%zu", file->name, low + 1, at - file->line[low] + 1);
	return qn_buf_str(&b);
}

bool
qn_lib_fail(qn_lib_walk *w, const char *id, const char *fmt, ...)
{
	const qn_lib_host *host = w->lib->host;
	va_list args;
	qn_buf b;

	qn_buf_init(&b, w->lib->a);
	va_start(args, fmt);
	qn_bufvf(&b, fmt, args);
	va_end(args);
	if (host != NULL)
		host->refuse(host->user, id, qn_lib_place(w), qn_buf_str(&b));
	else
		(void)qn_report(w->lib->m->env, QN_EINVALID, id, qn_lib_place(w), "%s",
				qn_buf_str(&b));
	return false;
}

/* ---- names ---- */

static bool
is_letter(char c, bool first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (!first && c >= '0' && c <= '9');
}

const char *
qn_lib_intern(qn_lib *lib, const char *s, size_t n)
{
	char *kept = qn_map_get(&lib->words, s, n);

	if (kept == NULL) {
		kept = qn_arena_strn(lib->words.arena, s, n);
		qn_map_put(&lib->words, s, n, kept);
	}
	return kept;
}

/* The name at the cursor with `lead` characters before it. */
static const char *
name_at(qn_lib_walk *w, size_t lead)
{
	qn_text *t = &w->r.text;
	const char *from = t->at, *at = from + lead;

	while (at < t->end && is_letter(*at, at == from + lead))
		at++;
	if (at == from + lead)
		return NULL;
	t->at = at;
	return qn_lib_intern(w->lib, from, (size_t)(at - from));
}

const char *
qn_lib_word(qn_lib_walk *w)
{
	qn_text_skip(&w->r.text);
	return name_at(w, 0);
}

const char *
qn_lib_value_name(qn_lib_walk *w)
{
	const char *name = qn_text_peek(&w->r.text, "%") ? name_at(w, 1) : NULL;

	if (name == NULL)
		(void)qn_read_fail(&w->r, "expected '%%' and a name without dots");
	return name;
}

bool
qn_lib_quoted(qn_lib_walk *w, const char **out)
{
	const char *const from = w->r.text.at;
	const char *end = from + 1;

	*out = "";
	if (w->mode == QN_LIB_CHECK)
		return qn_read_quoted(&w->r, out);
	while (end < w->r.text.end && *end != '"' && *end != '\\')
		end++;
	if (end == w->r.text.end || *end != '"')
		return qn_read_quoted(&w->r, out);
	w->r.text.at = end + 1;
	if (w->mode == QN_LIB_RUN)
		*out = qn_lib_intern(w->lib, from + 1, (size_t)(end - from - 1));
	return true;
}

const qn_item *
qn_lib_var(const qn_lib_walk *w, const char *name)
{
	return qn_map_gets(&w->vars, name);
}

void
qn_lib_set(qn_lib_walk *w, const char *name, const qn_item *x)
{
	qn_item *kept = qn_map_gets(&w->vars, name);

	if (kept == NULL) {
		kept = QN_NEW(w->lib->a, qn_item, 1);
		qn_map_puts(&w->vars, name, kept);
	}
	*kept = *x;
	if (w->mode == QN_LIB_CHECK && name[0] != '%' && qn_map_gets(&w->def->names, name) == NULL)
		qn_map_puts(&w->def->names, name, w->def);
}

/* ---- walks ---- */

static void
begin(qn_lib_walk *w, qn_lib *lib, qn_lib_def *def, qn_lib_mode mode)
{
	*w = (qn_lib_walk){.lib = lib, .def = def, .mode = mode};
	w->r = (qn_reader){.m = lib->m, .line = 1, .syntax_id = "lib.syntax"};
	qn_text_init(&w->r.text, def->file->name, def->file->text, def->file->n);
	w->r.counted = w->r.line_start = def->file->text;
	qn_map_init(&w->vars, lib->a);
	w->r.text.at += def->body - 1; /* "{" */
}

bool
qn_lib_check_def(qn_lib *lib, qn_lib_def *def)
{
	qn_lib_walk w;

	if (def->checked)
		return true;
	def->checked = true;
	begin(&w, lib, def, QN_LIB_CHECK);
	qn_lib_set(&w, "results", &(qn_item){.kind = QN_ITEM_ANY});
	qn_lib_set(&w, "version", &(qn_item){.kind = QN_ITEM_ANY});
	qn_lib_set(&w, "limit", &(qn_item){.kind = QN_ITEM_ANY});
	qn_lib_set(&w, "declared", &(qn_item){.kind = QN_ITEM_ANY});
	for (size_t i = 0; i < def->nparam; i++)
		qn_lib_set(&w, def->param[i].name, &(qn_item){.kind = QN_ITEM_ANY});
	for (size_t i = 0; i < def->nsetting; i++)
		qn_lib_set(&w, def->setting[i].name, &(qn_item){.kind = QN_ITEM_ANY});
	return qn_lib_block(&w);
}

qn_lib_def *
qn_lib_find(qn_lib *lib, bool added, const char *name)
{
	qn_lib_def *def = added ? qn_map_gets(&lib->added, name) : NULL;

	return def != NULL ? def : qn_map_gets(&lib->defs, name);
}

/* added: where no other graph calls it, whether it is one of the files that were added. */
static bool
expand(qn_lib *lib, qn_lib_walk *caller, bool added, const char *name, size_t noperand,
       const qn_item *operand, size_t nattr, const qn_lib_attr *attr, size_t wanted, qn_item *out)
{
	qn_lib_def *def = qn_lib_find(lib, caller != NULL ? caller->def->file->added : added, name);
	const uint64_t deepest = qn_limit(lib->m->env, QN_LIMIT_NESTING);
	qn_lib_walk w;

	if (def == NULL && caller != NULL)
		return qn_lib_fail(caller, "lib.name", "no composition is called '@%s'", name);
	if (def == NULL) {
		lib->host->refuse(lib->host->user, "lib.name", NULL,
				  "its composition is not there");
		return false;
	}
	if (caller != NULL && caller->mode == QN_LIB_CHECK) {
		*out = (qn_item){.kind = QN_ITEM_ANY};
		return true;
	}
	if (!qn_lib_check_def(lib, def))
		return false;
	begin(&w, lib, def, QN_LIB_RUN);
	w.wanted = wanted;
	w.target = caller != NULL ? caller->target : NULL;
	w.strict = caller != NULL || def->file->added;
	qn_lib_set(&w, "results", &(qn_item){.kind = QN_ITEM_INT, .i = (int64_t)wanted});
	qn_lib_set(&w, "version", &(qn_item){.kind = QN_ITEM_INT, .i = lib->version});
	qn_lib_set(&w, "limit", &(qn_item){.kind = QN_ITEM_INT, .i = lib->times});
	qn_lib_set(&w, "declared", &lib->declared);
	if (lib->depth >= QN_MAX_CALLS || (uint64_t)lib->depth >= deepest)
		return qn_lib_fail(caller != NULL ? caller : &w, "limit.nesting",
				   "compositions call each other more than %d deep", lib->depth);
	lib->depth++;
	const char *const body = w.r.text.at;
	const bool ok = qn_lib_bind(&w, operand, noperand, attr, nattr) && qn_lib_block(&w) &&
			qn_lib_may_read(&w, (size_t)(w.r.text.at - body));
	lib->depth--;
	if (ok && !w.returned)
		return qn_lib_fail(&w, "lib.return", "@%s returns nothing", name);
	*out = w.result;
	return ok;
}

bool
qn_lib_expand(qn_lib_walk *caller, const char *name, size_t noperand, const qn_item *operand,
	      size_t nattr, const qn_lib_attr *attr, size_t wanted, qn_item *out)
{
	return expand(caller->lib, caller, false, name, noperand, operand, nattr, attr, wanted,
		      out);
}

bool
qn_lib_run(qn_lib *lib, const qn_lib_call *call, qn_id *out)
{
	qn_item *operand = QN_NEW(lib->a, qn_item, (size_t)call->nin + 1);
	qn_item result;

	lib->version = call->version;
	lib->declared = qn_item_list(call->ndeclared, call->declared);
	for (uint32_t i = 0; i < call->nin; i++)
		operand[i] = qn_item_value(call->in[i]);
	if (!expand(lib, NULL, call->added, call->graph, call->nin, operand, call->nattr,
		    call->attr, call->nout, &result))
		return false;
	for (uint32_t i = 0; i < call->nout && i < result.n; i++) {
		const qn_item *x = &result.at[i];
		qn_buf b;

		out[i] = x->kind == QN_ITEM_VALUE ? x->id : 0;
		if (x->kind == QN_ITEM_VALUE || x->kind == QN_ITEM_NONE)
			continue;
		qn_buf_init(&b, lib->a);
		qn_buff(&b, "result %u of @%s is %s; a value is needed", i, call->graph,
			qn_item_names[x->kind]);
		lib->host->refuse(lib->host->user, "lib.type", NULL, qn_buf_str(&b));
		return false;
	}
	return true;
}
