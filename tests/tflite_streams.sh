#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tflite_streams.sh TFLITE-STREAMS - streaming networks of all kinds, quantized and as float networks that are calibrated, in C:
# self-tests over a sequence on the host, and of some (QUERN_FULL=1: of all) on a Cortex-M4.
streams=$1
. "${QUERN_SOURCE:?}/tests/cli/common.inc"
mkdir f
${QUERN_EMULATOR:-} "$streams" f 1
hops=40
full=${QUERN_FULL:-0}

selftest() { # NAME FOLDER
	cases=$((cases + 1))
	cc -std=c99 -O0 -Wall -Wextra -Wpedantic -Wconversion -DQN_PORTABLE -DNET_TRACE -DNET_SELFTEST_MAIN "$2"/net.c "$2"/net_weights.c "$2"/net_selftest.c -o t 2>stderr &&
		./t >stdout && grep -q "self-test passed ($hops samples" stdout || fail "$1" "the self-test fails" stdout
}
on_m4() { # NAME FOLDER
	command -v arm-none-eabi-gcc qemu-system-arm >/dev/null || return
	cases=$((cases + 1))
	"$QUERN_SOURCE/tests/mcu/arm-cc" -O2 -DNET_TRACE -DNET_SELFTEST_MAIN "$2"/net.c "$2"/net_weights.c "$2"/net_selftest.c -o m4 2>stderr &&
		"$QUERN_SOURCE/tests/mcu/arm-run" m4 >stdout && grep -q "self-test passed ($hops samples" stdout || fail "$1 in QEMU" "the self-test fails" stdout
}

for file in f/*.tflite; do
	kind=${file#f/STREAM.}
	kind=${kind%.0.tflite}
	x=${file%.tflite}.0.npy
	target=generic
	case $full$kind in 1* | 0mixconv | 0lstm | 0gated) target=cortex-m4 ;; esac
	good "$kind" compile -q "$file" --calib "$x" --self-test $hops --target $target --name net -o "$kind"
	selftest "$kind" "$kind"
	[ $target = generic ] || on_m4 "$kind" "$kind"

	# The same network in float, calibrated on the stream.
	run inspect "$file"
	floats=$(sed -n 's/^\(input .*f32, [0-9.e-]*\)>>$/\1:0>>/; s/^input .*f32, \([0-9.e-]*\):\(-*[0-9]*\)>>$/--input-scale \1 --input-zero \2/p' stdout)
	for activations in i8 i16; do
		case $full$activations in 0i16) [ "$kind" = lstm ] || continue ;; esac
		# shellcheck disable=SC2086 # two options
		good "$kind, float" eval -q "$file" --calib "$x" --from-float $floats --activations $activations --data "$x"
		awk '$1 == "integer" && $2 == "sqnr" && $3 > 28 {good = 1} END {exit !good}' stdout || fail "$kind, float" 'far from the float network' stdout
		[ "$full" = 1 ] || [ "$kind" = residual ] || [ "$kind" = gru ] || continue
		# shellcheck disable=SC2086
		good "$kind, float, in C" compile -q "$file" --calib "$x" --from-float $floats --activations $activations --self-test $hops --name net -o "$kind.$activations"
		selftest "$kind, float, $activations" "$kind.$activations"
	done
done
finish
