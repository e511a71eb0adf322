/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - tensors with layouts: quantized weights as named planes, GGUF's packed forms, and
 * quantizers (docs/layouts.md).
 *
 *   qn_stored *w, *q;
 *   qn_array *values;
 *
 *   qn_stored_of_array(ctx, "w", array, &w);              a plain tensor over an array
 *   qn_stored_repack(w, "q4_0", NULL, &q);                ggml's rounding, 18 bytes for 32 weights
 *   qn_stored_values(q, 0, &values);                      what they stand for, f32
 *   qn_stored_to_planar(q, &w);                           d f16 [N,K/32,1], qs u8 [N,K/32,16]
 *
 * A stored tensor is a logical shape, a layout, named planes and metadata.  A plane is a dense
 * array, row-major, little-endian as in files; it is a view and never copied.  The formulas are
 * computed in f32, each operation rounded, without contraction: the same bits on every host. */
#ifndef QUERN_LAYOUT_H
#define QUERN_LAYOUT_H

#include "quern/quern.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A tensor as it is stored.  Belongs to a context, or to an archive. */
typedef struct qn_stored qn_stored;

enum { QN_STORED_RANK = 8, QN_LAYOUT_BLOCK_MOST = 65536 };

/* One plane.  The bytes need not be aligned. */
typedef struct qn_plane_view {
	const char *name;  /* "d", "qs"; "" of a tensor with one plane */
	const char *dtype; /* "f16", "i8" …, "f8E4M3FN" */
	int rank;
	int64_t dim[QN_STORED_RANK];
	const void *data;
	size_t bytes;
} qn_plane_view;

/* Metadata: a key and a JSON scalar, "signed" and "true". */
typedef struct qn_meta_view {
	const char *key, *json;
} qn_meta_view;

/* ---- layouts ---- */

/* Layout i of the built-in table and one line about it; NULL after the last. */
QN_API const char *qn_layout_name(size_t i);
QN_API const char *qn_layout_help(size_t i);
/* Elements of a block of layout i, which must divide the rows of what becomes it; 1: no blocks. */
QN_API int qn_layout_block_size(size_t i);

/* A plane of a layout that the host defines: [leading dims of the tensor…, blocks, tail…]. */
typedef struct qn_plane_spec {
	const char *name;
	const char *dtype; /* "f16", "u8" … */
	int tail[2];       /* elements for each block; tail[1] 0: one dimension */
} qn_plane_spec;

/* A layout that the host defines: blocks of the last axis, each with its share of every plane.
 * Pointers are to a block's elements, in the order of `plane`, not aligned, little-endian.  The
 * functions are called on the thread of the call and must be pure. */
typedef struct qn_layout_desc {
	size_t size;
	const char *name; /* not one of another layout, in upper or lower case */
	const char *help; /* one line; NULL: none */
	int block;        /* elements of the last axis: 1 … QN_LAYOUT_BLOCK_MOST */
	size_t nplane;    /* 1 … 8 */
	const qn_plane_spec *plane;
	/* Writes the values of one block: `block` of them. */
	void (*dequant)(void *user, const void *const *plane, float *out);
	/* Quantizes `block` finite values; NULL: qn_stored_repack refuses the layout. */
	void (*quantize)(void *user, const float *x, void *const *plane);
	void *user;
} qn_layout_desc;

/* Adds a layout to the context; the descriptor is copied.  QN_EUSAGE (layout.register). */
QN_API qn_status qn_layout_register(qn_ctx *ctx, const qn_layout_desc *desc);

/* ---- stored tensors ---- */

/* A tensor over planes of the host, which must outlive it and what is made from it.  layout:
 * "plain" (one plane, ""), "TensorScaledLayout", "BlockScaledLayout", "BlockScaledI4Layout",
 * "SuperBlockOffsetScaled_4_6_Layout", a packed form ("q4_0" … "q6_K": one plane of u8, "") or a
 * name of the host.  name NULL: "".  shape: of the logical tensor, rank dims, 0 … QN_STORED_RANK of
 * them.  Errors
 * (QN_EINVALID): layout.shape, layout.dtype, layout.plane, layout.meta; QN_EUNSUPPORTED:
 * layout.unknown. */
QN_API qn_status qn_stored_new(qn_ctx *ctx, const char *name, const char *layout, int rank,
			       const int64_t *shape, size_t nplane, const qn_plane_view *plane,
			       size_t nmeta, const qn_meta_view *meta, qn_stored **out);
/* A plain tensor with a copy of the elements of an array; name NULL: "". */
QN_API qn_status qn_stored_of_array(qn_ctx *ctx, const char *name, const qn_array *array,
				    qn_stored **out);
/* Frees one that belongs to the context; NULL and those of an archive are left alone. */
QN_API void qn_stored_free(qn_stored *t);

/* What a tensor consists of.  Texts and views live as long as it. */
QN_API const char *qn_stored_name(const qn_stored *t);
QN_API const char *qn_stored_layout(const qn_stored *t);
QN_API int qn_stored_rank(const qn_stored *t);
/* axis: 0 … rank - 1; 0 for any other. */
QN_API int64_t qn_stored_dim(const qn_stored *t, int axis);
QN_API size_t qn_stored_planes(const qn_stored *t);
/* i: below qn_stored_planes; all zero for any other. */
QN_API qn_plane_view qn_stored_plane(const qn_stored *t, size_t i);
/* Entry i; key NULL after the last. */
QN_API qn_meta_view qn_stored_meta(const qn_stored *t, size_t i);
/* Of all planes. */
QN_API size_t qn_stored_bytes(const qn_stored *t);

/* The values as f32 in the logical shape; blocked 1: in [leading dims…, blocks, block].  The
 * context owns *out. */
QN_API qn_status qn_stored_values(const qn_stored *t, int blocked, qn_array **out);
/* A copy of plane i: 8-bit floats as u8. */
QN_API qn_status qn_stored_plane_array(const qn_stored *t, size_t i, qn_array **out);

/* ---- from one layout to another: *out belongs to the context, and may have planes of t ---- */

/* BlockScaledLayout with one byte for each quantized value.  QN_EUNSUPPORTED (layout.unpack): t
 * has no blocks. */
QN_API qn_status qn_stored_unpack(const qn_stored *t, qn_stored **out);
/* A packed form as planes, the bits of its fields rearranged; others as they are. */
QN_API qn_status qn_stored_to_planar(const qn_stored *t, qn_stored **out);

typedef struct qn_repack_opts { /* all zero: defaults */
	size_t size;
	int unsigned_i4; /* 1: BlockScaledI4Layout of 0 … 15 with offsets; 0: -8 … 7 */
	int *exact;      /* set to 1 when no value has changed, else 0; NULL: not wanted */
} qn_repack_opts;

/* Quantizes into another layout: where its fields hold the bits, exactly, else from the f32 values
 * by the rounding of ggml's reference.  "plain": f32.  "TensorScaledLayout": i8, one scale.  opts
 * NULL: defaults.  QN_EUNSUPPORTED: layout.row (a block does not divide the rows), layout.quantize,
 * layout.unknown; layout.value: a value that is not finite, or beyond the range of f16 scales. */
QN_API qn_status qn_stored_repack(const qn_stored *t, const char *layout,
				  const qn_repack_opts *opts, qn_stored **out);

/* A plain tensor of two dimensions or more in `count` parts of its first one, SplitPrimitiveTensor,
 * planes "0", "1" …: views; others, and those with too few rows, as ReplicatedTensor.  count: 2 …
 * 8.  1: a tensor of these two layouts is plain again.  QN_EUSAGE (layout.split): another count, or
 * another layout. */
QN_API qn_status qn_stored_split(const qn_stored *t, int count, qn_stored **out);

/* ---- quantizers ---- */

/* How float values become quantized ones: qs = x * scale + offset, rounded half to even, then
 * saturated.  The scale is the reciprocal of the layout's d. */
typedef struct qn_scaled_quantizer_opts {
	size_t size;
	const char *dtype; /* of qs: "i8", "u8", "i16", "i32", "f8E4M3FN" … */
	/* 1: scales from the values, so that the largest magnitude becomes the largest value of
	 * dtype, which is signed; scale, rscale and offset are not read then */
	int dynamic;
	/* 1: a scale for each index of `axis`; else one */
	int per_axis, axis;
	/* a scale for each so many elements of the last axis; 0: none */
	int64_t block;
	size_t nscale; /* 1, the length of the axis, or the number of blocks */
	const float *scale;
	const float *rscale;  /* 1 / scale; NULL: computed */
	const double *offset; /* values of dtype, as many as scales; NULL: none */
	int disable_saturate; /* 1: a value beyond the range is an error (quantizer.range) */
} qn_scaled_quantizer_opts;

/* TensorScaledLayout, with blocks BlockScaledLayout.  A tensor that is quantized already is
 * dequantized first, with a warning (quantizer.again).  Errors: quantizer.dtype, quantizer.axis,
 * quantizer.scale, quantizer.offset, quantizer.shape, quantizer.range, layout.value. */
QN_API qn_status qn_stored_quantize(const qn_stored *t, const qn_scaled_quantizer_opts *opts,
				    qn_stored **out);

/* A quantizer as a tensor of planes, StaticScaledQuantizer (scale, rscale, offset) or
 * DynamicScaledQuantizer, as archives hold them; it has no values.  Without blocks
 * (quantizer.axis).  name NULL: "". */
QN_API qn_status qn_quantizer_new(qn_ctx *ctx, const char *name,
				  const qn_scaled_quantizer_opts *opts, qn_stored **out);
/* Quantizes t by such a quantizer, of an archive or new.
 * QN_EUSAGE (quantizer.kind): it is none. */
QN_API qn_status qn_stored_quantize_by(const qn_stored *quantizer, const qn_stored *t,
				       qn_stored **out);

/* ---- archives: files of named tensors with properties (docs/archives.md) ---- */

typedef struct qn_archive qn_archive;

/* Reads an archive: .gguf, .safetensors, .irpa, the .index.json of several safetensors files, or a
 * folder of Hugging Face.  Large files are mapped, tensors are views of them.  The context
 * owns *out, the archive its tensors.  A tensor of a GGUF type that nothing computes with (iq4_nl,
 * mxfp4 …) has that name as its layout and one plane of bytes; what needs its values is
 * QN_EUNSUPPORTED (layout.values).  QN_EUSAGE (archive.format): unknown file extension. */
QN_API qn_status qn_archive_open(qn_ctx *ctx, const char *path, qn_archive **out);
/* An empty one. */
QN_API qn_status qn_archive_new(qn_ctx *ctx, qn_archive **out);
QN_API void qn_archive_free(qn_archive *x);

/* "GGUF"; "" of a new one. */
QN_API const char *qn_archive_format(const qn_archive *x);
/* Tensors, in the order of the file.  i: below qn_archive_size; NULL: no tensor has this number
 * or name. */
QN_API size_t qn_archive_size(const qn_archive *x);
QN_API const qn_stored *qn_archive_get(const qn_archive *x, size_t i);
QN_API const qn_stored *qn_archive_find(const qn_archive *x, const char *name);

/* A property: its key, the type of its value or elements ("u32", "string", "json" …), the number of
 * elements of an array (-1: not an array), and the value as JSON. */
typedef struct qn_property_view {
	const char *key, *type;
	int64_t count;
	const char *json;
} qn_property_view;

QN_API size_t qn_archive_properties(const qn_archive *x);
/* Property i.  Texts live as long as the archive. */
QN_API qn_status qn_archive_property(qn_archive *x, size_t i, qn_property_view *out);
/* Sets a property from JSON: a bool, string, number, an array of one of them, or any other
 * value. */
QN_API qn_status qn_archive_set_property(qn_archive *x, const char *key, const char *json);
/* Sets all properties of another archive, which must outlive x. */
QN_API qn_status qn_archive_copy_properties(qn_archive *x, const qn_archive *from);

/* Applies quant_params.json (docs/archives.md): the weights and biases of the layers that it names
 * are quantized, quantizers of their inputs and outputs are added.  Tensors that were got before
 * are not those of the archive any more.  QN_EINVALID: quant-params.json, .layer, .missing,
 * .overflow, .shape, .zp; then the archive is as it was. */
QN_API qn_status qn_archive_apply_quant_params(qn_archive *x, const char *path);

/* The language model of a Hugging Face folder with the tensors and properties that a GGUF file of it
 * has, as llama.cpp names and orders them, and its vocabulary.  *out refers to x.  Errors: those of
 * importing the folder.  Warnings: tokenizer.left-out (no vocabulary that Quern knows), llm.names
 * (another network than Quern builds: its names and properties stay). */
QN_API qn_status qn_archive_language_model(const qn_archive *x, qn_archive **out);

/* Adds a tensor as `name`; its planes must outlive the archive.  QN_EUSAGE (archive.name): there is
 * one of that name. */
QN_API qn_status qn_archive_add(qn_archive *x, const char *name, const qn_stored *tensor);
/* Writes a file of the format of its extension.  What the format cannot hold is converted with a
 * warning that says how (archive.property, gguf.dequantized), or an error (archive.type,
 * theta.name). */
QN_API qn_status qn_archive_save(qn_archive *x, const char *path);

#ifdef __cplusplus
}
#endif

#endif
