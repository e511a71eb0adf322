/* SPDX-License-Identifier: Apache-2.0 */
/* json_prep.h - what samples went through, as JSON: in reports and in statistics.
 *
 *   {"zero": 0, "scale": 0.00390625, "mean": [0.5], "std": [0.25], "layout": "nhwc"} */
#ifndef QN_FORMATS_JSON_PREP_H
#define QN_FORMATS_JSON_PREP_H

#include "formats/json_out.h"
#include "ir/prep.h"

void qn_json_put_prep(qn_json_out *o, const char *key, const qn_prep *p);

/* In arena a.  Reports with `id` what is not of this form, and numbers that no preprocessing has: a scale or a
 * deviation of 0, and what is not finite. */
bool qn_json_get_prep(const qn_json_doc *d, const qn_json *v, const char *id, qn_arena *a,
		      qn_prep *out) QN_MUST_CHECK;

#endif
