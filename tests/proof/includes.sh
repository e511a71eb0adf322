#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# includes.sh - each folder includes only what it may.
#
#   row: FOLDER, then the beginnings of the paths that its files may include besides the C library's headers
set -u
. "$(dirname "$0")/check.sh"
cd "$QUERN_SOURCE" || exit 1

# Headers of the C library, POSIX and the third-party libraries, by the files that may name them.
system_ok() {
	case $1 in
	cjson/cJSON.h) [ "$2" = formats ] ;;
	uthash.h) [ "$2" = ir ] ;;
	protobuf-c/protobuf-c.h | onnx/onnx.pb-c.h) [ "$2" = import ] ;;
	zip.h | utf8proc.h | stb/stb_image.h | dirent.h) [ "$2" = formats ] ;;
	assert.h | ctype.h | errno.h | fenv.h | float.h | limits.h | locale.h | math.h | setjmp.h | stdalign.h | \
		stdarg.h | stdbool.h | stddef.h | stdint.h | stdio.h | stdlib.h | string.h) [ "$2" != kernels ] || [ "$1" = stdint.h ] || [ "$1" = string.h ] ;;
	fcntl.h | unistd.h | sys/mman.h | sys/stat.h | sys/types.h | xlocale.h) [ "$2" = formats ] || { [ "$2" = ir ] && [ "$1" = xlocale.h ]; } ;;
	sanitizer/asan_interface.h | stdatomic.h) [ "$2" = ir ] ;;
	pthread.h) [ "$2" = runtime ] ;;
	arm_mve.h | arm_neon.h | immintrin.h) [ "$2" = kernels ] || [ "$2" = runtime ] ;; # of the compiler, for its target's vectors
	signal.h) [ "$2" = runtime ] || [ "$2" = formats ] ;;
	sys/file.h | time.h) [ "$2" = formats ] ;; # flock, nanosleep
	*) return 1 ;;
	esac
}

# Whether a quoted path begins with one of the words.
path_ok() {
	path=$1
	shift
	for may; do
		case $path in
		"$may"*) return 0 ;;
		esac
	done
	return 1
}

# check NAME FILES-PATTERN ALLOWED…
check() {
	name=$1 files=$2 count=0
	shift 2
	: >"$tmp/bad"
	for f in $files; do
		[ -e "$f" ] || continue
		count=$((count + 1))
		sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*\([<"][^>"]*\).*/\1/p' "$f" >"$tmp/list"
		while read -r line; do
			path=${line#?}
			case $line in
			"<"*) system_ok "$path" "$name" ;;
			*) path_ok "$path" "$@" ;;
			esac || echo "$f includes $path" >>"$tmp/bad"
		done <"$tmp/list"
	done
	[ "$count" -gt 0 ] || echo "no file matches $files" >>"$tmp/bad"
	is_empty "$tmp/bad" "$name: $count files include only the C library and: $*"
}

sources() {
	echo "$1/*.c $1/*.h"
}

check public "include/quern/*.h" quern/
check ir "$(sources ir) ir/*.def" ir/ quern/context.h quern/host_ops.h quern/layout.h
check formats "$(sources formats)" formats/ ir/
check lib "$(sources lib)" lib/ ir/
check import "$(sources import)" import/ ir/ formats/ lib/lib.h runtime/interp.h runtime/impls.h runtime/math.h \
	runtime/tflite_tables.h
check kernels "runtime/fixed.h.in runtime/kernels/*.h.in" ../fixed.h aligned.h bits2.h bits4.h conv2d.h conv_transpose.h dense.h dsp.h dsp_bits4.h dsp_channels.h dsp_columns.h dsp_conv.h dsp_dense.h dsp_tiles.h dsp_weight_blocks.h elementwise.h gather.h log_mel.h matmul.h matmul16.h matmul8.h move.h plain.h pool.h products.h products_blocks.h \
	scalar.h scalar_bits4.h softmax.h tokens.h vector.h vector16.h vector32.h vector_args.h vector_bits4.h vector_conv.h vector_dense.h vector_depthwise.h vector_depthwise3.h vector_dot16.h volume.h
check runtime "$(sources runtime)" runtime/ ir/ quern/kernels.h
check patterns "$(sources patterns)" patterns/ ir/ quern/patterns.h
check calibrate "$(sources calibrate)" quern/calibrate.h calibrate/ ir/ formats/ runtime/
check passes "$(sources passes)" passes/ ir/ runtime/ patterns/
check codegen "$(sources codegen)" codegen/ ir/ runtime/
check driver "$(sources driver)" quern/ driver/ ir/ formats/ lib/ import/ runtime/ patterns/ calibrate/ passes/ codegen/

# The program knows the library by its public headers alone.
: >"$tmp/bad"
for f in driver/program/*.[ch]; do
	sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$f" | while read -r path; do
		[ -e "include/$path" ] || [ -e "driver/program/$path" ] || echo "$f includes $path"
	done >>"$tmp/bad"
done
is_empty "$tmp/bad" "program: its files include only the public headers and their own"

# Every folder with C code has a row above.
for d in */; do
	case $d in
	bench/ | build*/ | docs/ | examples/ | include/ | scripts/ | tests/ | LICENSES/) continue ;;
	ir/ | formats/ | lib/ | import/ | runtime/ | patterns/ | calibrate/ | passes/ | codegen/ | driver/) continue ;;
	esac
	ls "$d"*.[ch] >/dev/null 2>&1 && failed "folder $d has no row in this script"
done
finish
