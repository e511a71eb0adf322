/* SPDX-License-Identifier: Apache-2.0 */
/* board.h - what a program that is measured (measure.c) has from its board (start_*.c). */
#ifndef QN_BENCH_MCU_BOARD_H
#define QN_BENCH_MCU_BOARD_H

#include <stdint.h>

int mcu_main(void);

void mcu_print(const char *text);
void mcu_exit(uint32_t code);

#endif
