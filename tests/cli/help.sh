#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# help.sh - what follows from the tables of commands and options: the layout of --help, manual pages, the completions of shells.
. "$(dirname "$0")/common.inc"

commands=$(quern --help | sed -n '/^commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p')
[ "$(echo "$commands" | wc -l)" -ge 15 ] || fail commands "these are all: $commands"

# ---- layout: 100 columns; two lines an option; each option under a subject ----

for c in '' $commands; do
	cases=$((cases + 1))
	# shellcheck disable=SC2086
	quern $c --help >help.txt
	[ "$(LC_ALL=C.UTF-8 wc -L <help.txt)" -le 100 ] || fail "$c --help" "a line has more than 100 columns" help.txt
	[ -n "$c" ] || continue
	LC_ALL=C.UTF-8 awk '
		/^[a-z].*:$/ { subject = $0; listed = subject ~ /methods|metrics/ }
		/^  -/ { name = $0; n = length($0) <= 29 || substr($0, 29, 2) != "  " ? 0 : 1; if (subject == "" || subject == "example:") print "no subject: " $0; next }
		/^ {30}/ && !listed { if (++n > 2) print "more than two lines: " name }
		/^ {6}[^ ]/ { n = 1 }
	' help.txt >wrong
	[ ! -s wrong ] || fail "$c --help" "options are not laid out" wrong
done

# ---- manual pages ----

for c in '' $commands; do
	# shellcheck disable=SC2086
	silent "man $c" man $c
	cp stdout page
	has_words "man $c" page '.TH QUERN|.SH NAME|.SH SYNOPSIS|.SH EXIT STATUS|.SH SEE ALSO'
	for option in $(quern ${c:-compile} --help | sed -n 's/^  \(-., \)*\(--[a-z-]*\).*/\2/p'); do
		[ -z "$c" ] || grep -qF -- "${option//-/\\-}" page || fail "man $c" "$option is missing" page
	done
	if command -v groff >/dev/null; then
		groff -man -Tutf8 -k -ww page >shown 2>wrong
		[ ! -s wrong ] || fail "man $c" "groff warns" wrong
		[ -s shown ] || fail "man $c" "nothing to read"
	fi
done
usage man-unknown "unknown command 'compil'; did you mean 'compile'?" man compil

# ---- completions ----

usage shell-unknown "unknown shell 'tcsh' (expected bash, zsh or fish)" completion tcsh
silent bash completion bash
cp stdout quern.bash
cat >complete.bash <<'END'
. ./quern.bash
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_quern
echo "${COMPREPLY[*]}"
END
# completes WANT WORD…: what bash would offer for the last word.
completes() {
	local want=$1 got
	shift
	cases=$((cases + 1))
	got=$(bash complete.bash "$@" 2>&1)
	[ "$got" = "$want" ] || fail "bash $*" "'$got' instead of '$want'"
}
completes 'compile completion' quern comp
completes '--scheme' quern compile m.json --sch
completes 'tflite rfc' quern compile m.json --scheme ''
completes 'rfc' quern compile --scheme = r
completes 'tflite rfc' quern compile --scheme =
completes 'cortex-m3 cortex-m33' quern compile m.json --target cortex-m3
completes 'kl kl_tvm kl_ort' quern eval --method kl
completes 'compile completion' quern man comp
completes 'calibrate' quern help cal
completes 'zsh' quern completion z
completes '' quern compile mo
completes '' quern run --scheme ''
silent zsh completion zsh
cp stdout _quern
silent fish completion fish
cp stdout quern.fish
for c in $commands; do
	cases=$((cases + 1))
	grep -q "^	$c)$" _quern || fail zsh "$c is missing" _quern
	grep -q -- "-a $c -d" quern.fish || fail fish "$c is missing" quern.fish
done
for shell in zsh fish; do
	if command -v $shell >/dev/null; then
		cases=$((cases + 1))
		$shell -n "$([ $shell = zsh ] && echo _quern || echo quern.fish)" 2>wrong || fail $shell "syntax" wrong
	else
		echo "$shell is not installed: its completions were not parsed"
	fi
done
finish
