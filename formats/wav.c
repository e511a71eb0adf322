/* SPDX-License-Identifier: Apache-2.0 */
/* wav.c - see wav.h.  Chunks are walked in order; those other than "fmt " and "data" are
 * skipped. */
#include "formats/wav.h"

#include <string.h>

#include "ir/diag.h"

enum { TAG_PCM = 1, TAG_FLOAT = 3, TAG_EXTENSIBLE = 0xFFFE, MOST_CHANNELS = 256, FMT_BYTES = 16 };

/* Programs that write to a pipe do not know the length of the data and say one near 2^31 (sox, arecord) or 2^32 (ffmpeg). */
static const uint32_t open_length = 0x7FFF0000;

static uint32_t
le(const unsigned char *p, size_t bytes)
{
	uint32_t v = 0;

	for (size_t i = 0; i < bytes; i++)
		v |= (uint32_t)p[i] << (8 * i);
	return v;
}

/* The "fmt " chunk; an extensible one names its coding at byte 24. */
static qn_status
read_format(qn_env *env, const char *place, const unsigned char *p, size_t n, qn_wav *w)
{
	if (n < FMT_BYTES)
		return qn_report(env, QN_EINVALID, "wav.truncated", place,
				 "the chunk 'fmt ' has %zu bytes, 16 are needed", n);
	uint32_t tag = le(p, 2);
	uint32_t align = le(p + 12, 2);
	w->channels = (int64_t)le(p + 2, 2);
	w->rate = le(p + 4, 4);
	w->bits = le(p + 14, 2);
	if (tag == TAG_EXTENSIBLE && n >= 26)
		tag = le(p + 24, 2);
	w->is_float = tag == TAG_FLOAT;
	bool known = tag == TAG_PCM
			     ? w->bits == 8 || w->bits == 16 || w->bits == 24 || w->bits == 32
			     : tag == TAG_FLOAT && w->bits == 32;
	if (!known)
		return qn_report(env, QN_EUNSUPPORTED, "wav.format", place,
				 "unsupported coding %u with %u bits (expected PCM of 8, 16, 24 or "
				 "32 bits, or 32-bit "
				 "float); convert it, for example with sox",
				 tag, w->bits);
	if (w->channels < 1 || w->channels > MOST_CHANNELS ||
	    align != (uint32_t)w->channels * (w->bits / 8))
		return qn_report(env, QN_EINVALID, "wav.format", place,
				 "%lld channels of %u bits in frames of %u bytes",
				 (long long)w->channels, w->bits, align);
	return QN_OK;
}

static qn_status
read_data(qn_env *env, const char *place, const unsigned char *p, size_t n, qn_wav *w)
{
	size_t frame = (size_t)w->channels * (w->bits / 8);

	if (frame == 0)
		return qn_report(env, QN_EINVALID, "wav.format", place,
				 "the chunk 'data' comes before 'fmt '");
	if (n % frame != 0)
		return qn_report(
			env, QN_EINVALID, "wav.truncated", place,
			"%zu bytes of data are not a multiple of the frame size of %zu bytes", n,
			frame);
	w->frames = (int64_t)(n / frame);
	w->data = p;
	return QN_OK;
}

qn_status
qn_wav_parse(qn_env *env, const char *place, const char *data, size_t n, qn_wav *out)
{
	const unsigned char *p = (const unsigned char *)data;
	size_t at = 12;
	qn_wav w = {0};

	if (n < at || memcmp(p, "RIFF", 4) != 0 || memcmp(p + 8, "WAVE", 4) != 0)
		return qn_report(env, QN_EINVALID, "wav.format", place,
				 "not a WAV file: it does not begin with RIFF and WAVE");
	while (w.data == NULL && n - at >= 8) {
		size_t size = le(p + at + 4, 4);
		const unsigned char *chunk = p + at + 8;

		if (size > n - at - 8 && size >= open_length && w.channels > 0 &&
		    memcmp(p + at, "data", 4) == 0) {
			size = n - at - 8;
			size -= size % ((size_t)w.channels * (w.bits / 8));
		}
		if (size > n - at - 8)
			return qn_report(env, QN_EINVALID, "wav.truncated", place,
					 "a chunk of %zu bytes, but only %zu follow", size,
					 n - at - 8);
		if (memcmp(p + at, "fmt ", 4) == 0)
			QN_TRY(read_format(env, place, chunk, size, &w));
		else if (memcmp(p + at, "data", 4) == 0)
			QN_TRY(read_data(env, place, chunk, size, &w));
		at += 8 + size;
		at += size % 2 != 0 && at < n; /* chunks begin at even bytes */
	}
	if (w.data == NULL)
		return qn_report(env, QN_EINVALID, "wav.truncated", place,
				 "the file ends before its chunk 'data'");
	*out = w;
	return QN_OK;
}

static float
value(const qn_wav *w, const unsigned char *p)
{
	uint32_t code = le(p, w->bits / 8);

	if (w->is_float) {
		float v;

		memcpy(&v, &code, sizeof v);
		return v;
	}
	if (w->bits == 8)
		return ((float)code - 128.0f) / 128.0f;
	/* moved up to 32 bits, so that the sign is the word's sign */
	int64_t wide = (int64_t)((uint64_t)code << (32 - w->bits));
	if (wide >= INT64_C(1) << 31)
		wide -= INT64_C(1) << 32;
	return (float)((double)wide / 2147483648.0);
}

void
qn_wav_read(const qn_wav *w, bool planar, float *dst)
{
	size_t bytes = w->bits / 8;

	for (int64_t f = 0; f < w->frames; f++)
		for (int64_t c = 0; c < w->channels; c++)
			dst[planar ? c * w->frames + f : f * w->channels + c] =
				value(w, w->data + (size_t)(f * w->channels + c) * bytes);
}
