#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# random.sh BUILD - random integer graphs, random networks with random recipes, layers with weights in blocks and values with a scale for each channel, emitted for Cortex-M4 and M55,
# under QEMU: the bytes of the interpreter.  QUERN_FULL=1: more graphs.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$1
work=$build/mcu-random
result=0
command -v arm-none-eabi-gcc >/dev/null && command -v qemu-system-arm >/dev/null || { echo "skipped: arm-none-eabi-gcc or qemu-system-arm is missing" && exit 77; }
mkdir -p "$work"
seeds=1001-1024
[ "${QUERN_FULL:-0}" != 1 ] || seeds=1001-1300

for core in cortex-m4 cortex-m55; do
	for test in random recipes blocks channels; do
		QUERN_SEED=$seeds ARM_CORE=$core QUERN_TARGET=$core QUERN_TARGET_CC=$here/arm-cc QUERN_TARGET_RUN=$here/arm-run \
			"$build/tests/e2e-$test" >"$work/$test.log" 2>&1 && echo "e2e-$test, $core: passed" || { cat "$work/$test.log" && result=1; }
	done
done
exit $result
