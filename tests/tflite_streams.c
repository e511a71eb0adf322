/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_streams.c - writes networks of quantized operators that keep variables from run to run, with the hops of a
 * stream, for scripts/check-tflite and tests/tflite_streams.sh.
 *
 *   tflite-streams DIR COUNT     STREAM.KIND.K.tflite, STREAM.KIND.K.0.npy for K < COUNT, and DIR/list, whose lines
 *                                are: name, number of inputs
 *
 * They are of the kinds that run on microcontrollers: ring buffers of CONCATENATION and STRIDED_SLICE, convolutions of
 * several lengths over one of them, delayed residuals, pools over time, SVDF, cells of GRU and LSTM made of operators,
 * counters, variables that are read twice or exchanged, branches and loops.  CALL_ONCE sets their first values. */
#include "tests/tflite_recurrent.h"

enum { HOPS = 40 };

/* ---- kinds: x [1, rows, 1, channels] to a result ---- */

static value
causal(const value *x)
{
	const value a = ring(x, 2), b = conv_time(&a, 8, 3, 1, 1), c = ring(&b, 4),
		    d = depthwise_time(&c, 5), e = conv_time(&d, 8, 1, 1, 1), f = ring(&e, 3);

	return head(&f);
}

static value
strided(const value *x)
{
	const value a = ring(x, 2), b = conv_time(&a, 6, 5, 3, 3), c = ring(&b, 5),
		    d = conv_time(&c, 5, 6, 1, 1);

	return head(&d);
}

/* Convolutions of several lengths, each over its part of the channels. */
static value
mixconv(const value *x)
{
	static const int32_t parts[2] = {4, 8}, axis = 3;
	const value a = conv_time(x, 12, 1, 1, 1), b = ring(&a, 8);
	const value p[2] = {like(&b, 4, (const int32_t[]){1, 9, 1, 4}),
			    like(&b, 4, (const int32_t[]){1, 9, 1, 8})};
	const int sizes = integers(2, parts);
	int32_t *at = store(4);

	*at = axis;
	const int dim = tfl_tensor(net.t, next_name(), TFL_INT32, 0, NULL, at, 4);
	tfl_op_of *o =
		tfl_op(net.t, QN_TFL_SPLIT_V, INTS(b.id, sizes, dim), INTS(p[0].id, p[1].id));
	o->options_type = 79;
	tfl_with(o, 0, 'i', 2);
	const value c = rows_of(&p[0], 4, 5), d = depthwise_time(&c, 5),
		    e = depthwise_time(&p[1], 9);
	value f = result(4, (const int32_t[]){1, 1, 1, 8}, d.scale, d.zp);
	(void)one(QN_TFL_QUANTIZE, 89, &e, &f);
	const value g = joined(&d, &f, 3), h = conv_time(&g, 10, 1, 1, 1);
	return head(&h);
}

/* A convolution and its input, delayed by half of its length; the variable is read twice. */
static value
residual(const value *x)
{
	const int32_t dim[4] = {1, 4, 1, x->dim[3]};
	const int h = variable(x, 4, dim, 1);
	const value old = read_variable(h, x, 4, dim), again = read_variable(h, x, 4, dim);
	const value all = joined(&old, x, 1), kept = rows_of(&all, 1, 4);
	const value c = conv_time(&all, x->dim[3], 5, 1, 0), late = rows_of(&again, 2, 1);
	const value y = own(&c, c.dim);

	assign(h, &kept);
	(void)two(QN_TFL_ADD, 11, &c, &late, &y, 1);
	return head(&y);
}

static value
pooled(const value *x)
{
	const value a = conv_time(x, 6, 1, 1, 3), b = ring(&a, 7);
	const int32_t dim[4] = {1, 1, 1, 6};
	const value mean = like(&b, 4, dim), most = like(&b, 4, dim);

	for (int i = 0; i < 2; i++) {
		tfl_op_of *o = op(i == 0 ? QN_TFL_AVERAGE_POOL_2D : QN_TFL_MAX_POOL_2D, 5, 1, &b.id,
				  i == 0 ? &mean : &most);

		tfl_with(o, 0, 'b', 1);
		tfl_with(o, 1, 'i', 1);
		tfl_with(o, 2, 'i', 1);
		tfl_with(o, 3, 'i', 1);
		tfl_with(o, 4, 'i', 8);
	}
	const value both = joined(&mean, &most, 3), f = flat(&both), d = dense(&f, 5, 1);
	return head(&d);
}

/* ---- subgraphs ---- */

static void
initialize(void)
{
	(void)tfl_subgraph(net.t, 0, NULL, 0, NULL);
	for (int i = 0; i < nstate; i++) {
		const value first = {.id = states[i].first};

		assign(handle(states[i].name), &first);
	}
}

static void
branches(void)
{
	(void)tfl_subgraph(net.t, INTS(then_graph.in), INTS(then_graph.out));
	tfl_op(net.t, QN_TFL_HARD_SWISH, INTS(then_graph.in), INTS(then_graph.out))->options_type =
		91;
	(void)tfl_subgraph(net.t, INTS(else_graph.in), INTS(else_graph.out));
	tfl_op(net.t, QN_TFL_QUANTIZE, INTS(else_graph.in), INTS(else_graph.out))->options_type =
		89;
}

static void
loop_graphs(void)
{
	const tfl_tensor_of *like_x = &net.t->tensor[body_graph.in];
	int8_t *half = store(1);

	*half = 91;
	const int c = tfl_codes(net.t, next_name(), TFL_INT8, DIMS(1), 0.0071f, 0, half, 1);
	const value w = result(2, like_x->dim, like_x->scale[0], like_x->zp[0]);
	(void)tfl_subgraph(net.t, INTS(counted, condition_graph.in), INTS(goes_on));
	tfl_op(net.t, QN_TFL_LESS, INTS(counted, limit_of), INTS(goes_on))->options_type = 41;
	(void)tfl_subgraph(net.t, INTS(counted, body_graph.in), INTS(next_count, body_graph.out));
	tfl_op_of *o = tfl_op(net.t, QN_TFL_ADD, INTS(counted, step_of), INTS(next_count));
	o->options_type = 11;
	tfl_with(o, 0, 'b', 0);
	tfl_with(op(QN_TFL_MUL, 21, 2, (int32_t[]){body_graph.in, c}, &w), 0, 'b', 0);
	o = tfl_op(net.t, QN_TFL_MUL, INTS(w.id, c), INTS(body_graph.out));
	o->options_type = 21;
	tfl_with(o, 0, 'b', 0);
}

/* ---- files ---- */

static const struct kind {
	const char *name;
	int rows, channels;
	value (*of)(const value *);
	void (*graphs)(void);      /* further ones */
	bool has_variable_tensors; /* which LiteRT does not load */
} kinds[] = {
	{"causal", 1, 10, causal, NULL, false},
	{"strided", 3, 8, strided, NULL, false},
	{"mixconv", 1, 6, mixconv, NULL, false},
	{"residual", 1, 7, residual, NULL, false},
	{"pooled", 1, 9, pooled, NULL, false},
	{"svdf", 1, 12, svdfs, NULL, true},
	{"gru", 1, 8, gru, NULL, false},
	{"lstm", 1, 7, lstm, NULL, false},
	{"counter", 2, 5, counter, NULL, false},
	{"exchanged", 1, 4, exchanged, NULL, false},
	{"gated", 1, 6, gated, branches, false},
	{"looped", 1, 6, looped, loop_graphs, false},
	{"kept_lstm", 1, 7, kept_lstms, NULL, true},
};

static void
write_stream(const char *folder, const char *name, const struct kind *k)
{
	const int32_t dim[4] = {1, k->rows, 1, k->channels};
	size_t n;

	net = (network){.t = tfl_begin()};
	nstate = 0;
	const int zp = whole(-60, 60);
	const value x = result(4, dim, (float)between(0.03, 0.08), zp);
	write_samples(folder, name, 0, TFL_INT8, HOPS, 4, dim, -128, x.zp, 0);
	tfl_op_of *once = tfl_op(net.t, QN_TFL_CALL_ONCE, 0, NULL, 0, NULL);
	once->options_type = 103;
	tfl_with(once, 0, 'i', 1);
	const value y = k->of(&x);
	if (nstate == 0)
		memmove(net.t->op, net.t->op + 1, (size_t)--net.t->nop * sizeof *net.t->op);
	else
		initialize();
	if (k->graphs != NULL)
		k->graphs();
	net.t->name = "VALIDATION:main";
	const uint8_t *bytes = tfl_end(net.t, 1, &x.id, 1, &y.id, &n);
	FILE *f = create(folder, name, ".tflite");
	fwrite(bytes, 1, n, f);
	fclose(f);
	free(net.t);
}

int
main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: tflite-streams DIR COUNT\n");
		return 2;
	}
	FILE *list = create(argv[1], "list", "");
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		for (int k = 0; k < atoi(argv[2]); k++) {
			char name[64];

			snprintf(name, sizeof name, "STREAM.%s.%d", kinds[i].name, k);
			seed = 777 + (uint32_t)i + 100 * (uint32_t)k;
			write_stream(argv[1], name, &kinds[i]);
			if (!kinds[i].has_variable_tensors)
				fprintf(list, "%s 1\n", name);
		}
	fclose(list);
	return 0;
}
