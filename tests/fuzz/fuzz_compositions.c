/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_compositions.c - any bytes as a file of compositions: an error, or graphs; the first one that is an operator is
 * then called with values of [2,3], and makes a graph that the verifier takes, or an error. */
#include "tests/fuzz/fuzz.h"

#include "import/importer_lib.h"

enum { OPERANDS = 3, RESULTS = 2 };

static void
call(fuzz *f, qn_model *m, const char *graph)
{
	const int64_t dim[] = {2, 3};
	const qn_import_how how = {0};
	qn_importer im;
	qn_id in[OPERANDS], out[RESULTS] = {0};

	qn_importer_begin(&im, m, "f", 100, &how);
	qn_importer_at(&im, "y", "Op", 1);
	for (int i = 0; i < OPERANDS; i++)
		in[i] = qn_importer_input(&im,
					  i == 0   ? "x"
					  : i == 1 ? "a"
						   : "b",
					  qn_type_plain(&m->types, QN_PLAIN_f32, 2, dim));
	for (uint32_t n = 1; n <= OPERANDS; n++) {
		const qn_lib_call c = {.graph = graph,
				       .added = true,
				       .nin = n,
				       .nout = RESULTS,
				       .in = in,
				       .version = 1};

		if (!qn_importer_call(&im, &c, out)) {
			FUZZ_CHECK(fuzz_told(f));
			return;
		}
		for (int i = 0; i < RESULTS; i++)
			if (out[i] != 0)
				qn_graph_output(im.g, n == 1 ? (i == 0 ? "y" : "z") : "w", out[i]);
		if (im.g->noutput > 0)
			break;
	}
	if (im.g->noutput > 0 && qn_importer_end(&im) == QN_OK)
		FUZZ_CHECK(qn_model_verify(m) == QN_OK || fuzz_told(f)); /* as after each reader */
}

static void
target(fuzz *f, const char *data, size_t size)
{
	qn_model *m = fuzz_model(f);

	if (qn_lib_add(&f->env, &f->arena, "f.qir", data, size) != QN_OK) {
		FUZZ_CHECK(fuzz_told(f));
		return;
	}
	if (f->env.libs->operators != NULL)
		call(f, m, f->env.libs->operators->graph);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_run(target, data, size);
	return 0;
}
