#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install.sh - the installed tree, from outside: programs that embed the library find it, run, and emit C that passes
# its self-test; the shared library shows its interface and nothing else; no file knows where it was built.
#
#   QUERN_BUILD  the build folder
set -u
. "$(dirname "$0")/check.sh"
: "${QUERN_BUILD:?names the build folder}"
example=$QUERN_SOURCE/examples/embed
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"
case $(basename "$QUERN_CC") in clang*) cxx=clang++ ;; *) cxx=g++ ;; esac
unset DESTDIR CMAKE_PREFIX_PATH LD_LIBRARY_PATH

# Installed below a folder as packages are, and moved: nothing may depend on where it was put.
DESTDIR="$tmp/first" cmake --install "$QUERN_BUILD" --prefix /opt/quern >"$tmp/log" 2>&1 || {
	failed "cmake --install"
	cat "$tmp/log"
	finish
}
mv "$tmp/first/opt/quern" "$tmp/root"
root=$tmp/root
pc=$(find "$root" -name quern.pc)
lib=$(dirname "$(dirname "$pc")")
ok "cmake --install: $(find "$root" ! -type d | wc -l) files"

# ---- manual pages and completions, of every command that the program has ----

for command in "" $("$root/bin/quern" --help | sed -n '/^commands:/,/^$/s/^  \([a-z-]*\) .*/-\1/p'); do
	[ -s "$root/share/man/man1/quern$command.1" ] || echo "quern$command.1" >>"$tmp/pages"
done
is_empty "$tmp/pages" "a manual page for each command"
bash -c '. "$1"/share/bash-completion/completions/quern && complete -p quern >/dev/null' - "$root" &&
	[ -s "$root/share/zsh/site-functions/_quern" ] && [ -s "$root/share/fish/vendor_completions.d/quern.fish" ] &&
	ok "completions of bash, zsh and fish" || failed "completions of bash, zsh and fish"

# ---- programs that embed it ----

# emitted NAME OUTPUT: takes the files out of what a host printed, compiles them and runs the self-test.
emitted() {
	mkdir -p "$tmp/c-$1"
	awk -v dir="$tmp/c-$1/" '/^#### /{file = dir $2; next} {print > file}' "$2"
	prefix=$(basename "$(ls "$tmp/c-$1"/*_weights.c)" _weights.c)
	upper=$(echo "$prefix" | tr a-z A-Z)
	(cd "$tmp/c-$1" && "$QUERN_CC" -std=c99 -O2 $warnings "-D${upper}_SELFTEST_MAIN" -o selftest ./*.c && ./selftest) \
		>"$tmp/log" 2>&1
}

# host NAME COMMAND…: runs a program that embeds Quern, then what it emits.
host() {
	name=$1
	shift
	if ! "$@" >"$tmp/$name.out" 2>"$tmp/log"; then
		failed "$name: the program"
		cat "$tmp/log"
	elif ! emitted "$name" "$tmp/$name.out"; then
		failed "$name: the C that it emits"
		head -n 20 "$tmp/log"
	else
		ok "$name: $(tail -n 1 "$tmp/log")"
	fi
}

# build NAME COMMAND…
build() {
	name=$1
	shift
	"$@" >"$tmp/log" 2>&1 && return
	failed "$name is not built"
	tail -n 20 "$tmp/log"
	return 1
}

has $cxx || cxx= # CMake takes an empty one for none
for kind in OFF ON; do
	name=cmake-$([ $kind = ON ] && echo static || echo shared)
	build "$name" cmake -S "$example" -B "$tmp/$name" -G "${QUERN_GENERATOR:-Unix Makefiles}" -DEMBED_STATIC=$kind \
		-DCMAKE_PREFIX_PATH="$root" -DCMAKE_C_COMPILER="$QUERN_CC" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_C_FLAGS="$QUERN_CFLAGS $warnings" \
		-DCMAKE_CXX_FLAGS="$QUERN_CFLAGS $warnings" && build "$name" cmake --build "$tmp/$name" || continue
	host "$name" "$tmp/$name/embed"
	host "$name-kernel" "$tmp/$name/kernel"
	[ -x "$tmp/$name/embed_cc" ] && host "$name-c++" "$tmp/$name/embed_cc"
done

if has pkg-config; then
	export PKG_CONFIG_PATH="$(dirname "$pc")"
	# shellcheck disable=SC2086,SC2046 # flags are words
	build pkg-config-shared "$QUERN_CC" -std=c11 $QUERN_CFLAGS $warnings "$example/embed.c" $(pkg-config --cflags --libs quern) \
		-o "$tmp/shared" && host pkg-config-shared env LD_LIBRARY_PATH="$lib" "$tmp/shared"
	# shellcheck disable=SC2086,SC2046
	build pkg-config-static "$QUERN_CC" -std=c11 $QUERN_CFLAGS $warnings "$example/embed.c" $(pkg-config --cflags --libs quern-static) \
		-o "$tmp/static" && host pkg-config-static "$tmp/static"
	if [ -n "$cxx" ]; then
		# shellcheck disable=SC2086,SC2046
		build pkg-config-c++ $cxx -std=c++14 $QUERN_CFLAGS $warnings "$example/embed.cc" $(pkg-config --cflags --libs quern) \
			-o "$tmp/cc" && host pkg-config-c++ env LD_LIBRARY_PATH="$lib" "$tmp/cc"
	else
		skip "pkg-config-c++: no C++ compiler"
	fi
else
	skip "pkg-config is not there"
fi
: >"$tmp/bad"
for out in "$tmp"/*-shared.out "$tmp"/*-static.out; do
	cmp -s "$tmp/cmake-shared.out" "$out" || basename "$out" >>"$tmp/bad"
done
is_empty "$tmp/bad" "all of them emit the same bytes"

# ---- the headers: each compiles alone, and declares nothing twice ----

: >"$tmp/bad"
for header in "$root"/include/quern/*.h; do
	name=$(basename "$header")
	printf '#include <quern/%s>\n#include <quern/%s>\nint quern_header_is_not_empty;\n' "$name" "$name" >"$tmp/alone.c"
	cp "$tmp/alone.c" "$tmp/alone.cc"
	for how in "$QUERN_CC -std=c99" "$QUERN_CC -std=c11" ${cxx:+"$cxx -std=c++11"}; do
		case $how in *++*) file=alone.cc ;; *) file=alone.c ;; esac
		# shellcheck disable=SC2086 # flags are words
		$how $warnings -I"$root/include" -fsyntax-only "$tmp/$file" >"$tmp/log" 2>&1 || {
			echo "$name with $how"
			head -n 3 "$tmp/log"
		} >>"$tmp/bad"
	done
done
is_empty "$tmp/bad" "each of $(ls "$root/include/quern" | wc -l) headers compiles alone, as C99, C11 and C++11"
for header in quern context model samples compile emit graph patterns calibrate measure host_ops fixed; do
	[ -e "$root/include/quern/$header.h" ] || echo "$header.h"
done >"$tmp/bad"
is_empty "$tmp/bad" "all of them are installed"

# ---- the shared library ----

cat "$root"/include/quern/*.h | tr '\n' ' ' | grep -oE 'QN_API [^;(]*[ *]qn_[a-z0-9_]+ *\(' | sed 's/ *($//; s/.*[ *]//' |
	sort -u >"$tmp/declared"
if has nm && has readelf; then
	# Sanitizers mark what they watch with symbols of their own.
	nm -D --defined-only "$lib/libquern.so" | awk '{print $3}' | grep -v -e '^__odr_asan' -e '^__asan_' | sort -u >"$tmp/exported"
	comm -13 "$tmp/declared" "$tmp/exported" >"$tmp/bad"
	is_empty "$tmp/bad" "the shared library exports only what the headers declare ($(wc -l <"$tmp/exported") functions)"
	comm -23 "$tmp/declared" "$tmp/exported" >"$tmp/bad"
	is_empty "$tmp/bad" "… and all of it"
	grep -v '^qn_' "$tmp/exported" >"$tmp/bad"
	is_empty "$tmp/bad" "all names begin with qn_"
	version=$(sed -n 's/^Version: //p' "$pc")
	want=libquern.so.${version%.*}
	readelf -d "$lib/libquern.so" | sed -n 's/.*SONAME.*\[\(.*\)\].*/\1/p' >"$tmp/soname"
	if [ "$(cat "$tmp/soname")" = "$want" ] && [ -e "$lib/$want" ] && [ -e "$lib/libquern.so.$version" ]; then
		ok "its name is $want, of version $version"
	else
		failed "SONAME is '$(cat "$tmp/soname")', not $want"
	fi
	for file in "$lib/libquern.so" "$root/bin/quern"; do
		readelf -d "$file" | grep -E 'R(UN)?PATH' | sed "s|^|$(basename "$file")|"
	done >"$tmp/bad"
	is_empty "$tmp/bad" "no library or program searches a fixed folder"
else
	skip "the shared library: no nm or readelf"
fi

# ---- the tree ----

# Debug information and sanitizers keep the folders of the sources on purpose; then only texts are looked at.
texts=
if [ -n "$QUERN_CFLAGS" ] || { has readelf && readelf -S "$lib/libquern.so" | grep -q '\.debug_info'; }; then
	texts=-I
	skip "folders in programs and libraries: this build keeps them for debugging"
fi
grep -r -l $texts -F -e "$QUERN_SOURCE" -e "$QUERN_BUILD" -e "$tmp" "$root" >"$tmp/bad"
is_empty "$tmp/bad" "no file holds a folder of the machine that built it"

# Structs that hosts fill and that may grow say their size first (policy at the top of quern.h).
awk '/^(typedef )?struct qn_[a-z_]*(_opts|_options|_config|_desc) \{/ {sub(/^typedef /, ""); name = $2; getline; if ($0 !~ /size_t size;/) print name}' \
	"$root"/include/quern/*.h >"$tmp/bad"
is_empty "$tmp/bad" "every struct of options begins with its size"
finish
