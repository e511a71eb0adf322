/* SPDX-License-Identifier: Apache-2.0 */
/* start_arm.c - from reset to main on the Cortex-M boards that QEMU has, and semihosting.
 *
 * The vector table stands at address 0; the first word is the stack's top, the second the reset
 * handler.  Faults end the program with exit code 2. */
#include "bench/mcu/board.h"

extern uint32_t mcu_stack_top[], mcu_data_load[], mcu_data[], mcu_data_end[], mcu_bss[],
	mcu_bss_end[];
void mcu_reset(void);
void mcu_fault(void);

/* Of the system control block (ARMv7-M and ARMv8-M architecture manuals). */
#define CCR (*(volatile uint32_t *)0xE000ED14u)
#define CPACR (*(volatile uint32_t *)0xE000ED88u)
enum { CCR_UNALIGN_TRP = 1 << 3, CCR_LOB = 1 << 19 };

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
	mcu_stack_top,           (const void *)mcu_reset, (const void *)mcu_fault,
	(const void *)mcu_fault, (const void *)mcu_fault, (const void *)mcu_fault,
	(const void *)mcu_fault,
};

static uint32_t
semihost(uint32_t operation, const void *argument)
{
	register uint32_t r0 __asm__("r0") = operation;
	register const void *r1 __asm__("r1") = argument;

	__asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
	return r0;
}

void
mcu_print(const char *text)
{
	(void)semihost(0x04, text); /* SYS_WRITE0 */
}

void
mcu_exit(uint32_t code)
{
	const uint32_t block[2] = {0x20026, code}; /* ADP_Stopped_ApplicationExit */

	(void)semihost(0x20, block); /* SYS_EXIT_EXTENDED */
	for (;;)
		;
}

void
mcu_fault(void)
{
	mcu_print("fault\n");
	mcu_exit(2);
}

void
mcu_reset(void)
{
	const uint32_t *from = mcu_data_load;

#if defined(MCU_FLOATS) /* coprocessors 10 and 11: floating point, and MVE */
	CPACR |= 0xFu << 20;
	__asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
#if defined(MCU_LOOPS)
	CCR |= CCR_LOB;
#endif
#if defined(MCU_TRAP_UNALIGNED)
	CCR |= CCR_UNALIGN_TRP;
#endif
	for (uint32_t *to = mcu_data; to < mcu_data_end; to++)
		*to = *from++;
	for (uint32_t *to = mcu_bss; to < mcu_bss_end; to++)
		*to = 0;
	mcu_exit((uint32_t)mcu_main());
}
