/* SPDX-License-Identifier: Apache-2.0 */
/* start_avr.c - a firmware for bench/mcu/simavr.c: what it prints goes to GPIOR0, what main returns to
 * GPIOR1, and GPIOR2 says when cycles are counted.  Link with -Wl,--wrap=main. */
#include <avr/io.h>
#include <stdio.h>

int __real_main(void);
int __wrap_main(void);
void mcu_begin(void);
void mcu_end(void);

static int
put(char c, FILE *file)
{
	(void)file;
	GPIOR0 = (uint8_t)c;
	return 0;
}

static FILE out = FDEV_SETUP_STREAM(put, NULL, _FDEV_SETUP_WRITE);

void
mcu_begin(void)
{
	GPIOR2 = 1;
}

void
mcu_end(void)
{
	GPIOR2 = 0;
}

int
__wrap_main(void)
{
	stdout = &out;
	GPIOR1 = (uint8_t)__real_main();
	for (;;)
		continue;
}
