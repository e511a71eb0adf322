/* SPDX-License-Identifier: Apache-2.0 */
/* test_tflite_exact.c - operators of codes in TFLite's own arithmetic: bytes measured with the
 * builtin kernels of LiteRT 2.5 (scripts/check-tflite), mostly where rounding once gives others. */
#include "tests/unit/tflite_rig.h"

enum { MOST = 8 };

typedef struct exact_row {
	const char *name;
	int code, type;
	float in;
	int zi;
	float out;
	int zo;
	float alpha; /* option 0; 0: there is none */
	int n;
	double x[MOST], want[MOST];
} exact_row;

#define OP(name) #name, QN_TFL_##name

/* clang-format off */
static const exact_row rows[] = {
	{OP(HARD_SWISH), TFL_INT8, 0.05593090504407883f, 54, 0.0479806512594223f, -40, 0, 1, {80}, {-17}},
	{OP(HARD_SWISH), TFL_UINT8, 0.02769891545176506f, 146, 0.024551967158913612f, 33, 0, 1, {233}, {122}},
	{OP(RELU), TFL_INT16, 0.00019374681869521737f, 0, 0.00016740262799430639f, 0, 0, 1, {20922}, {24214}},
	{OP(SQRT), TFL_INT8, 0.22011157870292664f, -114, 0.04782142862677574f, 95, 0, 8,
	 {-113, -112, -111, -110, -109, -107, -106, -114}, {104, 108, 111, 114, 116, 120, 122, 95}},
	{OP(EXP), TFL_INT16, 0.00016175775090232491f, 0, 0.00013923441292718053f, 0, 0, 8,
	 {-32396, -12095, -2239, -301, 1629, 3684, 5188, 7211}, {39, 1015, 4999, 6840, 9347, 13032, 16622, 23057}},
	{OP(LOG), TFL_INT16, 0.0005449639866128564f, 0, 0.00020843246602453291f, 0, 0, 8,
	 {23, 1018, 2083, 3854, 5927, 7456, 13871, 23387}, {-26429, -2827, 607, 3559, 5624, 6726, 9704, 12211}},
	{OP(RSQRT), TFL_INT16, 8.215035632019863e-05f, 0, 3.986832598457113e-05f, 0, 0, 8,
	 {7170, 9962, 12649, 14719, 17099, 19466, 23260, 27095}, {32683, 27728, 24607, 22811, 21164, 19836, 18146, 16813}},
	{OP(ABS), TFL_INT16, 0.00014768542314413935f, 0, 9.42318220040761e-05f, 0, 0, 8,
	 {-20970, -12577, -7683, -4102, 454, 4748, 8281, 15183}, {32767, 19711, 12041, 6429, 712, 7441, 12978, 23796}},
	{OP(NEG), TFL_INT16, 0.0004180588584858924f, 0, 0.0004180588584858924f, 0, 0, 8,
	 {10809, 29110, 27387, -25517, -32463, 32767, -32767, 1}, {-10809, -29110, -27387, 25517, 32463, -32767, 32767, -1}},
	{OP(LEAKY_RELU), TFL_INT16, 9.8506519861985e-05f, 0, 9.769469033926725e-05f, 0, 0.5150325298309326f, 8,
	 {-32726, -28014, -23436, -18385, -13840, -8486, -2855, 8855},
	 {-16995, -14548, -12171, -9548, -7187, -4407, -1483, 8929}},
	{OP(LEAKY_RELU), TFL_UINT8, 0.20227499306201935f, 103, 0.21301431953907013f, 224, 0.6688019037246704f, 8,
	 {0, 12, 24, 36, 48, 60, 72, 84}, {159, 166, 174, 181, 189, 197, 204, 212}},
	{OP(RELU_0_TO_1), TFL_INT8, 0.10615646839141846f, -88, 0.06416888535022736f, -126, 0, 4,
	 {-78, -53, -28, 97}, {-110, -110, -110, -110}},
	{OP(SOFTMAX), TFL_INT16, 0.0004505003453232348f, 0, 1.0f / 32768, 0, 1, 4,
	 {21229, -18454, -11704, -12009}, {32761, 2, 2, 2}},
	{OP(SOFTMAX), TFL_INT16, 0.0004505003453232348f, 0, 1.0f / 32768, 0, 1, 4,
	 {-32762, -7273, 7365, -21413}, {2, 45, 32719, 2}},
};
/* clang-format on */

static void
check(const exact_row *r)
{
	int x = tfl_codes(file, "x", r->type, DIMS(1, r->n), r->in, r->zi, NULL, 0);
	int y = tfl_codes(file, "y", r->type, DIMS(1, r->n), r->out, r->zo, NULL, 0);
	tfl_op_of *o = tfl_op(file, r->code, INTS(x), INTS(y));

	if (r->alpha > 0)
		tfl_with(o, 0, 'f', (double)r->alpha);
	import(INTS(x), INTS(y));
	gives(r->x, r->n, r->want);
}

static void
test_measured(void **state)
{
	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		print_message("%s %d\n", rows[i].name, (int)i);
		tflite_teardown(NULL);
		tflite_setup(NULL);
		check(&rows[i]);
	}
}

/* Codes that lie closer than 1/256 may be equal. */
static void
test_compared(void **state)
{
	static const int8_t y[] = {91, 69, -87, -84, -81, -64, -14, 106};
	const float scale = 0.0009011290967464447f;
	int a = tfl_codes(file, "a", TFL_INT8, DIMS(1, 8), scale, 54, NULL, 0);
	int b = tfl_codes(file, "b", TFL_INT8, DIMS(1, 8), scale, 54, y, 8);
	int z = tfl_tensor(file, "z", TFL_BOOL, DIMS(1, 8), NULL, 0);

	(void)state;
	tfl_op(file, QN_TFL_EQUAL, INTS(a, b), INTS(z));
	import(INTS(a), INTS(z));
	GIVES(V(94, 65, -91, -81, -78, -66, -11, 109), 1, 1, 1, 0, 0, 0, 0, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_measured, tflite_setup, tflite_teardown),
		cmocka_unit_test_setup_teardown(test_compared, tflite_setup, tflite_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
