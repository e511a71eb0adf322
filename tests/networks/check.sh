#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh [EMULATOR…] ONNX-NETWORKS RECORDS EVERY PERCENT - networks of quantized ONNX operators give what ONNX Runtime gave, as
# RECORDS say, and of every EVERY-th the C files give the interpreter's bytes: one program of all their self-tests.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
emulator=
while [ $# -gt 4 ]; do
	emulator="$emulator $1"
	shift
done
code=0
# shellcheck disable=SC2086 # words
$emulator "$1" judge "$tmp" "$3" "$4" "$2" >"$tmp/log" || code=$?
tail -n "${QUERN_LINES:-30}" "$tmp/log"
[ -s "$tmp/list" ] || exit "$code"
{
	printf '#include <stdint.h>\n#include <stdio.h>\n'
	sed 's/.*/int &_selftest(uint32_t *sample, uint32_t *step);/' "$tmp/list"
	printf 'int\nmain(void)\n{\n\tuint32_t at[2];\n\tint bad = 0;\n\n'
	sed 's/.*/\tbad += &_selftest(at, at + 1) != 0 \&\& printf("&: the C differs\\n") > 0;/' "$tmp/list"
	printf '\treturn bad != 0;\n}\n'
} >"$tmp/main.c"
# shellcheck disable=SC2046,SC2086 # lists of words
(cd "$tmp" && ${CC:-cc} -std=c99 -O0 -o tests main.c $(sed 's/.*/&.c &_weights.c &_selftest.c/' list) && ./tests) || code=1
[ "$code" -ne 0 ] || echo "the C of $(wc -l <"$tmp/list") networks gives the same"
exit "$code"
