#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tflite_networks.sh PROGRAM RECORDS - networks of quantized TFLite operators, which tflite-networks or tflite-streams writes, give
# the bytes that TFLite gave: lines "NAME.K HEX" of the first ones, from scripts/check-tflite, which leaves out those with an
# operator that rounds otherwise in TFLite's fast kernels (docs/importing.md).  $QUERN_BIN: the program.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
count=$(sed 's/ .*//; s/.*[.]//' "$2" | sort -n | tail -n 1)
${QUERN_EMULATOR:-} "$1" "$tmp" $((count + 1))
failed=0
while read -r name hex; do
	if ! "$QUERN_BIN" run -q "$tmp/$name.tflite" "$tmp/$name.0.npy" -o "$tmp/y.npy" 2>"$tmp/error"; then
		echo "$name: $(cat "$tmp/error")"
		failed=$((failed + 1))
	elif [ "$(tail -c +129 "$tmp/y.npy" | od -An -v -tx1 | tr -d ' \n')" != "$hex" ]; then
		echo "$name: other bytes than TFLite's"
		failed=$((failed + 1))
	fi
done <"$2"
echo "$(wc -l <"$2") networks, $failed differ"
[ "$failed" -eq 0 ]
