/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - a logical tensor as named planes: dense arrays of which the elements follow by the
 * formula of a layout (docs/layouts.md).
 *
 *   q8_0               ""  u8 [N,K/32,34]
 *     │ to planar
 *     ▼
 *   BlockScaledLayout  d  f16 [N,K/32,1]   qs  i8 [N,K/32,32]        element = d * qs
 *
 * A plane is a view of bytes that a file, an arena or the caller owns; nothing here copies one.  A
 * layout is a row: its planes, and functions for one block or for all of a tensor. */
#ifndef QN_IR_LAYOUT_H
#define QN_IR_LAYOUT_H

#include "ir/dtypes.h"
#include "ir/tensor.h"

enum {
	QN_PLANES = 8,       /* at most, of one tensor */
	QN_METAS = 4,        /* at most, of one tensor */
	QN_BLOCK_MOST = 256, /* elements of a packed block */
	QN_SUBS_MOST = 16    /* sub-blocks of one */
};

typedef struct qn_plane {
	const char *name; /* "d", "qs"; "" of a tensor with one plane */
	const qn_dtype *dtype;
	int32_t rank;
	int64_t dim[QN_MAX_RANK];
	const uint8_t *data; /* row-major, little-endian, not aligned */
	size_t bytes;
} qn_plane;

/* Metadata: a JSON scalar. */
typedef struct qn_meta {
	const char *key, *json; /* "signed", "true" */
} qn_meta;

typedef struct qn_layout_tensor {
	const struct qn_layout_row *layout;
	int32_t rank; /* of the logical tensor */
	int64_t dim[QN_MAX_RANK];
	int32_t nplane;
	qn_plane plane[QN_PLANES];
	int32_t nmeta;
	qn_meta meta[QN_METAS];
} qn_layout_tensor;

/* A block with one byte for each quantized value: element e is d[e / sub] * q[e] + m[e / sub], in
 * f32, each operation rounded; without m nothing is added. */
typedef struct qn_unpacked {
	float d[QN_SUBS_MOST], m[QN_SUBS_MOST];
	int8_t q[QN_BLOCK_MOST];
} qn_unpacked;

/* A packed form, all of whose blocks have the same number of bytes. */
typedef struct qn_packed {
	int32_t bytes, sub; /* of a block; elements of a sub-block */
	bool offset;        /* the formula has m */
	bool exact_half;    /* d and m are stored as f16; else they are products, exact in f32 */
	int32_t ggml;       /* type in a GGUF file */
	const char *planar; /* name of the layout that qn_layout_to_planar makes */
	void (*unpack)(const uint8_t *block, qn_unpacked *out);
	/* The reference's rounding; x: finite. */
	void (*quantize)(const float *x, uint8_t *block);
	/* Back from unpacked values, whose d and m are f16; NULL: cannot. */
	void (*pack)(const qn_unpacked *in, uint8_t *block);
} qn_packed;

/* A plane as the row of a layout wants it: [leading dims of the tensor…, blocks, tail…]. */
typedef struct qn_plane_row {
	const char *name;
	const char *dtype; /* NULL: any float type (check may want another) */
	int32_t tail[2];   /* 0: none */
	bool optional;
} qn_plane_row;

typedef struct qn_layout_row {
	const char *name, *help;
	int32_t block;           /* elements of the last axis in a block; 0: the planes say */
	const qn_packed *packed; /* NULL: planar */
	int32_t nplane;          /* 0: check looks at them */
	const qn_plane_row *plane;
	qn_status (*check)(qn_env *env, const char *place, const qn_layout_tensor *t);
	void (*dequant)(const qn_layout_tensor *t, float *out); /* NULL: by packed, or by host */
	const char
		*twin; /* of a planar layout: the packed form that qn_layout_repack goes through */
	const struct qn_layout_desc *host; /* of the host (quern/layout.h); NULL: built in */
	const struct qn_layout_row *next;  /* custom layouts registered before */
} qn_layout_row;

/* Row i of the built-in table; NULL after the last. */
const qn_layout_row *qn_layout_builtin(size_t i);
/* By name (upper or lower case), custom ones first; reports layout.unknown. */
qn_status qn_layout_find(qn_env *env, const char *place, const char *name,
			 const qn_layout_row **out) QN_MUST_CHECK;
/* Packed form with this type in a GGUF file; NULL: none. */
const qn_layout_row *qn_layout_by_ggml(uint32_t type);
/* A packed form of GGUF files that has no values here; NULL: none has this type.  The type of such a tensor, -1: it is
 * another one.  Reports layout.values (QN_EUNSUPPORTED) of such a tensor. */
const qn_layout_row *qn_layout_opaque(uint32_t type);
int32_t qn_layout_opaque_type(const qn_layout_tensor *t);
qn_status qn_layout_readable(qn_env *env, const char *place,
			     const qn_layout_tensor *t) QN_MUST_CHECK;
/* A copy of a custom descriptor becomes a row of env; layout.register says what is wrong. */
qn_status qn_layout_add(qn_env *env, qn_arena *a, const struct qn_layout_desc *desc) QN_MUST_CHECK;

/* The product of dims, and times `each`; -1 when it exceeds 2^60. */
int64_t qn_layout_count(int32_t rank, const int64_t *dim, int64_t each);
/* A plane over data of n bytes; reports layout.shape when dims and dtype need another number. */
qn_status qn_plane_of(qn_env *env, const char *place, const char *name, const qn_dtype *dtype,
		      int32_t rank, const int64_t *dim, const void *data, size_t n,
		      qn_plane *out) QN_MUST_CHECK;
/* Checks planes and metadata against layout and shape: layout.shape, layout.dtype, layout.plane,
 * layout.meta. */
qn_status qn_layout_check(qn_env *env, const char *place, const qn_layout_tensor *t) QN_MUST_CHECK;
/* A plain tensor over one array. */
qn_layout_tensor qn_layout_plain(const qn_dtype *dtype, int32_t rank, const int64_t *dim,
				 const void *data);
/* f32 values in memory, in the host's order, as a plain tensor: no copy where that is little-endian. */
qn_layout_tensor qn_layout_of_f32(qn_arena *a, int32_t rank, const int64_t *dim, const float *x);

const qn_plane *qn_layout_plane(const qn_layout_tensor *t, const char *name); /* NULL: none */
/* The JSON text; NULL: none. */
const char *qn_layout_meta(const qn_layout_tensor *t, const char *key);
void qn_layout_set_meta(qn_layout_tensor *t, const char *key, const char *json);
/* Elements of the logical tensor, and bytes of all planes. */
int64_t qn_layout_elements(const qn_layout_tensor *t);
size_t qn_layout_bytes(const qn_layout_tensor *t);
/* Elements of the last axis in a block; 1: the layout has no blocks. */
int64_t qn_layout_block(const qn_layout_tensor *t);

/* ---- what can be done with a checked tensor ---- */

bool qn_layout_is_plain(const qn_layout_tensor *t);
/* The logical tensor, row-major f32: qn_layout_elements(t) values. */
void qn_layout_dequant(const qn_layout_tensor *t, float *out);
/* BlockScaledLayout with one byte for each quantized value: what a kernel reads.  Reports
 * layout.unpack for layouts without blocks. */
qn_status qn_layout_unpack(qn_env *env, qn_arena *a, const char *place, const qn_layout_tensor *t,
			   qn_layout_tensor *out) QN_MUST_CHECK;
/* Packed forms as planes; a tensor of planes as it is. */
qn_status qn_layout_to_planar(qn_env *env, qn_arena *a, const char *place,
			      const qn_layout_tensor *t, qn_layout_tensor *out) QN_MUST_CHECK;
/* The same bits in a packed form, where its fields hold them; false: they do not. */
bool qn_layout_pack(qn_arena *a, const qn_layout_tensor *t, const qn_layout_row *to,
		    qn_layout_tensor *out);
/* Quantizes into another layout: exact where the bits fit, else by the reference's rounding of f32
 * values.  is_signed: of BlockScaledI4Layout.  *exact (may be NULL): no value has changed. */
qn_status qn_layout_repack(qn_env *env, qn_arena *a, const char *place, const qn_layout_tensor *t,
			   const qn_layout_row *to, bool is_signed, qn_layout_tensor *out,
			   bool *exact) QN_MUST_CHECK;

/* ---- as a constant of a graph ---- */

/* Whether qn_layout_constant has a type for the layout. */
bool qn_layout_is_constant(const qn_layout_tensor *t);
/* A plain tensor as a view.  Blocks as a quantized type with a scale and a zero point for each, which
 * stands for the same values; of 8 bits, of BlockScaledI4 and its forms of 4.  Reports layout.constant
 * for what no type stands for, blocks with offsets among them, and layout.value. */
qn_status qn_layout_constant(qn_types *types, qn_arena *a, const char *place,
			     const qn_layout_tensor *t, const qn_tensor **out) QN_MUST_CHECK;
/* The values of a layout that has some, in f32. */
const qn_tensor *qn_layout_values(qn_types *types, qn_arena *a, const qn_layout_tensor *t);

#endif
