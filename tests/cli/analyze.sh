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
silent repaired analyze $digits --weights-type i4 --weight-rounding adaptive --bias-correction --json
repaired=$(sed -n 's/.*"sqnr": \([0-9]*\).*/\1/p' stdout | head -n 1)
[ "$repaired" -ge $((plain + 5)) ] || fail repaired "SQNR $plain dB, with repairs $repaired dB"

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

# JSON has all layers; the same on other samples and for any number of threads.
silent json analyze $digits --data "$E/test_x.npy" --json --threads 1
cp stdout one.json
[ "$(grep -c '"alone": ' one.json)" -eq 8 ] || fail json "eight layers are not there" one.json
has_words json one.json '"quern_analyze": 1|{"name": "conv2", "layers": "conv2, bn3", "op": "conv2d", "weights": "i8", "macs": 73728, "weight_bytes": 4608, "alone": '
silent threads analyze $digits --data "$E/test_x.npy" --json --threads 3
same threads stdout one.json

# What cannot be.
usage no-samples 'missing option: --calib' analyze "$E/digits.json"
silent integer opt $digits --stop-after legalize -o integer.json
case_of integer 1 analyze.stage "this one is integer; --from-float dequantizes" analyze -q integer.json --calib "$E/calib.npy"
finish
