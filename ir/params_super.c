/* SPDX-License-Identifier: Apache-2.0 */
/* params_super.c - scales of blocks that are small integers times the scales of super-blocks.
 *
 *     param @w = {{0.5, 0.25}} * u6 {{1.0, 63.0, 2.0, 7.0}}     scales 0.5, 31.5, 0.5, 1.75
 *
 * The products are the scales of the type; they must be exact, so that nothing depends on how they are
 * computed. */
#include <math.h>
#include <string.h>

#include "ir/type_impl.h"

enum { MOST_BITS = 8 };

static size_t
product(int32_t rank, const int64_t *dim)
{
	size_t n = 1;

	for (int32_t i = 0; i < rank; i++)
		n *= (size_t)dim[i];
	return n;
}

/* The super-block of parameter i. */
static size_t
super_of(const qn_super_desc *d, size_t i)
{
	size_t index = 0, stride = 1;

	for (int32_t k = d->rank - 1; k >= 0; k--) {
		const size_t dim = (size_t)d->shape[k], supers = (size_t)d->super_shape[k];

		index += i % dim / (dim / supers) * stride;
		stride *= supers;
		i /= dim;
	}
	return index;
}

static qn_status
check(qn_where *w, const qn_super_desc *d)
{
	if (d->bits < 1 || d->bits > MOST_BITS)
		return QN_FAIL(w, "type.super.value",
			       "integers of %d bits in @%s; 1 to %d are possible", d->bits, d->name,
			       MOST_BITS);
	for (int32_t k = 0; k < d->rank; k++)
		if (d->shape[k] < 1 || d->super_shape[k] < 1 ||
		    d->shape[k] % d->super_shape[k] != 0)
			return QN_FAIL(w, "type.super.shape",
				       "%lld scales of super-blocks along dimension %d of @%s do "
				       "not divide %lld blocks",
				       (long long)d->super_shape[k], k, d->name,
				       (long long)d->shape[k]);
	return QN_OK;
}

static qn_status
multiply(qn_where *w, const qn_super_desc *d, size_t n, double *scale)
{
	for (size_t i = 0; i < n; i++) {
		const double sub = d->sub[i], of = d->scale[super_of(d, i)];

		if (!(sub >= 1) || sub > (1 << d->bits) - 1 || sub < floor(sub) || sub > floor(sub))
			return QN_FAIL(w, "type.super.value",
				       "%g (index %zu) of @%s is not an integer from 1 to %d", sub,
				       i, d->name, (1 << d->bits) - 1);
		scale[i] = sub * of;
		if (!(scale[i] > 0) || scale[i] < (double)(float)scale[i] ||
		    scale[i] > (double)(float)scale[i])
			return QN_FAIL(w, "type.super.exact",
				       "%g * %g (index %zu) of @%s is not exact in f32; use scales "
				       "of at most %d bits",
				       sub, of, i, d->name, 24 - d->bits);
	}
	return QN_OK;
}

static qn_params *
store(qn_types *t, const qn_super_desc *d, size_t n, const double *scale)
{
	const size_t supers = product(d->rank, d->super_shape), r = (size_t)d->rank;
	qn_params *p = QN_NEW(t->arena, qn_params, 1);
	qn_super *s = QN_NEW(t->arena, qn_super, 1);

	*s = (qn_super){.bits = d->bits,
			.sub = qn_arena_copy(t->arena, d->sub, n * sizeof *d->sub),
			.shape = qn_arena_copy(t->arena, d->super_shape, r * sizeof *d->shape),
			.scale = qn_arena_copy(t->arena, d->scale, supers * sizeof *d->scale),
			.n = supers};
	*p = (qn_params){.n = n,
			 .rank = d->rank,
			 .shape = qn_arena_copy(t->arena, d->shape, r * sizeof *d->shape),
			 .scale = scale,
			 .super = s};
	return p;
}

qn_status
qn_params_super(qn_types *t, const char *place, const qn_super_desc *d, const qn_params **out)
{
	qn_where w = qn_where_place(t, place);

	QN_TRY(check(&w, d));
	const size_t n = product(d->rank, d->shape);
	double *scale = QN_NEW(t->arena, double, n);
	QN_TRY(multiply(&w, d, n, scale));
	if (qn_map_gets(&t->params_by_name, d->name) != NULL)
		return QN_FAIL(&w, "param.duplicate",
			       "@%s is already the name of other parameters; choose another name",
			       d->name);
	qn_params *p = store(t, d, n, scale);
	qn_params_register(t, p, d->name);
	qn_map_puts(&t->params_by_name, p->name, p);
	*out = p;
	return QN_OK;
}
