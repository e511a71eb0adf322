#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fixed-point.sh - the digits with all rescaling as fixed-point operations: the same outputs, run and compiled.
. "$(dirname "$0")/common.inc"
E=$QUERN_SOURCE/examples/digits

good integer opt -q "$E/digits.json" --calib "$E/calib.npy" --stop-after=tables -o integer.qir
good lower opt -q integer.qir --passes=lower-fixed-point -o lower.json
good print opt -q lower.json -o lower.qir
has_words ops lower.qir 'fixed_multiply %|saturating_add %|integer_dense %|stage integer'
cases=$((cases + 1))
! grep -q '= requantize \|= dense ' lower.qir || fail ops 'a requantize or dense is left' lower.qir
good run-integer run -q integer.qir "$E/test_x.npy" -o integer.npy
good run-lower run -q lower.json "$E/test_x.npy" -o lower.npy
same outputs integer.npy lower.npy
good compile compile -q lower.qir --name lower --calib "$E/calib.npy" -o lowered
cases=$((cases + 1))
cc -std=c99 -O1 -fsanitize=undefined -fno-sanitize-recover=all -DLOWER_SELFTEST_MAIN lowered/*.c -o selftest 2>stderr && ./selftest >stdout ||
	fail selftest "the emitted program differs from the interpreter" stderr

cases=$((cases + 1))
run opt -q "$E/digits.json" --passes=lower-fixed-point
[ "$code" -eq 1 ] && grep -q 'takes an integer graph.*pass.stage' stderr || fail stage "exit code $code" stderr
usage absent "pass.absent|only runs where --passes lists it" opt -q "$E/digits.json" --stop-after=lower-fixed-point
finish
