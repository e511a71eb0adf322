/* SPDX-License-Identifier: Apache-2.0 */
/* host_function.c - see host_function.h. */
#include "ir/host_function.h"

#include <string.h>

#include "ir/reserved.h"

static bool
begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static bool
is_identifier(const char *s)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";

	return s[0] != '\0' && strchr(letters, s[0]) != NULL &&
	       s[strspn(s, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")] ==
		       '\0';
}

/* Names that C keeps for itself; those of string.h, which emitted programs include (C11 7.31.13);
 * functions that compilers know without a header; and what functions of a program call their own
 * arguments. */
static bool
is_of_c(const char *s)
{
	static const char *const families[] = {"mem", "str", "wcs"};
	static const char *const others[] = {
		"abort",  "abs",  "calloc", "ceil",   "cos",  "exit",  "exp",   "fabs",    "floor",
		"fmax",   "fmin", "fmod",   "free",   "in",   "index", "labs",  "log",     "main",
		"malloc", "out",  "pow",    "printf", "puts", "rint",  "round", "realloc", "s",
		"sin",    "sqrt", "state",  "tan",    "tanh", "trunc", "x",
	};

	for (size_t i = 0; i < QN_COUNT(others); i++)
		if (strcmp(s, others[i]) == 0)
			return true;
	if (s[0] == '_' || qn_reserved_member(s) || qn_reserved_symbol(s))
		return true;
	for (size_t i = 0; qn_reserved_words[i] != NULL; i++)
		if (strcmp(s, qn_reserved_words[i]) == 0)
			return true;
	for (size_t i = 0; i < QN_COUNT(families); i++)
		if (begins(s, families[i]) && s[3] >= 'a' && s[3] <= 'z')
			return true;
	return false;
}

const char *
qn_host_function_problem(const qn_env *env, const char *name, const char *text)
{
	if (!is_identifier(name))
		return "the name of its C function is not an identifier of C";
	if (begins(name, "qn_") || begins(name, "QN_"))
		return "the name of its C function begins with qn_, as those of the library's "
		       "kernels do";
	if (is_of_c(name))
		return "the name of its C function is one of C, its library, or an emitted program";
	if (strstr(text, name) == NULL)
		return "its C text does not define the function that it names";
	for (const qn_host_function *f = env->functions; f != NULL; f = f->next)
		if (strcmp(f->name, name) == 0 && strcmp(f->text, text) != 0)
			return "another operator or kernel has a C function of this name with "
			       "another text";
	return NULL;
}

void
qn_host_function_add(qn_env *env, qn_host_function *f)
{
	if (f->name == NULL)
		return;
	f->next = env->functions;
	env->functions = f;
}

void
qn_host_function_remove(qn_env *env, const qn_host_function *f)
{
	for (qn_host_function **at = &env->functions; *at != NULL; at = &(*at)->next)
		if (*at == f) {
			*at = f->next;
			return;
		}
}
