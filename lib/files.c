/* SPDX-License-Identifier: Apache-2.0 */
/* files.c - the files of compositions: those of the library, embedded as text, and those that a host adds.
 *
 *   lib/ *.qir, embedded ---+
 *   qn_lib_add(env, …) -----+--> the graphs by name, which a qn_lib calls */
#include "lib/lib.h"

#include <string.h>

#include "lib/embedded.h"
#include "lib/parser.h"

enum { ROOM = 32 << 20 }; /* bytes of lists */
enum { WORK = 1 << 22 };  /* expressions and items of lists of all compositions of a file */

/* The embedded file as one text. */
static qn_lib_file *
embedded(qn_arena *a, const qn_lib_text_file *of)
{
	qn_lib_file *file = QN_NEW(a, qn_lib_file, 1);
	qn_buf b;

	qn_buf_init(&b, a);
	for (size_t i = 0; i < of->nline; i++)
		qn_buf_puts(&b, of->line[i]);
	*file = (qn_lib_file){.name = of->name, .text = qn_buf_str(&b), .n = b.n};
	return file;
}

static bool
add_defs(qn_lib *lib, const qn_lib_file *file)
{
	bool ok = true;

	qn_map *names = file->added ? &lib->added : &lib->defs;

	for (qn_lib_def *d = file->def; d != NULL; d = d->next) {
		if (qn_map_gets(names, d->name) == NULL) {
			qn_map_puts(names, d->name, d);
			continue;
		}
		ok = false;
		(void)qn_report(lib->m->env, QN_EINVALID, "lib.name", file->name,
				"@%s is defined twice; rename one", d->name);
	}
	return ok;
}

void
qn_lib_open(qn_lib *lib, qn_model *m, qn_graph *g, qn_arena *a, const qn_lib_host *host,
	    uint64_t work)
{
	qn_model reader = {.arena = a, .env = m->env};

	*lib = (qn_lib){.m = m, .g = g, .a = a, .host = host};
	lib->work = work > UINT64_MAX / WORK ? UINT64_MAX : WORK * work;
	lib->room = work > UINT64_MAX / ROOM ? UINT64_MAX : ROOM * work;
	lib->times = work < 1 << 20 ? (int64_t)work : 1 << 20;
	qn_map_init(&lib->defs, a);
	qn_map_init(&lib->added, a);
	qn_map_init(&lib->words, a);
	for (size_t i = 0; i < qn_lib_text_nfile; i++) {
		qn_lib_file *file = embedded(a, &qn_lib_text_files[i]);

		(void)(qn_lib_read_file(&reader, file) && add_defs(lib, file));
	}
	for (const qn_lib_file *file = m->env->libs; file != NULL; file = file->next) {
		qn_lib_file *own = qn_arena_copy(a, file, sizeof *file);

		own->def = NULL;
		(void)(qn_lib_read_file(&reader, own) && add_defs(lib, own));
	}
}

/* Checks the graphs of a file with all that it may call; g is not there. */
static bool
check_file(qn_lib *lib, const qn_lib_file *file)
{
	bool ok = true;

	for (qn_lib_def *d = file->def; d != NULL; d = d->next) {
		qn_lib_def *known = qn_lib_find(lib, file->added, d->name);

		ok = known != NULL && qn_lib_check_def(lib, known) && ok;
	}
	return ok;
}

const qn_lib_operator *
qn_lib_added(const qn_env *env, bool tflite, const char *domain, const char *name)
{
	for (const qn_lib_file *file = env->libs; file != NULL; file = file->next)
		for (const qn_lib_operator *op = file->operators; op != NULL; op = op->next)
			if (op->tflite == tflite && strcmp(op->name, name) == 0 &&
			    strcmp(op->domain, domain) == 0)
				return op;
	return NULL;
}

/* The name of an operator, with its domain and the tool that has it, in `known`. */
static const char *
key_of(qn_arena *a, const qn_lib_operator *op)
{
	qn_buf b;

	qn_buf_init(&b, a);
	qn_buff(&b, "%d %zu %s %s", op->tflite, strlen(op->domain), op->domain, op->name);
	return qn_buf_str(&b);
}

/* Whether each operator of the file is new; moves them into one list. */
static bool
take_operators(qn_env *env, qn_arena *a, qn_lib_file *file)
{
	qn_arena *tmp = qn_arena_child(a);
	qn_map known;
	bool ok = true;

	qn_map_init(&known, tmp);
	for (const qn_lib_file *f = env->libs; f != NULL; f = f->next)
		for (const qn_lib_operator *op = f->operators; op != NULL; op = op->next)
			qn_map_puts(&known, key_of(tmp, op), file);
	for (const qn_lib_def *d = file->def; d != NULL; d = d->next)
		for (const qn_lib_operator *op = d->operators; op != NULL; op = op->next) {
			qn_lib_operator *own = qn_arena_copy(a, op, sizeof *op);
			const char *key = key_of(tmp, op);

			if (qn_map_gets(&known, key) == NULL) {
				qn_map_puts(&known, key, file);
			} else {
				ok = false;
				(void)qn_report(env, QN_EINVALID, "lib.operator", file->name,
						"operator '%s' is defined twice", op->name);
			}
			own->next = file->operators;
			file->operators = own;
		}
	qn_arena_release(tmp);
	return ok;
}

qn_status
qn_lib_add(qn_env *env, qn_arena *a, const char *name, const char *text, size_t n)
{
	qn_lib_file *file = QN_NEW(a, qn_lib_file, 1);
	qn_model reader = {.arena = a, .env = env};
	qn_arena *scratch = qn_arena_child(a);
	qn_lib lib;

	for (const qn_lib_file *known = env->libs; known != NULL; known = known->next)
		if (known->n == n && strcmp(known->name, name) == 0 &&
		    memcmp(known->text, text, n) == 0)
			return QN_OK;
	*file = (qn_lib_file){.name = qn_arena_str(a, name), .text = qn_arena_strn(a, text, n)};
	file->n = n;
	file->added = true;
	bool ok = qn_lib_read_file(&reader, file) && take_operators(env, a, file);
	if (ok) {
		const qn_model checker = {.arena = scratch, .env = env};
		qn_model m = checker;

		qn_lib_open(&lib, &m, NULL, scratch, NULL, 1);
		ok = add_defs(&lib, file) && check_file(&lib, file);
	}
	qn_arena_release(scratch);
	if (!ok)
		return QN_EINVALID;
	file->next = env->libs;
	env->libs = file;
	return QN_OK;
}

qn_status
qn_lib_check(qn_env *env, qn_arena *a)
{
	qn_model m = {.arena = a, .env = env};
	const size_t errors = env->diags->nerrors;
	qn_lib lib;
	bool ok = true;

	qn_lib_open(&lib, &m, NULL, a, NULL, 1);
	for (size_t i = 0; i < qn_lib_text_nfile; i++) {
		qn_lib_file *file = embedded(a, &qn_lib_text_files[i]);

		ok = qn_lib_read_file(&m, file) && check_file(&lib, file) && ok;
	}
	return ok && env->diags->nerrors == errors ? QN_OK : QN_EINVALID;
}
