/* SPDX-License-Identifier: Apache-2.0 */
/* start_linux.c - the same for a program of Linux, which QEMU runs without a board. */
#include <stdio.h>

#include "bench/mcu/board.h"

void
mcu_print(const char *text)
{
	(void)fputs(text, stdout);
}

int
main(void)
{
	return mcu_main();
}
