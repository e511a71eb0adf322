#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# determinism.sh - the same model, samples and options give the same bytes: from another folder, by other paths, under a
# locale with a decimal comma, in a host that flushes subnormals and rounds upwards, and (full tier) from a quern that
# another compiler or optimization level built.  The models: the digits, and one whose numbers are subnormal.
#
#   QUERN_FTZ_HOST  the program of ftz_host.c
set -u
. "$(dirname "$0")/check.sh"
: "${QUERN_BIN:?names the program quern}" "${QUERN_FTZ_HOST:?names the program of ftz_host.c}"
digits=$QUERN_SOURCE/examples/digits
proof=$QUERN_SOURCE/tests/proof

# same NAME WHAT: NAME's files are those of the first build, all of them.
same() {
	if diff -r "$tmp/first/$1" "$tmp/out/$1" >"$tmp/diff" 2>&1; then
		ok "$2: $1, $(ls "$tmp/out/$1" | wc -l) files equal"
	else
		failed "$2: $1 differs"
		head -n 10 "$tmp/diff"
	fi
	rm -rf "$tmp/out"
}

# compile OUT PROGRAM…: both models by a quern.
compile() {
	out=$1
	shift
	"$@" compile "$digits/digits.json" --calib "$digits/calib.npy" -q -o "$out/digits" >"$tmp/log" 2>&1 &&
		"$@" compile "$proof/subnormal.qir" --calib "$digits/calib.npy" -q -o "$out/subnormal" >>"$tmp/log" 2>&1 && return
	failed "$*: does not compile the models"
	cat "$tmp/log"
}

both() {
	same digits "$1"
	mkdir -p "$tmp/out"
	same subnormal "$1"
}

compile "$tmp/first" "$QUERN_BIN"
[ "$failures" = 0 ] || finish

compile "$tmp/out" "$QUERN_BIN"
mv "$tmp/out" "$tmp/kept"
cp -r "$tmp/kept" "$tmp/out"
same digits "again"
cp -r "$tmp/kept" "$tmp/out"
same subnormal "again"

# From a copy in another folder, by relative paths.
mkdir -p "$tmp/another folder/deeper"
cp "$digits/digits.json" "$digits/digits.safetensors" "$digits/calib.npy" "$proof/subnormal.qir" "$tmp/another folder"
(
	cd "$tmp/another folder/deeper" || exit 1
	TZ=Asia/Tokyo "$QUERN_BIN" compile ../digits.json --calib ../calib.npy -q -o ../../out/digits &&
		TZ=Asia/Tokyo "$QUERN_BIN" compile ../subnormal.qir --calib ../calib.npy -q -o ../../out/subnormal
) >"$tmp/log" 2>&1 || { failed "another folder"; cat "$tmp/log"; }
cp -r "$tmp/out" "$tmp/kept2"
same digits "another folder, relative paths, another time zone"
mv "$tmp/kept2" "$tmp/out"
same subnormal "another folder, relative paths, another time zone"

# A private locale with a decimal comma.
comma=
if has localedef && [ -e /usr/share/i18n/locales/de_DE ]; then
	mkdir "$tmp/locale"
	localedef -i de_DE -f UTF-8 "$tmp/locale/de_DE.UTF-8" >/dev/null 2>&1
	[ -d "$tmp/locale/de_DE.UTF-8" ] && comma=yes
fi
if [ "$comma" = yes ]; then
	compile "$tmp/out" env LOCPATH="$tmp/locale" LC_ALL=de_DE.UTF-8 "$QUERN_BIN"
	cp -r "$tmp/out" "$tmp/kept3"
	same digits "LC_ALL=de_DE.UTF-8"
	mv "$tmp/kept3" "$tmp/out"
	same subnormal "LC_ALL=de_DE.UTF-8"
else
	skip "decimal comma: no localedef, or no source of the locale de_DE"
fi

# A host with unfriendly surroundings; with the comma where there is one.
host() {
	LOCPATH="$tmp/locale" LC_ALL=${comma:+de_DE.UTF-8} "$QUERN_FTZ_HOST" "$1" "$digits/calib.npy" "$tmp/out/$2" >"$tmp/log" 2>&1
	status=$?
	if [ $status = 77 ]; then
		skip "flushed subnormals: $(cat "$tmp/log")"
		return
	fi
	if [ $status != 0 ]; then
		failed "host: $2: exit status $status: $(cat "$tmp/log")"
		return
	fi
	if [ "$comma" = yes ] && ! grep -q "decimal point ','" "$tmp/log"; then
		failed "the host does not see the decimal comma: $(cat "$tmp/log")"
	fi
	same "$2" "host: $(cat "$tmp/log")"
}
mkdir -p "$tmp/out"
host "$digits/digits.json" digits
mkdir -p "$tmp/out"
host "$proof/subnormal.qir" subnormal

# build NAME CMAKE-OPTIONS…: a quern of its own.
build() {
	name=$1
	shift
	if cmake -S "$QUERN_SOURCE" -B "$tmp/build" -G "${QUERN_GENERATOR:-Unix Makefiles}" -DQUERN_TESTS=OFF "$@" >"$tmp/log" 2>&1 &&
		cmake --build "$tmp/build" -j "$(nproc)" --target quern >"$tmp/log" 2>&1; then
		compile "$tmp/out" "$tmp/build/quern"
		cp -r "$tmp/out" "$tmp/kept4"
		same digits "built by $name"
		mv "$tmp/kept4" "$tmp/out"
		same subnormal "built by $name"
	else
		failed "built by $name: quern does not build"
		tail -n 20 "$tmp/log"
	fi
	rm -rf "$tmp/build"
}
if [ "$QUERN_FULL" = 1 ]; then
	for flags in -O0 -O3; do
		for compiler in gcc clang; do
			if has $compiler; then
				build "$compiler $flags" -DCMAKE_C_COMPILER=$compiler "-DCMAKE_C_FLAGS_RELEASE=$flags"
			else
				skip "built by $compiler $flags: no $compiler"
			fi
		done
	done
else
	skip "other compilers and optimization levels: only with QUERN_FULL=1"
fi
finish
