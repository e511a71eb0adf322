# SPDX-License-Identifier: Apache-2.0
# levels.awk - three dense layers without biases, and samples whose level varies by 40 dB.
#
#   awk -v what=model -f bench/levels.awk > levels.qir
#   awk -v what=samples -v seed=1 -f bench/levels.awk > calib.csv        samples of 0 to -40 dB
#   awk -v what=samples -v seed=2 -v level=-30 -f bench/levels.awk       of this level alone
#
# Without biases the float network gives the same classes at each level.

function uniform() {
	state = (state * 16807) % 2147483647
	return state / 2147483647
}

# Twelve uniform numbers are close to normal, with deviation 1.
function normal(   i, s) {
	s = -6
	for (i = 0; i < 12; i++)
		s += uniform()
	return s
}

function matrix(name, rows, cols,   i) {
	printf "  %%%s = const : tensor<%dx%dxf32> [", name, rows, cols
	for (i = 0; i < rows * cols; i++)
		printf "%s%.6f", (i == 0 ? "" : ", "), normal() / sqrt(cols)
	print "]"
}

BEGIN {
	state = seed + 7
	if (what == "model") {
		print "model \"levels\" stage float"
		print "graph @main(%x: tensor<1x32xf32>) {"
		matrix("w1", 48, 32)
		print "  %fc1 = dense %x, %w1"
		print "  %r1 = relu %fc1"
		matrix("w2", 48, 48)
		print "  %fc2 = dense %r1, %w2"
		print "  %r2 = relu %fc2"
		matrix("w3", 10, 48)
		print "  %fc3 = dense %r2, %w3"
		print "  return %fc3 as \"y\""
		print "}"
		exit
	}
	for (n = 0; n < 400; n++) {
		gain = exp((level != "" ? level : -40 * uniform()) / 20 * log(10))
		line = ""
		for (i = 0; i < 32; i++)
			line = line (i > 0 ? "," : "") sprintf("%.7f", normal() * gain)
		print line
	}
}
