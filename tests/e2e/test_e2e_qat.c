/* SPDX-License-Identifier: Apache-2.0 */
/* test_e2e_qat.c - TFLite files of quantization-aware training: FAKE_QUANT around every value and weight.
 *
 *   file ─import─▶ quantize, dequantize ─requantize─legalize─▶ integers alone ─▶ C
 *
 * The integer graph gives, within what its roundings make, the real numbers that the graph as it was read
 * gives, and the C the bytes of the interpreter. */
#include "tests/e2e/e2e.h"

#include <math.h>

#include "import/import.h"
#include "passes/passes.h"
#include "tests/unit/tflite_writer.h"

enum { SAMPLES = 4, MOST = 128 };

#define RELU ((int)QN_TFL_ACT_RELU)
#define RELU6 ((int)QN_TFL_ACT_RELU6)

typedef struct net {
	builder b;
	tfl_file *file;
	float store[1024]; /* weights, which the file reads when it ends */
	size_t stored;
} net;

static int
value(net *n, const char *name, int rank, const int32_t *dim)
{
	return tfl_tensor(n->file, name, TFL_FLOAT32, rank, dim, NULL, 0);
}

/* A constant in lo..hi, both of them reached. */
static int
weights(net *n, const char *name, double lo, double hi, int rank, const int32_t *dim)
{
	int count = 1;
	float *v = n->store + n->stored;

	for (int i = 0; i < rank; i++)
		count *= dim[i];
	assert_true(n->stored + (size_t)count <= QN_COUNT(n->store));
	n->stored += (size_t)count;
	for (int i = 0; i < count; i++)
		v[i] = (float)(i == 0   ? lo
			       : i == 1 ? hi
					: lo + (hi - lo) * (double)build_random(&n->b, 0, 4096) /
							  4096);
	return tfl_tensor(n->file, name, TFL_FLOAT32, rank, dim, v, 4 * count);
}

static int
faked(net *n, const char *name, int x, double lo, double hi, int bits, bool narrow)
{
	const tfl_tensor_of *like = &n->file->tensor[x];
	int y = value(n, name, like->rank, like->dim);
	tfl_op_of *o = tfl_op(n->file, QN_TFL_FAKE_QUANT, INTS(x), INTS(y));

	tfl_with(o, 0, 'f', lo);
	tfl_with(o, 1, 'f', hi);
	tfl_with(o, 2, 'i', bits);
	tfl_with(o, 3, 'b', narrow);
	return y;
}

/* Weights as training leaves them: a range around 0, without the smallest code. */
static int
faked_weights(net *n, const char *name, double range, int rank, const int32_t *dim)
{
	return faked(n, name, weights(n, "w", -range, range, rank, dim), -range, range, 8, true);
}

/* A convolution of stride 1 with all zeros around, its activation fused; op: either of both. */
static int
conv(net *n, int op, int x, int w, int bias, int y, int activation)
{
	bool deep = op == QN_TFL_DEPTHWISE_CONV_2D;
	tfl_op_of *o = tfl_op(n->file, op, INTS(x, w, bias), INTS(y));

	tfl_with(o, 1, 'i', 1);
	tfl_with(o, 2, 'i', 1);
	if (deep)
		tfl_with(o, 3, 'i', 1);
	tfl_with(o, deep ? 4 : 3, 'b', activation);
	return y;
}

static void
begin(net *n, const char *name, uint64_t seed)
{
	memset(n, 0, sizeof *n);
	build_begin(&n->b, name, seed);
	n->b.model.stage = QN_STAGE_FLOAT;
	n->file = tfl_begin();
}

/* Outputs of the graph as reals, from samples of reals that its input's codes stand for. */
static void
run(net *n, const float *x, double *y, int64_t *count)
{
	builder *b = &n->b;
	const qn_types *t = &b->model.types;
	const qn_type *type = qn_graph_node(b->g, b->g->input[0])->type;
	const qn_type *real = qn_type_plain(&b->model.types, QN_PLAIN_f32, type->rank, type->dim);
	const qn_tensor *in = qn_tensor_view(&b->arena, real, x);
	qn_interp *interp;

	if (qn_elem_is_quant(type->elem))
		in = qn_tensor_quantize(t, &b->arena, in, type);
	build_check(b, qn_interp_new(b->g, &b->arena, &interp) == QN_OK);
	build_check(b, qn_interp_run(interp, &in, NULL, NULL) == QN_OK);
	const qn_tensor *out = qn_interp_output(interp, 0);
	const qn_elem *e = out->type->elem;
	double scale = 1;
	int64_t zp = 0;
	if (qn_elem_is_quant(e))
		qn_elem_param(t, e, 0, &scale, &zp);
	*count = qn_type_count(out->type);
	assert_true(*count <= MOST);
	for (int64_t i = 0; i < *count; i++)
		y[i] = qn_elem_is_quant(e) ? scale * (double)(qn_tensor_i64(out, i) - zp)
					   : qn_tensor_f64(out, i);
}

static void
no_reals(const net *n)
{
	for (qn_id id = 1; id < n->b.g->n; id++) {
		const qn_node *node = qn_graph_node(n->b.g, id);

		if (!node->type->is_tuple && qn_elem_is_float(node->type->elem))
			fail_msg("%s '%s' is real", qn_opinfo_of(node)->name, node->name);
	}
}

/* Reads the file, makes it integer and emits it; bound: by how much both may differ. */
static void
check(net *n, int x, int y, double bound)
{
	const qn_import_how how = {0};
	builder *b = &n->b;
	double before[SAMPLES][MOST], after[MOST], span = 0;
	float in[SAMPLES][MOST];
	int64_t count = 0;
	size_t size;
	const uint8_t *bytes = tfl_end(n->file, INTS(x), INTS(y), &size);

	build_check(b, qn_tflite_read(&b->model, "qat.tflite", bytes, size, &how) == QN_OK);
	build_check(b, qn_model_verify(&b->model) == QN_OK);
	assert_int_equal(b->model.stage, QN_STAGE_CALIBRATED);
	b->g = qn_model_entry(&b->model);
	for (int k = 0; k < SAMPLES; k++) {
		for (int i = 0; i < MOST; i++)
			in[k][i] = (float)build_random(b, -127, 127) / 128;
		run(n, in[k], before[k], &count);
	}
	build_check(b, qn_requantize(&b->model, &(qn_requant_opts){0}) == QN_OK);
	build_check(b, qn_legalize(&b->model) == QN_OK);
	b->g = qn_model_entry(&b->model);
	no_reals(n);
	for (int k = 0; k < SAMPLES; k++) {
		run(n, in[k], after, &count);
		for (int64_t i = 0; i < count; i++) {
			span = fmax(span, fabs(before[k][i]));
			if (!(fabs(after[i] - before[k][i]) <= bound))
				fail_msg("element %d: %g, as it was read %g", (int)i, after[i],
					 before[k][i]);
		}
	}
	assert_true(span > 8 * bound); /* there is something to compare */
	e2e_check(b, SAMPLES);
	build_end(b);
	free(n->file);
}

#define UNIT -1.0, 127.0 / 128, 8, false

/* conv, relu, fake; depthwise with relu6 fused, fake; pool, rows, dense, fake. */
static void
chain(void **state)
{
	net n;

	(void)state;
	begin(&n, "chain", 1);
	int in = value(&n, "x", DIMS(1, 6, 6, 2)), x = faked(&n, "x.q", in, UNIT);
	int w = faked_weights(&n, "w1", 0.6, DIMS(4, 3, 3, 2));
	int c = conv(&n, QN_TFL_CONV_2D, x, w, weights(&n, "b1", -0.3, 0.4, DIMS(4)),
		     value(&n, "c", DIMS(1, 6, 6, 4)), 0);
	int r = value(&n, "r", DIMS(1, 6, 6, 4));
	tfl_op(n.file, QN_TFL_RELU, INTS(c), INTS(r));
	r = faked(&n, "r.q", r, 0, 4, 8, false);
	w = faked_weights(&n, "w2", 0.9, DIMS(1, 3, 3, 4));
	int d = conv(&n, QN_TFL_DEPTHWISE_CONV_2D, r, w, weights(&n, "b2", -0.2, 0.2, DIMS(4)),
		     value(&n, "d", DIMS(1, 6, 6, 4)), RELU6);
	d = faked(&n, "d.q", d, 0, 6, 8, false);
	int p = value(&n, "p", DIMS(1, 3, 3, 4)), f = value(&n, "f", DIMS(1, 36));
	tfl_op_of *o = tfl_op(n.file, QN_TFL_MAX_POOL_2D, INTS(d), INTS(p));
	for (uint32_t k = 1; k <= 4; k++)
		tfl_with(o, k, 'i', 2);
	tfl_op(n.file, QN_TFL_RESHAPE, INTS(p), INTS(f));
	w = faked_weights(&n, "w3", 0.5, DIMS(5, 36));
	int y = value(&n, "y", DIMS(1, 5));
	tfl_op(n.file, QN_TFL_FULLY_CONNECTED, INTS(f, w, weights(&n, "b3", -1, 1, DIMS(5))),
	       INTS(y));
	check(&n, in, faked(&n, "y.q", y, -12, 12, 8, false), 0.3);
}

/* One value behind FAKE_QUANT is read by two convolutions, whose weights are the same too, and by the sum at the end. */
static void
shared(void **state)
{
	net n;

	(void)state;
	begin(&n, "shared", 2);
	int in = value(&n, "x", DIMS(1, 5, 5, 3)), x = faked(&n, "x.q", in, UNIT);
	int w = faked_weights(&n, "w", 0.5, DIMS(3, 1, 1, 3)), part[2], s[2];
	for (int k = 0; k < 2; k++) {
		int c = conv(&n, QN_TFL_CONV_2D, x, w,
			     weights(&n, k == 0 ? "b0" : "b1", -0.5, 0.5, DIMS(3)),
			     value(&n, k == 0 ? "c0" : "c1", DIMS(1, 5, 5, 3)), k == 0 ? 0 : RELU);
		part[k] = faked(&n, k == 0 ? "q0" : "q1", c, k == 0 ? -2 : 0, 2, 8, false);
	}
	for (int k = 0; k < 2; k++) {
		s[k] = value(&n, k == 0 ? "s0" : "s1", DIMS(1, 5, 5, 3));
		tfl_op(n.file, QN_TFL_ADD, INTS(k == 0 ? x : s[0], part[k]), INTS(s[k]));
		s[k] = faked(&n, k == 0 ? "s0.q" : "s1.q", s[k], -3, 5, 8, false);
	}
	check(&n, in, s[1], 0.1);
}

/* What training gives no range: an average has that of its operand, softmax and logistic have their own, behind which
 * another one may follow. */
static void
tail(void **state)
{
	net n;

	(void)state;
	begin(&n, "tail", 4);
	int in = value(&n, "x", DIMS(1, 6, 6, 2)), x = faked(&n, "x.q", in, UNIT);
	int p = value(&n, "p", DIMS(1, 3, 3, 2)), y = value(&n, "y", DIMS(1, 3, 3, 5));
	tfl_op_of *o = tfl_op(n.file, QN_TFL_AVERAGE_POOL_2D, INTS(x), INTS(p));
	for (uint32_t k = 1; k <= 4; k++)
		tfl_with(o, k, 'i', 2);
	int w = faked_weights(&n, "w1", 0.6, DIMS(4, 3, 3, 2));
	int c = conv(&n, QN_TFL_CONV_2D, p, w, weights(&n, "b1", -0.3, 0.4, DIMS(4)),
		     value(&n, "c", DIMS(1, 3, 3, 4)), 0);
	c = faked(&n, "c.q", c, -2, 3, 8, false);
	int s = value(&n, "s", DIMS(1, 3, 3, 4));
	tfl_op(n.file, QN_TFL_LOGISTIC, INTS(c), INTS(s));
	w = faked_weights(&n, "w2", 4, DIMS(5, 1, 1, 4));
	c = conv(&n, QN_TFL_CONV_2D, faked(&n, "s.q", s, 0, 0.9, 8, false), w,
		 weights(&n, "b2", -1, 1, DIMS(5)), value(&n, "d", DIMS(1, 3, 3, 5)), 0);
	tfl_with(
		tfl_op(n.file, QN_TFL_SOFTMAX, INTS(faked(&n, "d.q", c, -8, 8, 8, false)), INTS(y)),
		0, 'f', 1);
	check(&n, in, y, 0.03);
}

/* Weights of 4 bits, and a range that does not lie around 0. */
static void
ranges(void **state)
{
	net n;

	(void)state;
	begin(&n, "ranges", 3);
	int in = value(&n, "x", DIMS(1, 4, 4, 2)), x = faked(&n, "x.q", in, -0.3, 1, 8, false);
	int w = faked(&n, "w4", weights(&n, "w", -0.4, 0.4, DIMS(2, 3, 3, 2)), -0.4, 0.4, 4, true);
	int c = conv(&n, QN_TFL_CONV_2D, x, w, weights(&n, "b", -1, 1, DIMS(2)),
		     value(&n, "c", DIMS(1, 4, 4, 2)), 0);
	check(&n, in, faked(&n, "c.q", c, -4, 3, 8, false), 0.06);
}

/* Weights that are not spread around 0: 9 bits without their zero point, in a depthwise layer and a dense one. */
static void
lopsided(void **state)
{
	net n;

	(void)state;
	begin(&n, "lopsided", 6);
	int in = value(&n, "x", DIMS(1, 4, 4, 2)), x = faked(&n, "x.q", in, UNIT);
	int w = faked(&n, "w1", weights(&n, "w", -0.2, 0.7, DIMS(1, 3, 3, 2)), -0.2, 0.7, 8, true);
	int d = conv(&n, QN_TFL_DEPTHWISE_CONV_2D, x, w, weights(&n, "b1", -1, 1, DIMS(2)),
		     value(&n, "d", DIMS(1, 4, 4, 2)), 0);
	d = faked(&n, "d.q", d, -4, 4, 8, false);
	int f = value(&n, "f", DIMS(1, 32)), y = value(&n, "y", DIMS(1, 5));
	tfl_op(n.file, QN_TFL_RESHAPE, INTS(d), INTS(f));
	w = faked(&n, "w2", weights(&n, "w", 0, 0.5, DIMS(5, 32)), 0, 0.5, 8, false);
	tfl_op(n.file, QN_TFL_FULLY_CONNECTED, INTS(f, w, weights(&n, "b2", -1, 1, DIMS(5))),
	       INTS(y));
	check(&n, in, faked(&n, "y.q", y, -10, 10, 8, false), 0.2);
}

/* i16 of so many bits, in ranges that lie on one side of 0, or more on one side. */
static void
wide(void **state)
{
	static const struct {
		const char *name;
		int bits;
		double lo, hi;
	} of[] = {{"wide9", 9, 0, 3},
		  {"wide15", 15, 0, 3},
		  {"wide16", 16, 0, 3},
		  {"below16", 16, -3, 0},
		  {"about16", 16, -1, 3}};

	(void)state;
	for (size_t k = 0; k < QN_COUNT(of); k++) {
		net n;

		begin(&n, of[k].name, 7);
		int in = value(&n, "x", DIMS(1, 8));
		int x = faked(&n, "x.q", in, -1, 1, of[k].bits, false);
		int w = faked_weights(&n, "w1", 0.6, DIMS(6, 8));
		int h = value(&n, "h", DIMS(1, 6)), y = value(&n, "y", DIMS(1, 5));
		tfl_op(n.file, QN_TFL_FULLY_CONNECTED,
		       INTS(x, w, weights(&n, "b1", -0.3, 0.4, DIMS(6))), INTS(h));
		h = faked(&n, "h.q", h, of[k].lo, of[k].hi, of[k].bits, false);
		w = faked_weights(&n, "w2", 0.5, DIMS(5, 6));
		tfl_op(n.file, QN_TFL_FULLY_CONNECTED,
		       INTS(h, w, weights(&n, "b2", -1, 1, DIMS(5))), INTS(y));
		check(&n, in, faked(&n, "y.q", y, -4, 4, of[k].bits, false),
		      of[k].bits == 9 ? 0.04 : 0.001);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chain),  cmocka_unit_test(shared),   cmocka_unit_test(tail),
		cmocka_unit_test(ranges), cmocka_unit_test(lopsided), cmocka_unit_test(wide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
