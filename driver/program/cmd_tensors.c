/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_tensors.c - quern tensors: what an archive of tensors holds, and one of its tensors as a NumPy
 * file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_values.h"
#include "program.h"
#include "quern/layout.h"

enum { SHOWN = 60 }; /* bytes of a property's value */

static void
print_shape(const qn_stored *t, FILE *to)
{
	putc('[', to);
	for (int i = 0; i < qn_stored_rank(t); i++)
		fprintf(to, "%s%" PRId64, i > 0 ? ", " : "", qn_stored_dim(t, i));
	putc(']', to);
}

/* The layout; of a plain tensor its element type. */
static const char *
form_of(const qn_stored *t)
{
	const char *layout = qn_stored_layout(t);

	return strcmp(layout, "plain") == 0 ? qn_stored_plane(t, 0).dtype : layout;
}

/* ---- text ---- */

/* A name of the file with control bytes as JSON writes them; how many bytes it takes.  to NULL: it is not printed. */
static size_t
print_name(FILE *to, const char *s)
{
	size_t n = 0;

	for (; *s != '\0'; s++) {
		const bool control = (unsigned char)*s < 0x20 || (unsigned char)*s == 0x7f;
		char text[8];

		(void)snprintf(text, sizeof text, control ? "\\u%04x" : "%c", *s);
		n += strlen(text);
		if (to != NULL)
			fputs(text, to);
	}
	return n;
}

static void
print_padded(const char *s, size_t width)
{
	for (size_t n = print_name(stdout, s); n < width; n++)
		putchar(' ');
}

/* A few bytes of the value, up to the end of a UTF-8 sequence. */
static void
print_property(const qn_property_view *p)
{
	size_t n = strlen(p->json);

	print_padded(p->key, 40);
	putchar(' ');
	if (p->count >= 0)
		printf("%s[%" PRId64 "] ", p->type, p->count);
	if (n <= SHOWN) {
		printf("%s\n", p->json);
		return;
	}
	for (n = SHOWN; n > 0 && ((unsigned char)p->json[n] & 0xC0) == 0x80; n--)
		;
	printf("%.*s…\n", (int)n, p->json);
}

static qn_status
list(qn_archive *x)
{
	size_t width = 4, bytes = 0;

	for (size_t i = 0; i < qn_archive_properties(x); i++) {
		qn_property_view p;
		qn_status status = qn_archive_property(x, i, &p);

		if (status != QN_OK)
			return status;
		print_property(&p);
	}
	for (size_t i = 0; i < qn_archive_size(x); i++) {
		const size_t n = print_name(NULL, qn_stored_name(qn_archive_get(x, i)));

		width = n > width ? n : width;
	}
	printf("%s", qn_archive_properties(x) > 0 ? "\n" : "");
	for (size_t i = 0; i < qn_archive_size(x); i++) {
		const qn_stored *t = qn_archive_get(x, i);

		print_padded(qn_stored_name(t), width < 80 ? width : 80);
		printf("  %-6s  ", form_of(t));
		print_shape(t, stdout);
		printf("  %zu\n", qn_stored_bytes(t));
		bytes += qn_stored_bytes(t);
	}
	printf("%zu tensors, %zu bytes, %zu properties (%s)\n", qn_archive_size(x), bytes,
	       qn_archive_properties(x), qn_archive_format(x));
	return QN_OK;
}

/* ---- JSON ---- */

static void
print_plane(const qn_plane_view *p)
{
	printf("{\"name\": ");
	json_text(stdout, p->name);
	printf(", \"dtype\": \"%s\", \"shape\": [", p->dtype);
	for (int i = 0; i < p->rank; i++)
		printf("%s%" PRId64, i > 0 ? ", " : "", p->dim[i]);
	printf("], \"bytes\": %zu}", p->bytes);
}

static void
print_tensor(const qn_stored *t)
{
	printf("    {\"name\": ");
	json_text(stdout, qn_stored_name(t));
	printf(", \"layout\": ");
	json_text(stdout, qn_stored_layout(t));
	printf(", \"shape\": ");
	print_shape(t, stdout);
	printf(", \"bytes\": %zu, \"planes\": [", qn_stored_bytes(t));
	for (size_t i = 0; i < qn_stored_planes(t); i++) {
		const qn_plane_view p = qn_stored_plane(t, i);

		printf("%s", i > 0 ? ", " : "");
		print_plane(&p);
	}
	printf("], \"metadata\": {");
	for (size_t i = 0; qn_stored_meta(t, i).key != NULL; i++) {
		printf("%s", i > 0 ? ", " : "");
		json_text(stdout, qn_stored_meta(t, i).key);
		printf(": %s", qn_stored_meta(t, i).json);
	}
	printf("}}");
}

static qn_status
list_json(qn_archive *x)
{
	printf("{\n  \"format\": \"%s\",\n  \"properties\": {", qn_archive_format(x));
	for (size_t i = 0; i < qn_archive_properties(x); i++) {
		qn_property_view p;
		qn_status status = qn_archive_property(x, i, &p);

		if (status != QN_OK)
			return status;
		printf("%s\n    ", i > 0 ? "," : "");
		json_text(stdout, p.key);
		printf(": %s", p.json);
	}
	printf("%s},\n  \"tensors\": [", qn_archive_properties(x) > 0 ? "\n  " : "");
	for (size_t i = 0; i < qn_archive_size(x); i++) {
		printf("%s\n", i > 0 ? "," : "");
		print_tensor(qn_archive_get(x, i));
	}
	printf("%s]\n}\n", qn_archive_size(x) > 0 ? "\n  " : "");
	return QN_OK;
}

/* ---- one tensor ---- */

static qn_status
unknown(const qn_archive *x, const char *name)
{
	const char *best = NULL;

	for (size_t i = 0; i < qn_archive_size(x); i++)
		best = qn_nearer_name(name, best, qn_stored_name(qn_archive_get(x, i)));
	fprintf(stderr, "quern tensors: --dump: unknown tensor '%s'", name);
	program_suggest(best);
	return QN_EUSAGE;
}

static qn_status
find_plane(const qn_stored *t, const char *name, size_t *out)
{
	for (size_t i = 0; i < qn_stored_planes(t); i++)
		if (strcmp(qn_stored_plane(t, i).name, name) == 0) {
			*out = i;
			return QN_OK;
		}
	if (qn_stored_planes(t) == 1 && qn_stored_plane(t, 0).name[0] == '\0') {
		fprintf(stderr,
			"quern tensors: --plane: %s has no planes, as its layout %s is one array; "
			"without --plane its values are written\n",
			qn_stored_name(t), qn_stored_layout(t));
		return QN_EUSAGE;
	}
	fprintf(stderr, "quern tensors: --plane: %s has no plane '%s' (expected ",
		qn_stored_name(t), name);
	for (size_t i = 0; i < qn_stored_planes(t); i++)
		fprintf(stderr, "%s'%s'", i > 0 ? ", " : "", qn_stored_plane(t, i).name);
	fprintf(stderr, ")\n");
	return QN_EUSAGE;
}

static qn_status
dump(const qn_archive *x, const options *o)
{
	const qn_stored *t = qn_archive_find(x, o->dump);
	const bool plain = t != NULL && strcmp(qn_stored_layout(t), "plain") == 0;
	qn_array *a;
	size_t plane = 0;
	qn_status status = t != NULL ? QN_OK : unknown(x, o->dump);

	if (status == QN_OK && o->plane != NULL)
		status = find_plane(t, o->plane, &plane);
	if (status == QN_OK)
		status = o->plane != NULL || plain ? qn_stored_plane_array(t, plane, &a)
						   : qn_stored_values(t, 0, &a);
	return status == QN_OK ? qn_array_save(a, o->output) : status;
}

static qn_status
tensors(qn_ctx *ctx, const options *o)
{
	qn_archive *x;
	qn_status status = qn_archive_open(ctx, o->model, &x);

	if (status != QN_OK)
		return status;
	if (o->dump != NULL)
		return dump(x, o);
	return o->json ? list_json(x) : list(x);
}

int
cmd_tensors(const options *o)
{
	if ((o->dump != NULL) != (o->output != NULL) || (o->plane != NULL && o->dump == NULL)) {
		fprintf(stderr, "quern tensors: --dump NAME and -o FILE.npy belong together; "
				"--plane needs them\n");
		return QN_EUSAGE;
	}
	qn_ctx *ctx = program_open(o);

	return ctx == NULL ? 1 : program_close(ctx, tensors(ctx, o));
}
