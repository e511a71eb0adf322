/* SPDX-License-Identifier: Apache-2.0 */
/* outputs.h - what a graph gives for drawn inputs, to compare it with what a pass made of it. */
#ifndef QN_TESTS_OUTPUTS_H
#define QN_TESTS_OUTPUTS_H

#include "runtime/interp.h"
#include "tests/e2e/e2e.h"

/* Outputs one after the other, of all samples, for inputs drawn from the seed; of the first two samples
 * the least and the largest values. */
static inline const uint8_t *
outputs_of(builder *b, const qn_graph *g, uint64_t seed, size_t samples, size_t *n)
{
	uint8_t *bytes = NULL;
	size_t cap = 0;
	qn_interp *in;

	*n = 0;
	b->seed = seed;
	build_check(b, qn_interp_new(g, &b->arena, &in) == QN_OK);
	for (size_t s = 0; s < samples; s++) {
		const qn_tensor **x = QN_NEW(&b->arena, const qn_tensor *, g->ninput + 1);

		for (size_t k = 0; k < g->ninput; k++) {
			const qn_type *t = qn_graph_node(g, g->input[k])->type;
			const int64_t lo = -((int64_t)1 << (t->elem->bits - 1));
			void *data;

			x[k] = qn_tensor_new(&b->arena, t, &data);
			/* whatever the storage holds, also where the type says less */
			for (int64_t i = 0; i < qn_type_count(t); i++)
				qn_store_i64(data, t->elem->plain, i,
					     t->elem->kind != QN_ELEM_UNIFORM || !t->elem->is_signed
						     ? e2e_code(b, t->elem, s, i)
					     : s < 2 ? (s == 0 ? lo : -lo - 1)
						     : build_random(b, lo, -lo - 1));
		}
		build_check(b, qn_interp_run(in, x, NULL, NULL) == QN_OK);
		for (size_t k = 0; k < g->noutput; k++) {
			const qn_tensor *y = qn_interp_output(in, k);

			bytes = qn_arena_grow(&b->arena, bytes, &cap, *n + y->bytes, 1);
			memcpy(bytes + *n, y->data, y->bytes);
			*n += y->bytes;
		}
	}
	return bytes;
}

#endif
