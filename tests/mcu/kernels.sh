#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kernels.sh BUILD scalar|dsp - kernels give with a core's instructions what they give with the definitions in C, under QEMU; gcc at -O2, -Os and
# -O0, clang.  scalar: those for cores that multiply words, on Cortex-M0+ (word accesses that are not aligned trap), Cortex-M3 and RV32IMC; dsp:
# those over the DSP extension, on Cortex-M4 and M7.
set -u
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
kernels=$2
work=$build/mcu-$kernels
mkdir -p "$work"
ran=0 result=0

# What a program that rounds once says.
once=-DQN_ROUNDING=1

# board NAME COMPILER LINKER SET RUN: builds and runs; SET is what the program says that its instructions are.
board() {
	out=$work/board.elf
	for name in native portable; do
		define=""
		[ $name = portable ] && define=-DQN_PORTABLE
		# shellcheck disable=SC2086
		$2 $define -DRUN=run_$name -std=c11 -Wall -Wextra -Werror -I"$source" -I"$build" -c "$source/tests/mcu/${kernels}_run.c" -o "$work/$name.o" ||
			{ result=1 && return; }
	done
	# shellcheck disable=SC2086
	$3 -O2 -std=gnu11 -I"$source" -I"$build" -nostartfiles -Wl,--gc-sections -L"$source/bench/mcu" \
		"$source/tests/mcu/$kernels.c" "$work/native.o" "$work/portable.o" -o "$out" || { result=1 && return; }
	# shellcheck disable=SC2086
	text=$(timeout 300 $5 -nographic -monitor none -serial stdio -semihosting-config enable=on,target=native -kernel "$out" 2>&1 </dev/null)
	ran=$((ran + 1))
	printf '%s: %s\n' "$1" "$text"
	case $text in "ok, "*"definitions $4") ;; *) result=1 ;; esac
}

# arm CPU DEFINE SET BOARD
arm() {
	link="arm-none-eabi-gcc -mcpu=$1 -mthumb $2 -T mps2.ld $source/bench/mcu/start_arm.c"
	for level in -O2 -Os -O0 "-O2 $once"; do
		board "$1, gcc $level" "arm-none-eabi-gcc -mcpu=$1 -mthumb $level" "$link" "$3" "qemu-system-arm -M $4"
	done
	if command -v clang >/dev/null && clang --print-targets | grep -q '^ *thumb '; then
		include=$(arm-none-eabi-gcc -print-sysroot)/include
		[ -d "$include" ] || include=/usr/include/newlib
		board "$1, clang" "clang --target=arm-none-eabi -isystem $include -mcpu=$1 -mthumb -mfloat-abi=soft -O2" "$link" "$3" "qemu-system-arm -M $4"
	fi
}

if command -v arm-none-eabi-gcc >/dev/null && command -v qemu-system-arm >/dev/null; then
	case $kernels in
	scalar)
		arm cortex-m0plus -DMCU_TRAP_UNALIGNED 1 mps2-an385
		arm cortex-m3 "" 2 mps2-an385
		;;
	dsp)
		arm cortex-m4 "" 1 mps2-an386
		arm cortex-m7 "" 1 mps2-an500
		;;
	esac
fi
if [ "$kernels" = scalar ] && command -v riscv64-unknown-elf-gcc >/dev/null && command -v qemu-system-riscv32 >/dev/null; then
	for level in -O2 -Os -O0 "-O2 $once"; do
		compiler="riscv64-unknown-elf-gcc -march=rv32imc -mabi=ilp32 -mcmodel=medany --specs=picolibc.specs"
		board "rv32imc, gcc $level" "$compiler $level" "$compiler -T virt.ld $source/bench/mcu/start_riscv.c" 3 "qemu-system-riscv32 -M virt -bios none"
	done
fi
[ $ran -gt 0 ] || [ $result -ne 0 ] || exit 77
exit $result
