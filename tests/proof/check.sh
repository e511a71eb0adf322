# SPDX-License-Identifier: Apache-2.0
# check.sh - what the proof scripts share; read with `.`.
#
#   QUERN_SOURCE  the source tree         QUERN_BIN  the program `quern`     QUERN_CC  the C compiler of the build
#   QUERN_LIB     the static library      QUERN_CFLAGS  flags that objects for the library need (sanitizers)
#   QUERN_FULL    1: the slow parts too     QUERN_SHOWN  how many lines of a finding are printed, 20 by default
#
# A script prints one line for each thing it checked: "ok …", "skipped …" or "FAILED …".

: "${QUERN_SOURCE:?names the source tree}"
: "${QUERN_BIN:=}" "${QUERN_LIB:=}" "${QUERN_CC:=cc}" "${QUERN_CFLAGS:=}" "${QUERN_FULL:=0}"
failures=0
tmp=$(mktemp -d "${TMPDIR:-/tmp}/quern-proof-XXXXXX")
trap 'rm -rf "$tmp"' EXIT

ok() {
	echo "ok       $*"
}

skip() {
	echo "skipped  $*"
}

failed() {
	echo "FAILED   $*"
	failures=$((failures + 1))
}

# is_empty FILE WHAT: passes when the file has no lines, else shows the first ones.
is_empty() {
	if [ -s "$1" ]; then
		failed "$2"
		head -n "${QUERN_SHOWN:-20}" "$1" | sed 's/^/         /'
	else
		ok "$2"
	fi
}

has() {
	command -v "$1" >/dev/null 2>&1
}

finish() {
	[ "$failures" = 0 ]
	exit
}
