/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_types.c - any bytes as a type, with three symbols declared: parse(print(t)) is t. */
#include "tests/fuzz/fuzz.h"

static void
target(fuzz *f, const char *data, size_t size)
{
	qn_types *t = &fuzz_model(f)->types;
	const char *s = qn_arena_strn(&f->arena, data, size);
	const qn_type *type = NULL;
	const qn_type *again = NULL;
	qn_symbol *symbol;
	qn_buf b;

	FUZZ_CHECK(qn_symbol_declare(t, "", "a", QN_SYM_ASYMMETRIC, 0, &symbol) == QN_OK);
	FUZZ_CHECK(qn_symbol_declare(t, "", "s", QN_SYM_SYMMETRIC, 0, &symbol) == QN_OK);
	FUZZ_CHECK(qn_symbol_declare(t, "", "v", QN_SYM_SYMMETRIC, 3, &symbol) == QN_OK);
	if (qn_type_parse_str(t, "x", s, &type) != QN_OK) {
		FUZZ_CHECK(fuzz_told(f));
		return;
	}
	qn_buf_init(&b, &f->arena);
	qn_type_print(&b, type);
	FUZZ_CHECK(qn_type_parse_str(t, "y", qn_buf_str(&b), &again) == QN_OK);
	FUZZ_CHECK(type == again);
	(void)qn_type_count(type);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_run(target, data, size);
	return 0;
}
