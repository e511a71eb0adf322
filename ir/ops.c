/* SPDX-License-Identifier: Apache-2.0 */
/* ops.c - the op table, made from ops.def: a row there without a shape rule is an undefined
 * qn_infer_<name> for the linker. */
#include <string.h>

#include "ir/custom.h"
#include "ir/infer.h"
#include "ir/type_impl.h"

static const qn_opinfo table[QN_NOP] = {
#define OP(name, min_in, max_in, attributes, behaviour, family)                                    \
	[QN_OP_##name] = {#name,          min_in,         max_in, QN_ATTRS(attributes),            \
			  QN_##behaviour, qn_infer_##name},
#include "ir/ops.def"
};

/* FIXED ops and the parameters of their results in storage i8 (TFLite's scheme). */
static const struct {
	qn_op op;
	double scale;
	int64_t zp;
} fixed[] = {
	{QN_OP_softmax, 1.0 / 256, -128},     {QN_OP_sigmoid, 1.0 / 256, -128},
	{QN_OP_tanh, 1.0 / 128, 0},           {QN_OP_l2_norm, 1.0 / 128, 0},
	{QN_OP_log_softmax, 16.0 / 256, 127},
};

const qn_opinfo *
qn_opinfo_get(qn_op op)
{
	return &table[op];
}

const qn_opinfo *
qn_opinfo_of(const qn_node *n)
{
	if (n->op == QN_OP_custom && n->attr != NULL)
		return &n->attr->custom.op->info;
	return &table[n->op];
}

const qn_opinfo *
qn_op_lookup(const qn_env *env, const char *name, qn_op *op)
{
	const qn_custom *c = env->customs;

	*op = qn_op_find(name);
	if (*op != QN_NOP && *op != QN_OP_custom)
		return &table[*op];
	while (c != NULL && strcmp(c->info.name, name) != 0)
		c = c->next;
	*op = c != NULL ? QN_OP_custom : QN_NOP;
	return c != NULL ? &c->info : NULL;
}

bool
qn_op_keeps_bytes(qn_op op)
{
	return op == QN_OP_reshape || op == QN_OP_flatten || op == QN_OP_squeeze ||
	       op == QN_OP_expand_dims || op == QN_OP_trace;
}

qn_op
qn_op_find(const char *name)
{
	int i = 0;

	while (i < QN_NOP && strcmp(table[i].name, name) != 0)
		i++;
	return (qn_op)i;
}

/* Features of sound: attribute `scale` as the f32 that scales of types are, whatever the storage. */
static double
feature_scale(const qn_node *n)
{
	if (n->op != QN_OP_log_mel && n->op != QN_OP_mfcc)
		return 0;
	return n->attr != NULL ? (double)(float)n->attr->mfcc.scale : 0x1p-7;
}

void
qn_fixed_output(const qn_node *n, const qn_elem *storage, double *scale, int64_t *zp)
{
	*scale = feature_scale(n);
	*zp = 0;
	if (*scale > 0)
		return;
	*scale = 1;
	if (n->op == QN_OP_custom) {
		*scale = (double)(float)qn_custom_desc(n)->fixed_scale; /* as types hold it */
		*zp = qn_custom_desc(n)->fixed_zero_point;
	}
	for (size_t i = 0; i < QN_COUNT(fixed); i++) {
		if (fixed[i].op != n->op)
			continue;
		*scale = fixed[i].scale;
		*zp = fixed[i].zp;
	}
	if (storage->bits > 8) {
		/* zero point 0 and the same range of float values, to a power of 2 */
		*scale *= *zp == 0 ? 0x1p-8 : 0x1p-7;
		*zp = 0;
	} else if (!storage->is_signed) {
		*zp += 128;
	}
}

bool
qn_has_fixed_output(const qn_types *t, const qn_node *n, const qn_elem *e)
{
	double want, scale;
	int64_t want_zp, zp, least, most;

	if (e->gran != QN_PER_TENSOR)
		return false;
	qn_fixed_output(n, e, &want, &want_zp);
	qn_elem_param(t, e, 0, &scale, &zp);
	qn_storage_range(e->bits, e->is_signed, &least, &most);
	return scale == want && zp == want_zp && e->qmin == least && e->qmax == most;
}

bool
qn_has_fixed_range(const qn_node *n)
{
	return qn_opinfo_of(n)->behaviour == QN_FIXED && n->op != QN_OP_log_softmax;
}

/* Functions of one value are tables of all values; the others round quotients of 31 bits. */
bool
qn_supports_any_output(const qn_node *n, const qn_elem *e)
{
	return n->op == QN_OP_sigmoid || n->op == QN_OP_tanh || n->op == QN_OP_log_softmax ||
	       (e->bits <= 8 && (n->op == QN_OP_softmax || n->op == QN_OP_l2_norm));
}
