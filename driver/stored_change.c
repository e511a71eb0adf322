/* SPDX-License-Identifier: Apache-2.0 */
/* stored_change.c - tensors in another layout, by repacking and by quantizers. */
#include "driver/host_struct.h"
#include "driver/stored.h"
#include "ir/diag.h"
#include "ir/layout_quantizer.h"
#include "ir/layout_split.h"

typedef struct change_call {
	qn_ctx *ctx;
	const char *name, *layout;
	const qn_stored *from, *by;
	int count;
	const qn_repack_opts *repack;
	const qn_scaled_quantizer_opts *quantizer;
	qn_stored *out;
} change_call;

static qn_status
make(change_call *c, qn_guarded_fn *fn, qn_stored **out)
{
	*out = NULL;
	if (c->from != NULL)
		QN_TRY(qn_stored_has_values(c->from));
	return qn_stored_make(c->ctx, fn, c, &c->out, out);
}

/* ---- from one layout to another ---- */

static qn_status
unpack(void *arg, qn_arena *scratch)
{
	change_call *c = arg;

	(void)scratch;
	c->out = qn_stored_alloc(c->ctx, c->from->name);
	return qn_layout_unpack(&c->ctx->env, &c->out->arena, c->from->name, &c->from->t,
				&c->out->t);
}

qn_status
qn_stored_unpack(const qn_stored *t, qn_stored **out)
{
	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(QN_CTX_OF(t), out));
	return make(&(change_call){.ctx = t->ctx, .from = t}, unpack, out);
}

static qn_status
to_planar(void *arg, qn_arena *scratch)
{
	change_call *c = arg;

	(void)scratch;
	c->out = qn_stored_alloc(c->ctx, c->from->name);
	return qn_layout_to_planar(&c->ctx->env, &c->out->arena, c->from->name, &c->from->t,
				   &c->out->t);
}

qn_status
qn_stored_to_planar(const qn_stored *t, qn_stored **out)
{
	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(QN_CTX_OF(t), out));
	return make(&(change_call){.ctx = t->ctx, .from = t}, to_planar, out);
}

static qn_status
repack(void *arg, qn_arena *scratch)
{
	change_call *c = arg;
	qn_env *env = &c->ctx->env;
	const qn_layout_row *row;
	bool exact = false;

	(void)scratch;
	c->out = qn_stored_alloc(c->ctx, c->from->name);
	QN_TRY(qn_layout_find(env, c->from->name, c->layout, &row));
	QN_TRY(qn_layout_repack(env, &c->out->arena, c->from->name, &c->from->t, row,
				c->repack->unsigned_i4 == 0, &c->out->t, &exact));
	if (c->repack->exact != NULL)
		*c->repack->exact = exact;
	return QN_OK;
}

qn_status
qn_stored_repack(const qn_stored *t, const char *layout, const qn_repack_opts *opts,
		 qn_stored **out)
{
	qn_repack_opts known;

	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(QN_CTX_OF(t), layout, out));
	QN_TRY(QN_TAKE(&t->ctx->env, qn_repack_opts, opts, &known));
	return make(&(change_call){.ctx = t->ctx, .from = t, .layout = layout, .repack = &known},
		    repack, out);
}

static qn_status
split(void *arg, qn_arena *scratch)
{
	change_call *c = arg;
	const qn_layout_tensor *t = &c->from->t;
	const bool apart = qn_layout_is_split(t);

	(void)scratch;
	c->out = qn_stored_alloc(c->ctx, c->from->name);
	if (c->count < 1 || c->count > QN_PLANES || (c->count > 1 && !qn_layout_is_plain(t)) ||
	    (c->count == 1 && !apart && !qn_layout_is_plain(t)))
		return qn_report(&c->ctx->env, QN_EUSAGE, "layout.split", c->from->name,
				 "%s in %d parts (expected a plain tensor and 2 to %d parts, or a "
				 "split one and 1)",
				 t->layout->name, c->count, QN_PLANES);
	c->out->t = c->count > 1 ? qn_layout_split(&c->out->arena, t, c->count)
		    : apart      ? qn_layout_join(&c->out->arena, t)
				 : *t;
	return QN_OK;
}

qn_status
qn_stored_split(const qn_stored *t, int count, qn_stored **out)
{
	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(QN_CTX_OF(t), out));
	return make(&(change_call){.ctx = t->ctx, .from = t, .count = count}, split, out);
}

static qn_status
take_quantizer(qn_env *env, const char *place, const qn_scaled_quantizer_opts *o,
	       qn_scaled_quantizer *out)
{
	const qn_dtype *dtype = o->dtype != NULL ? qn_dtype_by_name(o->dtype) : NULL;

	if (dtype == NULL)
		return qn_report(env, QN_EUSAGE, "quantizer.dtype", place,
				 "unknown element type '%s' (expected i8, u8, i16 …)",
				 o->dtype != NULL ? o->dtype : "");
	*out = (qn_scaled_quantizer){.dtype = dtype,
				     .dynamic = o->dynamic != 0,
				     .axis = o->per_axis != 0 ? o->axis : QN_NO_AXIS,
				     .block = o->block,
				     .no_saturation = o->disable_saturate != 0,
				     .n = (int64_t)o->nscale,
				     .scale = o->scale,
				     .rscale = o->dynamic != 0 ? NULL : o->rscale,
				     .offset = o->dynamic != 0 ? NULL : o->offset};
	return QN_OK;
}

static qn_status
quantize(void *arg, qn_arena *scratch)
{
	change_call *c = arg;
	qn_env *env = &c->ctx->env;
	qn_scaled_quantizer q;

	(void)scratch;
	c->out = qn_stored_alloc(c->ctx, c->from->name);
	QN_TRY(take_quantizer(env, c->from->name, c->quantizer, &q));
	return qn_scaled_quantize(env, &c->out->arena, c->from->name, &q, &c->from->t, &c->out->t);
}

qn_status
qn_stored_quantize(const qn_stored *t, const qn_scaled_quantizer_opts *opts, qn_stored **out)
{
	qn_scaled_quantizer_opts known;

	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(QN_CTX_OF(t), out));
	QN_TRY(QN_TAKE(&t->ctx->env, qn_scaled_quantizer_opts, opts, &known));
	return make(&(change_call){.ctx = t->ctx, .from = t, .quantizer = &known}, quantize, out);
}

static qn_status
new_quantizer(void *arg, qn_arena *scratch)
{
	change_call *c = arg;
	qn_env *env = &c->ctx->env;
	qn_scaled_quantizer q;

	(void)scratch;
	c->out = qn_stored_alloc(c->ctx, c->name);
	QN_TRY(take_quantizer(env, c->name, c->quantizer, &q));
	QN_TRY(qn_scaled_quantizer_check(env, c->name, &q));
	if (q.block > 0)
		return qn_report(
			env, QN_EUSAGE, "quantizer.axis", c->name,
			"a stored quantizer has no blocks (expected one scale, or an axis)");
	c->out->t = qn_quantizer_store(&c->out->arena, &q);
	return QN_OK;
}

qn_status
qn_quantizer_new(qn_ctx *ctx, const char *name, const qn_scaled_quantizer_opts *opts,
		 qn_stored **out)
{
	qn_scaled_quantizer_opts known;

	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(ctx, out));
	QN_TRY(QN_TAKE(&ctx->env, qn_scaled_quantizer_opts, opts, &known));
	return make(
		&(change_call){.ctx = ctx, .name = name != NULL ? name : "", .quantizer = &known},
		new_quantizer, out);
}

static qn_status
quantize_by(void *arg, qn_arena *scratch)
{
	change_call *c = arg;
	qn_env *env = &c->ctx->env;
	qn_scaled_quantizer q;

	c->out = qn_stored_alloc(c->ctx, c->from->name);
	if (!qn_layout_is_quantizer(&c->by->t))
		return qn_report(env, QN_EUSAGE, "quantizer.kind", c->by->name,
				 "a %s quantizes nothing (expected StaticScaledQuantizer or "
				 "DynamicScaledQuantizer)",
				 c->by->t.layout->name);
	qn_quantizer_load(scratch, &c->by->t, &q);
	return qn_scaled_quantize(env, &c->out->arena, c->from->name, &q, &c->from->t, &c->out->t);
}

qn_status
qn_stored_quantize_by(const qn_stored *quantizer, const qn_stored *t, qn_stored **out)
{
	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(QN_CTX_OF(t), quantizer, out));
	return make(&(change_call){.ctx = t->ctx, .from = t, .by = quantizer}, quantize_by, out);
}
