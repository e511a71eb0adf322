/* SPDX-License-Identifier: Apache-2.0 */
/* test_repair_moments.c - moments of the patches of a convolution with groups, each with a matrix of its own. */
#include <math.h>

#include "calibrate/repair_impl.h"
#include "graph_fixture.h"

enum { SIDE = 3, GROUPS = 3, TAPS = 2, SAMPLES = 2, CHANNELS = GROUPS * TAPS };

static double
value(int sample, int position, int channel)
{
	return (sample * 5 + position * 3 + channel * 7) % 11 - 4;
}

/* The moments by their definition, over all samples and positions. */
static void
moments_are(const qn_moments *s, int group, bool centred)
{
	for (int i = 0; i < TAPS; i++) {
		for (int j = 0; j < TAPS; j++) {
			double product = 0, mean_i = 0, mean_j = 0;

			for (int n = 0; n < SAMPLES; n++)
				for (int at = 0; at < SIDE * SIDE; at++) {
					const double a = value(n, at, group * TAPS + i);
					const double b = value(n, at, group * TAPS + j);

					product += a * b / (SAMPLES * SIDE * SIDE);
					mean_i += a / (SAMPLES * SIDE * SIDE);
					mean_j += b / (SAMPLES * SIDE * SIDE);
				}
			assert_true(fabs(s->first[group * TAPS + i] - mean_i) < 1e-9);
			product -= centred ? mean_i * mean_j : 0;
			assert_true(fabs(s->second[(group * TAPS + i) * TAPS + j] - product) <
				    1e-9);
		}
	}
}

static void
of_groups(fixture *f, bool centred)
{
	double x[SIDE * SIDE * CHANNELS];
	qn_product p;

	assert_int_equal(parse(f, "graph @main(%x: tensor<1x3x3x6xf32>) {\n"
				  "  %w = const : tensor<3x1x1x2xf32> splat 1.0\n"
				  "  %y = conv2d %x, %w {groups=3}\n"
				  "  return %y\n}\n"),
			 QN_OK);
	const qn_graph *g = qn_model_entry(&f->m);
	assert_true(qn_product_of(g, qn_graph_node(g, qn_graph_find(g, "y")), &p));
	assert_true(qn_moments_fit(&p));
	qn_moments *s = qn_moments_new(&p, &f->arena);
	for (int n = 0; n < SAMPLES; n++) {
		for (int i = 0; i < SIDE * SIDE * CHANNELS; i++)
			x[i] = value(n, i / CHANNELS, i % CHANNELS);
		qn_moments_add(s, &p, x, (size_t)n, SAMPLES);
	}
	qn_moments_finish(s, centred);
	for (int group = 0; group < GROUPS; group++)
		moments_are(s, group, centred);
}

static void
test_plain(void **state)
{
	of_groups(*state, false);
}

static void
test_centred(void **state)
{
	of_groups(*state, true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_plain, setup, teardown),
		cmocka_unit_test_setup_teardown(test_centred, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
