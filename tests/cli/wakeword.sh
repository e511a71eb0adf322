#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# wakeword.sh - examples/wakeword: the emitted program hears the wake word in spoken text and nothing else, with the bytes
# of the interpreter on this machine and on a Cortex-M4.
. "$(dirname "$0")/common.inc"

QUERN=$QUERN_BIN "$QUERN_SOURCE/examples/wakeword/run" "${QUERN_DATA:-}/models/wakeword_okay_nabu.tflite" out >stdout 2>stderr
code=$?
if [ $code -eq 77 ]; then
	cat stdout
	exit 0
fi
cases=$((cases + 1))
[ $code -eq 0 ] || fail run "exit code $code" stderr
grep -q '^equal bytes in [1-9][0-9]* hops' stdout || fail host 'nothing was compared' stdout
grep -q '^result       equal\|^skipped: the Cortex-M4' stdout || fail board 'nothing was compared' stdout
# Voices of espeak-ng differ from release to release: the wake word is far above all other text.
awk -F': ' '
	/^[0-9].*okay-nabu: / {n++; if ($2 < 200) bad = bad " " $1}
	/^[0-9]/ && !/okay-nabu/ {n++; if ($2 > 100) bad = bad " " $1}
	END {if (n != 7 || bad != "") {print n " words, wrong:" bad; exit 1}}' stdout >heard || fail heard 'other words are heard' heard
finish
