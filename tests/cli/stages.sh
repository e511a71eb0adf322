#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# stages.sh - every stage of a model saved and started from again gives the bytes of the straight run; the options of passes.
. "$(dirname "$0")/common.inc"

E=$QUERN_SOURCE/examples/digits
passes='axes clean partition quantize calibrate bind requantize legalize prune tables mixed-storage'

silent direct compile "$E/digits.json" --calib "$E/calib.npy" -q -o direct

# ---- stages: stopped after, printed, saved, started from again ----

for p in $passes; do
	silent "print $p" opt "$E/digits.json" --calib "$E/calib.npy" -q --stop-after "$p" --emit=ir
	mv stdout "$p.ir"
	silent "text $p" opt "$E/digits.json" --calib "$E/calib.npy" -q --stop-after "$p" -o "$p.qir"
	[ ! -s stdout ] || fail "text $p" "something is on stdout" stdout
	same "text $p" "$p.ir" "$p.qir"
	silent "json $p" opt "$E/digits.json" --calib "$E/calib.npy" -q --stop-after "$p" --emit=json -o "$p.json"
	[ -f "$p.safetensors" ] || fail "json $p" "no $p.safetensors"
	silent "inline $p" opt "$E/digits.json" --calib "$E/calib.npy" -q --stop-after "$p" --emit=json
	mv stdout "inline-$p.json"
	silent "compile $p" compile "$E/digits.json" --calib "$E/calib.npy" -q --stop-after "$p"
	same "compile $p" stdout "$p.ir"

	for f in "$p.qir" "$p.json" "inline-$p.json"; do
		silent "inspect $f" inspect -q "$f"
		has_words "inspect $f" stdout 'model        digits|nodes|image|probs'
		silent "read $f" opt -q "$f" --emit=json
		same "read $f" stdout "inline-$p.json"
		silent "continue $f" compile "$f" --calib "$E/calib.npy" -q -o "from-$f" # samples: also for the self-test
		same "continue $f" "from-$f" direct
		case $p in
		quantize | calibrate)
			cases=$((cases + 1))
			run run -q "$f" "$E/test_x.npy" -o "$f.npy"
			[ "$code" -eq 1 ] && grep -q 'run.stage' stderr && [ ! -e "$f.npy" ] || fail "run $f" "a symbolic model must be refused" stderr
			;;
		*)
			silent "run $f" run -q "$f" "$E/test_x.npy" -o "$f.npy"
			[ ! -s stdout ] || fail "run $f" "something is on stdout" stdout
			silent "eval $f" eval -q "$f" --data "$E/test_x.npy" --labels "$E/test_y.npy" --min-accuracy 97
			grep -cE '^(float|calibrated|integer) +top1 +99\.[0-9]+ %  \([0-9]+ of 500\)  probs$' stdout | grep -qx 1 || fail "eval $f" "no accuracy" stdout
			;;
		esac
	done
done
same 'run: forms' legalize.qir.npy legalize.json.npy
same 'run: partition changes nothing' partition.json.npy clean.json.npy

# --passes: subsets one after the other are the whole.
silent 'passes 1' opt -q "$E/digits.json" --passes=clean,partition,quantize -o p1.json
silent 'passes 2' opt -q p1.json --passes=calibrate --calib "$E/calib.npy" -o p2.qir
silent 'passes 3' opt -q p2.qir --passes=bind,requantize -o p3.json
silent 'passes 4' opt -q p3.json --passes=legalize --emit=json
same 'passes' stdout inline-legalize.json
silent 'no passes' opt -q "$E/digits.json"
has_words 'no passes' stdout 'stage float|batch_norm'
for p in 'legalize' 'bind' 'quantize,quantize' 'partition,partition' 'partition,clean' 'clean,partition,quantize,requantize'; do
	cases=$((cases + 1))
	run opt -q "$E/digits.json" --passes="$p"
	[ "$code" -eq 1 ] && [ ! -s stdout ] && grep -q 'pass.stage' stderr || fail "passes $p" "exit code $code" stderr
done
cases=$((cases + 1))
run compile -q bind.json --stop-after=clean
[ "$code" -eq 2 ] && [ ! -s stdout ] && grep -q 'pass.absent' stderr || fail 'stop behind' "exit code $code" stderr

# --print-ir-after goes to stderr and changes nothing.
good 'print all' compile "$E/digits.json" --calib "$E/calib.npy" -q --print-ir-after=all -o printed
same 'print all' printed direct
for p in $passes; do
	cat "$p.ir"
done >all.ir
same 'print all' stderr all.ir
good 'print bind' opt "$E/digits.json" --calib "$E/calib.npy" -q --print-ir-after=bind --stop-after=legalize
same 'print bind' stderr bind.ir
same 'print bind, stdout' stdout legalize.ir

# Options that a saved model remembers, and the schemes.
for r in single nearest even; do
	silent "rounding $r" compile -q "$E/digits.json" --calib "$E/calib.npy" --rounding "$r" -o "direct-$r"
	silent "rounding $r, saved" opt -q "$E/digits.json" --calib "$E/calib.npy" --rounding "$r" --stop-after bind -o "$r.json"
	silent "rounding $r, continued" compile -q "$r.json" --calib "$E/calib.npy" -o "from-$r"
	same "rounding $r" "from-$r" "direct-$r"
	diff -rq direct "direct-$r" >/dev/null && fail "rounding $r" "the option changes nothing"
done
silent 'weights' compile -q "$E/digits.json" --calib "$E/calib.npy" --weights per-tensor --method percentile -o direct-weights
silent 'weights, saved' opt -q "$E/digits.json" --calib "$E/calib.npy" --weights per-tensor --method percentile --stop-after calibrate -o weights.qir
silent 'weights, continued' compile -q weights.qir --calib "$E/calib.npy" -o from-weights
same 'weights' from-weights direct-weights
for o in '--weights per-tensor' '--method percentile' '--method percentile:p=99'; do
	# shellcheck disable=SC2086
	silent "$o" eval -q "$E/digits.json" --calib "$E/calib.npy" --data "$E/test_x.npy" --labels "$E/test_y.npy" --min-accuracy 97 $o
	grep -q '^float ' stdout && grep -q '^integer ' stdout || fail "$o" "two accuracies are missing" stdout
done

# ---- the requantizer's options ----

cat >stays.qir <<'END'
model "stays" stage calibrated
graph @main(%x: tensor<1x4x4x1x!quant.uniform<i8:f32, 0.1:3>>) {
  %d = dequantize %x
  %p = avg_pool %d {kernel=[2,2], stride=[2,2]}
  %q = quantize %p : tensor<1x2x2x1x!quant.uniform<i8:f32, 0.2>>
  %a = requantize %x : tensor<1x4x4x1x!quant.uniform<i8:f32, 0.01>>
  %b = requantize %a : tensor<1x4x4x1x!quant.uniform<i8:f32, 0.1>>
  return %q, %b
}
END
silent 'requantize' opt -q stays.qir --passes requantize --require-int
grep -q 'requantize %a' stdout || fail 'requantize' "the chain that saturates is gone" stdout
silent 'merge-always' opt -q stays.qir --passes requantize --merge-always
grep -q 'requantize %a' stdout && fail 'merge-always' "the chain is still there" stdout
silent 'no-approx' opt -q stays.qir --passes requantize --no-approx
grep -q 'avg_pool %d' stdout || fail 'no-approx' "the average is no longer real" stdout
case_of 'require-int' 3 'legalize.float' "avg_pool 'p'|--no-approx" opt -q stays.qir --passes requantize --no-approx --require-int
case_of 'require-int absent' 2 'pass.absent' 'requantize' opt -q stays.qir --passes legalize --require-int
silent 'align' opt -q stays.qir --passes requantize,align
grep -q 'i8:f32, 1.000000e-01' stdout && fail 'align' "a scale has more than 8 bits" stdout
cp stdout align-8
silent 'align=15' opt -q stays.qir --passes requantize,align --align=15
cmp -s stdout align-8 && fail 'align=15' "the bits make no difference"
silent 'align=fixed-point' opt -q stays.qir --passes requantize,align --align=fixed-point
cmp -s stdout align-8 || fail 'align=fixed-point' "it is not --align=8" stdout
silent 'align=fixed-point:15' opt -q stays.qir --passes requantize,align --align=fixed-point:15
cmp -s stdout align-8 && fail 'align=fixed-point:15' "the bits make no difference"
silent 'align=tflite' opt -q stays.qir --passes requantize --align=tflite
usage 'align method' 'expected tflite, fixed-point, fixed-point:BITS or BITS' opt -q stays.qir --align=fixed
usage 'align bits' 'option needs a number|--align' opt -q stays.qir --align=fixed-point:
case_of 'align absent' 2 'pass.absent' "'align'" opt -q stays.qir --passes requantize --align
case_of 'align not asked for' 2 'pass.absent' 'option align' opt -q stays.qir --stop-after align
case_of 'repair behind' 2 'pass.absent' "'repair' does not run here: stop-after ends the run before it" opt -q "$E/digits.json" --stop-after clean --weight-rounding gptq
case_of 'align range' 2 'option.range' 'invalid value 7 (expected 8 to 15 bits)' opt -q stays.qir --passes align --align=7
case_of 'align range' 2 'option.range' 'invalid value 16 (expected 8 to 15 bits)' opt -q stays.qir --passes align --align=16
usage 'align value' 'needs a value|--align' opt -q stays.qir --align=
for o in --no-approx --merge-always --align; do
	case_of "late $o" 2 'option.late' 'integer already' compile -q legalize.json "$o" -o out
done

# Functions of a calibrated model are inlined.
cat >calls.qir <<'END'
model "calls" stage calibrated
graph @f(%x: tensor<4x!quant.uniform<i8:f32, 0.1>>) {
  %y = add %x, %x : tensor<4x!quant.uniform<i8:f32, 0.1>>
  return %y
}
graph @main(%x: tensor<4x!quant.uniform<i8:f32, 0.1>>) {
  %t = call @f %x
  return %t
}
END
for o in requantize align legalize; do
	silent "calls $o" opt -q calls.qir --passes "$o"
	grep -q '^graph @f\|call @f' stdout && fail "calls $o" "the function is still there" stdout
done

finish
