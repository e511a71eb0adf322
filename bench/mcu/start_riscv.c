/* SPDX-License-Identifier: Apache-2.0 */
/* start_riscv.c - from reset to main on QEMU's board "virt" of RISC-V, its serial line and its
 * switch. */
#include "bench/mcu/board.h"

#define UART (*(volatile uint8_t *)0x10000000u)
#define SWITCH (*(volatile uint32_t *)0x00100000u)
enum { PASS = 0x5555, FAIL = 0x3333 };

__attribute__((section(".vectors"), naked, used)) void
mcu_reset(void)
{
	__asm__ volatile("la sp, mcu_stack_top\n\t"
			 "la t0, mcu_bss\n\t"
			 "la t1, mcu_bss_end\n"
			 "1:\tbgeu t0, t1, 2f\n\t"
			 "sw zero, 0(t0)\n\t"
			 "addi t0, t0, 4\n\t"
			 "j 1b\n"
			 "2:\tcall mcu_main\n\t"
			 "j mcu_exit");
}

void
mcu_print(const char *text)
{
	while (*text != '\0')
		UART = (uint8_t)*text++;
}

void
mcu_exit(uint32_t code)
{
	SWITCH = code == 0 ? PASS : code << 16 | FAIL;
	for (;;)
		;
}
