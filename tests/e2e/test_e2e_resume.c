/* SPDX-License-Identifier: Apache-2.0 */
/* test_e2e_resume.c - a compilation that is stopped after a pass, saved, read and continued gives
 * the bytes and the reports of one that runs straight through.
 *
 *   load ─ axes ─ clean ─ partition ─ … ─ legalize ─ emit              straight
 *   load ─ axes ─ clean ─ save ┄ load ─ partition ─ … ─ emit           stopped once
 *   load ─ axes ─ save ┄ load ─ clean ─ save ┄ load ─ … ─ emit         stopped at every arrow
 *
 * The quick tier stops at every arrow in one run; QUERN_FULL=1 stops at each arrow by itself too.  Networks of other tools are in the folder of QUERN_DATA. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include "tests/e2e/resume_nets.h"

#define DENSE_WEIGHTS "const : tensor<5x6xf32> rand 3\n"

typedef enum form { JSON, JSON_WEIGHTS, TEXT, NFORM } form;

/* Saves the model, forgets it, and reads it. */
static void
through_file(resume_case *c, form f)
{
	const char *path = resume_path(f == TEXT ? "stop.qir" : "stop.json");
	qn_status status =
		f == TEXT ? qn_save_text(c->m, path) : qn_save(c->m, path, f == JSON_WEIGHTS);

	resume_take_reports(c);
	assert_int_equal(status, QN_OK);
	qn_model_free(c->m);
	resume_load(c, path);
}

/* Compares, and says where the first difference is. */
static void
compare(const resume_case *straight, const resume_case *c, const char *how)
{
	const char *a = straight->out.data, *b = c->out.data;
	size_t i = 0, line = 0;

	if (straight->out.n == c->out.n && memcmp(a, b, c->out.n) == 0)
		return;
	while (a[i] == b[i] && a[i] != '\0')
		if (a[i++] == '\n')
			line = i;
	fail_msg("%s, %s, %s: differs from the straight run:\n  %.300s\nis now\n  %.300s",
		 c->net->name, c->row->name, how, a + line, b + line);
}

/* Stops after pass `stop` or, with stop 0, after every one. */
static void
stopped(const resume_case *straight, size_t stop, form f)
{
	static const char *const forms[] = {"JSON", "JSON with weights", "text"};
	const size_t n = resume_passes();
	size_t from = 0;
	resume_case c;
	char how[80];

	resume_open(&c, straight->net, straight->row, NULL);
	resume_load(&c, resume_net_path(c.net));
	for (size_t to = 1; to <= n && c.status == QN_OK; to++) {
		if (!resume_runs(c.row, to - 1) || (to < n && stop != 0 && to != stop))
			continue;
		resume_compile(&c, from, to);
		if (c.status == QN_OK || stop == 0)
			through_file(&c, f);
		from = to;
	}
	resume_end(&c);
	(void)snprintf(how, sizeof how, "stopped after %s, %s",
		       stop > 0 ? qn_pass_name(stop - 1) : "every pass", forms[f]);
	compare(straight, &c, how);
	resume_close(&c);
}

static void
check(const resume_net *net, const resume_row *row)
{
	const char *path = resume_net_path(net);
	resume_case straight;

	resume_open(&straight, net, row, NULL);
	resume_load(&straight, path);
	resume_compile(&straight, 0, resume_passes());
	if (strcmp(qn_model_stage(straight.m), "float") == 0)
		fail_msg("%s, %s: %s", net->name, row->name, straight.out.data);
	resume_end(&straight);
	for (form f = 0; f < NFORM; f++) {
		if (!resume_full() && net->data && f != (size_t)(row - resume_rows) % NFORM)
			continue;
		stopped(&straight, 0, f);
		for (size_t stop = 1; resume_full() && stop <= resume_passes(); stop++)
			if (resume_runs(row, stop - 1))
				stopped(&straight, stop, f);
	}
	resume_close(&straight);
}

static void
same_as_straight(void **state)
{
	const resume_net *net = *state;

	if (resume_net_path(net) == NULL) {
		print_message("skipped: %s, as QUERN_DATA is not set or lacks %s\n", net->name,
			      net->file);
		skip();
	}
	for (size_t i = 0; i < sizeof resume_rows / sizeof resume_rows[0]; i++)
		if (resume_full() || !net->data || !resume_rows[i].slow)
			check(net, &resume_rows[i]);
}

static int
begin(void **state)
{
	(void)state;
	return resume_begin();
}

static int
end(void **state)
{
	(void)state;
	return resume_remove();
}

int
main(void)
{
	enum { NETS = sizeof resume_nets / sizeof resume_nets[0] };
	struct CMUnitTest tests[NETS];

	for (size_t i = 0; i < NETS; i++)
		tests[i] = (struct CMUnitTest){.name = resume_nets[i].name,
					       .test_func = same_as_straight,
					       .initial_state = (void *)(uintptr_t)&resume_nets[i]};
	return cmocka_run_group_tests(tests, begin, end);
}
