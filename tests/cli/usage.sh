#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage.sh - the program as its help describes it: commands and options, what goes to stdout and what to stderr, the examples of the help,
# every stage of a model saved and started from again, the same bytes from the same input.
. "$(dirname "$0")/common.inc"

E=$QUERN_SOURCE/examples/digits
passes='axes clean partition quantize calibrate bind requantize legalize'
listed=${passes/requantize/requantize align}
commands='compile run eval calibrate merge opt import export inspect match quantize supported-ops'

# good NAME COMMAND…: exit code 0.  silent: nothing on stderr either.
good() {
	local name=$1
	shift
	cases=$((cases + 1))
	run "$@"
	[ "$code" -eq 0 ] || fail "$name" "exit code $code" stderr
}
silent() {
	good "$@"
	[ ! -s stderr ] || fail "$1" "something is on stderr" stderr
}

# usage NAME "words" COMMAND…: a wrong command line, exit code 2, nothing on stdout.
usage() {
	local name=$1 words=$2
	shift 2
	cases=$((cases + 1))
	rm -rf out
	run "$@"
	[ "$code" -eq 2 ] || fail "$name" "exit code $code, expected 2" stderr
	[ ! -s stdout ] || fail "$name" "something is on stdout" stdout
	[ ! -e out ] || fail "$name" "an output was written"
	has_words "$name" stderr "$words"
}

# same NAME A B: files or folders of equal content.
same() {
	cases=$((cases + 1))
	diff -r "$2" "$3" >difference 2>&1 || fail "$1" "$2 and $3 differ" difference
}

# ---- help and version ----

silent version --version
grep -qE '^quern [0-9]+\.[0-9]+\.[0-9]+$' stdout || fail version "no version" stdout
for help in --help -h help; do
	silent "$help" "$help"
	has_words "$help" stdout "usage: quern|exit codes|${commands// /|}"
done
usage no-command 'usage: quern'
usage unknown-command "'compil' is no command|usage: quern" compil
usage unknown-help "'compil' is no command" help compil
for c in $commands; do
	silent "$c --help" "$c" --help
	has_words "$c --help" stdout "usage: quern $c|example:|options:|--help"
	cp stdout help.txt
	silent "$c -h" "$c" some.json -h
	same "$c -h" stdout help.txt
	silent "help $c" help "$c"
	same "help $c" stdout help.txt
done
for c in compile opt; do
	silent "$c --list-passes" "$c" --list-passes
	# shellcheck disable=SC2046
	[ "$(echo $(cut -d' ' -f1 stdout))" = "$listed" ] || fail "$c --list-passes" "other passes" stdout
done

# The examples of the help, run as they stand there: `quern` is the program, the folder is the source folder's copy.
mkdir -p examples/examples bin
cp -R "$E" examples/examples/
printf '#!/bin/sh\nexec "%s" "$@"\n' "$QUERN_BIN" >bin/quern
chmod +x bin/quern
for c in $commands; do
	cases=$((cases + 1))
	quern "$c" --help | sed -n '/^example:/,/^options:/p' | grep '^  ' | sed 's/  *\(the symbolic graph\)$/ #\1/' >example.sh
	[ -s example.sh ] || fail "example of $c" "there is none"
	(cd examples && set -e && PATH="$work/bin:$PATH" sh -e ../example.sh) >stdout 2>stderr <&- || fail "example of $c" "it fails" stderr
done

# ---- what stays float, how parts are stored, why ----

cat >mixed.json <<'END'
{"rules": [
  {"_": "the rest", "activations": "i8", "weights": "i8"},
  {"op": "input", "activations": "i16"},
  {"name": "bn1", "activations": "i16"},
  {"name": "residual", "activations": "i16"},
  {"name": "pw*", "weights": "i4"},
  {"op": "dense", "activations": "i16", "weights": "i4", "granularity": "per-tensor"}
]}
END
silent mixed-eval eval -q "$E/digits.json" --calib "$E/calib.npy" --data "$E/test_x.npy" --labels "$E/test_y.npy" --recipe mixed.json --min-accuracy 98
silent mixed compile -q "$E/digits.json" --calib "$E/calib.npy" --recipe mixed.json --self-test 50 -o mixed
cases=$((cases + 1))
{ "${CC:-cc}" -O1 -DDIGITS_SELFTEST_MAIN -o mixed/selftest mixed/digits.c mixed/digits_weights.c mixed/digits_selftest.c && mixed/selftest; } >stdout 2>&1 ||
	fail mixed-selftest "emitted C differs from the interpreter" stdout
has_words mixed-selftest stdout 'passed (50 samples'
for k in s64_s8 from_s16_s8 from_s8_s16; do
	grep -q "qn_requantize_$k(" mixed/digits.c || fail mixed "no qn_requantize_$k"
done
# a method of calibration for parts of it: each value has the range that its method gives it when it is that of all
printf '{"rules": [{"name": "pw*", "method": "kl"}, {"op": "dense", "method": "percentile:p=99"}, {"op": "input", "method": "global:scale=0.5,zero=-3"}]}' >methods.json
tail -c +129 "$E/calib.npy" | head -c $((20 * 256)) | npy few.npy '<f4' '20, 8, 8, 1'
ranges() { # FILE OPTION…: the values of the symbols
	local to=$1
	shift
	cases=$((cases + 1))
	run opt "$E/digits.json" --calib few.npy --stop-after bind -q "$@"
	[ "$code" -eq 0 ] && [ ! -s stderr ] || fail "ranges $*" "exit code $code" stderr
	grep '^symbol' stdout >"$to"
}
ranges by-recipe --recipe methods.json --threads 2
for m in minmax kl percentile:p=99 global:scale=0.5,zero=-3; do
	ranges "by-${m%%:*}" --method $m
done
sort -u by-kl by-minmax >both
[ "$(grep -c . both)" -gt "$(grep -c . by-kl)" ] || fail recipe-methods "kl gives what minmax gives"
{
	grep -v '^symbol \$\(pw\|logits\|image.input\)' by-minmax
	grep '^symbol \$pw' by-kl
	grep '^symbol \$logits' by-percentile
	grep '^symbol \$image.input' by-global
} | sort >expected
sort by-recipe | diff - expected >difference || fail recipe-methods "other ranges" difference
printf '{"rules": [{"name": "pw*", "method": "output:steps=11,least=0.9"}]}' >search.json
ranges searched --recipe search.json
diff by-minmax searched >difference && fail recipe-search "nothing was searched"
grep '^[<>]' difference | grep -v 'symbol \$pw' >others && fail recipe-search "other partitions were searched" others
silent methods compile -q "$E/digits.json" --calib few.npy --recipe methods.json -o methods
good methods-saved opt "$E/digits.json" --recipe methods.json --stop-after quantize -o methods.qir
has_words methods-saved stderr "does not hold the methods|[recipe.method]"
silent explain quantize "$E/digits.json" --explain --skip 'last,name:res*'
has_words explain stdout "taken     conv2d_bias  bn1|from image conv1.w bn1.bias; symbols \$conv1.x \$conv1.w|residual  skipped by name 'res*'"
has_words explain stdout "probs     skipped by 'last'|not taken conv2d       conv1     'conv1' belongs to the match of 'conv2d_bias' at 'bn1'"
good skip-nothing quantize "$E/digits.json" --skip op:tanh
has_words skip-nothing stderr "'tanh' holds for no match [skip.nothing]"
usage skip-syntax "'conv1' is none of first, last, name:GLOB, op:OP [skip.syntax]" quantize "$E/digits.json" --skip first,conv1
usage skip-op "'conv' is no op|[skip.op]|[skip.syntax]" quantize "$E/digits.json" --skip op:conv,name:
usage skip-late "partition|pass.absent" opt "$E/digits.json" --passes clean --skip first

# ---- wrong command lines ----

usage no-model 'missing argument|MODEL' compile
usage no-samples 'missing argument' run "$E/digits.json"
usage two-models 'unexpected argument|b.json' inspect a.json b.json
usage unknown-option 'unknown option|--frobnicate|quern compile --help' compile m.json --frobnicate
usage other-option 'unknown option|--labels' compile m.json --labels y.npy
usage no-value 'needs a value|--calib' compile m.json --calib
for o in --calib --name --output --method --stats --encodings --stop-after; do
	usage "empty $o" "needs a value|$o" compile "$E/digits.json" "$o" ''
	usage "empty $o=" "needs a value|$o" compile "$E/digits.json" "$o="
done
usage flag-value 'takes no value|--quiet' compile m.json --quiet=yes
usage twice 'given twice|--scheme' compile m.json --scheme rfc --scheme tflite
usage twice-output 'given twice|--output' compile m.json -o out -o out2
usage scheme "--scheme|'int4'|tflite|rfc" compile "$E/digits.json" --scheme int4 -o out
usage method "method|'mean'|minmax, avgmax|method.unknown" compile "$E/digits.json" --method=mean -o out
usage weights "--weights|'none'|per-channel|per-tensor" compile "$E/digits.json" --weights none -o out
run compile --help
has_words 'help of compile' stdout 'compile MODEL [--calib FILE]|default|double|single|nearest|even|a quantized file needs none'
run --help
has_words 'help of export' stdout "AIMET's encodings"
usage rounding "--rounding|'up'|double|single|nearest|even" compile "$E/digits.json" --rounding up -o out
for p in 49 101 nan much; do
	usage "percentile '$p'" "method.value|'p=$p'" compile "$E/digits.json" --method "percentile:p=$p" -o out
done
for p in -1 101 nan much; do
	usage "min-accuracy '$p'" "--min-accuracy|'$p'" eval "$E/digits.json" --data "$E/test_x.npy" --labels "$E/test_y.npy" --min-accuracy="$p"
done
for row in 'min acc=3' 'min top1' 'min =3' 'min top1=x' 'max mse=nan' 'min top=90' 'top-k 0' 'top-k 1.5' 'top-k a' 'window 0' 'window 1,2'; do
	usage "$row" "--${row% *}|'${row#* }'" eval "$E/digits.json" --data "$E/test_x.npy" --labels "$E/test_y.npy" --"${row% *}" "${row#* }"
done
usage label-column "--label-column|'y'|--labels" eval "$E/digits.json" --data "$E/test_x.npy" --label-column y
usage self-test "--self-test|'some'" compile "$E/digits.json" --self-test some -o out
usage max-scratch "--max-scratch|'-5'" compile "$E/digits.json" --max-scratch -5 -o out
for row in 'mean 1,x' 'mean 1,,2' 'std 0' 'std nan' 'input-scale 0' 'input-scale 1,2' 'input-zero x' 'layout chw' 'shape 4,0' 'shape 1.5'; do
	usage "$row" "--${row% *}|'${row#* }'" run "$E/digits.json" "$E/test_x.npy" --"${row% *}" "${row#* }"
done
usage no-data '--data|--labels' eval "$E/digits.json"
usage emit "--emit|'onnx'|ir, json" opt "$E/digits.json" --emit onnx
usage emit-name "out.json|FILE.qir" opt "$E/digits.json" --emit=ir -o out.json
usage emit-ending "'out'|FILE.json|FILE.qir" opt "$E/digits.json" -o out
usage passes-unknown "pass.unknown|'foo' is no pass|clean" opt "$E/digits.json" --passes=clean,foo
usage passes-early "pass.unknown|'foo'" opt "$E/digits.json" --passes=legalize,foo
usage stop-unknown "pass.unknown|stop-after|'foo'" compile "$E/digits.json" --stop-after foo -o out
usage print-unknown "pass.unknown|print-ir-after|'foo'" opt "$E/digits.json" --passes clean --print-ir-after foo
usage stop-absent "pass.absent|stop-after|'bind'" opt "$E/digits.json" --passes=clean --stop-after=bind
usage print-absent "pass.absent|print-ir-after|'bind'" opt "$E/digits.json" --passes=clean --print-ir-after=bind
usage outputs 'outputs of the model: 1|-o: 2' run "$E/digits.json" "$E/test_x.npy" -o out.npy -o out2.npy
usage run-ending "results are NumPy files" run "$E/digits.json" "$E/test_x.npy" -o digits.json

usage no-pattern 'missing argument|PATTERN' match "$E/digits.json"
usage match-value "--at|'nobody'" match "$E/digits.json" '*' --at nobody
usage match-syntax "pattern.syntax|pattern:1:5" match "$E/digits.json" 'relu'
usage match-op "pattern.op|'rleu'" match "$E/digits.json" 'rleu(*)'
usage match-arity "pattern.arity|relu" match "$E/digits.json" 'relu(*, *)'
usage match-attr "pattern.attr|'strides'|padding" match "$E/digits.json" 'conv2d(...){strides=[1,1]}'

# ---- patterns ----

cat >diamond.qir <<'END'
graph @main(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %s = add %x, %y
  %d = sub %s, %y
  %r = relu %d
  return %r
}
END
silent match match -q diamond.qir 'sub(add(u, v), u)'
printf 'd  u=y v=x\n' >want
same match stdout want
silent match-greedy match -q diamond.qir 'sub(add(u, v), u)' --greedy
[ ! -s stdout ] || fail match-greedy "a match" stdout
silent match-all match -q diamond.qir 'n=*(...)'
printf 'r  n=r\nd  n=d\ns  n=s\n' >want
same match-all stdout want
silent match-at match -q diamond.qir '*(...)' --at d
printf 'd\n' >want
same match-at stdout want
good match-count match diamond.qir 'relu(*)'
has_words match-count stderr '1 match'

silent trace-none opt -q "$E/digits.json" --passes=clean,partition --emit=ir
mv stdout untraced
good trace opt -q "$E/digits.json" --passes=clean,partition --emit=ir --trace-rules
same trace stdout untraced
has_words trace stderr "clean: fold-batch-norm-conv2d at batch_norm|: fired, now|clean: fold-constant at|': declined: an input is no constant|partition: conv2d_bias at bias_add|': fired"
cat >dynamic.qir <<'END'
graph @main(%x: tensor<1x4xf32>, %w: tensor<3x4xf32>) {
  %y = dense %x, %w
  return %y
}
END
good trace-partition opt -q dynamic.qir --passes=partition --trace-rules
has_words trace-partition stderr "partition: dense at dense 'y': declined: the weights are not an f32 constant"

# ---- stdout, stderr, quiet ----

good compile compile "$E/digits.json" --calib "$E/calib.npy" -o direct
[ -s stderr ] || fail compile "no progress on stderr"
has_words compile stdout 'model|input|output|parameters|MACs|weights|scratch|files|digits.h'
cp stdout summary
silent quiet compile "$E/digits.json" --calib "$E/calib.npy" -o direct2 --quiet
sed 's/direct2/direct/' stdout >summary2
same quiet summary2 summary
same 'two runs' direct direct2
silent '-q' compile "$E/digits.json" --calib="$E/calib.npy" --output=direct3 -q
same '--option=value' direct3 direct
silent '--' inspect -q -- "$E/digits.json"
silent 'name' compile "$E/digits.json" --calib "$E/calib.npy" -q -o named --name net --self-test 0
[ "$(echo $(ls named))" = 'net.c net.h net.report.json net_weights.c' ] || fail name "other files: $(ls named)"
grep -q _selftest stdout && fail name "the summary names a self-test" stdout
cases=$((cases + 1))
(cd "$E" && LC_ALL=C "$QUERN_BIN" compile ./digits.json --calib calib.npy -q -o "$work/other" </dev/null >/dev/null)
same 'other folder' other direct
grep -rnE "$work|$QUERN_SOURCE" direct && fail paths "an emitted file holds a path"

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
case_of 'align absent' 2 'pass.absent' "'align'" opt -q stays.qir --passes requantize --align
case_of 'align not asked for' 2 'pass.absent' 'option align' opt -q stays.qir --stop-after align
case_of 'align range' 2 'option.range' '7 bits' opt -q stays.qir --passes align --align=7
case_of 'align range' 2 'option.range' '16 is no value of this option, the largest is 15' opt -q stays.qir --passes align --align=16
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

# Storage types: of the emitted C, kept by a saved model, and refused where they mean nothing.
F=$QUERN_SOURCE/tests/proof/families.qir
for t in 'u8 i8 uint8_t' 'i16 i8 int16_t' 'i16 i4 int16_t' 'i8 i4 int8_t'; do
	# shellcheck disable=SC2086
	set -- $t
	silent "storage $t" compile -q "$F" --calib "$E/calib.npy" --activations "$1" --weights-type "$2" -o "direct-$1-$2"
	grep -q "^	const $3 \*x;" "direct-$1-$2/families.h" || fail "storage $t" "the input is no $3"
	silent "storage $t, saved" opt -q "$F" --calib "$E/calib.npy" --activations "$1" --weights-type "$2" --stop-after legalize -o "$1-$2.json"
	silent "storage $t, continued" compile -q "$1-$2.json" --calib "$E/calib.npy" -o "from-$1-$2"
	same "storage $t" "from-$1-$2" "direct-$1-$2"
done
cases=$((cases + 1))
grep -qx '/\* w1, 30 bytes \*/' direct-i16-i8/families_weights.c && grep -qx '/\* w1, 15 bytes \*/' direct-i16-i4/families_weights.c ||
	fail 'storage' "weights of 4 bits take no half of the bytes"
grep -q '"options": .*activations=i16 weights-type=i4' direct-i16-i4/families.report.json ||
	fail 'storage' "the report does not name the storage types" direct-i16-i4/families.report.json
# Accuracy: float has 99.2 %.
for t in 'u8 i8 99.0' 'i16 i8 99.0' 'i8 i4 97.0' 'u8 i4 97.0' 'i16 i4 97.0'; do
	# shellcheck disable=SC2086
	set -- $t
	silent "accuracy $t" eval -q "$E/digits.json" --calib "$E/calib.npy" --data "$E/test_x.npy" --labels "$E/test_y.npy" \
		--activations "$1" --weights-type "$2" --min-accuracy "$3"
done
usage activations "--activations|'i32'|i8, u8, i16" compile "$F" --activations i32 -o out
usage weights-type "--weights-type|'i2'|i8, i4" compile "$F" --weights-type i2 -o out
usage rfc-u8 'option.activations|i8 or i16' compile "$F" --calib "$E/calib.npy" --scheme rfc --activations u8 -o out
usage late-activations 'option.late|activations' compile i16-i4.json --activations u8 -o out

# ---- running: codes, real values, real samples for an integer model ----

silent 'run summary' run -q legalize.json "$E/test_x.npy"
grep -qx 'probs : i8\[500,10\]' stdout || fail 'run summary' "other text" stdout
silent 'run real' run -q legalize.json "$E/test_x.npy" --real -o real.npy
head -c 128 real.npy | grep -q "'<f4'.*(500, 10)" || fail 'run real' "no f32 [500,10]"
head -c 128 legalize.json.npy | grep -q "'|i1'.*(500, 10)" || fail 'run codes' "no i8 [500,10]"
# Real values are code * 1/256 + 1/2: the first sample's codes and values agree.
cases=$((cases + 1))
tail -c +129 legalize.json.npy | head -c 10 | od -An -v -td1 | tr -s ' \n' '\n\n' | awk 'NF { printf "%.6f\n", ($1 + 128) / 256 }' >by-codes
tail -c +129 real.npy | head -c 40 | od -An -v -tf4 | tr -s ' \n' '\n\n' | awk 'NF { printf "%.6f\n", $1 }' >by-run
[ "$(wc -l <by-codes)" -eq 10 ] || fail 'run real' "no codes" by-codes
same 'run real' by-codes by-run
# An integer model takes codes, or real values that it quantizes: value / 0.5, ties to even.
cat >codes.qir <<'END'
model "codes" stage integer
graph @main(%x: tensor<1x4x!quant.uniform<i8:f32, 0.5>>) {
  return %x
}
END
printf "$one"'\000\000\000\100''\000\000\100\300''\000\000\200\076' | npy values.npy '<f4' '1, 4' # 1 2 -3 0.25
printf '\002\004\372\000' | npy codes.npy '|i1' '1, 4'
silent 'real in' run -q codes.qir values.npy -o y1.npy
silent 'codes in' run -q codes.qir codes.npy -o y2.npy
same 'real in' y1.npy y2.npy
same 'codes' y2.npy codes.npy
silent 'real out' run -q codes.qir codes.npy --real -o y3.npy
printf "$one"'\000\000\000\100''\000\000\100\300''\000\000\000\000' | npy rounded.npy '<f4' '1, 4'
same 'real out' y3.npy rounded.npy

# Other sources of the same samples give the same files but for the name and check sum of the samples.
tail -c +129 "$E/calib.npy" >calib.bin
silent 'bin' compile -q "$E/digits.json" --calib calib.bin --shape 8,8,1 --self-test 0 -o by-bin
od -An -v -tf4 -w256 calib.bin | sed 's/^ *//; s/  */,/g' >calib.csv
silent 'csv' compile -q "$E/digits.json" --calib image=calib.csv --self-test 0 -o by-csv
mkdir pictures
od -An -v -tf4 -w256 calib.bin | awk '{ f = sprintf("pictures/%03d.pgm", NR); printf "P2 8 8 16" >f; for (i = 1; i <= NF; i++) printf " %d", $i * 16 >f; close(f) }'
silent 'pictures' compile -q "$E/digits.json" --calib pictures --input-scale 0.0625 --self-test 0 -o by-pictures
silent 'npy' compile -q "$E/digits.json" --calib "$E/calib.npy" --self-test 0 -o by-npy
for k in bin csv pictures; do
	[ "$(ls "by-$k" | wc -l)" -eq 4 ] || fail "$k" "not four files"
	for f in "by-$k"/* by-npy/*; do
		sed -i -E 's/calib=[^ "]*//; s/((content|CONTENT|content_hash":) ).*/\1/; s/(CONTENT != ).*/\1/' "$f"
	done
	same "$k" "by-$k" by-npy
done
# Classes by subfolders: the labels of the first ten.
tail -c +129 "$E/test_y.npy" | head -c 80 | od -An -v -td8 -w8 | tr -d ' ' >labels
tail -c +129 "$E/test_x.npy" | head -c 2560 | od -An -v -tf4 -w256 | paste -d ' ' labels - | awk '{ system("mkdir -p classes/" $1); f = sprintf("classes/%d/%03d.pgm", $1, NR); printf "P2 8 8 16" >f; for (i = 2; i <= NF; i++) printf " %d", $i * 16 >f; close(f) }'
silent 'classes' eval -q "$E/digits.json" --data classes --input-scale 0.0625 --min-accuracy 80
grep -qE '^float .*of 10\)  probs$' stdout || fail classes "no ten samples" stdout
grep -q '^class' stdout && fail classes "numbers are printed as names" stdout

# ---- figures ----

digits_eval() {
	local name=$1
	shift
	silent "$name" eval -q "$E/digits.json" --data "$E/test_x.npy" "$@"
}
# Labels of a table by rows are those of the array.
tail -c +129 "$E/test_y.npy" | od -An -v -td8 -w8 | tr -d ' ' | sed 's/^/x,/; 1i file,label' >labels.csv
digits_eval labels-npy --labels "$E/test_y.npy" --top-k 1,3
mv stdout by-array
digits_eval labels-csv --labels labels.csv --top-k 1,3
same labels-csv stdout by-array
[ "$(cut -c14-18 stdout | tr -d '\n ')" = top1top3 ] || fail top-k "other figures" stdout
# By the names of files: a reversed table of two files.
mkdir -p few && cp pictures/001.pgm pictures/002.pgm few
ls few | tac | awk '{ print $1 "," NR + 5 }' >few.csv
silent labels-by-name eval -q "$E/digits.json" --data few --input-scale 0.0625 --labels few.csv
# A folder of bytes with a table as MLPerf Tiny has it: file, number of classes, label.
mkdir -p bytes
tail -c +129 "$E/test_x.npy" | od -An -v -tf4 -w256 | head -20 | awk '{ f = sprintf("bytes/x%02d.txt", NR - 1); for (i = 1; i <= NF; i++) printf "\\%03o", $i * 16 + 5 >f; close(f) }'
for f in bytes/*.txt; do
	printf "$(cat "$f")" >"${f%.txt}.bin"
	rm "$f"
done
tail -c +129 "$E/test_y.npy" | head -c 160 | od -An -v -td8 -w8 | awk '{ printf "x%02d.bin, 10, %d\n", NR - 1, $1 }' | tac >y_labels.csv
silent bytes-folder eval -q "$E/digits.json" --data bytes --dtype u8 --shape 8,8,1 --input-zero 5 --input-scale 0.0625 --labels y_labels.csv --min-accuracy 90
grep -qE 'top1 .*of 20\)' stdout || fail bytes-folder "no twenty samples" stdout
printf x >bytes/x07.bin
cases=$((cases + 1))
run run -q "$E/digits.json" bytes --dtype u8 --shape 8,8,1 --input-scale 1
[ "$code" -eq 1 ] && grep -q 'x07.bin: error: this file has 1 bytes, but a sample has 64' stderr || fail bytes-size "exit code $code" stderr
# --shape is not for the pictures beside them.
usage bytes-pictures "--shape|'8,8,1'" run "$E/digits.json" few --shape 8,8,1
# A model against itself, and in integers.
digits_eval against --against "$E/digits.json" --calib "$E/calib.npy" --min agreement=99 --min cosine=0.999 --min sqnr=35 --max max-diff=0.2 --json
has_words against stdout '"quern_eval": 1|"stage": "float", "metric": "sqnr", "output": "probs", "value": "inf"|"stage": "integer", "metric": "agreement"|"hits": 499, "of": 500|"min": 35, "passed": true'
cases=$((cases + 1))
if command -v python3 >/dev/null; then
	python3 -m json.tool <stdout >/dev/null || fail json "no JSON" stdout
fi
mv stdout one-way
for t in 1 2 5; do
	digits_eval "threads $t" --against "$E/digits.json" --calib "$E/calib.npy" --min agreement=99 --min cosine=0.999 --min sqnr=35 --max max-diff=0.2 --json --threads $t
	same "threads $t" stdout one-way
done
cases=$((cases + 1))
run eval -q "$E/digits.json" --data "$E/test_x.npy" --labels "$E/test_y.npy" --score value:3 --max auc=0.5 --min top1=99.9
[ "$code" -eq 4 ] || fail gates "exit code $code" stderr
has_words gates stderr "top1 of 'probs' is 99.20 %, below --min top1=99.9|auc of 'probs' is 0.99|, above --max auc=0.5"
cases=$((cases + 1))
run eval -q "$E/digits.json" --data "$E/test_x.npy" --labels "$E/test_y.npy" --min cosine=0.5
[ "$code" -eq 2 ] || fail not-measured "exit code $code" stderr
has_words not-measured stderr 'cosine was not measured|measured: top1|--against'
# Codes as samples of a float model: real = (code - zero) * scale.
tail -c +129 "$E/test_x.npy" | od -An -v -tf4 -w4 | awk '{ printf "\\%03o", $1 * 16 + 5 }' >codes.txt
printf "$(cat codes.txt)" >codes.bin
silent input-zero run -q "$E/digits.json" codes.bin --dtype u8 --shape 8,8,1 --input-zero 5 --input-scale 0.0625 -o codes.npy
silent input-real run -q "$E/digits.json" "$E/test_x.npy" -o real.npy
same input-zero codes.npy real.npy

# Functions of the model's own are run as they are and inlined by the passes.
cat >function.json <<'END'
{"quern": 1, "name": "function",
 "functions": [{"name": "f", "inputs": [{"name": "a", "type": "tensor<1x4xf32>"}],
  "nodes": [{"name": "r", "op": "relu", "inputs": ["a"]}], "outputs": ["r"]}],
 "graph": {"inputs": [{"name": "x", "type": "tensor<1x4xf32>"}],
  "constants": {"w": {"type": "tensor<2x4xf32>", "data": [1, -1, 0.5, 1, 1, 0.5, -0.25, 0.75]}},
  "nodes": [{"name": "z", "op": "call", "callee": "f", "inputs": ["x"]}, {"name": "y", "op": "dense", "inputs": ["z", "w"]}],
  "outputs": ["y"]}}
END
bytes 12 "$one" | npy ones.npy '<f4' '3, 4'
silent 'function' run -q function.json ones.npy -o f1.npy
silent 'function, clean' opt -q function.json --passes=clean -o inlined.json
silent 'function, run' run -q inlined.json ones.npy -o f2.npy
same 'function' f1.npy f2.npy
silent 'function, compile' compile -q function.json --calib ones.npy -o function

finish
