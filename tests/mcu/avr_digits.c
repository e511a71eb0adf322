/* SPDX-License-Identifier: Apache-2.0 */
/* avr_digits.c - one inference of examples/digits on an AVR, whose cycles bench/mcu/simavr.c counts, with
 * the first sample of its self-test. */
#include "digits_selftest.c"

void mcu_begin(void);
void mcu_end(void);

int
main(void)
{
	uint8_t *s = scratch + (DIGITS_SCRATCH_ALIGN - (uintptr_t)scratch % DIGITS_SCRATCH_ALIGN);
	const digits_inputs in = {ram_image};
	digits_outputs out = {got_probs};

	load(ram_image, in_image[0], sizeof(ram_image));
	mcu_begin();
	digits_run(s, &in, &out);
	mcu_end();
	return bad_output(0) == 1 ? 0 : 1;
}
