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

# fresh FOLDER: an empty folder for the results of both models.
fresh() {
	rm -rf "$1"
	mkdir -p "$1"
}

# compile FOLDER PROGRAM…: both models by a quern.
compile() {
	out=$1
	shift
	fresh "$out"
	"$@" compile "$digits/digits.json" --calib "$digits/calib.npy" -q -o "$out/digits" >"$tmp/log" 2>&1 &&
		"$@" compile "$proof/subnormal.qir" --calib "$digits/calib.npy" -q -o "$out/subnormal" >>"$tmp/log" 2>&1 && return
	failed "$*: does not compile the models"
	cat "$tmp/log"
}

# same WHAT [MODEL…]: the files in out are those of the first compilation, all of them.
same() {
	what=$1
	shift
	for model in ${1:-digits subnormal}; do
		if diff -r "$tmp/first/$model" "$tmp/out/$model" >"$tmp/diff" 2>&1; then
			ok "$what: $model, $(ls "$tmp/out/$model" | wc -l) files equal"
		else
			failed "$what: $model differs"
			head -n 10 "$tmp/diff"
		fi
	done
}

compile "$tmp/first" "$QUERN_BIN"
[ "$failures" = 0 ] || finish
compile "$tmp/out" "$QUERN_BIN"
same "again"

# From a copy in another folder, by relative paths.
mkdir -p "$tmp/another folder/deeper"
cp "$digits/digits.json" "$digits/digits.safetensors" "$digits/calib.npy" "$proof/subnormal.qir" "$tmp/another folder"
fresh "$tmp/out"
(
	cd "$tmp/another folder/deeper" || exit 1
	export TZ=Asia/Tokyo
	"$QUERN_BIN" compile ../digits.json --calib ../calib.npy -q -o ../../out/digits &&
		"$QUERN_BIN" compile ../subnormal.qir --calib ../calib.npy -q -o ../../out/subnormal
) >"$tmp/log" 2>&1 || cat "$tmp/log"
same "another folder, relative paths, another time zone"

# A private locale with a decimal comma.
comma=
if has localedef && [ -e /usr/share/i18n/locales/de_DE ]; then
	mkdir "$tmp/locale"
	localedef -i de_DE -f UTF-8 "$tmp/locale/de_DE.UTF-8" >/dev/null 2>&1
	[ -d "$tmp/locale/de_DE.UTF-8" ] && comma=yes
fi
if [ "$comma" = yes ]; then
	compile "$tmp/out" env LOCPATH="$tmp/locale" LC_ALL=de_DE.UTF-8 "$QUERN_BIN"
	same "LC_ALL=de_DE.UTF-8"
else
	skip "decimal comma: no localedef, or no source of the locale de_DE"
fi

# A host with unfriendly surroundings; with the comma where there is one.
host() {
	fresh "$tmp/out"
	LOCPATH="$tmp/locale" LC_ALL=${comma:+de_DE.UTF-8} "$QUERN_FTZ_HOST" "$1" "$digits/calib.npy" "$tmp/out/$2" >"$tmp/log" 2>&1
	status=$?
	if [ $status = 77 ]; then
		skip "flushed subnormals: $(cat "$tmp/log")"
	elif [ $status != 0 ]; then
		failed "host: $2: exit status $status: $(cat "$tmp/log")"
	elif [ "$comma" = yes ] && ! grep -q "decimal point ','" "$tmp/log"; then
		failed "the host does not see the decimal comma: $(cat "$tmp/log")"
	else
		same "host: $(cat "$tmp/log")" "$2"
	fi
}
host "$digits/digits.json" digits
host "$proof/subnormal.qir" subnormal

# imported FOLDER QUERN: the graphs of ONNX and TFLite files, and graphs as ONNX files.
imported() {
	fresh "$1"
	for f in "$QUERN_SOURCE"/tests/fuzz/corpus/onnx/*.onnx "$QUERN_SOURCE"/tests/fuzz/corpus/tflite/*.tflite; do
		"$2" opt "$f" -o "$1/$(basename "$f").qir" >"$tmp/log" 2>&1 # some are refused
	done
	for f in "$QUERN_SOURCE"/tests/export/*.qir; do
		"$2" export "$f" -o "$1/$(basename "$f" .qir).onnx" >"$tmp/log" 2>&1
	done
}

# build NAME CMAKE-OPTIONS…: a quern of its own.
build() {
	name=$1
	shift
	if cmake -S "$QUERN_SOURCE" -B "$tmp/build" -G "${QUERN_GENERATOR:-Unix Makefiles}" -DQUERN_TESTS=OFF "$@" >"$tmp/log" 2>&1 &&
		cmake --build "$tmp/build" -j "$(nproc)" --target quern >"$tmp/log" 2>&1; then
		compile "$tmp/out" "$tmp/build/quern"
		same "built by $name"
		imported "$tmp/imported" "$tmp/build/quern"
		diff -rq "$tmp/imported-here" "$tmp/imported" >"$tmp/bad"
		is_empty "$tmp/bad" "built by $name: the same $(find "$tmp/imported" -type f | wc -l) files of graphs that are read and written"
	else
		failed "built by $name: quern does not build"
		tail -n 20 "$tmp/log"
	fi
	rm -rf "$tmp/build"
}
if [ "$QUERN_FULL" = 1 ]; then
	imported "$tmp/imported-here" "$QUERN_BIN"
	for each in "gcc -O0" "gcc -O3" "clang -O3"; do
		if has "${each% *}"; then
			build "$each" "-DCMAKE_C_COMPILER=${each% *}" "-DQUERN_OPTIMIZE=${each#* }"
		else
			skip "built by $each: no ${each% *}"
		fi
	done
else
	skip "other compilers and optimization levels: only with QUERN_FULL=1"
fi
finish
