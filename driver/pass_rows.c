/* SPDX-License-Identifier: Apache-2.0 */
/* pass_rows.c - the list of passes: the options of each, and what it records in the model.
 *
 *   requantize: options no_approx, merge_always   ->   qn_requantize   ->   "approx=off merge=always" */
#include "driver/pass_rows.h"

#include <string.h>

#include "driver/equalize.h"
#include "driver/solver.h"
#include "driver/widen.h"
#include "passes/passes.h"
#include "passes/solver.h"
#include "patterns/quantizer.h"
#include "patterns/recipe.h"

/* Encodings say how a layer is quantized as a whole. */
static qn_status
run_clean(qn_pipeline *p)
{
	QN_TRY(qn_clean(p->m));
	if (p->opts->encodings != NULL)
		return QN_OK;
	QN_TRY(qn_hoist_slices(p->m));
	return qn_split_layers(p->m);
}

static qn_status
run_partition(qn_pipeline *p)
{
	return qn_partition(p->m, &p->quant);
}

static qn_status
run_quantize(qn_pipeline *p)
{
	qn_quant_opts quant;

	QN_TRY(qn_widen(p, &quant));
	QN_TRY(qn_quantize_model(p->m, &quant));
	p->m->quantized_here = true;
	qn_model_record(p->m, "scheme=%s weights=%s",
			p->quant.scheme == QN_SCHEME_RFC ? "rfc" : "tflite",
			p->quant.per_tensor_weights ? "per-tensor" : "per-channel");
	if (p->quant.activations != QN_STORAGE_I8)
		qn_model_record(p->m, "activations=%s",
				p->quant.activations == QN_STORAGE_U8 ? "u8" : "i16");
	if (p->quant.weight_bits < 8)
		qn_model_record(p->m, "weights-type=i%d", p->quant.weight_bits);
	if (p->quant.weight_block > 0)
		qn_model_record(p->m, "weight-block=%d", (int)p->quant.weight_block);
	if (p->quant.dynamic != NULL)
		qn_model_record(p->m, "dynamic=%s", p->quant.dynamic);
	if (p->quant.has_recipe)
		qn_model_record(p->m, "recipe=%08x", p->quant.recipe->crc);
	return QN_OK;
}

static qn_status
run_instrument(qn_pipeline *p)
{
	return qn_solver_instrument(p);
}

static qn_status
run_transform(qn_pipeline *p)
{
	return qn_solver_transform(p);
}

qn_requant_opts
qn_requant_opts_of(const qn_compile_opts *o)
{
	return (qn_requant_opts){.exact = o->no_approx != 0,
				 .merge_always = o->merge_always != 0,
				 .require_int = o->require_int != 0};
}

static qn_status
run_requantize(qn_pipeline *p)
{
	const qn_compile_opts *o = p->opts;
	const qn_requant_opts opts = qn_requant_opts_of(o);

	QN_TRY(qn_requantize(p->m, &opts));
	if (opts.exact)
		qn_model_record(p->m, "approx=off");
	if (opts.merge_always)
		qn_model_record(p->m, "merge=always");
	return QN_OK;
}

/* What a file quantizes stays as it is. */
static qn_status
share_values(qn_pipeline *p)
{
	return p->m->quantized_here ? qn_share_values(p->m) : QN_OK;
}

static qn_status
check_and_requantize(qn_pipeline *p)
{
	QN_TRY(share_values(p));
	QN_TRY(qn_check_noise(p));
	return run_requantize(p);
}

static qn_status
run_align(qn_pipeline *p)
{
	const int bits = p->opts->align != 0 ? p->opts->align : QN_FIX_DEFAULT;

	QN_TRY(qn_align_model(p->m, bits));
	qn_model_record(p->m, "align=%d", bits);
	return QN_OK;
}

static qn_status
run_legalize(qn_pipeline *p)
{
	QN_TRY(qn_legalize(p->m));
	qn_model_record(p->m, "rounding=%s", qn_rounding_names[p->m->rounding]);
	return QN_OK;
}

qn_status
qn_pass_lower(qn_pipeline *p)
{
	QN_TRY(qn_bind(p->m));
	QN_TRY(share_values(p));
	QN_TRY(run_requantize(p));
	if (p->opts->align != 0)
		QN_TRY(run_align(p));
	return run_legalize(p);
}

static qn_status
run_normalize_types(qn_pipeline *p)
{
	const qn_compile_opts *o = p->opts;
	const unsigned expand = o->expand_blocks != 0 ? QN_NORMALIZE_EXPAND : 0;
	const unsigned collapse = o->collapse_scales != 0 ? QN_NORMALIZE_COLLAPSE : 0;

	return qn_normalize_quant_types(p->m, expand | collapse);
}

const qn_pass_row qn_passes[] = {
	[QN_PASS_INLINE_BODIES] = {"inline-bodies",
				   "write out all steps of loops (with --inline-bodies, or where "
				   "what they carry has no range)",
				   QN_STAGE_INTEGER, .change = qn_inline_bodies},
	[QN_PASS_AXES] = {"axes", "cancel transposes, or move them to the ends of the graph",
			  QN_STAGE_CALIBRATED, .change = qn_axes},
	[QN_PASS_CLEAN] = {"clean", "fold constants and batch norms", QN_STAGE_FLOAT,
			   .run = run_clean},
	[QN_PASS_FAKE_QUANT] = {"fake-quant",
				"replace const_fake_quant with quantize and dequantize of its type",
				QN_STAGE_CALIBRATED, .change = qn_fake_quant},
	[QN_PASS_EQUALIZE] = {"equalize",
			      "move scales of channels between layers where it helps (only with "
			      "--equalize)",
			      QN_STAGE_FLOAT, .run = qn_run_equalize},
	[QN_PASS_PARTITION] = {"partition",
			       "match quantizer patterns and put the matches into composites",
			       QN_STAGE_FLOAT, .run = run_partition},
	[QN_PASS_QUANTIZE] =
		{"quantize",
		 "replace composites with quantize and dequantize nodes of symbolic scales",
		 QN_STAGE_FLOAT, .run = run_quantize, .flags = QN_PASS_SEES_COMPOSITES},
	[QN_PASS_INSTRUMENT] =
		{"instrument",
		 "insert points of statistics, and run the samples there (with --solver)",
		 QN_STAGE_FLOAT, .run = run_instrument, .flags = QN_PASS_OF_SOLVER},
	[QN_PASS_TRANSFORM] = {"transform",
			       "quantize the points whose range or type is known (with --solver, "
			       "or for statistics)",
			       QN_STAGE_CALIBRATED, .run = run_transform,
			       .flags = QN_PASS_OF_SOLVER},
	[QN_PASS_CALIBRATE] = {"calibrate", "run the samples and set the symbols",
			       QN_STAGE_SYMBOLIC, .run = qn_run_calibrate,
			       .flags = QN_PASS_SEES_COMPOSITES},
	[QN_PASS_REPAIR] = {"repair",
			    "choose weights and biases by the layers' outputs, ranges by those of "
			    "the network (with --weight-rounding, --bias-correction or "
			    "--narrow-ranges)",
			    QN_STAGE_SYMBOLIC, .run = qn_run_repair},
	[QN_PASS_BIND] = {"bind", "write the values of symbols into the types", QN_STAGE_SYMBOLIC,
			  .change = qn_bind, .flags = QN_PASS_SEES_COMPOSITES},
	[QN_PASS_SIMPLIFY] =
		{"simplify",
		 "move casts to where they are fewest (with --solver, or for statistics)",
		 QN_STAGE_CALIBRATED, .change = qn_simplify, .flags = QN_PASS_OF_SOLVER},
	[QN_PASS_REQUANTIZE] = {"requantize",
				"fuse dequantize/quantize pairs, so that values stay integer",
				QN_STAGE_CALIBRATED, .run = check_and_requantize},
	[QN_PASS_ALIGN] = {"align",
			   "round scales to small integers times powers of two (only with --align)",
			   QN_STAGE_CALIBRATED, .run = run_align},
	[QN_PASS_LEGALIZE] =
		{"legalize",
		 "make inputs and outputs integer, quantize attributes, reject what is float",
		 QN_STAGE_CALIBRATED, .run = run_legalize},
	[QN_PASS_PRUNE] = {"prune",
			   "remove channels that are the same for all inputs, or that nobody reads",
			   QN_STAGE_INTEGER, .change = qn_prune},
	[QN_PASS_TABLES] =
		{"tables",
		 "compute functions of one 8-bit value that take several steps by one table",
		 QN_STAGE_INTEGER, .change = qn_tables},
	[QN_PASS_MIXED_STORAGE] =
		{"mixed-storage",
		 "compute layers between values of 8 and of 16 bits on values of 16 bits",
		 QN_STAGE_INTEGER, .change = qn_mixed_storage},
	[QN_PASS_LOWER_FIXED_POINT] =
		{"lower-fixed-point",
		 "write rescaling as fixed-point ops on plain integers (only in --passes)",
		 QN_STAGE_INTEGER, .change = qn_lower_fixed_point, .flags = QN_PASS_ON_REQUEST},
	[QN_PASS_NORMALIZE_QUANT_TYPES] =
		{"normalize-quant-types",
		 "replace types with blocks by the simpler ones they are equal to",
		 QN_STAGE_INTEGER, .run = run_normalize_types, .flags = QN_PASS_ON_REQUEST},
	[QN_PASS_LOWER_QUANT] =
		{"lower-quant",
		 "write quantize and dequantize as plain arithmetic with the same bits",
		 QN_STAGE_INTEGER, .change = qn_lower_quant, .flags = QN_PASS_ON_REQUEST},
	[QN_PASS_STRIP_QUANT] = {"strip-quant",
				 "the same, and plain integers in place of all quantized types",
				 QN_STAGE_INTEGER, .change = qn_strip_quant,
				 .flags = QN_PASS_ON_REQUEST},
};

const size_t qn_npasses = QN_COUNT(qn_passes);

const char *
qn_pass_name(size_t i)
{
	return i < qn_npasses ? qn_passes[i].name : NULL;
}

const char *
qn_pass_help(size_t i)
{
	return i < qn_npasses ? qn_passes[i].help : NULL;
}

const qn_pass_row *
qn_pass_find(const char *name, size_t n)
{
	for (size_t i = 0; i < qn_npasses; i++)
		if (strlen(qn_passes[i].name) == n && memcmp(qn_passes[i].name, name, n) == 0)
			return &qn_passes[i];
	return NULL;
}
