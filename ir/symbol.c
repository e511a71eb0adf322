/* SPDX-License-Identifier: Apache-2.0 */
/* symbol.c - names for the parameters that calibration finds.
 *
 *     symbol $conv1.x : asym               !quant.uniform<i8:f32, $conv1.x:$conv1.x>
 *     symbol $conv1.w : sym, len 16        !quant.uniform<i8<-127:127>:f32:0, $conv1.w>
 *
 * One symbol is one pair of scale and zero point, or a vector of them; it gets its values once. */
#include <math.h>

#include "ir/nearest.h"
#include "ir/type_impl.h"

qn_symbol *
qn_symbol_find(const qn_types *t, const char *name)
{
	return qn_map_gets(&t->symbols_by_name, name);
}

qn_status
qn_symbol_declare(qn_types *t, const char *place, const char *name, qn_sym_kind kind, int64_t len,
		  qn_symbol **out)
{
	qn_where w = qn_where_place(t, place);

	if (name[0] == '\0')
		return QN_FAIL(&w, "symbol.name", "a symbol needs a name");
	if (qn_symbol_find(t, name) != NULL)
		return QN_FAIL(&w, "symbol.duplicate", "symbol $%s is declared twice; remove one",
			       name);
	if (len < 0 || len > QN_MAX_PARAMS)
		return QN_FAIL(&w, "symbol.len",
			       "symbol $%s has length %lld; give 0 (one pair) to %d", name,
			       (long long)len, QN_MAX_PARAMS);
	qn_symbol *s = QN_NEW(t->arena, qn_symbol, 1);
	*s = (qn_symbol){.name = qn_arena_str(t->arena, name), .kind = kind, .len = len};
	if (t->nsymbol == t->symbol_cap)
		t->symbol = qn_arena_grow(t->arena, t->symbol, &t->symbol_cap, t->nsymbol + 1,
					  sizeof *t->symbol);
	t->symbol[t->nsymbol++] = s;
	qn_map_puts(&t->symbols_by_name, s->name, s);
	*out = s;
	return QN_OK;
}

static qn_status
check_values(qn_where *w, const qn_symbol *s, size_t n, const double *scale, const int64_t *zp)
{
	if (s->bound)
		return QN_FAIL(w, "symbol.bound", "symbol $%s already has a value", s->name);
	if (n != (size_t)(s->len == 0 ? 1 : s->len))
		return QN_FAIL(w, "symbol.len", "symbol $%s takes %lld values, not %zu", s->name,
			       (long long)(s->len == 0 ? 1 : s->len), n);
	for (size_t i = 0; i < n; i++) {
		const double v = qn_round_to(QN_PLAIN_f32, scale[i]);
		const int64_t z = zp != NULL ? zp[i] : 0;

		if (!isfinite(v) || v <= 0.0)
			return QN_FAIL(w, "symbol.scale",
				       "scale %g (index %zu) of $%s is not a positive f32",
				       scale[i], i, s->name);
		if (s->kind == QN_SYM_SYMMETRIC && z != 0)
			return QN_FAIL(w, "symbol.zp",
				       "zero point %lld (index %zu) of $%s, which is symmetric: "
				       "use 0 or asym",
				       (long long)z, i, s->name);
		if (z < INT32_MIN || z > INT32_MAX)
			return QN_FAIL(w, "symbol.zp",
				       "zero point %lld (index %zu) of $%s is not a 32-bit integer",
				       (long long)z, i, s->name);
	}
	return QN_OK;
}

/* The values of $conv1.w are called @conv1.w.q when they need a name. */
static qn_status
bind_vector(qn_types *t, qn_where *w, qn_symbol *s, size_t n, const double *scale,
	    const int64_t *zp)
{
	double *rounded = QN_NEW(t->arena, double, n);
	const char *name = NULL;
	qn_buf b;

	for (size_t i = 0; i < n; i++)
		rounded[i] = qn_round_to(QN_PLAIN_f32, scale[i]);
	if (n > QN_INLINE_PARAMS) {
		qn_buf_init(&b, t->arena);
		qn_buff(&b, "%s.q", s->name);
		name = qn_buf_str(&b);
		if (qn_map_gets(&t->params_by_name, name) != NULL)
			name = NULL; /* taken: equal content is found all the same */
	}
	return qn_params_intern(t, w->place, name, n, 1, NULL, rounded, zp, &s->vec);
}

qn_status
qn_symbol_bind(qn_types *t, const char *place, const char *name, size_t n, const double *scale,
	       const int64_t *zp)
{
	qn_where w = qn_where_place(t, place);
	qn_symbol *s = qn_symbol_find(t, name);

	if (s == NULL) {
		const char *best = qn_nearest_symbol(t, name);

		return QN_FAIL(&w, "symbol.unknown", "unknown symbol '$%s'" QN_DID_YOU_MEAN, name,
			       QN_SUGGEST(best));
	}
	QN_TRY(check_values(&w, s, n, scale, zp));
	if (s->len > 0) {
		QN_TRY(bind_vector(t, &w, s, n, scale, zp));
	} else {
		s->scale = qn_round_to(QN_PLAIN_f32, scale[0]);
		s->zp = zp != NULL ? zp[0] : 0;
	}
	s->bound = true;
	return QN_OK;
}
