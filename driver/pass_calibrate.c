/* SPDX-License-Identifier: Apache-2.0 */
/* pass_calibrate.c - the passes that run samples: ranges for open values, for a model that came quantized too, and
 * repairs. */
#include "calibrate/calibrate.h"
#include "calibrate/repair.h"
#include "codegen/inline.h"
#include "driver/calibration.h"
#include "driver/encodings.h"
#include "driver/narrow.h"
#include "driver/pass_rows.h"
#include "driver/quantizer.h"
#include "driver/statistics.h"
#include "passes/passes.h"
#include "patterns/recipe.h"
#include "patterns/rewrite.h"
#include "patterns/standard.h"

/* For the emitted header: what must be done to samples. */
static void
remember_prep(qn_model *m, const qn_samples_id *id)
{
	const qn_prep **prep = QN_NEW(m->arena, const qn_prep *, id->n);

	for (size_t i = 0; id->prep != NULL && i < id->n; i++) {
		const qn_prep *p = id->prep[i];
		qn_prep *kept;

		if (p == NULL)
			continue;
		prep[i] = kept = qn_arena_copy(m->arena, p, sizeof *p);
		kept->mean = qn_arena_copy(m->arena, p->mean, p->nmean * sizeof *p->mean);
		kept->std = qn_arena_copy(m->arena, p->std, p->nstd * sizeof *p->std);
	}
	m->prep = prep;
	m->nprep = id->n;
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
	remember_prep(p->m, id);
	qn_model_record(p->m, "method=%s", qn_buf_str(&b));
	if (calib->method.mse_weights)
		qn_model_record(p->m, "weight-method=mse");
	for (size_t i = 0; i < id->n; i++)
		qn_model_record(p->m, "calib=%s", id->name[i]);
	if (encodings != NULL)
		qn_model_record(p->m, "encodings=%s", encodings);
}

/* Samples for a model that came with all its parameters. */
void
qn_warn_of_unused(const qn_model *m)
{
	qn_warn(m->env, "calib.unused", m->name,
		"the model is %s already and preserves its parameters: the samples are only used "
		"for a self-test; dequantize and recalibrate a quantized file with --from-float",
		qn_stage_text(m));
}

/* Gives the symbols of values that a file leaves open theirs. */
static qn_status
measure_opened(qn_pipeline *p, qn_dataset *data, const qn_calib_opts *calib, size_t nsymbol)
{
	if (nsymbol == 0)
		return QN_OK;
	QN_TRY(qn_calibrate_model(p->m, data, calib));
	return qn_bind(p->m);
}

/* A model that came quantized: only what it leaves open is calibrated.  What was bound in a round is
 * fixed in the next one; each round quantizes values that were in float.  What samples do not make integer then stays
 * alone in the list of legalize. */
static qn_status
calibrate_open(qn_pipeline *p)
{
	const qn_compile_opts *o = p->opts;
	qn_requant_opts requant = qn_requant_opts_of(o);
	size_t npair, nsymbol, all;
	bool stays;
	qn_calib_opts calib;
	qn_samples_id id;
	qn_dataset *data = NULL;
	qn_buf b;

	requant.require_int = false;
	QN_TRY(qn_one_graph(p, "calibrate"));
	QN_TRY(qn_calib_options(p->m, o, p->crc, p->scratch, &calib, &id));
	QN_TRY(qn_calibration_data(p->m, o, p->scratch, &data));
	calib.keep_fixed = true;
	QN_TRY(qn_open_written(p->m, &npair));
	QN_TRY(measure_opened(p, data, &calib, npair));
	all = npair;
	do {
		QN_TRY(qn_open_values(p->m, &requant, &npair, &nsymbol, &stays));
		QN_TRY(measure_opened(p, data, &calib, nsymbol));
		all += npair;
	} while (npair > 0);
	p->m->opened = p->m->opened || stays; /* what is left is left in spite of samples */
	if (all == 0 && !stays && o->method != NULL)
		return qn_report(p->m->env, QN_EUSAGE, "option.late", "method",
				 "the model is quantized already and has all ranges, this option "
				 "would change nothing; remove it or dequantize the file and "
				 "recalibrate it: --from-float");
	if (all == 0) {
		qn_warn_of_unused(p->m);
		return QN_OK;
	}
	qn_buf_init(&b, p->scratch);
	qn_method_print(&b, &calib.method);
	p->m->opened = true;
	remember_prep(p->m, &id);
	qn_model_record(p->m, "open-method=%s", qn_buf_str(&b));
	for (size_t i = 0; i < id.n; i++)
		qn_model_record(p->m, "calib=%s", id.name[i]);
	return QN_OK;
}

/* Parts of patterns that this call does not know, as those of a saved model: whether such a pattern calibrates its
 * symbols by a callback is not known either. */
static void
warn_of_unregistered(const qn_pipeline *p)
{
	qn_quant_opts all = p->quant;
	qn_map told;

	all.no_standard = false;
	qn_map_init(&told, p->scratch);
	for (const qn_part *part = qn_model_entry(p->m)->parts; part != NULL; part = part->next) {
		if (qn_pattern_find(&all, part->pattern) != NULL ||
		    qn_map_gets(&told, part->pattern) != NULL)
			continue;
		qn_map_puts(&told, part->pattern, p->m);
		qn_warn(p->m->env, "calibrate.unregistered", part->out,
			"pattern '%s' is not registered for this call: its symbols get the ranges "
			"of the samples; if it has a calibrate callback, give it again "
			"(quantizers)",
			part->pattern);
	}
}

qn_status
qn_run_calibrate(qn_pipeline *p)
{
	const qn_compile_opts *o = p->opts;
	qn_calib_opts calib;
	qn_samples_id id;
	qn_dataset *data = NULL;
	qn_encodings *given = NULL;
	const char *file = NULL;
	bool again = qn_has_all_values(
		p->m); /* values that are there stay: then nothing new is recorded */

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
	if (data != NULL && !again)
		warn_of_unregistered(p);
	QN_TRY(qn_calibrate_model(p->m, data, &calib));
	if (!again)
		record_calibration(p, &calib, &id, file);
	return QN_OK;
}

static void
repair_of_layer(const void *rules, const qn_graph *g, const uint32_t *uses, qn_id layer,
		qn_layer_repair *out)
{
	qn_recipe_repair said = {.rounding = out->rounding, .bias = out->bias};

	qn_recipe_repair_layer(rules, g, uses, layer, &said);
	*out = (qn_layer_repair){.rounding = said.rounding, .bias = said.bias};
}

qn_status
qn_run_repair(qn_pipeline *p)
{
	const qn_compile_opts *o = p->opts;
	const qn_repair_opts repair = {
		.all = {.rounding = o->weight_rounding, .bias = o->bias_correction != 0},
		.of_layer = repair_of_layer,
		.rules = p->quant.recipe};
	const bool rounds = repair.all.rounding != QN_WEIGHTS_NEAREST;
	const bool changes_layers =
		repair.all.bias || rounds || qn_recipe_repairs_layers(p->quant.recipe);
	qn_dataset *data;
	qn_graph *repaired = NULL;

	if (!changes_layers && !qn_narrow_is_asked(p))
		return p->quant.has_recipe
			       ? QN_OK
			       : qn_report(p->m->env, QN_EUSAGE, "repair.nothing", p->m->name,
					   "the pass repair has nothing to do: give "
					   "--weight-rounding, --bias-correction or "
					   "--narrow-ranges, or leave it out");
	if (o->ncalib == 0)
		return qn_report(p->m->env, QN_EUSAGE, "repair.no-data", p->m->name,
				 "repairs need the calibration data itself; %s",
				 qn_samples_advice(p->m));
	QN_TRY(qn_calibration_data(p->m, o, p->scratch, &data));
	if (changes_layers)
		QN_TRY(qn_repair(p->m, data, &repair, &repaired));
	if (repaired != NULL)
		qn_model_set_graph(p->m, repaired);
	if (rounds)
		qn_model_record(p->m, "weight-rounding=%s",
				qn_weight_roundings[o->weight_rounding]);
	if (repair.all.bias)
		qn_model_record(p->m, "bias-correction=on");
	return qn_narrow_is_asked(p) ? qn_narrow(p, data) : QN_OK; /* of what the network is then */
}
