/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c - runs one network on a board: instructions between mcu_begin and mcu_end are counted
 * from outside (count.c), the result is compared with the expected bytes, and the stack that
 * net_run takes is found by painting it.
 *
 *   ok, stack 184
 *
 * case.h holds mcu_input and mcu_expected.  With MCU_STATE the network has a state, which is reset
 * before, and case.h MCU_STEPS runs, of which the last is counted.  With MCU_EMPTY the network does nothing: what its firmware has beyond this one is the
 * network's. */
#include "bench/mcu/board.h"
#if !defined(MCU_CALIBRATE)
#include "net.h"
#include "case.h"
#endif

#if !defined(MCU_STEPS)
#define MCU_STEPS 1
#endif

enum { PAINTED = 6144, PAINT = 0x5a };

__attribute__((noinline)) void mcu_begin(void);
__attribute__((noinline)) void mcu_end(void);

void
mcu_begin(void)
{
	__asm__ volatile("");
}

void
mcu_end(void)
{
	__asm__ volatile("");
}

#if defined(MCU_CALIBRATE)

/* Two instructions a turn, on every core. */
static void
measured(void)
{
	uint32_t turns = MCU_CALIBRATE;

#if defined(__riscv)
	__asm__ volatile("1:\taddi %0, %0, -1\n\tbnez %0, 1b" : "+r"(turns));
#elif defined(__aarch64__)
	__asm__ volatile("1:\tsubs %w0, %w0, #1\n\tb.ne 1b" : "+r"(turns) : : "cc");
#else
	__asm__ volatile(".syntax unified\n1:\tsubs %0, %0, #1\n\tbne 1b" : "+l"(turns) : : "cc");
#endif
}

static int
is_right(void)
{
	return 1;
}

#else

static _Alignas(16) uint8_t scratch[NET_SCRATCH_BYTES];
static _Alignas(16) uint8_t output[sizeof(mcu_expected) / MCU_STEPS];

#if defined(MCU_STATE)
static net_state state;
#define STATE_PARAMETER net_state *kept,
#define STATE &state,
#else
#define STATE_PARAMETER
#define STATE
#endif

#if defined(MCU_EMPTY)
/* The compiler does not look into it, so input and expected bytes stay. */
__attribute__((noipa)) void
net_run(STATE_PARAMETER void *s, const net_inputs *in, net_outputs *out)
{
#if defined(MCU_STATE)
	(void)kept;
#endif
	(void)s;
	(void)in;
	(void)out;
}
#endif

static uint32_t step = MCU_STEPS - 1;

static void
measured(void)
{
	net_inputs in = {
		(const void *)((const char *)mcu_input + step * (sizeof(mcu_input) / MCU_STEPS))};
	net_outputs out = {(void *)output};

	net_run(STATE scratch, &in, &out);
}

static int
is_right(void)
{
	const uint8_t *expected = (const uint8_t *)mcu_expected + step * sizeof(output);

	for (uint32_t i = 0; i < sizeof(output); i++)
		if (output[i] != expected[i])
			return 0;
	return 1;
}

#endif

static void
print_number(uint32_t v)
{
	char text[12];
	char *at = text + sizeof(text) - 1;

	*at = '\0';
	do {
		*--at = (char)('0' + v % 10);
		v /= 10;
	} while (v > 0);
	mcu_print(at);
}

/* Bytes below this frame that a call of `measured` changes. */
static __attribute__((noinline)) uint32_t
stack_of_call(void)
{
	volatile uint8_t *low, *here;

#if defined(__riscv)
	__asm__ volatile("mv %0, sp" : "=r"(here));
#else
	__asm__ volatile("mov %0, sp" : "=r"(here));
#endif
	low = here - PAINTED;
	for (uint32_t i = 0; i < PAINTED; i++)
		low[i] = PAINT;
	measured();
	uint32_t i = 0;
	while (i < PAINTED && low[i] == PAINT)
		i++;
	return PAINTED - i;
}

int
mcu_main(void)
{
#if !defined(MCU_CALIBRATE)
	__asm__ volatile("" : : "r"(mcu_input)); /* in the firmware with MCU_EMPTY too */
#endif
#if defined(MCU_STATE) && !defined(MCU_EMPTY)
	net_reset(&state);
	for (step = 0; step + 1 < MCU_STEPS; step++) {
		measured();
		if (!is_right()) {
			mcu_print("wrong bytes before the last run\n");
			return 1;
		}
	}
#endif
	mcu_begin();
	measured();
	mcu_end();
	if (!is_right()) {
		mcu_print("wrong bytes\n");
		return 1;
	}
	mcu_print("ok, stack ");
	print_number(stack_of_call());
	mcu_print("\n");
	return 0;
}
