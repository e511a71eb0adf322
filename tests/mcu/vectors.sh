#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vectors.sh BUILD - kernels over vectors give with a processor's instructions what they give with the definitions in C: those of MVE under
# QEMU (gcc at -O2 and -O0, clang), those of NEON, without and with dot products, under QEMU (gcc at -O0, -O2 and -O3), those of AVX2 and
# AVX-512 VNNI on a host that has them.
set -u
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
work=$build/mcu-vectors
mkdir -p "$work"
ran=0 result=0

# What a program that rounds once says.
once=-DQN_ROUNDING=1

# both COMPILER FLAGS: the two forms of vectors_run.c, and vectors.c.
both() {
	for name in native portable; do
		define=""
		[ $name = portable ] && define=-DQN_PORTABLE
		# shellcheck disable=SC2086
		$1 $2 $define -DRUN=run_$name -std=c11 -Wall -Wextra -Werror -I"$source" -I"$build" -c "$source/tests/mcu/vectors_run.c" -o "$work/$name.o" || return 1
	done
}

# says TEXT DEFINITIONS: whether a run said that all went well, with these definitions.
says() {
	ran=$((ran + 1))
	printf '%s: %s\n' "$3" "$1"
	case $1 in "ok, "*"definitions $2") ;; *) result=1 ;; esac
}

board() {
	out=$work/board.elf
	cpu="-mcpu=cortex-m55 -mthumb -mfloat-abi=hard"
	both "$1" "$cpu $2" || { result=1 && return; }
	# shellcheck disable=SC2086
	arm-none-eabi-gcc $cpu -O2 -std=gnu11 -DMCU_FLOATS -DMCU_LOOPS -I"$source" -I"$build" -nostartfiles -Wl,--gc-sections -L"$source/bench/mcu" \
		-T mps3.ld "$source/bench/mcu/start_arm.c" "$source/tests/mcu/vectors.c" "$work/native.o" "$work/portable.o" -o "$out" || { result=1 && return; }
	says "$(timeout 300 qemu-system-arm -M mps3-an547 -nographic -monitor none -serial stdio -semihosting-config enable=on,target=native -kernel "$out" 2>&1 </dev/null)" \
		10 "MVE, $1 $2"
}

if command -v arm-none-eabi-gcc >/dev/null && command -v qemu-system-arm >/dev/null; then
	for level in -O2 -O0 "-O2 $once"; do
		board arm-none-eabi-gcc "$level"
	done
	include=$(arm-none-eabi-gcc -print-sysroot)/include
	[ -d "$include" ] || include=/usr/include/newlib
	if command -v clang >/dev/null && clang --print-targets | grep -q '^ *thumb '; then
		board "clang --target=arm-none-eabi -isystem $include" -O2
	fi
fi

# arm DEFINITIONS FLAGS: with the instructions of aarch64 that these flags allow.
arm() {
	out=$work/aarch64
	rm -f "$out"
	both aarch64-linux-gnu-gcc "$2" &&
		aarch64-linux-gnu-gcc -O2 -static -std=c11 -DJOBS_HOST -I"$source" -I"$build" "$source/tests/mcu/vectors.c" "$work/native.o" "$work/portable.o" -o "$out"
	says "$(timeout 300 qemu-aarch64 -cpu max "$out" 2>&1)" "$1" "NEON, $2"
}

if command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null; then
	for level in -O0 -O2 -O3 "-O2 $once"; do
		arm 30 "$level"
		arm 31 "$level -march=armv8.2-a+dotprod"
	done
fi

# host FEATURE DEFINITIONS FLAGS: with the instructions of this processor, where it has them.
host() {
	grep -qw "$1" /proc/cpuinfo 2>/dev/null || return
	for compiler in gcc clang; do
		command -v $compiler >/dev/null || continue
		for level in -O2 "-O2 $once"; do
			# shellcheck disable=SC2086
			both $compiler "$level $3" &&
				$compiler -O2 $3 -std=c11 -DJOBS_HOST -I"$source" -I"$build" "$source/tests/mcu/vectors.c" "$work/native.o" "$work/portable.o" -o "$work/host"
			says "$("$work/host")" "$2" "$1, $compiler $level"
		done
	done
}

rm -f "$work/host"
host avx2 20 -mavx2
host avx512_vnni 21 "-mavx2 -mavx512f -mavx512vnni"
[ $ran -gt 0 ] || [ $result -ne 0 ] || exit 77
exit $result
