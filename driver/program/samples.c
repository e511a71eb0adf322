/* SPDX-License-Identifier: Apache-2.0 */
/* samples.c - samples from the command line: [INPUT=]FILE[:OPTION=VALUE,…], and the options of the
 * command that say how those are read whose own ones do not.
 *
 *   --calib faces/ --input-scale 0.00392156862745098      --calib image=faces/ --calib size=sizes.csv
 *   --calib faces/:scale=0.00392156862745098,mean=0.5,0.5,0.5 --data test.npy */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "texts.h"

enum { MOST_NAME = 128, MOST_OPTIONS = 4096, MOST_RANK = 7 };

/* The options as numbers; qn_data_opts points into it. */
typedef struct reading {
	qn_data_opts opts;
	int64_t shape[MOST_RANK];
	double mean[MAX_CHANNELS], std[MAX_CHANNELS];
	int rank; /* of --shape */
} reading;

/* An argument, in its parts. */
typedef struct source_text {
	const char *path; /* lives with the sample list */
	char input[MOST_NAME];
	char own[MOST_OPTIONS]; /* the options after the path; pieces of it are in `sample` */
	sample_options sample;
	unsigned own_keys; /* bits of `keys`: those that it has itself */
} source_text;

qn_status
program_read_list(const char *option, const char *text, size_t most, double *v, size_t *n)
{
	const char *at = text;

	for (*n = 0; text != NULL;) {
		char *end;

		if (*n == most) {
			fprintf(stderr, "quern %s: %s: '%s' has more than %zu number%s\n",
				program_command, option, text, most, most == 1 ? "" : "s");
			return QN_EUSAGE;
		}
		v[*n] = strtod(at, &end);
		if (end == at || (*end != '\0' && *end != ',') || v[*n] - v[*n] != 0)
			return program_bad_value(option, text,
						 most == 1 ? "a number like 0.5"
							   : "numbers like 0.5,0.25");
		++*n;
		if (*end == '\0')
			break;
		at = end + 1;
	}
	return QN_OK;
}

/* "28,28,1", or "28x28x1". */
static qn_status
read_shape(const sample_options *o, reading *r)
{
	for (const char *at = o->shape; at != NULL;) {
		char *end;
		const long long n = strtoll(at, &end, 10);

		if (end == at || n < 1 || n > INT32_MAX || r->rank == MOST_RANK ||
		    (*end != '\0' && *end != ',' && *end != 'x'))
			return program_bad_value("--shape", o->shape,
						 "up to 7 dimensions like 28,28,1");
		r->shape[r->rank++] = n;
		at = *end != '\0' ? end + 1 : NULL;
	}
	return QN_OK;
}

static qn_status
read_options(const sample_options *o, reading *r)
{
	double scale = 0;
	double zero = 0;
	size_t n = 0;
	size_t nzero = 0;

	*r = (reading){0};
	if (read_shape(o, r) != QN_OK ||
	    program_read_list("--mean", o->mean, MAX_CHANNELS, r->mean, &r->opts.nmean) != QN_OK ||
	    program_read_list("--std", o->std, MAX_CHANNELS, r->std, &r->opts.nstd) != QN_OK ||
	    program_read_list("--input-scale", o->input_scale, 1, &scale, &n) != QN_OK ||
	    program_read_list("--input-zero", o->input_zero, 1, &zero, &nzero) != QN_OK)
		return QN_EUSAGE;
	if (n > 0 && scale == 0)
		return program_bad_value("--input-scale", o->input_scale, "a factor other than 0");
	for (size_t i = 0; i < r->opts.nstd; i++)
		if (r->std[i] == 0)
			return program_bad_value("--std", o->std, "divisors other than 0");
	r->opts.layout = (qn_data_layout)option_index(o->layout);
	r->opts.input_scale = scale;
	r->opts.input_zero = zero;
	r->opts.input_zero_unknown = nzero == 0;
	r->opts.mean = r->mean;
	r->opts.std = r->std;
	return QN_OK;
}

/* ---- [INPUT=]FILE[:OPTION=VALUE,…] ---- */

enum { NLAYOUT = 2 };

static const char *const layouts[NLAYOUT] = {"nhwc", "nchw"};

enum { SCALE, ZERO, MEAN, STD, LAYOUT, SHAPE, DTYPE, NKEYS };

static const struct {
	const char *key;
	size_t offset; /* of a text in sample_options; LAYOUT: of its choice */
} keys[NKEYS] = {
	[SCALE] = {"scale", offsetof(sample_options, input_scale)},
	[ZERO] = {"zero", offsetof(sample_options, input_zero)},
	[MEAN] = {"mean", offsetof(sample_options, mean)},
	[STD] = {"std", offsetof(sample_options, std)},
	[LAYOUT] = {"layout", offsetof(sample_options, layout)},
	[SHAPE] = {"shape", offsetof(sample_options, shape)},
	[DTYPE] = {"dtype", offsetof(sample_options, dtype)},
};

/* The colon after which options stand: the last one, with letters and = after it, unless a file is
 * called so. */
static const char *
find_options(const char *path)
{
	const char *colon = strrchr(path, ':');
	const size_t n = colon != NULL ? strspn(colon + 1, "abcdefghijklmnopqrstuvwxyz-") : 0;

	return n > 0 && colon != path && colon[1 + n] == '=' && !program_same_file(path, path)
		       ? colon
		       : NULL;
}

static qn_status
unknown_key(const char *text, const char *key)
{
	const char *best = NULL;

	for (size_t i = 0; i < NKEYS; i++)
		best = qn_nearer_name(key, best, keys[i].key);
	fprintf(stderr, "quern %s: samples '%s': unknown option '%s' (expected", program_command,
		text, key);
	for (size_t i = 0; i < NKEYS; i++)
		fprintf(stderr, "%s %s", i == 0 ? "" : i + 1 < NKEYS ? "," : " or", keys[i].key);
	fprintf(stderr, ")");
	program_suggest(best);
	return QN_EUSAGE;
}

static qn_status
set_key(source_text *t, const char *text, const char *key, const char *value)
{
	size_t i = 0;

	while (i < NKEYS && strcmp(keys[i].key, key) != 0)
		i++;
	if (i == NKEYS)
		return unknown_key(text, key);
	if ((t->own_keys >> i & 1) != 0) {
		fprintf(stderr, "quern %s: samples '%s': option '%s' is given twice\n",
			program_command, text, key);
		return QN_EUSAGE;
	}
	t->own_keys |= 1u << i;
	if (i == LAYOUT) {
		t->sample.layout = 0;
		for (int k = 0; k < NLAYOUT; k++)
			if (strcmp(value, layouts[k]) == 0)
				t->sample.layout = k + 1; /* as options.scheme */
		return t->sample.layout != 0 ? QN_OK
					     : program_bad_value("layout", value, "nhwc or nchw");
	}
	*(const char **)(void *)((char *)&t->sample + keys[i].offset) = value;
	return QN_OK;
}

/* "mean=0.5,0.5,std=2": a comma ends a value where KEY= follows. */
static qn_status
read_own(source_text *t, const char *text)
{
	char *at = t->own;

	while (at != NULL) {
		char *value = strchr(at, '='), *end = strchr(at, ',');

		if (value == NULL || (end != NULL && end < value))
			return program_bad_value("samples", text, "FILE:OPTION=VALUE,…");
		*value++ = '\0';
		for (end = strchr(value, ','); end != NULL; end = strchr(end + 1, ',')) {
			const size_t n = strspn(end + 1, "abcdefghijklmnopqrstuvwxyz-");

			if (n > 0 && end[1 + n] == '=')
				break;
		}
		if (end != NULL)
			*end++ = '\0';
		if (set_key(t, text, at, value) != QN_OK)
			return QN_EUSAGE;
		at = end;
	}
	return QN_OK;
}

/* INPUT= is there when no slash stands before the first =, and no colon. */
static qn_status
read_source(const options *o, const char *text, sample_list *out, source_text *t)
{
	const size_t n = strcspn(text, "=/:");
	const bool named = n > 0 && text[n] == '=';
	const char *path = named ? text + n + 1 : text;
	const char *colon = find_options(path);
	char *copy = out->path[out->n];

	t->sample = o->sample;
	t->own_keys = 0;
	t->input[0] = '\0';
	if (named && n >= sizeof t->input)
		return program_bad_value("samples", text,
					 "INPUT=FILE with a name of less than 128 bytes");
	if (named)
		(void)snprintf(t->input, sizeof t->input, "%.*s", (int)n, text);
	t->path = path;
	if (colon == NULL)
		return QN_OK;
	if ((size_t)(colon - path) >= sizeof out->path[0] || strlen(colon) >= sizeof t->own)
		return program_bad_value("samples", text, "a shorter path, and shorter options");
	(void)snprintf(copy, sizeof out->path[0], "%.*s", (int)(colon - path), path);
	(void)snprintf(t->own, sizeof t->own, "%s", colon + 1);
	t->path = copy;
	if (find_options(copy) != NULL)
		return program_bad_value("samples", text,
					 "commas between options: FILE:scale=2,mean=0.5");
	return read_own(t, text);
}

/* An option that no samples took; formats: ".bin ". */
static qn_status
unused(const char *option, const char *value, const char *formats)
{
	fprintf(stderr, "quern %s: %s '%s' is for %ssamples, and there are none\n", program_command,
		option, value, formats);
	return QN_EUSAGE;
}

/* A text has no numbers that the options could change. */
static qn_status
load_text(qn_ctx *ctx, const options *o, const source_text *t, sample_list *out)
{
	qn_status status;

	if (t->own_keys != 0 || t->input[0] != '\0')
		return program_bad_value("samples", t->path,
					 "a text without INPUT= and without options");
	status = texts_samples(ctx, o, t->path, out->array + out->n, &out->next);
	if (status == QN_OK)
		out->name[out->n++] = t->path;
	return status;
}

static qn_status
load_one(qn_ctx *ctx, const options *o, const char *text, sample_list *out)
{
	source_text t;
	reading r;
	size_t n = 0;
	qn_status status = read_source(o, text, out, &t);

	if (status != QN_OK)
		return status;
	status = read_options(&t.sample, &r);
	if (status != QN_OK) {
		if (t.own_keys != 0)
			fprintf(stderr, "in the samples '%s'\n", text);
		return status;
	}
	/* They are for the sources that need them; that there is one is looked at in the end. */
	const bool bytes = program_ends(t.path, ".bin") ||
			   (t.sample.shape != NULL && program_holds_bin(t.path));
	const bool rows = bytes || program_ends(t.path, ".csv");
	if ((t.own_keys >> SHAPE & 1) != 0 && !rows)
		return unused("shape", t.sample.shape, ".bin and .csv ");
	if ((t.own_keys >> DTYPE & 1) != 0 && !bytes)
		return unused("dtype", t.sample.dtype, ".bin ");
	r.opts.input = t.input[0] != '\0' ? t.input : NULL;
	r.opts.rank = rows ? r.rank : 0;
	r.opts.shape = rows ? r.shape : NULL;
	r.opts.dtype = bytes ? t.sample.dtype : NULL;
	out->used_shape = out->used_shape || rows;
	out->used_dtype = out->used_dtype || bytes;
	if (program_ends(t.path, ".txt"))
		return load_text(ctx, o, &t, out);
	status =
		qn_samples_open(ctx, t.path, &r.opts, MAX_VALUES - out->n, out->array + out->n, &n);
	for (size_t i = 0; i < n; i++)
		out->name[out->n++] = t.path;
	return status;
}

qn_status
program_check_sample_options(const options *o)
{
	reading r;

	return read_options(&o->sample, &r);
}

qn_status
program_load_samples(qn_ctx *ctx, const options *o, int n, const char *const *text,
		     sample_list *out)
{
	qn_status status = QN_OK;

	out->n = 0;
	out->next = NULL;
	out->used_shape = out->used_dtype = false;
	for (int i = 0; i < n; i++) {
		if (out->n == MAX_VALUES) {
			fprintf(stderr, "quern %s: more than %d arrays of samples\n",
				program_command, (int)MAX_VALUES);
			return QN_EUSAGE;
		}
		qn_status one = load_one(ctx, o, text[i], out);

		if (one != QN_OK)
			status = one;
	}
	return status;
}

qn_status
program_check_used(const options *o, const sample_list *a, const sample_list *b)
{
	const sample_options *s = &o->sample;
	const struct {
		const char *name, *value;
	} rows[] = {
		{"--input-scale", s->input_scale},
		{"--input-zero", s->input_zero},
		{"--mean", s->mean},
		{"--std", s->std},
		{"--layout", s->layout != 0 ? layouts[option_index(s->layout)] : NULL},
	};
	const char *shape = s->shape, *dtype = s->dtype;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].value != NULL && a->n == 0 && (b == NULL || b->n == 0))
			return unused(rows[i].name, rows[i].value, "");

	if (shape != NULL && !a->used_shape && (b == NULL || !b->used_shape))
		return unused("--shape", shape, ".bin and .csv ");
	if (dtype != NULL && !a->used_dtype && (b == NULL || !b->used_dtype))
		return unused("--dtype", dtype, ".bin ");
	return QN_OK;
}
