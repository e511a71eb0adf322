/* SPDX-License-Identifier: Apache-2.0 */
/* schema_check.h - whether a JSON value is what a schema of docs/ says: the keywords that these use, any other is
 * a failure. */
#ifndef QN_TESTS_SCHEMA_CHECK_H
#define QN_TESTS_SCHEMA_CHECK_H

#include <math.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

typedef struct schema {
	const cJSON *root;
	char why[300]; /* the first failure */
} schema;

static bool schema_holds(schema *s, const cJSON *rule, const cJSON *v);

static bool
schema_fail(schema *s, const char *keyword, const cJSON *v)
{
	if (s->why[0] == '\0')
		(void)snprintf(s->why, sizeof s->why, "%s: %s", keyword,
			       v->string != NULL ? v->string : "(element)");
	return false;
}

static bool
schema_is_type(const char *type, const cJSON *v)
{
	if (strcmp(type, "object") == 0)
		return cJSON_IsObject(v);
	if (strcmp(type, "array") == 0)
		return cJSON_IsArray(v);
	if (strcmp(type, "string") == 0)
		return cJSON_IsString(v);
	if (strcmp(type, "boolean") == 0)
		return cJSON_IsBool(v);
	if (strcmp(type, "number") == 0)
		return cJSON_IsNumber(v);
	return strcmp(type, "integer") == 0 && cJSON_IsNumber(v) &&
	       v->valuedouble == floor(v->valuedouble);
}

/* A type, or a list of them. */
static bool
schema_is_one_type(const cJSON *k, const cJSON *v)
{
	const cJSON *one;
	bool any = false;

	if (!cJSON_IsArray(k))
		return schema_is_type(k->valuestring, v);
	cJSON_ArrayForEach(one, k) any = any || schema_is_type(one->valuestring, v);
	return any;
}

static bool
schema_matches(const char *pattern, const char *text)
{
	regex_t r;

	if (regcomp(&r, pattern, REG_EXTENDED | REG_NOSUB) != 0)
		return false;
	const bool ok = regexec(&r, text, 0, NULL, 0) == 0;
	regfree(&r);
	return ok;
}

/* The rule for a member: of its name, of a pattern, or additionalProperties. */
static bool
schema_member(schema *s, const cJSON *rule, const cJSON *v)
{
	const cJSON *own = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(rule, "properties"), v->string);
	const cJSON *others = cJSON_GetObjectItemCaseSensitive(rule, "additionalProperties");
	const cJSON *p;

	if (own != NULL)
		return schema_holds(s, own, v);
	cJSON_ArrayForEach(p, cJSON_GetObjectItemCaseSensitive(rule, "patternProperties"))
	{
		if (schema_matches(p->string, v->string))
			return cJSON_IsTrue(p) || schema_holds(s, p, v);
	}
	return !cJSON_IsFalse(others) || schema_fail(s, "additionalProperties", v);
}

static bool
schema_one_of(schema *s, const cJSON *rules, const cJSON *v)
{
	const cJSON *rule;

	cJSON_ArrayForEach(rule, rules)
	{
		schema tried = {.root = s->root};

		if (schema_holds(&tried, rule, v))
			return true;
	}
	return false;
}

static bool
schema_is_listed(const cJSON *list, const cJSON *v)
{
	const cJSON *one;

	cJSON_ArrayForEach(one, list)
	{
		if (cJSON_Compare(one, v, true))
			return true;
	}
	return false;
}

static bool
schema_each(schema *s, const cJSON *rule, const cJSON *v)
{
	const cJSON *one;

	cJSON_ArrayForEach(one, v)
	{
		if (!schema_holds(s, rule, one))
			return false;
	}
	return true;
}

static bool
schema_has_all(const cJSON *names, const cJSON *v)
{
	const cJSON *name;

	cJSON_ArrayForEach(name, names)
	{
		if (cJSON_GetObjectItemCaseSensitive(v, name->valuestring) == NULL)
			return false;
	}
	return true;
}

static const cJSON *
schema_definition(const schema *s, const char *ref)
{
	return strncmp(ref, "#/$defs/", 8) == 0
		       ? cJSON_GetObjectItemCaseSensitive(
				 cJSON_GetObjectItemCaseSensitive(s->root, "$defs"), ref + 8)
		       : NULL;
}

/* One keyword; those that the value's type does not concern hold. */
static bool
schema_keyword(schema *s, const cJSON *rule, const cJSON *k, const cJSON *v)
{
	static const char *const notes[] = {"$schema",
					    "$defs",
					    "title",
					    "description",
					    "properties",
					    "patternProperties",
					    "additionalProperties"};
	const char *name = k->string;
	const cJSON *one;

	for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
		if (strcmp(name, notes[i]) == 0)
			return true;
	if (strcmp(name, "$ref") == 0)
		return (one = schema_definition(s, k->valuestring)) != NULL &&
		       schema_holds(s, one, v);
	if (strcmp(name, "anyOf") == 0 || strcmp(name, "oneOf") == 0)
		return schema_one_of(s, k, v);
	if (strcmp(name, "type") == 0)
		return schema_is_one_type(k, v);
	if (strcmp(name, "const") == 0)
		return cJSON_Compare(k, v, true);
	if (strcmp(name, "enum") == 0)
		return schema_is_listed(k, v);
	if (strcmp(name, "required") == 0)
		return !cJSON_IsObject(v) || schema_has_all(k, v);
	if (strcmp(name, "items") == 0)
		return !cJSON_IsArray(v) || schema_each(s, k, v);
	if (strcmp(name, "minItems") == 0)
		return !cJSON_IsArray(v) || cJSON_GetArraySize(v) >= k->valueint;
	if (strcmp(name, "maxItems") == 0)
		return !cJSON_IsArray(v) || cJSON_GetArraySize(v) <= k->valueint;
	if (strcmp(name, "minimum") == 0)
		return !cJSON_IsNumber(v) || v->valuedouble >= k->valuedouble;
	if (strcmp(name, "maximum") == 0)
		return !cJSON_IsNumber(v) || v->valuedouble <= k->valuedouble;
	if (strcmp(name, "exclusiveMinimum") == 0)
		return !cJSON_IsNumber(v) || v->valuedouble > k->valuedouble;
	if (strcmp(name, "pattern") == 0)
		return !cJSON_IsString(v) || schema_matches(k->valuestring, v->valuestring);
	(void)rule;
	return false; /* a keyword that is not known here */
}

static bool
schema_holds(schema *s, const cJSON *rule, const cJSON *v)
{
	const cJSON *k;

	cJSON_ArrayForEach(k, rule)
	{
		if (!schema_keyword(s, rule, k, v))
			return schema_fail(s, k->string, v);
	}
	if (!cJSON_IsObject(v))
		return true;
	cJSON_ArrayForEach(k, v)
	{
		if (!schema_member(s, rule, k))
			return false;
	}
	return true;
}

#endif
