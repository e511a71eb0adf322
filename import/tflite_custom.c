/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_custom.c - custom operators, of which a file says only a name: those that a user's composition defines
 * (docs/compositions.md).
 *
 *   Swoosh(x) {"alpha": 0.5}    --> @swoosh of a file that --lib names:  graph @swoosh(%x) {alpha: real} tflite "Swoosh"
 *
 * A composition gets quantized values in float; its results become what the file says.  Options that are not in
 * FlexBuffers' form, as a struct of C, are for the operator's own code: one without attributes does not read them. */
#include "import/flexbuffer.h"
#include "import/importer_lib.h"
#include "import/tflite.h"

/* The options as attributes; false after a report. */
static bool
attributes(const qn_tfl_op *o, qn_lib_call *call)
{
	const qn_flat_vector *v = &o->custom_options;
	qn_flex f = {.n = v->n, .a = o->im->scratch};
	qn_lib_attr *attr;

	if (v->n > 0)
		f.data = v->f->data + v->at;
	call->nattr = qn_flex_attributes(&f, &attr);
	call->attr = attr;
	if (f.why == NULL || (f.key == NULL && o->custom->plain))
		return true;
	return qn_importer_refuse(o->im, "import.attr", "%s%s%s %s",
				  f.key != NULL ? "option '" : "the custom options",
				  f.key != NULL ? f.key : "", f.key != NULL ? "'" : "", f.why) != 0;
}

static void
read_custom(qn_tfl_op *o)
{
	qn_lib_call call = {.graph = o->custom->graph,
			    .nin = o->nin,
			    .nout = o->nout,
			    .version = 1,
			    .added = true};
	qn_id *in = QN_NEW(o->im->scratch, qn_id, o->nin + 1);
	qn_id *out = QN_NEW(o->im->scratch, qn_id, o->nout + 1);

	for (uint32_t i = 0; i < o->nin; i++)
		in[i] = o->from[i] != NULL && qn_tfl_is_quantized(o, o->in[i]) ? qn_tfl_real(o, i)
									       : o->in[i];
	call.in = in;
	if (!attributes(o, &call) || !qn_importer_call(o->im, &call, out))
		return;
	for (uint32_t i = 0; i < o->nout; i++)
		if (out[i] != 0)
			qn_tfl_set_result(o, i, out[i]);
		else
			(void)qn_importer_refuse(o->im, "import.input",
						 "the composition @%s has no result %u",
						 o->custom->graph, i);
}

const qn_tfl_row qn_tfl_custom_row = {
	.code = QN_TFL_CUSTOM,
	.read = read_custom,
	.most_in = QN_TFL_MOST_INPUTS,
	.most_left_out = QN_TFL_MOST_INPUTS,
};
