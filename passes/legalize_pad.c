/* SPDX-License-Identifier: Apache-2.0 */
/* legalize_pad.c - what a pad writes, and windows that need none of it.
 *
 *   pad {value}                                          ->  pad {code}
 *   conv2d {padding=valid}(pad {before, after}(x))       ->  conv2d {pad}(x)       no image with a margin is stored
 *   max_pool likewise
 *
 * What a convolution reads beyond the image counts as its operand's zero point, and a max_pool does not look
 * there: so the pad has to write the zero point, or the least value of the storage. */
#include <string.h>

#include "ir/window.h"
#include "passes/channels.h"
#include "passes/legalize.h"
#include "runtime/impls.h"

qn_id
qn_legalize_pad_code(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	qn_attrs attr;

	qn_attrs_of(n, &attr);
	if (n->type->is_tuple || !qn_elem_is_quant(n->type->elem) || attr.pad.code != INT32_MIN ||
	    attr.pad.mode != QN_PAD_constant)
		return qn_rw_decline(rw, "it does not pad quantized values with a constant, or its "
					 "quantized value is known already");
	attr.pad.code = qn_code_of(&qn_rw_model(rw)->types, n->type->elem, attr.pad.value);
	attr.pad.value = 0; /* attribute code replaces it from now on */
	return qn_rw_add(rw, QN_OP_pad, qn_rw_name(rw, m->root), 1, n->in, &attr, NULL);
}

/* The windows of an op, with its own pads; attrs is a copy of the node's attributes. */
typedef struct windows {
	int32_t axes;
	int32_t *padding;
	int64_t *pad; /* before and after of each axis */
	bool skips;   /* what lies beyond the image does not count, else it is the zero point */
} windows;

static windows
windows_of(qn_op op, qn_attrs *a)
{
	switch ((int)op) {
	case QN_OP_conv1d:
		return (windows){1, &a->conv1d.padding, a->conv1d.pad, false};
	case QN_OP_conv2d:
		return (windows){2, &a->conv2d.padding, a->conv2d.pad, false};
	case QN_OP_conv3d:
		return (windows){3, &a->conv3d.padding, a->conv3d.pad, false};
	default:
		return (windows){2, &a->pool.padding, a->pool.pad, true};
	}
}

/* Whether the pad writes what the windows find beyond the image anyway, along their axes alone. */
static bool
is_margin(const qn_rw *rw, const qn_node *pad, const windows *w)
{
	double scale;
	int64_t zp;

	if (pad->op != QN_OP_pad)
		return false;
	const qn_attrs_pad *a = &pad->attr->pad;
	const qn_elem *e = pad->type->elem;
	if (!qn_elem_is_quant(e) || e->gran != QN_PER_TENSOR || a->mode != QN_PAD_constant ||
	    a->before.n != w->axes + 2 || a->after.n != w->axes + 2)
		return false;
	qn_elem_param(&qn_rw_model(rw)->types, e, 0, &scale, &zp);
	for (int32_t i = 0; i < w->axes + 2; i++) {
		const bool along = i > 0 && i <= w->axes;

		if (a->before.v[i] < 0 || a->after.v[i] < 0 ||
		    (!along && a->before.v[i] + a->after.v[i] > 0))
			return false;
	}
	return a->code == (w->skips ? qn_storage_interval(e).lo : zp);
}

/* Whether the pool's windows keep their number and each an element of the image. */
static bool
pool_takes(const qn_attrs_pool *a, const int64_t *pad, int32_t axis)
{
	return a->ceil_mode == 0 && a->dilation[axis] == 1 && pad[0] < a->kernel[axis] &&
	       pad[1] < a->kernel[axis];
}

/* Adds the pad's margin to the windows' pads; whether they can have it. */
static bool
add_margin(const qn_node *n, const qn_attrs_pad *a, windows *w)
{
	for (int32_t i = 0; i < w->axes; i++) {
		int64_t *pad = w->pad + (ptrdiff_t)i * 2;

		if (*w->padding == QN_PADDING_valid)
			pad[0] = pad[1] = 0;
		pad[0] += a->before.v[i + 1];
		pad[1] += a->after.v[i + 1];
		if (pad[0] > QN_WINDOW_MAX || pad[1] > QN_WINDOW_MAX ||
		    (w->skips && !pool_takes(&n->attr->pool, pad, i)))
			return false;
	}
	*w->padding = QN_PADDING_explicit;
	return true;
}

qn_id
qn_legalize_pad_window(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root), *pad = qn_rw_node(rw, n->in[0]);
	qn_id in[3];
	qn_attrs attr;

	qn_attrs_of(n, &attr);
	windows w = windows_of(n->op, &attr);
	if (*w.padding == QN_PADDING_same || !is_margin(rw, pad, &w))
		return qn_rw_decline(rw, "it does not read the padding");
	if (!add_margin(n, &pad->attr->pad, &w))
		return qn_rw_decline(rw, "its windows cannot have such wide padding");
	memcpy(in, n->in, n->nin * sizeof *in);
	in[0] = pad->in[0];
	return qn_rw_add(rw, n->op, qn_rw_name(rw, m->root), n->nin, in, &attr, n->type);
}
