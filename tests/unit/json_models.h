/* SPDX-License-Identifier: Apache-2.0 */
/* json_models.h - for tests of models as JSON: texts and models. */
#ifndef TESTS_UNIT_JSON_MODELS_H
#define TESTS_UNIT_JSON_MODELS_H

#include "tests/unit/formats_fixture.h"

#include "formats/json_graph.h"

static inline qn_model *
from_json(fixture *f, const char *s, size_t n, const char *folder)
{
	qn_model *m = new_model(f);

	if (qn_json_parse(m, "x.json", folder, s, n) != QN_OK)
		fail_msg("%s", all_diags(f));
	return m;
}

static inline const char *
json_text(fixture *f, const qn_model *m)
{
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	qn_json_print(&b, m, NULL, NULL);
	return qn_buf_str(&b);
}

#endif
