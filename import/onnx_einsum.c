/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_einsum.c - Einsum as transposes, reductions and products of matrices.
 *
 *   "bij,bjk->bik"     a [b | i | j]  b [b | j | k]      batch, free, summed letters of each
 *                      matmul of [batch, free a, summed] and [batch, summed, free b]
 *                      then the letters in the order of the result
 *   "ii->i"            a repeated letter: the diagonal, by a gather
 *
 * More than two operands are taken from the left: the first two give an intermediate value with all letters
 * that the others or the result still need. */
#include "import/onnx_einsum.h"

/* ---- pieces ---- */

/* The elements whose indices along axes i < j are equal, without axis j. */
static qn_id
diagonal(qn_onnx *o, qn_id x, int32_t i, int32_t j)
{
	const qn_type *t = qn_onnx_type(o, x);
	int64_t dim[QN_MAX_RANK], perm[QN_MAX_RANK], n = t->dim[i];
	int32_t rank = t->rank, k = 0;
	qn_attrs a = {0};

	if (t->dim[j] != n || n > 1 << 20)
		return qn_importer_refuse(
			&o->im, "import.input",
			"a repeated letter stands for dimensions of %lld and %lld", (long long)n,
			(long long)t->dim[j]);
	/* Both axes to the front, as one: elements 0, n + 1, 2 n + 2 … */
	perm[k++] = i;
	perm[k++] = j;
	for (int32_t d = 0; d < rank; d++)
		if (d != i && d != j)
			perm[k++] = d;
	dim[0] = n * n;
	for (int32_t d = 2; d < rank; d++)
		dim[d - 1] = t->dim[perm[d]];
	x = qn_importer_reshape(&o->im, qn_importer_transpose(&o->im, x, perm), rank - 1, dim);
	int64_t *index = QN_NEW(o->im.scratch, int64_t, (size_t)n + 1);
	for (int64_t d = 0; d < n; d++)
		index[d] = d * (n + 1);
	a.gather.axis = 0;
	return qn_importer_op(&o->im, QN_OP_gather, 2,
			      (qn_id[]){x, qn_importer_i64s(&o->im, (int32_t)n, index)}, &a, NULL);
}

/* No letter twice. */
static bool
without_repeats(qn_onnx *o, qn_einsum_term *t)
{
	for (int32_t i = 0; i < t->rank; i++)
		for (int32_t j = i + 1; j < t->rank; j++) {
			char c = t->axis[i];
			if (t->axis[j] != c)
				continue;
			t->id = diagonal(o, t->id, i, j);
			if (t->id == 0)
				return false;
			memmove(t->axis + j, t->axis + j + 1, strlen(t->axis + j));
			memmove(t->axis + 1, t->axis, (size_t)i);
			t->axis[0] = c;
			t->rank--;
			i = -1;
			break;
		}
	return true;
}

/* Sums over the letters that are not needed. */
static void
sum_over(qn_onnx *o, qn_einsum_term *t, const char *needed)
{
	int64_t axes[QN_MAX_RANK];
	int32_t naxes = 0, k = 0;

	for (int32_t i = 0; i < t->rank; i++)
		if (qn_einsum_has(needed, t->axis[i]))
			t->axis[k++] = t->axis[i];
		else
			axes[naxes++] = i;
	t->axis[k] = '\0';
	t->rank = k;
	if (naxes > 0)
		t->id = qn_importer_reduce(&o->im, QN_OP_reduce_sum, t->id, naxes, axes, false);
}

/* The axes in the order of the letters, of which each one that it lacks is left out. */
static void
order(qn_onnx *o, qn_einsum_term *t, const char *letters)
{
	int64_t perm[QN_MAX_RANK];
	char axis[QN_MAX_RANK + 1];
	int32_t k = 0;

	for (; *letters != '\0'; letters++) {
		const char *at = strchr(t->axis, *letters);
		if (at == NULL)
			continue;
		perm[k] = at - t->axis;
		axis[k++] = *letters;
	}
	axis[k] = '\0';
	t->id = qn_importer_transpose(&o->im, t->id, perm);
	memcpy(t->axis, axis, sizeof axis);
}

/* ---- a product of two ---- */

/* Letters by where they are: batch (both, needed), free (one), summed (both, not needed). */
typedef struct groups {
	char batch[QN_MAX_RANK + 1], a[QN_MAX_RANK + 1], b[QN_MAX_RANK + 1], sum[QN_MAX_RANK + 1];
} groups;

static void
append(char *s, char c)
{
	size_t n = strlen(s);

	s[n] = c;
	s[n + 1] = '\0';
}

/* Three lists of letters as one; the caller has the room. */
static void
join(char *s, const char *a, const char *b, const char *c)
{
	const char *const lists[] = {a, b, c};

	*s = '\0';
	for (size_t i = 0; i < QN_COUNT(lists); i++)
		for (const char *l = lists[i]; *l != '\0'; l++)
			append(s, *l);
}

static groups
group(const qn_einsum_term *a, const qn_einsum_term *b, const char *needed)
{
	groups g = {0};

	for (const char *c = a->axis; *c != '\0'; c++)
		append(!qn_einsum_has(b->axis, *c) ? g.a
		       : qn_einsum_has(needed, *c) ? g.batch
						   : g.sum,
		       *c);
	for (const char *c = b->axis; *c != '\0'; c++)
		if (!qn_einsum_has(a->axis, *c))
			append(g.b, *c);
	return g;
}

/* The product of the dims of letters, the dims appended to dim[*n]. */
static int64_t
size_of(const qn_onnx *o, const qn_einsum_term *t, const char *letters, int64_t *dim, int32_t *n)
{
	int64_t size = 1;

	for (; *letters != '\0'; letters++) {
		int64_t d = qn_onnx_type(o, t->id)->dim[strchr(t->axis, *letters) - t->axis];
		size *= d;
		if (dim != NULL)
			dim[(*n)++] = d;
	}
	return size;
}

/* A dim of 1 under "..." is as long as the other operand's. */
static void
stretch(qn_onnx *o, qn_einsum_term *t, const qn_einsum_term *other)
{
	const qn_type *type = qn_onnx_type(o, t->id);
	qn_attrs a = {0};
	bool any = false;

	a.shape.shape.n = t->rank;
	for (int32_t i = 0; i < t->rank; i++) {
		const char *at = strchr(other->axis, t->axis[i]);
		int64_t d = at != NULL ? qn_onnx_type(o, other->id)->dim[at - other->axis] : 1;
		a.shape.shape.v[i] = type->dim[i] == 1 ? d : type->dim[i];
		any = any || a.shape.shape.v[i] != type->dim[i];
	}
	if (any)
		t->id = qn_importer_op(&o->im, QN_OP_expand, 1, &t->id, &a, NULL);
}

static qn_einsum_term
multiply(qn_onnx *o, qn_einsum_term a, qn_einsum_term b, const char *needed)
{
	qn_einsum_term y = {0};
	char letters[4 * QN_MAX_RANK + 4];
	int64_t dim[2 * QN_MAX_RANK];

	stretch(o, &a, &b);
	if (a.id != 0)
		stretch(o, &b, &a);
	groups g = group(&a, &b, needed);
	if (a.id == 0 || b.id == 0)
		return y;
	if (strlen(g.batch) + strlen(g.a) + strlen(g.b) > QN_MAX_RANK) {
		(void)qn_importer_refuse(&o->im, "import.rank",
					 "a product has more than %d dimensions", (int)QN_MAX_RANK);
		return y;
	}
	join(letters, g.batch, g.a, g.sum);
	order(o, &a, letters);
	join(letters, g.batch, g.sum, g.b);
	order(o, &b, letters);
	if (a.id == 0 || b.id == 0)
		return y;
	int64_t batch = size_of(o, &a, g.batch, dim, &y.rank);
	int64_t rows = size_of(o, &a, g.a, dim, &y.rank), sum = size_of(o, &a, g.sum, NULL, NULL);
	int64_t columns = size_of(o, &b, g.b, dim, &y.rank);
	if (size_of(o, &b, g.sum, NULL, NULL) != sum ||
	    size_of(o, &b, g.batch, NULL, NULL) != batch) {
		(void)qn_importer_refuse(&o->im, "import.input",
					 "a letter stands for dimensions of two lengths");
		return y;
	}
	qn_id p = qn_importer_reshape(&o->im, a.id, 3, (int64_t[]){batch, rows, sum});
	qn_id q = qn_importer_reshape(&o->im, b.id, 3, (int64_t[]){batch, sum, columns});
	y.id = qn_importer_reshape(&o->im, qn_importer_binary(&o->im, QN_OP_matmul, p, q), y.rank,
				   dim);
	join(y.axis, g.batch, g.a, g.b);
	return y;
}

/* The letters of the result and of operands from `from` on. */
static void
needed_from(const qn_einsum *e, const qn_einsum_term *t, size_t from, char *letters, size_t room)
{
	size_t k = strlen(e->result);

	memcpy(letters, e->result, k + 1);
	for (size_t i = from; i < e->n; i++)
		for (const char *c = t[i].axis; *c != '\0' && k + 1 < room; c++) {
			letters[k++] = *c;
			letters[k] = '\0';
		}
}

static void
einsum(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_einsum_term t[QN_MAX_RANK] = {{0}};
	char needed[(QN_MAX_RANK + 1) * (QN_MAX_RANK + 1) + 1];
	qn_einsum e;

	if (!qn_onnx_need(o, n, n->nin > 0 ? n->nin : 1) || !qn_einsum_read(o, n, &e, t))
		return;
	for (size_t i = 0; i < e.n; i++)
		if (!without_repeats(o, &t[i]))
			return;
	qn_einsum_term y = t[0];
	needed_from(&e, t, 1, needed, sizeof needed);
	sum_over(o, &y, needed);
	for (size_t i = 1; i < e.n && y.id != 0; i++) {
		needed_from(&e, t, i + 1, needed, sizeof needed);
		/* Letters of the second operand alone need not be multiplied first. */
		char both[2 * sizeof needed];
		join(both, needed, y.axis, "");
		sum_over(o, &t[i], both);
		y = t[i].id != 0 ? multiply(o, y, t[i], needed) : (qn_einsum_term){0};
	}
	if (y.id == 0)
		return;
	order(o, &y, e.result);
	out[0] = y.id;
}

const qn_onnx_row qn_onnx_einsums[] = {
	QN_ONNX_READ("", "Einsum", 12, einsum, 0),
	{0},
};
