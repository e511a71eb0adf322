/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_wav.c - any bytes as a WAV file: both orders of the channels hold the same values. */
#include "tests/fuzz/fuzz.h"

#include "formats/wav.h"

static void
target(fuzz *f, const char *data, size_t size)
{
	qn_wav w;

	if (qn_wav_parse(&f->env, "x", data, size, &w) != QN_OK) {
		FUZZ_CHECK(fuzz_told(f));
		return;
	}
	size_t n = (size_t)(w.frames * w.channels);
	FUZZ_CHECK(n <= size);
	float *a = QN_NEW(&f->arena, float, n + 1);
	float *b = QN_NEW(&f->arena, float, n + 1);
	qn_wav_read(&w, false, a);
	qn_wav_read(&w, true, b);
	for (size_t i = 0; i < n; i++) {
		size_t k = i % (size_t)w.channels * (size_t)w.frames + i / (size_t)w.channels;

		FUZZ_CHECK(memcmp(&a[i], &b[k], sizeof a[i]) == 0);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_run(target, data, size);
	return 0;
}
