/* SPDX-License-Identifier: Apache-2.0 */
/* test_e2e_tflite_lstm.c - an LSTM of codes gives the bytes of TensorFlow Lite Micro's formulas.
 *
 *   small .tflite file ─import─▶ interpreter                = the reference
 *                      └requantize, legalize▶ interpreter  = it too, emitted C = both
 *
 * The reference is in lstm_reference.h. */
#include "tests/e2e/e2e.h"

#include "import/import.h"
#include "passes/passes.h"
#include "tests/e2e/lstm_reference.h"
#include "tests/unit/tflite_writer.h"

/* ---- the file ---- */

/* Table of sigmoid(i / 24) in 0.16, half of the line's middle error taken off; a few entries are
 * those that TFLite prints. */
static void
fill(builder *b, const lstm_case *c, lstm_data *d)
{
	for (int i = 0; i < 256; i++) {
		double y = 65536.0 / (1.0 + exp(-i / 24.0));
		double next = 65536.0 / (1.0 + exp(-(i + 1) / 24.0));
		double middle = 65536.0 / (1.0 + exp(-(i + 0.5) / 24.0));

		d->sigmoid[i] =
			i == 255 ? UINT16_MAX
				 : (uint16_t)floor(y - ((y + next) / 2.0 - middle) / 2.0 + 0.5);
	}
	assert_true(d->sigmoid[1] == 33451 && d->sigmoid[96] == 64357 && d->sigmoid[254] == 65534);
	for (int g = 0; g < GATES; g++)
		for (int i = 0; i < MOST; i++) {
			d->w[g][i] = (int8_t)build_random(b, -127, 127);
			d->r[g][i] = (int8_t)build_random(b, -127, 127);
			d->bias[g][i] = (int32_t)build_random(b, -3000, 3000);
			d->wide_bias[g][i] = build_random(b, -300000, 300000);
		}
	assert_true(c->inputs * c->cells <= MOST && c->cells * c->cells <= MOST);
}

static int
state(tfl_file *f, const char *name, int type, int batch, int cells, float scale, int zp)
{
	int k = tfl_codes(f, name, type, DIMS(batch, cells), scale, zp, NULL, 0);

	f->tensor[k].is_variable = 1;
	return k;
}

/* [1,batch,n] as [batch,n]. */
static void
flat(tfl_file *f, int tensor)
{
	tfl_tensor_of *t = &f->tensor[tensor];

	t->rank = 2;
	t->dim[0] = t->dim[1];
	t->dim[1] = t->dim[2];
}

typedef void spoil_fn(tfl_file *f, tfl_op_of *o);

/* spoil: changes the file before it is written; NULL: none. */
static qn_status
import(builder *b, const lstm_case *c, const lstm_data *d, bool from_float, spoil_fn *spoil)
{
	int type = c->wide ? TFL_INT16 : TFL_INT8, outer = c->time_major ? c->steps : c->batch;
	int inner = c->time_major ? c->batch : c->steps;
	const qn_import_how how = {.from_float = from_float};
	tfl_file *f = tfl_begin();
	int32_t in[20], out;
	size_t n;

	for (int i = 0; i < 20; i++)
		in[i] = -1;
	in[0] = tfl_codes(f, "x", type, DIMS(outer, inner, c->inputs), c->xs, c->xz, NULL, 0);
	for (int g = 0; g < GATES; g++) {
		in[1 + g] = tfl_codes(f, "w", TFL_INT8, DIMS(c->cells, c->inputs), c->ws[g], 0,
				      d->w[g], c->cells * c->inputs);
		in[5 + g] = tfl_codes(f, "r", TFL_INT8, DIMS(c->cells, c->cells), c->rs[g], 0,
				      d->r[g], c->cells * c->cells);
		in[12 + g] = tfl_codes(f, "b", c->wide ? TFL_INT64 : TFL_INT32, DIMS(c->cells),
				       c->xs * c->ws[g], 0,
				       c->wide ? (const void *)d->wide_bias[g] : d->bias[g],
				       c->cells * (c->wide ? 8 : 4));
	}
	in[18] = state(f, "h", type, c->batch, c->cells, c->hs, c->hz);
	in[19] = state(f, "c", TFL_INT16, c->batch, c->cells, ldexpf(1.0f, c->power), 0);
	out = tfl_codes(f, "y", type, DIMS(outer, inner, c->cells), c->hs, c->hz, NULL, 0);
	if (c->single)
		flat(f, in[0]), flat(f, out);
	tfl_op_of *o = tfl_op(f, c->single ? QN_TFL_LSTM : QN_TFL_UNIDIRECTIONAL_SEQUENCE_LSTM, 20,
			      in, 1, &out);
	tfl_with(o, 0, 'b', QN_TFL_ACT_TANH);
	tfl_with(o, 1, 'f', (double)c->clip);
	tfl_with(o, 3, 'b', c->time_major && !c->single);
	if (spoil != NULL)
		spoil(f, o);
	const uint8_t *bytes = tfl_end(f, 1, in, 1, &out, &n);
	bytes = qn_arena_copy(&b->arena, bytes, n);
	free(f);
	return qn_tflite_read(&b->model, "lstm.tflite", bytes, n, &how);
}

/* ---- comparing ---- */

/* All codes of x, also the ends of the storage. */
static const qn_tensor *
sample(builder *b, size_t k)
{
	const qn_type *type = qn_graph_node(b->g, b->g->input[0])->type;
	void *data;
	qn_tensor *x = qn_tensor_new(&b->arena, type, &data);

	for (int64_t i = 0; i < qn_type_count(type); i++)
		qn_store_i64(data, type->elem->plain, i,
			     k == 0   ? type->elem->qmin
			     : k == 1 ? type->elem->qmax
				      : build_random(b, type->elem->qmin, type->elem->qmax));
	return x;
}

static void
same_as_reference(builder *b, const lstm_case *c, lstm_data *d)
{
	int64_t want[MOST];
	int differ = 0;
	qn_interp *in;

	build_check(b, qn_interp_new(b->g, &b->arena, &in) == QN_OK);
	assert_int_equal(b->g->nstate, c->steps == 1 ? 2 : 0);
	for (int k = 0; k < MOST; k++) {
		d->h[k] = c->hz;
		d->cell[k] = 0;
	}
	for (size_t k = 0; k < SAMPLES; k++) {
		const qn_tensor *x = sample(b, k);

		reference(c, d, x, want);
		build_check(b, qn_interp_run(in, &x, NULL, NULL) == QN_OK);
		const qn_tensor *y = qn_interp_output(in, 0);
		for (int64_t i = 0; i < qn_type_count(y->type); i++)
			if (qn_tensor_i64(y, i) != want[i])
				fail_msg("%s, sample %zu: element %d is %d, not %d", c->name, k,
					 (int)i, (int)qn_tensor_i64(y, i), (int)want[i]);
			else
				differ += i > 0 && want[i] != want[i - 1];
	}
	assert_true(differ > SAMPLES || c->cells == 1); /* there is something to compare */
}

static void
check(const lstm_case *c)
{
	lstm_data d = {0};
	builder b;

	print_message("%s\n", c->name);
	build_begin(&b, c->name, 1);
	b.model.stage = QN_STAGE_FLOAT;
	fill(&b, c, &d);
	build_check(&b,
		    import(&b, c, &d, false, NULL) == QN_OK && qn_model_verify(&b.model) == QN_OK);
	assert_int_equal(b.model.stage, QN_STAGE_CALIBRATED);
	b.g = qn_model_entry(&b.model);
	same_as_reference(&b, c, &d);
	assert_true(c->clip <= 0 || d.limited > 0);
	assert_true(strcmp(c->name, "lstm_coarse") != 0 || d.saturated > 0);
	build_check(&b, qn_requantize(&b.model, &(qn_requant_opts){0}) == QN_OK);
	build_check(&b, qn_legalize(&b.model) == QN_OK);
	b.g = qn_model_entry(&b.model);
	same_as_reference(&b, c, &d);
	if (b.g->nstate == 0) /* in C: tests/tflite_streams.sh */
		e2e_check(&b, 4);
	build_end(&b);
}

/* Read in real numbers, an LSTM of codes means the same, to a few codes. */
static void
test_from_float(void **unused)
{
	const lstm_case *c = &cases[0];
	lstm_data d = {0};
	int64_t want[MOST];
	qn_interp *in;
	builder b;
	void *data;

	(void)unused;
	build_begin(&b, c->name, 1);
	b.model.stage = QN_STAGE_FLOAT;
	fill(&b, c, &d);
	build_check(&b, import(&b, c, &d, true, NULL) == QN_OK);
	assert_int_equal(b.model.stage, QN_STAGE_FLOAT);
	b.g = qn_model_entry(&b.model);
	build_check(&b, qn_interp_new(b.g, &b.arena, &in) == QN_OK);
	const qn_type *type = qn_graph_node(b.g, b.g->input[0])->type;
	int64_t n = qn_type_count(type);
	qn_tensor *codes =
		qn_tensor_new(&b.arena, qn_type_plain(&b.model.types, QN_PLAIN_i8, 1, &n), &data);
	for (int64_t i = 0; i < n; i++)
		qn_store_i64(data, QN_PLAIN_i8, i, build_random(&b, -128, 127));
	reference(c, &d, codes, want);
	const qn_tensor *x = qn_tensor_new(&b.arena, type, &data);
	for (int64_t i = 0; i < n; i++)
		qn_store_f64(data, QN_PLAIN_f32, i,
			     (double)c->xs * (double)(qn_tensor_i64(codes, i) - c->xz));
	build_check(&b, qn_interp_run(in, &x, NULL, NULL) == QN_OK);
	const qn_tensor *y = qn_interp_output(in, 0);
	for (int64_t i = 0; i < qn_type_count(y->type); i++)
		assert_true(fabs(qn_tensor_f64(y, i) / (double)c->hs + c->hz - (double)want[i]) <
			    3);
	build_end(&b);
}

/* ---- refused ---- */

static void
cell_scale(tfl_file *f, tfl_op_of *o)
{
	f->tensor[o->in[19]].scale[0] = 0.3f;
}

static void
cell_type(tfl_file *f, tfl_op_of *o)
{
	f->tensor[o->in[19]].type = TFL_INT8;
}

static void
no_cell(tfl_file *f, tfl_op_of *o)
{
	(void)f;
	o->in[19] = -1;
}

static void
constant_state(tfl_file *f, tfl_op_of *o)
{
	static const int8_t zero[4];
	tfl_tensor_of *t = &f->tensor[o->in[18]];

	t->is_variable = 0;
	t->data = zero;
	t->nbyte = 4;
}

static void
coupled(tfl_file *f, tfl_op_of *o)
{
	(void)f;
	o->in[1] = -1;
}

static void
no_bias(tfl_file *f, tfl_op_of *o)
{
	(void)f;
	o->in[14] = -1;
}

static void
peephole(tfl_file *f, tfl_op_of *o)
{
	(void)f;
	o->in[10] = o->in[13];
}

static void
zero_point(tfl_file *f, tfl_op_of *o)
{
	f->tensor[o->in[2]].zp[0] = 1;
}

static void
activation(tfl_file *f, tfl_op_of *o)
{
	(void)f;
	o->option[0].value = QN_TFL_ACT_RELU;
}

/* A state of another shape than that of what is computed. */
static void
other_state(tfl_file *f, tfl_op_of *o)
{
	f->tensor[o->in[18]].dim[0]++;
}

static void
other_cells(tfl_file *f, tfl_op_of *o)
{
	f->tensor[o->out[0]].dim[2]++;
}

/* A scale for each of them would take 64 GB. */
static void
many_cells(tfl_file *f, tfl_op_of *o)
{
	f->tensor[o->out[0]].dim[2] = INT32_MAX;
}

static void
test_refused(void **unused)
{
	static const struct {
		spoil_fn *spoil;
		const char *id, *of; /* the case */
	} rows[] = {
		{cell_scale, "import.type", "lstm_plain"},
		{cell_type, "import.type", "lstm_plain"},
		{no_cell, "import.type", "lstm_plain"},
		{constant_state, "import.input", "lstm_plain"},
		{coupled, "import.type", "lstm_plain"},
		{no_bias, "import.input", "lstm_plain"},
		{peephole, "import.attr", "lstm_plain"},
		{zero_point, "import.type", "lstm_plain"},
		{activation, "import.attr", "lstm_plain"},
		{other_cells, "import.input", "lstm_plain"},
		{many_cells, "import.input", "lstm_plain"},
		{no_cell, "import.input", "lstm_single"},
		{other_state, "import.type", "lstm_single"},
		{other_state, "import.type", "lstm_step"},
	};

	(void)unused;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		const lstm_case *c = cases;
		lstm_data d = {0};
		builder b;

		while (strcmp(c->name, rows[i].of) != 0)
			c++;

		build_begin(&b, "lstm", 1);
		b.model.stage = QN_STAGE_FLOAT;
		fill(&b, c, &d);
		assert_int_equal(import(&b, c, &d, false, rows[i].spoil), QN_EUNSUPPORTED);
		if (!build_reported(&b, rows[i].id))
			fail_msg("row %zu: no %s but %s", i, rows[i].id, b.diags.item[0].id);
		build_end(&b);
	}
}

static void
test_cases(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < QN_COUNT(cases); i++)
		check(&cases[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_from_float),
		cmocka_unit_test(test_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
