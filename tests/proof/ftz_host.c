/* SPDX-License-Identifier: Apache-2.0 */
/* ftz_host.c - a host with unfriendly surroundings: subnormals are flushed to zero on the way in
 * and out, sums round upwards, and the locale is that of the user (LC_ALL).
 *
 *   ftz_host MODEL CALIB.npy FOLDER
 *
 * compiles and emits as `quern compile MODEL --calib CALIB.npy -o FOLDER` does.
 *
 * Prints what its surroundings are.  Exits with 77 where subnormals cannot be flushed. */
#include <fenv.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "quern/quern.h"

#if defined(__SSE2__)
#include <pmmintrin.h>
#include <xmmintrin.h>

enum { FLUSH = 0x8040 }; /* FTZ and DAZ */

static void
flush_on(void)
{
	_mm_setcsr(_mm_getcsr() | FLUSH);
}

static int
flush_is_on(void)
{
	return (_mm_getcsr() & FLUSH) == FLUSH;
}
#else
static void
flush_on(void)
{
}

static int
flush_is_on(void)
{
	return 0;
}
#endif

/* Whether the smallest normal number halved is 0: the flush works. */
static int
flushes(void)
{
	volatile float least = 1.17549435e-38f, half = 0.5f;
	volatile float product = least * half;

	return product == 0.0f;
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static qn_status
compile(qn_ctx *ctx, char **argv)
{
	const char *name = base_name(argv[2]);
	qn_array *calib;
	qn_model *m;
	qn_compile_opts opts = {.calib = &calib, .calib_names = &name, .ncalib = 1};
	qn_emit_opts emit = {.test = &calib, .ntest = 1};
	qn_status status = qn_load(ctx, argv[1], &m);

	if (status == QN_OK)
		status = qn_array_load(ctx, argv[2], &calib);
	if (status == QN_OK)
		status = qn_compile(m, &opts);
	return status == QN_OK ? qn_emit(m, argv[3], &emit, NULL) : status;
}

int
main(int argc, char **argv)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_status status;
	size_t i;

	if (argc != 4 || ctx == NULL)
		return 2;
	(void)setlocale(LC_ALL, "");
	flush_on();
	(void)fesetround(FE_UPWARD);
	if (!flush_is_on() || !flushes()) {
		printf("this machine has no way known here to flush subnormals\n");
		return 77;
	}
	status = compile(ctx, argv);
	for (i = 0; i < qn_diag_count(ctx); i++)
		printf("%s: %s\n", qn_diag_get(ctx, i).id, qn_diag_get(ctx, i).message);
	if (!flush_is_on() || !flushes() || fegetround() != FE_UPWARD) {
		printf("the host's floating-point environment was not given back\n");
		status = QN_EINTERNAL;
	}
	printf("subnormals flushed, rounding upwards, decimal point '%s'\n",
	       localeconv()->decimal_point);
	qn_close(ctx);
	return (int)status;
}
