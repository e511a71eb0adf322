/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_supported.c - quern supported-ops: which operators have which implementations, which of ONNX and TFLite
 * are read; as text, as docs/supported-ops.md, or as JSON (docs/quern-supported-ops.schema.json). */
#include <stdio.h>
#include <string.h>

#include "json_values.h"
#include "program.h"
#include "quern/graph.h"

static const char *
yes(int there)
{
	return there ? "yes" : "-";
}

static void
print_impls(bool markdown)
{
	const char *format =
		markdown ? "| %s | %s | %s | %s | %s | %s |\n" : "%-18s %-7s %-6s %-7s %-7s %s\n";
	qn_op_support s;

	printf(format, "op", "float", "int8", "uint8", "int16", "emitted");
	if (markdown)
		printf("|---|---|---|---|---|---|\n");
	for (size_t i = 0; (s = qn_supported_op(i)).name != NULL; i++)
		printf(format, s.name, yes(s.float32), yes(s.int8), yes(s.uint8), yes(s.int16),
		       yes(s.emitted));
}

/* Takes row *i and those after it that continue its versions. */
static qn_source_op
next_source(size_t *i)
{
	qn_source_op s = qn_supported_source_op((*i)++);

	for (qn_source_op t; s.name != NULL && s.max != 0; s.max = t.max, ++*i) {
		t = qn_supported_source_op(*i);
		if (t.name == NULL || strcmp(t.name, s.name) != 0 ||
		    strcmp(t.domain, s.domain) != 0 || t.min > s.max + 1)
			break;
	}
	return s;
}

/* The operators of a format, from row *i on; *i moves past them. */
static void
print_sources(const char *format, bool markdown, size_t *i)
{
	const char *before = markdown ? "| " : "";
	bool versions = strcmp(format, "ONNX") == 0;

	if (markdown && versions)
		printf("| operator | versions |\n|---|---|\n");
	else if (markdown)
		printf("| operator |\n|---|\n");
	for (size_t k = *i;; *i = k) {
		qn_source_op s = next_source(&k);
		char name[128];

		if (s.name == NULL || strcmp(s.format, format) != 0)
			break;
		(void)snprintf(name, sizeof name, "%s%s%s", s.domain,
			       s.domain[0] != '\0' ? "." : "", s.name);
		printf(versions && !markdown ? "%s%-36s" : "%s%s", before, name);
		if (versions && s.max == 0)
			printf("%s%d on", markdown ? " | " : " ", s.min);
		else if (versions)
			printf("%s%d to %d", markdown ? " | " : " ", s.min, s.max);
		printf(markdown ? " |\n" : "\n");
	}
}

static void
print_text(void)
{
	size_t i = 0;

	print_impls(false);
	printf("\nONNX: operator, versions of the operator set\n");
	print_sources("ONNX", false, &i);
	printf("\nTFLite: operator\n");
	print_sources("TFLite", false, &i);
}

static void
print_markdown(void)
{
	size_t i = 0;

	printf("# Supported operators\n\n"
	       "Written by `quern supported-ops --markdown`, from the tables that the compiler "
	       "works "
	       "with.\n\n"
	       "## Kernels\n\n"
	       "`float`: runs on f32 values. `int8`, `uint8`, `int16`: runs on such quantized "
	       "values.\n"
	       "`emitted`: is written as C. `tests/e2e/test_e2e_support.c` compares every cell "
	       "with "
	       "graphs of\nthe operator. What the operators are: [ir.md](ir.md).\n\n");
	print_impls(true);
	printf("\n## ONNX\n\n"
	       "Operators that are read, by the versions of the operator set. A name with a dot is "
	       "that of\nanother domain. What an operator is read as, and which of its attributes "
	       "are "
	       "refused, with a\nreason: [importing.md](importing.md).\n\n");
	print_sources("ONNX", true, &i);
	printf("\n## TFLite\n\n");
	print_sources("TFLite", true, &i);
}

static const char *
json_bool(int v)
{
	return v ? "true" : "false";
}

/* The operators of a format, from row *i on; *i moves past them. */
static void
put_sources(const char *format, const char *key, size_t *i)
{
	const char *before = "";

	printf(",\n  \"%s\": [", key);
	for (size_t k = *i;; *i = k) {
		const qn_source_op s = next_source(&k);

		if (s.name == NULL || strcmp(s.format, format) != 0)
			break;
		printf("%s\n    {\"name\": ", before);
		json_text(stdout, s.name);
		if (s.domain[0] != '\0') {
			printf(", \"domain\": ");
			json_text(stdout, s.domain);
		}
		if (s.min > 0)
			printf(", \"first\": %d", s.min);
		if (s.max > 0)
			printf(", \"last\": %d", s.max);
		printf("}");
		before = ",";
	}
	printf("\n  ]");
}

static void
print_json(void)
{
	qn_op_support s;
	size_t i = 0;

	printf("{\"quern_supported_ops\": 1, \"version\": \"%s\",\n  \"ops\": [", qn_version());
	for (size_t k = 0; (s = qn_supported_op(k)).name != NULL; k++)
		printf("%s\n    {\"name\": \"%s\", \"float\": %s, \"int8\": %s, \"uint8\": %s, "
		       "\"int16\": %s, \"emitted\": %s}",
		       k > 0 ? "," : "", s.name, json_bool(s.float32), json_bool(s.int8),
		       json_bool(s.uint8), json_bool(s.int16), json_bool(s.emitted));
	printf("\n  ]");
	put_sources("ONNX", "onnx", &i);
	put_sources("TFLite", "tflite", &i);
	printf("}\n");
}

int
cmd_supported_ops(const options *o)
{
	if (o->markdown && o->json) {
		fprintf(stderr,
			"quern supported-ops: --markdown prints the page of docs, --json JSON; "
			"give one of them\n");
		return QN_EUSAGE;
	}
	if (o->json)
		print_json();
	else if (o->markdown)
		print_markdown();
	else
		print_text();
	return 0;
}
