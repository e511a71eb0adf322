/* SPDX-License-Identifier: Apache-2.0 */
/* conformance.c - runs folders of ONNX's backend tests through the importer and the interpreter.
 *
 *   CASE/model.onnx   CASE/test_data_set_0/input_0.pb … output_0.pb …
 *
 *   conformance [--integer[=u8|=i16] FOLDER] CASE…
 *   pass CASE
 *   pass CASE with integer inputs as constants      shapes depend on them
 *   fail CASE output 0: element 3 is 1.5, expected 2.5
 *   unsupported CASE import.op: …
 *   {"pass":2,"pass_constant":1,"fail":1,"unsupported":1,"total":4}
 *
 * With --integer a case that passes is also quantized on its own input, emitted into FOLDER/CASE and compiled
 * (conformance_integer.h), which gives a line more, integer CASE within 0.004, and totals of these.
 *
 * Inputs are given as a run's inputs where that is possible; else integers, then single numbers, then all but the first,
 * then all are constants of the graph, as whoever compiles a model would have to give them.  Outputs may differ by
 * 1e-7 + 1e-3 |expected| when they are of a float type (that of the file: results are rounded to it), and not at
 * all otherwise.  Exit code 1: a case failed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/file.h"
#include "import/import.h"
#include "ir/diag.h"
#include "runtime/interp.h"
#include "tests/conformance_integer.h"

enum { LEVELS = 5 };

static const char *const level_names[LEVELS] = {
	"", " with integer inputs as constants", " with integers and single numbers as constants",
	" with all inputs but the first as constants", " with all inputs as constants"};

typedef enum verdict { PASS, FAIL, UNSUPPORTED, NVERDICT } verdict;

static const char *const verdict_names[NVERDICT] = {"pass", "fail", "unsupported"};

/* What --integer asks for, and what came of it. */
typedef struct integers {
	const char *folder; /* NULL: not asked for */
	qn_activations storage;
	integer_verdict verdict;
	char reason[1024];
	bool again; /* with more constants than the case needs */
	int count[NINTEGER], constant;
} integers;

/* One case at one level. */
typedef struct attempt {
	qn_env env;
	qn_diags diags;
	qn_arena arena;
	qn_model model; /* of the values too */
	const char *folder;
	int level;
	size_t nin, nout;
	const qn_tensor *in[MAX_VALUES], *want[MAX_VALUES];
	qn_plain stored[MAX_VALUES]; /* of the outputs */
	integers *integer;           /* NULL: not in integers */
	char reason[1024];
} attempt;

static void *
heap(void *user, void *p, size_t old_size, size_t new_size)
{
	(void)user;
	(void)old_size;
	if (new_size == 0) {
		free(p);
		return NULL;
	}
	return realloc(p, new_size);
}

/* ---- the values of a data set ---- */

static bool
read_values(attempt *t, int set, const char *kind, const qn_tensor **value, qn_plain *stored,
	    size_t *n)
{
	qn_plain ignored;

	for (*n = 0; *n < MAX_VALUES; ++*n) {
		const char *data;
		size_t bytes;
		qn_buf path;

		qn_buf_init(&path, &t->arena);
		qn_buff(&path, "%s/test_data_set_%d/%s_%zu.pb", t->folder, set, kind, *n);
		FILE *f = fopen(qn_buf_str(&path), "rb");
		if (f == NULL)
			return true;
		(void)fclose(f);
		if (qn_file_map(&t->arena, qn_buf_str(&path), &data, &bytes) != QN_OK ||
		    qn_onnx_read_value(&t->model, qn_buf_str(&path), data, bytes, &value[*n],
				       stored != NULL ? &stored[*n] : &ignored) != QN_OK)
			return false;
	}
	return true;
}

/* ---- comparison ---- */

static bool
near(double have, double want)
{
	if (isnan(want) || isnan(have))
		return isnan(want) && isnan(have);
	if (isinf(want) || isinf(have))
		return !(have < want) && !(have > want);
	return fabs(have - want) <= 1e-7 + 1e-3 * fabs(want);
}

/* Codes of a quantized value are compared with the integers that the file has. */
static bool
same_form(const qn_type *y, const qn_type *want)
{
	bool codes = qn_elem_is_quant(y->elem) && y->elem->plain == want->elem->plain;

	return y == want || (codes && y->rank == want->rank &&
			     memcmp(y->dim, want->dim, (size_t)y->rank * sizeof *y->dim) == 0);
}

static bool
compare(attempt *t, size_t k, const qn_tensor *y)
{
	const qn_tensor *want = t->want[k];
	bool real = qn_plain_table[t->stored[k]].is_float;
	qn_buf b;

	if (!same_form(y->type, want->type)) {
		qn_buf_init(&b, &t->arena);
		qn_buff(&b, "output %zu is ", k);
		qn_type_print(&b, y->type);
		qn_buf_puts(&b, ", expected ");
		qn_type_print(&b, want->type);
		(void)snprintf(t->reason, sizeof t->reason, "%s", qn_buf_str(&b));
		return false;
	}
	int64_t n = qn_type_count(y->type);
	for (int64_t i = 0; i < n; i++) {
		double have = qn_tensor_f64(y, i), expected = qn_tensor_f64(want, i);

		if (real && t->stored[k] != QN_PLAIN_f32 && t->stored[k] != QN_PLAIN_f64)
			have = qn_round_to(t->stored[k], have);
		if (real ? near(have, expected) : qn_tensor_i64(y, i) == qn_tensor_i64(want, i))
			continue;
		(void)snprintf(t->reason, sizeof t->reason,
			       "output %zu: element %lld of %lld is %.9g, expected %.9g", k,
			       (long long)i, (long long)n, have, expected);
		return false;
	}
	return true;
}

/* ---- one attempt ---- */

static bool
is_constant(const attempt *t, size_t i)
{
	const qn_tensor *x = t->in[i];
	bool integer = !qn_elem_is_float(x->type->elem);

	return t->level == 4 || (t->level == 3 && i > 0) ||
	       (t->level >= 1 && t->level <= 2 && integer) ||
	       (t->level == 2 && qn_type_count(x->type) == 1);
}

static verdict
unsupported(attempt *t)
{
	if (t->diags.n > 0)
		(void)snprintf(t->reason, sizeof t->reason, "%s: %s: %s", t->diags.item[0].id,
			       t->diags.item[0].place, t->diags.item[0].message);
	return UNSUPPORTED;
}

static const char *
base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static void
run_integers(attempt *t, size_t nin, const qn_tensor *const *in)
{
	integers *o = t->integer;
	bool real = false;
	qn_buf folder;

	for (size_t i = 0; i < nin; i++)
		real = real || qn_type_is_f32(in[i]->type);
	if (o->again && !real) /* nothing would be left to quantize */
		return;
	qn_buf_init(&folder, &t->arena);
	qn_buff(&folder, "%s/%s", o->folder, base(t->folder));
	o->verdict = integer_run(&t->model, o->storage, nin, in, t->nout, t->want,
				 qn_buf_str(&folder), o->reason, sizeof o->reason);
}

static verdict
run_set(attempt *t, int set)
{
	qn_pin fixed[MAX_VALUES];
	const qn_tensor *in[MAX_VALUES];
	qn_import_how how = {.pin = fixed};
	size_t nin = 0;
	qn_buf path;
	qn_interp *interp;

	if (!read_values(t, set, "input", t->in, NULL, &t->nin) ||
	    !read_values(t, set, "output", t->want, t->stored, &t->nout))
		return unsupported(t);
	for (size_t i = 0; i < t->nin; i++)
		if (is_constant(t, i))
			fixed[how.npin++] = (qn_pin){.number = i, .value = t->in[i]};
		else
			in[nin++] = t->in[i];
	qn_buf_init(&path, &t->arena);
	qn_buff(&path, "%s/model.onnx", t->folder);
	if (qn_import_read(&t->model, qn_buf_str(&path), QN_IMPORT_ONNX, &how) != QN_OK ||
	    qn_model_verify(&t->model) != QN_OK)
		return unsupported(t);
	const qn_graph *g = qn_model_entry(&t->model);
	if (g->ninput != nin || g->noutput != t->nout) {
		(void)snprintf(t->reason, sizeof t->reason,
			       "the graph has %zu inputs and %zu outputs, the data set %zu and %zu",
			       g->ninput, g->noutput, nin, t->nout);
		return FAIL;
	}
	if (qn_interp_new(g, &t->arena, &interp) != QN_OK ||
	    qn_interp_run(interp, in, NULL, NULL) != QN_OK)
		return unsupported(t);
	for (size_t k = 0; k < t->nout; k++)
		if (!compare(t, k, qn_interp_output(interp, k)))
			return FAIL;
	if (t->integer != NULL)
		run_integers(t, nin, in);
	return PASS;
}

static bool
has_set(const char *folder, int set)
{
	char path[4096];
	static const char *const first[] = {"input", "output"};

	for (int i = 0; i < 2; i++) {
		(void)snprintf(path, sizeof path, "%s/test_data_set_%d/%s_0.pb", folder, set,
			       first[i]);
		FILE *f = fopen(path, "rb");
		if (f != NULL) {
			(void)fclose(f);
			return true;
		}
	}
	return false;
}

static verdict
try_once(const char *folder, int level, int set, integers *integer, char *reason, size_t room)
{
	attempt *t = calloc(1, sizeof *t);
	jmp_buf oom;
	volatile verdict v = UNSUPPORTED;

	if (t == NULL)
		return UNSUPPORTED;
	t->env = (qn_env){.alloc = heap, .diags = &t->diags, .oom = &oom};
	t->folder = folder;
	t->level = level;
	t->integer = integer->folder != NULL && set == 0 ? integer : NULL;
	qn_arena_init(&t->arena, &t->env);
	(void)snprintf(t->reason, sizeof t->reason, "out of memory");
	if (setjmp(oom) == 0) {
		qn_model_init(&t->model, &t->env, &t->arena, "model");
		v = run_set(t, set);
	}
	(void)snprintf(reason, room, "%s", v == PASS ? "" : t->reason);
	qn_arena_release(&t->arena);
	qn_diags_clear(&t->env, &t->diags);
	free(t);
	return v;
}

/* ---- a case ---- */

/* The level that a case needs: that of the first attempt that was not refused. */
static verdict
run_case(const char *folder, int *level, integers *integer, char *reason, size_t room)
{
	verdict v = UNSUPPORTED;
	char last[1024];

	if (!has_set(folder, 0)) {
		(void)snprintf(reason, room, "no data set");
		return UNSUPPORTED;
	}
	for (*level = 0; *level < LEVELS; ++*level) {
		v = try_once(folder, *level, 0, integer, last, sizeof last);
		if (*level == 0 || v != UNSUPPORTED || strncmp(reason, "import.constant", 15) == 0)
			(void)snprintf(reason, room, "%s", last);
		if (v != UNSUPPORTED)
			break;
	}
	for (int set = 1; v == PASS && has_set(folder, set); set++)
		v = try_once(folder, *level, set, integer, reason, room);
	return v;
}

/* What is refused once more with more constants: weights, exponents and places are constants in real models. */
static void
fix_inputs(const char *folder, int level, integers *integer)
{
	char refused[sizeof integer->reason], ignored[1024];

	(void)snprintf(refused, sizeof refused, "%s", integer->reason);
	integer->again = true;
	while (integer->verdict == INTEGER_REFUSED && ++level < LEVELS - 1)
		(void)try_once(folder, level, 0, integer, ignored, sizeof ignored);
	integer->again = false;
	if (integer->verdict == INTEGER_REFUSED) {
		(void)snprintf(integer->reason, sizeof integer->reason, "%s", refused);
		return;
	}
	size_t n = strlen(integer->reason);

	(void)snprintf(integer->reason + n, sizeof integer->reason - n, "%s", level_names[level]);
	integer->constant++;
}

static void
print_line(const char *word, const char *folder, const char *how, char *reason)
{
	for (char *p = reason; *p != '\0'; p++)
		if (*p == '\n')
			*p = ' ';
	printf("%s %s%s%s%s\n", word, base(folder), how, reason[0] != '\0' ? " " : "", reason);
}

static void
print_totals(const int *count, int fixed, const integers *integer, int total)
{
	printf("{\"pass\":%d,\"pass_constant\":%d,\"fail\":%d,\"unsupported\":%d,", count[PASS],
	       fixed, count[FAIL], count[UNSUPPORTED]);
	for (int v = 0; v < NINTEGER && integer->folder != NULL; v++)
		printf("\"%s\":%d,", integer_names[v], integer->count[v]);
	if (integer->folder != NULL)
		printf("\"integer_constant\":%d,", integer->constant);
	printf("\"total\":%d}\n", total);
}

static const struct {
	const char *name;
	qn_activations storage;
} options[] = {{"--integer", QN_ACTIVATIONS_I8},
	       {"--integer=u8", QN_ACTIVATIONS_U8},
	       {"--integer=i16", QN_ACTIVATIONS_I16}};

int
main(int argc, char **argv)
{
	int count[NVERDICT] = {0}, fixed = 0, level = 0, first = 1;
	integers integer = {0};
	char reason[1024];

	for (size_t k = 0; argc > 2 && k < sizeof options / sizeof options[0]; k++)
		if (strcmp(argv[1], options[k].name) == 0) {
			integer.folder = argv[2];
			integer.storage = options[k].storage;
			first = 3;
		}
	for (int i = first; i < argc; i++) {
		size_t n = strlen(argv[i]);

		while (n > 1 && argv[i][n - 1] == '/')
			argv[i][--n] = '\0';
		reason[0] = '\0';
		verdict v = run_case(argv[i], &level, &integer, reason, sizeof reason);
		count[v]++;
		fixed += v == PASS && level > 0;
		print_line(verdict_names[v], argv[i], v == PASS ? level_names[level] : "", reason);
		if (v != PASS || integer.folder == NULL)
			continue;
		if (integer.verdict == INTEGER_REFUSED)
			fix_inputs(argv[i], level, &integer);
		integer.count[integer.verdict]++;
		print_line(integer_names[integer.verdict], argv[i], "", integer.reason);
	}
	print_totals(count, fixed, &integer, argc - first);
	return count[FAIL] > 0 || integer.count[INTEGER_FAIL] > 0 ? 1 : 0;
}
