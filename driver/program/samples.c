/* SPDX-License-Identifier: Apache-2.0 */
/* samples.c - samples from the command line: [INPUT=]FILE, and the options that say how they are
 * read.
 *
 *   --calib faces/ --input-scale 0.00392156862745098      --calib image=faces/ --calib size=sizes.csv */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

enum { MOST_NAME = 128 };

/* The options as numbers; qn_data_opts points into it. */
typedef struct reading {
	qn_data_opts opts;
	int64_t shape[MAX_VALUES];
	double mean[MAX_CHANNELS], std[MAX_CHANNELS];
	int rank; /* of --shape */
	bool used_shape, used_dtype;
} reading;

qn_status
program_read_list(const char *option, const char *text, size_t most, double *v, size_t *n)
{
	const char *at = text;

	for (*n = 0; text != NULL;) {
		char *end;

		if (*n == most) {
			fprintf(stderr, "quern: %s: '%s' has more than %zu numbers\n", option, text,
				most);
			return QN_EUSAGE;
		}
		v[*n] = strtod(at, &end);
		if (end == at || (*end != '\0' && *end != ',') || v[*n] - v[*n] != 0)
			return program_bad_value(option, text, "numbers like 0.5,0.25");
		++*n;
		if (*end == '\0')
			break;
		at = end + 1;
	}
	return QN_OK;
}

static qn_status
read_shape(const options *o, reading *r)
{
	double v[MAX_VALUES];
	size_t n = 0;

	if (program_read_list("--shape", o->shape, 7, v, &n) != QN_OK)
		return QN_EUSAGE;
	for (size_t i = 0; i < n; i++) {
		if (!(v[i] >= 1 && v[i] <= INT32_MAX) || v[i] != (double)(int64_t)v[i])
			return program_bad_value("--shape", o->shape, "dimensions like 28,28,1");
		r->shape[i] = (int64_t)v[i];
	}
	r->rank = (int)n;
	return QN_OK;
}

static qn_status
read_options(const options *o, reading *r)
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
	r->opts.mean = r->mean;
	r->opts.std = r->std;
	return QN_OK;
}

/* One argument: INPUT=PATH when there is no slash before the first =, else PATH. */
static qn_status
load_one(qn_ctx *ctx, const options *o, reading *r, const char *text, sample_list *out)
{
	const char *equals = strchr(text, '=');
	const char *slash = strchr(text, '/');
	bool named = equals != NULL && equals != text && (slash == NULL || slash > equals);
	const char *path = named ? equals + 1 : text;
	char input[MOST_NAME];
	size_t n = 0;
	qn_data_opts opts = r->opts;

	if (named && (size_t)(equals - text) >= sizeof input)
		return program_bad_value("samples", text,
					 "INPUT=FILE with a name of less than 128 bytes");
	if (named) {
		memcpy(input, text, (size_t)(equals - text));
		input[equals - text] = '\0';
		opts.input = input;
	}
	/* They are for the sources that need them; that there is one is looked at in the end. */
	bool bytes = program_ends(path, ".bin") || (o->shape != NULL && program_holds_bin(path));
	if (bytes || program_ends(path, ".csv")) {
		opts.rank = r->rank;
		opts.shape = r->shape;
		r->used_shape = true;
	}
	if (bytes) {
		opts.dtype = o->dtype;
		r->used_dtype = true;
	}
	qn_status status =
		qn_samples_open(ctx, path, &opts, MAX_VALUES - out->n, out->array + out->n, &n);
	for (size_t i = 0; i < n; i++)
		out->name[out->n++] = path;
	return status;
}

qn_status
program_load_samples(qn_ctx *ctx, const options *o, int n, const char *const *text,
		     sample_list *out)
{
	reading r;
	qn_status status = read_options(o, &r);

	out->n = 0;
	if (status != QN_OK)
		return status;
	for (int i = 0; i < n; i++) {
		if (out->n == MAX_VALUES) {
			fprintf(stderr, "quern: more than %d arrays of samples\n", (int)MAX_VALUES);
			return QN_EUSAGE;
		}
		qn_status one = load_one(ctx, o, &r, text[i], out);

		if (one != QN_OK)
			status = one;
	}
	out->used_shape = r.used_shape;
	out->used_dtype = r.used_dtype;
	return status;
}

/* An option that no samples took. */
static qn_status
unused(const char *option, const char *value, const char *formats)
{
	fprintf(stderr, "quern: %s '%s' is for %s samples, and there are none\n", option, value,
		formats);
	return QN_EUSAGE;
}

qn_status
program_check_used(const options *o, const sample_list *a, const sample_list *b)
{
	if (o->shape != NULL && !a->used_shape && (b == NULL || !b->used_shape))
		return unused("--shape", o->shape, ".bin and .csv");
	if (o->dtype != NULL && !a->used_dtype && (b == NULL || !b->used_dtype))
		return unused("--dtype", o->dtype, ".bin");
	return QN_OK;
}
