/* SPDX-License-Identifier: Apache-2.0 */
/* stored.h - integers of a file that has their scale and zero point (private to the quantizer patterns). */
#ifndef QN_PATTERNS_STORED_H
#define QN_PATTERNS_STORED_H

#include "patterns/quantizing.h"

/* What the alternatives of the pattern capture. */
enum { QN_STORED_SCALED, QN_STORED_X, QN_STORED_SCALE, QN_STORED_ZERO };

/* mul(sub(cast(x), zero), scale) and div likewise, with or without the sub. */
#define QN_STORED_REAL QN_P_OP(cast, QN_NO_SLOT, QN_P_ARGS(QN_P_ANY(QN_STORED_X)))
#define QN_STORED_LESS                                                                             \
	QN_P_OP(sub, QN_NO_SLOT, QN_P_ARGS(QN_STORED_REAL, QN_P_CONST(QN_STORED_ZERO)))
#define QN_STORED_SCALED_(op, x)                                                                   \
	QN_P_OP(op, QN_STORED_SCALED, QN_P_ARGS(x, QN_P_CONST(QN_STORED_SCALE)))
#define QN_STORED_FORMS                                                                            \
	QN_P_ARGS(QN_STORED_SCALED_(mul, QN_STORED_LESS), QN_STORED_SCALED_(mul, QN_STORED_REAL),  \
		  QN_STORED_SCALED_(div, QN_STORED_LESS), QN_STORED_SCALED_(div, QN_STORED_REAL))

int qn_accept_stored(void *user, const qn_graph *g, const qn_match *m, const char **reason);
qn_id qn_quantize_stored(void *user, qn_quantizing *b, const qn_match *m);

/* The type of the integers that value x of a symbolic graph stands for, moved or not, stored as the options say;
 * NULL: x is computed, or is to be stored in 16 bits. */
const qn_elem *qn_stored_elem(qn_model *m, const qn_graph *g, qn_id x, const qn_quant_opts *opts);

#endif
