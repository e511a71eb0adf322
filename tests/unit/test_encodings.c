/* SPDX-License-Identifier: Apache-2.0 */
/* test_encodings.c - files of encodings by names, which say no version or 0.6.1: what is read, or what is refused and
 * where; and which versions there are. */
#define _POSIX_C_SOURCE 200809L /* strnlen */
#include "tests/unit/encodings_rows.h"

static const row rows[] = {
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -3, 'scale': 0.5}]}}",
	 "act x 8 bits -3 0.5; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 4, 'offset': -15, 'scale': 0.5}]}}",
	 "act x 4 bits -15 0.5; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 4, 'offset': -16, 'scale': 0.5}]}}",
	 "e.json:/activation_encodings/x/0/offset: of 'x': is not an integer from -; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 16, 'offset': -65535, 'scale': 0.5}]}}",
	 "act x 16 bits -65535 0.5; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 16, 'offset': -65536, 'scale': 0.5}]}}",
	 "e.json:/activation_encodings/x/0/offset: of 'x': is not an integer from -; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 32, 'offset': -2147483648, 'scale': 0.5}]}}",
	 "act x 32 bits -2147483648 0.5; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 5, 'offset': -3, 'scale': 0.5}]}}",
	 "e.json:/activation_encodings/x/0/bitwidth: of 'x': is not a valid width (ex; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8.5, 'offset': -3, 'scale': 0.5}]}}",
	 "e.json:/activation_encodings/x/0/bitwidth: of 'x': is not a valid width (ex; "},
	{"{'activation_encodings': {'x': [{'bitwidth': '8', 'offset': -3, 'scale': 0.5}]}}",
	 "e.json:/activation_encodings/x/0/bitwidth: this must be a number, not a str; "},
	{"{'activation_encodings': {'x': [{'offset': 0, 'scale': 1}]}}",
	 "e.json:/activation_encodings/x/0: missing key 'bitwidth' (expected; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': 1, 'scale': 0.5}]}}",
	 "e.json:/activation_encodings/x/0/offset: of 'x': is not an integer from -; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': 0, 'scale': 0.5}]}}",
	 "act x 8 bits 0 0.5; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -255, 'scale': 0.5}]}}",
	 "act x 8 bits -255 0.5; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -256, 'scale': 0.5}]}}",
	 "e.json:/activation_encodings/x/0/offset: of 'x': is not an integer from -; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -2.5, 'scale': 0.5}]}}",
	 "e.json:/activation_encodings/x/0/offset: of 'x': is not an integer from -; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': 'a', 'scale': 0.5}]}}",
	 "e.json:/activation_encodings/x/0/offset: of 'x': is not a finite number; ; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': 1e999, 'scale': 0.5}]}}",
	 "e.json:/activation_encodings/x/0/offset: the number is larger than a doub; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -3, 'scale': 0}]}}",
	 "e.json:/activation_encodings/x/0/scale: of 'x': is not a positive normal; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -3, 'scale': -0.5}]}}",
	 "e.json:/activation_encodings/x/0/scale: of 'x': is not a positive normal; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -3, 'scale': "
	 "1.1754943508222875e-38}]}}",
	 "act x 8 bits -3 1.1754943508222875e-38; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -3, 'scale': 1e-38}]}}",
	 "e.json:/activation_encodings/x/0/scale: of 'x': is not a positive normal; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -3, 'scale': "
	 "3.4028234663852886e38}]}}",
	 "act x 8 bits -3 3.4028234663852886e+38; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -3, 'scale': 3.5e38}]}}",
	 "e.json:/activation_encodings/x/0/scale: of 'x': is not a positive normal; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -3, 'scale': 'a'}]}}",
	 "e.json:/activation_encodings/x/0/scale: of 'x': is not a finite number; ; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -128, 'scale': 0.5, "
	 "'is_symmetric': true}]}}",
	 "act x 8 bits -128 0.5 sym; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -128, 'scale': 0.5, "
	 "'is_symmetric': false}]}}",
	 "act x 8 bits -128 0.5; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -128, 'scale': 0.5, "
	 "'is_symmetric': 'True'}]}}",
	 "act x 8 bits -128 0.5 sym; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -128, 'scale': 0.5, "
	 "'is_symmetric': 'False'}]}}",
	 "act x 8 bits -128 0.5; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -128, 'scale': 0.5, "
	 "'is_symmetric': 'true'}]}}",
	 "e.json:/activation_encodings/x/0/is_symmetric: of 'x': is invalid (expected tru; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -128, 'scale': 0.5, "
	 "'is_symmetric': 1}]}}",
	 "e.json:/activation_encodings/x/0/is_symmetric: of 'x': is invalid (expected tru; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -128, 'scale': 0.5, 'dtype': "
	 "'int'}]}}",
	 "act x 8 bits -128 0.5; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -128, 'scale': 0.5, 'dtype': "
	 "'INT'}]}}",
	 "act x 8 bits -128 0.5; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -128, 'scale': 0.5, 'dtype': "
	 "'float'}]}}",
	 "act x float; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -128, 'scale': 0.5, 'dtype': "
	 "'FLOAT'}]}}",
	 "act x float; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -128, 'scale': 0.5, 'dtype': "
	 "'real'}]}}",
	 "e.json:/activation_encodings/x/0/dtype: of 'x': is invalid (expected int; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -128, 'scale': 0.5, 'dtype': "
	 "1}]}}",
	 "e.json:/activation_encodings/x/0/dtype: this must be a string, not a num; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'min': -1, 'max': 2}]}}",
	 "act x 8 bits -85 0.011764705882352941; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 4, 'min': -1, 'max': 2}]}}",
	 "act x 4 bits -5 0.2; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'min': 0, 'max': 2.55}]}}",
	 "act x 8 bits 0 0.009999999999999998; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'min': -2.55, 'max': 0}]}}",
	 "act x 8 bits -255 0.009999999999999998; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'min': 1, 'max': 2}]}}",
	 "e.json:/activation_encodings/x/0: of 'x': is a range without 0 or ; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'min': -2, 'max': -1}]}}",
	 "e.json:/activation_encodings/x/0: of 'x': is a range without 0 or ; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'min': 0, 'max': 0}]}}",
	 "e.json:/activation_encodings/x/0: of 'x': is a range without 0 or ; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'min': 2, 'max': -1}]}}",
	 "e.json:/activation_encodings/x/0/min: of 'x': is above max; it is 2; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'min': 0, 'max': 1e-37}]}}",
	 "e.json:/activation_encodings/x/0: of 'x': is a range whose scale i; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'min': -1e308, 'max': 1e308}]}}",
	 "e.json:/activation_encodings/x/0: of 'x': is a range whose scale i; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'min': 'a', 'max': 1}]}}",
	 "e.json:/activation_encodings/x/0/min: of 'x': is not a finite number; ; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'min': -1}]}}",
	 "e.json:/activation_encodings/x/0: of 'x': has neither scale and of; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'max': 1}]}}",
	 "e.json:/activation_encodings/x/0: of 'x': has neither scale and of; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'scale': 0.5}]}}",
	 "e.json:/activation_encodings/x/0: of 'x': has neither scale and of; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -3}]}}",
	 "e.json:/activation_encodings/x/0: of 'x': has neither scale and of; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'min': -1, 'max': 1, 'scale': 0.5}]}}",
	 "e.json:/activation_encodings/x/0: of 'x': has neither scale and of; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'min': -1, 'max': 1, 'offset': 0}]}}",
	 "e.json:/activation_encodings/x/0: of 'x': has neither scale and of; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -10, 'scale': 0.5, 'min': -5, "
	 "'max': 122.5}]}}",
	 "act x 8 bits -10 0.5; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -10, 'scale': 0.5, 'min': "
	 "-5.75, 'max': 122.5}]}}",
	 "act x 8 bits -10 0.5; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -10, 'scale': 0.5, 'min': "
	 "-5.75004, 'max': 122.5}]}}",
	 "act x 8 bits -10 0.5; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -10, 'scale': 0.5, 'min': "
	 "-5.7501, 'max': 122.5}]}}",
	 "e.json:/activation_encodings/x/0: of 'x': has a min or max that do; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -10, 'scale': 0.5, 'min': "
	 "-5.76, 'max': 122.5}]}}",
	 "e.json:/activation_encodings/x/0: of 'x': has a min or max that do; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -10, 'scale': 0.5, 'min': "
	 "-4.25, 'max': 122.5}]}}",
	 "act x 8 bits -10 0.5; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -10, 'scale': 0.5, 'min': "
	 "-4.24, 'max': 122.5}]}}",
	 "e.json:/activation_encodings/x/0: of 'x': has a min or max that do; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -10, 'scale': 0.5, 'min': -5, "
	 "'max': 123.25}]}}",
	 "act x 8 bits -10 0.5; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -10, 'scale': 0.5, 'min': -5, "
	 "'max': 123.26}]}}",
	 "e.json:/activation_encodings/x/0: of 'x': has a min or max that do; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -10, 'scale': 0.5, 'min': -5, "
	 "'max': 121.75}]}}",
	 "act x 8 bits -10 0.5; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -10, 'scale': 0.5, 'min': -5, "
	 "'max': 121.74}]}}",
	 "e.json:/activation_encodings/x/0: of 'x': has a min or max that do; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -10, 'scale': 0.5, 'min': "
	 "-9}]}}",
	 "e.json:/activation_encodings/x/0: of 'x': has a min or max that do; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -10, 'scale': 0.5, 'max': "
	 "9}]}}",
	 "e.json:/activation_encodings/x/0: of 'x': has a min or max that do; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': 7, 'scale': 0.5, 'max': 9}]}}",
	 "e.json:/activation_encodings/x/0/offset: of 'x': is not an integer from -; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': 1, 'scale': 0.5, 'max': 9}]}}",
	 "e.json:/activation_encodings/x/0/offset: of 'x': is not an integer from -; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 16, 'offset': -1, 'scale': 1000.0, 'min': "
	 "-1000, 'max': 65535500}]}}",
	 "act x 16 bits -1 1000.0; "},
	{"{'activation_encodings': {'x': []}}",
	 "e.json:/activation_encodings/x: of 'x': is empty; "},
	{"{'activation_encodings': {'x': {}}}",
	 "e.json:/activation_encodings/x: this must be an array, not an ob; "},
	{"{'activation_encodings': {'x': [3]}}",
	 "e.json:/activation_encodings/x/0: this must be an object, not a nu; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -3, 'scale': 0.5}, "
	 "{'bitwidth': 8, 'offset': -4, 'scale': 0.25}]}}",
	 "e.json:/activation_encodings/x: of 'x': has more than one encodi; "},
	{"{'param_encodings': {'w': [{'bitwidth': 8, 'offset': -3, 'scale': 0.5}, {'bitwidth': 8, "
	 "'offset': -4, 'scale': 0.25}]}}",
	 "param w 8 bits -3 0.5, 8 bits -4 0.25; "},
	{"{'param_encodings': {'w': [{'bitwidth': 8, 'offset': -3, 'scale': 0.5}, {'dtype': "
	 "'float', 'bitwidth': 16}]}}",
	 "param w float; "},
	{"{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -3, 'scale': 0.5}], 'y': "
	 "[{'bitwidth': 8, 'offset': -4, 'scale': 0.25}]}, 'param_encodings': {'x': [{'bitwidth': "
	 "4, 'offset': -8, 'scale': 1}]}}",
	 "act x 8 bits -3 0.5; act y 8 bits -4 0.25; param x 4 bits -8 1.0; "},
	{"{'activation_encodings': []}",
	 "e.json:/activation_encodings: this must be an object, not an a; "},
	{"{'version': '3.0.0', 'activation_encodings': {}}",
	 "e.json:/version: not a file of encodings of versi; "},
	{"{'version': '0.6.1', 'activation_encodings': {}}", ""},
	{"{'version': '1', 'activation_encodings': {}}",
	 "e.json:/version: not a file of encodings of versi; "},
	{"{'version': '/.0', 'activation_encodings': {}}",
	 "e.json:/version: not a file of encodings of versi; "},
	{"{'version': 2, 'activation_encodings': {}}",
	 "e.json:/version: not a file of encodings of versi; "},
	{"{'version': '', 'activation_encodings': {}}",
	 "e.json:/version: not a file of encodings of versi; "},
	{"{'version': ':.0', 'activation_encodings': {}}",
	 "e.json:/version: not a file of encodings of versi; "},
	{"{'version': '1.0.0', 'encodings': []}",
	 "e.json:/version: not a file of encodings of versi; "},
	{"{'version': '2.0.0'}", "e.json:/version: not a file of encodings of versi; "},
	{"{'encodings': []}", "e.json:/: not a file of encodings of versi; "},
	{"{}", "e.json:/: not a file of encodings of versi; "},
	{"[]", "e.json:/: this must be an object, not an a; "},
	{"{'param_encodings': {}}", ""},
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
