/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_unsupported.c - operators that are not read: each is named once, with how many operators of the
 * file are of its kind, why, and a way out. */
#include "import/tflite.h"

#include <string.h>

/* What compiled parts of a model for an accelerator into the custom operator `name`; NULL: nothing that is known. */
static const char *
compiler_of(const char *name)
{
	static const char *const compilers[][2] = {{"edgetpu-custom-op", "edgetpu_compiler"},
						   {"ethos-u", "Vela"}};

	for (size_t i = 0; i < QN_COUNT(compilers); i++)
		if (strcmp(name, compilers[i][0]) == 0)
			return compilers[i][1];
	return NULL;
}

/* Operators that cannot be supported, and why. */
static const char *
why_not(int64_t code, const char *name)
{
	static const struct {
		qn_tfl_builtin code;
		const char *why;
	} reasons[] = {
		{QN_TFL_UNIQUE, "the number of its results depends on the data"},
		{QN_TFL_NON_MAX_SUPPRESSION_V4, "the number of its results depends on the data"},
		{QN_TFL_NON_MAX_SUPPRESSION_V5, "the number of its results depends on the data"},
		{QN_TFL_RANDOM_UNIFORM, "it draws random numbers"},
		{QN_TFL_RANDOM_STANDARD_NORMAL, "it draws random numbers"},
		{QN_TFL_MULTINOMIAL, "it draws random numbers"},
		{QN_TFL_CUSTOM, "it is a custom operator that no composition defines (--lib, "
				"docs/compositions.md)"},
	};

	if (code == QN_TFL_CUSTOM && strncmp(name, "Flex", 4) == 0)
		return "it is an operator of TensorFlow (SELECT_TF_OPS) that no composition "
		       "defines (--lib, docs/compositions.md)";
	for (size_t i = 0; i < QN_COUNT(reasons); i++)
		if ((int64_t)reasons[i].code == code)
			return reasons[i].why;
	return "it is not implemented";
}

/* How many operators have each name; counted when the first one is refused. */
static void
count_all(qn_tfl *f)
{
	size_t *uses = QN_NEW(f->im.scratch, size_t, f->operator_codes.n);
	int64_t number;

	f->lacks = QN_NEW(f->im.scratch, qn_map, 1);
	qn_map_init(f->lacks, f->im.scratch);
	size_t seen = 0;
	for (size_t k = 0; k < f->graphs.n && seen < f->flat.n / 4; k++) {
		const qn_flat_table graph = qn_flat_table_at(&f->graphs, k);
		const qn_flat_vector ops =
			qn_flat_vector_in(&graph, QN_TFL_FIELD_graph_operators, 4);

		seen += ops.n + 1; /* each takes 4 bytes, unless lists overlap */
		for (size_t i = 0; i < ops.n; i++) {
			qn_flat_table t = qn_flat_table_at(&ops, i);
			size_t index =
				(size_t)qn_flat_int(&t, QN_TFL_FIELD_operator_code, QN_FLAT_U32, 0);

			if (t.at != 0 && index < f->operator_codes.n)
				uses[index]++;
		}
	}
	for (size_t i = 0; i < f->operator_codes.n; i++) {
		qn_flat_table code = qn_flat_table_at(&f->operator_codes, i);

		if (uses[i] == 0 || code.at == 0)
			continue;
		const char *name = qn_tfl_code_name(f, &code, &number);
		size_t *n = qn_map_gets(f->lacks, name);
		if (n == NULL) {
			n = QN_NEW(f->im.scratch, size_t, 1);
			qn_map_puts(f->lacks, name, n);
		}
		*n += uses[i];
	}
}

/* Options that end the model at the computed values that an operator reads: all of them, for its part to be done elsewhere. */
static const char *
cut_before(const qn_tfl_op *o)
{
	qn_buf b;

	qn_buf_init(&b, o->im->scratch);
	for (uint32_t i = 0; i < o->nin && o->f->depth == 0; i++) {
		const qn_tfl_tensor *t = o->from[i];
		bool again = false;

		for (uint32_t k = 0; k < i; k++)
			again = again || o->from[k] == t;
		if (t != NULL && !again && t->name[0] != '\0' && t->id != 0 &&
		    qn_importer_known(o->im, t->id) == NULL &&
		    qn_graph_node(o->im->g, t->id)->op != QN_OP_input)
			qn_buff(&b, "%s--cut %s", b.n > 0 ? " " : "", t->name);
	}
	return b.n > 0 ? qn_buf_str(&b) : "--cut NAME";
}

void
qn_tfl_refuse_unsupported(qn_tfl_op *o, int64_t code, const char *name)
{
	if (o->f->lacks == NULL)
		count_all(o->f);
	size_t *n = qn_map_gets(o->f->lacks, name);
	const char *compiler = code == QN_TFL_CUSTOM ? compiler_of(name) : NULL;
	if (compiler != NULL)
		(void)qn_importer_refuse(o->im, "import.op",
					 "%s is a program for an accelerator, which %s made of "
					 "operators of the model; import the file that %s read",
					 name, compiler, compiler);
	else if (n == NULL || *n > 0)
		(void)qn_importer_refuse(
			o->im, "import.op",
			"%s is not supported%s: %s; replace it in the model by operators of "
			"docs/importing.md, or cut the model before it (%s)",
			name, qn_importer_nodes(o->im, n != NULL ? *n : 1), why_not(code, name),
			cut_before(o));
	if (n != NULL)
		*n = 0;
}
