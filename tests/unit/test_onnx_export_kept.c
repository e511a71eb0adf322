/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_export_kept.c - what the operators of ONNX have no place for and a written file keeps beside them: ranges,
 * roundings, names.  A file that was changed since is read by its operators. */
#include "tests/unit/onnx_export_rig.h"

/* Narrow ranges, sums of their own scales, rounding away from 0, constants turned and not: nothing of it stands in
 * ONNX's operators. */
static const char kept[] =
	"model \"test\" stage calibrated rounding single options \"made by hand\"\n"
	"param @many = {0.5, 0.25:1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, "
	"0.5, 0.5, "
	"0.125}\n"
	"graph @main(%x: tensor<1x3x3x2xf32>, %idle: tensor<2xf32>) {\n"
	"  %\"odd name\" = const : tensor<2x2x2x2x!quant.uniform<i8<-127:127>:f32:0, {0.5, 0.25}>> "
	"rand 1\n"
	"  %q = quantize %x {ties=away} : tensor<1x3x3x2x!quant.uniform<u8<1:255>:f32, 0.5:3>>\n"
	"  %b = const : tensor<2xf32> [12.5, -3.25]\n"
	"  %p = quantize %b : tensor<2x!quant.uniform<i32:f32:0, 0.5*{0.5, 0.25}>>\n"
	"  %c = conv2d %q, %\"odd name\", %p {padding=same}\n"
	"  %r = requantize %c {lo=-5, hi=90} : tensor<1x3x3x2x!quant.uniform<i8:f32, 2.0:-5>>\n"
	"  %w = const : tensor<17x18x!quant.uniform<i4<-7:7>:f32, 0.5>> rand 2\n"
	"  %f = flatten %r\n"
	"  %g = dense %f, %w\n"
	"  %d = dequantize %g\n"
	"  %e = relu6 %d\n"
	"  %m = quantize %e : tensor<1x17x!quant.uniform<i8:f32:1, {@many}>>\n"
	"  return %r as \"first\", %m\n}\n";

static void
test_kept(void **state)
{
	(void)state;
	read_text(kept);
	is_the_same();
}

/* Metadata that do not fit the file: the operators are read, and nothing is said of it. */
static void
test_kept_damaged(void **state)
{
	size_t same = 0, other = 0;

	(void)state;
	read_text(kept);
	const qn_buf b = written();
	const char *const want = text_of(qn_onnx_out_graph(&rg->m));
	size_t from = b.n;
	for (size_t i = 0; i + 11 < b.n; i++)
		if (memcmp(b.data + i, "quern.graph", 11) == 0)
			from = i;
	for (size_t i = from; i < b.n; i += 3) {
		const qn_import_how how = {0};
		qn_model *back = QN_NEW(&rg->arena, qn_model, 1);
		char *data = qn_arena_copy(&rg->arena, b.data, b.n);

		data[i] ^= 1;
		qn_model_init(back, &rg->env, &rg->arena, "test");
		if (qn_onnx_read(back, "back.onnx", NULL, data, b.n, &how) != QN_OK) {
			qn_diags_clear(&rg->env, &rg->diags); /* a length of the format */
			continue;
		}
		no_errors();
		assert_int_equal(qn_model_verify(back), QN_OK);
		if (strcmp(text_of(qn_model_entry(back)), want) == 0)
			same++; /* rounding, options, what is unused */
		else
			other++;
	}
	assert_true(other > 100);
	assert_true(same < other);
}

/* A code that the range does not have: the file was changed behind the writer. */
static void
test_kept_codes(void **state)
{
	(void)state;
	read_text("model \"m\" stage calibrated\n"
		  "graph @main(%x: tensor<1x4xf32>) {\n"
		  "  %w = const : tensor<1x4x!quant.uniform<i8<-127:127>:f32, 0.5>> [85, 86, 87, "
		  "88]\n"
		  "  %d = dequantize %w\n  %y = add %x, %d\n"
		  "  %q = quantize %y : tensor<1x4x!quant.uniform<i8:f32, 0.5>>\n"
		  "  return %q\n}\n");
	qn_buf b = written();
	const qn_model *back = read_back(&b);
	assert_non_null(strstr(text_of(qn_model_entry(back)), "<-127:127>"));
	for (size_t i = 0; i + 4 < b.n; i++)
		if (memcmp(b.data + i, "\xd5\xd6\xd7\xd8", 4) == 0) /* u8 in the file */
			b.data[i] = 0;
	back = read_back(&b);
	assert_null(strstr(text_of(qn_model_entry(back)), "<-127:127>"));
	assert_non_null(strstr(text_of(qn_model_entry(back)), "[0, 214, 215, 216]"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_kept),
		TEST(test_kept_damaged),
		TEST(test_kept_codes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
