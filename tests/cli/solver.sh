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

# Attention over embedded tokens: the solver, too, has parameters for what is gathered from a table, which may have a scale for
# each block, and none of its ranges holds what a mask leaves out.
awk 'BEGIN {
	print "graph @main(%t: tensor<1x6xi32>) {"
	printf "  %%table = const : tensor<16x32xf32> ["
	for (i = 0; i < 512; i++)
		printf "%s%.4f", (i ? ", " : ""), 1.5 * sin(37 * i + 11)
	print "]\n  %x = gather %table, %t"
	print "  %s = matmul %x, %x {transpose_b=1}"
	print "  %mask = const : tensor<6x6xf32> MASK\n  %allowed = const : tensor<6x6xbool> ALLOWED\n  %low = const : tensor<f32> [LOW]"
	print "  %seen = HIDDEN\n  %p = softmax %seen\n  %y = matmul %p, %x\n  return %y\n}"
}' </dev/null >attention.txt
triangle=$(awk 'BEGIN { for (i = 0; i < 36; i++) printf "%s%s", (i ? ", " : ""), (i % 6 > int(i / 6) ? "LOW" : "0") }' </dev/null)
allowed=$(echo "$triangle" | sed 's/0/1/g; s/LOW/0/g')
printf "$(awk 'BEGIN { for (i = 0; i < 40; i++) for (k = 0; k < 6; k++) printf "\\%03o\\000\\000\\000", (i * 5 + k * k * 3 + i * k) % 16 }' </dev/null)" |
	npy tokens.npy '<i4' '40, 1, 6'
for way in 'add %s, %mask:-10000.0' 'add %s, %mask:-inf' 'where %allowed, %s, %low:-1e9'; do
	for door in off on; do
		sed "s/HIDDEN/${way%:*}/; s/MASK/[$triangle]/; s/ALLOWED/[$allowed]/; s/LOW/${way#*:}/g" attention.txt >attention.qir
		good "attention $way $door" eval -q attention.qir --calib tokens.npy --data tokens.npy --solver $door
		awk '$2 == "sqnr" && $3 > 28 { ok = 1 } END { exit !ok }' stdout || fail "attention $way $door" 'less than 28 dB' stdout
		good "attention $way $door C" compile -q attention.qir --calib tokens.npy --solver $door -o attention
	done
done
printf '{"quern": 1, "name": "m", "stage": "float", "graph": {"inputs": [{"name": "t", "type": "tensor<1xi32>"}],
	"constants": {"w": {"file": "table.gguf", "tensor": "w"}},
	"nodes": [{"op": "dequantize", "name": "d", "inputs": ["w"]}, {"op": "gather", "name": "g", "inputs": ["d", "t"], "attrs": {"axis": 0}},
	{"op": "tanh", "name": "y", "inputs": ["g"]}], "outputs": ["y"]}}' >table.json
good 'table' convert "$E/digits.safetensors" digits.irpa
good 'table' tensors digits.irpa --dump dense.w -o w.npy
good 'table' quantize-tensor w.npy --to q4_0 --name w -o table.gguf
printf '\000\000\000\000\003\000\000\000\011\000\000\000' | npy rows.npy '<i4' '3, 1'
good 'table C' compile -q table.json --calib rows.npy --solver on -o table
has_words 'table' table/m.c 'qn_gather_blocks'

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
