#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# estimate.sh - the estimated instructions of the report are within 20 % of those that were counted: the rows of
# tests/mcu/counts.tsv, of QUERN_DATA the networks of docs/performance.md too.
. "$(dirname "$0")/common.inc"
E=$QUERN_SOURCE/examples/digits
data=${QUERN_DATA:-}

# field FILE KEY: a member of "instructions".
field() { sed -n 's/^  "instructions": {.*"'"$2"'": "\{0,1\}\([^,"}]*\).*/\1/p' "$1"; }

# near NETWORK COUNT OPTION…
near() {
	local name=$1 count=$2 estimate
	shift 2
	case $name in
	digits) good "$name $*" compile -q "$E/digits.json" --calib "$E/calib.npy" "$@" -o out ;;
	*) good "$name $*" compile -q "$data/models/${name}_int8.tflite" "$@" -o out ;;
	esac
	estimate=$(field out/*.report.json estimate)
	awk -v a="$estimate" -v b="$count" 'BEGIN { exit !(a > 0.8 * b && a < 1.2 * b) }' || fail "$name $*" "$estimate instructions, counted were $count"
	rm -rf out
}

known() { [ "$1" = digits ] || { [ -n "$data" ] && [ -f "$data/models/$1_int8.tflite" ]; }; }

while IFS='|' read -r name _ options count; do
	# shellcheck disable=SC2086
	known "$name" && near "$name" "$count" $options
done <<X
$(grep -v '^#' "$QUERN_SOURCE/tests/mcu/counts.tsv" | tr '\t' '|')
X

# The table of the Cortex-M4: network, MACs, generic, cortex-m4.
while IFS='|' read -r _ name _ generic own _; do
	known "$name" || continue
	near "$name" "$generic"
	near "$name" "$own" --target cortex-m4
done <<X
$(sed -n '/^Cortex-M4:/,/^After/p' "$QUERN_SOURCE/docs/performance.md" | grep -E '^\| (ad|vww|resnet8) ' | tr -d ' ,')
X
# … and of the Cortex-M55.
while IFS='|' read -r _ name own _; do
	known "$name" && near "$name" "$own" --target cortex-m55
done <<X
$(sed -n '/^Cortex-M55 /,/^\*Weighted/p' "$QUERN_SOURCE/docs/performance.md" | grep -E '^\| (ad|vww|resnet8) ' | tr -d ' ,')
X

# Whose figures they are; the sum of the steps is what the summary says.
good m7 compile -q "$E/digits.json" --calib "$E/calib.npy" --target cortex-m7 -o out
[ "$(field out/digits.report.json target)" = cortex-m4 ] || fail m7 "not the figures of cortex-m4" out/digits.report.json
sum=$(sed -n 's/^    {"name": .*"instructions": \([0-9]*\).*/\1/p' out/digits.report.json | awk '{ n += $1 } END { print n }')
has_words sum stdout "instructions about $sum (figures of cortex-m4)"
good avx2 compile -q "$E/digits.json" --calib "$E/calib.npy" --target x86-64-avx2 -o out
[ "$(field out/digits.report.json target)" = generic ] || fail avx2 "not the figures of generic" out/digits.report.json
good blocks compile -q "$E/digits.json" --calib "$E/calib.npy" --target cortex-m4 --weights-type i4 --weight-block 32 -o out
awk -v a="$(field out/digits.report.json estimate)" 'BEGIN { exit !(a > 0.8 * 240886 && a < 1.2 * 240886) }' || fail blocks "far from the count of docs/performance.md" out/digits.report.json
finish
