#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# symbols.sh - what the static library takes from outside, and that it keeps no state.
#
#   from libm only functions that IEEE 754 defines to the last bit; nothing that prints, ends or aborts the process;
#   no data that could be written: every section .data, .bss, .tdata, .tbss is empty
set -u
. "$(dirname "$0")/check.sh"
: "${QUERN_LIB:?names the static library}"
has nm && has objdump || { skip "symbols: no nm or objdump"; exit 0; }

exact="sqrt floor ceil rint trunc fabs frexp ldexp fmin fmax"
exact=$(for f in $exact; do printf '%s\n%sf\n' "$f" "$f"; done)

nm "$QUERN_LIB" 2>/dev/null | awk '$1 == "U" || $1 == "w" {print $2}' | sort -u >"$tmp/undefined"
nm --defined-only "$QUERN_LIB" 2>/dev/null | awk 'NF == 3 {print $3}' | sort -u >"$tmp/defined"
comm -23 "$tmp/undefined" "$tmp/defined" >"$tmp/outside"

# where NAMES-FILE: each name with the objects that want it.
where() {
	while read -r symbol; do
		nm -A "$QUERN_LIB" 2>/dev/null | awk -v s="$symbol" '$(NF - 1) == "U" && $NF == s {print $1}' |
			sed 's/.*:\([^:]*\):*$/\1/' | sort -u | tr '\n' ' ' | sed "s/^/$symbol in /"
		echo
	done <"$1"
}

# A name may carry a version or the prefix of the fortified form.
plain() {
	sed 's/@.*//; s/^__\(.*\)_chk$/\1/'
}

libm=$("$QUERN_CC" -print-file-name=libm.so.6)
if [ -e "$libm" ]; then
	nm -D --defined-only "$libm" | awk '$2 ~ /[TtiWw]/ {print $3}' | sed 's/@.*//' | sort -u >"$tmp/libm"
else
	for f in exp exp2 expm1 log log2 log10 log1p pow sin cos tan asin acos atan atan2 sinh cosh tanh erf erfc cbrt \
		hypot fma fmod lgamma tgamma round lround nearbyint; do
		printf '%s\n%sf\n' "$f" "$f"
	done | sort -u >"$tmp/libm"
fi
# fegetenv and fesetenv keep the host's floating-point environment.
{ echo "$exact"; echo fegetenv; echo fesetenv; } | sort -u >"$tmp/exact"
plain <"$tmp/outside" | sort -u | comm -12 - "$tmp/libm" | comm -23 - "$tmp/exact" >"$tmp/bad"
where "$tmp/bad" >"$tmp/places"
is_empty "$tmp/places" "libm: only exact functions ($(plain <"$tmp/outside" | sort -u | comm -12 - "$tmp/libm" | tr '\n' ' '))"

tr ' ' '\n' <<-X | sort -u >"$tmp/ends"
	exit _exit _Exit quick_exit abort raise kill atexit __assert_fail __assert
	printf vprintf fprintf vfprintf dprintf vdprintf puts putchar putc fputs fputc fwrite perror psignal
	stdin stdout stderr fopen fclose fread fflush setlocale getenv system popen time clock gettimeofday clock_gettime rand random
X
plain <"$tmp/outside" | sort -u | comm -12 - "$tmp/ends" | sed '/^__assert/d' >"$tmp/bad"
where "$tmp/bad" >"$tmp/places"
is_empty "$tmp/places" "process: nothing that exits, aborts, prints to a stream, asks the time or the environment"
if grep -q '^__assert' "$tmp/outside"; then
	grep '^__assert' "$tmp/outside" | sort -u >"$tmp/asserts"
	ok "asserts: $(where "$tmp/asserts" | tr '\n' ' ')"
fi

if grep -q -e '^__asan_' -e '^__ubsan_' -e '^__gcov_' "$tmp/outside"; then
	skip "state: sanitizers keep data of their own in every object"
else
	# nm shows constant tables of pointers as d too; the section tells them apart.
	objdump -t "$QUERN_LIB" 2>/dev/null | awk '
		/file format/ {object = $1}
		/[ \t](\.data|\.bss|\.tdata|\.tbss|\.data\.[^r]|\.bss\..*|\*COM\*)[ \t]/ && $NF !~ /^\./ {print object " " $NF}' >"$tmp/bad"
	is_empty "$tmp/bad" "state: no object has a symbol in .data, .bss or common storage ($(wc -l <"$tmp/defined") symbols)"
	objdump -h "$QUERN_LIB" 2>/dev/null | awk '
		/file format/ {object = $1}
		$2 ~ /^\.(data|bss|tdata|tbss)$/ && $3 !~ /^0+$/ {print object " has " $3 " bytes in " $2}' >"$tmp/bad"
	is_empty "$tmp/bad" "state: all sections .data and .bss are empty"
fi
finish
