/* SPDX-License-Identifier: Apache-2.0 */
/* conformance_integer.h - a case of ONNX's backend tests in integers: quantized, emitted, compiled, compared. */
#ifndef QN_TESTS_CONFORMANCE_INTEGER_H
#define QN_TESTS_CONFORMANCE_INTEGER_H

#include "ir/graph.h"
#include "quern/quern.h"

enum { MAX_VALUES = 64 }; /* inputs, outputs of a case */

typedef enum integer_verdict {
	INTEGER_PASS,
	INTEGER_FAR, /* the emitted C gives the interpreter's bytes, but these are far from the float results */
	INTEGER_REFUSED, /* a diagnostic that it cannot be integer */
	INTEGER_FAIL,    /* an error that is none of these, C that does not compile, other bytes */
	NINTEGER
} integer_verdict;

/* One line and a counter for each verdict. */
extern const char *const integer_names[NINTEGER];

/* m: the imported float graph.  storage: of activations.  in, want: the case's values.  folder: is made, for the C files.  reason: of a verdict that
 * is not pass, and of pass how far the results are from the float ones. */
integer_verdict integer_run(const qn_model *m, qn_activations storage, size_t nin,
			    const qn_tensor *const *in, size_t nout, const qn_tensor *const *want,
			    const char *folder, char *reason, size_t room);

#endif
