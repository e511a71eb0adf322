/* SPDX-License-Identifier: Apache-2.0 */
/* type_impl.h - what the files that implement type.h share and nobody else includes: places
 * that are computed only when something is wrong, leaves of scale expressions, the parser's state. */
#ifndef QN_IR_TYPE_IMPL_H
#define QN_IR_TYPE_IMPL_H

#include "ir/diag.h"
#include "ir/type.h"

enum {
	QN_MAX_DEPTH = 64,       /* nesting of tuples and parentheses in a text */
	QN_MAX_SCALE_OPS = 64,   /* operations in one scale expression */
	QN_MAX_PARAMS = 1 << 20, /* parameters written out in one type text; length of a symbol */
	QN_SCALE_LENGTHS = -1,   /* qn_scale.len: vectors of different lengths were combined */
	QN_SCALE_TOO_LONG = -2   /* qn_scale.len: more than QN_MAX_SCALE_OPS operations */
};

/* ---- places ---- */

/* The parts of an element type's text that a rule can be about. */
typedef enum qn_type_part {
	QN_PART_MIN, /* of the storage range */
	QN_PART_MAX,
	QN_PART_SCALE,
	QN_PART_ZP,   /* the first zero point that is out of range, if one is */
	QN_PART_AXIS, /* of axis i: QN_PART_AXIS + i */
	QN_PART_BLOCK = QN_PART_AXIS + QN_MAX_RANK + 1,
	QN_NPART = QN_PART_BLOCK + QN_MAX_RANK + 1
} qn_type_part;

/* A ready place, or a position in a text: line and column cost a scan, so they are counted last. */
typedef struct qn_where {
	qn_env *env;
	const char *place; /* when text.begin is NULL */
	qn_text text;
	const char *const *part; /* where each part begins in the text; NULL: unknown */
	bool quiet;              /* no warnings: the same parameters have been looked at before */
	char buf[512];
} qn_where;

qn_where qn_where_place(const qn_types *t, const char *place);
const char *qn_where_text(qn_where *w);

/* At a part of the type, counted from that of axis 0 on; at the type if the text is not known. */
qn_where *qn_where_part(qn_where *w, int part);

/* Reports an error at w and yields its status. */
#define QN_FAIL(w, id, ...) qn_report((w)->env, QN_EINVALID, (id), qn_where_text(w), __VA_ARGS__)

/* ---- float formats (round.c) ---- */

typedef struct qn_float_range {
	double subnormal; /* smallest positive value */
	double normal;    /* smallest normal value */
	double max;       /* largest finite value */
} qn_float_range;

qn_float_range qn_float_limits(qn_plain float_type);

/* ---- parameters and scale expressions ---- */

/* Adds parameters to the table under this name; NULL: a free one. */
void qn_params_register(qn_types *t, qn_params *p, const char *name);
/* The same values under another shape of the same size; the name gets the dims appended. */
const qn_params *qn_params_reshape(qn_types *t, const qn_params *p, int32_t rank,
				   const int64_t *shape);
/* The same scales with these zero points (NULL: zeros). */
const qn_params *qn_params_with_zp(qn_types *t, const qn_params *p, const int64_t *zp);

/* Rebuilds s with every leaf replaced by fn(leaf).  NULL from fn ends it and is returned. */
typedef const qn_scale *qn_leaf_fn(qn_types *t, const qn_scale *leaf, void *user);
const qn_scale *qn_scale_map(qn_types *t, const qn_scale *s, qn_leaf_fn *fn, void *user);

/* Value at index i; false and the symbol when one has no value. */
bool qn_scale_value(const qn_scale *s, size_t i, double *out, const qn_symbol **unbound);
const qn_symbol *qn_scale_unbound(const qn_scale *s);
bool qn_scale_is_leaf(const qn_scale *s);

/* Ids type.scale.range, scale.length, scale.size. */
qn_status qn_scale_check_value(qn_where *w, qn_plain expressed, double v);
qn_status qn_scale_check_len(qn_where *w, const qn_scale *s);

/* ---- text (type_print.c) ---- */

void qn_print_name(qn_buf *b, char sigil, const char *name);
/* blank: ", " between the parameters of a flat list, as in a sub-channel type. */
void qn_print_params(qn_buf *b, const qn_params *p, qn_plain expressed, bool blank);
void qn_print_real(qn_buf *b, double v, qn_plain expressed);

/* ---- element types ---- */

void qn_storage_range(uint8_t bits, bool is_signed, int64_t *qmin, int64_t *qmax);
qn_status qn_elem_check_storage(qn_where *w, const qn_elem *desc);
/* Rules of the parameters; makes the scale and the zero point canonical. */
qn_status qn_elem_check_params(qn_types *t, qn_where *w, qn_elem *desc);
/* What parameters are stored as (type_stored.c): their names in a text; whether the description's fit, which is an error
 * in a text (type.scale.stored, type.zp.stored), else they are stored as ever. */
extern const char *const qn_scale_storage_names[QN_NSCALE_STORAGE];
qn_status qn_elem_check_stored(const qn_types *t, qn_where *w, qn_elem *desc);
qn_status qn_elem_make_at(qn_types *t, qn_where *w, const qn_elem *desc, const qn_elem **out);
qn_status qn_elem_check_shape(qn_where *w, const qn_elem *e, int32_t rank, const int64_t *dim);
/* Block of a sub-channel element along axis d, 0 when d is not listed. */
int64_t qn_elem_block(const qn_elem *e, int32_t d);
/* A sub-channel element whose flat vector (of a symbol) gets the scale shape of this tensor. */
const qn_elem *qn_elem_shaped(qn_types *t, const qn_elem *e, int32_t rank, const int64_t *dim);

/* ---- the parser (type_parse*.c) ---- */

typedef struct qn_parser {
	qn_types *t;
	qn_text *text;
	qn_where w;
	int depth;
	size_t nparams;     /* written out so far in this text */
	qn_plain expressed; /* of the element being parsed */
	qn_gran gran;
	int64_t qmin, qmax;         /* of the element being parsed */
	const char *part[QN_NPART]; /* where its parts begin */
	char found[32];
} qn_parser;

/* Reports at the parser's position. */
#define QN_PARSE_FAIL(p, id, ...) ((p)->w.text = *(p)->text, QN_FAIL(&(p)->w, id, __VA_ARGS__))

void qn_parser_mark(qn_parser *p, int part); /* the next token begins a part */
const char *qn_parser_found(qn_parser *p);   /* what stands at the position, for messages */
qn_status qn_parser_expect(qn_parser *p, const char *token);
qn_status qn_parser_enter(qn_parser *p); /* one level deeper; leave with p->depth-- */
qn_status qn_parser_int(qn_parser *p, const char *what, int64_t *out);
qn_status qn_parse_elem(qn_parser *p, const qn_elem **out);
qn_status qn_parse_scale(qn_parser *p, const qn_scale **out);
/* "@name" as a vector of scales. */
qn_status qn_parse_named(qn_parser *p, const qn_scale **out);
qn_status qn_parse_symbol(qn_parser *p, const qn_symbol **out); /* after the '$' */

/* Parts of element types (type_parse_parts.c). */
size_t qn_parse_word(qn_parser *p, const char **out); /* its length; not past it */
bool qn_is_word(const char *s, size_t n, const char *w);
qn_plain qn_plain_named(const char *s, size_t n); /* QN_NPLAIN: there is none */
qn_status qn_parse_storage(qn_parser *p, qn_elem *d);
bool qn_parse_small_storage(qn_parser *p, qn_elem *d); /* false: it is not one */
qn_status qn_parse_float_type(qn_parser *p, qn_elem *d);
/* axis and block have room for QN_MAX_RANK + 1: the one too many is refused with the type. */
qn_status qn_parse_granularity(qn_parser *p, qn_elem *d, int32_t *axis, int64_t *block);
qn_status qn_parse_blocks(qn_parser *p, qn_elem *d, int32_t *axis, int64_t *block); /* after "{" */
qn_status qn_parse_stored_as(qn_parser *p, qn_elem *d);
void qn_parser_sort_parts(qn_parser *p, qn_elem *d, int32_t *axis);

#endif
