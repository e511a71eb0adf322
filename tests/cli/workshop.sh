#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# workshop.sh - the sessions of docs/accuracy-workshop.md print what the page shows.  The search for a recipe, two minutes of
# CPU time, runs with QUERN_FULL=1 and must find the recipe of the page, from which the others go on.
. "$QUERN_SOURCE/tests/cli/common.inc"
. "$QUERN_SOURCE/tests/cli/sessions.inc"
if [ -z "${QUERN_DATA:-}" ]; then
	echo "workshop: skipped, without QUERN_DATA"
	cases=1
	finish
	exit
fi
page=$QUERN_SOURCE/docs/accuracy-workshop.md
quern() { "$QUERN_BIN" "$@"; }
shopt -s expand_aliases

# 100 samples for calibration, 400 others; stored as (value / scale) + zero point
cp "$QUERN_DATA/models/kws_hybrid_float.tflite" kws.tflite
tail -c +129 "$QUERN_DATA/samples/kws_x.npy" | od -An -v -td1 -w490 | awk '{
	row = ""
	for (i = 1; i <= NF; i++)
		row = row (i > 1 ? "," : "") sprintf("%.9g", ($i - 83) * 0.5847029)
	print row >(NR <= 100 ? "calib.csv" : "test.csv")
}'
tail -c +129 "$QUERN_DATA/samples/kws_y.npy" | od -An -v -tu8 -w8 | awk 'NR > 100 {print $1}' | sed '1i label' >labels.csv
awk '/^```json$/ {inside = 1; next} /^```$/ {if (inside) exit} inside' "$page" >recipe-of-the-page.json

if [ "${QUERN_FULL:-0}" = 1 ]; then
	take_sessions '' "$page"
else
	take_sessions '^[$] tune=' "$page"
	cp recipe-of-the-page.json kws.recipe.json
fi
run_sessions 9
cases=$((cases + 1))
# instructions and arena of the table: neither depends on the samples
tail -c +129 "$QUERN_DATA/samples/cifar_x.npy" | head -c $((8 * 3072)) | npy resnet8.npy '|u1' '8, 32, 32, 3'
tail -c +129 "$QUERN_DATA/samples/ad_x.npy" | head -c $((8 * 2560)) | npy ad.npy '<f4' '8, 640'
head -n 8 calib.csv >kws.csv
cp "$QUERN_DATA/models/resnet8_float.tflite" resnet8.tflite
cp "$QUERN_DATA/models/ad_float.tflite" ad.tflite
for row in kws,i8:kws.csv kws,i16:kws.csv resnet8,i8:resnet8.npy:scale=1 resnet8,i16:resnet8.npy:scale=1 ad,i8:ad.npy ad,i16:ad.npy; do
	net=${row%%,*} type=${row#*,}
	type=${type%%:*}
	cases=$((cases + 1))
	quern compile $net.tflite --calib "${row#*:}" --target cortex-m4 --activations "$type" -q -o table >stdout 2>stderr || fail "$row" "it does not compile" stderr
	have=$(awk '/^arena/ {arena = $2} /^instructions/ {n = $3} END {print n, arena}' stdout)
	want=$(sed -n "s/^| $net, $type | .* | \([0-9,]*\) | \([0-9,]*\) | [a-z0-9 ]*|*$/\1 \2/p" "$page" | tr -d ,)
	[ "$have" = "$want" ] || fail "$row" "the page has '$want', compile '$have'"
done
cmp -s recipe-of-the-page.json kws.recipe.json || fail recipe "not the one of the page" kws.recipe.json
finish
