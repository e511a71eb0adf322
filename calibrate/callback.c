/* SPDX-License-Identifier: Apache-2.0 */
/* callback.c - see callback.h. */
#include "calibrate/callback.h"

#include <string.h>

#include "ir/diag.h"

static bool
same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

const qn_calib_callback *
qn_callback_of(size_t n, const qn_calib_callback *list, const qn_part *part)
{
	const qn_calib_callback *any = NULL;

	for (size_t i = 0; i < n; i++) {
		if (list[i].pattern == NULL && same(list[i].method, part->method))
			any = &list[i];
		else if (list[i].pattern != NULL && strcmp(list[i].pattern, part->pattern) == 0)
			return &list[i];
	}
	return any;
}

qn_status
qn_callback_symbols(const qn_info_graphs *s, size_t n, const qn_calib_callback *list, qn_arena *a,
		    qn_map *found)
{
	qn_info *info;

	qn_map_init(found, a);
	for (const qn_part *p = s->g->parts; p != NULL; p = p->next) {
		if (qn_callback_of(n, list, p) == NULL)
			continue;
		QN_TRY(qn_info_new(s, p, a, &info));
		for (size_t k = 0; k < info->npair; k++) {
			qn_symbol *sym = info->pair[k].sym;

			if (qn_map_get(found, &sym, sizeof sym) == NULL)
				qn_map_put(found, &sym, sizeof sym, sym);
		}
	}
	return QN_OK;
}

static qn_status
run_one(const qn_calib_callback *c, qn_info *info)
{
	qn_env *env = info->graphs->m->env;
	size_t errors = env->diags->nerrors;
	qn_status status = c->fn(c->user, info);

	if (status == QN_OK)
		return qn_info_end(info);
	if (env->diags->nerrors > errors)
		return status;
	return qn_report(env, status, "calibrate.callback", info->part->out,
			 "the calibration callback of pattern '%s' failed", info->part->pattern);
}

qn_status
qn_callbacks_run(const qn_info_graphs *s, size_t n, const qn_calib_callback *list, qn_arena *a)
{
	uint64_t total = 0, done = 0;

	for (const qn_part *p = s->g->parts; p != NULL; p = p->next)
		total += qn_callback_of(n, list, p) != NULL;
	for (const qn_part *p = s->g->parts; p != NULL; p = p->next) {
		const qn_calib_callback *c = qn_callback_of(n, list, p);
		qn_info *info;

		if (c == NULL)
			continue;
		QN_TRY(qn_info_new(s, p, a, &info));
		info->done = done++;
		info->total = total;
		QN_TRY(run_one(c, info));
	}
	return QN_OK;
}
