# SPDX-License-Identifier: Apache-2.0
# machine.cmake - builds for another machine with Debian's cross compiler and libraries; its programs run under qemu.
#
#   scripts/setup full
#   cmake -S . -B build/s390x -G Ninja -DCMAKE_TOOLCHAIN_FILE=scripts/machine.cmake -DQUERN_MACHINE=s390x
#
# QUERN_MACHINE: aarch64 (little-endian, NEON) or s390x (big-endian).  QUERN_NATIVE: a quern of this machine, whose output
# tests/proof/machine.sh compares.
set(QUERN_MACHINE aarch64 CACHE STRING "The machine that programs are built for")
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES QUERN_MACHINE)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${QUERN_MACHINE})
set(CMAKE_C_COMPILER ${QUERN_MACHINE}-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE ${QUERN_MACHINE}-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${QUERN_MACHINE})
