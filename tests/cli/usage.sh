#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage.sh - the program as its help describes it: commands and options, wrong command lines, the examples of the help, what goes to stdout
# and what to stderr.
. "$(dirname "$0")/common.inc"

E=$QUERN_SOURCE/examples/digits
passes='inline-bodies axes clean partition quantize calibrate bind requantize legalize prune tables mixed-storage'
on_request='lower-fixed-point normalize-quant-types lower-quant strip-quant'
listed=${passes/requantize/requantize align}
listed=${listed/quantize/quantize instrument transform}
listed=${listed/bind/repair bind simplify}
listed="${listed/clean/clean fake-quant equalize} $on_request stream"
commands='compile run eval analyze validate tune calibrate merge opt import export inspect match quantize tensors convert quantize-tensor targets supported-ops man completion'

# ---- help and version ----

silent version --version
grep -qE '^quern [0-9]+\.[0-9]+\.[0-9]+$' stdout || fail version "no version" stdout
for help in --help -h help; do
	silent "$help" "$help"
	has_words "$help" stdout "usage: quern|exit codes|${commands// /|}"
done
silent 'version as a command' version
has_words version stdout 'quern '
silent 'help of inspect' inspect --help
has_words 'help of inspect' stdout 'Prints the stage, inputs, outputs and sizes|Colors in the image'
silent 'help of targets' targets --help
grep -q '^usage: quern targets \[--json\]$' stdout || fail 'help of targets' "the usage ends with a space" stdout
usage no-command 'usage: quern'
usage unknown-command "unknown command 'compil'; did you mean 'compile'?|quern --help" compil
usage unknown-help "unknown command 'compil'" help compil
for c in $commands; do
	silent "$c --help" "$c" --help
	has_words "$c --help" stdout "usage: quern $c|example:|general:|--help"
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
	quern "$c" --help | sed -n '/^example:/,/^$/p' | grep '^  ' | sed 's/  *\(the symbolic graph\)$/ #\1/' >example.sh
	[ -s example.sh ] || fail "example of $c" "there is none"
	(cd examples && set -e && PATH="$work/bin:$PATH" sh -e ../example.sh) >stdout 2>stderr <&- || fail "example of $c" "it fails" stderr
done

# ---- wrong command lines ----

usage no-model 'missing argument|MODEL' compile
usage 'samples without --calib' "'x.npy' is not a model; give samples with --calib x.npy" compile m.json x.npy
usage no-samples 'missing argument' run "$E/digits.json"
usage two-models 'unexpected argument|b.json' inspect a.json b.json
usage unknown-option 'unknown option|--frobnicate|quern compile --help' compile m.json --frobnicate
usage near-option "unknown option: --targt=avr; did you mean '--target'?" compile m.json --targt=avr
usage near-value "--target: invalid value 'cortex-m4f'|did you mean 'cortex-m4'?" compile m.json --target cortex-m4f
usage near-command "unknown command 'evla'; did you mean 'eval'?" evla
usage other-option '--labels is an option of eval' compile m.json --labels y.npy
usage no-value 'needs a value|--calib' compile m.json --calib
usage option-for-value 'needs a value, but an option follows it|--optimize' compile m.json --optimize -o out
for o in --calib --name --output --method --stats --encodings --stop-after; do
	usage "empty $o" "needs a value|$o" compile "$E/digits.json" "$o" ''
	usage "empty $o=" "needs a value|$o" compile "$E/digits.json" "$o="
done
usage flag-value 'takes no value|--quiet' compile m.json --quiet=yes
usage twice 'given twice|--scheme' compile m.json --scheme rfc --scheme tflite
usage twice-output 'given twice|--output' compile m.json -o out -o out2
usage scheme "--scheme: invalid value 'int4' (expected tflite or rfc)" compile "$E/digits.json" --scheme int4 -o out
usage target "--target: invalid value 'm4' (expected generic, cortex-m0, cortex-m0plus,| or x86-64-avx512vnni)" compile "$E/digits.json" --target m4 -o out
usage method "method|'mean'|minmax, avgmax|method.unknown" compile "$E/digits.json" --method=mean -o out
usage weights "--weights|'none'|per-channel|per-tensor" compile "$E/digits.json" --weights none -o out
run compile --help
has_words 'help of compile' stdout 'compile MODEL [--calib FILE]|default|double|single|nearest|even|a quantized file needs none'
run --help
has_words 'help of export' stdout "AIMET encodings"
usage rounding "--rounding|'up'|double|single|nearest|even" compile "$E/digits.json" --rounding up -o out
for p in 49 101 nan much; do
	usage "percentile '$p'" "method.value|invalid value '$p' of parameter p" compile "$E/digits.json" --method "percentile:p=$p" -o out
done
for p in -1 101 nan much; do
	usage "min-accuracy '$p'" "--min-accuracy|'$p'" eval "$E/digits.json" --data "$E/test_x.npy" --labels "$E/test_y.npy" --min-accuracy="$p"
done
for row in 'min acc=3' 'min top1' 'min =3' 'min top1=x' 'max mse=nan' 'min top=90' 'top-k 0' 'top-k 1.5' 'top-k a' 'window 0' 'window 1,2'; do
	usage "$row" "--${row% *}|'${row#* }'" eval "$E/digits.json" --data "$E/test_x.npy" --labels "$E/test_y.npy" --"${row% *}" "${row#* }"
done
usage label-column "--label-column|'y'|--labels" eval "$E/digits.json" --data "$E/test_x.npy" --label-column y
usage self-test "--self-test|'some'" compile "$E/digits.json" --self-test some -o out
usage max-arena "--max-arena|'-5'" compile "$E/digits.json" --max-arena -5 -o out
usage max-arena-0 "--max-arena|'0'|from 1 on" compile "$E/digits.json" --max-arena 0 -o out
for row in 'mean 1,x' 'mean 1,,2' 'std 0' 'std nan' 'input-scale 0' 'input-scale 1,2' 'input-zero x' 'layout chw' 'shape 4,0' 'shape 1.5'; do
	usage "$row" "--${row% *}|'${row#* }'" run "$E/digits.json" "$E/test_x.npy" --"${row% *}" "${row#* }"
done
usage no-data '--data' eval "$E/digits.json"
for row in '--activations i16' '--method kl' --equalize '--recipe none.json'; do
	# shellcheck disable=SC2086
	usage "unquantized $row" "${row%% *}|--calib" eval "$E/digits.json" --data "$E/test_x.npy" --labels "$E/test_y.npy" $row
done
usage emit "--emit|'onnx'|ir or json" opt "$E/digits.json" --emit onnx
usage emit-name "out.json|FILE.qir" opt "$E/digits.json" --emit=ir -o out.json
usage emit-ending "'out'|FILE.json|FILE.qir" opt "$E/digits.json" -o out
usage passes-unknown "pass.unknown|unknown pass 'foo'|clean" opt "$E/digits.json" --passes=clean,foo
usage passes-early "pass.unknown|'foo'" opt "$E/digits.json" --passes=legalize,foo
usage stop-unknown "pass.unknown|stop-after|'foo'" compile "$E/digits.json" --stop-after foo -o out
usage print-unknown "pass.unknown|print-ir-after|'foo'" opt "$E/digits.json" --passes clean --print-ir-after foo
usage stop-absent "pass.absent|stop-after|'bind'" opt "$E/digits.json" --passes=clean --stop-after=bind
usage print-absent "pass.absent|print-ir-after|'bind'" opt "$E/digits.json" --passes=clean --print-ir-after=bind
usage outputs 'outputs of the model: 1|-o: 2' run "$E/digits.json" "$E/test_x.npy" -o out.npy -o out2.npy
usage run-ending "results are NumPy files" run "$E/digits.json" "$E/test_x.npy" -o digits.json

usage no-pattern 'missing argument|PATTERN' match "$E/digits.json"
usage match-value "--at|'nobody'" match "$E/digits.json" '*' --at nobody
good match-nothing match "$E/digits.json" 'dense(*)'
has_words match-nothing stderr '0 matches; OP(...) matches nodes with any number of inputs'
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
has_words trace stderr "clean: fold-batch-norm-conv2d at batch_norm|: fired, now|clean: fold-constant at|': declined: an input is not a constant|partition: conv2d_bias at bias_add|': fired"
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
[ ! -s stderr ] || fail compile "progress where no terminal is" stderr
has_words compile stdout 'model|input|output|parameters|MACs|weights|arena|files|digits.h'
cp stdout summary
silent quiet compile "$E/digits.json" --calib "$E/calib.npy" -o direct2 --quiet
sed 's/direct2/direct/' stdout >summary2
same quiet summary2 summary
same 'two runs' direct direct2
silent '-q' compile "$E/digits.json" --calib="$E/calib.npy" --output=direct3 -q
same '--option=value' direct3 direct
silent '--' inspect -q -- "$E/digits.json"
silent 'name' compile "$E/digits.json" --calib "$E/calib.npy" -q -o named --name net --self-test 0
[ "$(echo $(ls named))" = 'net.c net.h net.report.json net_io.h net_weights.c' ] || fail name "other files: $(ls named)"
grep -q _selftest stdout && fail name "the summary names a self-test" stdout
good 'name of a header' compile -q "$E/digits.json" --calib "$E/calib.npy" --name stdint -o headers
has_words 'name of a header' stderr "stdint: warning|'stdint_2'|--name|[emit.name]"
[ -f headers/stdint_2.h ] && [ ! -e headers/stdint.h ] || fail 'name of a header' "files: $(ls headers)"
long=$(printf 'n%.0s' $(seq 300))
good 'long name' compile -q "$E/digits.json" --calib "$E/calib.npy" --name "$long" -o long
has_words 'long name' stderr '[emit.name]'
"${CC:-cc}" -c long/*_weights.c -o long.o 2>stderr || fail 'long name' "it does not compile" stderr
silent 'name written otherwise' compile -q "$E/digits.json" --calib "$E/calib.npy" --name my-net -o otherwise
cases=$((cases + 1))
(cd "$E" && LC_ALL=C "$QUERN_BIN" compile ./digits.json --calib calib.npy -q -o "$work/other" </dev/null >/dev/null)
same 'other folder' other direct
grep -rnE "$work|$QUERN_SOURCE" direct && fail paths "an emitted file holds a path"

# The layers of the source's file, where a step or a node does not have its name: comments, self-test, rule traces; any text.
cat >layers.qir <<'END'
model "layers" stage integer
graph @main(%x: tensor<1x4x!quant.uniform<i8:f32, 0.5>>) {
  %y = clamp %x {lo=0, hi=100} from ["a\"b*/ %s", "c??/\\"]
  return %y
}
END
printf '\001\002\003\004' | npy layers.npy '|i1' '1, 4'
good layers compile -q layers.qir --calib layers.npy -o layers
has_words layers layers/layers.c '/* y (a"b* / %s, c? ?/_): clamp'
has_words layers layers/layers_selftest.c "\"step y (a'b* / %s, c? ?/_)\","
cases=$((cases + 1))
cc -Wall -Wextra -Werror -DLAYERS_SELFTEST_MAIN layers/*.c -o layers/t && layers/t >log || fail layers "it does not compile" log
good layers-trace opt -q "$QUERN_SOURCE/examples/digits/digits.json" --calib "$QUERN_SOURCE/examples/digits/calib.npy" --stop-after=requantize --trace-rules -o o.qir
has_words layers-trace stderr "conv2d 'conv1.acc' (layers 'conv1', 'bn1'): declined: |requantize 'logits' (layer 'logits'): declined: "
rm -f o.qir
good 'match limit' match "$QUERN_SOURCE/examples/digits/digits.json" 'relu(*)' --match-limit 256
usage 'match limit, too large' "number from 1 to 256: --match-limit" match "$QUERN_SOURCE/examples/digits/digits.json" 'relu(*)' --match-limit 257
finish
