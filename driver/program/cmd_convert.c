/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_convert.c - quern convert: an archive of tensors in another format, or quantized. */
#include <stdio.h>
#include <string.h>

#include "program.h"
#include "quern/layout.h"

typedef struct tally {
	size_t quantized, exact;
	size_t rows, odd;     /* whose rows no block divides: int8 per channel, as they were */
	size_t before, after; /* bytes */
	size_t as_floats;     /* quantized ones whose bits no form of GGUF holds */
	size_t split, replicated, whole; /* tensors */
} tally;

/* Matrices of float or quantized values; vectors (norms, biases) and integers stay as they are. */
static bool
is_matrix(const qn_stored *t)
{
	if (qn_stored_rank(t) < 2) /* also quantizers, which may have no planes */
		return false;
	if (strcmp(qn_stored_layout(t), "plain") != 0)
		return true;
	const char *dtype = qn_stored_plane(t, 0).dtype;

	return dtype[0] == 'f' || strcmp(dtype, "bf16") == 0;
}

/* Elements of a block of the layout, which the option has checked. */
static int
block_of(const char *layout)
{
	size_t i = 0;

	while (qn_layout_name(i) != NULL && strcmp(qn_layout_name(i), layout) != 0)
		i++;
	return qn_layout_block_size(i);
}

static void
print_shape(const qn_stored *t)
{
	for (int i = 0; i < qn_stored_rank(t); i++)
		printf("%s%lld", i > 0 ? ", " : "[", (long long)qn_stored_dim(t, i));
	printf("]\n");
}

/* A matrix whose rows the block does not divide, in 8 bits with a scale for each row, where the format has that:
 * GGUF knows only blocks. */
static qn_status
odd_rows(const qn_stored *t, const options *o, const qn_stored **out, tally *n)
{
	const bool plain = strcmp(qn_stored_layout(t), "plain") == 0;
	const qn_scaled_quantizer_opts rows = {
		.size = sizeof rows, .dtype = "i8", .dynamic = 1, .per_axis = 1};
	qn_stored *q;

	if (!plain || program_ends(o->arg[0], ".gguf")) {
		printf("stays %s: %s ", plain ? qn_stored_plane(t, 0).dtype : qn_stored_layout(t),
		       qn_stored_name(t));
		print_shape(t);
		n->odd++;
		return QN_OK;
	}
	const qn_status status = qn_stored_quantize(t, &rows, &q);
	if (status != QN_OK)
		return status;
	printf("int8 per channel: %s ", qn_stored_name(t));
	print_shape(t);
	n->rows++;
	*out = q;
	return QN_OK;
}

static qn_status
repacked(const qn_stored *t, const options *o, const qn_stored **out, tally *n)
{
	int exact = 0;
	const qn_repack_opts opts = {.size = sizeof opts, .exact = &exact};
	qn_stored *q;
	qn_status status;

	if (qn_stored_dim(t, qn_stored_rank(t) - 1) % block_of(o->to) != 0)
		return odd_rows(t, o, out, n);
	status = qn_stored_repack(t, o->to, &opts, &q);
	if (status != QN_OK)
		return status;
	n->quantized++;
	n->exact += exact != 0;
	*out = q;
	return QN_OK;
}

/* A quantized tensor stays whole. */
static qn_status
divided(const qn_stored *t, const options *o, const qn_stored **out, tally *n)
{
	const bool plain = strcmp(qn_stored_layout(t), "plain") == 0;
	const bool apart = strcmp(qn_stored_layout(t), "SplitPrimitiveTensor") == 0 ||
			   strcmp(qn_stored_layout(t), "ReplicatedTensor") == 0;
	qn_stored *q, *joined = NULL;
	qn_status status = QN_OK;

	if (!plain && !apart) {
		n->whole++;
		return QN_OK;
	}
	if (apart && o->split > 1)
		status = qn_stored_split(t, 1, &joined);
	if (status == QN_OK)
		status = qn_stored_split(joined != NULL ? joined : t, o->split, &q);
	if (status != QN_OK)
		return status;
	n->split += strcmp(qn_stored_layout(q), "SplitPrimitiveTensor") == 0;
	n->replicated += strcmp(qn_stored_layout(q), "ReplicatedTensor") == 0;
	*out = q;
	return QN_OK;
}

/* The tensors of x, quantized or split where they can be, in an archive of their own. */
static qn_status
changed(qn_ctx *ctx, qn_archive *x, const options *o, qn_archive **out, tally *n)
{
	qn_status status = qn_archive_new(ctx, out);

	if (status == QN_OK)
		status = qn_archive_copy_properties(*out, x);
	for (size_t i = 0; i < qn_archive_size(x) && status == QN_OK; i++) {
		const qn_stored *t = qn_archive_get(x, i), *q = t;

		if (o->split != 0)
			status = divided(t, o, &q, n);
		else if (is_matrix(t))
			status = repacked(t, o, &q, n);
		n->before += qn_stored_bytes(t);
		n->after += qn_stored_bytes(q);
		if (status == QN_OK)
			status = qn_archive_add(*out, qn_stored_name(t), q);
	}
	return status;
}

/* What is in a GGUF file, whose writer stores in another form what the format cannot hold. */
static qn_status
measure(qn_ctx *ctx, const qn_archive *to, const options *o, tally *n)
{
	qn_archive *file;

	if (!program_ends(o->arg[0], ".gguf"))
		return QN_OK;
	const qn_status status = qn_archive_open(ctx, o->arg[0], &file);
	if (status != QN_OK)
		return status;
	n->after = 0;
	for (size_t i = 0; i < qn_archive_size(file); i++) {
		const qn_stored *t = qn_archive_get(file, i);
		const qn_stored *wanted = qn_archive_find(to, qn_stored_name(t));

		n->after += qn_stored_bytes(t);
		n->as_floats += wanted != NULL && strcmp(qn_stored_layout(t), "plain") == 0 &&
				strcmp(qn_stored_layout(wanted), "plain") != 0;
	}
	qn_archive_free(file);
	return QN_OK;
}

static void
print_tally(const options *o, size_t tensors, const tally *n)
{
	printf("%zu tensors of %zu became %s (%zu exactly)", n->quantized, tensors, o->to,
	       n->exact);
	if (n->rows > 0)
		printf(", %zu int8 per channel", n->rows);
	if (n->odd > 0)
		printf(", %zu stay", n->odd);
	if (n->rows + n->odd > 0)
		printf(" since no block of %d divides their rows", block_of(o->to));
	if (n->odd > 0 && program_ends(o->arg[0], ".gguf"))
		printf(" and GGUF has no int8 per channel, which quern compile makes of floats");
	if (n->as_floats > 0)
		printf(", %zu are f32 in the file since GGUF has no form that holds their bits",
		       n->as_floats);
	printf("; %zu bytes became %zu\n", n->before, n->after);
}

/* A folder with a network, in the format that has names for such: */
static bool
becomes_language_model(const qn_archive *x, const options *o)
{
	return program_ends(o->arg[0], ".gguf") &&
	       strcmp(qn_archive_format(x), "Hugging Face folder") == 0 &&
	       o->quant_params == NULL && o->split == 0;
}

static qn_status
convert(qn_ctx *ctx, const options *o)
{
	qn_archive *x, *to;
	tally n = {0};
	qn_status status = qn_archive_open(ctx, o->model, &x);

	if (status == QN_OK && o->quant_params != NULL)
		status = qn_archive_apply_quant_params(x, o->quant_params);
	if (status == QN_OK && becomes_language_model(x, o))
		status = qn_archive_language_model(x, &x);
	to = x;
	if (status == QN_OK && (o->to != NULL || o->split != 0))
		status = changed(ctx, x, o, &to, &n);
	if (status == QN_OK)
		status = qn_archive_save(to, o->arg[0]);
	if (status == QN_OK && o->to != NULL)
		status = measure(ctx, to, o, &n);
	if (status != QN_OK)
		return status;
	if (o->to != NULL)
		print_tally(o, qn_archive_size(x), &n);
	if (o->split > 1)
		printf("%zu tensors of %zu are split into %d parts, %zu replicated, %zu quantized "
		       "ones stay whole\n",
		       n.split, qn_archive_size(x), o->split, n.replicated, n.whole);
	return QN_OK;
}

int
cmd_convert(const options *o)
{
	if (program_same_file(o->model, o->arg[0])) {
		fprintf(stderr,
			"quern convert: '%s' is the archive that is read; give another "
			"name for the result\n",
			o->arg[0]);
		return QN_EUSAGE;
	}
	if (o->to != NULL && o->split != 0) {
		fprintf(stderr,
			"quern convert: --split is for plain tensors, and --to quantizes; give "
			"one of them\n");
		return QN_EUSAGE;
	}
	qn_ctx *ctx = program_open(o);

	return ctx == NULL ? 1 : program_close(ctx, convert(ctx, o));
}
