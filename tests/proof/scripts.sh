#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# scripts.sh - every program of scripts/ has help and refuses what it does not know, before it installs or builds anything.
set -u
. "$(dirname "$0")/check.sh"

# Programs that change the machine or take long write their name instead.
mkdir "$tmp/bin"
for each in apt-get sudo dpkg npm cmake ninja ctest cc gcc qemu-system-arm valgrind frama-c clang-tidy cppcheck; do
	printf '#!/bin/sh\necho %s >>"%s/ran"\nexit 1\n' "$each" "$tmp" >"$tmp/bin/$each"
	chmod +x "$tmp/bin/$each"
done
PATH=$tmp/bin:$PATH
export PATH
: >"$tmp/ran"
: >"$tmp/bad"
cd "$tmp" || exit 1 # they find the project from anywhere

bad() {
	echo "$name: $*" >>"$tmp/bad"
}

# call ARGUMENT…: its streams in stdout and stderr, its end in $status.
call() {
	"$script" "$@" >"$tmp/stdout" 2>"$tmp/stderr" </dev/null
	status=$?
}

count=0
for script in "$QUERN_SOURCE"/scripts/*; do
	name=scripts/${script##*/}
	case $script in *.inc | *.cmake) continue ;; esac
	count=$((count + 1))
	[ -x "$script" ] || bad "is not executable"

	call --help
	[ "$status" = 0 ] || bad "--help ends with $status"
	[ ! -s "$tmp/stderr" ] || bad "--help writes to stderr: $(head -1 "$tmp/stderr")"
	case $(head -1 "$tmp/stdout") in "usage: $name"*) ;; *) bad "--help does not begin with 'usage: $name'" ;; esac
	grep -q "^example: .*$name" "$tmp/stdout" || bad "--help has no example"
	LC_ALL=C tr -d '\200-\277' <"$tmp/stdout" | awk -v name="$name" 'length > 100 { print name ": --help, line of " length " columns: " $0 }' >>"$tmp/bad"
	mv "$tmp/stdout" "$tmp/help"
	call -h
	[ "$status" = 0 ] && cmp -s "$tmp/help" "$tmp/stdout" || bad "-h is not --help"

	for arguments in "--unheard-of" "unheard-of --unheard-of" "--unheard-of=3 unheard-of"; do
		# shellcheck disable=SC2086 # arguments are words
		call $arguments
		[ "$status" = 2 ] || bad "$arguments: ends with $status, not 2"
		[ ! -s "$tmp/stdout" ] || bad "$arguments: writes to stdout: $(head -1 "$tmp/stdout")"
		grep -q "^$name: .*unheard-of.*; see $name --help\$" "$tmp/stderr" || bad "$arguments: says '$(head -1 "$tmp/stderr")'"
	done
done
is_empty "$tmp/bad" "$count programs of scripts/ have help and refuse unknown arguments"
is_empty "$tmp/ran" "help and refusals run nothing"
[ "$count" -ge 17 ] || failed "only $count programs in scripts/"
finish
