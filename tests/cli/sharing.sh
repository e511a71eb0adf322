#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sharing.sh - several networks in one C file: each kernel once, the results of each network, and what cannot be together.
. "$(dirname "$0")/common.inc"
E=$QUERN_SOURCE/examples/digits
strict="cc -std=c99 -O2 -Wall -Wextra -Wpedantic -Wconversion -Werror"

compile() { # NAME OPTION…
	good "$1" compile -q "$E/digits.json" --calib "$E/calib.npy" --name "$1" "${@:2}" -o out
}

compile one --shared-kernels
compile wide --shared-kernels --activations i16
compile skips --shared-kernels --target cortex-m4
printf '#include "one.c"\n#include "wide.c"\n#include "skips.c"\n' >out/all.c
for name in one wide skips; do
	cases=$((cases + 1))
	capital=$(echo "$name" | tr a-z A-Z)
	$strict -DQN_PORTABLE -D"${capital}_TRACE" -D"${capital}_SELFTEST_MAIN" out/all.c out/*_weights.c "out/${name}_selftest.c" -o selftest 2>stderr &&
		./selftest >stdout || fail "$name" "it fails" stderr
	# each of them on its own, too
	$strict -DQN_PORTABLE -D"${capital}_SELFTEST_MAIN" "out/$name.c" "out/${name}_weights.c" "out/${name}_selftest.c" -o selftest 2>stderr &&
		./selftest >stdout || fail "$name" "it fails on its own" stderr
done
cases=$((cases + 1))
cc -std=c99 -O0 -DQN_PORTABLE -c out/all.c -o all.o && nm all.o >names
[ "$(grep -c ' [tT] qn_softmax_s8$' names)" = 1 ] && ! grep ' qn_' names | cut -d ' ' -f 3 | sort | uniq -d | grep . || fail once "a kernel stands twice" names

# Without the option the files do not go together, and with it not where multipliers round in two ways: the compiler says so.
compile plain
compile even --shared-kernels --rounding even
for pair in "one plain" "one even"; do
	cases=$((cases + 1))
	printf '#include "%s.c"\n' $pair >out/two.c
	! cc -std=c99 -c out/two.c -o two.o 2>stderr || fail "$pair" "it compiles"
done
has_words even stderr 'round in two ways|--rounding'
cases=$((cases + 1))
sed 's/QN_KERNELS 0x......../QN_KERNELS 0x12345678/; s/QN_KERNELS != 0x......../QN_KERNELS != 0x12345678/' out/wide.c >out/older.c
printf '#include "one.c"\n#include "older.c"\n' >out/two.c
cc -std=c99 -c out/two.c -o two.o 2>stderr && fail versions "it compiles"
has_words versions stderr 'two versions of Quern'

# string.h where a kernel copies memory, and only there.
cat >few.qir <<'END'
model "few" stage calibrated
graph @main(%x: tensor<1x8x!quant.uniform<i8:f32, 0.5>>) {
  %y = relu %x
  return %y
}
END
good few compile -q few.qir -o few
cases=$((cases + 2))
! grep -q 'string\.h\|memcpy' few/few.c || fail includes "string.h is included"
grep -q 'include <string\.h>' out/plain.c || fail includes "string.h is not included"

# A concat whose operands lie in its result has no arguments.
cat >parts.qir <<'END'
model "parts" stage calibrated
graph @main(%x: tensor<1x8x!quant.uniform<i8:f32, 0.5>>) {
  %a = relu %x
  %b = abs %x : tensor<1x8x!quant.uniform<i8:f32, 0.5>>
  %c = concat %a, %b {axis=1}
  %y = relu %c
  return %y
}
END
good parts compile -q parts.qir -o parts
cases=$((cases + 1))
$strict -c parts/parts.c -o parts.o 2>stderr || fail parts "it does not compile" stderr

# Several models of one command, which need no samples.
good save opt -q "$E/digits.json" --calib "$E/calib.npy" --stop-after legalize -o first.json
sed 's/"name": *"digits"/"name": "second"/' first.json >second.json
good several compile -q first.json second.json -o nets
has_words several stdout 'model        digits|model        second|networks     nets/networks.h, .c'
cases=$((cases + 1))
$strict -c nets/networks.c -o nets.o 2>stderr && nm nets.o | grep -q ' T second_run$' || fail several "it does not compile" stderr
has_words scratch nets/networks.h 'NETWORKS_SCRATCH_BYTES 3072'
usage same-name "the files of two models would be called 'digits'|--name" compile -q first.json first.json -o twice
usage samples "--calib is for one model|--shared-kernels" compile first.json second.json --calib "$E/calib.npy" -o twice
# The first one alone would be within the budget: nothing of it is written.
sed 's/"name": *"digits"/"name": "third"/' "$E/digits.json" >third.json
cp "$E/digits.safetensors" .
good wide-third opt -q third.json --calib "$E/calib.npy" --activations i16 --stop-after legalize -o wide-third.json
case_of budget 5 budget.arena 'third' compile -q first.json wide-third.json --max-arena 4000 -o twice
case_of no-samples 1 calibrate.no-data '' compile -q first.json third.json -o twice
cases=$((cases + 1))
[ ! -e twice ] || fail twice "a folder is left"

finish
