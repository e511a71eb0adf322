/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_head.h - for tests of patterns: the inputs of a graph with convolutions, as text. */
#ifndef TESTS_UNIT_PATTERN_HEAD_H
#define TESTS_UNIT_PATTERN_HEAD_H

#include "tests/unit/pattern_rig.h"

#define HEAD                                                                                       \
	"graph @main(%x: tensor<1x4x4x2xf32>, %w: tensor<2x1x1x2xf32>, %b: tensor<2xf32>, %v: "    \
	"tensor<1x4x4x2xf32>) {\n"                                                                 \
	"  %k = const : tensor<2x1x1x2xf32> splat 2.0\n"

#endif
