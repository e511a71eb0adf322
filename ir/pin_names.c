/* SPDX-License-Identifier: Apache-2.0 */
/* pin_names.c - the inputs that fixed values are for: see pin.h. */
#include <string.h>

#include "ir/buf.h"
#include "ir/diag.h"
#include "ir/nearest.h"
#include "ir/pin.h"
#include "ir/text.h"

enum { LISTED = 8 }; /* names in a message */

qn_pin *
qn_pin_find(size_t n, qn_pin *pin, const char *name, size_t number)
{
	for (size_t i = 0; i < n; i++)
		if (pin[i].name != NULL ? strcmp(pin[i].name, name) == 0
					: pin[i].number == number) {
			pin[i].used = true;
			return &pin[i];
		}
	return NULL;
}

/* "; did you mean 'sr'? inputs: 'x', 'sr'" */
static const char *
known_names(qn_arena *a, const char *name, size_t n, const char *const *input)
{
	const char *best = qn_nearest_name(name, n, input);
	qn_buf b;

	qn_buf_init(&b, a);
	qn_buff(&b, QN_DID_YOU_MEAN "%s%s", QN_SUGGEST(best),
		best != NULL ? " inputs:" : "; inputs:", n == 0 ? " none" : "");
	for (size_t i = 0; i < n && i < LISTED; i++)
		qn_buff(&b, "%s '%s'", i > 0 ? "," : "", input[i]);
	if (n > LISTED)
		qn_buff(&b, " and %zu more", n - LISTED);
	return qn_buf_str(&b);
}

qn_status
qn_pin_check(qn_env *env, qn_arena *a, const char *place, size_t n, const qn_pin *pin,
	     size_t ninput, const char *const *input)
{
	qn_status status = QN_OK;

	for (size_t i = 0; i < n; i++) {
		bool again = false;

		for (size_t j = 0; pin[i].name != NULL && j < i; j++)
			again = again ||
				(pin[j].name != NULL && strcmp(pin[i].name, pin[j].name) == 0);
		if (again)
			status = qn_report(env, QN_EUSAGE, "import.value", place,
					   "input '%s' is fixed twice", pin[i].name);
		if (pin[i].name != NULL && !pin[i].used && !pin[i].optional && !again)
			status = qn_report(env, QN_EUSAGE, "import.value", place,
					   "unknown input '%s'%s", pin[i].name,
					   known_names(a, pin[i].name, ninput, input));
	}
	return status;
}
