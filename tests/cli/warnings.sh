#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# warnings.sh - samples that can be read but look wrong for the model: what is outside of a quantized range, scaled the
# wrong way, quantized twice, of too few classes; thresholds in another unit.
. "$(dirname "$0")/common.inc"

E=$QUERN_SOURCE/examples/digits
calib=(--calib "$E/calib.npy")
labels=(--labels "$E/test_y.npy")
x=$E/test_x.npy

# ---- outside of the range that the samples of --calib gave, or that a quantized file has ----

silent quantized opt "$E/digits.json" "${calib[@]}" -q --stop-after legalize -o int.qir
silent fits eval int.qir --data "$x" "${labels[@]}" -q
silent fits-run run int.qir "$x" -q
silent fits-calibrated eval "$E/digits.json" "${calib[@]}" --data "$x" "${labels[@]}" -q
for command in 'eval int.qir --data' 'run int.qir' 'analyze '"$E/digits.json ${calib[*]}"' --data'; do
	case_of "$command" 0 data.range "values (|are outside of the range 0.0 to |of input 'image' and saturate|largest 255.0" \
		$command "$x:scale=255" $([[ $command != eval* ]] || echo "${labels[@]}") -q
done
case_of self-test 0 data.range 'are outside of the range' compile int.qir --calib "$x:scale=255" -o out -q
# The float rows are compared with the model's batch norm, the integer ones with the range.
case_of calibrated 0 'data.statistics data.range' 'image|saturate|bn1' eval "$E/digits.json" "${calib[@]}" --data "$x:scale=255" "${labels[@]}" -q
has_words calibrated stdout 'float |integer '

# ---- quantized values that an option makes float values ----

tail -c +129 "$x" | od -An -v -tf4 -w4 | awk '{ printf "\\%03o", $1 * 16 }' >codes.txt
printf "$(cat codes.txt)" | npy u8.npy '|u1' '500, 8, 8, 1'
silent u8 opt "$E/digits.json" "${calib[@]}" --activations u8 -q --stop-after legalize -o u8.qir
case_of stored 0 data.stored "elements of type u8|input 'image'|because of --input-scale 1|omit the option" eval u8.qir --data u8.npy --input-scale 1 "${labels[@]}" -q
silent 'not stored' eval u8.qir --data u8.npy --input-scale 0.0625 "${labels[@]}" -q

# ---- scaled too small, without a zero point ----

case_of narrow 0 data.range "from 0.0 to 0.003921|become at most 2 of the 256 quantized values that input 'image' has for its range 0.0 to " \
	eval int.qir --data "$x:scale=0.0039215686" "${labels[@]}" -q
tail -c +129 u8.npy | npy i8.npy '|i1' '500, 8, 8, 1'
case_of zero 0 data.zero 'i8.npy: warning|type i8 are multiplied by 0.0625 without a zero point|--input-zero' eval "$E/digits.json" --data i8.npy --input-scale 0.0625 "${labels[@]}" -q
silent 'zero chosen' eval "$E/digits.json" --data i8.npy:zero=0 --input-scale 0.0625 "${labels[@]}" -q
silent 'unsigned' eval "$E/digits.json" --data u8.npy --input-scale 0.0625 "${labels[@]}" -q
run eval --help
has_words 'help of --input-scale' stdout 'without these options'

# ---- classes, thresholds ----

mkdir -p classes/cat classes/dog
for k in cat dog; do
	printf 'P2 8 8 16 ' >"classes/$k/$k.pgm"
	for i in 1 2 3 4 5 6 7 8; do printf '0 %d 5 3 16 0 1 0 ' "$i" >>"classes/$k/$k.pgm"; done
done
case_of 'few classes' 0 data.labels '2 subfolders for the 10 classes' eval "$E/digits.json" --data classes --input-scale 0.0625 -q
mkdir classes/{2,3,4,5,6,7,8,9}
silent 'all classes' eval "$E/digits.json" --data classes --input-scale 0.0625 -q
for row in min-accuracy=0.9 min-accuracy=1 min=top1=0.9 min=top5=0.5 min=agreement=1; do
	usage "$row" "--${row%%=*}: invalid value '${row#*=}' (expected percent: 90 for 90 %)" \
		eval "$E/digits.json" --data "$x" "${labels[@]}" "--${row%%=*}" "${row#*=}"
done
silent 'percent' eval "$E/digits.json" --data "$x" "${labels[@]}" --min-accuracy 1.5 --min top1=0 --max top1=100 -q

finish
