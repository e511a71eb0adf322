/* SPDX-License-Identifier: Apache-2.0 */
/* traced.c - a line for each value of a trace op.
 *
 *   trace 'after conv1' run 0: tensor<1x4x!quant.uniform<i8:f32, 0.5:-1>>, -128 … 90 */
#include <stdio.h>
#include <string.h>

#include "program.h"
#include "traced.h"

#define READ(name, type)                                                                           \
	static double read_##name(const void *data, size_t i)                                      \
	{                                                                                          \
		return (double)((const type *)data)[i];                                            \
	}
READ(i8, int8_t)
READ(u8, uint8_t)
READ(i16, int16_t)
READ(u16, uint16_t)
READ(i32, int32_t)
READ(u32, uint32_t)
READ(i64, int64_t)
READ(u64, uint64_t)
READ(f32, float)
READ(f64, double)

static const struct {
	const char *name;
	size_t bytes;
	double (*read)(const void *data, size_t i);
} element[] = {
	{"bool", 1, read_u8}, {"i8", 1, read_i8},   {"u8", 1, read_u8},   {"i16", 2, read_i16},
	{"u16", 2, read_u16}, {"i32", 4, read_i32}, {"u32", 4, read_u32}, {"i64", 8, read_i64},
	{"u64", 8, read_u64}, {"f32", 4, read_f32}, {"f64", 8, read_f64},
};

static void
print_range(const qn_traced *v)
{
	for (size_t k = 0; k < sizeof element / sizeof element[0]; k++) {
		if (strcmp(v->dtype, element[k].name) != 0 || v->bytes == 0)
			continue;
		double lo = element[k].read(v->data, 0), hi = lo;

		for (size_t i = 1; i < v->bytes / element[k].bytes; i++) {
			const double x = element[k].read(v->data, i);

			lo = x < lo ? x : lo;
			hi = x > hi ? x : hi;
		}
		printf(", %.9g … %.9g", lo, hi);
	}
}

int
program_print_traced(void *user, const qn_traced *v)
{
	size_t *lines = user;

	++*lines;
	printf("trace '%s' run %llu: %s", v->key, (unsigned long long)v->run, v->type);
	print_range(v);
	printf("\n");
	return 0;
}
