/* SPDX-License-Identifier: Apache-2.0 */
/* diag.h - diagnostics: what is wrong, where, with which value, and the way out.
 *
 *   return qn_report(env, QN_EINVALID, "type.scale.range", place,
 *                    "scale %g is not a positive f32; use a value from 1.4e-45 to 3.4e38", v);
 *
 * The id is stable and dotted; tests compare ids, people read messages.  At most QN_MAX_DIAGS
 * are kept, later ones are counted. */
#ifndef QN_IR_DIAG_H
#define QN_IR_DIAG_H

#include "ir/env.h"

enum { QN_MAX_DIAGS = 100, QN_ID_BYTES = 48 };

typedef struct qn_diag {
	qn_severity severity;
	qn_status status;
	char id[QN_ID_BYTES]; /* a copy: those that texts of compositions name go with them */
	const char *place;    /* file, line:column, node …; "" when there is none */
	const char *message;
} qn_diag;

typedef struct qn_diags {
	qn_diag item[QN_MAX_DIAGS];
	size_t n;
	size_t nerrors;
	size_t dropped; /* reported after the list was full */
} qn_diags;

/* Stores an error (status is not QN_OK) and returns status.  fmt knows the conversions of
 * qn_bufvf (ir/buf.h). When memory for the text is missing, a static text replaces it. */
qn_status qn_report(qn_env *env, qn_status status, const char *id, const char *place,
		    const char *fmt, ...) QN_PRINTF(5, 6);
#ifdef __clang_analyzer__ /* it reads no other file, and would go on as if QN_OK came back */
#define qn_report(env, status, ...) ((void)qn_report(env, status, __VA_ARGS__), (status))
#endif

/* Stores a warning, once if it is repeated. */
void qn_warn(qn_env *env, const char *id, const char *place, const char *fmt, ...) QN_PRINTF(4, 5);

/* Hands one line to the host's log callback. */
void qn_log(qn_env *env, const char *fmt, ...) QN_PRINTF(2, 3);

/* Hands one line to whoever traces rules (env->trace), if anybody does. */
void qn_trace(qn_env *env, const char *fmt, ...) QN_PRINTF(2, 3);

void qn_diags_clear(qn_env *env, qn_diags *d);

/* Takes back what was reported since a copy of the counts was made, for an attempt that may fail:
 *
 *   qn_diag_mark mark = qn_diag_mark_now(env);
 *   if (try_it() != QN_OK)
 *           qn_diag_forget(env, mark);      as if it had not been tried */
typedef struct qn_diag_mark {
	size_t n, nerrors, dropped;
} qn_diag_mark;
qn_diag_mark qn_diag_mark_now(const qn_env *env);
void qn_diag_forget(qn_env *env, qn_diag_mark mark);

/* Puts a text after the messages that were reported since the mark: " (in the reference model)". */
void qn_diag_append(qn_env *env, qn_diag_mark mark, const char *fmt, ...) QN_PRINTF(3, 4);

#endif
