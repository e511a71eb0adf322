#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# constants.sh - constants of bytes as words: the same results, in C99 and C++11, turned round where the first byte is the highest one.
. "$(dirname "$0")/common.inc"
E=$QUERN_SOURCE/examples/digits
D="$E/digits.json --calib $E/calib.npy -q"

good default compile $D -o default
good auto compile $D --constants auto -o auto
good numbers compile $D --constants numbers -o numbers
same auto default auto
same numbers default numbers
good words compile $D --constants words -o words
usage unknown "--constants|'word'|auto, numbers or words" compile $D --constants word -o out
has_words words words/digits_weights.c 'const uint64_t digits_conv2_w[576] = {|QN_W(0x|const int32_t digits_conv2_acc_mult[32] = {'
has_words names words/digits.c '#define digits_conv2_w ((const int8_t *)digits_conv2_w)|extern DIGITS_WEIGHTS_ATTR const uint64_t digits_conv1_w[18];'
has_words self-test words/digits_selftest.c 'const uint64_t digits_conv1_w_'

for compiler in "cc -std=c99 -fsanitize=address,undefined" "c++ -std=c++11 -x c++" "clang -std=c99"; do
	command -v "${compiler%% *}" >/dev/null || continue
	for trace in "" -DDIGITS_TRACE; do
		cases=$((cases + 1))
		$compiler -O2 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Werror $trace -DDIGITS_SELFTEST_MAIN words/*.c -o selftest 2>stderr &&
			./selftest >stdout || fail "$compiler" "its self-test fails" stderr
	done
done
# A file of the other form does not link: the content differs.
cases=$((cases + 1))
! cc -DDIGITS_SELFTEST_MAIN words/digits.c words/digits_selftest.c numbers/digits_weights.c -Iwords -o mixed 2>stderr || fail mixed "files of two forms link"

# The words of a machine whose first byte is the highest one are those of the others turned round; others must say which they are.
cat >bytes.c <<'C'
#include "words/digits_weights.c"
#include <stdio.h>
int main(void) { return fwrite(digits_conv2_w, sizeof digits_conv2_w, 1, stdout) != 1; }
C
for big in 0 1; do
	cc -std=c99 -Iwords -DQN_BIG_ENDIAN=$big bytes.c -o bytes && ./bytes >bytes-$big
done
cases=$((cases + 1))
[ "$(wc -c <bytes-0)" = 4608 ] && od -v -An -t x1 -w8 bytes-0 >little &&
	od -v -An -t x1 -w8 bytes-1 | awk '{ for (i = 8; i > 0; i--) printf " %s", $i; print "" }' >big
cmp -s little big || fail big "a word is not turned round"
cases=$((cases + 1))
! cc -std=c99 -U__BYTE_ORDER__ -c words/digits_weights.c -o unknown.o 2>stderr || fail unknown "the order of bytes is guessed"
has_words order stderr 'QN_BIG_ENDIAN|--constants numbers'

# The linker puts single constants elsewhere: the script of docs/emitted-code.md, without a memory of a board.
if cc -Wl,--version 2>/dev/null | grep -q 'GNU ld' && command -v objdump >/dev/null; then
	sed -n '/^SECTIONS$/,/^INSERT /p' "$QUERN_SOURCE/docs/emitted-code.md" | sed 's/ > EXTFLASH//' >some.ld
	cases=$((cases + 1))
	cc -std=c99 -fdata-sections -DDIGITS_SELFTEST_MAIN default/*.c -T some.ld -o some 2>stderr && ./some >stdout ||
		fail some 'its self-test fails' stderr
	moved=$(objdump -t some | sed -n 's/.*[[:space:]]\.extflash[[:space:]].* \(digits_.*\)/\1/p' | sort | tr '\n' ' ')
	[ "$moved" = 'digits_conv2_w digits_dense_w ' ] || fail some "in .extflash: $moved" some.ld
else
	echo "skipped: the linker is not GNU ld; no constant was put elsewhere"
fi

finish
