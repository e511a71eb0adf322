#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# solver.sh - one graph through two doors, patterns with calibrate and instrument with transform and simplify: equal accuracy
# and bytes.  Statistics are saved and loaded, and compile without samples.
. "$(dirname "$0")/common.inc"
E=$QUERN_SOURCE/examples/digits

# doors NAME MODEL SAMPLES LABELS [OPTIONS]: both integer graphs have the same outputs on all samples.
doors() {
	local name=$1 model=$2 x=$3 y=$4 door
	shift 4
	for door in off on; do
		good "$name $door" opt -q "$model" --calib "$x" "$@" --solver $door --stop-after=mixed-storage -o "$name.$door.qir"
		good "$name $door eval" eval -q "$name.$door.qir" --data "$x" --labels "$y" "$@"
		cp stdout "$name.$door.accuracy"
		good "$name $door compile" compile "$name.$door.qir" --name net -o "$name.$door"
		grep -E '^(weights|arena|parameters)' stdout >"$name.$door.bytes"
		good "$name $door run" run -q "$name.$door.qir" "$x" "$@" -o "$name.$door.npy"
	done
	same "$name accuracy" "$name.off.accuracy" "$name.on.accuracy"
	same "$name bytes" "$name.off.bytes" "$name.on.bytes"
	same "$name outputs" "$name.off.npy" "$name.on.npy"
	[ -s "$name.on.bytes" ] || fail "$name" 'nothing was compared'
}

doors digits "$E/digits.json" "$E/test_x.npy" "$E/test_y.npy"
if [ -n "${QUERN_DATA-}" ]; then
	S=$QUERN_DATA/samples
	doors mnist "$QUERN_DATA/models/mnist_valid_float.tflite" "$S/mnist_x.npy" "$S/mnist_y.npy" --input-scale 0.00392157
	doors kws "$QUERN_DATA/models/kws_hybrid_float.tflite" "$S/kws_x.npy" "$S/kws_y.npy" --input-scale 0.5847029 --input-zero 83
else
	echo 'mnist and kws are not tested: QUERN_DATA is not set'
fi

# Weights of fewer bits, and in blocks: the same through both doors.
for how in 'i2' 'i2 8' 'i4 16' 'i8 32'; do
	read -r bits block <<<"$how"
	for door in off on; do
		good "$how $door" opt -q "$E/digits.json" --calib "$E/calib.npy" --weights-type "$bits" ${block:+--weight-block "$block"} --solver $door --stop-after=mixed-storage -o "weights.$door.qir"
		good "$how $door run" run -q "weights.$door.qir" "$E/test_x.npy" -o "weights.$door.npy"
	done
	has_words "$how types" weights.on.qir "uniform<$bits<|${block:+f32:{0:1, 1:}"
	same "outputs of weights $how" weights.off.npy weights.on.npy
done

# Points of statistics, then statistics; saved as text and as JSON, they need no samples any more.
good refs opt -q "$E/digits.json" --passes=axes,clean,instrument -o refs.qir
has_words refs refs.qir 'stats_ref %image {key="image"}|stage float'
good gather opt -q refs.qir --calib "$E/calib.npy" --stop-after=instrument -o stats.json
good print opt -q stats.json -o stats.qir
has_words stats stats.qir '= stats %image {layer=[0.0,1.0]}|stage float'
cases=$((cases + 1))
! grep -q 'stats_ref' stats.qir || fail stats 'a point has no statistics' stats.qir
good float run -q stats.qir "$E/test_x.npy" -o stats.npy
good float-plain run -q "$E/digits.json" "$E/test_x.npy" -o plain.npy
good from-json compile -q stats.json --name digits -o from-json
good from-text compile -q stats.qir --name digits -o from-text
same 'saved statistics' from-json/digits_weights.c from-text/digits_weights.c
good direct compile -q "$E/digits.json" --calib "$E/calib.npy" --solver=on -o direct
same 'statistics and samples' from-json/digits_weights.c direct/digits_weights.c

# Couplings of sums change their scales; a wrong mode, and passes that do not run here.
good sums opt -q stats.qir --solver=couple-sums --stop-after=transform -o sums.qir
good alone opt -q stats.qir --stop-after=transform -o alone.qir
cases=$((cases + 1))
[ "$(grep -c '^symbol' sums.qir)" -lt "$(grep -c '^symbol' alone.qir)" ] || fail sums 'no symbols were unified' sums.qir
usage mode "--solver|'yes'|off, on or couple-sums" compile -q "$E/digits.json" --solver yes -o out
usage method "pass.absent|--method" compile -q "$E/digits.json" --calib "$E/calib.npy" --solver on --method percentile -o out
usage weight-method "pass.absent|--weight-method" compile -q "$E/digits.json" --calib "$E/calib.npy" --solver on --weight-method mse -o out
usage absent 'pass.absent|--solver' opt -q "$E/digits.json" --stop-after=transform

# What nothing is known of is named, and stays in float.
sed 's/ = stats %relu2 .*/ = reshape %relu2 {shape=[1,8,8,16]}/' stats.qir >hole.qir
cases=$((cases + 1))
run compile hole.qir -q -o out
[ "$code" -eq 3 ] && grep -q 'solver.no-range' stderr && grep -q "'relu2'" stderr || fail hole "exit code $code" stderr
finish
