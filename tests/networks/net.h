/* SPDX-License-Identifier: Apache-2.0 */
/* net.h - networks of ONNX operators, quantized or recurrent, with drawn operators, shapes and parameters, and what they give.
 *
 *   net n;
 *   net_begin(&n, NET_QOPERATOR, 7);       form and seed: the same bytes on every host
 *   net_make(&n);
 *   const uint8_t *file = net_end(&n, &bytes);
 *   n.output[0]->lo[i] ... ->hi[i]         what element i may be
 *
 * Each value is computed when its node is written, in doubles, by the definition of the operator: nothing here is shared
 * with runtime/.  A value is an interval: its ends differ where a rounding before it is so close to a tie that two
 * right implementations may round differently, and what follows carries both on. */
#ifndef TESTS_NETWORKS_NET_H
#define TESTS_NETWORKS_NET_H

#include "tests/unit/onnx_writer.h"

enum {
	NET_SAMPLES = 3,
	NET_RANK = 5,
	NET_MOST = 400, /* values of a network */
	NET_OUTPUTS = 3,
	NET_INPUTS = 12, /* of a node */
	NET_ELEMENTS = 4096
};

typedef enum net_form { NET_QOPERATOR, NET_QDQ, NET_DYNAMIC, NET_RECURRENT, NET_NFORM } net_form;
extern const char *const net_form_names[NET_NFORM];

/* Where two right implementations may be more apart than by the rounding of a number close to a tie. */
typedef enum net_reason {
	NET_MEAN, /* an average of codes is rounded to a step of its input, then to one of its result (--no-approx: not) */
	NET_BIAS, /* a bias of real numbers is rounded to a step of the accumulator */
	NET_MERGED, /* two requantizes one after the other are one, which rounds once */
	NET_GAP, /* a value without parameters of its own is rounded to 16 bits, then to its result */
	NET_SOFTMAX, /* ONNX Runtime's softmax of codes rounds down, and limits i8 at 127: it is off, not Quern */
	NET_CONST, /* a constant of real numbers is rounded to 8 bits */
	NET_WIDTH, /* 16 bits: sums have multipliers of 15 bits, and other ranges than those around 0 steps of their own */
	NET_NREASON
} net_reason;
extern const char *const net_reason_names[NET_NREASON];

/* How integers stand for real numbers: scale 0, they do not. */
typedef struct net_params {
	double scale;
	int64_t zp;
	int type; /* ONX_UINT8, ONX_INT8, ONX_UINT16 or ONX_INT16 */
} net_params;

typedef struct net_val {
	char name[12];
	int type, rank;
	int64_t dim[NET_RANK], count;
	bool stored;     /* what a DequantizeLinear gave: its integers are known */
	bool constant;   /* one set of elements, not NET_SAMPLES of them */
	net_params q;    /* of codes, and of what DequantizeLinear makes of them */
	double *lo, *hi; /* element i of sample s: [s * count + i] */
} net_val;

typedef struct net {
	net_form form;
	uint64_t state;  /* of the draws */
	int64_t version; /* of the operator set */
	bool dynamic;    /* scales are found by each run */
	double apart; /* how far integers may be off, as a part of an output's range; 0: by net_reason alone */
	bool reason[NET_NREASON];
	onx file;
	int nval, nblock, noutput, nops, ninput;
	net_val val[NET_MOST], *output[NET_OUTPUTS], *input;
	void *block[2 * NET_MOST];
} net;

void net_begin(net *n, net_form form, uint64_t seed);
void net_make(net *n);
const uint8_t *net_end(net *n, size_t *bytes);
void net_free(net *n);

/* ---- draws ---- */

int64_t net_draw(net *n, int64_t lo, int64_t hi);
bool net_chance(net *n, int percent);
double net_real(net *n, double lo, double hi); /* an f32 */

/* ---- values ---- */

net_val *net_new(net *n, int type, int rank, const int64_t *dim);
net_val *net_like(net *n, const net_val *x); /* same type, shape and parameters */
net_val *net_real_like(net *n, const net_val *x);
/* Initializers. */
net_val *net_const(net *n, int type, int rank, const int64_t *dim, const double *v);
net_val *net_scalar(net *n, int type, double v);
net_val *net_list(net *n, int count, const int64_t *v);
/* A constant that the file does not have. */
net_val *net_hidden(net *n, int rank, const int64_t *dim);
/* Element i of sample s of an interval's lower or upper end. */
double net_lo(const net_val *x, int s, int64_t i);
double net_hi(const net_val *x, int s, int64_t i);
/* The smallest and largest element. */
void net_range(const net_val *x, double *lo, double *hi);
bool net_same_shape(const net_val *a, const net_val *b);

/* A node with the attributes set before; NULL among the inputs: left out. */
void net_node(net *n, const char *op, int nin, net_val *const *in, int nout, net_val *const *out);
void net_node1(net *n, const char *op, net_val *x, net_val *y);
void net_node2(net *n, const char *op, net_val *a, net_val *b, net_val *y);
/* The next node is one of com.microsoft. */
void net_microsoft(net *n);
void net_give(net *n, net_val *y);

/* ---- parameters and rounding (net_codes.c) ---- */

int64_t net_qmin(int type);
int64_t net_qmax(int type);
/* Parameters for the range of x, a little wider or narrower. */
net_params net_calibrate(net *n, const net_val *x, int type);
net_params net_params_for(net *n, double lo, double hi, int type);
/* The real numbers of codes, and codes of real numbers: values without a node.  slack: how many steps two right
 * implementations may be apart before they round. */
net_val *net_real_of(net *n, const net_val *codes);
net_val *net_codes_of(net *n, const net_val *real, net_params q, double slack);
/* The nodes. */
net_val *net_quantize(net *n, net_val *x, net_params q);
net_val *net_dequantize(net *n, net_val *x);
double net_coarse(double scale); /* of 12 bits */
double net_even(double x);       /* rounded, ties to even */

/* ---- weights (net_weights.c) ---- */

enum { NET_CHANNELS = 40 };

typedef struct net_weights {
	net_val *codes, *scale, *zp, *real; /* real: not in the file */
	double each[NET_CHANNELS];          /* the scales */
	bool per_channel;
} net_weights;

/* axis: of the channels.  Per tensor with any zero point where they are u8. */
void net_draw_weights(net *n, int rank, const int64_t *dim, int axis, bool may_channels,
		      double reach, bool may_u8, net_weights *w);
/* An i32 bias of scale xs * ws, xs being that of x, and its real numbers in *real. */
net_val *net_draw_bias(net *n, const net_val *x, const net_weights *w, int64_t count,
		       net_val **real);

/* ---- what operators compute, without nodes ---- */

typedef double net_fn(double x, double arg);
net_val *net_map(net *n, const net_val *x, net_fn *fn, double arg); /* a function that rises */
net_val *net_map_any(net *n, const net_val *x, net_fn *fn, double arg);
double net_exp(double x);
double net_relu(double x, double arg);
double net_leaky(double x, double alpha);
double net_sigmoid(double x, double arg);
double net_tanh(double x, double arg);
net_val *net_clamped(net *n, const net_val *x, double lo, double hi);
net_val *net_softmax(net *n, const net_val *x, int axis);
/* Broadcasting as numpy; op: '+', '-', '*', '<' (the smaller), '>' (the larger). */
net_val *net_binary(net *n, const net_val *a, const net_val *b, char op);
net_val *net_matmul(net *n, const net_val *a, const net_val *b); /* [..., M, K] x [K, N] */

typedef struct net_window {
	int64_t kernel[2], stride[2], dilation[2],
		pad[4]; /* pad: top, left, bottom, right, as in the file */
	int64_t group;
} net_window;
void net_draw_window(net *n, const net_val *x, bool pool, net_window *w);
void net_window_attrs(net *n, const net_window *w, bool pool);
net_val *net_conv(net *n, const net_val *x, const net_val *w, const net_val *bias,
		  const net_window *at);
/* op: '>' the largest, 'm' the mean, 'p' the mean with pads. */
net_val *net_pool(net *n, const net_val *x, const net_window *at, char op);
/* Makes the intervals of y wider by `amount` at both ends.  What for: */
void net_widen(net *n, net_val *y, double amount, net_reason reason);
net_val *net_mean_space(net *n, const net_val *x);

/* ---- operators that move values of any type: the node and what it gives; NULL: not of this shape ---- */

typedef net_val *net_step(net *n, net_val *x);
typedef struct net_row {
	const char *name;
	int weight; /* how often */
	net_step *step;
} net_row;
/* One of the rows that suits x, drawn; never NULL: x itself when none does. */
net_val *net_any(net *n, const net_row *rows, net_val *x);

/* net_move.c */
net_val *net_move(net *n, net_val *x); /* any of them */
net_val *net_reshaped(net *n, net_val *x, int rank, const int64_t *dim);
net_val *net_transposed(net *n, net_val *x, const int64_t *perm);
net_val *net_flat(net *n, net_val *x); /* as [rows, columns] */
net_val *net_padded(net *n, net_val *x, net_val *value, double v);

/* net_join.c */
net_val *net_joined(net *n, int count, net_val *const *x, int axis);
net_val *net_split(net *n, net_val *x);
net_val *net_where(net *n, net_val *x);
net_val *net_scatter(net *n, net_val *x);
net_val *net_tile(net *n, net_val *x);

/* MaxPool and Resize to the nearest element or between them, of any type (net_plain.c). */
net_val *net_max_pool(net *n, net_val *x);
net_val *net_resize(net *n, net_val *x);
/* DepthToSpace, Resize by lines between real numbers, and ReduceMax ('>'), ReduceMin ('<'), ReduceMean ('m')
 * (net_space.c). */
net_val *net_depth_to_space(net *n, net_val *x);
net_val *net_resize_linear(net *n, net_val *x);
net_val *net_reduce(net *n, net_val *x, char op);

/* ---- forms ---- */

void net_make_qoperator(net *n);
void net_make_qdq(net *n);
void net_make_dynamic(net *n);
void net_make_recurrent(net *n); /* of real numbers */

#endif
