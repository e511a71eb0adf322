/* SPDX-License-Identifier: Apache-2.0 */
/* arm_main.c - what a program with main and printf needs of its board (bench/mcu/start_arm.c): newlib's calls. */
#include <stddef.h>

#include "bench/mcu/board.h"

enum { HEAP = 65536, LINE = 256 };

int main(void);
int _write(int file, const char *text, int n);
void *_sbrk(ptrdiff_t n);

int
mcu_main(void)
{
	return main();
}

int
_write(int file, const char *text, int n)
{
	char line[LINE];
	int i, k;

	(void)file;
	for (i = 0; i < n; i += k) {
		for (k = 0; k < LINE - 1 && i + k < n; k++)
			line[k] = text[i + k];
		line[k] = '\0';
		mcu_print(line);
	}
	return n;
}

void *
_sbrk(ptrdiff_t n)
{
	static _Alignas(8) char heap[HEAP];
	static ptrdiff_t used;

	if (n > HEAP - used)
		return (void *)-1; /* as newlib has it */
	used += n;
	return heap + used - n;
}
