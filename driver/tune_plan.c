/* SPDX-License-Identifier: Apache-2.0 */
/* tune_plan.c - the picks of the least noise within a budget, if the noise of layers adds up.
 *
 *   least[i][b] = min over the ways k to store layer i of   least[i - 1][b - cost(i, k)] + noise(i, k) + price * other(i, k)
 *
 * Costs are counted in steps, of which the range from the smallest to the largest candidate has STEPS, rounded up: what
 * is found is never over the budget. */
#include "driver/tune.h"

#include <math.h>

enum { STEPS = 1024 };

size_t
qn_tune_ways_of(const qn_tune_row *r, bool wide, qn_tune_way *to)
{
	size_t n = 0;

	for (unsigned k = 0; k < QN_TUNE_STORAGES; k++)
		if (r->can[k])
			to[n++] = (qn_tune_way){.pick = {(uint8_t)k, false},
						.noise = r->weights[k] + r->data[0],
						.bytes = r->bytes[k],
						.instructions = r->instructions[k]};
	if (wide)
		to[n++] = (qn_tune_way){.pick = {QN_TUNE_I8, true},
					.noise = r->weights[QN_TUNE_I8] + r->data[1],
					.bytes = r->wide_bytes,
					.instructions = r->wide_instructions};
	return n;
}

static uint64_t
cost_of(const qn_tune_way *w, bool by_instructions)
{
	return by_instructions ? w->instructions : w->bytes;
}

void
qn_tune_range(const qn_tune_table *t, const qn_tune_wish *w, uint64_t *least, uint64_t *most)
{
	qn_tune_way k[QN_TUNE_WAYS];

	*least = *most = w->by_instructions ? t->instructions : t->bytes;
	for (size_t i = 0; i < t->n; i++) {
		const size_t n = qn_tune_ways_of(&t->row[i], w->wide, k);
		uint64_t low = UINT64_MAX, high = 0;

		for (size_t j = 0; j < n; j++) {
			const uint64_t c = cost_of(&k[j], w->by_instructions);

			low = c < low ? c : low;
			high = c > high ? c : high;
		}
		*least += n > 0 ? low : 0;
		*most += high;
	}
}

static uint64_t
least_of(const qn_tune_row *r, const qn_tune_wish *w)
{
	uint64_t low = UINT64_MAX;
	qn_tune_way k[QN_TUNE_WAYS];

	for (size_t n = qn_tune_ways_of(r, w->wide, k); n-- > 0;)
		if (cost_of(&k[n], w->by_instructions) < low)
			low = cost_of(&k[n], w->by_instructions);
	return low;
}

/* One more layer: from the least of those before to the least with it. */
static void
add_row(const qn_tune_row *r, const qn_tune_wish *w, uint64_t step, const double *before,
	double *after, uint8_t *choice)
{
	const uint64_t low = least_of(r, w);
	qn_tune_way k[QN_TUNE_WAYS];
	const size_t n = qn_tune_ways_of(r, w->wide, k);

	for (size_t b = 0; b <= STEPS; b++) {
		after[b] = (double)INFINITY;
		for (uint8_t j = 0; j < n; j++) {
			const uint64_t more =
				(cost_of(&k[j], w->by_instructions) - low + step - 1) / step;
			const double other = (double)cost_of(&k[j], !w->by_instructions) * w->price;

			if (more > b || !(before[b - more] + k[j].noise + other < after[b]))
				continue;
			after[b] = before[b - more] + k[j].noise + other;
			choice[b] = j;
		}
	}
}

qn_tune_pick *
qn_tune_plan(const qn_tune_table *t, const qn_tune_wish *w, qn_arena *a)
{
	qn_arena *tmp = qn_arena_child(a);
	double *sum[2] = {QN_NEW(tmp, double, STEPS + 1), QN_NEW(tmp, double, STEPS + 1)};
	uint8_t *choice = QN_NEW(tmp, uint8_t, (t->n + 1) * (STEPS + 1));
	qn_tune_pick *pick = QN_NEW(a, qn_tune_pick, t->n + 1);
	uint64_t least, most;
	qn_tune_way k[QN_TUNE_WAYS];

	qn_tune_range(t, w, &least, &most);
	const uint64_t step = most > least ? (most - least + STEPS - 1) / STEPS : 1;
	if (w->budget < least) {
		qn_arena_release(tmp);
		return NULL;
	}
	size_t b = w->budget - least < step * STEPS ? (size_t)((w->budget - least) / step) : STEPS;
	for (size_t i = 0; i < t->n; i++)
		add_row(&t->row[i], w, step, sum[i % 2], sum[(i + 1) % 2],
			choice + i * (STEPS + 1));
	for (size_t i = t->n; i-- > 0;) {
		(void)qn_tune_ways_of(&t->row[i], w->wide, k);
		const qn_tune_way *of = &k[choice[i * (STEPS + 1) + b]];

		pick[i] = of->pick;
		b -= (size_t)((cost_of(of, w->by_instructions) - least_of(&t->row[i], w) + step -
			       1) /
			      step);
	}
	qn_arena_release(tmp);
	return pick;
}

qn_tune_sum
qn_tune_sum_of(const qn_tune_table *t, const qn_tune_pick *pick)
{
	qn_tune_sum s = {.bytes = t->bytes, .instructions = t->instructions};

	for (size_t i = 0; i < t->n; i++) {
		const qn_tune_row *r = &t->row[i];
		const uint8_t k = pick[i].storage;

		s.noise += r->weights[k] + r->data[pick[i].wide];
		s.bytes += pick[i].wide ? r->wide_bytes : r->bytes[k];
		s.instructions += pick[i].wide ? r->wide_instructions : r->instructions[k];
	}
	return s;
}
