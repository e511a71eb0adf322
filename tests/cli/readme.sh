#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# readme.sh - the commands of README.md and docs/ run as they are written, and print what the pages show.
#
# Left out are sessions with files that a reader has to bring (model.onnx, which models.sh runs) and the one of an installed
# library (proof/install.sh).
. "$QUERN_SOURCE/tests/cli/common.inc"
. "$QUERN_SOURCE/tests/cli/sessions.inc"
mkdir build out
printf '#!/bin/sh\nexec "%s" "$@"\n' "$QUERN_BIN" >build/quern
chmod +x build/quern
PATH=$work/build:$PATH
cp -r "$QUERN_SOURCE/examples" .
readme=$QUERN_SOURCE/README.md
pages=()

# The first JSON block is tiny.json.
awk '/^```json$/ {inside = 1; next} /^```$/ {if (inside) exit} inside' "$readme" >tiny.json

for page in "$QUERN_SOURCE"/docs/*.md; do # accuracy-workshop.md is run by workshop.sh
	case $page in */accuracy-workshop.md) ;; *) pages+=("$page") ;; esac
done
left_out='model|PKG_CONFIG'
if [ -e "${QUERN_DATA:-}/models/stories260K.gguf" ]; then
	cp "$QUERN_DATA"/models/stories260K*.gguf .
else
	echo "QUERN_DATA is not set, or holds no models/stories260K.gguf: the commands of archives.md are skipped"
	left_out="$left_out|stories260K"
fi
if ! command -v arm-none-eabi-gcc >/dev/null || ! command -v qemu-system-arm >/dev/null; then
	echo "arm-none-eabi-gcc or qemu-system-arm is not installed: the commands with examples/mps2 are skipped"
	left_out="$left_out|-o m4$"
fi
take_sessions "$left_out" "$readme" "${pages[@]}"
run_sessions 11
# What it compares with is looked at: another line is noticed.
printf 'a\n  …\nc\n' >expected
printf 'a\nb\nc\n' >stdout
cases=$((cases + 1))
printed expected stdout >difference || fail printed "the lines are equal"
printf 'a\nb\nd\n' >stdout
! printed expected stdout >difference || fail printed "another line is not noticed"
finish
