/* SPDX-License-Identifier: Apache-2.0 */
/* pass_rows.c - the list of passes: what each is told, and what it records in the model.
 *
 *   requantize: options no_approx, merge_always   ->   qn_requantize   ->   "approx=off merge=always" */
#include "driver/pass_rows.h"

#include <string.h>

#include "codegen/inline.h"
#include "calibrate/repair.h"
#include "driver/calibration.h"
#include "driver/encodings.h"
#include "driver/quantizer.h"
#include "driver/solver.h"
#include "driver/statistics.h"
#include "passes/passes.h"
#include "passes/solver.h"
#include "patterns/quantizer.h"
#include "patterns/recipe.h"
#include "patterns/rewrite.h"

bool
qn_is_partitioned(const qn_model *m)
{
	for (size_t i = 0; i + 1 < m->ngraph; i++)
		if (m->graph[i]->pattern != NULL)
			return true;
	return false;
}

/* Whether calibrate has been there: every symbol has its value. */
static bool
is_calibrated(const qn_model *m)
{
	for (size_t i = 0; i < m->types.nsymbol; i++)
		if (!m->types.symbol[i]->bound)
			return false;
	return m->types.nsymbol > 0;
}

/* Passes see one graph: functions of the model's own are inlined.  Before quantize, composites are
 * a sign that it is too late; behind it there are none. */
static qn_status
one_graph(qn_pipeline *p, const char *pass)
{
	const qn_graph *flat;
	qn_graph *copy;

	if (qn_is_partitioned(p->m))
		return qn_report(
			p->m->env, QN_EINVALID, "pass.stage", p->m->name,
			"%s takes a graph that is not partitioned; the next pass is quantize",
			pass);
	if (p->m->ngraph < 2)
		return QN_OK;
	QN_TRY(qn_graph_inline(qn_model_entry(p->m), p->m->scratch, &flat));
	QN_TRY(qn_graph_sweep(p->m, flat, NULL, &copy));
	qn_model_set_graph(p->m, copy);
	return QN_OK;
}

static qn_status
run_axes(qn_pipeline *p)
{
	QN_TRY(one_graph(p, "axes"));
	return qn_axes(p->m);
}

static qn_status
run_clean(qn_pipeline *p)
{
	QN_TRY(one_graph(p, "clean"));
	return qn_clean(p->m);
}

static qn_status
run_fake_quant(qn_pipeline *p)
{
	QN_TRY(one_graph(p, "fake-quant"));
	return qn_fake_quant(p->m);
}

static qn_status
run_partition(qn_pipeline *p)
{
	QN_TRY(one_graph(p, "partition"));
	return qn_partition(p->m, &p->quant);
}

static qn_status
run_quantize(qn_pipeline *p)
{
	QN_TRY(qn_quantize_model(p->m, &p->quant));
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

/* The method, and the data by base name and content, never by path. */
static void
record_calibration(qn_pipeline *p, const qn_calib_opts *calib, const qn_samples_id *id,
		   const char *encodings)
{
	qn_buf b;

	qn_buf_init(&b, p->scratch);
	qn_method_print(&b, &calib->method);
	p->m->quantized_here = true;
	qn_model_record(p->m, "method=%s", qn_buf_str(&b));
	if (calib->method.mse_weights)
		qn_model_record(p->m, "weight-method=mse");
	for (size_t i = 0; i < id->n; i++)
		qn_model_record(p->m, "calib=%s", id->name[i]);
	if (encodings != NULL)
		qn_model_record(p->m, "encodings=%s", encodings);
}

static qn_requant_opts
requant_opts(const qn_compile_opts *o)
{
	return (qn_requant_opts){.exact = o->no_approx != 0,
				 .merge_always = o->merge_always != 0,
				 .require_int = o->require_int != 0};
}

/* Samples for a model that came with all its parameters. */
void
qn_warn_of_unused(const qn_model *m)
{
	qn_warn(m->env, "calib.unused", m->name,
		"the model is %s already and preserves its parameters: the samples are only used "
		"for a self-test; dequantize and recalibrate a quantized file with --from-float",
		qn_stage_names[m->stage]);
}

/* A model that came quantized: only what it leaves open is calibrated.  What was bound in a round is
 * fixed in the next one; each round quantizes values that were in float. */
static qn_status
calibrate_open(qn_pipeline *p)
{
	const qn_compile_opts *o = p->opts;
	qn_requant_opts requant = requant_opts(o);
	qn_graph *before;
	size_t npair, nsymbol, all = 0;
	bool stays;
	qn_calib_opts calib;
	qn_samples_id id;
	qn_dataset *data = NULL;
	qn_buf b;

	requant.require_int = false;
	QN_TRY(one_graph(p, "calibrate"));
	QN_TRY(qn_calib_options(p->m, o, p->crc, p->scratch, &calib, &id));
	QN_TRY(qn_calibration_data(p->m, o, p->scratch, &data));
	calib.keep_fixed = true;
	before = qn_model_entry(p->m);
	do {
		QN_TRY(qn_open_values(p->m, &requant, &npair, &nsymbol, &stays));
		all += npair;
		if (nsymbol > 0) {
			QN_TRY(qn_calibrate_model(p->m, data, &calib));
			QN_TRY(qn_bind(p->m));
		}
	} while (npair > 0);
	if (all == 0) {
		qn_warn_of_unused(p->m);
		return QN_OK;
	}
	if (stays) { /* ranges did not help: legalize names what the file has */
		qn_model_set_graph(p->m, before);
		qn_warn_of_unused(p->m);
		return QN_OK;
	}
	qn_buf_init(&b, p->scratch);
	qn_method_print(&b, &calib.method);
	p->m->opened = true;
	qn_model_record(p->m, "open-method=%s", qn_buf_str(&b));
	for (size_t i = 0; i < id.n; i++)
		qn_model_record(p->m, "calib=%s", id.name[i]);
	return QN_OK;
}

static qn_status
run_calibrate(qn_pipeline *p)
{
	const qn_compile_opts *o = p->opts;
	qn_calib_opts calib;
	qn_samples_id id;
	qn_dataset *data = NULL;
	qn_encodings *given = NULL;
	const char *file = NULL;
	bool again =
		is_calibrated(p->m); /* values that are there stay: then nothing new is recorded */

	if (qn_came_quantized(p->m) && p->m->stage == QN_STAGE_CALIBRATED && o->ncalib > 0)
		return calibrate_open(p);
	QN_TRY(qn_calib_options(p->m, o, p->crc, p->scratch, &calib, &id));
	if (o->ncalib > 0)
		QN_TRY(qn_calibration_data(p->m, o, p->scratch, &data));
	qn_quantizers_callbacks(&p->quant, p->scratch, &calib);
	if (o->encodings != NULL)
		QN_TRY(qn_encodings_load(p->m->env, o->encodings, p->scratch, &file, &given));
	calib.given = given;
	calib.warn_few = true;
	QN_TRY(qn_calibrate_model(p->m, data, &calib));
	if (!again)
		record_calibration(p, &calib, &id, file);
	return QN_OK;
}

static qn_status
run_repair(qn_pipeline *p)
{
	static const char *const rounding[] = {"nearest", "gptq", "adaptive"};
	const qn_compile_opts *o = p->opts;
	const qn_repair_opts repair = {.bias = o->bias_correction != 0,
				       .round = o->weight_rounding != QN_WEIGHTS_NEAREST,
				       .descend = o->weight_rounding == QN_WEIGHTS_ADAPTIVE};
	qn_dataset *data;
	qn_graph *repaired;

	QN_TRY(one_graph(p, "repair"));
	if (!repair.bias && !repair.round)
		return qn_report(p->m->env, QN_EUSAGE, "repair.nothing", p->m->name,
				 "the pass repair has nothing to do: give --weight-rounding or "
				 "--bias-correction, or leave it out");
	if (o->ncalib == 0)
		return qn_report(
			p->m->env, QN_EUSAGE, "repair.no-data", p->m->name,
			"repairs need the calibration data itself; give samples (--calib)");
	QN_TRY(qn_calibration_data(p->m, o, p->scratch, &data));
	QN_TRY(qn_repair(p->m, data, &repair, &repaired));
	if (repaired != NULL)
		qn_model_set_graph(p->m, repaired);
	if (repair.round)
		qn_model_record(p->m, "weight-rounding=%s", rounding[o->weight_rounding]);
	if (repair.bias)
		qn_model_record(p->m, "bias-correction=on");
	return QN_OK;
}

static qn_status
run_bind(qn_pipeline *p)
{
	return qn_bind(p->m);
}

static qn_status
run_instrument(qn_pipeline *p)
{
	QN_TRY(one_graph(p, "instrument"));
	return qn_solver_instrument(p);
}

static qn_status
run_transform(qn_pipeline *p)
{
	QN_TRY(one_graph(p, "transform"));
	return qn_solver_transform(p);
}

static qn_status
run_simplify(qn_pipeline *p)
{
	QN_TRY(one_graph(p, "simplify"));
	return qn_simplify(p->m);
}

static qn_status
run_requantize(qn_pipeline *p)
{
	const qn_compile_opts *o = p->opts;
	const qn_requant_opts opts = requant_opts(o);

	QN_TRY(one_graph(p, "requantize"));
	QN_TRY(qn_requantize(p->m, &opts));
	if (opts.exact)
		qn_model_record(p->m, "approx=off");
	if (opts.merge_always)
		qn_model_record(p->m, "merge=always");
	return QN_OK;
}

static qn_status
run_align(qn_pipeline *p)
{
	const int bits = p->opts->align != 0 ? p->opts->align : QN_FIX_DEFAULT;

	QN_TRY(one_graph(p, "align"));
	QN_TRY(qn_align_model(p->m, bits));
	qn_model_record(p->m, "align=%d", bits);
	return QN_OK;
}

static qn_status
run_legalize(qn_pipeline *p)
{
	QN_TRY(one_graph(p, "legalize"));
	QN_TRY(qn_legalize(p->m));
	qn_model_record(p->m, "rounding=%s", qn_rounding_names[p->m->rounding]);
	return QN_OK;
}

static qn_status
run_prune(qn_pipeline *p)
{
	QN_TRY(one_graph(p, "prune"));
	return qn_prune(p->m);
}

static qn_status
run_tables(qn_pipeline *p)
{
	QN_TRY(one_graph(p, "tables"));
	return qn_tables(p->m);
}

static qn_status
run_lower_fixed_point(qn_pipeline *p)
{
	QN_TRY(one_graph(p, "lower-fixed-point"));
	return qn_lower_fixed_point(p->m);
}

static qn_status
run_normalize_types(qn_pipeline *p)
{
	const qn_compile_opts *o = p->opts;
	const unsigned expand = o->expand_blocks != 0 ? QN_NORMALIZE_EXPAND : 0;
	const unsigned collapse = o->collapse_scales != 0 ? QN_NORMALIZE_COLLAPSE : 0;

	QN_TRY(one_graph(p, "normalize-quant-types"));
	return qn_normalize_quant_types(p->m, expand | collapse);
}

static qn_status
run_lower_quant(qn_pipeline *p)
{
	QN_TRY(one_graph(p, "lower-quant"));
	return qn_lower_quant(p->m);
}

static qn_status
run_strip_quant(qn_pipeline *p)
{
	QN_TRY(one_graph(p, "strip-quant"));
	return qn_strip_quant(p->m);
}

const qn_pass_row qn_passes[] = {
	{"axes", "cancel transposes, or move them to the ends of the graph", QN_STAGE_CALIBRATED,
	 run_axes},
	{"clean", "fold constants and batch norms", QN_STAGE_FLOAT, run_clean},
	{"fake-quant", "replace const_fake_quant with quantize and dequantize of its type",
	 QN_STAGE_CALIBRATED, run_fake_quant},
	{"partition", "match quantizer patterns and put the matches into composites",
	 QN_STAGE_FLOAT, run_partition},
	{"quantize", "replace composites with quantize and dequantize nodes of symbolic scales",
	 QN_STAGE_FLOAT, run_quantize},
	{"instrument", "insert points of statistics, and run the samples there (with --solver)",
	 QN_STAGE_FLOAT, run_instrument},
	{"transform",
	 "quantize the points whose range or type is known (with --solver, or for statistics)",
	 QN_STAGE_CALIBRATED, run_transform},
	{"calibrate", "run the samples and set the symbols", QN_STAGE_SYMBOLIC, run_calibrate},
	{"repair",
	 "choose weights and biases by the layers' outputs (with --weight-rounding or "
	 "--bias-correction)",
	 QN_STAGE_SYMBOLIC, run_repair},
	{"bind", "write the values of symbols into the types", QN_STAGE_SYMBOLIC, run_bind},
	{"simplify", "move casts to where they are fewest (with --solver, or for statistics)",
	 QN_STAGE_CALIBRATED, run_simplify},
	{"requantize", "fuse dequantize/quantize pairs, so that values stay integer",
	 QN_STAGE_CALIBRATED, run_requantize},
	{"align", "round scales to small integers times powers of two (only with --align)",
	 QN_STAGE_CALIBRATED, run_align},
	{"legalize", "make inputs and outputs integer, quantize attributes, reject what is float",
	 QN_STAGE_CALIBRATED, run_legalize},
	{"prune", "remove channels that are the same for all inputs, or that nobody reads",
	 QN_STAGE_INTEGER, run_prune},
	{"tables", "compute functions of one 8-bit value that take several steps by one table",
	 QN_STAGE_INTEGER, run_tables},
	/* on request */
	{"lower-fixed-point",
	 "write rescaling as fixed-point ops on plain integers (only in --passes)",
	 QN_STAGE_INTEGER, run_lower_fixed_point},
	{"normalize-quant-types", "replace types with blocks by the simpler ones they are equal to",
	 QN_STAGE_INTEGER, run_normalize_types},
	{"lower-quant", "write quantize and dequantize as plain arithmetic with the same bits",
	 QN_STAGE_INTEGER, run_lower_quant},
	{"strip-quant", "the same, and plain integers in place of all quantized types",
	 QN_STAGE_INTEGER, run_strip_quant},
};

const size_t qn_npasses = QN_COUNT(qn_passes);

/* The ranges of fake quantization make a calibrated graph of a float one: samples are for values that
 * have none. */
static bool
is_due_after_fakes(const qn_pipeline *p, const qn_pass_row *pass)
{
	if (pass->run == run_calibrate)
		return p->opts->ncalib > 0;
	return pass->run != run_partition && pass->run != run_quantize && pass->run != run_bind;
}

bool
qn_pass_is_on_request(const qn_pass_row *pass)
{
	return pass->run == run_lower_fixed_point || pass->run == run_normalize_types ||
	       pass->run == run_lower_quant || pass->run == run_strip_quant;
}

static bool
is_of_solver(const qn_pass_row *pass)
{
	return pass->run == run_instrument || pass->run == run_transform ||
	       pass->run == run_simplify;
}

/* Not what the model has been through.  A symbolic graph keeps its nodes: composites are known by
 * their names. */
bool
qn_pass_is_due(const qn_pipeline *p, const qn_pass_row *pass)
{
	const qn_model *m = p->m;
	const qn_pass_row *last =
		m->after != NULL ? qn_pass_find(m->after, strlen(m->after)) : NULL;
	const bool solves = m->stage != QN_STAGE_SYMBOLIC && qn_solver_is_due(p) &&
			    (m->stage == QN_STAGE_FLOAT || last == NULL || last < pass);
	const bool has_fakes = qn_has_op(m, QN_OP_const_fake_quant);

	if (qn_pass_is_on_request(pass))
		return false;
	if (pass->run == run_calibrate && m->stage == QN_STAGE_CALIBRATED)
		return p->opts->ncalib > 0 && qn_came_quantized(m) && (last == NULL || pass > last);
	if (pass->run == run_instrument) /* once more, for points without statistics */
		return m->stage == QN_STAGE_FLOAT && p->opts->ncalib > 0 && qn_solver_is_due(p) &&
		       (last == NULL || last <= pass);
	if (m->stage > pass->from || (last != NULL && pass <= last))
		return false;
	if (pass < qn_pass_find("quantize", strlen("quantize")) && qn_is_partitioned(m))
		return false;
	if (is_of_solver(pass))
		return solves;
	if (pass->run == run_repair)
		return p->opts->bias_correction != 0 ||
		       p->opts->weight_rounding != QN_WEIGHTS_NEAREST;
	if (solves && (pass->run == run_partition || pass->run == run_quantize ||
		       pass->run == run_calibrate || pass->run == run_bind))
		return false;
	if (pass->run == run_fake_quant)
		return has_fakes;
	if (has_fakes && m->stage == QN_STAGE_FLOAT && !is_due_after_fakes(p, pass))
		return false;
	if (m->stage == QN_STAGE_SYMBOLIC &&
	    (pass->run == run_axes || (pass->run == run_calibrate && is_calibrated(m))))
		return false;
	return p->opts->align != 0 || pass->run != run_align;
}

bool
qn_pass_calibrates(const qn_pass_row *pass)
{
	return pass->run == run_calibrate;
}

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
