/* SPDX-License-Identifier: Apache-2.0 */
/* ident.c - see ident.h.  Letters are ASCII: nothing here asks the locale. */
#include "codegen/ident.h"

#include "ir/buf.h"

/* Keywords of C11 and C++20, alternative tokens, and macros that headers or compilers define in
 * small letters.  "qn" would let a model's symbols meet those of the kernels. */
static const char *const reserved[] = {
	"alignas",
	"alignof",
	"and",
	"and_eq",
	"asm",
	"auto",
	"bitand",
	"bitor",
	"bool",
	"break",
	"case",
	"catch",
	"char",
	"char8_t",
	"char16_t",
	"char32_t",
	"class",
	"compl",
	"concept",
	"const",
	"consteval",
	"constexpr",
	"constinit",
	"const_cast",
	"continue",
	"co_await",
	"co_return",
	"co_yield",
	"decltype",
	"default",
	"delete",
	"do",
	"double",
	"dynamic_cast",
	"else",
	"enum",
	"explicit",
	"export",
	"extern",
	"false",
	"far",
	"float",
	"for",
	"friend",
	"goto",
	"huge",
	"if",
	"inline",
	"int",
	"interrupt",
	"long",
	"mutable",
	"namespace",
	"near",
	"new",
	"noexcept",
	"not",
	"not_eq",
	"nullptr",
	"operator",
	"or",
	"or_eq",
	"private",
	"protected",
	"public",
	"register",
	"reinterpret_cast",
	"requires",
	"restrict",
	"return",
	"short",
	"signed",
	"sizeof",
	"static",
	"static_assert",
	"static_cast",
	"struct",
	"switch",
	"template",
	"this",
	"thread_local",
	"throw",
	"true",
	"try",
	"typedef",
	"typeid",
	"typename",
	"typeof",
	"union",
	"unsigned",
	"using",
	"virtual",
	"void",
	"volatile",
	"wchar_t",
	"while",
	"xor",
	"xor_eq",
	"assert",
	"eof",
	"errno",
	"fortran",
	"i386",
	"linux",
	"mips",
	"null",
	"offsetof",
	"qn",
	"stderr",
	"stdin",
	"stdout",
	"unix",
	"vax",
};

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

const char *
qn_ident_upper(qn_arena *a, const char *text)
{
	char *s = qn_arena_str(a, text);
	char *p;

	for (p = s; *p != '\0'; p++)
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
	return s;
}

/* Letters and digits of the text, everything between them as one underscore. */
static const char *
clean(qn_arena *a, const char *text)
{
	bool gap = false;
	const char *p;
	qn_buf b;

	qn_buf_init(&b, a);
	for (p = text; *p != '\0'; p++) {
		if (!is_digit(*p) && !is_letter(*p)) {
			gap = true;
			continue;
		}
		if (b.n == 0 && is_digit(*p))
			qn_buf_putc(&b, 'n');
		else if (gap && b.n > 0)
			qn_buf_putc(&b, '_');
		qn_buf_putc(&b, *p);
		gap = false;
	}
	return b.n > 0 ? qn_buf_str(&b) : "x";
}

void
qn_names_init(qn_names *s, qn_arena *arena)
{
	size_t i;

	s->arena = arena;
	qn_map_init(&s->taken, arena);
	for (i = 0; i < QN_COUNT(reserved); i++)
		qn_map_puts(&s->taken, qn_ident_upper(arena, reserved[i]), s);
}

const char *
qn_names_add(qn_names *s, const char *text)
{
	const char *base = clean(s->arena, text);
	const char *name = base;
	const char *key = qn_ident_upper(s->arena, name);
	unsigned k;

	for (k = 2; qn_map_gets(&s->taken, key) != NULL; k++) {
		qn_buf b;

		qn_buf_init(&b, s->arena);
		qn_buff(&b, "%s_%u", base, k);
		name = qn_buf_str(&b);
		key = qn_ident_upper(s->arena, name);
	}
	qn_map_puts(&s->taken, key, s);
	return name;
}
