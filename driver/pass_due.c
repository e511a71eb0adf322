/* SPDX-License-Identifier: Apache-2.0 */
/* pass_due.c - which passes a model still needs, and the one graph that most of them see. */
#include <string.h>

#include "codegen/inline.h"
#include "driver/pass_rows.h"
#include "driver/solver.h"
#include "ir/loops.h"
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

bool
qn_has_all_values(const qn_model *m)
{
	for (size_t i = 0; i < m->types.nsymbol; i++)
		if (!m->types.symbol[i]->bound)
			return false;
	return m->types.nsymbol > 0;
}

qn_status
qn_one_graph(qn_pipeline *p, const char *pass)
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

static bool
is(const qn_pass_row *pass, qn_pass_id id)
{
	return pass == &qn_passes[id];
}

bool
qn_pass_is_on_request(const qn_pass_row *pass)
{
	return (pass->flags & QN_PASS_ON_REQUEST) != 0;
}

/* The ranges of fake quantization make a calibrated graph of a float one: samples are for values that
 * have none. */
static bool
is_due_after_fakes(const qn_pipeline *p, const qn_pass_row *pass)
{
	if (is(pass, QN_PASS_CALIBRATE))
		return p->opts->ncalib > 0;
	return !is(pass, QN_PASS_EQUALIZE) && !is(pass, QN_PASS_PARTITION) &&
	       !is(pass, QN_PASS_QUANTIZE) && !is(pass, QN_PASS_REPAIR) && !is(pass, QN_PASS_BIND);
}

/* Where a run is to end after it, a recipe that repairs nothing will do. */
static bool
repairs(const qn_pipeline *p)
{
	const qn_compile_opts *o = p->opts;

	return o->bias_correction != 0 || o->narrow_ranges != 0 ||
	       o->weight_rounding != QN_WEIGHTS_NEAREST || qn_recipe_repairs(p->quant.recipe) ||
	       (p->quant.has_recipe && o->stop_after != NULL &&
		strcmp(o->stop_after, qn_passes[QN_PASS_REPAIR].name) == 0);
}

/* Whether loops are written out: where an option says so, or what they carry has no parameters: it gets them only from
 * quantize, from a quantized graph or from samples. */
static bool
writes_loops_out(const qn_pipeline *p)
{
	const qn_compile_opts *o = p->opts;
	const bool came =
		p->m->stage == QN_STAGE_CALIBRATED ||
		(p->m->stage == QN_STAGE_FLOAT && qn_has_op(p->m, QN_OP_const_fake_quant));

	if (!qn_has_loop(qn_model_entry(p->m)))
		return false;
	return o->inline_bodies != 0 || (came && o->ncalib == 0 && !qn_knows_carried(p->m));
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
	if (is(pass, QN_PASS_INLINE_BODIES))
		return writes_loops_out(p) && (last == NULL || last < pass);
	if (is(pass, QN_PASS_CALIBRATE) && m->stage == QN_STAGE_CALIBRATED)
		return p->opts->ncalib > 0 && qn_came_quantized(m) && (last == NULL || pass > last);
	if (is(pass, QN_PASS_INSTRUMENT)) /* once more, for points without statistics */
		return m->stage == QN_STAGE_FLOAT && p->opts->ncalib > 0 && qn_solver_is_due(p) &&
		       (last == NULL || last <= pass);
	if (m->stage > pass->from || (last != NULL && pass <= last))
		return false;
	if (pass < &qn_passes[QN_PASS_QUANTIZE] && qn_is_partitioned(m))
		return false;
	if ((pass->flags & QN_PASS_OF_SOLVER) != 0)
		return solves;
	if (solves && (is(pass, QN_PASS_EQUALIZE) || is(pass, QN_PASS_PARTITION) ||
		       is(pass, QN_PASS_QUANTIZE) || is(pass, QN_PASS_CALIBRATE) ||
		       is(pass, QN_PASS_REPAIR) || is(pass, QN_PASS_BIND)))
		return false;
	if (is(pass, QN_PASS_FAKE_QUANT))
		return has_fakes;
	if (has_fakes && m->stage == QN_STAGE_FLOAT && !is_due_after_fakes(p, pass))
		return false;
	if (m->stage == QN_STAGE_SYMBOLIC &&
	    (is(pass, QN_PASS_AXES) || (is(pass, QN_PASS_CALIBRATE) && qn_has_all_values(m))))
		return false;
	if (is(pass, QN_PASS_REPAIR))
		return repairs(p);
	if (is(pass, QN_PASS_EQUALIZE))
		return p->opts->equalize != 0 || qn_recipe_equalizes(p->quant.recipe);
	return p->opts->align != 0 || !is(pass, QN_PASS_ALIGN);
}

bool
qn_pass_calibrates(const qn_pass_row *pass)
{
	return is(pass, QN_PASS_CALIBRATE);
}
