/* SPDX-License-Identifier: Apache-2.0 */
/* test_encodings_lists.c - files of encodings in lists, of versions 1 and 2: what is read, or what is refused and
 * where. */
#define _POSIX_C_SOURCE 200809L /* strnlen */
#include "tests/unit/encodings_rows.h"

static const row rows[] = {
	{"{'version': '1.0.0', 'activation_encodings': [{'name': 'x', 'enc_type': 'PER_TENSOR', "
	 "'dtype': 'INT', 'bw': 8, 'is_sym': false, 'offset': [-3], 'scale': [0.5]}]}",
	 "act x 8 bits -3 0.5; "},
	{"{'version': '1.0.0', 'activation_encodings': [{'name': 'x', 'enc_type': 'PER_TENSOR', "
	 "'dtype': 'INT', 'bw': 8, 'is_sym': true, 'offset': [-128], 'scale': [0.5]}]}",
	 "act x 8 bits -128 0.5 sym; "},
	{"{'version': '1.0.0', 'activation_encodings': [{'name': 'x', 'enc_type': 'PER_TENSOR', "
	 "'dtype': 'INT', 'bw': 8, 'is_sym': true, 'offset': -128, 'scale': 0.5}]}",
	 "act x 8 bits -128 0.5 sym; "},
	{"{'version': '1.0.0', 'activation_encodings': [{'name': 'x', 'enc_type': 'PER_CHANNEL', "
	 "'dtype': 'INT', 'bw': 8, 'is_sym': true, 'offset': [-128, -128], 'scale': [0.5, 0.25]}]}",
	 "e.json:/activation_encodings/0: of 'x': has more than one encodi; "},
	{"{'version': '1.0.0', 'param_encodings': [{'name': 'w', 'enc_type': 'PER_CHANNEL', "
	 "'dtype': 'INT', 'bw': 4, 'is_sym': true, 'offset': [-8, -8], 'scale': [0.5, 0.25]}]}",
	 "param w 4 bits -8 0.5 sym, 4 bits -8 0.25 sym; "},
	{"{'version': '1.0.0', 'param_encodings': [{'name': 'w', 'enc_type': 'PER_TENSOR', "
	 "'dtype': 'INT', 'bw': 8, 'is_sym': true, 'offset': [-128, -128], 'scale': [0.5, 0.25]}]}",
	 "e.json:/param_encodings/0/scale: of 'w': has several numbers, but; "},
	{"{'version': '1.0.0', 'param_encodings': [{'name': 'w', 'enc_type': 'PER_BLOCK', 'dtype': "
	 "'INT', 'bw': 8, 'is_sym': true, 'offset': [-128], 'scale': [0.5]}]}",
	 "e.json:/param_encodings/0/enc_type: of 'w': is invalid (expected PER; "},
	{"{'version': '1.0.0', 'param_encodings': [{'name': 'w', 'enc_type': 'PER_CHANNEL', "
	 "'dtype': 'INT', 'bw': 8, 'is_sym': true, 'offset': [-128], 'scale': [0.5, 0.25]}]}",
	 "e.json:/param_encodings/0: of 'w': has another number of of; "},
	{"{'version': '1.0.0', 'param_encodings': [{'name': 'w', 'enc_type': 'PER_CHANNEL', "
	 "'dtype': 'INT', 'bw': 8, 'is_sym': true, 'offset': [], 'scale': []}]}",
	 "e.json:/param_encodings/0: of 'w': has no scale; "},
	{"{'version': '1.0.0', 'param_encodings': [{'name': 'w', 'enc_type': 'PER_CHANNEL', "
	 "'dtype': 'INT', 'bw': 8, 'is_sym': true, 'offset': [], 'scale': [0.5]}]}",
	 "e.json:/param_encodings/0: of 'w': has another number of of; "},
	{"{'version': '1.0.0', 'param_encodings': [{'name': 'w', 'enc_type': 'PER_CHANNEL', "
	 "'dtype': 'INT', 'bw': 8, 'is_sym': true, 'offset': [[-128], [-128]], 'scale': [[0.5], "
	 "[0.25]]}]}",
	 "param w 8 bits -128 0.5 sym, 8 bits -128 0.25 sym; "},
	{"{'version': '1.0.0', 'param_encodings': [{'name': 'w', 'enc_type': 'PER_CHANNEL', "
	 "'dtype': 'INT', 'bw': 8, 'is_sym': true, 'offset': [-128, 1], 'scale': [0.5, 0.25]}]}",
	 "e.json:/param_encodings/0/offset/1: of 'w': is not an integer from -; "},
	{"{'version': '1.0.0', 'param_encodings': [{'name': 'w', 'enc_type': 'PER_CHANNEL', "
	 "'dtype': 'INT', 'bw': 8, 'is_sym': true, 'offset': [-128, -1], 'scale': [0.5, 0]}]}",
	 "e.json:/param_encodings/0/scale/1: of 'w': is not a positive normal; "},
	{"{'version': '1.0.0', 'param_encodings': [{'name': 'w', 'enc_type': 'PER_CHANNEL', "
	 "'dtype': 'INT', 'bw': 8, 'is_sym': true, 'offset': [-128, true], 'scale': [0.5, 0.5]}]}",
	 "e.json:/param_encodings/0/offset/1: of 'w': is not a finite number; "},
	{"{'version': '1.0.0', 'param_encodings': [{'name': 'w', 'enc_type': 'PER_CHANNEL', "
	 "'dtype': 'FLOAT', 'bw': 16}]}",
	 "param w float; "},
	{"{'version': '1.0.0', 'param_encodings': [{'name': 'w', 'dtype': 'INT', 'bw': 8}]}",
	 "e.json:/param_encodings/0: missing key 'enc_type' (expected; "},
	{"{'version': '1.0.0', 'activation_encodings': [{'name': 'x', 'enc_type': 'PER_TENSOR', "
	 "'dtype': 'INT', 'bw': 7, 'is_sym': false, 'offset': [-3], 'scale': [0.5]}]}",
	 "e.json:/activation_encodings/0/bw: of 'x': is not a valid width (ex; "},
	{"{'version': '1.0.0', 'activation_encodings': [{'name': 'x', 'enc_type': 'PER_TENSOR', "
	 "'dtype': 'INT', 'bw': 7, 'is_sym': false, 'offset': [-200], 'scale': [0.5]}]}",
	 "e.json:/activation_encodings/0/bw: of 'x': is not a valid width (ex; "},
	{"{'version': '1.0.0', 'activation_encodings': [{'name': 'x', 'enc_type': 'PER_TENSOR', "
	 "'dtype': 'INT', 'bw': 7, 'is_sym': false, 'offset': [-256], 'scale': [0.5]}]}",
	 "e.json:/activation_encodings/0/bw: of 'x': is not a valid width (ex; "},
	{"{'version': '1.0.0', 'activation_encodings': [3, {'enc_type': 'PER_TENSOR'}]}",
	 "e.json:/activation_encodings/0: this must be an object, not a nu; "
	 "e.json:/activation_encodings/1: missing key 'name' (expected a s; "},
	{"{'version': '1.0.0', 'activation_encodings': {}}",
	 "e.json:/activation_encodings: this must be an array, not an ob; "},
	{"{'version': '1.0.0', 'activation_encodings': [{'name': 'x', 'enc_type': 'PER_TENSOR', "
	 "'dtype': 'INT', 'bw': 8, 'is_sym': false, 'offset': [-3], 'scale': [0.5]}, {'name': 'x', "
	 "'enc_type': 'PER_TENSOR', 'dtype': 'INT', 'bw': 8, 'is_sym': false, 'offset': [-3], "
	 "'scale': [0.5]}]}",
	 "e.json:/activation_encodings/1: of 'x': is given twice; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'int4', 'y_scale': "
	 "0.5}]}",
	 "param x 4 bits -8 0.5; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'uint4', 'y_scale': "
	 "0.5}]}",
	 "param x 4 bits 0 0.5; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'int8', 'y_scale': "
	 "0.5}]}",
	 "param x 8 bits -128 0.5; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'uint8', 'y_scale': "
	 "0.5}]}",
	 "param x 8 bits 0 0.5; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'int16', 'y_scale': "
	 "0.5}]}",
	 "param x 16 bits -32768 0.5; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'uint16', 'y_scale': "
	 "0.5}]}",
	 "param x 16 bits 0 0.5; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'int32', 'y_scale': "
	 "0.5}]}",
	 "param x 32 bits -2147483648 0.5; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'int5', 'y_scale': "
	 "0.5}]}",
	 "e.json:/encodings/0/output_dtype: of 'x': is invalid (expected int; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'int4', 'y_scale': 0.5, "
	 "'y_zero_point': -8}]}",
	 "param x 4 bits 0 0.5; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'int4', 'y_scale': 0.5, "
	 "'y_zero_point': 7}]}",
	 "param x 4 bits -15 0.5; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'int4', 'y_scale': 0.5, "
	 "'y_zero_point': 8}]}",
	 "e.json:/encodings/0/y_zero_point: of 'x': is not an integer from -; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'uint4', 'y_scale': "
	 "0.5, 'y_zero_point': 15}]}",
	 "param x 4 bits -15 0.5; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'uint4', 'y_scale': "
	 "0.5, 'y_zero_point': 16}]}",
	 "e.json:/encodings/0/y_zero_point: of 'x': is not an integer from -; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'int8', 'y_scale': 0.5, "
	 "'y_zero_point': -128}]}",
	 "param x 8 bits 0 0.5; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'int8', 'y_scale': 0.5, "
	 "'y_zero_point': 127}]}",
	 "param x 8 bits -255 0.5; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'int8', 'y_scale': 0.5, "
	 "'y_zero_point': -129}]}",
	 "e.json:/encodings/0/y_zero_point: of 'x': is not an integer from -; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'uint8', 'y_scale': "
	 "0.5, 'y_zero_point': 255}]}",
	 "param x 8 bits -255 0.5; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'uint8', 'y_scale': "
	 "0.5, 'y_zero_point': -1}]}",
	 "e.json:/encodings/0/y_zero_point: of 'x': is not an integer from -; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'int16', 'y_scale': "
	 "0.5, 'y_zero_point': -32768}]}",
	 "param x 16 bits 0 0.5; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'uint16', 'y_scale': "
	 "0.5, 'y_zero_point': 65535}]}",
	 "param x 16 bits -65535 0.5; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'int32', 'y_scale': "
	 "0.5, 'y_zero_point': 5}]}",
	 "param x 32 bits -2147483653 0.5; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'int8', 'y_scale': "
	 "[0.5, 0.25]}]}",
	 "param x 8 bits -128 0.5, 8 bits -128 0.25; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'int8', 'y_scale': "
	 "[0.5, 0.25], 'y_zero_point': 3}]}",
	 "param x 8 bits -131 0.5, 8 bits -131 0.25; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'int8', 'y_scale': "
	 "[0.5, 0.25], 'y_zero_point': [3, -4]}]}",
	 "param x 8 bits -131 0.5, 8 bits -124 0.25; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'int8', 'y_scale': "
	 "[0.5, 0.25, 1], 'y_zero_point': [3, -4]}]}",
	 "e.json:/encodings/0: of 'x': has another number of of; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'int8', 'y_scale': 0.5, "
	 "'y_zero_point': [3, -4]}]}",
	 "e.json:/encodings/0: of 'x': has another number of of; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'int8', 'y_scale': 0.5, "
	 "'block_size': 2}]}",
	 "e.json:/encodings/0: of 'x': has blocks, which are no; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'int8', 'y_scale': 0.5, "
	 "'per_block_int_scale': [1]}]}",
	 "e.json:/encodings/0: of 'x': has blocks, which are no; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'int8', 'y_scale': "
	 "{'a': 1}}]}",
	 "e.json:/encodings/0: of 'x': has blocks, which are no; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'int8'}]}",
	 "e.json:/encodings/0: of 'x': has no scale; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'y_scale': 0.5}]}",
	 "e.json:/encodings/0: missing key 'output_dtype' (expe; "},
	{"{'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'int8', 'y_scale': "
	 "0.5}, {'y_scale': 1}], 'activation_encodings': [{'name': 'x', 'output_dtype': 'int8', "
	 "'y_scale': 0.5}]}",
	 "e.json:/encodings/1: missing key 'name' (expected a s; e.json:/encodings/0: of 'x': "
	 "is given twice; "},
	{"{'version': '2.1.0', 'activation_encodings': [{'name': 'x', 'output_dtype': 'int8', "
	 "'y_scale': 0.5}], 'param_encodings': [{'name': 'w', 'output_dtype': 'uint8', 'y_scale': "
	 "[1, 2]}]}",
	 "act x 8 bits -128 0.5; param w 8 bits 0 1.0, 8 bits 0 2.0; "},
};

static void
test_files(void **state)
{
	(void)state;
	check_rows(rows, QN_COUNT(rows));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_files, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
