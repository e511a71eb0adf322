/* SPDX-License-Identifier: Apache-2.0 */
/* test_encodings.c - files of encodings, each a row: what is read, or what is refused and where.
 *
 *   "{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -3, 'scale': 0.5}]}}"     ' is "
 *   "act x 8 bits -3 0.5"                         a pair: bits, offset, scale, sym when it is symmetric
 *   "e.json/…: of 'x': is …"                      all errors, the first words of each */
#define _POSIX_C_SOURCE 200809L /* strnlen */
#include "tests/unit/run_util.h"

#include "calibrate/encodings_file.h"
#include "tests/unit/encodings_text.h"

typedef struct row {
	const char *text, *want;
} row;

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

enum { WORDS = 32 }; /* letters of a message */

static const char *const section[QN_ENCODING_SECTIONS] = {"act", "param"};

/* Entries in the order of the file, each where its name finds it. */
static void
print_entries(qn_buf *b, const qn_encodings *e)
{
	for (int k = 0; k < QN_ENCODING_SECTIONS; k++)
		for (size_t i = 0; i < e->n[k]; i++) {
			const qn_encoding *x = &e->list[k][i];

			assert_ptr_equal(qn_map_gets(&e->map[k], x->name), x);
			qn_buff(b, "%s %s", section[k], x->name);
			if (x->real)
				qn_buf_puts(b, " float");
			for (size_t p = 0; p < x->n && !x->real; p++)
				qn_buff(b, "%s %lld bits %lld %g%s", p > 0 ? "," : "",
					(long long)x->pair[p].bits, (long long)x->pair[p].offset,
					x->pair[p].scale, x->pair[p].symmetric ? " sym" : "");
			qn_buf_puts(b, "; ");
		}
}

static const char *
outcome(const char *text)
{
	const char *json = json_of(text);
	qn_encodings *e;
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	if (qn_encodings_read(&rg->env, &rg->arena, "e.json", json, strlen(json), &e) == QN_OK)
		print_entries(&b, e);
	for (size_t i = 0; i < rg->diags.n; i++)
		qn_buff(&b, "%s: %s; ", rg->diags.item[i].place,
			qn_arena_strn(&rg->arena, rg->diags.item[i].message,
				      strnlen(rg->diags.item[i].message, WORDS)));
	qn_diags_clear(&rg->env, &rg->diags);
	return qn_buf_str(&b);
}

static void
test_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		const char *have = outcome(rows[i].text);

		if (strcmp(have, rows[i].want) != 0)
			fail_msg("%s\n  is    %s\n  not   %s", rows[i].text, have, rows[i].want);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_files, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
