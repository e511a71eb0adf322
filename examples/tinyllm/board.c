/* SPDX-License-Identifier: MIT-0 */
/*
 * board.c - tells a story on Arm's board MPS2 with a Cortex-M4 (QEMU: mps2-an386), over its serial line.
 *
 * The end is told to the emulator by semihosting; without it the processor stops there.
 */
#include <stdint.h>

#include "story.h"

extern uint32_t stack_top[], data_load[], data_begin[], data_end[], bss_begin[], bss_end[];
void reset(void);

/* The first serial line of the board: an APB UART of Arm's CMSDK. */
typedef struct uart {
	volatile uint32_t data, state, control, interrupt, divider;
} uart;

#define UART0 ((uart *)0x40004000u)
enum { WRITE_FULL = 1, WRITE_ON = 1 };

static void
say(const char *text, int32_t n)
{
	int32_t i;

	for (i = 0; i < n; i++) {
		while ((UART0->state & WRITE_FULL) != 0)
			;
		UART0->data = (uint8_t)text[i];
	}
}

/* SYS_EXIT with ADP_Stopped_ApplicationExit. */
static void
end(void)
{
	register uint32_t r0 __asm__("r0") = 0x18;
	register uint32_t r1 __asm__("r1") = 0x20026;

	__asm__ volatile("bkpt 0xab" : : "r"(r0), "r"(r1) : "memory");
	for (;;)
		;
}

void
reset(void)
{
	static const char prompt[] = PROMPT;
	const uint32_t *from = data_load;
	uint32_t *to;

	for (to = data_begin; to < data_end; to++)
		*to = *from++;
	for (to = bss_begin; to < bss_end; to++)
		*to = 0;
	UART0->divider = 16;
	UART0->control = WRITE_ON;
	(void)tell(prompt, (int32_t)sizeof prompt - 1, TOKENS, 0, 1, say);
	end();
}

/* The stack's top, the reset handler. */
__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
	stack_top, (const void *)reset};
