/* SPDX-License-Identifier: MIT-0 */
/*
 * board.c - an emitted program on Arm's board MPS2 with a Cortex-M4 (QEMU: mps2-an386), for quern validate:
 * samples come over the serial line, outputs go over it.
 *
 *   quern validate out --device 'examples/mps2/run out digits' --data test_x.npy
 *
 * NAME is the model's; what is said on the serial line before the greeting does not matter.
 */
#include <stdint.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

int JOIN(NAME, _device)(void);
int JOIN(NAME, _device_read)(void *to, uint32_t bytes);
int JOIN(NAME, _device_write)(const void *from, uint32_t bytes);

extern uint32_t stack_top[], data_load[], data_begin[], data_end[], bss_begin[], bss_end[];
void reset(void);

/* The first serial line of the board: an APB UART of Arm's CMSDK. */
typedef struct uart {
	volatile uint32_t data, state, control, interrupt, divider;
} uart;

#define UART0 ((uart *)0x40004000u)
enum { WRITE_FULL = 1, READ_FULL = 2, WRITE_ON = 1, READ_ON = 2 };

int
JOIN(NAME, _device_read)(void *to, uint32_t bytes)
{
	uint32_t i;

	for (i = 0; i < bytes; i++) {
		while ((UART0->state & READ_FULL) == 0)
			;
		((uint8_t *)to)[i] = (uint8_t)UART0->data;
	}
	return 0;
}

int
JOIN(NAME, _device_write)(const void *from, uint32_t bytes)
{
	uint32_t i;

	for (i = 0; i < bytes; i++) {
		while ((UART0->state & WRITE_FULL) != 0)
			;
		UART0->data = ((const uint8_t *)from)[i];
	}
	return 0;
}

void
reset(void)
{
	const uint32_t *from = data_load;
	uint32_t *to;

	for (to = data_begin; to < data_end; to++)
		*to = *from++;
	for (to = bss_begin; to < bss_end; to++)
		*to = 0;
	UART0->divider = 16;
	UART0->control = WRITE_ON | READ_ON;
	(void)JOIN(NAME, _device)();
	for (;;)
		;
}

/* The stack's top, the reset handler; a fault stops the processor, and the device is silent. */
__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
	stack_top, (const void *)reset};
