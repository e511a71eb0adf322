/* SPDX-License-Identifier: Apache-2.0 */
/* test_e2e_names.c - names that C, C++, their headers and compilers know are not given to what is emitted.  What the
 * headers define is read from the compilers. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* popen */
#endif
#include <ctype.h>

#include "tests/e2e/e2e.h"

#include "codegen/ident.h"

/* Headers that emitted files include, and all of C. */
static const char included[] = "#include <stdint.h>\\n#include <string.h>\\n#include <stdio.h>\\n";
static const char standard[] =
	"assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal "
	"stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath "
	"threads time uchar wchar wctype";

/* Macros of Arduino cores that are values: INPUT is 0 there. */
#define ARDUINO                                                                                    \
	"B0 B1 B00000000 B11111111 CHANGE DEFAULT DEG_TO_RAD DISPLAY EULER EXTERNAL FALLING "      \
	"HALF_PI HIGH INPUT INPUT_PULLDOWN INPUT_PULLUP INTERNAL LOW LSBFIRST MSBFIRST OUTPUT "    \
	"OUTPUT_OPEN_DRAIN PI RAD_TO_DEG RISING SERIAL TWO_PI"

/* Each word that a command prints. */
static void
each_word(const char *command, void (*fn)(void *user, const char *word), void *user)
{
	char word[256];
	FILE *f = popen(command, "r");

	assert_non_null(f);
	while (fscanf(f, "%255s", word) == 1)
		fn(user, word);
	assert_int_equal(pclose(f), 0);
}

typedef struct seen {
	builder *b;
	size_t n;
} seen;

static bool
is_own(const char *word)
{
	return word[0] != '_' && isalpha((unsigned char)word[0]) && strcmp(word, "I") != 0;
}

/* A macro is not the name of a member. */
static void
check_macro(void *user, const char *word)
{
	seen *s = user;
	qn_names names;

	if (!is_own(word) || strchr(word, '(') != NULL)
		return;
	s->n++;
	qn_names_init_as(&names, &s->b->arena, QN_NAME_MEMBER, NULL);
	if (strcmp(qn_names_add(&names, word), word) == 0)
		fail_msg("the macro '%s' stays the name of an input", word);
}

static void
macros(void **state)
{
	static const char *const three[] = {
		"cc -std=c99",           "cc -std=gnu99",           "cc -std=gnu11",
		"g++ -x c++ -std=c++98", "g++ -x c++ -std=gnu++17", "clang -std=gnu11"};
	static const char *const all[] = {"cc -std=c99", "cc -std=c11", "clang -std=c99"};
	/* compilers for microcontrollers and their C libraries; avr-libc's sinf is a macro for sin */
	static const struct {
		const char *cc, *more;
	} mcu[] = {
		{"cc -std=gnu11", "#include <math.h>"},
		{"arm-none-eabi-gcc -std=gnu11", "#include <math.h>"},
		{"riscv64-unknown-elf-gcc -march=rv32imc -mabi=ilp32 -std=gnu11", ""},
		{"avr-gcc -mmcu=atmega328p -std=gnu99", ""},
	};
	char cmd[1024];
	builder b;
	seen s = {&b, 0};

	(void)state;
	build_begin(&b, "net", 1);
	for (size_t i = 0; i < QN_COUNT(three); i++) {
		snprintf(cmd, sizeof(cmd),
			 "command -v %.*s >/dev/null || exit 0; printf '%s' | %s -dM -E - | "
			 "awk '{print $2}'",
			 (int)strcspn(three[i], " "), three[i], included, three[i]);
		each_word(cmd, check_macro, &s);
	}
	assert_true(s.n > 400);
	for (size_t i = 0; i < QN_COUNT(all); i++) {
		snprintf(cmd, sizeof(cmd),
			 "command -v %.*s >/dev/null || exit 0; for h in %s; do echo \"#include "
			 "<$h.h>\"; done | %s -dM -E - 2>/dev/null | awk '{print $2}'",
			 (int)strcspn(all[i], " "), all[i], standard, all[i]);
		each_word(cmd, check_macro, &s);
	}
	for (size_t i = 0; i < QN_COUNT(mcu); i++) {
		snprintf(cmd, sizeof(cmd),
			 "command -v %.*s >/dev/null || exit 0; printf '%s%s\\n' | "
			 "%s -dM -E - 2>/dev/null | awk '{print $2}'",
			 (int)strcspn(mcu[i].cc, " "), mcu[i].cc, included, mcu[i].more, mcu[i].cc);
		each_word(cmd, check_macro, &s);
	}
	each_word("printf '" ARDUINO "'", check_macro, &s);
	build_end(&b);
}

/* A header's file is not that of a model. */
static void
check_header(void *user, const char *word)
{
	seen *s = user;
	const char *base = strrchr(word, '/');
	size_t n = base != NULL ? strlen(base) : 0;
	char name[256];
	qn_names names;

	/* right in a folder that is searched */
	if (n < 4 || strcmp(base + n - 2, ".h") != 0 || base[1] == '_' ||
	    strstr(word, "/bits/") != NULL || strstr(word, "/sys/") != NULL ||
	    strstr(word, "/asm") != NULL || strstr(word, "/linux/") != NULL ||
	    strstr(word, "/gnu/") != NULL)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)(n - 3), base + 1);
	if (strchr(name, '-') != NULL)
		return; /* a model's files have no such name */
	s->n++;
	qn_names_init_as(&names, &s->b->arena, QN_NAME_MODEL, NULL);
	if (strcmp(qn_names_add(&names, name), name) == 0)
		fail_msg("a model may be called '%s' and hide %s", name, word);
}

static void
headers(void **state)
{
	char cmd[1024];
	builder b;
	seen s = {&b, 0};

	(void)state;
	build_begin(&b, "net", 1);
	snprintf(cmd, sizeof(cmd),
		 "for h in %s; do echo \"#include <$h.h>\"; done | cc -M -E - | tr -d '\\\\\\\\'",
		 standard);
	each_word(cmd, check_header, &s);
	assert_true(s.n >= 29);
	build_end(&b);
}

/* For each way to cut a name at an underscore: a constant of this model is not called so. */
static void
check_symbol(void *user, const char *word)
{
	seen *s = user;

	if (!is_own(word))
		return;
	for (const char *cut = strchr(word, '_'); cut != NULL; cut = strchr(cut + 1, '_')) {
		char model[256], full[600];
		qn_names names;

		if (cut[1] == '\0' || cut[1] == '_' || cut[-1] == '_' ||
		    isdigit((unsigned char)cut[1]))
			continue;
		snprintf(model, sizeof(model), "%.*s", (int)(cut - word), word);
		qn_names_init_as(&names, &s->b->arena, QN_NAME_SYMBOL, model);
		snprintf(full, sizeof(full), "%s_%s", model, qn_names_add(&names, cut + 1));
		s->n++;
		if (strcmp(full, word) == 0)
			fail_msg("model '%s' has a symbol '%s'", model, word);
	}
}

static void
symbols(void **state)
{
	static const char *const way[] = {"cc -std=c99", "cc -std=gnu11",
					  "g++ -x c++ -std=gnu++17"};
	char cmd[1024];
	builder b;
	seen s = {&b, 0};

	(void)state;
	build_begin(&b, "net", 1);
	for (size_t i = 0; i < QN_COUNT(way); i++) {
		snprintf(cmd, sizeof(cmd),
			 "command -v %.*s >/dev/null || exit 0; printf '%s' | %s -E -P - | "
			 "grep -oE '[A-Za-z_][A-Za-z0-9_]*' | grep _ | sort -u",
			 (int)strcspn(way[i], " "), way[i], included, way[i]);
		each_word(cmd, check_symbol, &s);
	}
	assert_true(s.n > 30);
	build_end(&b);
}

/* Names of any length: unique, and below the limit. */
static void
lengths(void **state)
{
	char text[401];
	qn_names names;
	builder b;
	const char *last = "";

	(void)state;
	build_begin(&b, "net", 1);
	qn_names_init(&names, &b.arena);
	memset(text, 'a', 400);
	for (size_t n = 1; n <= 400; n++) {
		char cut[402];

		memcpy(cut, text, n);
		cut[n] = '\0';
		const char *name = qn_names_add(&names, cut);
		assert_true(strlen(name) <= QN_NAME_MOST);
		assert_true(n > QN_NAME_MOST || strcmp(name, cut) == 0);
		assert_string_not_equal(name, last);
		last = name;
	}
	build_end(&b);
}

int
main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(lengths),
		cmocka_unit_test(macros),
		cmocka_unit_test(headers),
		cmocka_unit_test(symbols),
	};
	const struct CMUnitTest without_compilers[] = {cmocka_unit_test(lengths)};

	/* the programs of this machine; for another one there is one compiler, given by its name */
	return e2e_target_cc() != NULL ? cmocka_run_group_tests(without_compilers, NULL, NULL)
				       : cmocka_run_group_tests(all, NULL, NULL);
}
