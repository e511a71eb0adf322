/* SPDX-License-Identifier: Apache-2.0 */
/* test_mnist.c - the example of TVM's quantization RFC: two dense layers on 28x28 images, batch
 * 5.
 *
 *   reshape [5,784] -> dense 128 + bias -> relu -> dense 10 + bias -> softmax
 *
 * Under the scheme `rfc` it keeps real inputs and outputs: 1 quantize, 1 requantize, 1
 * dequantize, a float softmax.  Under the default scheme all is integer: two requantizes and an
 * integer softmax. */
#include "tests/unit/run_util.h"

#include <math.h>

#include "calibrate/calibrate.h"
#include "passes/passes.h"
#include "patterns/quantizer.h"
#include "runtime/interp.h"

enum { BATCH = 5, PIXELS = 784, HIDDEN = 128, CLASSES = 10, BATCHES = 20 };

static double *
weights(int64_t n, double scale)
{
	double *v = reals(n);

	for (int64_t i = 0; i < n; i++)
		v[i] = (double)(float)(v[i] * scale);
	return v;
}

static double *images;
static double *b1;
static double *w1;

/* Images in [0, 1], like pixels. */
static void
build(void)
{
	images = reals((int64_t)BATCHES * BATCH * PIXELS);
	for (int64_t i = 0; i < (int64_t)BATCHES * BATCH * PIXELS; i++)
		images[i] = (double)(float)fabs(images[i] / 2);
	w1 = weights(HIDDEN * PIXELS, 0.03);
	b1 = weights(HIDDEN, 0.2);
	qn_attrs flat;
	qn_attrs_default(QN_ATTRS(shape), &flat);
	flat.shape.shape = (qn_list){2, {BATCH, PIXELS}};

	qn_id x = input("image", "tensor<5x28x28x1xf32>");
	qn_id y = op1(QN_OP_reshape, x, &flat, NULL);
	y = op2(QN_OP_dense, y, constant("w1", "tensor<128x784xf32>", w1), NULL, NULL);
	y = op2(QN_OP_bias_add, y, constant("b1", "tensor<128xf32>", b1), NULL, NULL);
	y = op1(QN_OP_relu, y, NULL, NULL);
	y = op2(QN_OP_dense, y,
		constant("w2", "tensor<10x128xf32>", weights(CLASSES * HIDDEN, 0.1)), NULL, NULL);
	y = op2(QN_OP_bias_add, y, constant("b2", "tensor<10xf32>", weights(CLASSES, 0.2)), NULL,
		NULL);
	output(op1(QN_OP_softmax, y, NULL, NULL));
	qn_model_add_graph(&rg->m, rg->g);
}

static qn_dataset *
dataset(void)
{
	static const char *const names[1] = {"images"};
	const qn_tensor *x[1] = {tensor(type("tensor<100x28x28x1xf32>"), images)};
	qn_dataset *d;

	assert_int_equal(qn_dataset_arrays(qn_model_entry(&rg->m), &rg->arena, 1, x, names, &d),
			 QN_OK);
	return d;
}

static void
quantize(const qn_quant_opts *opts)
{
	assert_int_equal(qn_clean(&rg->m), QN_OK);
	assert_int_equal(qn_partition(&rg->m, opts), QN_OK);
	assert_int_equal(qn_quantize_model(&rg->m, opts), QN_OK);
	assert_int_equal(qn_calibrate_model(&rg->m, dataset(), NULL), QN_OK);
	assert_int_equal(qn_bind(&rg->m), QN_OK);
	assert_int_equal(qn_requantize(&rg->m, NULL), QN_OK);
	no_errors();
	assert_int_equal(qn_model_verify(&rg->m), QN_OK);
	rg->g = qn_model_entry(&rg->m);
}

/* The ops of the nodes from the input to the output along first operands. */
static void
expect_chain(size_t n, const qn_op *want)
{
	qn_id id = rg->g->output[0].value;

	while (n-- > 0) {
		assert_string_equal(qn_opinfo_get(qn_graph_node(rg->g, id)->op)->name,
				    qn_opinfo_get(want[n])->name);
		id = qn_graph_node(rg->g, id)->nin > 0 ? qn_graph_node(rg->g, id)->in[0] : 0;
	}
	assert_int_equal(id, 0);
}

static uint32_t
count(qn_op kind)
{
	uint32_t n = 0;

	for (qn_id id = 1; id < rg->g->n; id++)
		n += qn_graph_node(rg->g, id)->op == kind;
	return n;
}

/* The first dense of the graph. */
static const qn_node *
first_dense(void)
{
	for (qn_id id = 1; id < rg->g->n; id++)
		if (qn_graph_node(rg->g, id)->op == QN_OP_dense)
			return qn_graph_node(rg->g, id);
	fail();
	return NULL;
}

/* Outputs of all batches, dequantized. */
static double *
outputs(const qn_graph *g)
{
	qn_dataset *d = dataset();
	qn_interp *in;
	double *all = reals((int64_t)BATCHES * BATCH * CLASSES);

	assert_int_equal(qn_interp_new(g, &rg->arena, &in), QN_OK);
	for (size_t i = 0; i < d->nbatch; i++) {
		const qn_tensor *const *x;

		assert_int_equal(d->get(d, i, &rg->arena, &x), QN_OK);
		assert_int_equal(qn_interp_run(in, x, NULL, NULL), QN_OK);
		for (int64_t k = 0; k < BATCH * CLASSES; k++)
			all[(int64_t)i * BATCH * CLASSES + k] =
				qn_tensor_f64(qn_interp_output(in, 0), k);
	}
	return all;
}

static void
expect_agreement(const double *want, const double *have)
{
	int agree = 0;

	for (int s = 0; s < BATCHES * BATCH; s++) {
		int a = 0, b = 0;

		for (int k = 1; k < CLASSES; k++) {
			a = want[s * CLASSES + k] > want[s * CLASSES + a] ? k : a;
			b = have[s * CLASSES + k] > have[s * CLASSES + b] ? k : b;
		}
		agree += a == b;
	}
	assert_true(agree >= 98);
	near(want, have, (int64_t)BATCHES * BATCH * CLASSES, 0.02);
}

static void
test_rfc_structure(void **state)
{
	const qn_op chain[] = {QN_OP_input, QN_OP_reshape,    QN_OP_quantize,
			       QN_OP_dense, QN_OP_requantize, QN_OP_relu,
			       QN_OP_dense, QN_OP_dequantize, QN_OP_softmax};
	const qn_types *t = &rg->m.types;

	(void)state;
	build();
	double *want = outputs(rg->g);
	quantize(&(qn_quant_opts){.scheme = QN_SCHEME_RFC, .per_tensor_weights = true});
	expect_chain(QN_COUNT(chain), chain);
	assert_int_equal(count(QN_OP_quantize), 1);
	assert_int_equal(count(QN_OP_requantize), 1);
	assert_int_equal(count(QN_OP_dequantize), 1);
	expect_agreement(want, outputs(rg->g));

	/* weights within [-127, 127], bias in units of the product of both scales */
	const qn_node *d = first_dense();
	const qn_tensor *w = qn_graph_node(rg->g, d->in[1])->value;
	const qn_tensor *b = qn_graph_node(rg->g, d->in[2])->value;
	double sx, sw;
	int64_t zp;
	qn_elem_param(t, qn_graph_node(rg->g, d->in[0])->type->elem, 0, &sx, &zp);
	assert_int_equal(zp, 0);
	qn_elem_param(t, w->type->elem, 0, &sw, &zp);
	for (int64_t i = 0; i < HIDDEN * PIXELS; i++)
		assert_true(qn_tensor_i64(w, i) >= -127 && qn_tensor_i64(w, i) <= 127);
	for (int64_t i = 0; i < HIDDEN; i++)
		assert_int_equal(qn_tensor_i64(b, i), (int64_t)rint(b1[i] / (sx * sw)));
	for (qn_id id = 1; id < rg->g->n; id++)
		if (qn_graph_node(rg->g, id)->op == QN_OP_const)
			assert_true(qn_elem_is_quant(qn_graph_node(rg->g, id)->type->elem));
}

static void
test_rfc_compile_names_softmax(void **state)
{
	(void)state;
	build();
	quantize(&(qn_quant_opts){.scheme = QN_SCHEME_RFC, .per_tensor_weights = true});
	assert_int_equal(qn_legalize(&rg->m), QN_EUNSUPPORTED);
	bool named = false;
	for (size_t i = 0; i < rg->diags.n; i++)
		named = named || strstr(rg->diags.item[i].message, "softmax") != NULL;
	assert_true(named);
	assert_string_equal(rg->diags.item[0].id, "legalize.float");
}

static void
test_default_is_integer(void **state)
{
	const qn_op chain[] = {QN_OP_input, QN_OP_reshape,    QN_OP_dense,  QN_OP_requantize,
			       QN_OP_dense, QN_OP_requantize, QN_OP_softmax};

	(void)state;
	build();
	double *want = outputs(rg->g);
	quantize(&(qn_quant_opts){0});
	expect_agreement(want, outputs(rg->g));
	assert_int_equal(qn_legalize(&rg->m), QN_OK);
	no_errors();
	assert_int_equal(qn_model_verify(&rg->m), QN_OK);
	rg->g = qn_model_entry(&rg->m);
	expect_chain(QN_COUNT(chain), chain);
	assert_int_equal(count(QN_OP_requantize), 2);
	assert_int_equal(count(QN_OP_softmax), 1);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_rfc_structure),
		TEST(test_rfc_compile_names_softmax),
		TEST(test_default_is_integer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
