#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# readme.sh - the commands of README.md and docs/ run as they are written, and print what the pages show.
#
# A block whose first line begins with "$ " is a session: commands, and what they print.  A line "  …" stands for any lines.
# Left out are sessions with files that a reader has to bring (model.onnx, which models.sh runs) and the one of an installed
# library (proof/install.sh).
. "$QUERN_SOURCE/tests/cli/common.inc"
mkdir build out
printf '#!/bin/sh\nexec "%s" "$@"\n' "$QUERN_BIN" >build/quern
chmod +x build/quern
PATH=$work/build:$PATH
cp -r "$QUERN_SOURCE/examples" .
readme=$QUERN_SOURCE/README.md

# The first JSON block is tiny.json.
awk '/^```json$/ {inside = 1; next} /^```$/ {if (inside) exit} inside' "$readme" >tiny.json

# Commands with the lines that they print, in one file each: session.N, expected.N.
awk 'FNR == 1 {inside = 0}
	/^```/ {inside = !inside; first = 1; on = 0; next}
	!inside {next}
	first {first = 0; on = /^[$] / && !/model|PKG_CONFIG/}
	on && /^[$] / {n++; print substr($0, 3) >("session." n); printf "" >("expected." n); next}
	on {print >("expected." n)}' "$readme" "$QUERN_SOURCE"/docs/*.md

# printed EXPECTED ACTUAL: equal but for lines "…", which stand for any, or none.
printed() {
	awk 'NR == FNR {want[++n] = $0; next} {have[++m] = $0}
		END {
			i = 1
			for (k = 1; k <= n; k++) {
				if (want[k] ~ /^ *…$/) {
					if (k == n)
						exit 0
					while (i <= m && have[i] != want[k + 1])
						i++
				} else if (have[i++] != want[k]) {
					print "expected: " want[k]
					print "printed:  " have[i - 1]
					exit 1
				}
			}
			exit i <= m
		}' "$1" "$2"
}

n=1
while [ -e "session.$n" ]; do
	cases=$((cases + 1))
	. "./session.$n" >stdout 2>stderr <&-
	code=$?
	# messages are of the session too, progress and warnings of few samples are not
	grep -E ': (error|note): ' stderr >>stdout
	[ "$code" -eq 0 ] || grep -q ': error: ' "expected.$n" || fail "$(cat "session.$n")" "exit code $code" stderr
	printed "expected.$n" stdout >difference || fail "$(cat "session.$n")" "it prints something else" difference
	n=$((n + 1))
done
[ "$n" -gt 11 ] || fail sessions "$((n - 1)) commands were found"
# What it compares with is looked at: another line is noticed.
printf 'a\n  …\nc\n' >expected
printf 'a\nb\nc\n' >stdout
cases=$((cases + 1))
printed expected stdout >difference || fail printed "the lines are equal"
printf 'a\nb\nd\n' >stdout
! printed expected stdout >difference || fail printed "another line is not noticed"
finish
