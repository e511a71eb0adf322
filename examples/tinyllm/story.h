/* SPDX-License-Identifier: MIT-0 */
/* story.h - what the host and the board share (story.c). */
#ifndef STORY_TELL_H
#define STORY_TELL_H

#include <stdint.h>

/* Says n bytes of prompt, and goes on until `most` tokens in all, or the model ends.  temperature: in parts of 256, 0
 * says what is most likely; seed: of the random numbers.  Returns the number of tokens. */
int32_t tell(const char *prompt, int32_t n, int32_t most, int32_t temperature, uint64_t seed,
	     void (*say)(const char *text, int32_t n));

#endif
