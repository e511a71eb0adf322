#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# avr.sh BUILD - C for --target avr on simavr's cores: digits, with each step's bytes, on a device of 64 KB of flash (__flash) and on larger
# ones (__memx), also with constants on both sides of 64 KB; the cycles of one inference; graphs of the end-to-end tests.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
build=$1
work=$build/mcu-avr
result=0
command -v avr-gcc >/dev/null && [ -f /usr/include/simavr/sim_avr.h ] || { echo "skipped: gcc-avr, avr-libc or libsimavr-dev is not there" && exit 77; }
rm -rf "$work" && mkdir -p "$work"
${CC:-cc} -O2 -o "$work/simavr-run" "$root/bench/mcu/simavr.c" -lsimavr || exit 1

# firmware OUT DEVICE OPTION… FILE…
firmware() {
	out=$1 device=$2
	shift 2
	avr-gcc -std=gnu99 -mmcu="$device" -Wall -Wextra -Wconversion -Wshadow -Werror -I"$work/digits" -I"$root" "$@" "$root/bench/mcu/start_avr.c" \
		-Wl,--wrap=main -o "$out"
}

# passes TEXT COMMAND…: whether it prints that the self-test passes.
passes() {
	text=$1
	shift
	printed=$("$@" 2>&1)
	echo "$text: $printed"
	case $printed in "digits: self-test passed"*) ;; *) result=1 ;; esac
}

"$build/quern" compile -q "$root/examples/digits/digits.json" --calib "$root/examples/digits/calib.npy" --target avr -o "$work/digits" >/dev/null || exit 1
cat >"$work/filler.c" <<'C'
#include <stdint.h>
const __memx uint8_t filler_a[32000] = {1}, filler_b[27000] = {1};
C
digits="$work/digits/digits.c $work/digits/digits_weights.c"
test="-DDIGITS_TRACE -DDIGITS_SELFTEST_MAIN $work/digits/digits_selftest.c"
far="-Wl,--defsym=__stack=0xffff -Wl,--defsym=__DATA_REGION_LENGTH__=0xfd00"
for level in -O2 -Os; do
	for device in atmega644p atmega1284p atmega2560; do
		# shellcheck disable=SC2086
		firmware "$work/test.elf" $device $level $test $digits $far || { result=1 && continue; }
		passes "$device $level" "$work/simavr-run" --ram $device "$work/test.elf"
	done
done
# shellcheck disable=SC2086
firmware "$work/far.elf" atmega2560 -O2 $test "$work/filler.c" $digits $far || result=1
avr-nm "$work/far.elf" | awk '$3 == "digits_conv2_w" { low = $1 } $3 == "digits_pw_acc_shift" { high = $1 } END { exit !(low < "00010000" && high > "00010000") }' ||
	{ echo "the constants do not lie on both sides of 64 KB" && result=1; }
passes "atmega2560, above 64 KB" "$work/simavr-run" --ram atmega2560 "$work/far.elf"

# One inference on a device as it is: 16 KB of RAM.
for rom in "" -DQN_ROM=__flash; do
	for level in -O2 -Os; do
		# shellcheck disable=SC2086
		firmware "$work/run.elf" atmega1284p $level $rom -Wno-unused-function "$here/avr_digits.c" $digits || { result=1 && continue; }
		printed=$("$work/simavr-run" --cycles atmega1284p "$work/run.elf") || { echo "wrong bytes" && result=1; }
		echo "atmega1284p $level $rom: $printed, $(avr-size "$work/run.elf" | awk 'NR == 2 { print "flash " $1 + $2 ", RAM " $2 + $3 }')"
	done
done

# Graphs of single ops: 16-bit int finds faults that no other core does.
for pair in ops:atmega2560 view:atmega644p; do
	test=${pair%:*} device=${pair#*:}
	AVR_DEVICE=$device QUERN_SOURCE=$root QUERN_BIN=$build/quern QUERN_TARGET=avr QUERN_TARGET_CC=$here/avr-cc QUERN_TARGET_RUN="$work/simavr-run --ram $device" \
		"$build/tests/e2e-$test" >"$work/e2e-$test.log" 2>&1 && echo "e2e-$test, $device: passed" || { cat "$work/e2e-$test.log" && result=1; }
done
exit $result
