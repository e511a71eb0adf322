/* SPDX-License-Identifier: Apache-2.0 */
/* vectors_run.c - runs a job; RUN is the function's name. */
#include "tests/mcu/vectors.h"

/* Eight values of 16 bits as the bytes of eight of 32. */
static int8_t *
put16(qn_v16 v, int8_t *z)
{
	int32_t words[8];

	qn_v32_store(qn_v16_even(v), words);
	qn_v32_store(qn_v16_odd(v), words + 4);
	memcpy(z, words, sizeof(words));
	return z + sizeof(words);
}

static int8_t *
put32(qn_v32 v, int8_t *z)
{
	int32_t words[4];

	qn_v32_store(v, words);
	memcpy(z, words, sizeof(words));
	return z + sizeof(words);
}

static int8_t *
primitives32(const job *j, int8_t *z)
{
	const qn_v32 x = qn_v32_load(j->words), y = qn_v32_load(j->words + 4);
	const int32_t all = j->words[8], n = j->words[9] & 31;
	int32_t multiplier[4], shift[4], shift_left[4], low[4], high[4];

	for (int i = 0; i < 4; i++) {
		multiplier[i] = j->words[4 + i] & INT32_MAX;
		shift[i] = -1 - (j->words[10 + i] & 31) % 31;
		shift_left[i] = j->words[10 + i] & 31;
		low[i] = j->words[i] < j->words[10 + i] ? j->words[i] : j->words[10 + i];
		high[i] = j->words[i] < j->words[10 + i] ? j->words[10 + i] : j->words[i];
	}
	z = put32(qn_v32_load8(j->x + 1), z);
	z = put32(qn_v32_load_word(j->words + 9), z);
	z = put32(qn_v32_all(all), z);
	z = put32(qn_v32_add(x, y), z);
	z = put32(qn_v32_mla(x, y, all), z);
	z = put32(qn_v32_sar(x, n), z);
	z = put32(qn_v32_shl(x, qn_v32_load(shift_left)), z);
	z = put32(qn_v32_clamp(y, qn_v32_load(low), qn_v32_load(high)), z);
	z = put32(qn_v32_away(x), z);
	z = put32(qn_v32_mulh(x, qn_v32_load(multiplier)), z);
	z = put32(qn_v32_round(qn_v32_mulh(x, qn_v32_load(multiplier)), qn_v32_load(shift)), z);
	z = put16(qn_v16_pack(x, y), z);
	qn_v32_store8(x, z);
	qn_vector_store2x4(x, y, j->x[7], z + 5, z + 10);
	return z + 14;
}

static int8_t *
primitives16(const job *j, int8_t *z)
{
	const qn_v16 x = qn_v16_pack(qn_v32_load(j->words), qn_v32_load(j->words + 4));
	const qn_v16 y = qn_v16_load8(j->x + 3);

	z = put16(x, z);
	z = put16(y, z);
	z = put16(qn_v16_add(x, y), z);
	z = put16(qn_v16_mul(x, y), z);
	z = put16(qn_v16_products(j->x, j->x + 9, j->x + 17, j->x + 25), z);
	z = put16(qn_v16_shift(x, j->x[5]), z);
	qn_v16_store8(x, z);
	qn_v16_split8(qn_v16_add(x, y), z + 9, z + 14);
	return z + 18;
}

static void
primitives(const job *j)
{
	const int32_t n = j->words[9] & 31;
	int8_t *z = primitives16(j, primitives32(j, j->z));

	qn_v8_move(j->x + 1, z);
	qn_v8_store_some(qn_v8_max(qn_v8_load_some(j->x, 8 + n), qn_v8_all(j->x[4])), z + 200,
			 8 + n);
	qn_v8_store_some(qn_v8_min(qn_v8_load_some(j->x, 8 + n), qn_v8_all(j->x[4])), z + 216,
			 8 + n);
	qn_vector_pad(j->x[0], n, z + 16);
	qn_vector_copy(j->x, n, z + 65);
	qn_vector_move(j->x + 2, n, n, z + 97);
	qn_vector_fill(j->x[1], n, z + 129);
	qn_vector_clamp(z, 150, j->x[0] < j->x[1] ? j->x[0] : j->x[1],
			j->x[0] < j->x[1] ? j->x[1] : j->x[0]);
}

/* Results of 16 bits, which `work` has room for. */
static void
matmul(const job *j)
{
	int16_t *y = (int16_t *)(void *)j->work;

	(j->matmul.b_n == 1 ? qn_matmul_columns_vector : qn_matmul_terms_vector)(&j->matmul, j->a,
										 j->b, y);
	memcpy(j->z, y, 2 * (size_t)(j->matmul.m * j->matmul.n));
}

static void
rows16(const job *j)
{
	int16_t *y = (int16_t *)(void *)j->work;

	if (j->blocks16.block != 0)
		qn_dense_blocks_rows16_vector(&j->blocks16, j->a, y);
	else
		qn_dense_rows16_vector(&j->rows16, j->a, y);
	memcpy(j->z, y, 2 * (size_t)(j->rows16.batch * j->rows16.out));
}

void RUN(const job *j);

void
RUN(const job *j)
{
	const int8_t *rows[16];

	switch (j->kind) {
	case JOB_PRIMITIVES:
		primitives(j);
		break;
	case JOB_CONV:
		(j->four ? qn_conv2d_vector_w4 : qn_conv2d_vector)(&j->conv, j->x, j->work, j->z);
		break;
	case JOB_WIDE:
		(j->four ? qn_conv2d_wide_w4 : qn_conv2d_wide)(&j->conv, j->x, j->work, j->z);
		break;
	case JOB_DEPTHWISE:
		(j->four ? qn_depthwise_vector_w4 : qn_depthwise_vector)(&j->conv, j->x, rows,
									 j->work, j->z);
		break;
	case JOB_DEPTHWISE_UP:
		(j->four ? qn_depthwise_up_vector_w4 : qn_depthwise_up_vector)(&j->conv, j->x, rows,
									       j->work, j->z);
		break;
	case JOB_DENSE:
		(j->four ? qn_dense_vector_w4 : qn_dense_vector)(&j->dense, j->x, j->work, j->z);
		break;
	case JOB_BLOCKS:
		(j->four ? qn_dense_blocks_vector_w4 : qn_dense_blocks_vector)(&j->dense, j->x,
									       j->work, j->z);
		break;
	case JOB_ADD:
		qn_add_linear_vector(&j->add, j->x, j->y, j->z);
		break;
	case JOB_POOL:
		(j->four ? qn_max_pool_vector : qn_avg_pool_vector)(&j->pool, j->x, j->z);
		break;
	case JOB_ROWS16:
		rows16(j);
		break;
	case JOB_MATMUL8:
		(j->matmul.b_n == 1 ? qn_matmul8_columns_vector : qn_matmul8_terms_vector)(
			&j->matmul, j->x, j->y, (uint32_t *)(void *)j->work, j->z);
		break;
	case JOB_MATMUL:
		matmul(j);
		break;
	}
}

#if !defined(QN_PORTABLE)
int
native_vectors(void)
{
	return 10 * QN_VECTORS + QN_VNNI + QN_DOT;
}
#endif
