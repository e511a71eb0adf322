/* SPDX-License-Identifier: Apache-2.0 */
/* type.h - types of values, plain and quantized, interned per model: equal types are equal
 * pointers.
 *
 *   tensor<1x8x8x1xf32>                                        plain
 *   tensor<1x10x!quant.uniform<i8:f32, 3.906250e-03:-128>>     quantized: real = (stored - zero point) * scale
 *   tensor<16x3x3x1x!quant.uniform<i8:f32:0, $conv1.w>>        one scale per index of axis 0, not known yet
 *   tuple<tensor<?x4xf32>, tensor<*xi32>>                      a dynamic dim, an unranked tensor
 *
 * The text form is MLIR's quant dialect with symbols and scale expressions added; docs/types.md
 * is its manual. All functions take the model's type table; returned pointers live as long as
 * it. */
#ifndef QN_IR_TYPE_H
#define QN_IR_TYPE_H

#include "ir/arena.h"
#include "ir/buf.h"
#include "ir/map.h"
#include "ir/small_float.h"
#include "ir/text.h"

enum { QN_MAX_RANK = 8, QN_ZP_FRACTION_MOST = 40 };
#define QN_DYNAMIC INT64_C(-1) /* a dim known only at run time */

/* Plain element types, rows (name, bytes, bits, is_float, is_signed). */
#define QN_PLAIN_TYPES(X)                                                                          \
	X(bool, 1, 1, 0, 0)                                                                        \
	X(i2, 1, 2, 0, 1)                                                                          \
	X(u2, 1, 2, 0, 0)                                                                          \
	X(i4, 1, 4, 0, 1)                                                                          \
	X(u4, 1, 4, 0, 0)                                                                          \
	X(i8, 1, 8, 0, 1)                                                                          \
	X(u8, 1, 8, 0, 0)                                                                          \
	X(i16, 2, 16, 0, 1)                                                                        \
	X(u16, 2, 16, 0, 0)                                                                        \
	X(i32, 4, 32, 0, 1)                                                                        \
	X(u32, 4, 32, 0, 0)                                                                        \
	X(i64, 8, 64, 0, 1)                                                                        \
	X(u64, 8, 64, 0, 0)                                                                        \
	X(f16, 2, 16, 1, 1)                                                                        \
	X(bf16, 2, 16, 1, 1)                                                                       \
	X(f32, 4, 32, 1, 1)                                                                        \
	X(f64, 8, 64, 1, 1)

typedef enum qn_plain {
#define X(name, bytes, bits, is_float, is_signed) QN_PLAIN_##name,
	QN_PLAIN_TYPES(X)
#undef X
		QN_NPLAIN
} qn_plain;

typedef struct qn_plain_info {
	const char *name;
	uint8_t bytes, bits;
	bool is_float, is_signed;
} qn_plain_info;

extern const qn_plain_info qn_plain_table[QN_NPLAIN];

/* ---- symbols: names for quantization parameters that calibration finds ---- */

typedef enum qn_sym_kind {
	QN_SYM_SYMMETRIC, /* "sym": the zero point is 0 */
	QN_SYM_ASYMMETRIC /* "asym" */
} qn_sym_kind;

/* Of super-blocks: each scale is a small integer times the scale of its super-block. */
typedef struct qn_super {
	uint8_t bits;      /* of the integers: 1 to 2^bits - 1 */
	const double *sub; /* the integers, in the shape of the parameters */
	const int64_t
		*shape; /* of the super-blocks' scales; each dim divides that of the parameters */
	const double *scale;
	size_t n;
} qn_super;

/* Parameters of an axis or of blocks: `n` scales and zero points.  Immutable once interned. */
typedef struct qn_params {
	const char *name;      /* without the '@'; NULL when there are at most QN_INLINE_PARAMS */
	size_t n;              /* product of the shape */
	int32_t rank;          /* 1 per axis; the tensor's rank for sub-channel */
	const int64_t *shape;  /* rank dims */
	const double *scale;   /* n, each rounded to the expressed type it was made for */
	const int64_t *zp;     /* n; NULL: all 0 */
	const qn_super *super; /* NULL: none */
} qn_params;

enum { QN_INLINE_PARAMS = 16 }; /* more of them get a name and are stored once in the model */

typedef struct qn_symbol {
	const char *name; /* without the '$': node.operand */
	qn_sym_kind kind;
	int64_t len; /* 0: one pair; else the length of the vector */
	bool bound;
	double scale; /* when bound and len 0; rounded to f32 */
	int64_t zp;
	const qn_params *vec; /* when bound and len > 0 */
	/* the calibration method that a recipe gives it, NULL: that of the options */
	const char *method;
	double idle; /* its scale when all samples are 0, 0: 1; bound in the pass that sets it */
} qn_symbol;

/* ---- scale expressions ---- */

typedef enum qn_scale_kind {
	QN_SCALE_CONST,
	QN_SCALE_VEC, /* qn_params */
	QN_SCALE_SYM,
	QN_SCALE_MUL,
	QN_SCALE_DIV,
	QN_SCALE_FMUL /* the product rounded to f32, as in TFLite's per-tensor fully connected */
} qn_scale_kind;

typedef struct qn_scale {
	qn_scale_kind kind;
	double value;             /* CONST; finite and > 0 */
	const qn_params *vec;     /* VEC */
	const qn_symbol *sym;     /* SYM */
	const struct qn_scale *a; /* MUL, DIV, FMUL: interned operands */
	const struct qn_scale *b;
	/* 0: a scalar; else number of scales.  Of a product: that of its vector operand */
	int64_t len;
} qn_scale;

/* ---- element types ---- */

/* Formats of scales: that of the expressed type, or a smaller one; e8m0: powers of two from 2^-127 to 2^127. */
typedef enum qn_scale_storage {
	QN_SCALE_AS_EXPRESSED,
	QN_SCALE_AS_F16,
	QN_SCALE_AS_BF16,
	QN_SCALE_AS_E8M0,
	QN_NSCALE_STORAGE
} qn_scale_storage;

typedef enum qn_elem_kind {
	QN_ELEM_PLAIN,
	QN_ELEM_ANY,
	QN_ELEM_CALIBRATED,
	QN_ELEM_UNIFORM
} qn_elem_kind;
typedef enum qn_gran { QN_PER_TENSOR, QN_PER_AXIS, QN_SUB_CHANNEL } qn_gran;

typedef struct qn_elem {
	qn_elem_kind kind;
	/* PLAIN: the type.  ANY, UNIFORM: the storage as the narrowest plain type that holds it
	 * (i8 for i5) */
	qn_plain plain;
	uint8_t bits; /* storage width 1..32, or 64 signed */
	bool is_signed;
	/* UNIFORM, of constants alone: the stored bits, unsigned, are a float of this format */
	qn_small_float small;
	/* UNIFORM: how a file stores parameters that are numbers, which have this precision */
	qn_scale_storage scale_as;
	uint8_t zp_bits; /* of the zero points; 0: as the values */
	bool zp_signed;
	/* UNIFORM, of constants in blocks alone: zero points are zp * 2^-zp_fraction, of any size that
	 * zp_bits hold; 0: integers within the storage range */
	uint8_t zp_fraction;
	bool has_expressed;
	int64_t qmin, qmax;
	qn_plain expressed; /* f16, bf16, f32 or f64 */
	qn_gran gran;
	int32_t naxis; /* PER_AXIS: 1.  SUB_CHANNEL: number of blocked axes, ascending */
	const int32_t *axis;
	const int64_t *block; /* SUB_CHANNEL */
	bool partial;         /* SUB_CHANNEL: the last block may be short ("+") */
	const qn_scale *scale;
	/* the symbol whose zero point this is, or NULL: then zp, or the vector's when scale is a
	 * VEC */
	const qn_symbol *zp_sym;
	int64_t zp;
	double cal_min, cal_max; /* CALIBRATED */
} qn_elem;

typedef struct qn_type {
	bool is_tuple;
	const qn_elem *elem; /* tensor */
	int32_t rank;        /* tensor; -1: unranked; 0: scalar */
	const int64_t *dim;  /* rank dims >= 0 or QN_DYNAMIC */
	uint32_t nfield;     /* tuple */
	const struct qn_type *const *field;
} qn_type;

/* ---- the table ---- */

typedef struct qn_types {
	qn_arena *arena;
	qn_map elems, types, scales, params_by_content, params_by_name, symbols_by_name;
	qn_symbol **symbol; /* in order of declaration */
	size_t nsymbol, symbol_cap;
	const qn_params **param; /* named ones, in order of declaration */
	size_t nparam, param_cap;
	bool lax_zp;  /* accept zero points outside the storage range (foreign text) */
	qn_map cache; /* private: type text -> type */
} qn_types;

void qn_types_init(qn_types *t, qn_arena *arena);

/* Symbols.  Errors: symbol.duplicate, symbol.unknown, symbol.len, symbol.scale, symbol.zp,
 * symbol.bound. */
qn_status qn_symbol_declare(qn_types *t, const char *place, const char *name, qn_sym_kind kind,
			    int64_t len, qn_symbol **out) QN_MUST_CHECK;
qn_symbol *qn_symbol_find(const qn_types *t, const char *name);
/* Gives values: n is 1 for len 0.  Scales are rounded to f32, must then be finite and > 0; zps
 * may be NULL (zeros), must be 0 for a symmetric symbol and fit int32. */
qn_status qn_symbol_bind(qn_types *t, const char *place, const char *name, size_t n,
			 const double *scale, const int64_t *zp) QN_MUST_CHECK;

/* The table as it is now, in arena a, and back to that: what was declared or interned later is removed,
 * values of symbols are what they were.  Part of the snapshot of a model (graph.h). */
enum { QN_TYPES_MAPS = 7 };
typedef struct qn_types_snapshot {
	size_t nsymbol, nparam, count[QN_TYPES_MAPS];
	const qn_symbol *symbol;
} qn_types_snapshot;
qn_types_snapshot qn_types_save(const qn_types *t, qn_arena *a);
void qn_types_restore(qn_types *t, const qn_types_snapshot *s);

/* Interns parameters.  name is used when n > QN_INLINE_PARAMS (NULL: "q0", "q1", …) and no equal
 * ones exist.  Error: param.duplicate when another content has that name. shape NULL: rank 1,
 * {n}. */
qn_status qn_params_intern(qn_types *t, const char *place, const char *name, size_t n, int32_t rank,
			   const int64_t *shape, const double *scale, const int64_t *zp,
			   const qn_params **out) QN_MUST_CHECK;

/* Parameters of super-blocks, always named: scales sub * scale, exactly as f32.  (params_super.c)  Ids:
 * type.super.value, .shape, .exact, param.duplicate. */
typedef struct qn_super_desc {
	const char *name;
	uint8_t bits;
	int32_t rank;
	const int64_t *shape, *super_shape;
	const double *sub, *scale;
} qn_super_desc;
qn_status qn_params_super(qn_types *t, const char *place, const qn_super_desc *desc,
			  const qn_params **out) QN_MUST_CHECK;

/* Scale expressions; operands of a product are ordered by their text; x*1, x/1 and (a*b)/b are
 * simplified; constants never fold. The vector forms need equal lengths (scale.length, reported
 * by qn_elem_uniform through len < 0). */
const qn_scale *qn_scale_const(qn_types *t, double value);
const qn_scale *qn_scale_vec(qn_types *t, const qn_params *vec);
const qn_scale *qn_scale_sym(qn_types *t, const qn_symbol *sym);
/* A vector without its zero points, which a product of scales has no place for; NULL after a report. */
const qn_scale *qn_scale_plain(qn_types *t, const char *place, const qn_scale *s);
const qn_scale *qn_scale_op(qn_types *t, qn_scale_kind op, const qn_scale *a, const qn_scale *b);
/* The value at index i of its vectors, in double, in printed order; QN_EINVALID with
 * scale.unbound (names the symbol) or scale.value. */
qn_status qn_scale_eval(const qn_types *t, const char *place, const qn_scale *s, size_t i,
			double *out) QN_MUST_CHECK;
/* The same expression with bound symbols replaced by their values. */
const qn_scale *qn_scale_bind(qn_types *t, const qn_scale *s);
bool qn_scale_has_symbol(const qn_scale *s);
const qn_params *qn_scale_params(const qn_scale *s); /* the first vector leaf or NULL */
void qn_scale_print(qn_buf *b, const qn_scale *s);

/* Element types. */
const qn_elem *qn_elem_plain(qn_types *t, qn_plain p);
/* A uniform element from a filled-in description (kind, bits, is_signed, qmin, qmax, expressed,
 * gran, axis, block, scale, zp…): checks all rules, interns.  Ids: type.storage.kind
 * .storage.width .storage.min .storage.max .storage.range .expressed .scale .zp .param.count
 * .axis.negative .block.axis .block.size .block.duplicate .param.ragged .param.shape .param.rank
 * … (docs/types.md lists them all). */
qn_status qn_elem_make(qn_types *t, const char *place, const qn_elem *desc,
		       const qn_elem **out) QN_MUST_CHECK;
/* desc with the storage fields set: default range of `bits` (signed or not), expressed f32. */
qn_elem qn_elem_desc(uint8_t bits, bool is_signed);

bool qn_elem_is_quant(const qn_elem *e); /* ANY or UNIFORM */
bool qn_elem_is_float(const qn_elem *e); /* plain float, or CALIBRATED */
bool qn_type_is_f32(const qn_type *t);   /* a tensor of plain f32 */
size_t qn_elem_bytes(const qn_elem *e);  /* 1, 2, 4 or 8 per element (canonical layout) */
bool qn_elem_has_symbol(const qn_elem *e);
/* 1, or the length of the vector (of a symbol: its len) */
size_t qn_elem_nparams(const qn_elem *e);
/* Parameters at index i (< nparams) of a uniform type without symbols; *zp without the fraction that it may have
 * (qn_elem_zero_point). */
void qn_elem_param(const qn_types *t, const qn_elem *e, size_t i, double *scale, int64_t *zp);
/* The zero point at index i, with its fraction. */
double qn_elem_zero_point(const qn_types *t, const qn_elem *e, size_t i);
/* The same element with bound symbols replaced; the range rules of zero points are checked then. */
qn_status qn_elem_bind(qn_types *t, const char *place, const qn_elem *e,
		       const qn_elem **out) QN_MUST_CHECK;
/* The same for all elements of a type, which is checked; NULL after a report (scale.unbound …). */
const qn_type *qn_type_bind(qn_types *t, const char *place, const qn_type *type);
/* Sub-channel types without superfluous axes: per-tensor or per-axis where they are equal to
 * one. */
const qn_elem *qn_elem_normalize(qn_types *t, const qn_elem *e);
/* The same of a tensor's element; flags: more of it.  (type_normalize.c) */
enum {
	QN_NORMALIZE_EXPAND = 1,  /* blocks along one static axis: a scale for each index */
	QN_NORMALIZE_COLLAPSE = 2 /* scales and zero points that are all equal: per tensor */
};
const qn_type *qn_type_normalize(qn_types *t, const qn_type *type, unsigned flags);

/* Tensor and tuple types. */
const qn_type *qn_type_tensor(qn_types *t, const qn_elem *e, int32_t rank, const int64_t *dim);
const qn_type *qn_type_plain(qn_types *t, qn_plain p, int32_t rank, const int64_t *dim);
const qn_type *qn_type_tuple(qn_types *t, uint32_t n, const qn_type *const *field);
/* Of two tensors: equal ranks and dims. */
bool qn_type_same_shape(const qn_type *a, const qn_type *b);
const qn_type *qn_type_with_elem(qn_types *t, const qn_type *shape, const qn_elem *e);
const qn_type *qn_type_with_shape(qn_types *t, const qn_type *elem, int32_t rank,
				  const int64_t *dim);

/* ---- fixed-point scales (fix.c): mantissa * 2^-fraction ---- */

typedef struct qn_fixed {
	int32_t mantissa; /* in [2^(bits-1), 2^bits) */
	int32_t fraction; /* below 0 for scales of 2^bits and more */
} qn_fixed;

enum { QN_FIX_LEAST = 8, QN_FIX_DEFAULT = 8, QN_FIX_MOST = 15 }; /* bits */

/* The nearest one to a scale > 0, ties up; its value; whether the scale is one. */
qn_fixed qn_fix(double s, int32_t bits);
double qn_fixed_value(qn_fixed f);
bool qn_is_fixed(double s, int32_t bits);
/* The type with every number in its scales made such a one; zero points stay.  NULL after a
 * report. */
const qn_type *qn_type_fix(qn_types *t, const char *place, const qn_type *type, int32_t bits);

/* Rules about a quantized element in a tensor of this shape (axis < rank, dim equals the number
 * of scales, blocks divide dims …). */
qn_status qn_type_check(const qn_types *t, const char *place, const qn_type *type) QN_MUST_CHECK;

/* Number of elements; -1 when a dim is dynamic, the type unranked or a tuple, or the product
 * exceeds 2^40. */
int64_t qn_type_count(const qn_type *type);
/* The axis of `to`, a static shape that has the elements of `from` in the same order, on which those of axis `axis` are,
 * whole and in order; -1: none. */
int32_t qn_type_same_axis(const qn_type *from, int32_t axis, const qn_type *to);
/* Index into the parameters of a PER_AXIS or SUB_CHANNEL element for the element at idx[rank]. */
size_t qn_type_param_index(const qn_type *type, const int64_t *idx);

/* Text.  parse reports type.syntax, type.unknown, type.literal … with a position; all of the
 * text must be used in the _str form. A type from text has passed qn_type_check.  print writes
 * the canonical form; parse(print(t)) == t. */
qn_status qn_type_parse(qn_types *t, qn_text *text, const qn_type **out) QN_MUST_CHECK;
qn_status qn_type_parse_str(qn_types *t, const char *place, const char *s,
			    const qn_type **out) QN_MUST_CHECK;
/* Of a text that was put together: messages have the place alone, not one in s. */
qn_status qn_type_parse_part(qn_types *t, const char *place, const char *s,
			     const qn_type **out) QN_MUST_CHECK;
qn_status qn_elem_parse(qn_types *t, qn_text *text, const qn_elem **out) QN_MUST_CHECK;
void qn_type_print(qn_buf *b, const qn_type *type);
void qn_elem_print(qn_buf *b, const qn_elem *e);

/* v rounded to the float type (f16, bf16: nearest even; overflow gives infinity). */
double qn_round_to(qn_plain float_type, double v);
/* The 16 bits of a f16 or bf16, and their value. */
uint16_t qn_half_bits(qn_plain half, double v);
double qn_half_value(qn_plain half, uint16_t bits);

/* A range so narrow that it holds nothing but zeros and noise, which qn_range_to_params gives scale 1. */
bool qn_range_is_zero(double min, double max);

/* From an observed range to parameters (docs/quantization.md): 0 is brought into the range; sym:
 * max(|min|, |max|) / qmax, zero point 0. */
void qn_range_to_params(double min, double max, const qn_elem *storage, bool symmetric,
			double *scale, int64_t *zp);

/* The least weight scale with which a bias of that many bits is at most 2^30 in units of data_scale
 * times it, so that half of 32 bits stays for the sum; or 2^39 of 64 bits, as quantization
 * saturates at 2^40. */
double qn_bias_min_weight_scale(double bias, double data_scale, int bits);

/* "i8" of MLIR's "si8", "u8" of "ui8", of the n characters at name; NULL: another word. */
const char *qn_type_of_mlir(const char *name, size_t n);

/* "i8" of "int8" and "si8", and so on; every other name as it is. */
const char *qn_type_name(const char *name);

#endif
