/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_ops.c - writes files of one quantized operator each, with inputs, for
 * scripts/check-tflite.
 *
 *   tflite-ops DIR TRIALS      OP.TYPE.K.tflite, OP.TYPE.K.0.npy (and .1.npy) for K < TRIALS, and
 *                              DIR/list, whose lines are: name, number of inputs
 *
 * Scales and zero points are drawn from one fixed sequence, so that two runs write the same bytes.
 * The subgraph is called "VALIDATION:main": TFLite applies no delegate to such a one, so that what
 * runs are its own kernels. */
#include <math.h>

#include "tests/tflite_files.h"

enum { OUT = 5, FAR = 32, MOST_WEIGHTS = OUT * N };

/* What the result's parameters have to be. */
typedef enum params {
	ANY,
	POWERS,
	SAME,
	LIKE_SOFTMAX,
	LIKE_TANH,
	LOG_SOFTMAX,
	BOOLS,
	FINE_BOOLS,
	PLACES
} params;

typedef struct op_row {
	const char *name;
	int code, inputs; /* inputs: those that are data */
	params result;
	bool i8, u8, i16;
	bool from_0; /* data below 0 are not allowed */
	double out;  /* the result's scale in that of the data, about; 0: 1 */
	int other;   /* a constant behind the data, of these */
	int dim[4];  /* of the result; 0: as the data */
	int options; /* number of the table of options in the union BuiltinOptions */
	tfl_option option[6];
} op_row;

enum { NOTHING, AXES_12, AXIS_3, SIZE, SIZE_SMALL, SLOPES, KERNELS, DEPTHWISE, DENSE, TRANSPOSED };

#define B(f, x)                                                                                    \
	{                                                                                          \
		.field = f, .kind = 'b', .value = x                                                \
	}
#define I(f, x)                                                                                    \
	{                                                                                          \
		.field = f, .kind = 'i', .value = x                                                \
	}
#define F(f, x)                                                                                    \
	{                                                                                          \
		.field = f, .kind = 'f', .value = x                                                \
	}
#define OP(op) #op, QN_TFL_##op

/* clang-format off */
static const op_row rows[] = {
	{OP(ADD), 2, ANY, 1, 1, 1, 0, 1.5, 0, {0}, 11, {B(0, 0)}},
	{OP(SUB), 2, ANY, 1, 1, 1, 0, 1.5, 0, {0}, 28, {B(0, 1)}},
	{"ADD-POWERS", QN_TFL_ADD, 2, POWERS, 0, 0, 1, 0, 2, 0, {0}, 11, {B(0, 0)}},
	{"SUB-POWERS", QN_TFL_SUB, 2, POWERS, 0, 0, 1, 0, 2, 0, {0}, 28, {B(0, 1)}},
	{OP(MUL), 2, ANY, 1, 1, 1, 0, 2, 0, {0}, 21, {B(0, 0)}},
	{OP(DIV), 2, ANY, 0, 1, 0, 0, 0, 0, {0}, 29, {B(0, 0)}},
	{OP(SQUARED_DIFFERENCE), 2, ANY, 1, 0, 0, 0, 8, 0, {0}, 76, {{0}}},
	{OP(MAXIMUM), 2, SAME, 1, 1, 1, 0, 0, 0, {0}, 0, {{0}}},
	{OP(MINIMUM), 2, SAME, 1, 1, 1, 0, 0, 0, {0}, 0, {{0}}},
	{OP(EQUAL), 2, BOOLS, 1, 1, 0, 0, 0, 0, {0}, 0, {{0}}},
	{OP(NOT_EQUAL), 2, BOOLS, 1, 1, 0, 0, 0, 0, {0}, 0, {{0}}},
	{OP(LESS), 2, BOOLS, 1, 1, 0, 0, 0, 0, {0}, 0, {{0}}},
	{OP(LESS_EQUAL), 2, BOOLS, 1, 1, 0, 0, 0, 0, {0}, 0, {{0}}},
	{OP(GREATER), 2, BOOLS, 1, 1, 0, 0, 0, 0, {0}, 0, {{0}}},
	{OP(GREATER_EQUAL), 2, BOOLS, 1, 1, 0, 0, 0, 0, {0}, 0, {{0}}},
	{"EQUAL-FINE", QN_TFL_EQUAL, 2, FINE_BOOLS, 1, 1, 0, 0, 0, 0, {0}, 0, {{0}}},
	{"LESS-FINE", QN_TFL_LESS, 2, FINE_BOOLS, 1, 1, 0, 0, 0, 0, {0}, 0, {{0}}},
	{OP(RELU), 1, ANY, 1, 1, 1, 0, 0.7, 0, {0}, 0, {{0}}},
	{OP(RELU6), 1, ANY, 1, 1, 1, 0, 0.7, 0, {0}, 0, {{0}}},
	{OP(RELU_N1_TO_1), 1, ANY, 1, 1, 0, 0, 0.7, 0, {0}, 0, {{0}}},
	{OP(RELU_0_TO_1), 1, ANY, 1, 1, 0, 0, 0.7, 0, {0}, 0, {{0}}},
	{OP(LEAKY_RELU), 1, ANY, 1, 1, 1, 0, 0.8, 0, {0}, 75, {F(0, 0.1)}},
	{OP(PRELU), 1, ANY, 1, 1, 0, 0, 1, SLOPES, {0}, 0, {{0}}},
	{OP(LOGISTIC), 1, LIKE_SOFTMAX, 1, 1, 1, 0, 0, 0, {0}, 0, {{0}}},
	{OP(TANH), 1, LIKE_TANH, 1, 1, 1, 0, 0, 0, {0}, 0, {{0}}},
	{OP(HARD_SWISH), 1, ANY, 1, 1, 0, 0, 0.8, 0, {0}, 0, {{0}}},
	{OP(ELU), 1, ANY, 1, 0, 0, 0, 0.7, 0, {0}, 0, {{0}}},
	{OP(GELU), 1, ANY, 1, 1, 0, 0, 0.7, 0, {0}, 116, {{0}}},
	{OP(GELU), 1, ANY, 1, 1, 0, 0, 0.7, 0, {0}, 116, {B(0, 1)}},
	{OP(EXP), 1, ANY, 1, 0, 1, 0, 1, 0, {0}, 0, {{0}}},
	{OP(LOG), 1, ANY, 1, 0, 1, 1, 0.5, 0, {0}, 0, {{0}}},
	{OP(SQRT), 1, ANY, 1, 0, 1, 1, 0.3, 0, {0}, 0, {{0}}},
	{OP(RSQRT), 1, ANY, 1, 0, 1, 1, 0.5, 0, {0}, 0, {{0}}},
	{OP(ABS), 1, ANY, 1, 0, 1, 0, 0.8, 0, {0}, 0, {{0}}},
	{OP(NEG), 1, SAME, 0, 0, 1, 0, 0, 0, {0}, 0, {{0}}},
	{OP(SOFTMAX), 1, LIKE_SOFTMAX, 1, 1, 1, 0, 0, 0, {0}, 9, {F(0, 1)}},
	{OP(LOG_SOFTMAX), 1, LOG_SOFTMAX, 1, 0, 0, 0, 0, 0, {0}, 0, {{0}}},
	{OP(QUANTIZE), 1, ANY, 1, 1, 1, 0, 0.8, 0, {0}, 0, {{0}}},
	{OP(MEAN), 1, ANY, 1, 1, 1, 0, 0.5, AXES_12, {1, 1, 1, C}, 27, {B(0, 1)}},
	{OP(MEAN), 1, SAME, 1, 1, 1, 0, 0, AXES_12, {1, 1, 1, C}, 27, {B(0, 1)}},
	{OP(MEAN), 1, ANY, 1, 1, 1, 0, 0.7, AXIS_3, {1, H, W, 1}, 27, {B(0, 1)}},
	{OP(SUM), 1, ANY, 1, 1, 1, 0, 4, AXES_12, {1, 1, 1, C}, 27, {B(0, 1)}},
	{OP(SUM), 1, ANY, 1, 1, 1, 0, 2, AXIS_3, {1, H, W, 1}, 27, {B(0, 1)}},
	{OP(REDUCE_MAX), 1, SAME, 1, 1, 1, 0, 0, AXES_12, {1, 1, 1, C}, 27, {B(0, 1)}},
	{OP(REDUCE_MIN), 1, SAME, 1, 1, 1, 0, 0, AXES_12, {1, 1, 1, C}, 27, {B(0, 1)}},
	{OP(AVERAGE_POOL_2D), 1, SAME, 1, 1, 1, 0, 0, 0, {1, 4, 4, C}, 5,
	 {B(0, 0), I(1, 2), I(2, 2), I(3, 3), I(4, 3), B(5, 1)}},
	{OP(MAX_POOL_2D), 1, SAME, 1, 1, 1, 0, 0, 0, {1, 4, 4, C}, 5,
	 {B(0, 0), I(1, 2), I(2, 2), I(3, 3), I(4, 3), B(5, 3)}},
	{OP(RESIZE_BILINEAR), 1, SAME, 1, 1, 1, 0, 0, SIZE, {1, 13, 19, C}, 15, {{0}}},
	{OP(RESIZE_BILINEAR), 1, SAME, 1, 1, 1, 0, 0, SIZE, {1, 13, 19, C}, 15, {B(3, 1)}},
	{OP(RESIZE_BILINEAR), 1, SAME, 1, 1, 1, 0, 0, SIZE, {1, 13, 19, C}, 15, {B(2, 1)}},
	{OP(RESIZE_BILINEAR), 1, SAME, 1, 1, 1, 0, 0, SIZE_SMALL, {1, 5, 3, C}, 15, {B(3, 1)}},
	{OP(RESIZE_NEAREST_NEIGHBOR), 1, SAME, 1, 1, 1, 0, 0, SIZE, {1, 13, 19, C}, 74, {B(1, 1)}},
	{OP(RESIZE_NEAREST_NEIGHBOR), 1, SAME, 1, 1, 1, 0, 0, SIZE, {1, 13, 19, C}, 74, {{0}}},
	{OP(ARG_MAX), 1, PLACES, 1, 1, 0, 0, 0, AXIS_3, {1, H, W}, 40, {B(0, TFL_INT32)}},
	{OP(CONV_2D), 1, ANY, 1, 0, 1, 0, 1, KERNELS, {1, H, W, OUT}, 1, {B(0, 0), I(1, 1), I(2, 1), B(3, 1)}},
	{OP(DEPTHWISE_CONV_2D), 1, ANY, 1, 0, 1, 0, 0.5, DEPTHWISE, {1, H, W, C}, 2,
	 {B(0, 0), I(1, 1), I(2, 1), I(3, 1)}},
	{OP(FULLY_CONNECTED), 1, ANY, 1, 0, 1, 0, 3, DENSE, {1, OUT}, 8, {B(0, 0)}},
	{OP(TRANSPOSE_CONV), 1, ANY, 1, 0, 1, 0, 1, TRANSPOSED, {1, 2 * H, 2 * W, OUT}, 49,
	 {B(0, 0), I(1, 2), I(2, 2)}},
	{OP(BATCH_MATMUL), 2, ANY, 1, 0, 1, 0, 2, 0, {0}, 101, {B(0, 0), B(1, 1)}},
};
/* clang-format on */

/* ---- one file ---- */

typedef struct trial {
	const op_row *row;
	tfl_file *t;
	int type;
	float scale[2];
	int64_t zp[2];
} trial;

static void
draw_data(trial *x)
{
	for (int i = 0; i < 2; i++) {
		x->scale[i] = (float)(between(0.5, 2) * pow(2, whole(-6, -3)));
		x->zp[i] = x->row->from_0 ? lowest(x->type) + whole(0, 30)
					  : whole((int)lowest(x->type), (int)highest(x->type));
		if (x->type == TFL_INT16) {
			x->scale[i] /= 256;
			x->zp[i] = 0;
		}
	}
	if (x->row->result == POWERS) { /* one is the result's, the other one smaller */
		int same = whole(0, 1);

		x->scale[same] = (float)pow(2, whole(-12, -10));
		x->scale[1 - same] = x->scale[same] / (float)pow(2, whole(0, 4));
	}
	if (x->row->result == FINE_BOOLS) { /* steps of less than TFLite's 1/256 */
		x->scale[0] = x->scale[1] = x->scale[0] / 32;
		x->zp[1] = x->zp[0];
	}
	if (x->row->result == SAME) {
		x->scale[1] = x->scale[0];
		x->zp[1] = x->zp[0];
	}
}

static int
add_result(const trial *x)
{
	const op_row *r = x->row;
	int32_t dim[4] = {1, H, W, C};
	int rank = r->result == PLACES ? 3 : r->other == DENSE ? 2 : 4;
	float scale = x->scale[0] * (float)(between(0.7, 1.4) * (r->out > 0 ? r->out : 1));
	int64_t low = lowest(x->type), zp = whole((int)low, (int)highest(x->type));
	bool wide = x->type == TFL_INT16;

	for (int i = 0; i < rank && r->dim[0] != 0; i++)
		dim[i] = r->dim[i];
	if (r->code == QN_TFL_BATCH_MATMUL)
		dim[3] = W;
	if (r->result == BOOLS || r->result == FINE_BOOLS)
		return tfl_tensor(x->t, "y", TFL_BOOL, 4, dim, NULL, 0);
	if (r->result == PLACES)
		return tfl_tensor(x->t, "y", TFL_INT32, 3, dim, NULL, 0);
	if (r->result == SAME) {
		scale = x->scale[0];
		zp = x->zp[0];
	} else if (r->result == LIKE_SOFTMAX) {
		scale = wide ? 1.0f / 32768 : 1.0f / 256;
		zp = low;
	} else if (r->result == LIKE_TANH) {
		scale = wide ? 1.0f / 32768 : 1.0f / 128;
		zp = x->type == TFL_UINT8 ? 128 : 0;
	} else if (r->result == LOG_SOFTMAX) {
		scale = 16.0f / 256;
		zp = 127;
	}
	if (r->result == POWERS)
		scale = fmaxf(x->scale[0], x->scale[1]);
	return tfl_codes(x->t, "y", x->type, rank, dim, scale, wide ? 0 : zp, NULL, 0);
}

/* What a file's constants point to. */
typedef struct store {
	int8_t weight[MOST_WEIGHTS];
	int64_t bias[OUT];
	int32_t narrow[OUT];
} store;

/* Weights with a scale a channel, axis `axis` (-1: one scale), and a bias: two inputs. */
static void
add_weights(const trial *x, int rank, const int32_t *dim, int axis, store *s, int32_t *in)
{
	int count = 1, n = axis < 0 ? 1 : dim[axis], out = axis < 0 ? dim[0] : n;
	bool wide = x->type == TFL_INT16;

	for (int i = 0; i < rank; i++)
		count *= dim[i];
	for (int i = 0; i < count; i++)
		s->weight[i] = (int8_t)whole(-127, 127);
	in[0] = tfl_codes(x->t, "w", TFL_INT8, rank, dim, 1, 0, s->weight, count);
	for (int i = 0; i < out; i++)
		s->bias[i] = s->narrow[i] = whole(-5000, 5000);
	in[1] = wide ? tfl_codes(x->t, "c", TFL_INT64, DIMS(out), 1, 0, s->bias, 8 * out)
		     : tfl_codes(x->t, "c", TFL_INT32, DIMS(out), 1, 0, s->narrow, 4 * out);
	for (int i = 0; i < n; i++) {
		float scale = (float)between(0.002, 0.004);

		for (int k = 0; k < 2; k++) {
			tfl_tensor_of *t = &x->t->tensor[in[k]];

			t->nscale = n;
			t->axis = k == 0 && axis > 0 ? axis : 0;
			t->scale[i] = k == 0 ? scale : scale * x->scale[0];
			t->zp[i] = 0;
		}
	}
}

/* The constants behind the data in[0], or around it; how many inputs there are then. */
static int
add_constants(const trial *x, int nin, store *s, int32_t *in)
{
	static const int32_t axes[] = {1, 2}, axis = 3, size[] = {13, 19}, small[] = {5, 3},
			     doubled[] = {1, 2 * H, 2 * W, OUT};
	int slopes_zp;

	switch (x->row->other) {
	case NOTHING:
		return nin;
	case AXES_12:
		in[nin] = tfl_tensor(x->t, "n", TFL_INT32, DIMS(2), axes, 8);
		return nin + 1;
	case AXIS_3:
		in[nin] = tfl_tensor(x->t, "n", TFL_INT32, DIMS(1), &axis, 4);
		return nin + 1;
	case SIZE:
		in[nin] = tfl_tensor(x->t, "n", TFL_INT32, DIMS(2), size, 8);
		return nin + 1;
	case SIZE_SMALL:
		in[nin] = tfl_tensor(x->t, "n", TFL_INT32, DIMS(2), small, 8);
		return nin + 1;
	case KERNELS:
		add_weights(x, DIMS(OUT, 3, 3, C), 0, s, in + 1);
		return 3;
	case DEPTHWISE:
		add_weights(x, DIMS(1, 3, 3, C), 3, s, in + 1);
		return 3;
	case DENSE:
		add_weights(x, DIMS(OUT, N), -1, s, in + 1);
		return 3;
	case TRANSPOSED:
		in[2] = in[0];
		add_weights(x, DIMS(OUT, 3, 3, C), 0, s, in);
		in[3] = in[1];
		in[1] = in[0];
		in[0] = tfl_tensor(x->t, "n", TFL_INT32, DIMS(4), doubled, 16);
		return 4;
	default: /* SLOPES */
		for (int i = 0; i < C; i++)
			s->weight[i] = (int8_t)whole(-128, 127);
		slopes_zp = whole((int)lowest(x->type), (int)highest(x->type));
		in[nin] = tfl_codes(x->t, "s", x->type, DIMS(1, 1, C), (float)between(0.002, 0.01),
				    slopes_zp, s->weight, C);
		return nin + 1;
	}
}

static void
write_trial(const char *folder, const char *name, const op_row *r, int type)
{
	trial x = {.row = r, .t = tfl_begin(), .type = type};
	int32_t in[4], data[2], y;
	size_t n;
	int nin = 0;
	store s;

	draw_data(&x);
	for (; nin < r->inputs; nin++) {
		data[nin] = in[nin] = tfl_codes(x.t, nin == 0 ? "a" : "b", type, DIMS(1, H, W, C),
						x.scale[nin], x.zp[nin], NULL, 0);
		write_input(folder, name, nin, type,
			    r->from_0 ? x.zp[nin] + (r->code != QN_TFL_SQRT) : lowest(type),
			    x.zp[nin],
			    r->code != QN_TFL_DIV ? 0
			    : nin == 0            ? FAR
						  : 1);
	}
	nin = add_constants(&x, nin, &s, in);
	y = add_result(&x);
	tfl_op_of *o = tfl_op(x.t, r->code, nin, in, 1, &y);
	o->options_type = r->options;
	for (int k = 0; k < 6 && r->option[k].kind != 0; k++)
		tfl_with(o, r->option[k].field, r->option[k].kind,
			 r->option[k].kind == 'f' && r->code == QN_TFL_LEAKY_RELU
				 ? between(0.01, 0.9)
				 : r->option[k].value);
	x.t->name = "VALIDATION:main";
	const uint8_t *bytes = tfl_end(x.t, r->inputs, data, 1, &y, &n);
	FILE *f = create(folder, name, ".tflite");
	fwrite(bytes, 1, n, f);
	fclose(f);
	free(x.t);
}

int
main(int argc, char **argv)
{
	static const struct kind {
		int type;
		const char *name;
	} kinds[] = {{TFL_INT8, "i8"}, {TFL_UINT8, "u8"}, {TFL_INT16, "i16"}};
	FILE *list;

	if (argc != 3) {
		fprintf(stderr, "usage: tflite-ops DIR TRIALS\n");
		return 2;
	}
	list = create(argv[1], "list", "");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int k = 0; k < 3; k++)
			for (int n = 0; n < atoi(argv[2]); n++) {
				const op_row *r = &rows[i];
				char name[64];

				if (!(k == 0 ? r->i8 : k == 1 ? r->u8 : r->i16))
					continue;
				snprintf(name, sizeof name, "%02d.%s.%s.%d", (int)i, r->name,
					 kinds[k].name, n);
				write_trial(argv[1], name, r, kinds[k].type);
				fprintf(list, "%s %d\n", name, r->inputs);
			}
	fclose(list);
	return 0;
}
