/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_open_left.c - quantized ONNX files in which a node stays in float in spite of samples: the list has it, and
 * not what samples gave ranges. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include "tests/unit/onnx_host.h"
#include "tests/unit/onnx_qdq.h"

/* A scatter that adds has no integer arithmetic; the layers around it have no ranges. */
static void
test_cause_alone(void **state)
{
	static const int64_t at[480];
	host h;

	(void)state;
	another_file();
	image();
	conv("d", "c");
	onx_node(file, "Relu", "c", "r");
	onx_ints64(file, "i", "1,4,6,5", at);
	onx_string(file, "reduction", "add");
	onx_node(file, "ScatterElements", "d,i,r", "s");
	conv("s", "e");
	onx_node(file, "Relu", "e", "y");
	onx_output(file, "y");
	begin_host(&h, (const int64_t[]){SAMPLES, 4, 6, 5}, 4);
	assert_int_equal(qn_compile(h.m, &(qn_compile_opts){.calib = &h.x, .ncalib = 1}),
			 QN_EUNSUPPORTED);
	assert_true(has(h.ctx, "legalize.float", "scatter_elements 's'"));
	assert_false(has(h.ctx, "legalize.float", "conv2d"));
	assert_false(has(h.ctx, "legalize.float", "no range"));
	assert_false(has(h.ctx, "calib.unused", ""));
	end_host(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_cause_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
