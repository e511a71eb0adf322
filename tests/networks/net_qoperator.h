/* SPDX-License-Identifier: Apache-2.0 */
/* net_qoperator.h - pieces of networks in QOperator form. */
#ifndef TESTS_NETWORKS_NET_QOPERATOR_H
#define TESTS_NETWORKS_NET_QOPERATOR_H

#include "tests/networks/net.h"

/* An operator on codes as they are (net_plain.c). */
net_val *net_plain(net *n, net_val *x);
/* Their real numbers by Cast, Sub and Mul. */
net_val *net_real_by_hand(net *n, net_val *x);
/* A QLinear one (net_qlinear.c). */
net_val *net_qlinear(net *n, net_val *x);

#endif
