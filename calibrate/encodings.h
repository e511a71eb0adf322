/* SPDX-License-Identifier: Apache-2.0 */
/* encodings.h - parameters that a file gives to values by name, in the form of AIMET's encodings
 * (versions 0.6.1, 1.0.0 and 2.0.0), instead of what calibration would find.
 *
 *   "activation_encodings": {"relu1": [{"bitwidth": 8, "offset": -3, "scale": 0.5, …}]}
 *
 *   %dw.x = quantize %relu1 : …<i8:f32, $dw.x:$dw.x>     ->   $dw.x = 0.5:-125
 *
 * float = (k + offset) * scale for k = 0 … 2^bitwidth - 1; the smallest value of the storage is
 * k = 0. */
#ifndef QN_CALIBRATE_ENCODINGS_H
#define QN_CALIBRATE_ENCODINGS_H

#include "ir/graph.h"

typedef struct qn_encodings qn_encodings;

/* The value of the model that a quantize stands for: what it takes, or what that was before it
 * was quantized for the first time. */
const qn_node *qn_encoded_value(const qn_graph *g, const qn_node *quantize);

/* Reads a file.  Ids: encodings.value, encodings.version, those of JSON. */
qn_status qn_encodings_read(qn_env *env, qn_arena *a, const char *file, const char *text, size_t n,
			    qn_encodings **out) QN_MUST_CHECK;

/* Binds the symbols of a symbolic graph whose values the file names: by the quantize's name,
 * else by that of the value, else by that which the value had in the file that the model was
 * read from.  Warns of names that the graph does not have (encodings.unused).  Ids:
 * encodings.bitwidth, encodings.length, encodings.symmetric, encodings.float. */
qn_status qn_encodings_bind(qn_model *m, const qn_encodings *e) QN_MUST_CHECK;

/* An error with these names, which nothing gives parameters (encodings.missing). */
qn_status qn_encodings_missing(const qn_encodings *e, qn_model *m, const char *names) QN_MUST_CHECK;

#endif
