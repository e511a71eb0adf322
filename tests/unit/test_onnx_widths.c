/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_widths.c - QuantizeLinear and DequantizeLinear of 2, 4 and 16 bits around a network become
 * integer in storage that kernels have. Each network is run as it stands in the file, which is ONNX's
 * definition, and as integers. */
#include "tests/unit/onnx_rig.h"

#include <math.h>
#include <stdio.h>

#include "passes/passes.h"

enum { SAMPLES = 8, IN = 8, OUT = 3, UINT16 = 4, INT16 = 5, UINT4 = 21 };

/* One storage type of a file: QuantizeLinear of input and output. */
typedef struct width {
	const char *name;
	int type;
	size_t bytes;
	double in, out; /* scales */
	int zin, zout;
	double most;      /* steps of the output that the integers may be off */
	const char *want; /* the types of both ends as integers */
	const char *gives;
} width;

static const width widths[] = {
	{"u4", UINT4, 1, 0.25, 0.5, 7, 3, 0, "u8<0:15>:f32, 0.25:7", "u8<0:15>:f32, 0.5:3"},
	{"i4", ONX_INT4, 1, 0.25, 0.5, 1, -8, 0, "i8<-8:7>:f32, 0.25:1", "i8<-8:7>:f32, 0.5:-8"},
	{"u2", ONX_UINT2, 1, 0.5, 1, 2, 1, 0, "u8<0:3>:f32, 0.5:2", "u8<0:3>:f32, 1.0:1"},
	{"i2", ONX_INT2, 1, 0.5, 1, 0, -1, 0, "i8<-2:1>:f32, 0.5", "i8<-2:1>:f32, 1.0:-1"},
	{"u16 middle", UINT16, 2, 0x1p-14, 0x1p-12, 32768, 32768, 0, "i16:f32, 6.103515625e-05",
	 "i16:f32, 0.000244140625"},
	{"u16 shifted", UINT16, 2, 0x1p-14, 0x1p-12, 30000, 0, 3, NULL, NULL},
	{"i16", INT16, 2, 0x1p-14, 0x1p-12, 0, 0, 0, "i16:f32, 6.103515625e-05",
	 "i16:f32, 0.000244140625"},
	{"i16 shifted", INT16, 2, 0x1p-14, 0x1p-12, -900, -32768, 3, NULL, NULL},
};

static void
zero_point(const char *name, const width *w, int v)
{
	const uint8_t narrow = (uint8_t)v;
	const uint16_t wide = (uint16_t)v;

	onx_tensor(file, name, w->type, "", w->bytes == 2 ? (const void *)&wide : &narrow,
		   w->bytes);
}

static void
parameters(const width *w)
{
	onx_floats(file, "si", "", &(const float){(float)w->in});
	onx_floats(file, "so", "", &(const float){(float)w->out});
	zero_point("zi", w, w->zin);
	zero_point("zo", w, w->zout);
}

static void
product(void)
{
	int8_t codes[IN * OUT];

	for (size_t i = 0; i < sizeof(codes); i++)
		codes[i] = (int8_t)pick(-127, 127);
	onx_tensor(file, "w", ONX_INT8, "8,3", codes, sizeof(codes));
	onx_floats(file, "ws", "", &(const float){0x1p-7f});
	onx_node(file, "DequantizeLinear", "w,ws", "wd");
	onx_node(file, "MatMul", "d,wd", "m");
	onx_node(file, "Relu", "m", "r");
}

static void
lower(void)
{
	qn_status status = qn_axes(&rg->m);

	if (status == QN_OK)
		status = qn_requantize(&rg->m, NULL);
	if (status == QN_OK)
		status = qn_legalize(&rg->m);
	if (status == QN_OK)
		status = qn_model_verify(&rg->m);
	no_errors();
	assert_int_equal(status, QN_OK);
	rg->g = qn_model_entry(&rg->m);
}

static const qn_elem *
elem_of(qn_id id)
{
	return qn_graph_node(rg->g, id)->type->elem;
}

static void
params_of(const qn_elem *e, double *scale, double *zp)
{
	int64_t z;

	qn_elem_param(&rg->m.types, e, 0, scale, &z);
	*zp = (double)z;
}

/* Floats as values of e, as QuantizeLinear makes them. */
static double *
quantized(const double *x, const qn_elem *e)
{
	double *q = qn_arena_alloc(&rg->arena, IN, sizeof *q), scale, zp;

	params_of(e, &scale, &zp);
	for (int i = 0; i < IN; i++)
		q[i] = fmin(fmax(rint((double)((float)x[i] / (float)scale)) + zp, (double)e->qmin),
			    (double)e->qmax);
	return q;
}

static const qn_elem *
element(const char *text)
{
	char buf[96];

	(void)snprintf(buf, sizeof(buf), "tensor<1x!quant.uniform<%s>>", text);
	return type(buf)->elem;
}

static void
test_float_ports(void **state)
{
	(void)state;
	for (size_t k = 0; k < QN_COUNT(widths); k++) {
		const width *w = &widths[k];
		double x[SAMPLES][IN], *want[SAMPLES], scale, zp, off = 0;

		another_file();
		onx_input(file, "x", ONX_FLOAT, "1,8");
		parameters(w);
		onx_node(file, "QuantizeLinear", "x,si,zi", "q");
		onx_node(file, "DequantizeLinear", "q,si,zi", "d");
		product();
		onx_node(file, "QuantizeLinear", "r,so,zo", "p");
		onx_node(file, "DequantizeLinear", "p,so,zo", "y");
		onx_output(file, "y");
		import(25);
		for (int s = 0; s < SAMPLES; s++) {
			for (int i = 0; i < IN; i++)
				x[s][i] = 2.2 * real();
			want[s] = run1(x[s]);
		}
		lower();
		const qn_elem *in = elem_of(rg->g->input[0]);
		const qn_elem *out = elem_of(rg->g->output[0].value);
		if (w->want != NULL) {
			assert_ptr_equal(in, element(w->want));
			assert_ptr_equal(out, element(w->gives));
		}
		params_of(out, &scale, &zp);
		for (int s = 0; s < SAMPLES; s++) {
			const double *have = run1(quantized(x[s], in));

			for (int i = 0; i < OUT; i++)
				off = fmax(off, fabs((have[i] - zp) * scale - want[s][i]));
		}
		if (!(off <= w->most * w->out))
			fail_msg("%s: %g steps off", w->name, off / w->out);
	}
}

/* Integers of the file at both ends: uint16 comes in as it is and goes out less 32768. */
static void
test_integer_ports(void **state)
{
	(void)state;
	for (size_t k = 4; k < QN_COUNT(widths); k++) {
		const width *w = &widths[k];
		const bool is_signed = w->type == INT16;
		const double least = is_signed ? -32768 : 0, by = is_signed ? 0 : 32768;
		double x[SAMPLES][IN], *want[SAMPLES], off = 0;

		another_file();
		onx_input(file, "x", w->type, "1,8");
		parameters(w);
		onx_node(file, "DequantizeLinear", "x,si,zi", "d");
		product();
		onx_node(file, "QuantizeLinear", "r,so,zo", "y");
		onx_output(file, "y");
		import(25);
		for (int s = 0; s < SAMPLES; s++) {
			for (int i = 0; i < IN; i++)
				x[s][i] = least + (double)pick(0, 65535);
			want[s] = run1(x[s]);
		}
		lower();
		for (int s = 0; s < SAMPLES; s++) {
			const double *have = run1(x[s]);

			for (int i = 0; i < OUT; i++)
				off = fmax(off, fabs(have[i] + by - want[s][i]));
		}
		if (!(off <= w->most))
			fail_msg("%s: %g steps off", w->name, off);
	}
}

/* The message names what has the scales, which is the input where that is quantized, also where a transpose
 * stands between.  Weights in blocks are multiplied as they are. */
static void
test_many_scales(void **state)
{
	static const struct {
		const char *x, *scales; /* their shapes */
		int nscale, block, weight_block;
		const char *why; /* it stays float; NULL: it becomes integer */
	} cases[] = {
		{"8,1", "8", 8, 0, 0, NULL}, /* of channels: they are aligned */
		{"8,1", "4,1", 4, 2, 0, NULL},
		{"8,1", "4,3", 12, 0, 2, NULL},
		{"8,2", "4,2", 8, 2, 0, "'x' has one scale per block"}, /* along two axes */
	};
	const float s[24] = {0.5f, 1, 0.25f, 0.5f, 1, 0.25f, 0.5f, 1,    0.5f, 1, 0.25f, 0.5f,
			     1,    1, 0.25f, 1,    1, 1,     1,    0.5f, 0.5f, 1, 1,     2};
	const uint8_t z[24] = {0};

	(void)state;
	for (size_t k = 0; k < QN_COUNT(cases); k++) {
		const bool weights = cases[k].weight_block > 0;
		char message[512] = "";

		another_file();
		onx_input(file, "x", ONX_FLOAT, cases[k].x);
		parameters(&(const width){.type = ONX_INT8, .bytes = 1, .in = 1, .out = 1});
		onx_floats(file, "s", cases[k].scales, s);
		onx_tensor(file, "z", ONX_INT8, cases[k].scales, z, (size_t)cases[k].nscale);
		onx_int(file, "axis", 0);
		onx_int(file, "block_size", cases[k].block);
		onx_node(file, "QuantizeLinear", weights ? "x,si,zi" : "x,s,z", "p");
		onx_int(file, "axis", 0);
		onx_int(file, "block_size", cases[k].block);
		onx_node(file, "DequantizeLinear", weights ? "p,si,zi" : "p,s,z", "e");
		onx_node(file, "Transpose", "e", "d");
		onx_tensor(file, "w", ONX_INT8, "8,3", z, sizeof(z));
		onx_int(file, "axis", 0);
		onx_int(file, "block_size", cases[k].weight_block);
		onx_node(file, "DequantizeLinear", weights ? "w,s,z" : "w,si,zi", "wd");
		onx_node(file, "MatMul", "d,wd", "m");
		onx_node(file, "QuantizeLinear", "m,so,zo", "y");
		onx_output(file, "y");
		import(25);
		assert_int_equal(qn_axes(&rg->m), QN_OK);
		assert_int_equal(qn_requantize(&rg->m, NULL), QN_OK);
		if (cases[k].why == NULL) {
			assert_int_equal(qn_legalize(&rg->m), QN_OK);
			continue;
		}
		assert_int_not_equal(qn_legalize(&rg->m), QN_OK);
		for (size_t i = 0; i < rg->diags.n; i++)
			if (strstr(rg->diags.item[i].message, "matmul") != NULL)
				(void)snprintf(message, sizeof(message), "%s",
					       rg->diags.item[i].message);
		if (strstr(message, cases[k].why) == NULL)
			fail_msg("%zu: %s", k, message);
		qn_diags_clear(&rg->env, &rg->diags);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_float_ports),
		TEST(test_integer_ports),
		TEST(test_many_scales),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
