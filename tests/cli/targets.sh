#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# targets.sh - C for a target: the list of targets, which kernels the report names, a compiler that does not fit, the self-test on the
# portable definitions, and the main for an analyser.
. "$(dirname "$0")/common.inc"
E=$QUERN_SOURCE/examples/digits

silent list targets
has_words list stdout 'generic|cortex-m0plus|cortex-m4|DSP extension|rv32imc|aarch64-dotprod|SDOT'
sed 's/  */|/' stdout >rows
silent json targets --json
cases=$((cases + 1))
sed -n 's/^    {"name": "\([^"]*\)", "description": "\([^"]*\)"},*$/\1|\2/p' stdout | diff rows - >difference && [ -s rows ] ||
	fail json 'the text has other rows' difference
usage unknown "--target: invalid value 'm4' (expected generic, cortex-m0, cortex-m0plus|; did you mean 'cortex-m4'?" compile "$E/digits.json" --calib "$E/calib.npy" --target m4 -o out

# Cores that execute the same instructions.
for pair in m0:m0plus m85:m55; do
	for core in ${pair/:/ }; do
		good $core compile -q "$E/digits.json" --calib "$E/calib.npy" --target cortex-$core -o $core
		sed -n '/^digits_run/,$p' $core/digits.c >$core.run
	done
	cases=$((cases + 1))
	cmp -s ${pair%:*}.run ${pair#*:}.run && [ -s ${pair%:*}.run ] || fail "$pair" 'their programs differ' /dev/null
done

good generic compile -q "$E/digits.json" --calib "$E/calib.npy" -o generic
good named compile -q "$E/digits.json" --calib "$E/calib.npy" --target generic -o named
cases=$((cases + 1))
diff -r generic named >difference || fail named "generic is not the default" difference
has_words report generic/digits.report.json '"target": "generic"|"kernel": "qn_conv2d_by4_s8"|"kernel": "qn_depthwise_by4_s8"'

good m4 compile -q "$E/digits.json" --calib "$E/calib.npy" --target cortex-m4 -o m4
has_words report m4/digits.report.json '"target": "cortex-m4"|"kernel": "qn_conv2d_relu_dsp"|"kernel": "qn_depthwise3_relu_dsp"|"work_bytes": '
has_words header m4/digits.h 'target    cortex-m4'
good explain compile -q "$E/digits.json" --calib "$E/calib.npy" --target cortex-m4 --explain kernels -o m4
has_words explain stdout 'conv1_acc |conv2d + requantize: qn_conv2d_relu_dsp, |not qn_depthwise3_dsp: it is not depthwise|flat  |no call|not qn_conv2d_relu_dsp (in place): its result is not of the same'
grep -q 'not qn_softmax_s8' stdout && fail explain "a kernel is declined that the step has" stdout
usage optimize "--optimize|'fast'|balanced, speed or size" compile "$E/digits.json" --calib "$E/calib.npy" --optimize fast -o out
good size compile -q "$E/digits.json" --calib "$E/calib.npy" --target cortex-m4 --optimize size --explain kernels -o size
has_words size-why stdout 'qn_conv2d_s8|not qn_conv2d_by4_s8: plain kernels are requested (optimize size)'
has_words size size/digits.report.json '"optimize": "size"|"kernel": "qn_conv2d_s8"|"kernel": "qn_dense_s8"'
usage explain-what "--explain|'kernel'|kernels" compile "$E/digits.json" --explain kernel -o out
# The same results: inputs and outputs of the self-test, and what each step gives.
results() {
	sed -n '/^static const int8_t in_/,/^static int8_t got_/p; /^static const uint32_t step_crc/,/^};/p' "$1/digits_selftest.c"
}
results generic >want
for each in m4 size; do
	cases=$((cases + 1))
	results $each >have
	diff want have >difference && [ -s want ] || fail results "the self-tests of generic and $each differ" difference
done
cases=$((cases + 1))
cc -std=c99 -O2 -Wall -Wextra -Wpedantic -Werror -DQN_PORTABLE -DDIGITS_TRACE -DDIGITS_SELFTEST_MAIN size/*.c -o selftest 2>stderr &&
	./selftest >stdout || fail size "its self-test fails" stderr

# Models that round once have the same kernels, and give what plain ones give.
rm -rf even && good even compile -q "$E/digits.json" --calib "$E/calib.npy" --rounding even -o even
results even >want
rm -rf even && good m55 compile "$E/digits.json" --calib "$E/calib.npy" --target cortex-m55 -o even
has_words m55 even/digits.c 'compile for such a core (-mcpu=cortex-m55 and -mfloat-abi=hard or softfp), or define'
for row in cortex-m4:dsp cortex-m55:vector x86-64-avx512vnni:wide cortex-m0plus:scalar; do
	target=${row%:*}
	rm -rf even && good "even $target" compile "$E/digits.json" --calib "$E/calib.npy" --rounding even --target $target -o even
	cases=$((cases + 1))
	grep -q emit.rounding stderr && fail "even $target" "a warning without a reason" stderr
	has_words 'kernels' even/digits.report.json "_${row#*:}\""
	results even >have
	cases=$((cases + 1))
	diff want have >difference && [ -s want ] || fail "even $target" "the self-tests of generic and $target differ" difference
	cases=$((cases + 1))
	cc -std=c99 -O2 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -DQN_PORTABLE -DDIGITS_TRACE -DDIGITS_SELFTEST_MAIN even/*.c -o selftest 2>stderr &&
		./selftest >stdout || fail "even $target" "its self-test fails" stderr
done
# But for layers with sums that are ties, which makes for plain ones and a warning where the target has others.
cat >ties.in <<'X'
model "ties" stage integer rounding ROUNDING
graph @main(%x: tensor<2x9x!quant.uniform<i8:f32, 0.5:-4>>) {
  %w = const : tensor<3x9x!quant.uniform<i8:f32, 0.25>> rand 7
  %fc = dense %x, %w : tensor<2x3x!quant.uniform<i32:f32, 0.25*0.5>>
  %y = requantize %fc : tensor<2x3x!quant.uniform<i8:f32, 8.0:11>>
  return %y
}
X
for row in cortex-m4:even:1 cortex-m55:even:1 generic:even:0 cortex-m4:single:0; do
	IFS=: read -r target rounding warnings <<<"$row"
	sed "s/ROUNDING/$rounding/" ties.in >ties.qir
	good "ties $target" compile ties.qir --target "$target" -o ties
	cases=$((cases + 1))
	[ "$(grep -c "compute 1 of the layers.*made for $target.*'even'.*--rounding single.*\[emit.rounding\]" stderr)" = "$warnings" ] ||
		fail "ties $target" "the warning of the rounding" stderr
done
has_words 'fast kernels' ties/ties.report.json '"kernel": "qn_dense_dsp"'
sed s/ROUNDING/even/ ties.in >ties.qir
good 'ties, why' compile -q ties.qir --target cortex-m4 --explain kernels -o ties
has_words 'ties, why' stdout 'not qn_dense_dsp: a sum may be a tie, which it rounds otherwise'

# Kernels over vectors and those for cores that multiply words, on their definitions in C, in C++ too.
for row in cortex-m55:vector aarch64:vector aarch64-dotprod:vector x86-64-avx2:vector x86-64-avx512vnni:vector \
	cortex-m0plus:scalar cortex-m3:scalar rv32imc:scalar; do
	target=${row%:*} conv=qn_conv2d_${row#*:} depthwise=qn_depthwise_vector
	[ "${row#*:}" = vector ] || depthwise=qn_depthwise3_scalar
	[ $target != x86-64-avx512vnni ] || conv=qn_conv2d_wide
	good $target compile -q "$E/digits.json" --calib "$E/calib.npy" --target $target -o $target
	has_words report $target/digits.report.json "\"target\": \"$target\"|\"kernel\": \"$conv\"|\"kernel\": \"$depthwise\"|\"kernel\": \"qn_dense_${row#*:}\""
	cases=$((cases + 1))
	cc -std=c99 -O2 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -DQN_PORTABLE -DDIGITS_TRACE -DDIGITS_SELFTEST_MAIN $target/*.c -o selftest 2>stderr &&
		./selftest >stdout || fail $target "its self-test fails" stderr
	cases=$((cases + 1))
	c++ -std=c++11 -O1 -Wall -Wextra -Wpedantic -Werror -DQN_PORTABLE -x c++ -c $target/digits.c -o selftest.o 2>stderr || fail $target "it is no C++" stderr
done
# With weights of 4 bits, which stay two in a byte.
for row in generic:conv2d_by4_s8w4:depthwise_by4_s8w4:dense_by4_s8w4 cortex-m4:conv2d_relu_dsp_w4:depthwise3_relu_dsp_w4:dense_dsp_w4 \
	cortex-m55:conv2d_vector_w4:depthwise_vector_w4:dense_vector_w4 cortex-m0plus:conv2d_scalar_w4:depthwise3_scalar_w4:dense_scalar_w4 \
	x86-64-avx512vnni:conv2d_wide_w4:depthwise_vector_w4:dense_vector_w4; do
	IFS=: read -r target conv depthwise dense <<<"$row"
	good "i4 $target" compile -q "$E/digits.json" --calib "$E/calib.npy" --target "$target" --weights-type i4 -o "i4-$target"
	has_words report "i4-$target/digits.report.json" "\"kernel\": \"qn_$conv\"|\"kernel\": \"qn_$depthwise\"|\"kernel\": \"qn_$dense\""
	bytes=$(sed -n 's/^  *"weight_bytes": \([0-9]*\).*/\1/p' "i4-$target/digits.report.json" | head -1)
	cases=$((cases + 1))
	[ "$bytes" -lt 4900 ] || fail "i4 $target" "its constants take $bytes bytes"
	for compiler in "cc -std=c99 -Wconversion -Wshadow" "c++ -std=c++11 -x c++"; do
		cases=$((cases + 1))
		$compiler -O1 -Wall -Wextra -Wpedantic -Werror -DQN_PORTABLE -DDIGITS_TRACE -DDIGITS_SELFTEST_MAIN "i4-$target"/*.c -o selftest 2>stderr &&
			./selftest >stdout || fail "i4 $target" "its self-test fails" stderr
	done
done

# Constants in program memory, on a host.
good avr compile -q "$E/digits.json" --calib "$E/calib.npy" --target avr -o avr
has_words report avr/digits.report.json '"target": "avr"|"kernel": "qn_conv2d_by4_s8"'
has_words weights avr/digits_weights.c 'const QN_ROM int8_t digits_conv1_w|#define QN_ROM __flash|#define QN_ROM __memx'
has_words arguments avr/digits.c 'static const QN_ROM qn_dense_args|const QN_ROM int8_t *w;'
cases=$((cases + 1))
cc -std=c99 -O2 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsanitize=undefined -DQN_PORTABLE -DDIGITS_TRACE -DDIGITS_SELFTEST_MAIN avr/*.c -o selftest 2>stderr &&
	./selftest >stdout || fail avr "its self-test fails" stderr
cases=$((cases + 1))
c++ -std=c++11 -O1 -Wall -Wextra -Wpedantic -Werror -DQN_PORTABLE -DDIGITS_SELFTEST_MAIN -x c++ avr/*.c -o selftest 2>stderr && ./selftest >stdout ||
	fail avr "it is no C++" stderr
cases=$((cases + 1))
cc -c avr/digits.c -o avr.o 2>stderr && fail avr "it compiles for another processor"
has_words avr-error stderr 'written for avr|QN_PORTABLE'
cases=$((cases + 1))
! grep -q QN_ROM generic/* m4/* || fail rom "another target's text mentions program memory"

# Those that multiply words ask no compiler for anything.
cases=$((cases + 1))
cc -std=c99 -O2 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -DDIGITS_TRACE -DDIGITS_SELFTEST_MAIN cortex-m0plus/*.c -o selftest 2>stderr &&
	./selftest >stdout || fail cortex-m0plus "its self-test fails" stderr
cat >one.qir <<'END'
model "one" stage float
graph @main(%x: tensor<1x64xf32>) {
  %w = const : tensor<16x64xf32> rand 1
  %y = dense %x, %w
  return %y
}
END
tail -c +129 "$QUERN_SOURCE/examples/digits/calib.npy" | head -c $((4 * 64 * 32)) | npy one.npy '<f4' '32, 64'
# With the processor's own instructions, where it has them.
for native in "avx2 x86-64-avx2 -mavx2" "avx512_vnni x86-64-avx512vnni -mavx2 -mavx512f -mavx512vnni"; do
	read -r feature target flags <<<"$native"
	grep -qw "$feature" /proc/cpuinfo 2>/dev/null || continue
	for compiler in "cc -std=c99" "c++ -std=c++11 -x c++"; do
		cases=$((cases + 1))
		$compiler -O2 $flags -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -DDIGITS_TRACE -DDIGITS_SELFTEST_MAIN "$target"/*.c -o selftest 2>stderr &&
			./selftest >stdout || fail "$target" "its self-test fails" stderr
	done
	# Its instructions leave some of the portable definitions unused.
	good "one layer for $target" compile -q one.qir --calib one.npy --target "$target" --self-test 4 -o "one-$target"
	command -v clang >/dev/null || continue
	cases=$((cases + 1))
	clang -std=c99 -O2 $flags -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -DONE_SELFTEST_MAIN "one-$target"/*.c -o selftest 2>stderr &&
		./selftest >stdout || fail "one layer for $target" "its self-test fails with clang" stderr
done

# NEON under QEMU, and no program for aarch64 without what it was written for.
if command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null; then
	for native in "aarch64 -march=armv8-a" "aarch64-dotprod -march=armv8.2-a+dotprod"; do
		read -r target flags <<<"$native"
		cases=$((cases + 1))
		aarch64-linux-gnu-gcc -static -std=c99 -O2 $flags -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -DDIGITS_TRACE -DDIGITS_SELFTEST_MAIN \
			"$target"/*.c -o selftest 2>stderr && qemu-aarch64 -cpu max ./selftest >stdout || fail "$target" "its self-test fails under QEMU" stderr
	done
	cases=$((cases + 1))
	aarch64-linux-gnu-gcc -march=armv8-a -c aarch64-dotprod/digits.c -o dotprod.o 2>stderr && fail dotprod "it compiles without dot products"
	has_words dotprod stderr 'written for aarch64-dotprod|QN_PORTABLE'
fi
if ! cc -dM -E - </dev/null | grep -q __aarch64__; then
	cases=$((cases + 1))
	cc -c aarch64/digits.c -o aarch64.o 2>stderr && fail aarch64 "it compiles for another processor"
	has_words aarch64 stderr 'written for aarch64|QN_PORTABLE'
fi

cases=$((cases + 1))
if cc -c m4/digits.c -o m4.o 2>stderr; then
	cc -dM -E - </dev/null | grep -q __ARM_FEATURE_DSP || fail error "it compiles for another processor"
else
	has_words error stderr 'written for cortex-m4|QN_PORTABLE'
fi
cases=$((cases + 1))
cc -std=c99 -O2 -Wall -Wextra -Wpedantic -Werror -DQN_PORTABLE -DDIGITS_TRACE -DDIGITS_SELFTEST_MAIN m4/*.c -o selftest 2>stderr &&
	./selftest >stdout || fail selftest "it fails" stderr

# The main for an analyser is a program that any compiler takes; one of a compilation before goes.
good proof compile -q "$E/digits.json" --calib "$E/calib.npy" --target cortex-m4 --self-test 0 --proof -o proof
has_words proof stdout '_proof.c'
cases=$((cases + 1))
cc -std=c99 -O1 -Wall -Wextra -Wpedantic -Wconversion -Werror -DQN_PORTABLE proof/*.c -o one-run 2>stderr && ./one-run || fail proof "it fails" stderr
good without compile -q "$E/digits.json" --calib "$E/calib.npy" -o proof
cases=$((cases + 1))
[ ! -e proof/digits_proof.c ] || fail without "the main of another compilation is left"

# The next kernel of a layer has more constants than the fastest one: a budget that the fastest plan exceeds by 144 of 3,344 bytes
# costs one layer its fast kernel, not both.
cat >blocks.qir <<'X'
model "blocks" stage float
graph @main(%x: tensor<1x8x8x16xf32>) {
  %w = const : tensor<16x3x3x16xf32> rand 1
  %a = conv2d %x, %w {padding=same}
  %r = relu %a
  %v = const : tensor<16x3x3x16xf32> rand 2
  %b = conv2d %r, %v {padding=same}
  return %b
}
X
awk 'BEGIN {for (i = 0; i < 3; i++) for (k = 0; k < 1024; k++) printf "%.3f%s", (k * 7 + i * 13) % 31 / 16 - 0.9, k < 1023 ? "," : "\n"}' >blocks.csv
good budget compile -q blocks.qir --calib blocks.csv --weights-type i4 --weight-block 16 --target cortex-m4 --max-weights 3200 -o blocks
has_words budget blocks/blocks.report.json '"kernel": "qn_conv2d_blocks_rows_dsp_w4"|"kernel": "qn_conv2d_blocks_by4_s8w4"'

finish
