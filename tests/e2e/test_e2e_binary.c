/* SPDX-License-Identifier: Apache-2.0 */
/* Emitted C against the interpreter, byte for byte: ops of two operands, selection and products.
 * Accumulators and conditions are outputs too; constants stand on either side. */
#include "tests/e2e/e2e.h"

#define Q(shape) "tensor<" shape "x!quant.uniform<i8:f32, 0.05:3>>"
#define R(shape) "tensor<" shape "x!quant.uniform<i8:f32, 0.11:-7>>"

enum { SAMPLES = 5 };

static void
check(const char *text)
{
	builder b;

	build_parse(&b, text);
	e2e_check(&b, SAMPLES);
	build_end(&b);
}

/* Products of i16 with results of 8 bits. */
static void
narrow_product(void **state)
{
	(void)state;
	check("model \"narrow\" stage integer\n"
	      "graph @main(%x: tensor<2x3x4x!quant.uniform<i16:f32, 0.0003>>, "
	      "%y: tensor<3x1x!quant.uniform<i16:f32, 0.0002>>) {\n"
	      "  %s = mul %x, %y : tensor<2x3x4x!quant.uniform<i8:f32, 0.3:-20>>\n"
	      "  %u = mul %y, %x : tensor<2x3x4x!quant.uniform<u8:f32, 0.4:140>>\n"
	      "  return %s, %u\n"
	      "}\n");
}

static void
binary(void **state)
{
	(void)state;
	check("model \"binary\" stage integer rounding single\n"
	      "graph @main(%x: " Q("2x3x4") ", %y: " R(
		      "3x1") ") {\n"
			     "  %k = const : " Q(
				     "4") " [-128, 127, 3, -60]\n"
					  "  %d = sub %x, %y : " Q(
						  "2x3x4") "\n"
							   "  %e = sub %k, %d : " R(
								   "2x3x4") "\n"
									    "  %f = div %e, %x "
									    ": " Q("2x3x4") "\n"
											    "  %g "
											    "= div "
											    "%k, "
											    "%f "
											    ": " Q("2x3x4") "\n"
													    "  %lo = minimum %g, %k\n"
													    "  %hi = maximum %x, %lo\n"
													    "  return %d, %e, %f, %g, %hi\n"
													    "}\n");
}

static void
selection(void **state)
{
	(void)state;
	check("model \"selection\" stage integer rounding nearest\n"
	      "graph @main(%x: " Q("2x3x4") ", %y: " R(
		      "3x1") ") {\n"
			     "  %k = const : " Q("4") " [-128, 127, 3, -60]\n"
						      "  %c1 = equal %x, %k\n"
						      "  %c2 = less %y, %x\n"
						      "  %c3 = greater_equal %y, %k\n"
						      "  %w1 = where %c2, %x, %k\n"
						      "  %w2 = where %c3, %k, %w1\n"
						      "  %i = cast %c1 : tensor<2x3x4xi32>\n"
						      "  %j = cast %i : tensor<2x3x4xi8>\n"
						      "  %w3 = where %c3, %i, %i\n"
						      "  return %c1, %w2, %j, %c3, %w3\n"
						      "}\n");
}

/* Truth values, also by broadcasting; a square of differences whose operands are far apart. */
static void
logic(void **state)
{
	(void)state;
	/* clang-format off */
	check("model \"logic\" stage integer\n"
	      "graph @main(%x: " Q("2x3x4") ", %y: " R("3x1") ", %m: tensor<4xbool>) {\n"
	      "  %a = less %x, %y\n"
	      "  %b = logical_and %a, %m\n"
	      "  %c = logical_or %m, %b\n"
	      "  %d = logical_xor %c, %a\n"
	      "  %e = logical_not %d\n"
	      "  %s = squared_difference %x, %y : " R("2x3x4") "\n"
	      "  %w = where %e, %x, %x\n"
	      "  return %b, %c, %d, %e, %s, %w\n"
	      "}\n");
	/* clang-format on */
}

static void
matmul(void **state)
{
	(void)state;
	check("model \"matmul\" stage integer\n"
	      "graph @main(%x: " Q("2x1x3x4") ", %y: " R(
		      "3x5x4") ") {\n"
			       "  %w = const : tensor<4x3x!quant.uniform<i8:f32:1, {0.02, 0.003, "
			       "0.5}>> rand 1\n"
			       "  %k = const : " Q(
				       "3x2x3") " rand 2\n"
						"  %p = matmul %x, %y {transpose_b=1}\n"
						"  %q = requantize %p : " Q(
							"2x3x3x5") "\n"
								   "  %r = matmul %y, %w\n"
								   "  %s = requantize %r {lo=-90} "
								   ": " Q("3x5x3") "\n"
										   "  %t = matmul "
										   "%k, %q\n"
										   "  return %q, "
										   "%s, %r, %t\n"
										   "}\n");
}

static void
convolutions(void **state)
{
	(void)state;
	check("model \"convolutions\" stage integer\n"
	      "graph @main(%x: " Q("2x7x4") ", %y: " R(
		      "1x3x4x4") ") {\n"
				 "  %w = const : tensor<3x3x4x!quant.uniform<i8:f32:0, {0.02, "
				 "0.003, 0.5}>> rand 1\n"
				 "  %b = const : tensor<3x!quant.uniform<i32:f32:0, 0.05*{0.02, "
				 "0.003, 0.5}>> [5, -900, 44]\n"
				 "  %c = conv1d %x, %w, %b {stride=2, pad=[2,1]}\n"
				 "  %q = requantize %c : " R(
					 "2x4x3") "\n"
						  "  %v = const : "
						  "tensor<2x3x2x2x!quant.uniform<i8:f32, 0.02>> "
						  "rand 2\n"
						  "  %t = conv2d_transpose %y, %v {stride=[2,3], "
						  "padding=same, groups=2}\n"
						  "  %r = requantize %t : " Q(
							  "1x6x12x2") "\n"
								      "  %u = conv2d_transpose %y, "
								      "%v {stride=[2,2], "
								      "pad=[1,0,1,1], "
								      "output_padding=[0,1], "
								      "groups=2}\n"
								      "  return %q, %r, %u, %t\n"
								      "}\n");
}

#define ALIGNED(shape, scale) "tensor<" shape "x!quant.uniform<i8:f32, " scale ">>"
#define A ALIGNED("2x3x4", "0.050048828125:5")
#define B ALIGNED("2x3x4", "0.30078125:-3")

/* Sums of aligned scales: equal ones, one operand shifted, one that loses bits; broadcast. */
static void
aligned(void **state)
{
	(void)state;
	/* clang-format off */
	check("model \"aligned\" stage integer\n"
	      "graph @main(%x: " A ", %y: " B ") {\n"
	      "  %k = const : " ALIGNED("4", "0.0001220703125:20") " [-128, 127, 3, -60]\n"
	      "  %s = add %x, %y {align=8} : " A "\n"
	      "  %d = sub %s, %s {align=8} : " A "\n"
	      "  %e = sub %y, %d {align=15} : " B "\n"
	      "  %f = bias_add %e, %k {align=15} : " B "\n"
	      "  return %s, %d, %e, %f\n"
	      "}\n");
	/* clang-format on */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(narrow_product), cmocka_unit_test(binary),
		cmocka_unit_test(selection),      cmocka_unit_test(logic),
		cmocka_unit_test(aligned),        cmocka_unit_test(matmul),
		cmocka_unit_test(convolutions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
