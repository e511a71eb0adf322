/* SPDX-License-Identifier: Apache-2.0 */
/* test_pb.c - tensors of ONNX's test data (formats/pb.c): what is read of them, and what is wrong with others. */
#define _POSIX_C_SOURCE 200809L
#include "tests/unit/formats_fixture.h"

#include "formats/pb.h"

typedef struct row {
	const char *bytes;
	size_t n;
	const char *want; /* the type and the elements, or the id of an error */
} row;

#define BYTES(s) s, sizeof(s) - 1

static const row rows[] = {
	/* dims [2,3] one by one, i8, raw_data; a name and an unknown field are passed over */
	{BYTES("\x08\x02\x08\x03\x10\x03\x42\x01x\x4a\x06\xff\x02\x03\x04\x05\x80"),
	 "tensor<2x3xi8> -1.0 2.0 3.0 4.0 5.0 -128.0"},
	{BYTES("\x0a\x02\x02\x01\x10\x01\x4a\x08\x00\x00\x80\x3f\x00\x00\x00\xbf"),
	 "tensor<2x1xf32> 1.0 -0.5"},
	/* numbers in lists: packed, and one by one */
	{BYTES("\x0a\x01\x02\x10\x01\x22\x08\x00\x00\x80\x3f\x00\x00\x00\xbf"),
	 "tensor<2xf32> 1.0 -0.5"},
	{BYTES("\x0a\x01\x02\x10\x01\x25\x00\x00\x80\x3f\x25\x00\x00\x00\xbf"),
	 "tensor<2xf32> 1.0 -0.5"},
	{BYTES("\x0a\x01\x02\x10\x03\x2a\x0b\x7f\x80\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
	 "tensor<2xi8> 127.0 -128.0"},
	{BYTES("\x0a\x01\x02\x10\x06\x28\x05\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
	 "tensor<2xi32> 5.0 -1.0"},
	{BYTES("\x0a\x01\x02\x10\x09\x2a\x02\x01\x00"), "tensor<2xbool> 1.0 0.0"},
	{BYTES("\x0a\x01\x01\x10\x0a\x2a\x02\x80\x78"), "tensor<1xf16> 1.0"},
	{BYTES("\x0a\x01\x01\x10\x10\x2a\x02\x80\x7f"), "tensor<1xbf16> 1.0"},
	{BYTES("\x0a\x01\x02\x10\x07\x3a\x03\x07\x80\x01"), "tensor<2xi64> 7.0 128.0"},
	{BYTES("\x0a\x01\x01\x10\x0b\x52\x08\x00\x00\x00\x00\x00\x00\xf0\x3f"),
	 "tensor<1xf64> 1.0"},
	{BYTES("\x0a\x01\x01\x10\x0c\x5a\x05\xff\xff\xff\xff\x0f"), "tensor<1xu32> 4294967295.0"},
	{BYTES("\x10\x01\x4a\x04\x00\x00\x80\x3f"), "tensor<f32> 1.0"},
	{BYTES("\x0a\x02\x00\x04\x10\x01"), "tensor<0x4xf32>"},

	{BYTES(""), "pb.syntax"},
	{BYTES("not a tensor"), "pb.syntax"},
	{BYTES("\x0a\x01\x02"), "pb.syntax"},                 /* no element type */
	{BYTES("\x0a\x05\x02"), "pb.syntax"},                 /* cut off */
	{BYTES("\x0a\x01\x82\x10\x01"), "pb.syntax"},         /* within a dim */
	{BYTES("\x0a\x01\x01\x10\x01\x20\x01"), "pb.syntax"}, /* a float as a varint */
	{BYTES("\x0a\x01\x01\x10\x01\x22\x03\x00\x00\x80"), "pb.syntax"},
	{BYTES("\x0a\x01\x01\x10\x08\x32\x01x"), "pb.dtype"}, /* text */
	{BYTES("\x0a\x01\x01\x10\x14\x4a\x01x"), "pb.dtype"},
	{BYTES("\x0a\x01\x01\x10\x03\x70\x01"), "pb.external"},
	{BYTES("\x0a\x01\x02\x10\x03\x4a\x01x"), "pb.size"},
	{BYTES("\x0a\x01\x02\x10\x03\x28\x01"), "pb.size"},
	{BYTES("\x0a\x01\x01\x10\x03\x28\x01\x28\x01"), "pb.size"},
	{BYTES("\x0a\x09\x01\x01\x01\x01\x01\x01\x01\x01\x01\x10\x03\x4a\x01x"), "pb.size"},
	{BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x03\x4a\x01x"), "pb.size"},
	{BYTES("\x0a\x05\x80\x80\x80\x80\x40\x10\x03"), "pb.size"}, /* nothing is allocated */
	{BYTES("\x0a\x01\x01\x10\x03\x2a\x02\x80\x01"), "pb.value"},
	{BYTES("\x0a\x01\x01\x10\x09\x2a\x01\x02"), "pb.value"},
};

/* The type and the elements. */
static const char *
text_of(fixture *f, const qn_tensor *x)
{
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	qn_type_print(&b, x->type);
	for (int64_t i = 0; i < qn_type_count(x->type); i++)
		qn_buff(&b, " %g", qn_tensor_f64(x, i));
	return qn_buf_str(&b);
}

static void
test_rows(void **state)
{
	fixture *f = *state;

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		qn_tensor *x;

		restart(f);
		const qn_status status =
			qn_pb_parse(&f->t, &f->arena, "x.pb", rows[i].bytes, rows[i].n, &x);
		const char *got = status == QN_OK ? text_of(f, x) : last_id(f);
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("row %zu: %s instead of %s", i, got, rows[i].want);
	}
}

static qn_status
parse(fixture *f, const char *s, size_t n)
{
	qn_tensor *x;
	const qn_status status = qn_pb_parse(&f->t, &f->arena, "x.pb", s, n, &x);

	if (status == QN_OK)
		(void)text_of(f, x); /* all of it can be read */
	return status;
}

static void
test_hurt(void **state)
{
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		hurt(*state, parse, rows[i].bytes, rows[i].n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {T(test_rows), T(test_hurt)};

	return cmocka_run_group_tests_name("pb", tests, NULL, NULL);
}
