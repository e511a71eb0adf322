/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_integers.c - operators that know no scale, on int8 and uint8 tensors of ONNX: they see integers, whatever
 * these stand for. */
#include "tests/unit/onnx_rig.h"

/* x -> QuantizeLinear(0.5, zero point 100) -> q; what the test adds -> "p" -> DequantizeLinear -> y. */
static void
begin(const char *dims)
{
	onx_input(file, "x", ONX_FLOAT, dims);
	onx_floats(file, "s", "", (const float[]){0.5f});
	onx_tensor(file, "z", ONX_UINT8, "", (const uint8_t[]){100}, 1);
	onx_node(file, "QuantizeLinear", "x,s,z", "q");
}

static void
end(void)
{
	onx_node(file, "DequantizeLinear", "p,s,z", "y");
	onx_output(file, "y");
	import(18);
}

static void
u8(const char *name, uint8_t v)
{
	onx_tensor(file, name, ONX_UINT8, "", &v, 1);
}

static void
test_pad(void **state)
{
	(void)state;
	begin("1,2");
	onx_ints64(file, "pads", "4", (const int64_t[]){0, 1, 0, 1});
	u8("v", 102);
	onx_node(file, "Pad", "q,pads,v", "p");
	end();
	GIVES(V(3, -4), 0, 1, 3, -4, 1);
	another_file();
	begin("1,2"); /* without a value it is the integer 0 */
	onx_ints64(file, "pads", "4", (const int64_t[]){0, 1, 0, 0});
	onx_node(file, "Pad", "q,pads", "p");
	end();
	GIVES(V(3, -4), 0, -50, 3, -4);
}

static void
test_clip(void **state)
{
	(void)state;
	begin("1,4");
	u8("lo", 99);
	u8("hi", 110);
	onx_node(file, "Clip", "q,lo,hi", "p");
	end();
	GIVES(V(-9, 0, 4.5, 60), 0, -0.5, 0, 4.5, 5);
	another_file();
	begin("1,4");
	u8("hi", 90);
	onx_node(file, "Clip", "q,,hi", "p");
	end();
	GIVES(V(-9, 0, 4.5, 60), 0, -9, -5, -5, -5);
}

/* Of i8 the integer 0 is the limit, not the zero point. */
static void
test_relu(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,3");
	onx_floats(file, "s", "", (const float[]){0.5f});
	onx_tensor(file, "z", ONX_INT8, "", (const int8_t[]){-10}, 1);
	onx_node(file, "QuantizeLinear", "x,s,z", "q");
	onx_node(file, "Relu", "q", "p");
	end();
	GIVES(V(3, 5, 20), 0, 5, 5, 20);
}

static void
test_chosen(void **state)
{
	(void)state;
	begin("1,4");
	onx_tensor(file, "c", ONX_BOOL, "4", (const uint8_t[]){1, 0, 1, 0}, 4);
	u8("v", 120);
	onx_node(file, "Where", "c,q,v", "w");
	onx_node(file, "Max", "w,z", "p");
	end();
	GIVES(V(3, 4, -5, 6), 0, 3, 10, 0, 10);
	another_file();
	begin("1,3");
	onx_ints64(file, "at", "1,2", (const int64_t[]){2, 0});
	onx_tensor(file, "u", ONX_UINT8, "1,2", (const uint8_t[]){0, 255}, 2);
	onx_int(file, "axis", 1);
	onx_node(file, "ScatterElements", "q,at,u", "p");
	end();
	GIVES(V(1, 2, 3), 0, 77.5, 2, -50);
}

/* Operands of different parameters are joined as integers. */
static void
test_concat(void **state)
{
	(void)state;
	begin("1,2");
	onx_floats(file, "s2", "", (const float[]){2});
	onx_node(file, "QuantizeLinear", "x,s2,z", "q2");
	onx_int(file, "axis", 1);
	onx_node(file, "Concat", "q,q2", "p");
	end();
	GIVES(V(8, -4), 0, 8, -4, 2, -1);
}

static void
test_max_pool(void **state)
{
	(void)state;
	begin("1,1,1,4");
	onx_list(file, "kernel_shape", 2, (const int64_t[]){1, 2});
	onx_list(file, "strides", 2, (const int64_t[]){1, 2});
	onx_node(file, "MaxPool", "q", "p");
	end();
	GIVES(V(-3, -2, 5, 4), 0, -2, 5);
}

/* What becomes real counts: scale 1. */
static void
test_cast(void **state)
{
	(void)state;
	begin("1,2");
	onx_int(file, "to", ONX_FLOAT);
	onx_node(file, "Cast", "q", "y");
	onx_output(file, "y");
	import(18);
	GIVES(V(3, -4), 0, 106, 92);
}

/* A weighted mean of integers is that of what they stand for, rounded to the nearest; of integers that stand for nothing,
 * cut off. */
static void
test_resize(void **state)
{
	(void)state;
	begin("1,1,1,2");
	onx_floats(file, "by", "4", (const float[]){1, 1, 1, 2});
	onx_string(file, "mode", "linear");
	onx_node(file, "Resize", "q,,by", "p");
	end();
	assert_int_equal(qn_graph_node(rg->g, rg->g->output[0].value)->op, QN_OP_dequantize);
	GIVES(V(3, 6.5), 0, 3, 4, 5.5, 6.5); /* 106, 107.75, 111.25, 113 */
	another_file();
	onx_input(file, "x", ONX_UINT8, "1,1,1,2");
	onx_floats(file, "by", "4", (const float[]){1, 1, 1, 2});
	onx_string(file, "mode", "linear");
	onx_node(file, "Resize", "x,,by", "y");
	onx_output(file, "y");
	import(18);
	GIVES(V(106, 113), 0, 106, 107, 111, 113);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_pad),    TEST(test_clip),   TEST(test_resize),   TEST(test_relu),
		TEST(test_chosen), TEST(test_concat), TEST(test_max_pool), TEST(test_cast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
