/* SPDX-License-Identifier: Apache-2.0 */
/* test_tflite_each.c - TFLite operators one by one: a file with one of them, in f32, against values computed by hand.
 *
 *   row: operator, input, constants before or behind it, options, result */
#include "tests/unit/tflite_rig.h"

#include "runtime/unary.h"

enum { ELEMENTS = 16, FLOAT = TFL_FLOAT32, INT32 = 2, BOOL = 6 };

typedef struct operand {
	int type, rank; /* rank -1: a scalar; 0: there is none */
	int32_t dim[4];
	double v[ELEMENTS];
} operand;

typedef struct op_row {
	int code;
	operand x;
	operand more[2]; /* constants */
	int at;          /* index of x among the inputs */
	operand y;
	tfl_option option[6];
	double bound;
} op_row;

#define OPTION(f, k, x)                                                                            \
	{                                                                                          \
		.field = f, .kind = k, .value = x                                                  \
	}
/* Vectors of two, three and four elements. */
#define F2(...)                                                                                    \
	{                                                                                          \
		FLOAT, 1, {2},                                                                     \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define F3(...)                                                                                    \
	{                                                                                          \
		FLOAT, 1, {3},                                                                     \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define B3(...)                                                                                    \
	{                                                                                          \
		BOOL, 1, {3},                                                                      \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
/* Two rows of two, and a picture of them. */
#define F22(...)                                                                                   \
	{                                                                                          \
		FLOAT, 2, {2, 2},                                                                  \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define PIC(h, w, c, ...)                                                                          \
	{                                                                                          \
		FLOAT, 4, {1, h, w, c},                                                            \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define I1(...)                                                                                    \
	{                                                                                          \
		INT32, 1, {1},                                                                     \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define I2(...)                                                                                    \
	{                                                                                          \
		INT32, 1, {2},                                                                     \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define I4(...)                                                                                    \
	{                                                                                          \
		INT32, 1, {4},                                                                     \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

#define UNARY(op, a, b, c, ra, rb, rc)                                                             \
	{                                                                                          \
		.code = QN_TFL_##op, .x = F3(a, b, c), .y = F3(ra, rb, rc), .bound = 1e-6          \
	}
/* x 1 4 9 beside 2 4 8 */
#define BINARY(op, ra, rb, rc)                                                                     \
	{                                                                                          \
		.code = QN_TFL_##op, .x = F3(1, 4, 9), .more = {F3(2, 4, 8)}, .y = F3(ra, rb, rc), \
		.bound = 1e-5                                                                      \
	}
#define COMPARE(op, ra, rb, rc)                                                                    \
	{                                                                                          \
		.code = QN_TFL_##op, .x = F3(1, 4, 9), .more = {F3(2, 4, 8)}, .y = B3(ra, rb, rc)  \
	}
/* Rows 1 2 and 4 3, along axis 1. */
#define REDUCE(op, ra, rb)                                                                         \
	{                                                                                          \
		.code = QN_TFL_##op, .x = F22(1, 2, 4, 3), .more = {I1(1)}, .y = F2(ra, rb)        \
	}
#define POOL                                                                                       \
	{                                                                                          \
		OPTION(0, 'b', QN_TFL_PADDING_VALID), OPTION(1, 'i', 2), OPTION(2, 'i', 2),        \
			OPTION(3, 'i', 2), OPTION(4, 'i', 2)                                       \
	}

static const op_row rows[] = {
	UNARY(ABS, -2, 0, 3, 2, 0, 3),
	UNARY(ELU, -1, 0, 2, -0.63212055882855767, 0, 2),
	UNARY(EXP, -1, 0, 1, 0.36787944117144233, 1, 2.7182818284590451),
	UNARY(GELU, -1, 0, 1, -0.15865525393145707, 0, 0.84134474606854293),
	UNARY(HARD_SWISH, -4, 1, 4, 0, 0.66666666666666663, 4),
	UNARY(LOG, 1, 2, 4, 0, 0.69314718055994529, 1.3862943611198906),
	UNARY(LOGISTIC, -1, 0, 1, 0.2689414213699951, 0.5, 0.7310585786300049),
	UNARY(LOG_SOFTMAX, 1, 2, 3, -2.4076059644443806, -1.4076059644443804, -0.4076059644443804),
	UNARY(RELU6, -1, 3, 7, 0, 3, 6),
	UNARY(RELU_0_TO_1, -1, 0.5, 7, 0, 0.5, 1),
	UNARY(RELU_N1_TO_1, -3, 0.5, 7, -1, 0.5, 1),
	UNARY(RSQRT, 1, 4, 0.25, 1, 0.5, 2),
	UNARY(SQRT, 1, 4, 0.25, 1, 2, 0.5),
	UNARY(SQUARE, -3, 0, 2, 9, 0, 4),
	UNARY(TANH, -1, 0, 1, -0.76159415595576485, 0, 0.76159415595576485),
	UNARY(CEIL, -1.5, 0, 1.25, -1, 0, 2),
	UNARY(COS, -1, 0, 1, 0.54030230586813977, 1, 0.54030230586813977),
	UNARY(FLOOR, -1.5, 0, 1.25, -2, 0, 1),
	UNARY(ROUND, -1.5, 0.5, 1.25, -2, 0, 1),
	UNARY(SIGN, -1.5, 0, 1.25, -1, 0, 1),
	UNARY(SIN, -1, 0, 1, -0.8414709848078965, 0, 0.8414709848078965),
	UNARY(ZEROS_LIKE, 1, 2, 3, 0, 0, 0),
	BINARY(SUB, -1, 0, 1),
	BINARY(DIV, 0.5, 1, 1.125),
	BINARY(MAXIMUM, 2, 4, 9),
	BINARY(MINIMUM, 1, 4, 8),
	BINARY(SQUARED_DIFFERENCE, 1, 0, 1),
	BINARY(ADD_N, 3, 8, 17),
	COMPARE(EQUAL, 0, 1, 0),
	COMPARE(NOT_EQUAL, 1, 0, 1),
	COMPARE(LESS, 1, 0, 0),
	COMPARE(LESS_EQUAL, 1, 1, 0),
	COMPARE(GREATER, 0, 0, 1),
	COMPARE(GREATER_EQUAL, 0, 1, 1),
	{.code = QN_TFL_POW,
	 .x = F3(1, 2, 3),
	 .more = {F3(2, 2, 2)},
	 .y = F3(1, 4, 9),
	 .bound = 1e-5},
	{.code = QN_TFL_SELECT_V2,
	 .x = F3(1, 2, 3),
	 .at = 1,
	 .more = {B3(1, 0, 1), F3(7, 8, 9)},
	 .y = F3(1, 8, 3)},
	REDUCE(SUM, 3, 7),
	REDUCE(REDUCE_MAX, 2, 4),
	REDUCE(REDUCE_MIN, 1, 3),
	REDUCE(REDUCE_PROD, 2, 12),
	{.code = QN_TFL_CUMSUM,
	 .x = F22(1, 2, 4, 3),
	 .more = {{INT32, -1, {0}, {1}}},
	 .y = F22(1, 3, 4, 7)},
	{.code = QN_TFL_ARG_MAX,
	 .x = F22(1, 2, 4, 3),
	 .more = {{INT32, -1, {0}, {1}}},
	 .y = I2(1, 0),
	 .option = {OPTION(0, 'b', INT32)}},
	{.code = QN_TFL_ARG_MIN,
	 .x = F22(1, 2, 4, 3),
	 .more = {{INT32, -1, {0}, {1}}},
	 .y = I2(0, 1),
	 .option = {OPTION(0, 'b', INT32)}},
	{.code = QN_TFL_FAKE_QUANT,
	 .x = F3(-0.5, 0, 0.5),
	 .y = F3(-0.5, 0, 0.5),
	 .option = {OPTION(0, 'f', -1), OPTION(1, 'f', 1), OPTION(2, 'i', 8)},
	 .bound = 0.005},
	/* 12 bits keep their grid of 3/4095 without a zero point, 16 bits have one of 3/32767 */
	{.code = QN_TFL_FAKE_QUANT,
	 .x = F3(-1, 1.5, 4),
	 .y = F3(0, 2048 * 3.0 / 4095, 3),
	 .option = {OPTION(0, 'f', 0), OPTION(1, 'f', 3), OPTION(2, 'i', 12)},
	 .bound = 1e-6},
	{.code = QN_TFL_FAKE_QUANT,
	 .x = F3(-1, 1.5, 4),
	 .y = F3(0, 16384 * 3.0 / 32767, 3),
	 .option = {OPTION(0, 'f', 0), OPTION(1, 'f', 3), OPTION(2, 'i', 16)},
	 .bound = 1e-6},
	{.code = QN_TFL_FAKE_QUANT,
	 .x = F3(-4, 1, 2),
	 .y = F3(-3, 10922 * 3.0 / 32767, 10922 * 3.0 / 32767),
	 .option = {OPTION(0, 'f', -3), OPTION(1, 'f', 1), OPTION(2, 'i', 16)},
	 .bound = 1e-6},
	{.code = QN_TFL_AVERAGE_POOL_2D,
	 .x = PIC(2, 2, 1, 1, 2, 2, 4),
	 .y = PIC(1, 1, 1, 2.25),
	 .option = POOL},
	{.code = QN_TFL_MAX_POOL_2D,
	 .x = PIC(2, 2, 1, 1, 2, 2, 4),
	 .y = PIC(1, 1, 1, 4),
	 .option = POOL},
	{.code = QN_TFL_L2_POOL_2D,
	 .x = PIC(2, 2, 1, 1, 2, 2, 4),
	 .y = PIC(1, 1, 1, 2.5),
	 .option = POOL,
	 .bound = 1e-6},
	{.code = QN_TFL_RESIZE_BILINEAR,
	 .x = PIC(1, 2, 1, 0, 4),
	 .more = {I2(1, 4)},
	 .y = PIC(1, 4, 1, 0, 1, 3, 4),
	 .option = {OPTION(3, 'b', 1)}},
	{.code = QN_TFL_RESIZE_NEAREST_NEIGHBOR,
	 .x = PIC(1, 2, 1, 5, 7),
	 .more = {I2(1, 4)},
	 .y = PIC(1, 4, 1, 5, 5, 7, 7)},
	{.code = QN_TFL_DEPTH_TO_SPACE,
	 .x = PIC(1, 1, 4, 1, 2, 3, 4),
	 .y = PIC(2, 2, 1, 1, 2, 3, 4),
	 .option = {OPTION(0, 'i', 2)}},
	{.code = QN_TFL_SPACE_TO_DEPTH,
	 .x = PIC(2, 2, 1, 1, 2, 3, 4),
	 .y = PIC(1, 1, 4, 1, 2, 3, 4),
	 .option = {OPTION(0, 'i', 2)}},
	{.code = QN_TFL_TRANSPOSE_CONV,
	 .x = PIC(1, 2, 1, 1, 10),
	 .at = 2,
	 .more = {I4(1, 1, 4, 1), PIC(1, 2, 1, 2, 3)},
	 .y = PIC(1, 4, 1, 2, 3, 20, 30),
	 .option = {OPTION(0, 'b', QN_TFL_PADDING_VALID), OPTION(1, 'i', 2), OPTION(2, 'i', 1)}},
	{.code = QN_TFL_BATCH_MATMUL,
	 .x = F22(1, 2, 3, 4),
	 .more = {F22(1, 0, 1, 1)},
	 .y = F22(3, 2, 7, 4)},
	{.code = QN_TFL_BROADCAST_TO, .x = F2(1, 2), .more = {I2(2, 2)}, .y = F22(1, 2, 1, 2)},
	{.code = QN_TFL_TILE, .x = F2(1, 2), .more = {I1(2)}, .y = {FLOAT, 1, {4}, {1, 2, 1, 2}}},
	{.code = QN_TFL_EXPAND_DIMS,
	 .x = F2(1, 2),
	 .more = {{INT32, -1, {0}, {0}}},
	 .y = {FLOAT, 2, {1, 2}, {1, 2}}},
	{.code = QN_TFL_SQUEEZE, .x = {FLOAT, 2, {1, 2}, {1, 2}}, .y = F2(1, 2)},
	{.code = QN_TFL_RANK, .x = F22(1, 2, 3, 4), .y = {INT32, -1, {0}, {2}}},
	{.code = QN_TFL_EMBEDDING_LOOKUP,
	 .x = F22(1, 2, 3, 4),
	 .at = 1,
	 .more = {I2(1, 0)},
	 .y = F22(3, 4, 1, 2)},
	{.code = QN_TFL_GATHER, .x = F22(1, 2, 3, 4), .more = {I2(1, 0)}, .y = F22(3, 4, 1, 2)},
	{.code = QN_TFL_REVERSE_SEQUENCE,
	 .x = F22(1, 2, 3, 4),
	 .more = {I2(2, 1)},
	 .y = F22(2, 1, 3, 4),
	 .option = {OPTION(0, 'i', 1), OPTION(1, 'i', 0)}},
	{.code = QN_TFL_DYNAMIC_UPDATE_SLICE,
	 .x = F22(1, 2, 3, 4),
	 .more = {{FLOAT, 2, {1, 1}, {9}}, I2(1, 0)},
	 .y = F22(1, 2, 9, 4)},
	{.code = QN_TFL_SEGMENT_SUM,
	 .x = F22(1, 2, 3, 4),
	 .more = {I2(1, 1)},
	 .y = F22(0, 0, 4, 6)},
	{.code = QN_TFL_MATRIX_DIAG, .x = F2(1, 2), .y = F22(1, 0, 0, 2)},
	{.code = QN_TFL_MATRIX_SET_DIAG,
	 .x = F22(1, 2, 3, 4),
	 .more = {F2(8, 9)},
	 .y = F22(8, 2, 3, 9)},
	{.code = QN_TFL_REDUCE_ANY,
	 .x = {BOOL, 2, {2, 2}, {0, 1, 0, 0}},
	 .more = {I1(1)},
	 .y = {BOOL, 1, {2}, {1, 0}}},
	{.code = QN_TFL_REDUCE_ALL,
	 .x = {BOOL, 2, {2, 2}, {1, 1, 0, 1}},
	 .more = {I1(1)},
	 .y = {BOOL, 1, {2}, {1, 0}}},
};

static int
count(const operand *o)
{
	int n = 1;

	for (int i = 0; i < o->rank; i++)
		n *= o->dim[i];
	return n;
}

/* A tensor, and with values a constant. */
static int
add_tensor(const char *name, const operand *o, bool constant)
{
	int each = o->type == BOOL ? 1 : 4;
	int n = count(o);
	uint8_t *data = qn_arena_alloc(&rg->arena, (size_t)(n * each), 8);

	for (int i = 0; i < n; i++) {
		const float f = (float)o->v[i];
		const int32_t k = (int32_t)o->v[i];
		const uint8_t b = o->v[i] != 0;

		memcpy(data + i * each,
		       o->type == FLOAT   ? (const void *)&f
		       : o->type == INT32 ? (const void *)&k
					  : &b,
		       (size_t)each);
	}
	return tfl_tensor(file, name, o->type, o->rank > 0 ? o->rank : 0, o->dim,
			  constant ? data : NULL, constant ? n * each : 0);
}

static void
check_row(const op_row *r)
{
	int32_t in[3];
	int32_t x = add_tensor("x", &r->x, false);
	int32_t y;
	int n = 0;

	for (int k = 0; k < 2 || n <= r->at; k++) {
		if (n == r->at)
			in[n++] = x;
		if (k < 2 && r->more[k].rank != 0)
			in[n++] = add_tensor(k == 0 ? "a" : "b", &r->more[k], true);
	}
	y = add_tensor("y", &r->y, false);
	tfl_op_of *o = tfl_op(file, r->code, n, in, 1, &y);
	for (int k = 0; k < 6 && r->option[k].kind != 0; k++)
		tfl_with(o, r->option[k].field, r->option[k].kind, r->option[k].value);
	import(1, &x, 1, &y);
	near(r->y.v, run1(r->x.v), count(&r->y), r->bound);
}

static void
test_rows(void **state)
{
	static const char *const names[] = {
#define X(name) #name,
		QN_TFL_BUILTINS(X)
#undef X
	};

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		print_message("%s\n", names[rows[i].code]);
		tflite_setup(state);
		check_row(&rows[i]);
		tflite_teardown(state);
	}
}

/* Element-wise functions, by their rows in ir/ops.def.  What the function is, test_unary says. */
static void
test_functions(void **state)
{
	static const struct {
		qn_op op;
		int code;
	} functions[] = {
#define TFLITE(op, name, how) {QN_OP_##op, QN_TFL_##name},
#define FUNCTION(name, attributes, behaviour, types, value, facts) facts
#include "ir/ops.def"
	};

	for (size_t i = 0; i < QN_COUNT(functions); i++) {
		op_row r = {.code = functions[i].code, .x = F3(0.25, 0.5, 0.75), .y = F3(0)};
		qn_attrs a;
		const qn_node n = {.op = functions[i].op, .attr = &a};

		print_message("%s\n", qn_opinfo_get(n.op)->name);
		qn_attrs_default(qn_opinfo_get(n.op)->attrs, &a);
		for (size_t k = 0; k < 3; k++)
			r.y.v[k] = (double)(float)qn_unary_value(&n, r.x.v[k]);
		tflite_setup(state);
		check_row(&r);
		tflite_teardown(state);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows),
					   cmocka_unit_test(test_functions)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
