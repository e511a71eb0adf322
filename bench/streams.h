/* SPDX-License-Identifier: Apache-2.0 */
/* streams.h - how fast operators are that move more than they compute, beside memcpy.
 *
 *   op              64 KiB   ratio     16 MiB   ratio       GB/s read and written, memcpy of as much
 *   relu             120.1    0.97       11.2    0.99 */
#ifndef BENCH_STREAMS_H
#define BENCH_STREAMS_H

#include "bench/rig.h"

/* Prints the table. */
void time_streams(void);

#endif
