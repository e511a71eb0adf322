/* SPDX-License-Identifier: Apache-2.0 */
/* net_qdq.h - what the steps of networks of the form QDQ share (net_qdq.c, net_qdq_more.c). */
#ifndef TESTS_NETWORKS_NET_QDQ_H
#define TESTS_NETWORKS_NET_QDQ_H

#include "tests/networks/net.h"

/* Quantized with q and dequantized; with parameters of its own, stored as `like` is. */
net_val *net_pair(net *n, net_val *x, net_params q);
net_val *net_stored(net *n, net_val *x, const net_val *like);
/* x, from which y is computed, has no parameters. */
void net_fill_gap(net *n, net_val *y, const net_val *x, double times);
/* An earlier value of the same shape, else x. */
net_val *net_partner(net *n, net_val *x);
/* What stands between an operator and its QuantizeLinear. */
net_val *net_activation(net *n, net_val *x);
/* A node that is a function of one value. */
net_val *net_simple(net *n, const char *op, net_val *x, net_fn *fn, double arg);
/* A batch normalization of a convolution with weights w of x. */
net_val *net_batch_norm(net *n, net_val *y, const net_val *x, const net_weights *w);

/* Steps: BatchNormalization, PRelu, linear Resize, reductions, the larger or smaller one of two, functions of one value. */
net_step net_norm_step, net_prelu_step, net_resize_step, net_reduce_step, net_choose_step,
	net_unary_step, net_silu_step, net_softmax_step;

#endif
