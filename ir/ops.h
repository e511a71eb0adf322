/* SPDX-License-Identifier: Apache-2.0 */
/* ops.h - operators and their attributes, from the tables of ops.def.
 *
 *   OP(conv2d, 2, 3, conv2d, ACC, conv)   --->   QN_OP_conv2d, its row (qn_opinfo), attr->conv2d.stride … */
#ifndef QN_IR_OPS_H
#define QN_IR_OPS_H

#include "ir/tensor.h"
#include "quern/host_ops.h"

typedef enum qn_op {
#define OP(name, min_in, max_in, attributes, behaviour, family) QN_OP_##name,
#include "ir/ops.def"
	QN_NOP
} qn_op;

typedef enum qn_behaviour {
	QN_EDGE,
	QN_ACC,
	QN_SAME,
	QN_JOIN,
	QN_MEAN,
	QN_MIX,
	QN_LUT,
	QN_FIXED,
	QN_INDEX,
	QN_NONE
} qn_behaviour;

/* ---- attributes ---- */

typedef struct qn_list { /* LIST attribute */
	int32_t n;
	int64_t v[QN_MAX_RANK];
} qn_list;

/* Any number of them; the graph of the node holds them. */
typedef struct qn_integers { /* INTEGERS attribute */
	size_t n;
	const int64_t *v;
} qn_integers;

typedef struct qn_reals { /* REALS attribute */
	size_t n;
	const double *v;
} qn_reals;

#define QN_FIELD_INT(name, n) int64_t name;
#define QN_FIELD_INTS(name, n) int64_t name[n];
#define QN_FIELD_LIST(name, n) qn_list name;
#define QN_FIELD_REAL(name, n) double name;
#define QN_FIELD_ENUM(name, n) int32_t name;
#define QN_FIELD_INTEGERS(name, n) qn_integers name;
#define QN_FIELD_REALS(name, n) qn_reals name;
#define QN_FIELD_TEXT(name, n) const char *name; /* NULL: "" */

/* typedef enum qn_ties { QN_TIES_even, QN_TIES_away } qn_ties;
 * typedef struct qn_attrs_conv2d { int64_t stride[2]; … } qn_attrs_conv2d; */
#define NAME(prefix, name) prefix##_##name,
#define ENUM(list, names) typedef enum qn_##list{names} qn_##list;
#define ATTR(set, name, kind, length, text) QN_FIELD_##kind(name, length)
#define SET(set, attributes)                                                                       \
	typedef struct qn_attrs_##set {                                                            \
		attributes                                                                         \
	} qn_attrs_##set;
#include "ir/ops.def"

/* Attributes of a custom operator; `op` says which one the node is. */
enum { QN_MAX_OP_ATTRS = 8 };
typedef struct qn_attrs_of_host {
	const struct qn_custom *op;
	qn_op_value value[QN_MAX_OP_ATTRS];
} qn_attrs_of_host;

typedef union qn_attrs {
	char none;
	qn_attrs_of_host custom;
#define SET(set, attributes) qn_attrs_##set set;
#include "ir/ops.def"
} qn_attrs;

typedef enum qn_attr_set {
	QN_ATTRSET_none,
#define SET(set, attributes) QN_ATTRSET_##set,
#include "ir/ops.def"
	QN_NATTRSET
} qn_attr_set;

typedef enum qn_attr_kind {
	QN_ATTR_INT,
	QN_ATTR_INTS,
	QN_ATTR_LIST,
	QN_ATTR_REAL,
	QN_ATTR_ENUM,
	QN_ATTR_INTEGERS,
	QN_ATTR_REALS,
	QN_ATTR_TEXT
} qn_attr_kind;

typedef struct qn_attr_info {
	const char *name;
	qn_attr_kind kind;
	uint32_t length;          /* INT 1, INTS and LIST: elements; ENUM: a qn_enum */
	size_t offset;            /* in the set's struct */
	const char *default_text; /* "" : must be given */
} qn_attr_info;

typedef struct qn_attr_set_info {
	const char *name;
	size_t nattr, size;
	const qn_attr_info *attr;
	/* the custom operator that it belongs to; NULL: built in */
	const struct qn_custom *custom;
} qn_attr_set_info;

extern const qn_attr_set_info qn_attr_set_table[QN_NATTRSET];
#define QN_ATTRS(set) (&qn_attr_set_table[QN_ATTRSET_##set])

/* The lists of names for ENUM attributes; info->length is one of these. */
typedef enum qn_enum {
#define ENUM(list, names) QN_ENUM_##list,
#include "ir/ops.def"
	QN_NENUM
} qn_enum;

typedef struct qn_enum_info {
	const char *name;
	size_t n;
	const char *const *names;
} qn_enum_info;

extern const qn_enum_info qn_enum_table[QN_NENUM];
/* The value of a name, -1 when the list has none; the name of a value; "explicit or same or
 * valid". */
int32_t qn_enum_find(const qn_attr_info *info, const char *name);
const char *qn_enum_name(const qn_attr_info *info, int32_t value);
void qn_enum_print_names(qn_buf *b, const qn_attr_info *info);

/* Fills in the defaults (required ones become 0). */
void qn_attrs_default(const qn_attr_set_info *set, qn_attrs *out);
/* Copies into arena a what the attributes point to. */
void qn_attrs_own(qn_arena *a, const qn_attr_set_info *set, qn_attrs *attrs);
uint32_t qn_attrs_hash(const qn_attr_set_info *set, const qn_attrs *attrs, uint32_t seed);
bool qn_attrs_equal(const qn_attr_set_info *set, const qn_attrs *a, const qn_attrs *b);
/* Whether one attribute has its default value (and need not be printed). */
bool qn_attr_is_default(const qn_attr_set_info *set, const qn_attr_info *info,
			const qn_attrs *attrs);
/* Prints one attribute's value in the text form: 3, [1,2], 1.000000e-05 as shortest real with a
 * '.', same. */
void qn_attr_print(qn_buf *b, const qn_attr_info *info, const qn_attrs *attrs);

/* ---- the op table ---- */

typedef struct qn_node qn_node;
typedef struct qn_graph qn_graph;
typedef struct qn_model qn_model;

/* The type of a node from its inputs' types.  `declared` is the type written beside the node,
 * NULL when there is none; a rule uses it where it cannot derive the element type.  Reports what
 * is wrong with the node's name and the values, all problems of the node, and returns NULL then. */
typedef const qn_type *qn_infer_fn(const qn_graph *g, const qn_node *n, const qn_type *declared);

/* Whether n, a convolution of data x with a scale for each channel and weights w, is computed channel
 * by channel: a depthwise one, whose pads and sums have one zero point. */
bool qn_takes_channels(const qn_types *t, const qn_node *n, const qn_type *x, const qn_type *w);

typedef struct qn_opinfo {
	const char *name;
	uint32_t min_in, max_in;
	const qn_attr_set_info *attrs;
	qn_behaviour behaviour;
	qn_infer_fn *infer;
} qn_opinfo;

const qn_opinfo *qn_opinfo_get(qn_op op);
/* The row of a node; a custom operator has its own. */
const qn_opinfo *qn_opinfo_of(const qn_node *n);
/* Whether values of the type are in blocks, or have a scale for each index of the axis (< 0: from the end): what is
 * gathered along it cannot keep them. */
bool qn_gather_own_scales(const qn_type *x, int64_t axis);
/* Whether n gathers from values in blocks, or with a scale for each index of the axis, which then get the one scale of its
 * result. */
bool qn_gather_rescales(const qn_graph *g, const qn_node *n);
/* The parameters that the arithmetic of a FIXED op gives a result of this storage, i8, u8 or i16:
 * those of i8; with 128 added to the zero point; zero point 0 and the scale with which i16 holds
 * the same float values, rounded up to a power of 2 times the scale of i8. */
void qn_fixed_output(const qn_node *n, const qn_elem *storage, double *scale, int64_t *zp);
/* Whether a FIXED op gives its result the same range whatever its data are: all but log_softmax, which reaches as far
 * down as its operand is wide; its parameters here are TFLite's. */
bool qn_has_fixed_range(const qn_node *n);
/* Rows that hold the noise of log_mel: in each channel its parts, the highest first. */
enum { QN_NOISE_ROWS = 3 };
/* Whether element type e has these parameters, and all values of its storage. */
bool qn_has_fixed_output(const qn_types *t, const qn_node *n, const qn_elem *e);
/* Whether the op's arithmetic gives results of type e whatever its parameters are. */
bool qn_supports_any_output(const qn_node *n, const qn_elem *e);
/* Whether the result has the bytes of the operand, under a type of the same elements: reshape, flatten,
 * squeeze, expand_dims, trace. */
bool qn_op_keeps_bytes(qn_op op);
/* QN_NOP when there is no built-in op of this name. */
qn_op qn_op_find(const char *name);
/* The row of a built-in op or of one that the host registered, NULL when there is none. */
const qn_opinfo *qn_op_lookup(const qn_env *env, const char *name, qn_op *op);

#endif
