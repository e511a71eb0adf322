/* SPDX-License-Identifier: Apache-2.0 */
/* samples.h - arrays of numbers, and arrays that hold samples (docs/data.md).
 *
 *   const qn_data_opts opts = {.size = sizeof opts, .input_scale = 1.0 / 255};
 *   qn_array *images;
 *   size_t n;
 *
 *   qn_samples_open(ctx, "images", &opts, 1, &images, &n);      a folder of images, as f32
 *
 * An array belongs to the context that made it. */
#ifndef QUERN_SAMPLES_H
#define QUERN_SAMPLES_H

#include "quern/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- arrays ---- */

/* Reads a NumPy file (.npy), or a tensor of ONNX's test data (.pb). */
QN_API qn_status qn_array_load(qn_ctx *ctx, const char *path, qn_array **out);
/* Copies data: dtype "f32", "f64", "i8", "u8", "i16", "i32", "i64" …, rank 0 … 8, row-major.  data
 * may be NULL for a shape without elements. */
QN_API qn_status qn_array_new(qn_ctx *ctx, const char *dtype, int rank, const int64_t *shape,
			      const void *data, qn_array **out);
/* Writes a NumPy file; samples that are read on demand are all read. */
QN_API qn_status qn_array_save(const qn_array *x, const char *path);
/* Writes n files that belong together: in each folder all or none change. */
QN_API qn_status qn_arrays_save(qn_ctx *ctx, size_t n, const qn_array *const *array,
				const char *const *path);
/* Row-major; lives as long as the array.  NULL for samples that are read on demand. */
QN_API const void *qn_array_data(const qn_array *x);
QN_API int qn_array_rank(const qn_array *x);
/* Dimension 0 <= axis < rank; 0 for any other axis. */
QN_API int64_t qn_array_dim(const qn_array *x, int axis);
QN_API const char *qn_array_dtype(const qn_array *x);
/* The input that samples are for, or the name of a member of an .npz; "" when there is none. */
QN_API const char *qn_array_name(const qn_array *x);
/* Frees an array before its context is closed; NULL is fine. */
QN_API void qn_array_free(qn_array *x);

/* ---- samples: arrays whose dimension 0 counts samples (docs/data.md) ---- */

typedef enum qn_data_layout { QN_NHWC = 0, QN_NCHW = 1 } qn_data_layout;

/* How samples are read; all zero: as they are.  With input_scale, mean or std values become f32:
 * ((value - input_zero) * input_scale - mean) / std, computed in double, rounded once. */
typedef struct qn_data_opts {
	size_t size;
	const char *dtype; /* elements of a .bin or a folder of them: "u8" …; NULL: "f32" */
	/* of one sample of a .bin or .csv, 0 … 7; in a folder each .bin is a sample; 0: not
	 * given */
	int rank;
	const int64_t *shape;
	double input_scale;       /* finite; 0: 1 */
	size_t nmean, nstd;       /* 0: none, 1: for all channels, else one for each channel */
	const double *mean, *std; /* finite; std is not 0 */
	qn_data_layout layout;    /* where the channels of a sample are: last or first */
	/* the model's input that the samples are for; NULL: by order, or by the names in an .npz */
	const char *input;
	double input_zero; /* finite */
	/* 1: an input_zero of 0 was not chosen.  Signed 8-bit samples that get a scale, and were
	 * mostly stored with a zero point, are a warning then (data.zero) */
	int input_zero_unknown;
} qn_data_opts;

/* Opens samples of a file or folder: .npy, .npz, .csv, .bin, .pb, images, audio, or a folder of
 * images or audio, or of ONNX's test data (input_0.pb, input_1.pb …).  Images, audio and rows of a .csv are read when they are needed, any number of times;
 * the files must not change until the array is freed.  An .npz gives an array for each of its
 * members, test data one for each of its inputs, in order: *n says how many, at most `most` (else QN_EUSAGE, data.count).  opts NULL: defaults.
 * On failure out holds nothing. */
QN_API qn_status qn_samples_open(qn_ctx *ctx, const char *path, const qn_data_opts *opts,
				 size_t most, qn_array **out, size_t *n);

/* Writes sample `index` to dst: the array's type without dimension 0, row-major.  Returns 0, or
 * any other number on failure (QN_EIO, data.callback).  An index may be asked for several times,
 * in any order and from any thread of the call that needs it, but by one at a time; the bytes
 * must be the same each time. */
typedef int qn_sample_fn(void *user, size_t index, void *dst);

/* Samples that the host computes or holds: shape[0] is their number.  input: the model's input
 * that they are for, or NULL. */
QN_API qn_status qn_samples_new(qn_ctx *ctx, const char *dtype, int rank, const int64_t *shape,
				const char *input, qn_sample_fn *fn, void *user, qn_array **out);

/* Of stateful networks (docs/state.md): the samples of every call with this context are sequences
 * of `steps` batches each; the states are set to their first values at the beginning of each.  0,
 * the default: the samples of a call are one sequence.  Samples that are not a multiple of `steps`
 * batches are an error of the call that reads them (data.sequence).  Different sequences run in
 * parallel. */
QN_API void qn_set_sequence(qn_ctx *ctx, size_t steps);

#ifdef __cplusplus
}
#endif
#endif
