/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_compile.c - any bytes as a model (JSON when they begin with '{', else text form), through
 * the public interface: passes on made-up samples, one run, the emitted texts; passes that change no value
 * after that, which leave the outputs as they are. */
#define _POSIX_C_SOURCE 200809L /* getpid, unlink */

#include "tests/fuzz/fuzz_model.h"

/* The options to compile with: which of them, the bytes' sum says. */
static const fuzz_how_to ways[] = {
	{.then = NULL},
	{.compile = {.align = 8}},
	{.compile = {.solver = QN_SOLVER_ON}},
	{.compile = {.recipe = "{\"rules\": [{\"activations\": \"i8 per-axis\"}]}"}},
	{.then = "lower-fixed-point"},
	{.compile = {.weights_type = QN_WEIGHTS_I4, .weight_block = 8}},
	{.compile = {.solver = QN_SOLVER_COUPLE_SUMS, .activations = QN_ACTIVATIONS_U8}},
	{.compile = {.stop_after = "requantize"}, .then = "lower-quant"},
	{.read = {.lax_zp = true}},
	{.compile = {.activations = QN_ACTIVATIONS_I16,
		     .weights_type = QN_WEIGHTS_I2,
		     .align = 12}},
	{.compile = {.stop_after = "bind", .expand_blocks = 1, .collapse_scales = 1},
	 .then = "normalize-quant-types"},
	{.compile = {.passes = "strip-quant"}},
	{.compile = {.passes = "lower-quant"}},
	{.read = {.from_float = true}, .then = "lower-fixed-point"},
	{.then = "inline-bodies"},
};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t n = fuzz_cut(data, size);
	size_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += data[i];
	fuzz_model_run_as(size > 0 && data[0] == '{' ? ".json" : ".qir", data, n,
			  &ways[sum % QN_COUNT(ways)]);
	return 0;
}
