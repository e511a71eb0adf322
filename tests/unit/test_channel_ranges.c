/* SPDX-License-Identifier: Apache-2.0 */
/* test_channel_ranges.c - what prune believes of channels (passes/channels.h), against runs of the graph on
 * many inputs: no channel leaves the range that is known of it, and where it can be, the range is that of
 * the values seen.
 *
 *   %q = requantize (dense %x, [1, 0, -1], [0, 5, 3])     ranges -128…127, 5…5, -124…127 */
#include "tests/unit/run_util.h"

#include <stdlib.h>

#include "passes/channels.h"
#include "runtime/interp.h"

enum { MOST_INPUTS = 32, RANDOM = 300 };

/* %q of three channels from %x, %r of three from %y: all integers, one number, falling ones. */
#define VECTORS                                                                                    \
	"graph @main(%x: tensor<1x1x!quant.uniform<i8:f32, 1.0>>, "                                \
	"%y: tensor<1x1x!quant.uniform<i8:f32, 1.0>>) {\n"                                         \
	"  %w = const : tensor<3x1x!quant.uniform<i8:f32, 1.0>> [1, 0, -1]\n"                      \
	"  %v = const : tensor<3x1x!quant.uniform<i8:f32, 1.0>> [0, 2, 1]\n"                       \
	"  %b = const : tensor<3x!quant.uniform<i32:f32, 1.0*1.0>> [0, 5, 3]\n"                    \
	"  %k = const : tensor<3x!quant.uniform<i8:f32, 1.0>> [-7, 0, 9]\n"                        \
	"  %qa = dense %x, %w, %b\n"                                                               \
	"  %q = requantize %qa : tensor<1x3x!quant.uniform<i8:f32, 1.0>>\n"                        \
	"  %ra = dense %y, %v, %b\n"                                                               \
	"  %r = requantize %ra {lo=-20, hi=30} : tensor<1x3x!quant.uniform<i8:f32, 1.0>>\n"
/* %q of three channels, 2 by 2, from as many elements of %x. */
#define IMAGE                                                                                      \
	"graph @main(%x: tensor<1x2x2x1x!quant.uniform<i8:f32, 1.0>>) {\n"                         \
	"  %w = const : tensor<3x1x1x1x!quant.uniform<i8:f32, 1.0>> [1, 0, -1]\n"                  \
	"  %b = const : tensor<3x!quant.uniform<i32:f32, 1.0*1.0>> [-60, 5, 3]\n"                  \
	"  %a = conv2d %x, %w, %b\n"                                                               \
	"  %q = requantize %a {lo=-100, hi=90} : tensor<1x2x2x3x!quant.uniform<i8:f32, 1.0:2>>\n"

/* Of the last value: its ranges are those seen; those of the channels that are one number; those of its storage. */
typedef enum known { TIGHT, CONSTANTS, STORAGE } known;

static const struct {
	const char *text;
	known how;
} nets[] = {
	{VECTORS "  %o = add %q, %r : tensor<1x3x!quant.uniform<i8:f32, 1.0>>\n", TIGHT},
	{VECTORS "  %o = sub %q, %r : tensor<1x3x!quant.uniform<i8:f32, 2.0:5>>\n", TIGHT},
	{VECTORS "  %o = mul %q, %r : tensor<1x3x!quant.uniform<i8:f32, 25.0>>\n", TIGHT},
	{VECTORS "  %o = mul %r, %r : tensor<1x3x!quant.uniform<i8:f32, 25.0>>\n", CONSTANTS},
	{VECTORS "  %o = minimum %q, %r : tensor<1x3x!quant.uniform<i8:f32, 1.0>>\n", TIGHT},
	{VECTORS "  %o = maximum %q, %r : tensor<1x3x!quant.uniform<i8:f32, 1.0>>\n", TIGHT},
	{VECTORS "  %o = requantize %r {lo=-9} : tensor<1x3x!quant.uniform<i8:f32, 0.5:7>>\n",
	 TIGHT},
	{VECTORS "  %o = requantize %r : tensor<1x3x!quant.uniform<u8:f32, 1.5:90>>\n", TIGHT},
	{VECTORS "  %o = requantize %r : tensor<1x3x!quant.uniform<i16:f32, 0.01>>\n", TIGHT},
	{VECTORS "  %o = clamp %r {lo=-3, hi=4}\n", TIGHT},
	{VECTORS "  %o = concat %q, %r {axis=1}\n", TIGHT},
	{VECTORS "  %o = concat %q, %r {axis=0}\n", TIGHT},
	{VECTORS "  %o = reshape %r {shape=[3,1]}\n", TIGHT},
	{VECTORS "  %o = add %r, %k : tensor<1x3x!quant.uniform<i8:f32, 1.0>>\n", TIGHT},
	{VECTORS "  %o = tanh %r : tensor<1x3x!quant.uniform<i8:f32, 0.0078125>>\n", CONSTANTS},
	{VECTORS "  %t = const : tensor<3x1x!quant.uniform<i8:f32, 1.0>> [3, 4, -5]\n"
		 "  %u = const : tensor<1x3x!quant.uniform<i8:f32, 0.5>> [0, 3, 0]\n"
		 "  %ua = dense %r, %u\n"
		 "  %o = requantize %ua : tensor<1x1x!quant.uniform<i8:f32, 0.5>>\n",
	 TIGHT},
	{VECTORS "  %u = const : tensor<2x3x!quant.uniform<i8:f32, 0.5>> [2, 3, 0, 0, -2, -7]\n"
		 "  %ua = dense %r, %u\n"
		 "  %o = requantize %ua : tensor<1x2x!quant.uniform<i8:f32, 5.0>>\n",
	 TIGHT},
	{VECTORS "  %o = transpose %r {perm=[1,0]}\n", STORAGE},
	{VECTORS "  %o = reduce_max %r {axes=[-1], keepdims=1}\n", STORAGE},
	{VECTORS "  %o = pad %r {before=[0,1], after=[0,0], value=0.0}\n", STORAGE},
	{VECTORS "  %o = slice %r {begin=[0,1], end=[1,3], step=[1,1]}\n", STORAGE},
	{IMAGE "  %o = max_pool %q {kernel=[2,2], stride=[1,1]}\n", TIGHT},
	{IMAGE "  %o = avg_pool %q {kernel=[2,2], stride=[1,1]}\n", TIGHT},
	{IMAGE "  %o = global_avg_pool %q : tensor<1x1x1x3x!quant.uniform<i8:f32, 1.0:2>>\n",
	 TIGHT},
	{IMAGE "  %o = reduce_max %q {axes=[1,2]}\n", TIGHT},
	{IMAGE "  %o = reduce_mean %q {axes=[1]} : tensor<1x2x3x!quant.uniform<i8:f32, 0.75:-3>>\n",
	 TIGHT},
	{IMAGE "  %o = reduce_sum %q {axes=[1,2]} : tensor<1x3x!quant.uniform<i8:f32, 4.0:-3>>\n",
	 TIGHT},
	{IMAGE "  %o = resize_nearest %q {size=[4,4]}\n", TIGHT},
	{IMAGE "  %o = resize_bilinear %q {size=[3,3]}\n", TIGHT},
	{IMAGE "  %o = transpose %q {perm=[0,2,1,3]}\n", TIGHT},
	{IMAGE "  %o = pad %q {before=[0,1,0,0], after=[0,0,1,0], value=95.0}\n", TIGHT},
	{IMAGE "  %o = slice %q {begin=[0,1,0,0], end=[1,2,2,3], step=[1,1,1,1]}\n", TIGHT},
	{IMAGE "  %k = const : tensor<2x2x2x3x!quant.uniform<i8:f32, 0.5>> [1, 0, 0, 2, 0, 0, 1, "
	       "0, 0, 0, 0, 0, 0, 9, 0, 0, 9, 0, 0, 9, 0, 0, 9, 0]\n"
	       "  %c = conv2d %q, %k\n"
	       "  %o = requantize %c : tensor<1x1x1x2x!quant.uniform<i8:f32, 4.0:-3>>\n",
	 TIGHT},
	{IMAGE "  %k = const : tensor<3x2x2x1x!quant.uniform<i8:f32:0, {0.5,0.25,1.0}>> [1, 2, 3, "
	       "0, 1, 1, 1, 1, -2, -1, 0, 0]\n"
	       "  %c = conv2d %q, %k {groups=3}\n"
	       "  %o = requantize %c : tensor<1x1x1x3x!quant.uniform<i8:f32, 4.0:-3>>\n",
	 TIGHT},
	{IMAGE "  %k = const : tensor<3x2x2x1x!quant.uniform<i8:f32, 0.5>> [1, 2, 3, 0, 1, 1, 1, "
	       "1, -2, -1, 0, 0]\n"
	       "  %c = conv2d %q, %k {groups=3, padding=same}\n"
	       "  %o = requantize %c : tensor<1x2x2x3x!quant.uniform<i8:f32, 4.0:-3>>\n",
	 CONSTANTS},
};

static qn_interval seen[64][64]; /* by value and channel */
static bool was_seen[64];

static qn_status
look(void *user, const qn_graph *g, qn_id id, const qn_tensor *value)
{
	(void)user;
	(void)g;
	assert_true(id < 64);
	if (value->type->is_tuple || value->type->rank < 1)
		return QN_OK;
	const int64_t channels = value->type->dim[value->type->rank - 1];
	for (int64_t i = 0; i < qn_type_count(value->type); i++) {
		qn_interval *r = &seen[id][i % channels];
		const int64_t v = qn_tensor_i64(value, i);

		if ((i < channels && !was_seen[id]) || v < r->lo)
			r->lo = v;
		if ((i < channels && !was_seen[id]) || v > r->hi)
			r->hi = v;
	}
	was_seen[id] = true;
	return QN_OK;
}

static void
run_on(qn_interp *in, const qn_graph *g, const int8_t *v)
{
	const qn_tensor *x[2];
	size_t at = 0;

	for (size_t i = 0; i < g->ninput; i++) {
		const qn_type *t = qn_graph_node(g, g->input[i])->type;

		x[i] = qn_tensor_view(&rg->arena, t, v + at);
		at += (size_t)qn_type_count(t);
	}
	assert_int_equal(qn_interp_run(in, x, look, NULL), QN_OK);
}

/* One input from all its integers, beside the ends of the other and 0; all at once; any. */
static void
run_many(qn_interp *in, const qn_graph *g)
{
	static const int8_t others[] = {-128, -20, 0, 15, 30, 127};
	int8_t v[MOST_INPUTS];

	memset(was_seen, 0, sizeof was_seen);
	for (int k = -128; k < 128; k++)
		for (size_t o = 0; o < QN_COUNT(others); o++)
			for (size_t which = 0; which < 2; which++) {
				for (size_t i = 0; i < MOST_INPUTS; i++)
					v[i] = (int8_t)(i % 2 == which || g->ninput == 1
								? k
								: others[o]);
				run_on(in, g, v);
			}
	for (int k = 0; k < RANDOM; k++) {
		for (size_t i = 0; i < MOST_INPUTS; i++)
			v[i] = (int8_t)(rand() % 3 == 0 ? others[rand() % 6] : rand() % 256 - 128);
		run_on(in, g, v);
	}
}

static void
check(const char *text, const qn_graph *g, const qn_channels *c, known how)
{
	const qn_id last = g->output[0].value;

	for (qn_id id = 1; id < g->n; id++) {
		if (c->first[id] == QN_NO_CHANNELS || !was_seen[id])
			continue;
		for (int64_t k = 0; k < qn_channel_count(g, id); k++) {
			const qn_interval r = c->range[c->first[id] + (uint32_t)k], s = seen[id][k];

			const qn_interval all =
				qn_storage_interval(qn_graph_node(g, id)->type->elem);
			const bool same = r.lo == s.lo && r.hi == s.hi;

			if (s.lo < r.lo || s.hi > r.hi || (id == last && how == TIGHT && !same) ||
			    (id == last && how == CONSTANTS && s.lo == s.hi && !same) ||
			    (id == last && how == STORAGE && (r.lo != all.lo || r.hi != all.hi)))
				fail_msg("%s: %%%s[%d]: %lld to %lld, seen %lld to %lld", text,
					 qn_graph_node(g, id)->name, (int)k, (long long)r.lo,
					 (long long)r.hi, (long long)s.lo, (long long)s.hi);
		}
	}
	assert_int_equal(c->known[last], how != STORAGE);
}

static void
test_ranges(void **state)
{
	(void)state;
	srand(1);
	for (size_t i = 0; i < QN_COUNT(nets); i++) {
		qn_channels c;
		qn_interp *in;
		qn_buf b;

		rig_teardown(NULL);
		rig_setup(NULL);
		qn_buf_init(&b, &rg->arena);
		qn_buff(&b, "model \"m\" stage integer\n%s  return %%o\n}\n", nets[i].text);
		assert_int_equal(qn_model_parse(&rg->m, "m.qir", qn_buf_str(&b), b.n), QN_OK);
		const qn_graph *g = qn_model_entry(&rg->m);
		qn_channels_of(&rg->m, g, &c);
		assert_int_equal(rg->diags.n, 0);
		assert_int_equal(qn_interp_new(g, &rg->arena, &in), QN_OK);
		run_many(in, g);
		check(nets[i].text, g, &c, nets[i].how);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ranges, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
