/* SPDX-License-Identifier: Apache-2.0 */
/* wav.h - RIFF/WAVE audio: PCM of 8, 16, 24 or 32 bits, or 32-bit float.
 *
 *   "RIFF" size "WAVE"  "fmt " 16 {tag channels rate bytes/s align bits}  "data" size {frames}
 *
 * PCM becomes a value from -1 up to 1: (sample - 128) / 128 of 8 bits, sample / 2^(bits - 1)
 * of more. */
#ifndef QN_FORMATS_WAV_H
#define QN_FORMATS_WAV_H

#include "ir/env.h"

typedef struct qn_wav {
	int64_t frames, channels;
	uint32_t rate; /* frames a second */
	uint32_t bits;
	bool is_float;
	const unsigned char *data; /* the frames, channels side by side */
} qn_wav;

/* A view of the bytes.  Ids: wav.format (no such file, or a coding that is not known),
 * wav.truncated. */
qn_status qn_wav_parse(qn_env *env, const char *place, const char *data, size_t n,
		       qn_wav *out) QN_MUST_CHECK;

/* All values; planar: channel by channel, else frame by frame. */
void qn_wav_read(const qn_wav *w, bool planar, float *dst);

#endif
