/* SPDX-License-Identifier: Apache-2.0 */
/* llm_rotary.c - rotary embeddings: each pair of elements of a head turns by an angle that grows with the position.
 *
 *   a' = a cos - b sin         x [heads, n/2, 2]  ─┬─ mul cosines [n/2, 2] ──────────────┐
 *   b' = b cos + a sin                            └─ reverse (b, a) ─ mul [-sin, sin] ─ add
 *
 * The tables have a row for each position, which are gathered once for all blocks.  A pair is two neighbours
 * (pairs), or one element of each half. */
#include "import/llm.h"
#include "runtime/math.h"

bool
qn_llm_rotates_pairs(const qn_llm *l)
{
	return l->arch->pairs && !l->hugging_face;
}

/* The angle of pair i at position 1; 0: it does not turn. */
static double
angle(const qn_llm *l, int64_t i, const float *factors)
{
	if (2 * i >= l->rope_dim)
		return 0;
	return qn_pow(l->rope_base, -2.0 * (double)i / (double)l->rope_dim) / l->rope_factor /
	       (factors != NULL ? (double)factors[i] : 1.0);
}

static void
fill(const qn_llm *l, const double *turn, float *cosines, float *sines)
{
	const int64_t half = l->head_dim / 2;

	for (int64_t p = 0; p < l->context; p++) {
		for (int64_t i = 0; i < half; i++) {
			const float c = (float)qn_cos((double)p * turn[i]);
			const float s = (float)qn_sin((double)p * turn[i]);
			const bool pairs = qn_llm_rotates_pairs(l);
			const int64_t row = p * l->head_dim;
			const int64_t a = row + (pairs ? 2 * i : i);
			const int64_t b = row + (pairs ? 2 * i + 1 : i + half);

			cosines[a] = cosines[b] = c;
			sines[a] = -s;
			sines[b] = s;
		}
	}
}

void
qn_llm_rotary_tables(qn_llm *l, qn_id *cosines, qn_id *sines)
{
	qn_importer *im = &l->im;
	const bool pairs = qn_llm_rotates_pairs(l);
	const int64_t half = l->head_dim / 2;
	const int64_t dim[] = {l->context, pairs ? half : 2, pairs ? 2 : half};
	const qn_type *type = qn_type_plain(&im->m->types, QN_PLAIN_f32, 3, dim);
	const float *factors = NULL;
	void *c, *s;

	*cosines = *sines = 0;
	if (!qn_importer_take_type(im, type) || !qn_importer_take_type(im, type))
		return;
	if (qn_llm_has(l, QN_LLM_ROPE_FACTORS, 0, ".weight"))
		factors = qn_llm_floats(l, QN_LLM_ROPE_FACTORS, l->rope_dim / 2);
	double *turn = QN_NEW(im->scratch, double, (size_t)half);
	for (int64_t i = 0; i < half; i++)
		turn[i] = angle(l, i, factors);
	qn_tensor *x = qn_tensor_new(im->m->arena, type, &c);
	qn_tensor *y = qn_tensor_new(im->m->arena, type, &s);
	fill(l, turn, c, s);
	*cosines = qn_importer_const(im, "rotary.cosines", x);
	*sines = qn_importer_const(im, "rotary.sines", y);
}

qn_id
qn_llm_rotate(qn_llm *l, qn_id x, int64_t heads, qn_id cosines, qn_id sines)
{
	qn_importer *im = &l->im;
	const bool pairs = qn_llm_rotates_pairs(l);
	const int64_t half = l->head_dim / 2;
	const int64_t dim[] = {heads, pairs ? half : 2, pairs ? 2 : half};
	const int64_t axis = pairs ? 2 : 1;
	qn_attrs attrs = qn_importer_attrs(QN_OP_reverse);

	attrs.axes.axes = (qn_list){.n = 1, .v = {axis}};
	x = qn_importer_reshape(im, x, 3, dim);
	const qn_id other = qn_importer_op(im, QN_OP_reverse, 1, &x, &attrs, NULL);
	return qn_importer_binary(im, QN_OP_add, qn_importer_binary(im, QN_OP_mul, x, cosines),
				  qn_importer_binary(im, QN_OP_mul, other, sines));
}
