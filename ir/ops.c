/* SPDX-License-Identifier: Apache-2.0 */
/* ops.c - the op table, pasted from ops.def: a row there without a shape rule is an undefined
 * qn_infer_<name> for the linker. */
#include <string.h>

#include "ir/infer.h"

static const qn_opinfo table[QN_NOP] = {
#define OP(name, min_in, max_in, attrs, behaviour, family)                                         \
	[QN_OP_##name] = {#name, min_in, max_in, QN_ATTRS(attrs), QN_##behaviour, qn_infer_##name},
#include "ir/ops.def"
#undef OP
};

/* FIXED ops and the parameters of their results (TFLite's int8 scheme). */
static const struct {
	qn_op op;
	double scale;
	int64_t zp;
} fixed[] = {
	{QN_OP_softmax, 1.0 / 256, -128},
	{QN_OP_sigmoid, 1.0 / 256, -128},
	{QN_OP_tanh, 1.0 / 128, 0},
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
	return &table[n->op];
}

qn_op
qn_op_find(const char *name)
{
	int i = 0;

	while (i < QN_NOP && strcmp(table[i].name, name) != 0)
		i++;
	return (qn_op)i;
}

void
qn_fixed_output(qn_op op, double *scale, int64_t *zp)
{
	*scale = 1;
	*zp = 0;
	for (size_t i = 0; i < QN_COUNT(fixed); i++) {
		if (fixed[i].op != op)
			continue;
		*scale = fixed[i].scale;
		*zp = fixed[i].zp;
	}
}
