/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_networks.c - writes networks of 3 to 10 quantized operators, with inputs, for scripts/check-tflite.
 *
 *   tflite-networks DIR COUNT      NETWORK.i8.K.tflite, NETWORK.i8.K.0.npy for K < COUNT, and DIR/list, whose lines are:
 *                                  name, number of inputs
 *
 * They are as TFLite's converter writes them: residual blocks, squeeze and excitation, parts of a split joined again,
 * with fused activations, pads and moves between.  The subgraph is called "VALIDATION:main" (tflite_ops.c). */
#include "tests/tflite_layers.h"

enum { MOST_STEPS = 8 };

static value
conv(const value *x, int32_t channels, int kernel, int stride, int dilation, int act)
{
	const int32_t w[4] = {channels, kernel, kernel, x->dim[3]};
	int32_t in[3] = {x->id};
	const int32_t reach = dilation * (kernel - 1) + 1;
	const bool same = whole(0, 2) > 0 || x->dim[1] < reach || x->dim[2] < reach;
	int32_t dim[4] = {1, 0, 0, channels};

	for (int i = 1; i < 3; i++)
		dim[i] =
			same ? (x->dim[i] + stride - 1) / stride : (x->dim[i] - reach) / stride + 1;
	weights(x, 4, w, 0, kernel * kernel * x->dim[3], in + 1);
	const value y = own(x, dim);
	tfl_op_of *o = op(QN_TFL_CONV_2D, 1, 3, in, &y);
	tfl_with(o, 0, 'b', !same);
	tfl_with(o, 1, 'i', stride);
	tfl_with(o, 2, 'i', stride);
	tfl_with(o, 3, 'b', act);
	tfl_with(o, 4, 'i', dilation);
	tfl_with(o, 5, 'i', dilation);
	return y;
}

static value
depthwise(const value *x)
{
	const int32_t w[4] = {1, 3, 3, x->dim[3]};
	const int stride = x->dim[1] > 3 ? whole(1, 2) : 1;
	int32_t in[3] = {x->id}, dim[4] = {1, 0, 0, x->dim[3]};

	for (int i = 1; i < 3; i++)
		dim[i] = (x->dim[i] + stride - 1) / stride;
	weights(x, 4, w, 3, 9, in + 1);
	const value y = own(x, dim);
	tfl_op_of *o = op(QN_TFL_DEPTHWISE_CONV_2D, 2, 3, in, &y);
	tfl_with(o, 0, 'b', 0);
	tfl_with(o, 1, 'i', stride);
	tfl_with(o, 2, 'i', stride);
	tfl_with(o, 3, 'i', 1);
	tfl_with(o, 4, 'b', activation());
	return y;
}

/* ---- steps: a value to the next; an id of -1: not of this shape ---- */

static const value none = {.id = -1};

static value
step_conv(const value *x)
{
	const int stride = x->dim[1] > 3 && whole(0, 2) == 0 ? 2 : 1, act = activation();
	const int dilation = stride == 1 && x->dim[1] > 5 && whole(0, 3) == 0 ? 2 : 1;
	const int kernel = x->dim[1] > 2 ? 1 + 2 * whole(0, 1) : 1;

	return conv(x, whole(2, 8), kernel, stride, dilation, act);
}

/* x + f(x) */
static value
step_residual(const value *x)
{
	value f = depthwise(x);

	if (f.dim[1] != x->dim[1] || f.dim[2] != x->dim[2])
		return f;
	const value y = own(x, x->dim);
	const bool adds = whole(0, 3) > 0;
	return two(adds ? QN_TFL_ADD : QN_TFL_SUB, adds ? 11 : 28, x, &f, &y, activation());
}

/* x * sigmoid(dense(mean(x))) */
static value
step_gate(const value *x)
{
	const int32_t c = x->dim[3], gate[4] = {1, 1, 1, c}, zp = whole(-60, 60);
	const value m = result(2, (const int32_t[]){1, c}, near(x->scale), zp);

	tfl_with(op(QN_TFL_MEAN, 27, 2, (int32_t[]){x->id, integers(2, (const int32_t[]){1, 2})},
		    &m),
		 0, 'b', 0);
	const value d = dense(&m, c, 0), s = result(2, d.dim, 1.0f / 256, -128);
	(void)one(QN_TFL_LOGISTIC, 0, &d, &s);
	const value r = like(&s, 4, gate), y = own(x, x->dim);
	(void)with_list(QN_TFL_RESHAPE, 17, &s, 4, gate, &r);
	return two(QN_TFL_MUL, 21, x, &r, &y, 0);
}

static value
step_pad(const value *x)
{
	int32_t v[8] = {0}, dim[4];

	if (x->dim[1] > 12)
		return none;
	memcpy(dim, x->dim, sizeof dim);
	for (int i = 1; i < 3; i++) {
		v[2 * i] = whole(0, 2);
		v[2 * i + 1] = whole(0, 1);
		dim[i] += v[2 * i] + v[2 * i + 1];
	}
	const value y = like(x, 4, dim);
	int32_t *to = store(sizeof v);
	memcpy(to, v, sizeof v);
	const int pads = tfl_tensor(net.t, next_name(), TFL_INT32, DIMS(4, 2), to, sizeof v);
	(void)op(QN_TFL_PAD, 22, 2, (int32_t[]){x->id, pads}, &y);
	return y;
}

static value
step_pool(const value *x)
{
	int32_t dim[4] = {1, 0, 0, x->dim[3]};

	if (x->dim[1] < 3 || x->dim[2] < 3)
		return none;
	for (int i = 1; i < 3; i++)
		dim[i] = (x->dim[i] + 1) / 2;
	const value y = like(x, 4, dim);
	tfl_op_of *o =
		op(whole(0, 1) ? QN_TFL_MAX_POOL_2D : QN_TFL_AVERAGE_POOL_2D, 5, 1, &x->id, &y);
	tfl_with(o, 0, 'b', 0);
	tfl_with(o, 1, 'i', 2);
	tfl_with(o, 2, 'i', 2);
	tfl_with(o, 3, 'i', whole(2, 3));
	tfl_with(o, 4, 'i', whole(2, 3));
	tfl_with(o, 5, 'b', 0);
	return y;
}

static value
step_function(const value *x)
{
	static const int code[] = {QN_TFL_LEAKY_RELU, QN_TFL_HARD_SWISH, QN_TFL_QUANTIZE,
				   QN_TFL_RELU,       QN_TFL_RELU6,      QN_TFL_LOGISTIC,
				   QN_TFL_TANH};
	const int k = whole(0, 6);
	const value y = k == 5   ? result(4, x->dim, 1.0f / 256, -128)
			: k == 6 ? result(4, x->dim, 1.0f / 128, 0)
				 : own(x, x->dim);
	tfl_op_of *o = op(code[k], k == 0 ? 75 : 0, 1, &x->id, &y);

	if (k == 0)
		tfl_with(o, 0, 'f', between(0.05, 0.5));
	return y;
}

static value
step_transpose(const value *x)
{
	static const int32_t perms[][4] = {{0, 2, 1, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}};
	const int32_t *perm = perms[whole(0, 2)];
	int32_t dim[4];

	for (int i = 0; i < 4; i++)
		dim[i] = x->dim[perm[i]];
	if (dim[3] > WIDEST)
		return none;
	const value y = like(x, 4, dim);
	return with_list(QN_TFL_TRANSPOSE, 26, x, 4, perm, &y);
}

static value
step_slice(const value *x)
{
	int32_t begin[4] = {0}, end[4], step[4] = {1, 1, 1, 1}, dim[4] = {1};

	if (x->dim[1] < 3 || x->dim[2] < 3)
		return none;
	end[0] = 1;
	for (int i = 1; i < 4; i++) {
		begin[i] = whole(0, x->dim[i] > 2 ? 1 : 0);
		end[i] = x->dim[i] - (x->dim[i] > 3 ? whole(0, 1) : 0);
		step[i] = i < 3 ? whole(1, 2) : 1;
		dim[i] = (end[i] - begin[i] + step[i] - 1) / step[i];
	}
	const value y = like(x, 4, dim);
	(void)op(QN_TFL_STRIDED_SLICE, 32, 4,
		 (int32_t[]){x->id, integers(4, begin), integers(4, end), integers(4, step)}, &y);
	return y;
}

/* Two ways of it, joined: with the parameters of the first one, or with others. */
static value
step_join(const value *x)
{
	int act = activation();
	const value a = conv(x, whole(1, 4), 1, 1, 1, act);
	act = activation();
	value b = conv(x, whole(1, 4), 1, 1, 1, act);
	const int32_t dim[4] = {1, a.dim[1], a.dim[2], a.dim[3] + b.dim[3]};

	if (a.dim[1] != b.dim[1] || a.dim[2] != b.dim[2])
		return a;
	if (whole(0, 1)) { /* a quantize gives both the same */
		const value q = like(&a, 4, b.dim);
		b = one(QN_TFL_QUANTIZE, 0, &b, &q);
	} else {
		net.t->tensor[b.id].scale[0] = a.scale;
		net.t->tensor[b.id].zp[0] = a.zp;
	}
	const value y = like(&a, 4, dim);
	tfl_op_of *o = op(QN_TFL_CONCATENATION, 10, 2, (int32_t[]){a.id, b.id}, &y);
	tfl_with(o, 0, 'i', 3);
	tfl_with(o, 1, 'b', 0);
	return y;
}

static value
step_resize(const value *x)
{
	const int32_t dim[4] = {1, 2 * x->dim[1], 2 * x->dim[2], x->dim[3]};

	if (x->dim[1] > 5 || x->dim[2] > 5)
		return none;
	const value y = like(x, 4, dim);
	return with_list(QN_TFL_RESIZE_NEAREST_NEIGHBOR, 74, x, 2, dim + 1, &y);
}

static value
step_blocks(const value *x)
{
	const int32_t dim[4] = {1, x->dim[1] / 2, x->dim[2] / 2, 4 * x->dim[3]};

	if (x->dim[1] % 2 != 0 || x->dim[2] % 2 != 0 || dim[3] > WIDEST)
		return none;
	const value y = like(x, 4, dim);
	tfl_with(op(QN_TFL_SPACE_TO_DEPTH, 19, 1, &x->id, &y), 0, 'i', 2);
	return y;
}

static value
step_limit(const value *x)
{
	int8_t *v = store(1);

	*v = (int8_t)whole(-60, 60);
	const int c = tfl_codes(net.t, next_name(), TFL_INT8, DIMS(1), x->scale, x->zp, v, 1);
	const value y = like(x, 4, x->dim);
	(void)op(whole(0, 1) ? QN_TFL_MAXIMUM : QN_TFL_MINIMUM, 39, 2, (int32_t[]){x->id, c}, &y);
	return y;
}

/* Rows of all elements, a layer, probabilities or not. */
static value
head(const value *x)
{
	const int32_t n = x->dim[1] * x->dim[2] * x->dim[3], dim[2] = {1, n};

	if (n > 600)
		return *x;
	const value flat = like(x, 2, dim);
	(void)with_list(QN_TFL_RESHAPE, 17, x, 2, dim, &flat);
	const int act = activation();
	const value d = dense(&flat, whole(2, 10), act);
	if (whole(0, 1))
		return d;
	const value y = result(2, d.dim, 1.0f / 256, -128);
	tfl_with(op(QN_TFL_SOFTMAX, 9, 1, &d.id, &y), 0, 'f', 1);
	return y;
}

static value (*const steps[])(const value *) = {
	step_conv,  step_conv, step_conv,   step_residual, step_residual, step_gate,
	step_pad,   step_pool, step_pool,   step_function, step_function, step_transpose,
	step_slice, step_join, step_resize, step_blocks,   step_limit,
};

static void
write_network(const char *folder, const char *name)
{
	net = (network){.t = tfl_begin()};
	const int zp = whole(-100, 100);
	value x = result(4, (const int32_t[]){1, H, W, C}, (float)between(0.01, 0.1), zp);
	const int32_t in = x.id;
	size_t n;

	write_input(folder, name, 0, TFL_INT8, -128, x.zp, 0);
	for (int k = whole(2, MOST_STEPS); k > 0 && net.names < TFL_MOST - 20; k--) {
		const value y = steps[draw() % (sizeof steps / sizeof *steps)](&x);

		x = y.id >= 0 ? y : x;
	}
	if (whole(0, 2) > 0 || x.id == in)
		x = head(&x);
	net.t->name = "VALIDATION:main";
	const int32_t out = x.id;
	const uint8_t *bytes = tfl_end(net.t, 1, &in, 1, &out, &n);
	FILE *f = create(folder, name, ".tflite");
	fwrite(bytes, 1, n, f);
	fclose(f);
	free(net.t);
}

int
main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: tflite-networks DIR COUNT\n");
		return 2;
	}
	FILE *list = create(argv[1], "list", "");
	for (int k = 0; k < atoi(argv[2]); k++) {
		char name[64];

		snprintf(name, sizeof name, "NETWORK.i8.%d", k);
		write_network(argv[1], name);
		fprintf(list, "%s 1\n", name);
	}
	fclose(list);
	return 0;
}
