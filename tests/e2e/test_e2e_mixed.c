/* SPDX-License-Identifier: Apache-2.0 */
/* Files of two compilations do not make a program: not as sources side by side, whichever of them
 * are mixed, and not as objects, which a build makes while the files are replaced. */
#include "tests/e2e/e2e.h"

static const char net[] =
	"model \"net\" stage integer\n"
	"graph @main(%%x: tensor<1x6x!quant.uniform<i8:f32, 0.05:-4>>) {\n"
	"  %%w = const : tensor<3x6x!quant.uniform<i8:f32, 0.02>> rand %d\n"
	"  %%d = dense %%x, %%w : tensor<1x3x!quant.uniform<i32:f32, 0.05*0.02>>\n"
	"  %%y = requantize %%d : tensor<1x3x!quant.uniform<i8:f32, %s>>\n"
	"  return %%y as \"y\"\n"
	"}\n";

static void
write_net(builder *b, e2e *t, size_t nsample, int seed, const char *scale)
{
	char text[1024];

	snprintf(text, sizeof(text), net, seed, scale);
	build_parse(b, text);
	e2e_prepare(b, t, nsample);
	e2e_write(b, t);
}

/* The file of the device is like the header, or alone that of `other`.  The one after it, the sampler's,
 * is not there: the network has no tokens. */
enum { DEVICE = QN_EMITTED_FILES - 2 };

/* Files whose bit is set are those of `other`. */
static bool
is_other(unsigned which, unsigned i)
{
	return (which >> (i == DEVICE && which >> DEVICE == 0 ? 0 : i) & 1) != 0;
}

static void
mix(builder *b, const e2e *t, const e2e *other, unsigned which, const char *dir)
{
	qn_buf cmd;

	qn_buf_init(&cmd, &b->arena);
	qn_buff(&cmd, "mkdir -p %s", dir);
	for (unsigned i = 0; i < QN_EMITTED_FILES; i++)
		qn_buff(&cmd, " && cp %s/net%s %s", is_other(which, i) ? other->dir : t->dir,
			t->file[i].suffix, dir);
	assert_true(e2e_shell(b, qn_buf_str(&cmd), t->dir, NULL));
}

static const char build[] =
	"{ cc -std=c99 -include net_io.h net.c net_weights.c net_proof.c -o p && "
	"cc -std=c99 -fsyntax-only net_device.c && "
	"cc -std=c99 -DNET_SELFTEST_MAIN net.c net_weights.c net_selftest.c -o t; }";

/* None and all of them: the files of one. */
static void
check_sources(builder *b, const e2e *t, const e2e *other)
{
	for (unsigned which = 0; which <= 1u << DEVICE; which++) {
		const bool whole = which == 0 || which + 1 == 1u << DEVICE;
		char dir[96];

		snprintf(dir, sizeof(dir), "%s/mixed", t->dir);
		mix(b, t, other, which, dir);
		if (e2e_shell(b, build, dir, "2> log") != whole)
			fail_msg("mixture %u %s", which, whole ? "does not build" : "builds");
		assert_true(
			whole ? e2e_shell(b, "./t", dir, "> log")
			      : e2e_shell(b, "grep -q 'of different compilations'", dir, "log"));
	}
}

static void
check_objects(builder *b, const e2e *t, const e2e *other)
{
	static const char *const object[] = {"net.o", "net_weights.o", "net_selftest.o"};
	static const char compile[] =
		"cc -std=c99 -O2 -DNET_SELFTEST_MAIN -c net.c net_weights.c net_selftest.c";

	assert_true(e2e_shell(b, compile, t->dir, NULL));
	assert_true(e2e_shell(b, compile, other->dir, NULL));
	for (unsigned which = 0; which < 8; which++) {
		qn_buf cmd;

		qn_buf_init(&cmd, &b->arena);
		qn_buf_puts(&cmd, "cc -o t");
		for (unsigned i = 0; i < 3; i++)
			qn_buff(&cmd, " %s/%s", (which >> i & 1) != 0 ? other->dir : t->dir,
				object[i]);
		if (e2e_shell(b, qn_buf_str(&cmd), t->dir, "2> log") != (which % 7 == 0))
			fail_msg("objects of mixture %u", which);
	}
}

static void
mixtures(void **state)
{
	builder a, b;
	e2e x, y;

	(void)state;
	write_net(&a, &x, 3, 7, "0.25:11");
	/* other weights; the same weights and another scale, which only the program holds */
	for (int i = 0; i < 2; i++) {
		write_net(&b, &y, 3, i == 0 ? 8 : 7, i == 0 ? "0.25:11" : "0.5:11");
		check_sources(&a, &x, &y);
		check_objects(&a, &x, &y);
		e2e_remove(&b, &y);
		build_end(&b);
	}
	e2e_remove(&a, &x);
	build_end(&a);
}

/* A program without constants: its self-test links with it alone.  Its file of constants is empty. */
static void
no_constants(void **state)
{
	static const char text[] =
		"model \"net\" stage integer\n"
		"graph @main(%%x: tensor<1x6x!quant.uniform<i8:f32, 0.05:-4>>) {\n"
		"  %%y = clamp %%x {lo=%d, hi=100}\n  return %%y as \"y\"\n}\n";
	builder b[2];
	e2e x[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		char s[512];

		snprintf(s, sizeof(s), text, i - 4);
		build_parse(&b[i], s);
		e2e_prepare(&b[i], &x[i], 3);
		e2e_write(&b[i], &x[i]);
		assert_true(e2e_shell(
			&b[i],
			"cc -std=c99 -O2 -DNET_SELFTEST_MAIN -c net.c net_weights.c net_selftest.c",
			x[i].dir, NULL));
	}
	check_sources(&b[0], &x[0], &x[1]);
	for (unsigned which = 0; which < 4; which++) {
		qn_buf cmd;

		qn_buf_init(&cmd, &b[0].arena);
		qn_buff(&cmd, "cc -o t %s/net.o %s/net_weights.o %s/net_selftest.o",
			x[which & 1].dir, x[0].dir, x[which >> 1].dir);
		if (e2e_shell(&b[0], qn_buf_str(&cmd), x[0].dir, "2> log") != (which % 3 == 0))
			fail_msg("objects of mixture %u", which);
	}
	for (int i = 0; i < 2; i++) {
		e2e_remove(&b[i], &x[i]);
		build_end(&b[i]);
	}
}

/* Other samples for the self-test, the same program: its files are the same and go together. */
static void
other_samples(void **state)
{
	builder a, b;
	e2e x, y;

	(void)state;
	write_net(&a, &x, 3, 7, "0.25:11");
	write_net(&b, &y, 2, 7, "0.25:11");
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(x.file[i].text, y.file[i].text);
	assert_string_not_equal(x.file[4].text, y.file[4].text);
	e2e_remove(&b, &y);
	build_end(&b);
	e2e_remove(&a, &x);
	build_end(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mixtures),
		cmocka_unit_test(no_constants),
		cmocka_unit_test(other_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
