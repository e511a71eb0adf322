/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_image.c - any bytes as a picture in PNG, JPEG or PNM. */
#include "tests/fuzz/fuzz.h"

#include "formats/image.h"

static void
target(fuzz *f, const char *data, size_t size)
{
	qn_image x = {0};
	double sum = 0;

	if (qn_image_decode(&f->arena, "x", data, size, &x) != QN_OK) {
		FUZZ_CHECK(fuzz_told(f));
		return;
	}
	FUZZ_CHECK(x.h > 0 && x.w > 0 && x.c > 0 && x.c <= 4 && x.h * x.w * x.c <= QN_IMAGE_MOST);
	for (int64_t i = 0; i < x.h * x.w * x.c; i++)
		sum += qn_image_value(&x, i);
	FUZZ_CHECK(sum >= 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_run(target, data, size);
	return 0;
}
