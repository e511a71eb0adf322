/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_quantize_tensor.c - quern quantize-tensor: one array in a layout, and how much that changes it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "quern/layout.h"

/* Numbers of an option: a list, or an array of f32 in a NumPy file. */
typedef struct numbers {
	double *v;
	size_t n;
} numbers;

static qn_status
load_numbers(qn_ctx *ctx, const char *path, numbers *out)
{
	qn_array *a, *f;
	qn_stored *t;
	qn_status status = qn_array_load(ctx, path, &a);

	if (status == QN_OK)
		status = qn_stored_of_array(ctx, path, a, &t);
	if (status == QN_OK)
		status = qn_stored_values(t, 0, &f);
	if (status != QN_OK)
		return status;
	out->n = 1;
	for (int i = 0; i < qn_array_rank(f); i++)
		out->n *= (size_t)qn_array_dim(f, i);
	out->v = malloc((out->n + 1) * sizeof *out->v);
	if (out->v == NULL)
		return QN_ENOMEM;
	for (size_t i = 0; i < out->n; i++)
		out->v[i] = (double)((const float *)qn_array_data(f))[i];
	return QN_OK;
}

static qn_status
read_numbers(qn_ctx *ctx, const char *option, const char *text, numbers *out)
{
	const int most = MAX_CHANNELS;

	if (text == NULL)
		return QN_OK;
	if (program_ends(text, ".npy"))
		return load_numbers(ctx, text, out);
	out->v = malloc((size_t)most * sizeof *out->v);
	if (out->v == NULL)
		return QN_ENOMEM;
	return program_read_list(option, text, (size_t)most, out->v, &out->n);
}

/* An axis from 0; -1 after a message. */
static int
read_axis(const char *text)
{
	double v;
	size_t n;

	if (program_read_list("--axis", text, 1, &v, &n) != QN_OK)
		return -1;
	if (v >= 0 && v < QN_STORED_RANK && v == floor(v))
		return (int)v;
	(void)program_bad_value("--axis", text, "0 to 7");
	return -1;
}

/* ---- quantizing ---- */

static qn_status
scaled(const qn_stored *x, const options *o, const numbers *scale, const numbers *offset,
       qn_stored **out)
{
	qn_scaled_quantizer_opts q = {.size = sizeof q,
				      .dtype = o->type != NULL ? o->type : "i8",
				      .dynamic = scale->n == 0,
				      .per_axis = o->axis != NULL,
				      .block = o->block,
				      .nscale = scale->n,
				      .offset = offset->v,
				      .disable_saturate = o->no_saturation};
	float *s = malloc((scale->n + 1) * sizeof *s);
	qn_status status = QN_ENOMEM;

	if (o->axis != NULL)
		q.axis = read_axis(o->axis);
	for (size_t i = 0; s != NULL && i < scale->n; i++)
		s[i] = (float)scale->v[i];
	q.scale = s;
	if (s != NULL && q.axis >= 0)
		status = qn_stored_quantize(x, &q, out);
	free(s);
	return q.axis < 0 ? QN_EUSAGE : status;
}

static qn_status
quantized(qn_ctx *ctx, const qn_stored *x, const options *o, qn_stored **out)
{
	numbers scale = {0}, offset = {0};
	qn_status status;

	if (o->to != NULL)
		return qn_stored_repack(x, o->to, NULL, out);
	status = read_numbers(ctx, "--scale", o->scale, &scale);
	if (status == QN_OK)
		status = read_numbers(ctx, "--offset", o->offset, &offset);
	if (status == QN_OK && o->offset != NULL && o->scale == NULL) {
		fprintf(stderr, "quern quantize-tensor: --offset needs --scale; scales that are "
				"found in the tensor have no offset\n");
		status = QN_EUSAGE;
	}
	if (status == QN_OK && offset.n != (o->offset != NULL ? scale.n : 0)) {
		fprintf(stderr, "quern quantize-tensor: --offset has %zu numbers, --scale %zu\n",
			offset.n, scale.n);
		status = QN_EUSAGE;
	}
	if (status == QN_OK)
		status = scaled(x, o, &scale, &offset, out);
	free(scale.v);
	free(offset.v);
	return status;
}

/* ---- printing ---- */

static void
print_shape(int rank, const int64_t *dim)
{
	putchar('[');
	for (int i = 0; i < rank; i++)
		printf("%s%" PRId64, i > 0 ? ", " : "", dim[i]);
	putchar(']');
}

static void
print_planes(const qn_stored *t)
{
	printf("%s, %zu bytes\n", qn_stored_layout(t), qn_stored_bytes(t));
	for (size_t i = 0; i < qn_stored_planes(t); i++) {
		const qn_plane_view p = qn_stored_plane(t, i);

		printf("  %-15s %-5s ", p.name[0] != '\0' ? p.name : "(bytes)", p.dtype);
		print_shape(p.rank, p.dim);
		putchar('\n');
	}
	for (size_t i = 0; qn_stored_meta(t, i).key != NULL; i++)
		printf("  %s = %s\n", qn_stored_meta(t, i).key, qn_stored_meta(t, i).json);
}

/* Signal to noise in dB, and the largest difference. */
static qn_status
print_noise(const qn_stored *x, const qn_stored *q)
{
	double signal = 0, noise = 0, largest = 0;
	qn_array *a, *b;
	qn_status status = qn_stored_values(x, 0, &a);
	size_t n = 1;

	if (status == QN_OK)
		status = qn_stored_values(q, 0, &b);
	if (status != QN_OK)
		return status;
	for (int i = 0; i < qn_array_rank(a); i++)
		n *= (size_t)qn_array_dim(a, i);
	for (size_t i = 0; i < n; i++) {
		const double v = (double)((const float *)qn_array_data(a))[i];
		const double e = v - (double)((const float *)qn_array_data(b))[i];

		signal += v * v;
		noise += e * e;
		largest = fabs(e) > largest ? fabs(e) : largest;
	}
	if (noise == 0)
		printf("SQNR infinite: no value has changed\n");
	else
		printf("SQNR %.2f dB, largest difference %g\n", 10 * log10(signal / noise),
		       largest);
	return QN_OK;
}

static qn_status
save(qn_ctx *ctx, const options *o, const qn_stored *q)
{
	const char *base = strrchr(o->model, '/');
	char name[256];
	qn_archive *x;
	qn_status status;

	base = o->name != NULL ? o->name : base != NULL ? base + 1 : o->model;
	(void)snprintf(name, sizeof name, "%s", base);
	if (o->name == NULL && program_ends(name, ".npy"))
		name[strlen(name) - 4] = '\0';
	status = qn_archive_new(ctx, &x);
	if (status == QN_OK)
		status = qn_archive_add(x, name, q);
	return status == QN_OK ? qn_archive_save(x, o->output) : status;
}

static qn_status
quantize_tensor(qn_ctx *ctx, const options *o)
{
	qn_array *a;
	qn_stored *x, *q;
	qn_status status = qn_array_load(ctx, o->model, &a);

	if (status == QN_OK)
		status = qn_stored_of_array(ctx, o->model, a, &x);
	if (status == QN_OK)
		status = quantized(ctx, x, o, &q);
	if (status == QN_OK && o->output != NULL)
		status = save(ctx, o, q);
	if (status != QN_OK)
		return status;
	print_planes(q);
	return print_noise(x, q);
}

int
cmd_quantize_tensor(const options *o)
{
	const bool scales = o->type != NULL || o->scale != NULL || o->offset != NULL ||
			    o->axis != NULL || o->block != 0 || o->no_saturation;

	if (o->to != NULL && scales) {
		fprintf(stderr, "quern quantize-tensor: --to LAYOUT chooses scales itself; --type, "
				"--scale, --offset, --axis, --block and --no-saturation are for "
				"scaled quantizers\n");
		return QN_EUSAGE;
	}
	qn_ctx *ctx = program_open(o);

	return ctx == NULL ? 1 : program_close(ctx, quantize_tensor(ctx, o));
}
