/* SPDX-License-Identifier: Apache-2.0 */
/* Emitted C against the interpreter for ops that move elements and for resizes: views of inputs,
 * constants, scratch and outputs, of narrow and wide codes. */
#include "tests/e2e/e2e.h"

#define Q(shape) "tensor<" shape "x!quant.uniform<i8:f32, 0.05:3>>"
#define R(shape) "tensor<" shape "x!quant.uniform<i8:f32, 0.11:-7>>"

enum { SAMPLES = 5 };

static void
check(const char *name, const char *inputs, const char *body)
{
	builder b, text;
	qn_buf all;

	build_begin(&text, "text", 1);
	qn_buf_init(&all, &text.arena);
	qn_buff(&all, "model \"%s\" stage integer\ngraph @main(%s) {\n%s}\n", name, inputs, body);
	build_parse(&b, qn_buf_str(&all));
	e2e_check(&b, SAMPLES);
	build_end(&b);
	build_end(&text);
}

static void
views(void **state)
{
	(void)state;
	check("views", "%x: " Q("2x3x4"),
	      "  %s = slice %x {begin=[-1,0,3], end=[-9,3,0], step=[-1,2,-2]}\n"
	      "  %t = tile %s {repeats=[1,3,2]}\n"
	      "  %r = requantize %t : " R(
		      "2x6x4") "\n"
			       "  %u = slice %r {begin=[0,1,0], end=[1,4,4]}\n"
			       "  %e = expand_dims %u {axes=[0,-1]}\n"
			       "  %q = squeeze %e {axes=[0]}\n"
			       "  %b = expand %q {shape=[5,-1,-1,3]}\n"
			       "  %k = const : " R(
				       "3x4") " rand 3\n"
					      "  %l = slice %k {begin=[1,0], end=[3,4]}\n"
					      "  return %b, %u, %e, %l\n");
}

static void
depth(void **state)
{
	(void)state;
	check("depth", "%x: " Q("2x2x3x8"),
	      "  %d = depth_to_space %x {block=2}\n"
	      "  %c = depth_to_space %x {block=2, mode=crd}\n"
	      "  %s = add %d, %c : " R("2x4x6x2") "\n"
						  "  %b = space_to_depth %s {block=2}\n"
						  "  return %b\n");
}

/* Parts are read twice, become outputs, or are not read. */
static void
splits(void **state)
{
	(void)state;
	check("splits", "%x: " Q("2x6x2"),
	      "  %p = split %x {axis=1, sizes=[1,2,1,2]}\n"
	      "  %a = get %p {index=1}\n"
	      "  %b = get %p {index=3}\n"
	      "  %c = get %p {index=0}\n"
	      "  %s = add %a, %b : " R("2x2x2") "\n"
						"  %q = split %s {axis=0, sizes=[1,1]}\n"
						"  %m = get %q {index=1}\n"
						"  %n = add %m, %c : " R(
							"2x2x2") "\n"
								 "  return %a, %n\n");
}

static void
gathers(void **state)
{
	(void)state;
	check("gathers", "%x: " Q("2x5x3") ", %j: tensor<4xi32>, %l: tensor<2x3xi64>",
	      "  %i = const : tensor<2x2xi64> [4, -1, 0, -5]\n"
	      "  %g = gather %x, %i {axis=1}\n"
	      "  %w = gather %x, %l {axis=1}\n"
	      "  %k = const : " Q("7x2") " rand 5\n"
					 "  %h = gather %k, %j\n"
					 "  %f = gather %h, %j {axis=-1}\n"
					 "  return %g, %f, %w\n");
}

/* Two that are alike share their arguments. */
static void
joins(void **state)
{
	(void)state;
	check("joins", "%x: " Q("2x3") ", %y: " Q("2x4"),
	      "  %a = concat %x, %y {axis=1}\n"
	      "  %z = requantize %y : " R("2x4") "\n"
						 "  %w = requantize %x : " R(
							 "2x3") "\n"
								"  %b = concat %w, %z {axis=1}\n"
								"  return %a, %b\n");
}

static void
resizes(void **state)
{
	(void)state;
	check("resizes", "%x: " Q("2x3x4x3"),
	      "  %a = resize_nearest %x {size=[5,7], mode=align_corners}\n"
	      "  %b = resize_nearest %a {size=[4,4], mode=asymmetric}\n"
	      "  %c = resize_bilinear %x {size=[7,5]}\n"
	      "  %d = resize_bilinear %c {size=[4,9], mode=align_corners}\n"
	      "  %e = resize_bilinear %d {size=[3,2], mode=asymmetric}\n"
	      "  %f = resize_nearest %e {size=[1,5]}\n"
	      "  return %b, %f\n");
}

static void
pads(void **state)
{
	(void)state;
	check("pads", "%x: " Q("2x3x4"),
	      "  %r = pad %x {before=[1,2,0], after=[0,1,3], mode=reflect}\n"
	      "  %e = pad %r {before=[0,0,2], after=[2,0,0], mode=edge}\n"
	      "  return %e\n");
}

/* Four bytes an element, at an input, in scratch and at an output. */
static void
wide(void **state)
{
	(void)state;
	check("wide", "%x: tensor<3x4xi32>",
	      "  %s = slice %x {begin=[1,3], end=[3,-9], step=[1,-1]}\n"
	      "  %n = expand_dims %s {axes=[0,-1]}\n"
	      "  %r = resize_nearest %n {size=[3,3]}\n"
	      "  %p = pad %r {before=[0,1,0,0], after=[0,0,2,0], mode=edge}\n"
	      "  %i = const : tensor<2xi32> [-1, 1]\n"
	      "  %g = gather %p, %i {axis=1}\n"
	      "  %t = tile %g {repeats=[2,1,1,2]}\n"
	      "  return %t, %s\n");
}

/* Indices and masks, which the interpreter moves with its plain forms. */
static void
plain(void **state)
{
	(void)state;
	check("plain", "%i: tensor<2x3xi64>, %m: tensor<3xbool>, %w: tensor<2x3xu16>",
	      "  %t = transpose %i {perm=[1,0]}\n"
	      "  %c = concat %t, %t {axis=1}\n"
	      "  %s = slice %c {begin=[2,0], end=[-4,4], step=[-1,2]}\n"
	      "  %p = pad %s {before=[0,1], after=[0,0]}\n"
	      "  %y = where %m, %i, %i\n"
	      "  %n = cast %w : tensor<2x3xi8>\n"
	      "  %b = logical_not %m\n"
	      "  %z = where %b, %w, %w\n"
	      "  return %p, %y, %n, %z\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(views), cmocka_unit_test(depth),   cmocka_unit_test(splits),
		cmocka_unit_test(joins), cmocka_unit_test(gathers), cmocka_unit_test(resizes),
		cmocka_unit_test(pads),  cmocka_unit_test(wide),    cmocka_unit_test(plain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
