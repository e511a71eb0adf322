#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# analyze.sh - which layer costs a network most, and what helps it.
. "$(dirname "$0")/common.inc"

E=$QUERN_SOURCE/examples/digits
digits="-q $E/digits.json --calib $E/calib.npy"

# A layer with weights of 2 bits among those of 8 is the worst, in each of five networks; so says a sweep
# that quantizes one layer after the other and skips the others, too.
for layer in conv1 dw pw conv2 logits; do
	printf '{"rules": [{"name": "%s", "weights": "i2"}]}' "$layer" >planted.json
	silent "$layer" analyze $digits --recipe planted.json
	sed -n 2p stdout | grep -q "^$layer[ ,].* i2 " || fail "$layer" "it does not stand first" stdout
	has_words "$layer" stdout "\"name\": \"$layer\", \"weights\": \"i8\"}"
done
# the advice can be pasted, and helps
silent plain analyze $digits --weights-type i4 --json
plain=$(sed -n 's/.*"sqnr": \([0-9]*\).*/\1/p' stdout | head -n 1)
silent advice analyze $digits --weights-type i4
has_words advice stdout 'try --weight-rounding adaptive --bias-correction'
sed -n '/^{/,$p' stdout >advice.json
silent pasted analyze $digits --weights-type i4 --recipe advice.json --json
pasted=$(sed -n 's/.*"sqnr": \([0-9]*\).*/\1/p' stdout | head -n 1)
[ "$pasted" -ge $((plain + 5)) ] || fail pasted "SQNR $plain dB, with the recipe $pasted dB"
has_words advice advice.json '"weight-rounding": "adaptive", "bias-correction": true|dB for 72 bytes", "name": "conv1", "weights": "i8"}'
silent repaired analyze $digits --weights-type i4 --weight-rounding adaptive --bias-correction --json
repaired=$(sed -n 's/.*"sqnr": \([0-9]*\).*/\1/p' stdout | head -n 1)
[ "$repaired" -ge $((plain + 5)) ] || fail repaired "SQNR $plain dB, with repairs $repaired dB"

# A layer of the source that became several matches is one: named so that a recipe matches all of it, and measured as
# a whole.  What the network gains without it is what it has when a recipe skips it.
printf '%s' 'The quick brown fox jumps over 13 lazy dogs. Sphinx of quartz, j' | npy cell.npy '|i1' '16, 4'
cell="cell.qir --calib cell.npy --input-zero 77 --input-scale 0.03"
cat >cell.qir <<'X'
graph @main(%x: tensor<1x4xf32>) {
  %w1 = const : tensor<4x4xf32> [0.5,-0.25,0.75,0.1, 0.3,0.9,-0.6,0.2, -0.8,0.4,0.15,0.7, 0.6,-0.35,0.45,-0.9]
  %w2 = const : tensor<4x4xf32> [0.2,0.85,-0.4,0.3, -0.7,0.1,0.65,0.5, 0.95,-0.15,0.25,-0.6, 0.05,0.55,-0.45,0.8]
  %w3 = const : tensor<3x4xf32> [0.9,-0.3,0.2,0.6, -0.5,0.7,0.35,-0.1, 0.4,0.15,-0.85,0.25]
  %a = dense %x, %w1 : tensor<1x4xf32> from ["cell"]
  %b = tanh %a : tensor<1x4xf32> from ["cell"]
  %c = dense %b, %w2 : tensor<1x4xf32> from ["cell"]
  %d = sigmoid %c : tensor<1x4xf32> from ["cell"]
  %e = mul %b, %d : tensor<1x4xf32> from ["cell"]
  %y = dense %e, %w3 : tensor<1x3xf32>
  return %y
}
X
# number KEY: the first in the JSON of a network; of LAYER: in that layer's line
number() {
	sed -n "${2:+/\"name\": \"$2\"/}s/.*\"$1\": \(-*[0-9.]*\).*/\1/p" stdout | head -n 1
}
# same_gain NAME LAYER OPTIONS…: what analyze says and what a recipe without the layer has
same_gain() {
	local name=$1 layer=$2 want have
	shift 2
	good "$name" analyze -q "$@" --json
	want=$(awk "BEGIN { printf \"%.2f\", $(number sqnr) + $(number gain "$layer") }")
	printf '{"rules": [{"name": "%s", "skip": true}]}' "$layer" >without.json
	good "$name" analyze -q "$@" --recipe without.json --json
	have=$(awk "BEGIN { printf \"%.2f\", $(number sqnr) }")
	[ "$have" = "$want" ] || fail "$name" "$layer: $want dB from its gain, $have dB without it"
}
good cell analyze -q $cell --json
[ "$(grep -c '"alone": ' stdout)" -eq 2 ] || fail cell "not two layers" stdout
has_words cell stdout '{"name": "cell", "layers": "cell", "op": "dense", "matches": 5, "weights": "i8", "macs": 32, "weight_bytes": 32, '
same_gain cell cell $cell
for layer in conv1 dw residual conv2; do
	same_gain "$layer" "$layer" $digits
done

# A logarithm whose quantized operand reaches 0 is limited, before it and in it, to the values that it is quantized to:
# it is what costs most, not what costs nothing.
cat >log.qir <<'X'
graph @main(%x: tensor<1x4xf32>) {
  %w = const : tensor<3x4xf32> [0.9,-0.3,0.2,0.6, -0.5,0.7,0.35,-0.1, 0.4,0.15,-0.85,0.25]
  %s = square %x
  %l = log %s
  %y = dense %l, %w
  return %y
}
X
printf '%s\n' 0.001,30,2,0.5 0.02,4,0.0003,25 12,0.7,0.04,0.002 0.3,29,0.001,8 >log.csv
good log analyze -q log.qir --calib log.csv --json
[ "$(grep -c '"alone": [-0-9.]*,' stdout)" -eq 3 ] || fail log "not three layers with a number" stdout
[ "$(grep '"alone": ' stdout | sed -n '1s/.*"name": "\([^"]*\)".*/\1/p')" = l ] ||
	fail log "the logarithm is not what costs most" stdout
# The same where what is before it makes its operand negative, of which there is no logarithm.
cat >negative.qir <<'X'
graph @main(%x: tensor<1x4xf32>) {
  %k = const : tensor<1xf32> [-5.09]
  %w = const : tensor<3x4xf32> [0.9,-0.3,0.2,0.6, -0.5,0.7,0.35,-0.1, 0.4,0.15,-0.85,0.25]
  %e = exp %x
  %s = add %e, %k
  %l = log %s
  %y = dense %l, %w
  return %y
}
X
# A chain of which each layer rounds alike has no layer whose rule helps: that is said, and what tries several.
cat >chain.qir <<'END'
model "chain" stage float
graph @main(%x: tensor<1x4xf32>) {
  %big = const : tensor<1x4xf32> splat 100.0
  %a = add %x, %big
  %b = relu %a
  %half = const : tensor<1x4xf32> splat 0.5
  %c = mul %b, %half
  %fifty = const : tensor<1x4xf32> splat 50.0
  %y = sub %c, %fifty
  return %y
}
END
awk 'BEGIN { for (i = 1; i <= 400; i++) printf "%.3f%s", (i * 7919 + i * i * 104729) % 1007 / 500 - 1, i % 4 ? "," : "\n" }' >chain.csv
good chain analyze -q chain.qir --calib chain.csv
has_words chain stdout 'No rule for one of the layers|Try --activations auto'
good chain-auto eval -q chain.qir --calib chain.csv --data chain.csv --against chain.qir --activations auto --min sqnr=30
# What a rule brings is what eval measures: that of the recipe, and without it.
good tried analyze $digits --weights-type i4
sed -n '/^{/,$p' stdout >tried.json
for figure in 's/.*are \([0-9.]*\) dB (SQNR).*/\1/p:--recipe tried.json' 's/.*samples, \([0-9.]*\) without it.*/\1/p:'; do
	figure_is=$(sed -n "${figure%:*}" stdout)
	cp stdout said
	good "eval ${figure##*:}" eval $digits --weights-type i4 ${figure##*:} --data "$E/calib.npy" --against "$E/digits.json"
	sed -n 's/^integer *sqnr *\([0-9.]*\) .*/\1/p' stdout | grep -qx "${figure_is:-none}" || fail "tried ${figure##*:}" "analyze says $figure_is dB" stdout
	cp said stdout
done
# What the network takes with it and without it is what compile says.
takes=$(tr '\n' ' ' <stdout | sed -n 's/.*With it the network takes \([0-9]*\) bytes of constants (\([0-9]*\) without it), an activation arena of \([0-9]*\) (\([0-9]*\)) and about \([0-9]*\) instructions (\([0-9]*\))\..*/\1 \3 \5 \2 \4 \6/p')
good tried-compile compile $digits --weights-type i4 --recipe tried.json -o out
compiled=$(awk '/^(weights|arena) /{ printf "%s ", $2 } /^instructions/{ printf "%s ", $3 }' stdout)
good untried-compile compile $digits --weights-type i4 -o out
compiled=$compiled$(awk '/^(weights|arena) /{ printf "%s ", $2 } /^instructions/{ print $3 }' stdout)
[ "$takes" = "$compiled" ] || fail takes "analyze says '$takes', compile '$compiled'"

printf '%s\n' 1.6274,3,2,2.5 1.63,2.2,1.9,2.8 1.6275,1.7,3,2 2.1,1.6274,2.4,1.8 >negative.csv
good negative analyze -q negative.qir --calib negative.csv --json
[ "$(grep -c '"alone": [-0-9.]*,' stdout)" -eq 4 ] || fail negative "not four layers with a number" stdout
if [ -n "${QUERN_DATA:-}" ]; then
	tail -c +129 "$QUERN_DATA/samples/mnist_x.npy" | head -c $((200 * 784)) | npy rows.npy '|u1' '200, 28, 28'
	lstm="$QUERN_DATA/models/mnist_lstm_float.tflite --calib rows.npy --input-scale 0.003921569"
	good lstm analyze -q $lstm --json
	[ "$(grep -c '"alone": ' stdout)" -eq 3 ] || fail lstm "not three layers" stdout
	good lstm analyze -q $lstm
	sed -n '/^{/,$p' stdout >advice.json
	has_words lstm advice.json '"name": "tfl.unidirectional_sequence_lstm", "activations": "i16"'
	good lstm-pasted analyze -q $lstm --recipe advice.json
	# 16 bits that take more memory have to bring 3 dB: the softmax would bring 1.6 for a table of 2 KB.  Repairs that bring
	# nothing beside 16 bits are left out: what compile is given does not warn of them.
	tail -c +129 "$QUERN_DATA/samples/mnist_x.npy" | head -c $((200 * 784)) | npy images.npy '|u1' '200, 28, 28, 1'
	good dear analyze -q "$QUERN_DATA/models/mnist_valid_float.tflite" --calib images.npy --input-scale 0.003921569
	grep -q weight-rounding.: stdout && ! grep -q i16 stdout || fail dear "other rules than repairs" stdout
	tail -c +129 "$QUERN_DATA/samples/kws_x.npy" | head -c $((100 * 490)) | npy kws.npy '|i1' '100, 49, 10, 1'
	kws="$QUERN_DATA/models/kws_hybrid_float.tflite --calib kws.npy --input-zero 83 --input-scale 0.5847029"
	good wider analyze -q $kws
	has_words wider stdout 'an activation arena of 26560|(16000) and about'
	! grep -q 'also try --activations' stdout || fail wider "16 bits for all layers, which take more" stdout
	sed -n '/^{/,$p' stdout >advice.json
	has_words wider advice.json '"name": "functional_1/activation_1/Relu_1", "activations": "i16"'
	silent wider-compile compile -q $kws --recipe advice.json -o out
else
	echo "lstm, mnist, kws: skipped, without QUERN_DATA"
fi

# On a real network in 4 bits the first layer is the one that a sweep with eval finds, one layer at a time.
if [ -n "${QUERN_DATA:-}" ] && [ "${QUERN_FULL:-0}" = 1 ]; then
	kws=$QUERN_DATA/models/kws_hybrid_float.tflite
	how="--input-zero 83 --input-scale 0.5847029"
	tail -c +129 "$QUERN_DATA/samples/kws_x.npy" | head -c $((100 * 490)) | npy kws.npy '|i1' '100, 49, 10, 1'
	silent kws analyze -q "$kws" --calib kws.npy $how --weights-type i4 --json
	sed -n 's/.*"name": "\([^"]*\)".*"weights": "i4".*/\1/p' stdout >names
	while read -r name; do
		printf '{"rules": [{"name": "%s", "weights": "i4"}]}' "$name" >one.json
		run eval -q "$kws" --calib kws.npy $how --recipe one.json --data kws.npy --against "$kws"
		sed -n "s|^integer *sqnr *\([0-9.]*\).*|\1 $name|p" stdout
	done <names >sweep
	cases=$((cases + 1))
	[ "$(wc -l <sweep)" -eq 10 ] && [ "$(sort -n sweep | sed -n '1s/.* //p')" = "$(head -n 1 names)" ] ||
		fail sweep "the sweep finds another layer" sweep
else
	echo "kws: skipped, without QUERN_DATA or QUERN_FULL=1"
fi

# What explains a cost: values that samples of calibration did not have are clipped; a channel of 20 times the others is
# one, and the advice is a range that cuts off; with labels, points of accuracy.
sed 's/w1 = const : tensor<4x4xf32> \[0.5,-0.25,0.75,0.1/w1 = const : tensor<4x4xf32> [10,-5,15,2/; s/tanh/relu/; s/sigmoid/relu/' cell.qir >channel.qir
good channel analyze -q channel.qir --calib cell.npy --input-zero 77 --input-scale 0.03 --data cell.npy:scale=0.06,zero=77 --json
awk "BEGIN { exit !($(number clipped cell) > 1 && $(number used cell) > 95 && $(number outliers cell) >= 1 && $(number worst_outlier cell) > 4) }" </dev/null ||
	fail channel "no outlier is clipped" stdout
good narrow analyze -q cell.qir --calib cell.npy --input-zero 77 --input-scale 0.03 --data cell.npy:scale=0.003,zero=77 --json
awk "BEGIN { exit !($(number clipped cell) == 0 && $(number used cell) < 60) }" </dev/null || fail narrow "the range is used" stdout
silent labels analyze $digits --weights-type i2 --data "$E/test_x.npy" --labels "$E/test_y.npy" --json
want=$(number float)
[ "$(number alone conv1)" ] && awk "BEGIN { exit !($(number loss conv1) > 1 && $(number won conv1) > 1) }" </dev/null ||
	fail labels "conv1 in two bits costs nothing" stdout
good float eval -q "$E/digits.json" --data "$E/test_x.npy" --labels "$E/test_y.npy" --json
[ "$(number value)" = "$want" ] || fail labels "float $want"  stdout
case_of labels-count 1 data.labels "labels of" analyze $digits --labels "$E/test_y.npy"
usage labels-column "is for --labels" analyze $digits --label-column y

# JSON has all layers; the same on other samples and for any number of threads.
silent json analyze $digits --data "$E/test_x.npy" --json --threads 1
cp stdout one.json
[ "$(grep -c '"alone": ' one.json)" -eq 8 ] || fail json "eight layers are not there" one.json
has_words json one.json '"quern_analyze": 1|{"name": "conv2", "layers": "conv2, bn3", "op": "conv2d", "matches": 1, "weights": "i8", "macs": 73728, "weight_bytes": 4608, "instructions": '
silent threads analyze $digits --data "$E/test_x.npy" --json --threads 3
same threads stdout one.json

# Channels of which one is far wider than the others: the advice is to equalize, and pasting it helps.
cat >wide.qir <<'X'
graph @main(%x: tensor<1x4xf32>) {
  %w1 = const : tensor<4x4xf32> [25,-12.5,37.5,5, 0.3,0.9,-0.6,0.2, -0.8,0.4,0.15,0.7, 0.6,-0.35,0.45,-0.9]
  %w2 = const : tensor<3x4xf32> [0.01,0.85,-0.4,0.3, -0.02,0.1,0.65,0.5, 0.015,-0.15,0.25,-0.6]
  %h = dense %x, %w1
  %r = relu %h
  %y = dense %r, %w2
  return %y
}
X
wide="wide.qir --calib wide.npy"
tail -c +129 "$E/calib.npy" | head -c 4096 | npy wide.npy '<f4' '256, 4'
good wide analyze -q $wide
has_words wide stdout 'try --equalize|If the layer cost nothing, that would bring|"name": "y", "equalize": true}'
sed -n '/^{/,$p' stdout >advice.json
good wide analyze -q $wide --json
plain=$(number sqnr)
good wide-pasted analyze -q $wide --recipe advice.json --json
awk "BEGIN { exit !($(number sqnr) > $plain + 10) }" </dev/null || fail wide-pasted "SQNR $plain dB, with the recipe $(number sqnr) dB"
good wide-equalized analyze -q $wide --equalize
! grep -q 'equalize' stdout || fail wide-equalized "the advice is to equalize again" stdout
usage solver '--solver is an option of compile, eval, calibrate, opt and export' analyze $digits --solver on

# What cannot be.
usage no-samples 'missing option: --calib' analyze "$E/digits.json"
silent integer opt $digits --stop-after legalize -o integer.json
case_of integer 1 analyze.stage "this one is integer already; --from-float dequantizes" analyze -q integer.json --calib "$E/calib.npy"
finish
