/* SPDX-License-Identifier: Apache-2.0 */
/* estimate_rows.c - what kernels take on the targets that were measured (estimate.h).
 *
 * Fit by least squares of the relative error to counts of single layers, November 2026: convolutions of 1x1, 3x3, 5x5
 * and 10x4, depthwise ones, dense layers, pools and element-wise functions, each counted one instruction at a time
 * under QEMU 7.2 by `scripts/bench-mcu --model=LAYER --core=CORE --compile="--target TARGET --optimize speed"`, with
 * arm-none-eabi-gcc 12.2.1, riscv64-unknown-elf-gcc 12.2.0 or aarch64-linux-gnu-gcc 12.2.0 and -O2; the share of each
 * kernel by --profile.  Products of two activations and layers on 16-bit values are those of a language model of 260,000
 * weights with heads of 8 and 256 positions.  Portable kernels were counted on the M4: those of products in whole networks,
 * because in a network of one layer the compiler knows their arguments.  On other cores they are scaled by how the networks
 * of docs/performance.md with --target generic compare.  tests/cli/estimate.sh compares whole networks with the counts of
 * tests/mcu/counts.tsv and docs/performance.md. */
#include "codegen/estimate.h"

#include <string.h>

#include "ir/arena.h"

/* Bits of weights, thousandths of an instruction for a result, a MAC, an input of a window. */
#define FIGURE(name, of, each_result, each_mac, each_input)                                        \
	.kernel = name, .bits = of, .result = each_result, .mac = each_mac, .window = each_input

/* ---- portable kernels, Cortex-M4 ---- */

static const qn_kernel_figure portable[] = {
	{FIGURE("qn_conv2d_blocks", 8, 51000, 2500, 1000), .block = 20000},
	{FIGURE("qn_conv2d_blocks", 4, 51000, 4000, 1000), .block = 20000},
	{FIGURE("qn_conv2d_blocks", 2, 51000, 16000, 1000), .block = 20000},
	{FIGURE("qn_dense_blocks", 8, 60000, 2500, 0), .block = 12000},
	{FIGURE("qn_dense_blocks", 4, 60000, 4000, 0), .block = 12000},
	{FIGURE("qn_dense_blocks", 2, 60000, 19500, 0), .block = 12000},
	{FIGURE("qn_conv_transpose_blocks", 8, 60000, 8500, 0), .block = 2000},
	{FIGURE("qn_conv_transpose_blocks", 4, 60000, 15000, 0), .block = 10000},
	{FIGURE("qn_conv_transpose_blocks", 2, 60000, 15000, 0), .block = 10000},
	{FIGURE("qn_conv3d_blocks", 8, 60000, 8500, 0), .block = 2000},
	{FIGURE("qn_conv3d_blocks", 4, 60000, 15000, 0), .block = 10000},
	{FIGURE("qn_conv3d_blocks", 2, 60000, 15000, 0), .block = 10000},
	{FIGURE("qn_depthwise_by4", 16, 68000, 6000, 0)},
	{FIGURE("qn_depthwise_by4", 8, 65000, 5400, 1250)},
	{FIGURE("qn_depthwise_by4", 4, 65000, 8400, 0)},
	{FIGURE("qn_depthwise_by4", 2, 60000, 20000, 0)},
	{FIGURE("qn_conv2d_by4", 16, 47000, 3900, 300)},
	{FIGURE("qn_conv2d_by4", 8, 46000, 3240, 1700)},
	{FIGURE("qn_conv2d_by4", 4, 39000, 4840, 2610)},
	{FIGURE("qn_conv2d_by4", 2, 171000, 15900, 0)},
	{FIGURE("qn_conv_transpose_by4", 16, 52400, 3100, 0)},
	{FIGURE("qn_conv_transpose_by4", 8, 46000, 3100, 0)},
	{FIGURE("qn_conv_transpose_by4", 4, 39000, 4840, 0)},
	{FIGURE("qn_conv_transpose_by4", 2, 171000, 15900, 0)},
	{FIGURE("qn_conv", 2, 60000, 28000, 0)}, /* one product after the other */
	{FIGURE("qn_conv", 0, 60000, 8500, 0)},
	{FIGURE("qn_dense_by4", 16, 44900, 2500, 0)},
	{FIGURE("qn_dense_by4", 8, 38000, 3350, 0)},
	{FIGURE("qn_dense_by4", 4, 38000, 5360, 0)},
	{FIGURE("qn_dense_by4", 2, 33300, 19700, 0)},
	{FIGURE("qn_dense", 2, 40000, 28000, 0)},
	{FIGURE("qn_dense", 0, 40000, 6000, 0)},
	{FIGURE("qn_matmul", 0, 40000, 8000, 0)},
	{FIGURE("qn_max_pool", 0, 0, 7600, 0)},
	{FIGURE("qn_avg_pool", 0, 7800, 5300, 0)},
	{FIGURE("qn_reduce", 0, 20000, 5300, 0)},
	{FIGURE("qn_mean", 0, 20000, 5300, 0)},
	{FIGURE("qn_norm", 16, 112000, 0, 0)},
	{FIGURE("qn_softmax", 16, 0, 54400, 0)},
	{FIGURE("qn_softmax", 0, 0, 303000, 0)},
	{FIGURE("qn_lut_lines", 0, 21000, 0, 0)},
	{FIGURE("qn_lut", 0, 5000, 0, 0)},
	{FIGURE("qn_tanh", 0, 21000, 0, 0)},
	{FIGURE("qn_requantize", 16, 31000, 0, 0)},
	{FIGURE("qn_requantize", 0, 27000, 0, 0)},
	{FIGURE("qn_add_linear", 0, 14000, 0, 0)},
	{FIGURE("qn_add", 16, 27000, 0, 0)},
	{FIGURE("qn_add", 0, 66000, 0, 0)},
	{FIGURE("qn_mul", 0, 17000, 0, 0)},
	{FIGURE("qn_prelu", 16, 26000, 0, 0)},
	{FIGURE("qn_prelu", 0, 9000, 0, 0)},
	{FIGURE("qn_minmax", 0, 6300, 0, 0)},
	{FIGURE("qn_clip", 0, 6300, 0, 0)},
	{FIGURE("qn_transpose", 0, 4500, 0, 0)},
	{FIGURE("qn_concat", 0, 3000, 0, 0)},
	{FIGURE("qn_pad", 0, 4500, 0, 0)},
	{FIGURE("qn_gather", 0, 4500, 0, 0)},
	{FIGURE("qn_scatter", 0, 30000, 300, 0)},
	{FIGURE("qn_where", 0, 14000, 0, 0)},
	{FIGURE("qn_nearest", 0, 4500, 0, 0)},
	{FIGURE("qn_loop_slice", 0, 3000, 0, 0)},
	{FIGURE("qn_loop_stack", 0, 0, 3000, 0)},
	{FIGURE("qn_loop_carry", 0, 1000, 0, 0)},
	{FIGURE("qn_loop_last", 0, 1000, 0, 0)},
};

/* ---- DSP kernels, Cortex-M4 ---- */

static const qn_kernel_figure dsp[] = {
	{FIGURE("qn_conv2d_rows16_dsp", 16, 20000, 1070, 3000)},
	{FIGURE("qn_depthwise_rows16_dsp", 16, 24000, 4000, 0)},
	{FIGURE("qn_dense_rows16_dsp", 16, 18000, 1420, 0)},
	{FIGURE("qn_conv2d_blocks_dsp", 4, 18300, 850, 2650), .block = 9060},
	{FIGURE("qn_conv2d_blocks_rows_dsp", 8, 23000, 993, 1600), .block = 7900},
	{FIGURE("qn_conv2d_blocks_rows_dsp", 4, 23000, 1055, 3000), .block = 9400},
	{FIGURE("qn_conv2d_blocks_rows_dsp", 2, 23000, 1120, 3000), .block = 11000},
	{FIGURE("qn_dense_blocks_dsp", 8, 23000, 993, 0), .block = 7900},
	{FIGURE("qn_dense_blocks_dsp", 4, 23000, 1055, 0), .block = 9400},
	{FIGURE("qn_dense_blocks_dsp", 2, 23000, 1120, 0), .block = 11000},
	{FIGURE("qn_dense_blocks_dsp", 16, 95000, 1210, 0), .block = 8500},
	{FIGURE("qn_winograd_dsp", 0, 24000, 313, 851)},
	{FIGURE("qn_conv2d_apart_dsp", 8, 9740, 816, 2810)},
	{FIGURE("qn_conv2d_dsp", 8, 8740, 816, 2810)},
	{FIGURE("qn_conv2d_dsp", 4, 11100, 846, 2650)},
	{FIGURE("qn_depthwise3_dsp", 8, 14400, 0, 2770), .row = 47400},
	{FIGURE("qn_depthwise3_dsp", 4, 14300, 0, 2730), .row = 59000},
	{FIGURE("qn_depthwise_dsp", 8, 42000, 3000, 0)},
	{FIGURE("qn_depthwise_dsp", 4, 42000, 3070, 0)},
	{FIGURE("qn_depthwise_up_dsp", 0, 48000, 3000, 0)},
	{FIGURE("qn_dense_long_dsp", 8, 10500, 1030, 0)},
	{FIGURE("qn_dense_dsp", 8, 9900, 1016, 0)},
	{FIGURE("qn_dense_dsp", 4, 9100, 1095, 0)},
	{FIGURE("qn_dense_sums_dsp", 0, 6000, 1016, 0)},
	{FIGURE("qn_matmul8_terms_dsp", 0, 45600, 1900, 0)},
	{FIGURE("qn_matmul8_columns_dsp", 0, 100000, 3270, 0)},
	{FIGURE("qn_matmul_terms_dsp", 0, 45000, 1750, 0)},
	{FIGURE("qn_matmul_columns_dsp", 0, 60000, 2500, 0)},
	{FIGURE("qn_max_pool_dsp", 0, 6500, 1400, 0)},
	{FIGURE("qn_avg_pool_dsp", 0, 12000, 2600, 0)},
	{FIGURE("qn_add_linear_dsp", 0, 9200, 0, 0)},
};

/* ---- vector kernels ---- */

static const qn_kernel_figure mve[] = {
	{FIGURE("qn_conv2d_rows16_dsp", 16, 20000, 1070, 3000)},
	{FIGURE("qn_depthwise_rows16_dsp", 16, 24000, 4000, 0)},
	{FIGURE("qn_conv2d_blocks_vector", 0, 10000, 130, 333), .block = 5000},
	{FIGURE("qn_dense_blocks_vector", 0, 10000, 150, 0), .block = 5000},
	{FIGURE("qn_conv2d_vector", 8, 9000, 115, 333)},
	{FIGURE("qn_conv2d_vector", 4, 9000, 130, 333)},
	{FIGURE("qn_depthwise_up_vector", 0, 15000, 1400, 70)},
	{FIGURE("qn_depthwise_vector", 0, 0, 1160, 70)},
	{FIGURE("qn_dense_vector", 8, 6900, 137, 0)},
	{FIGURE("qn_dense_vector", 4, 6900, 165, 0)},
	{FIGURE("qn_dense_blocks_rows16_vector", 0, 75000, 620, 0), .block = 46000},
	{FIGURE("qn_dense_rows16_vector", 0, 75000, 620, 0)},
	{FIGURE("qn_matmul8_terms_vector", 0, 58000, 600, 0)},
	{FIGURE("qn_matmul8_columns_vector", 0, 60000, 1400, 0)},
	{FIGURE("qn_matmul_terms_vector", 0, 45000, 500, 0)},
	{FIGURE("qn_matmul_columns_vector", 0, 60000, 620, 0)},
	{FIGURE("qn_max_pool_vector", 0, 900, 150, 0)},
	{FIGURE("qn_avg_pool_vector", 0, 0, 700, 0)},
	{FIGURE("qn_add_linear_vector", 0, 1300, 0, 0)},
};

static const qn_kernel_figure neon[] = {
	{FIGURE("qn_conv2d_blocks_vector", 0, 12000, 330, 269), .block = 4000},
	{FIGURE("qn_dense_blocks_vector", 0, 10000, 300, 0), .block = 4000},
	{FIGURE("qn_conv2d_vector", 8, 10600, 288, 269)},
	{FIGURE("qn_conv2d_vector", 4, 10600, 330, 269)},
	{FIGURE("qn_depthwise_up_vector", 0, 12000, 900, 672)},
	{FIGURE("qn_depthwise_vector", 0, 0, 720, 672)},
	{FIGURE("qn_dense_vector", 8, 6500, 250, 0)},
	{FIGURE("qn_dense_vector", 4, 6500, 290, 0)},
	{FIGURE("qn_max_pool_vector", 0, 900, 150, 0)},
	{FIGURE("qn_avg_pool_vector", 0, 0, 700, 0)},
	{FIGURE("qn_add_linear_vector", 0, 1300, 0, 0)},
};

static const qn_kernel_figure dot_products[] = {
	{FIGURE("qn_conv2d_blocks_vector", 0, 12000, 165, 269), .block = 4000},
	{FIGURE("qn_dense_blocks_vector", 0, 10000, 165, 0), .block = 4000},
	{FIGURE("qn_conv2d_vector", 8, 11000, 146, 269)},
	{FIGURE("qn_conv2d_vector", 4, 11000, 165, 269)},
	{FIGURE("qn_depthwise_up_vector", 0, 12000, 900, 672)},
	{FIGURE("qn_depthwise_vector", 0, 0, 720, 672)},
	{FIGURE("qn_dense_vector", 8, 6800, 157, 0)},
	{FIGURE("qn_dense_vector", 4, 6800, 180, 0)},
	{FIGURE("qn_max_pool_vector", 0, 900, 150, 0)},
	{FIGURE("qn_avg_pool_vector", 0, 0, 700, 0)},
	{FIGURE("qn_add_linear_vector", 0, 1300, 0, 0)},
};

/* ---- scalar kernels ---- */

static const qn_kernel_figure m0plus[] = {
	{FIGURE("qn_conv2d_scalar", 8, 77600, 2220, 5670)},
	{FIGURE("qn_conv2d_scalar", 4, 77600, 2700, 5670)},
	{FIGURE("qn_depthwise3_scalar", 0, 83800, 0, 6990), .row = 102000},
	{FIGURE("qn_dense_scalar", 0, 62900, 3880, 0)},
};

static const qn_kernel_figure m3[] = {
	{FIGURE("qn_conv2d_scalar", 8, 37100, 1200, 6610)},
	{FIGURE("qn_conv2d_scalar", 4, 37100, 1370, 6610)},
	{FIGURE("qn_depthwise3_scalar", 0, 60600, 0, 4460), .row = 57300},
	{FIGURE("qn_dense_scalar", 0, 28800, 2730, 0)},
};

static const qn_kernel_figure rv32[] = {
	{FIGURE("qn_conv2d_scalar", 8, 36300, 2005, 7080)},
	{FIGURE("qn_conv2d_scalar", 4, 36300, 2170, 7080)},
	{FIGURE("qn_depthwise3_scalar", 0, 64900, 0, 3800), .row = 82600},
	{FIGURE("qn_dense_scalar", 0, 25200, 3550, 0)},
};

/* ---- targets ---- */

#define OWN(list) .own = list, .nown = QN_COUNT(list)

static const qn_target_figures targets[] = {
	{"generic", "generic", .portable = 100},                      /* on a Cortex-M4 */
	{"cortex-m0", "cortex-m0plus", OWN(m0plus), .portable = 220}, /* the same instructions */
	{"cortex-m0plus", "cortex-m0plus", OWN(m0plus), .portable = 220},
	{"cortex-m3", "cortex-m3", OWN(m3), .portable = 100},
	{"cortex-m4", "cortex-m4", OWN(dsp), .portable = 100},
	{"cortex-m7", "cortex-m4", OWN(dsp), .portable = 100},  /* the same instructions */
	{"cortex-m33", "cortex-m4", OWN(dsp), .portable = 100}, /* the same instructions */
	{"cortex-m55", "cortex-m55", OWN(mve), .portable = 102},
	{"cortex-m85", "cortex-m55", OWN(mve), .portable = 102},
	{"rv32imc", "rv32imc", OWN(rv32), .portable = 150},
	{"aarch64", "aarch64", OWN(neon), .portable = 120},
	{"aarch64-dotprod", "aarch64-dotprod", OWN(dot_products), .portable = 120},
};

const qn_target_figures *
qn_target_figures_of(const char *target)
{
	for (size_t i = 0; i < QN_COUNT(targets); i++)
		if (strcmp(targets[i].target, target) == 0)
			return &targets[i];
	return &targets[0];
}

/* Whether the kernel's name begins so, "_relu" left out: it saves a comparison a result. */
static bool
is_named(const char *kernel, const char *begin)
{
	static const char relu[] = "_relu";

	for (; *begin != '\0'; kernel++, begin++) {
		if (strncmp(kernel, relu, sizeof relu - 1) == 0)
			kernel += sizeof relu - 1;
		if (*kernel != *begin)
			return false;
	}
	return true;
}

static const qn_kernel_figure *
find(size_t n, const qn_kernel_figure *f, const char *kernel, int32_t bits)
{
	for (size_t i = 0; i < n; i++)
		if ((f[i].bits == 0 || f[i].bits == bits) && is_named(kernel, f[i].kernel))
			return &f[i];
	return NULL;
}

const qn_kernel_figure *
qn_kernel_figure_of(const qn_target_figures *t, const char *kernel, int32_t bits, int32_t *percent)
{
	/* portable kernels instead of those of targets that were not measured */
	static const char *const like[][2] = {{"qn_conv2d_blocks", "qn_conv2d_blocks"},
					      {"qn_dense_blocks", "qn_dense_blocks"},
					      {"qn_depthwise", "qn_depthwise_by4"},
					      {"qn_conv2d_", "qn_conv2d_by4"},
					      {"qn_winograd", "qn_conv2d_by4"},
					      {"qn_dense_", "qn_dense_by4"},
					      {"qn_matmul", "qn_matmul"}};
	static const char *const own[] = {"_dsp", "_vector", "_wide", "_scalar"};
	const qn_kernel_figure *f = find(t->nown, t->own, kernel, bits);
	bool foreign = false;

	*percent = 100;
	if (f != NULL)
		return f;
	*percent = t->portable;
	for (size_t i = 0; i < QN_COUNT(own); i++)
		foreign = foreign || strstr(kernel, own[i]) != NULL;
	for (size_t i = 0; i < QN_COUNT(like) && foreign; i++)
		if (is_named(kernel, like[i][0]))
			return find(QN_COUNT(portable), portable, like[i][1], bits);
	return find(QN_COUNT(portable), portable, kernel, bits);
}
