/* SPDX-License-Identifier: Apache-2.0 */
/* params.c - vectors of scales and zero points, stored once each.
 *
 *     {0.5, 0.25:3}          at most 16: written out wherever they are used
 *     {@conv1.w.q}           more: a name; the first name under which this content came in
 *
 * Equality goes by content (shape, bits of the scales, zero points), never by name. */
#include <string.h>

#include "ir/type_impl.h"

/* The content as bytes; a params object points into it. */
typedef struct content {
	int64_t *word; /* rank, has_zp, shape…, scale bits…, zp… */
	size_t bytes;
	size_t n;
	int32_t rank;
	bool has_zp;
} content;

static bool
all_zero(const int64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] != 0)
			return false;
	return true;
}

static content
pack(qn_types *t, size_t n, int32_t rank, const int64_t *shape, const double *scale,
     const int64_t *zp)
{
	content c = {.n = n, .rank = rank, .has_zp = zp != NULL && !all_zero(zp, n)};
	const size_t r = (size_t)rank;
	const size_t words = 2 + r + n + (c.has_zp ? n : 0);

	c.word = QN_NEW(t->arena, int64_t, words);
	c.bytes = words * sizeof(int64_t);
	c.word[0] = rank;
	c.word[1] = c.has_zp;
	if (r > 0)
		memcpy(c.word + 2, shape, r * sizeof(int64_t));
	memcpy(c.word + 2 + r, scale, n * sizeof(double));
	if (c.has_zp)
		memcpy(c.word + 2 + r + n, zp, n * sizeof(int64_t));
	return c;
}

/* "q0", "q1", … : the first that is free, beginning with the number of named parameters. */
static const char *
fresh_name(qn_types *t)
{
	qn_buf b;
	size_t k = t->nparam;

	qn_buf_init(&b, t->arena);
	do {
		b.n = 0;
		qn_buff(&b, "q%zu", k++);
	} while (qn_map_gets(&t->params_by_name, qn_buf_str(&b)) != NULL);
	return qn_buf_str(&b);
}

static qn_params *
store(qn_types *t, const content *c, const char *name)
{
	qn_params *p = QN_NEW(t->arena, qn_params, 1);
	double *scale = QN_NEW(t->arena, double, c->n);
	const int64_t *at = c->word + 2;

	p->n = c->n;
	p->rank = c->rank;
	p->shape = at;
	memcpy(scale, at + c->rank, c->n * sizeof(double));
	p->scale = scale;
	p->zp = c->has_zp ? at + c->rank + c->n : NULL;
	qn_map_put(&t->params_by_content, c->word, c->bytes, p);
	if (c->n <= QN_INLINE_PARAMS)
		return p;
	qn_params_register(t, p, name);
	return p;
}

void
qn_params_register(qn_types *t, qn_params *p, const char *name)
{
	p->name = name != NULL ? qn_arena_str(t->arena, name) : fresh_name(t);
	if (t->nparam == t->param_cap)
		t->param = qn_arena_grow(t->arena, (void *)t->param, &t->param_cap, t->nparam + 1,
					 sizeof *t->param);
	t->param[t->nparam++] = p;
	if (name == NULL)
		qn_map_puts(&t->params_by_name, p->name, p);
}

qn_status
qn_params_intern(qn_types *t, const char *place, const char *name, size_t n, int32_t rank,
		 const int64_t *shape, const double *scale, const int64_t *zp,
		 const qn_params **out)
{
	qn_where w = qn_where_place(t, place);
	const int64_t flat[1] = {(int64_t)n};
	int64_t product = 1;

	if (shape == NULL) {
		rank = 1;
		shape = flat;
	}
	if (rank < 0 || rank > QN_MAX_RANK)
		return QN_FAIL(&w, "type.rank", "parameters of rank %d; at most %d is possible",
			       rank, QN_MAX_RANK);
	for (int32_t i = 0; i < rank && product <= (int64_t)n; i++)
		product = shape[i] > 0 && shape[i] <= (int64_t)n ? product * shape[i] : 0;
	if (n == 0 || n > INT32_MAX || product != (int64_t)n)
		return QN_FAIL(&w, "type.param.shape",
			       "%zu parameters do not fill their shape; give as many as the "
			       "product of its dimensions",
			       n);
	content c = pack(t, n, rank, shape, scale, zp);
	qn_params *found = qn_map_get(&t->params_by_content, c.word, c.bytes);
	const qn_params *named = name != NULL ? qn_map_gets(&t->params_by_name, name) : NULL;
	if (named != NULL && named != found)
		return QN_FAIL(&w, "param.duplicate",
			       "@%s is already the name of other parameters; choose another name",
			       name);
	if (found == NULL)
		found = store(t, &c, name);
	if (name != NULL && named == NULL)
		qn_map_puts(&t->params_by_name, name, found);
	*out = found;
	return QN_OK;
}

/* Interning what is known to be a valid shape and has no claim to a name cannot fail. */
static const qn_params *
intern(qn_types *t, const char *name, const qn_params *like, int32_t rank, const int64_t *shape,
       const int64_t *zp)
{
	const qn_params *out = like;

	if (name != NULL && qn_map_gets(&t->params_by_name, name) != NULL)
		name = NULL;
	qn_status status =
		qn_params_intern(t, "", name, like->n, rank, shape, like->scale, zp, &out);
	return status == QN_OK ? out : like;
}

const qn_params *
qn_params_reshape(qn_types *t, const qn_params *p, int32_t rank, const int64_t *shape)
{
	qn_buf b;

	if (p->name == NULL)
		return intern(t, NULL, p, rank, shape, p->zp);
	qn_buf_init(&b, t->arena);
	qn_buf_puts(&b, p->name);
	for (int32_t i = 0; i < rank; i++)
		qn_buff(&b, "%c%lld", i == 0 ? '.' : 'x', (long long)shape[i]);
	return intern(t, qn_buf_str(&b), p, rank, shape, p->zp);
}

const qn_params *
qn_params_with_zp(qn_types *t, const qn_params *p, const int64_t *zp)
{
	if (zp == NULL && p->zp == NULL)
		return p;
	return intern(t, NULL, p, p->rank, p->shape, zp);
}
