# SPDX-License-Identifier: Apache-2.0
# outliers.awk - a transformer block whose residual stream has two planted outlier channels, and samples of it.
#
#   awk -v what=model   -f bench/outliers.awk > block.qir         float: norm, attention, norm, feed-forward, norm, 10 classes
#   awk -v what=samples -v seed=1 -f bench/outliers.awk > calib.csv
#
# 16 tokens of 32 channels with deviation 1; channel 3 is about 40, channel 17 about -60.  Numbers come from a
# multiplicative generator that doubles hold exactly, so every awk prints the same text.
function uniform() {
	state = (state * 16807) % 2147483647
	return state / 2147483647
}

# Twelve uniform numbers are close to normal, with deviation 1.
function normal(   i, sum) {
	sum = -6
	for (i = 0; i < 12; i++)
		sum += uniform()
	return sum
}

function weights(name, shape, n, mean, deviation,   i) {
	printf "  %%%s = const : tensor<%sxf32> [", name, shape
	for (i = 0; i < n; i++)
		printf "%s%.5g", (i == 0 ? "" : ", "), mean + deviation * normal()
	print "]"
}

function dense(y, x, outputs, inputs) {
	weights("w_" y, outputs "x" inputs, outputs * inputs, 0, 1 / sqrt(inputs))
	weights("b_" y, outputs, outputs, 0, 0.1)
	printf "  %%%s = dense %%%s, %%w_%s, %%b_%s\n", y, x, y, y
}

function norm(y, x) {
	weights("g_" y, CHANNELS, CHANNELS, 1, 0.1)
	weights("o_" y, CHANNELS, CHANNELS, 0, 0.1)
	printf "  %%%s_n = layer_norm %%%s, %%g_%s, %%o_%s\n", y, x, y, y
	printf "  %%%s = reshape %%%s_n {shape=[%d,%d]}\n", y, y, TOKENS, CHANNELS
}

function residual(y, x, branch) {
	printf "  %%%s_r = reshape %%%s {shape=[1,%d,%d]}\n", branch, branch, TOKENS, CHANNELS
	printf "  %%%s = add %%%s, %%%s_r\n", y, x, branch
}

function model() {
	print "model \"block\" stage float"
	printf "graph @main(%%x: tensor<1x%dx%dxf32>) {\n", TOKENS, CHANNELS
	norm("first", "x")
	dense("q", "first", CHANNELS, CHANNELS)
	dense("k", "first", CHANNELS, CHANNELS)
	dense("v", "first", CHANNELS, CHANNELS)
	print "  %scores = matmul %q, %k {transpose_b=1}"
	print "  %root = const : tensor<1x1xf32> [0.17677669]"
	print "  %scaled = mul %scores, %root"
	print "  %part = softmax %scaled"
	print "  %heads = matmul %part, %v"
	dense("attended", "heads", CHANNELS, CHANNELS)
	residual("middle", "x", "attended")
	norm("second", "middle")
	dense("up", "second", 2 * CHANNELS, CHANNELS)
	print "  %active = gelu %up"
	dense("down", "active", CHANNELS, 2 * CHANNELS)
	residual("last", "middle", "down")
	norm("third", "last")
	dense("y", "third", 10, CHANNELS)
	print "  return %y\n}"
}

function samples(   s, t, c, v) {
	for (s = 0; s < 64; s++)
		for (t = 0; t < TOKENS; t++)
			for (c = 0; c < CHANNELS; c++) {
				v = normal()
				v = c == 3 ? 40 + 4 * v : c == 17 ? 5 * v - 60 : v
				printf "%.5g%s", v, (t * CHANNELS + c + 1 == TOKENS * CHANNELS ? "\n" : ",")
			}
}

BEGIN {
	TOKENS = 16
	CHANNELS = 32
	state = 12345 + 1000 * seed
	if (what == "model")
		model()
	else
		samples()
}
