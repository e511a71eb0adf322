/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_compile.c - any bytes as a model (JSON when they begin with '{', else text form), through
 * the public interface: all passes on made-up samples, one run, the emitted texts. */
#define _POSIX_C_SOURCE 200809L /* getpid, unlink */

#include "tests/fuzz/fuzz_model.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_model_run(size > 0 && data[0] == '{' ? ".json" : ".qir", data, fuzz_cut(data, size));
	return 0;
}
