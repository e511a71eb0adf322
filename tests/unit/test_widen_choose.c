/* SPDX-License-Identifier: Apache-2.0 */
/* test_widen_choose.c - which layers are tried together, by what each costs alone (driver/widen.h). */
#include "graph_fixture.h"

#include "driver/widen.h"

enum { MOST = 12 };

/* How many of the noisiest are chosen: layers with weights, and two of them that stand out. */
static size_t
chosen(double loud, double quiet, double together, double constants)
{
	fixture f = {.left = -1};
	qn_wide_layer layer[MOST] = {0};
	bool in[MOST] = {false};
	size_t n = 0;

	open_model(&f);
	for (size_t k = 0; k < MOST; k++)
		layer[k] = (qn_wide_layer){.product = true, .noise = k < 2 ? loud : quiet};
	const qn_wide_layers all = {MOST, layer, together, constants};
	qn_widen_noisiest(&all, &f.arena, in);
	while (n < MOST && in[n])
		n++;
	for (size_t k = n; k < MOST; k++)
		assert_false(in[k]);
	close_model(&f);
	return n;
}

static void
chooses(void **state)
{
	(void)state;
	assert_int_equal(chosen(0.5, 0.0001, 1.0, 0.0001), 2);
	/* each of the two alone is more than all together, because noise so large clips */
	assert_int_equal(chosen(0.8, 0.001, 0.7, 0.001), 2);
	/* without the activations of all, the noise of weights is left: little is won for so many */
	assert_int_equal(chosen(0.01, 0.01, 0.12, 0.001), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(chooses)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
