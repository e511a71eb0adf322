/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_draw.h - bytes as decisions: a target that makes a file of a format, and the options of its compilation,
 * from what libFuzzer invents.
 *
 *   fuzz_draw d = {data, size};
 *   draw(&d, 3)       0, 1 or 2: the next byte; 0 once they are used up */
#ifndef QN_TESTS_FUZZ_DRAW_H
#define QN_TESTS_FUZZ_DRAW_H

#include <math.h>

#include "tests/fuzz/fuzz_model.h"

typedef struct fuzz_draw {
	const uint8_t *data;
	size_t size, at;
} fuzz_draw;

static inline int
draw(fuzz_draw *d, int n)
{
	return d->at < d->size && n > 0 ? d->data[d->at++] % n : 0;
}

static inline bool
drawn_out(const fuzz_draw *d)
{
	return d->at >= d->size;
}

/* Most often a plain small number, sometimes one at an end of what an importer expects. */
static inline int64_t
draw_int(fuzz_draw *d)
{
	static const int64_t odd[] = {-1,        -2,        7,         255,      65536,
				      INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
	int k = draw(d, 40);

	return k < 9 ? odd[k] : k % 5;
}

static inline float
draw_real(fuzz_draw *d)
{
	static const float odd[] = {0.0f,    -1.0f,  1e-30f,          1e30f,     3e38f,
				    -0.001f, 255.0f, (float)INFINITY, (float)NAN};
	int k = draw(d, 48);

	return k < 9 ? odd[k] : (float)(k - 8) / 32.0f;
}

/* How the model is read and compiled; texts are constants. */
static inline fuzz_how_to
draw_options(fuzz_draw *d)
{
	static const char *const method[] = {NULL,
					     "percentile:p=99",
					     "kl",
					     "mse",
					     "avgmax",
					     "ema",
					     "output:steps=3",
					     "global:scale=0.5",
					     "kl_ort:bins=64,levels=16"};
	static const char *const skip[] = {NULL, NULL, NULL, "first", "last", "op:conv2d,name:a*"};
	static const char *const recipe[] = {
		NULL,
		NULL,
		NULL,
		"{\"rules\": [{\"op\": \"input\", \"activations\": \"i16\"}]}",
		"{\"rules\": [{\"name\": \"*\", \"weights\": \"i4\", \"granularity\": "
		"\"per-tensor\"}]}",
		"{\"rules\": [{\"name\": \"*\", \"weights\": \"i2 block 8\"}]}",
		"{\"rules\": [{\"name\": \"v1*\", \"method\": \"kl\"}, {\"op\": \"add\", "
		"\"activations\": \"i16\"}]}"};
	fuzz_how_to h = {0};

	h.read.from_float = draw(d, 3) == 2;
	h.compile.method = method[draw(d, 9)];
	h.compile.skip = skip[draw(d, 6)];
	h.compile.recipe = recipe[draw(d, 7)];
	h.compile.activations = (qn_activations)draw(d, 3);
	h.compile.weights_type = (qn_weights_type)draw(d, 3);
	h.compile.weights = (qn_weights)draw(d, 3);
	h.compile.rounding = (qn_rounding)draw(d, 4);
	h.compile.weight_method = (qn_weight_method)draw(d, 2);
	h.compile.scheme = (qn_scheme_kind)(draw(d, 8) == 7);
	h.compile.no_approx = draw(d, 6) == 5;
	h.compile.merge_always = draw(d, 6) == 5;
	h.compile.align = draw(d, 6) == 5 ? 8 + draw(d, 8) : 0;
	h.compile.weight_rounding = (qn_weight_rounding)draw(d, 3);
	h.compile.bias_correction = (int)draw(d, 2);
	h.compile.narrow_ranges = draw(d, 6) == 5;
	return h;
}

#endif
