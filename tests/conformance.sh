#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# conformance.sh [EMULATOR] CONFORMANCE - no case of ONNX's backend tests in $QUERN_DATA/onnx fails; every eighth also in integers.
set -eu
if [ ! -d "${QUERN_DATA:-/nonexistent}/onnx" ]; then
	echo "QUERN_DATA is not set, or holds no folder onnx: skipped"
	exit 77
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
find "$QUERN_DATA/onnx" -name model.onnx -exec dirname {} \; | LC_ALL=C sort >"$tmp/cases"
for options in "" "--integer $tmp"; do
	[ -z "$options" ] || sed -i -n '0~8p' "$tmp/cases"
	# shellcheck disable=SC2086 # options are words
	if ! tr '\n' '\0' <"$tmp/cases" | xargs -0 "$@" $options >"$tmp/log"; then
		grep -E '^(fail|integer_fail)' "$tmp/log"
		exit 1
	fi
	tail -n 1 "$tmp/log"
done
