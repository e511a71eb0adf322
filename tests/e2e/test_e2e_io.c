/* SPDX-License-Identifier: Apache-2.0 */
/* test_e2e_io.c - NAME_io.h quantizes and dequantizes as the interpreter does, byte for byte: random types of
 * every storage and granularity, shapes that are known and shapes that are given at run time.
 *
 *   net_io_quantize_x3(x, q, 2, dim)      the bytes of qn_quantize_into; IO_RANK and IO_SHAPE where dim does not fit */
#define _XOPEN_SOURCE 700

#include "tests/unit/random_types.h"

#include <unistd.h>

#include "codegen/emit.h"

enum { PROGRAMS = 6, PORTS = 14 };

#define WARNINGS "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wdouble-promotion -Werror"

static const char *const compilers[] = {
	"cc -std=c99 -O2", "cc -std=c99 -O1 -fsanitize=address,undefined -fno-sanitize-recover=all",
	"clang -std=c99 -O2", "g++ -std=c++11 -O2 -x c++"};

typedef struct port {
	const char *real;    /* "float" or "double" */
	const qn_type *type; /* with its shape at run time */
	bool open, ranked;
} port;

static char dir[64];

static void
write_file(const char *name, const void *data, size_t n)
{
	char path[128];

	(void)snprintf(path, sizeof path, "%s/%s", dir, name);
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* Files hold elements of `each` bytes low byte first: the test may run on an emulated machine, the C on this one. */
static void
low_first(void *data, size_t bytes, size_t each)
{
	const uint16_t one = 1;
	uint8_t *b = data;

	for (size_t i = 0; i < bytes && *(const uint8_t *)&one == 0; i += each)
		for (size_t k = 0; k < each / 2; k++) {
			const uint8_t low = b[i + k];

			b[i + k] = b[i + each - 1 - k];
			b[i + each - 1 - k] = low;
		}
}

static void
append(random_text *t, const void *data, size_t bytes, size_t each)
{
	memcpy(t->s + t->n, data, bytes);
	low_first(t->s + t->n, bytes, each);
	t->n += bytes;
}

/* Inputs %x0 … that are the outputs too. */
static void
make_model(port *p)
{
	random_text t = {.n = 0}, types[PORTS];

	put(&t, "model \"net\" stage integer graph @main(");
	for (int i = 0; i < PORTS; i++) {
		const int rank = (int)pick(1, 3);
		int64_t dim[3];
		char shape[64] = "";
		random_text e = {.n = 0};

		p[i].real = pick(0, 4) == 0 ? "double" : "float";
		p[i].open = pick(0, 1) == 1;
		p[i].ranked = pick(0, 1) == 1;
		types[i].n = 0;
		put(&types[i], "tensor<");
		put(&t, i > 0 ? ", %%x%d: tensor<%s" : "%%x%d: tensor<%s", i,
		    p[i].open && !p[i].ranked ? "*x" : "");
		for (int d = 0; d < rank; d++) {
			dim[d] = pick(1, 5);
			(void)snprintf(shape, sizeof shape, "%lldx", (long long)dim[d]);
			put(&types[i], "%s", shape);
			if (!p[i].open || p[i].ranked)
				put(&t, "%s", p[i].open && pick(0, 2) > 0 ? "?x" : shape);
		}
		put_type(&e, p[i].real[0] == 'f' ? "f32" : "f64", rank, dim);
		put(&t, "%s>", e.s);
		put(&types[i], "%s>", e.s);
	}
	put(&t, ") { return ");
	for (int i = 0; i < PORTS; i++)
		put(&t, i > 0 ? ", %%x%d as \"y%d\"" : "%%x%d as \"y%d\"", i, i);
	put(&t, " }\n");
	if (qn_model_parse(&rg->m, "t", t.s, t.n) != QN_OK)
		fail_msg("%s\n%s", t.s, rg->diags.item[0].message);
	for (int i = 0; i < PORTS; i++) {
		p[i].type = type(types[i].s);
		const qn_graph *g = qn_model_entry(&rg->m);
		p[i].open = qn_type_count(qn_graph_node(g, g->input[i])->type) < 0;
	}
}

/* The values of port i, and what the C makes of them. */
static void
write_values(const port *p, int i, random_text *want_q, random_text *want_x)
{
	const qn_plain real = p->real[0] == 'f' ? QN_PLAIN_f32 : QN_PLAIN_f64;
	const qn_type *floats = qn_type_plain(&rg->m.types, real, p->type->rank, p->type->dim);
	char name[32];
	void *data;
	qn_tensor *x = qn_tensor_new(&rg->arena, floats, &data);

	for (int64_t k = 0; k < qn_type_count(floats); k++)
		qn_store_f64(data, real, k, awkward());
	(void)snprintf(name, sizeof name, "x%d", i);
	const qn_tensor *q = qn_tensor_quantize(&rg->m.types, &rg->arena, x, p->type);
	const qn_tensor *y = qn_tensor_dequantize(&rg->m.types, &rg->arena, q, floats);
	append(want_q, q->data, q->bytes, qn_elem_bytes(p->type->elem));
	append(want_x, y->data, y->bytes, qn_elem_bytes(floats->elem));
	low_first(data, x->bytes, qn_elem_bytes(floats->elem));
	write_file(name, data, x->bytes);
}

/* The same in the program. */
static const char swap_c[] =
	"static void\nlow_first(void *data, size_t bytes, size_t each)\n{\n"
	"\tconst uint16_t one = 1;\n\tuint8_t *b = (uint8_t *)data;\n\tsize_t i, k;\n\n"
	"\tfor (i = 0; i < bytes && *(const uint8_t *)&one == 0; i += each)\n"
	"\t\tfor (k = 0; k < each / 2; k++) {\n\t\t\tconst uint8_t low = b[i + k];\n\n"
	"\t\t\tb[i + k] = b[i + each - 1 - k];\n\t\t\tb[i + each - 1 - k] = low;\n\t\t}\n}\n";

static void
put_call(random_text *t, const port *p, int i)
{
	static const char *const ctype[] = {"int8_t",   "uint8_t", "int16_t",
					    "uint16_t", "int32_t", "uint32_t"};
	const qn_elem *e = p->type->elem;
	const int bytes = (int)qn_elem_bytes(e);
	const char *code = ctype[(bytes == 4 ? 4 : bytes == 2 ? 2 : 0) + !e->is_signed];
	const long long n = (long long)qn_type_count(p->type);
	const int known = e->naxis > 0 ? e->axis[0] : p->ranked ? 0 : -1;

	put(t, "\t{\n\t\tstatic %s x[%lld];\n\t\tstatic %s q[%lld];\n", p->real, n, code, n);
	put(t, "\t\tf = fopen(\"x%d\", \"rb\");\n", i);
	put(t, "\t\tif (f == NULL || fread(x, sizeof *x, %lld, f) != %lld)\n\t\t\treturn 1;\n", n,
	    n);
	put(t, "\t\tfclose(f);\n\t\tlow_first(x, sizeof x, sizeof *x);\n");
	if (!p->open) {
		put(t, "\t\tnet_io_quantize_x%d(x, q);\n\t\tnet_io_dequantize_y%d(q, x);\n", i, i);
	} else {
		put(t, "\t\tint32_t dim[9] = {");
		for (int32_t d = 0; d < p->type->rank; d++)
			put(t, "%lld, ", (long long)p->type->dim[d]);
		put(t, "1};\n\t\tif (net_io_quantize_x%d(x, q, %d, dim) != NET_IO_OK ||\n", i,
		    (int)p->type->rank);
		put(t,
		    "\t\t    net_io_dequantize_y%d(q, x, %d, dim) != NET_IO_OK)\n\t\t\treturn "
		    "2;\n",
		    i, (int)p->type->rank);
		put(t,
		    "\t\tif (net_io_quantize_x%d(x, q, %d, dim) != NET_IO_RANK)\n\t\t\treturn "
		    "3;\n",
		    i, p->ranked ? (int)p->type->rank + 1 : 9);
		if (known >= 0)
			put(t,
			    "\t\tdim[%d] = -1;\n\t\tif (net_io_dequantize_y%d(q, x, %d, dim) != "
			    "NET_IO_SHAPE)\n\t\t\treturn 4;\n",
			    known, i, (int)p->type->rank);
		if (e->naxis > 0)
			put(t,
			    "\t\tdim[%d] = %lld;\n\t\tif (net_io_dequantize_y%d(q, x, %d, dim) != "
			    "NET_IO_SHAPE)\n\t\t\treturn 5;\n",
			    known, (long long)p->type->dim[known] + 5, i, (int)p->type->rank);
	}
	put(t,
	    "\t\tlow_first(q, sizeof q, sizeof *q);\n\t\tlow_first(x, sizeof x, sizeof *x);\n"
	    "\t\tfwrite(q, sizeof *q, %lld, codes);\n\t\tfwrite(x, sizeof *x, %lld, reals);\n\t}\n",
	    n, n);
}

static void
shell(const char *command, const char *what)
{
	char line[512];

	(void)snprintf(line, sizeof line, "cd %s && %s", dir, command);
	if (system(line) != 0)
		fail_msg("%s: %s", what, line);
}

static void
expect_file(const char *name, const random_text *want, const char *what)
{
	static char have[MOST_TEXT];
	char path[128];

	(void)snprintf(path, sizeof path, "%s/%s", dir, name);
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	const size_t n = fread(have, 1, sizeof have, f);
	assert_int_equal(fclose(f), 0);
	if (n != want->n || memcmp(have, want->s, n) != 0)
		fail_msg("%s: %s in %s differs", what, name, dir);
}

static void
one(uint64_t seed)
{
	static random_text main_c, codes_want, reals_want;
	port p[PORTS];
	qn_plan *plan;
	qn_emitted file[QN_EMITTED_FILES];

	rig_setup(NULL);
	rg->seed = seed;
	make_model(p);
	const qn_graph *g = qn_model_entry(&rg->m);
	const qn_plan_opts how = {.target = qn_target_at(0)};
	if (qn_plan_make(g, "net", &how, &rg->arena, &plan) != QN_OK)
		no_errors();
	const qn_emit_style style = {.options_text = ""};
	assert_int_equal(qn_emit_c(plan, &style, NULL, &rg->arena, file), QN_OK);
	(void)snprintf(dir, sizeof dir, "/tmp/quern-io-XXXXXX");
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < QN_EMITTED_FILES; i++) {
		char name[32];

		(void)snprintf(name, sizeof name, "net%s", file[i].suffix);
		if (file[i].text != NULL)
			write_file(name, file[i].text, file[i].n);
	}
	main_c.n = codes_want.n = reals_want.n = 0;
	put(&main_c,
	    "#include <stdio.h>\n#include \"net_io.h\"\n%sint\nmain(void)\n{\n\tFILE *f, "
	    "*codes = fopen(\"codes\", \"wb\"), *reals = fopen(\"reals\", \"wb\");\n",
	    swap_c);
	for (int i = 0; i < PORTS; i++) {
		write_values(&p[i], i, &codes_want, &reals_want);
		put_call(&main_c, &p[i], i);
	}
	put(&main_c, "\treturn fclose(codes) != 0 || fclose(reals) != 0;\n}\n");
	write_file("main.c", main_c.s, main_c.n);
	for (size_t c = 0; c < QN_COUNT(compilers); c++) {
		char line[256], which[64];

		(void)snprintf(which, sizeof which, "command -v %.*s >/dev/null",
			       (int)strcspn(compilers[c], " "), compilers[c]);
		if (system(which) != 0)
			continue;
		(void)snprintf(line, sizeof line, "%s %s main.c net.c -o t && ./t", compilers[c],
			       WARNINGS);
		shell(line, compilers[c]);
		expect_file("codes", &codes_want, compilers[c]);
		expect_file("reals", &reals_want, compilers[c]);
	}
	shell("rm -r \"$PWD\"", "clean up");
	rig_teardown(NULL);
}

static void
test_agrees(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= PROGRAMS; seed++)
		one(seed * 104729);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_agrees)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
