/* SPDX-License-Identifier: Apache-2.0 */
/* target.c - see target.h.  A target without kernels of its own stands here so that its name can be
 * given already; it says so. */
#include "codegen/target.h"

#include <string.h>

#include "ir/buf.h"
#include "ir/diag.h"
#include "ir/nearest.h"

#define DSP .features = QN_TARGET_DSP | QN_TARGET_SMLAD, .lacks = "!defined(__ARM_FEATURE_DSP)"

/* The macros of NEON and its dot products are those of 32-bit cores, too. */
#define AARCH64_LACKS(macro)                                                                       \
	"(!defined(__aarch64__) || defined(__ARM_BIG_ENDIAN) || !defined(" macro "))"

#define SCALAR                                                                                     \
	.features = QN_TARGET_SCALAR, .help = "three 8-bit products by two 32-bit multiplications"

static const qn_target targets[] = {
	{.name = "generic", .help = "any C99 or C++11 compiler (default)"},
	{.name = "cortex-m0", SCALAR},
	{.name = "cortex-m0plus", SCALAR},
	{.name = "cortex-m3", SCALAR},
	{.name = "cortex-m4", DSP, .help = "DSP extension: two products per instruction"},
	{.name = "cortex-m7", DSP, .help = "as cortex-m4"},
	{.name = "cortex-m33", DSP, .help = "as cortex-m4; for cores with the DSP extension"},
	{.name = "cortex-m55",
	 .features = QN_TARGET_VECTORS | QN_TARGET_SMLAD,
	 .lacks = "!defined(__ARM_FEATURE_MVE)",
	 .flags = "-mcpu=cortex-m55 and -mfloat-abi=hard or softfp",
	 .help = "MVE (Helium): 16 products per instruction"},
	{.name = "cortex-m85",
	 .features = QN_TARGET_VECTORS | QN_TARGET_SMLAD,
	 .lacks = "!defined(__ARM_FEATURE_MVE)",
	 .flags = "-mcpu=cortex-m85 and -mfloat-abi=hard or softfp",
	 .help = "as cortex-m55"},
	{.name = "rv32imc", SCALAR},
	{.name = "avr",
	 .features = QN_TARGET_ROM,
	 .lacks = "!defined(__AVR__)",
	 .most = INT16_MAX,
	 .help = "products of 16 bits; constants in program memory"},
	{.name = "aarch64",
	 .features = QN_TARGET_VECTORS | QN_TARGET_PAIRS,
	 .is_host = true,
	 .lacks = AARCH64_LACKS("__ARM_NEON"),
	 .help = "NEON, which every aarch64 has: 8 products per instruction"},
	{.name = "aarch64-dotprod",
	 .features = QN_TARGET_VECTORS,
	 .is_host = true,
	 .lacks = AARCH64_LACKS("__ARM_FEATURE_DOTPROD"),
	 .help = "NEON with dot products (SDOT): 16 products per instruction"},
	{.name = "x86-64", .is_host = true, .help = "as generic"},
	{.name = "x86-64-avx2",
	 .features = QN_TARGET_VECTORS,
	 .is_host = true,
	 .lacks = "!defined(__AVX2__)",
	 .help = "AVX2: 16 products of 16 bits per instruction"},
	{.name = "x86-64-avx512vnni",
	 .features = QN_TARGET_VECTORS | QN_TARGET_WIDE,
	 .is_host = true,
	 .lacks = "!defined(__AVX512VNNI__)",
	 .help = "AVX-512 VNNI: 64 products per instruction"},
};

const qn_target *
qn_target_at(size_t i)
{
	return i < QN_COUNT(targets) ? &targets[i] : NULL;
}

const qn_target *
qn_target_find(qn_env *env, const char *name)
{
	if (name == NULL)
		return &targets[0];
	for (size_t i = 0; i < QN_COUNT(targets); i++)
		if (strcmp(targets[i].name, name) == 0)
			return &targets[i];
	const char *known[QN_COUNT(targets)];
	qn_arena a;

	for (size_t i = 0; i < QN_COUNT(targets); i++)
		known[i] = targets[i].name;
	const char *best = qn_nearest_name(name, QN_COUNT(known), known);
	qn_arena_init(&a, env);
	(void)qn_report(env, QN_EUSAGE, "target.unknown", "",
			"unknown target '%s' (expected %s)" QN_DID_YOU_MEAN, name,
			qn_choices(&a, QN_COUNT(known), known), QN_SUGGEST(best));
	qn_arena_release(&a);
	return NULL;
}
