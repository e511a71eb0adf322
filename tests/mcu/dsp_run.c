/* SPDX-License-Identifier: Apache-2.0 */
/* dsp_run.c - runs a job; RUN is the function's name. */
#include "tests/mcu/dsp.h"

static void
primitives(const job *j)
{
	const uint32_t x = j->words[0], y = j->words[1];
	const int32_t acc = (int32_t)j->words[2];
	const uint32_t scale[3] = {j->words[3] >> 1 | 1u << 30, j->words[4] >> 2,
				   j->words[5] % 22 + 1};
	const uint32_t result[] = {
		(uint32_t)qn_smlad(x, y, acc),
		qn_sxtb16(x),
		qn_sxtb16_ror8(x),
		qn_pkhbt(x, y),
		qn_pkhtb(x, y),
		(uint32_t)qn_smlabb(x, y, acc),
		(uint32_t)qn_smlatt(x, y, acc),
		(uint32_t)qn_smmlar((int32_t)x, (int32_t)y, acc),
		(uint32_t)qn_smmla((int32_t)x, (int32_t)y, acc),
		(uint32_t)qn_ssat8(acc),
		qn_sadd16(x, y),
		qn_ssub16(x, y),
		qn_max8(x, y),
		qn_load4(j->x + x % 4),
		(uint32_t)qn_winograd_value(acc / 4, scale, 0),
		(uint32_t)qn_winograd_value(acc / 4, scale, 1),
	};

	memcpy(j->z, result, sizeof(result));
	qn_store4(j->z + sizeof(result) + 1, y);
	qn_dsp_expand4(j->x + 1, j->x + 18, 3, j->work);
	memcpy(j->z + sizeof(result) + 8, j->work, 48);
}

/* Results of 16 bits, which `work` has room for. */
static void
matmul16(const job *j)
{
	int16_t *y = (int16_t *)(void *)j->work;

	(j->matmul.b_n == 1 ? qn_matmul_columns_dsp : qn_matmul_terms_dsp)(&j->matmul, j->a, j->b,
									   y);
	memcpy(j->z, y, 2 * (size_t)(j->matmul.m * j->matmul.n));
}

void RUN(const job *j);

void
RUN(const job *j)
{
	const int8_t *x = j->x;

	if (j->over) {
		memcpy(j->z, x,
		       (size_t)(j->conv.batch * j->conv.in_h * j->conv.in_w * j->conv.in_c));
		x = j->z;
	}
	switch (j->kind) {
	case JOB_PRIMITIVES:
		primitives(j);
		break;
	case JOB_CONV:
		(j->four   ? j->relu ? qn_conv2d_relu_dsp_w4 : qn_conv2d_dsp_w4
		 : j->relu ? qn_conv2d_relu_dsp
			   : qn_conv2d_dsp)(&j->conv, x, j->work, j->z);
		break;
	case JOB_CONV_APART:
		qn_conv2d_apart_dsp(&j->conv, x, j->work, j->z);
		break;
	case JOB_CONV16:
		qn_conv2d_rows16_dsp(&j->conv, j->a, j->work, (int16_t *)(void *)j->z);
		break;
	case JOB_DEPTHWISE16:
		qn_depthwise_rows16_dsp(&j->conv, j->a, (int16_t *)(void *)j->z);
		break;
	case JOB_DENSE16:
		qn_dense_rows16_dsp(&j->wide, j->a, j->work, (int16_t *)(void *)j->z);
		break;
	case JOB_WINOGRAD:
		(j->relu ? qn_winograd_relu_dsp : qn_winograd_dsp)(&j->conv, x, j->work, j->z);
		break;
	case JOB_DEPTHWISE:
		(j->four   ? j->relu ? qn_depthwise3_relu_dsp_w4 : qn_depthwise3_dsp_w4
		 : j->relu ? qn_depthwise3_relu_dsp
			   : qn_depthwise3_dsp)(&j->conv, x, j->work, j->z);
		break;
	case JOB_DEPTHWISE_ANY:
		(j->relu ? qn_depthwise_relu_dsp : qn_depthwise_dsp)(&j->conv, x, j->work, j->z);
		break;
	case JOB_DEPTHWISE_UP:
		qn_depthwise_up_dsp(&j->conv, x, j->work, j->z);
		break;
	case JOB_DENSE:
		(j->four ? qn_dense_dsp_w4 : qn_dense_dsp)(&j->dense, x, j->work, j->z);
		break;
	case JOB_DENSE_LONG:
		qn_dense_long_dsp(&j->dense, x, j->work, j->z);
		break;
	case JOB_POOL:
		(j->four ? qn_max_pool_dsp : qn_avg_pool_dsp)(&j->pool, x, j->z);
		break;
	case JOB_MATMUL8:
		(j->matmul.b_n == 1 ? qn_matmul8_columns_dsp : qn_matmul8_terms_dsp)(
			&j->matmul, x, x + j->matmul.m * j->matmul.k, j->work, j->z);
		break;
	case JOB_MATMUL16:
		matmul16(j);
		break;
	}
}

#if !defined(QN_PORTABLE)
int
native_dsp(void)
{
	return QN_DSP;
}
#endif
