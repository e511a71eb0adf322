/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - networks of quantized ONNX operators (net.h) for another runtime, and what it gave compared with the library.
 *
 *   onnx-networks pack FORM FIRST COUNT FILE        networks and inputs, for scripts/check-onnxruntime
 *   onnx-networks records RAW RECORDS               what run.js gave as records
 *   onnx-networks judge FOLDER EVERY PERCENT RECORDS     runs all; C files of every EVERY-th into FOLDER (0: of none), their
 *                                                   names into FOLDER/list.  Exit code 1: one is unexplained, or more
 *                                                   than PERCENT are refused
 *   onnx-networks one FORM SEED FOLDER              FOLDER/FORM-SEED.onnx and .bin, the input's bytes
 *
 * A record is a line: form, seed, CRC of the file, CRC of what is computed here (so that a change of that does not change
 * what the record says), and what the other runtime gave: "=", all as computed here, else output:element:difference of
 * each that is not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/networks/judge.h"

enum { MOST_BYTES = 1 << 22 };

static net network; /* it is large */

static const uint8_t *
make(int form, uint64_t seed, size_t *bytes)
{
	net_begin(&network, (net_form)form, seed);
	net_make(&network);
	return net_end(&network, bytes);
}

static int
form_of(const char *name)
{
	for (int i = 0; i < NET_NFORM; i++)
		if (strcmp(net_form_names[i], name) == 0)
			return i;
	(void)fprintf(stderr, "onnx-networks: unknown form '%s'\n", name);
	exit(2);
}

static FILE *
open_file(const char *path, const char *mode)
{
	FILE *f = fopen(path, mode);

	if (f == NULL) {
		(void)fprintf(stderr, "onnx-networks: cannot open '%s'\n", path);
		exit(2);
	}
	return f;
}

/* ---- networks for another runtime ---- */

static void
put_u32(FILE *f, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		(void)fputc((int)(v >> 8 * i & 255), f);
}

/* The input of all samples. */
static void
put_input(FILE *f)
{
	const net_val *x = network.input;

	for (int64_t i = 0; i < NET_SAMPLES * x->count; i++) {
		const float v = (float)x->lo[i];
		uint8_t bytes[4];

		put_little(bytes, &v, 4, 4);
		if (x->type == ONX_FLOAT)
			(void)fwrite(bytes, 1, 4, f);
		else
			(void)fputc((int)(int64_t)x->lo[i] & 255, f);
	}
}

/* Each network: form, seed, CRC, bytes of the file, the file, bytes of the input of all samples, the input. */
static int
pack(char **argv)
{
	const int form = form_of(argv[0]);
	const uint64_t first = strtoull(argv[1], NULL, 10), count = strtoull(argv[2], NULL, 10);
	FILE *f = open_file(argv[3], "wb");
	size_t bytes;

	for (uint64_t seed = first; seed < first + count; seed++) {
		const uint8_t *file = make(form, seed, &bytes);

		put_u32(f, (uint32_t)form);
		put_u32(f, (uint32_t)seed);
		put_u32(f, record_crc(file, bytes));
		put_u32(f, (uint32_t)bytes);
		(void)fwrite(file, 1, bytes, f);
		put_u32(f, (uint32_t)(NET_SAMPLES * network.input->count *
				      (network.input->type == ONX_FLOAT ? 4 : 1)));
		put_input(f);
		net_free(&network);
	}
	return fclose(f) == 0 ? 0 : 1;
}

static int
one(char **argv)
{
	char path[512];
	size_t bytes;
	const uint8_t *file = make(form_of(argv[0]), strtoull(argv[1], NULL, 10), &bytes);

	(void)snprintf(path, sizeof path, "%s/%s-%s.onnx", argv[2], argv[0], argv[1]);
	FILE *f = open_file(path, "wb");
	(void)fwrite(file, 1, bytes, f);
	(void)fclose(f);
	(void)snprintf(path, sizeof path, "%s/%s-%s.bin", argv[2], argv[0], argv[1]);
	f = open_file(path, "wb");
	put_input(f);
	(void)fclose(f);
	net_free(&network);
	return 0;
}

/* ---- results ---- */

/* One line of RAW or RECORDS. */
typedef struct record {
	int form;
	unsigned long long seed;
	uint32_t crc, computed; /* computed: 0 in RAW */
	char *rest;
} record;

typedef struct totals {
	int count[NET_NFORM][JUDGE_NCLASS], networks[NET_NFORM], lost, changed, emitted;
	int reason[1 << NET_NREASON]; /* networks within reason, by the reasons that they have */
	int64_t differ, all;
	double most;
} totals;

static bool
read_record(FILE *f, bool raw, record *r)
{
	static char line[MOST_BYTES];
	char form[32];
	int at = 0;
	unsigned crc, computed = 0;

	if (fgets(line, sizeof line, f) == NULL)
		return false;
	line[strcspn(line, "\n")] = '\0';
	const int found =
		raw ? sscanf(line, "%31s %llu %x %n", form, &r->seed, &crc, &at)
		    : sscanf(line, "%31s %llu %x %x %n", form, &r->seed, &crc, &computed, &at);
	if (found < (raw ? 3 : 4) || at == 0) {
		(void)fprintf(stderr, "onnx-networks: not a record: %.60s\n", line);
		exit(2);
	}
	r->form = form_of(form);
	r->crc = crc;
	r->computed = computed;
	r->rest = line + at;
	return true;
}

static int
reasons(void)
{
	int found = 0;

	for (int k = 0; k < NET_NREASON; k++)
		found |= network.reason[k] ? 1 << k : 0;
	return found;
}

static void
judge_one(const record *r, judge *j, totals *sum, const judge_given *given, const uint8_t *file,
	  size_t bytes)
{
	char name[64];

	(void)snprintf(name, sizeof name, "%s_%llu", net_form_names[r->form], r->seed);
	j->name = name;
	judge_network(j, &network, file, bytes, given);
	sum->count[r->form][j->class]++;
	sum->reason[reasons()] += j->class == JUDGE_REASON;
	sum->emitted += j->emitted;
	sum->differ += j->differ;
	sum->all += j->all;
	sum->most = j->most > sum->most ? j->most : sum->most;
	if (j->class > JUDGE_RUNTIME || (j->class == JUDGE_RUNTIME && !network.reason[NET_SOFTMAX]))
		(void)printf("%s %llu: %s: %s\n", net_form_names[r->form], r->seed,
			     judge_names[j->class], j->message);
}

static void
judge_record(const record *r, judge *j, totals *sum, double *const *out)
{
	judge_given given = {{0}};
	size_t bytes;
	const uint8_t *file = make(r->form, r->seed, &bytes);

	sum->networks[r->form]++;
	if (record_crc(file, bytes) != r->crc) {
		sum->changed++;
		(void)printf("%s %llu: the generator makes another network than was recorded\n",
			     net_form_names[r->form], r->seed);
	} else if (r->rest[0] != '!' && record_computed(&network) != r->computed) {
		sum->changed++;
		(void)printf("%s %llu: another result is computed than was recorded\n",
			     net_form_names[r->form], r->seed);
	} else {
		if (!record_given(&network, r->rest, out,
				  &given)) { /* what is computed here stands for it */
			sum->lost++;
			(void)printf("%s %llu: the other runtime: %.100s\n",
				     net_form_names[r->form], r->seed, r->rest);
		}
		judge_one(r, j, sum, &given, file, bytes);
	}
	net_free(&network);
}

static void
print_totals(const totals *sum)
{
	for (int form = 0; form < NET_NFORM; form++) {
		if (sum->networks[form] == 0)
			continue;
		(void)printf("%s: %d networks", net_form_names[form], sum->networks[form]);
		for (int c = 0; c < JUDGE_NCLASS; c++)
			(void)printf(", %d %s", sum->count[form][c], judge_names[c]);
		(void)printf("\n");
	}
	(void)printf("within reason: %d close to a tie", sum->reason[0]);
	for (int i = 1; i < 1 << NET_NREASON; i++) {
		if (sum->reason[i] == 0)
			continue;
		(void)printf(", %d with ", sum->reason[i]);
		for (int k = 0, found = 0; k < NET_NREASON; k++)
			if ((i >> k & 1) != 0)
				(void)printf("%s%s", found++ > 0 ? " and " : "",
					     net_reason_names[k]);
	}
	(void)printf("\n");
	(void)printf("%lld of %lld elements differ, at most by %g steps; %d networks as C; %d that "
		     "the other runtime "
		     "refuses; %d that are others than recorded\n",
		     (long long)sum->differ, (long long)sum->all, sum->most, sum->emitted,
		     sum->lost, sum->changed);
}

static int
judge_all(const char *folder, int every, int percent, const char *results)
{
	judge j = {.folder = folder};
	totals sum = {0};
	record r;
	double *out[NET_OUTPUTS];
	FILE *f = open_file(results, "r");
	char path[512];
	int number = 0;

	for (int k = 0; k < NET_OUTPUTS; k++)
		out[k] = calloc(NET_SAMPLES * NET_ELEMENTS, sizeof(double));
	(void)snprintf(path, sizeof path, "%s/list", folder);
	FILE *list = open_file(path, "w");
	while (read_record(f, false, &r)) {
		j.emit = every > 0 && number++ % every == 0;
		judge_record(&r, &j, &sum, out);
		if (j.emitted)
			(void)fprintf(list, "%s_%llu\n", net_form_names[r.form], r.seed);
	}
	(void)fclose(f);
	(void)fclose(list);
	for (int k = 0; k < NET_OUTPUTS; k++)
		free(out[k]);
	print_totals(&sum);
	int bad = sum.changed, refused = 0, all = 0;
	for (int form = 0; form < NET_NFORM; form++) {
		bad += sum.count[form][JUDGE_UNEXPLAINED];
		refused += sum.count[form][JUDGE_REFUSED];
		all += sum.networks[form];
	}
	if (100 * refused > percent * all)
		(void)printf("%d of %d networks are refused, more than %d %%\n", refused, all,
			     percent);
	return bad > 0 || 100 * refused > percent * all ? 1 : 0;
}

/* ---- raw results as records ---- */

/* One line of the other runtime, "form seed crc", then "!reason" or each output's elements, with "|" between outputs:
 * the same as differences. */
static int
records_of(const char *raw, const char *records)
{
	FILE *f = open_file(raw, "r"), *to = open_file(records, "w");
	record r;
	size_t bytes;

	while (read_record(f, true, &r)) {
		char *s = r.rest;
		int found = 0;

		(void)make(r.form, r.seed, &bytes);
		(void)fprintf(to, "%s %llu %08x %08x", net_form_names[r.form], r.seed,
			      (unsigned)r.crc, (unsigned)record_computed(&network));
		if (*s == '!')
			(void)fprintf(to, " %s", s);
		for (int k = 0; k < network.noutput && *s != '!'; k++, s += *s == '|') {
			const net_val *y = network.output[k];
			const double step = record_step(y);

			for (int64_t i = 0; i < NET_SAMPLES * y->count && *s != '|'; i++) {
				double d = strtod(s, &s) - record_middle(y, i);

				s += *s == ' ';
				if (step > 0)
					d = floor(d / step + 0.5);
				if (fabs(d) >
				    (step > 0 ? 0 : 1e-5 * (1 + fabs(record_middle(y, i))))) {
					(void)fprintf(to, " %d:%lld:%.6g", k, (long long)i, d);
					found++;
				}
			}
		}
		(void)fprintf(to, "%s\n", found == 0 && *s != '!' ? " =" : "");
		net_free(&network);
	}
	(void)fclose(f);
	return fclose(to) == 0 ? 0 : 1;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "pack") == 0 && argc == 6)
		return pack(argv + 2);
	if (strcmp(what, "one") == 0 && argc == 5)
		return one(argv + 2);
	if (strcmp(what, "records") == 0 && argc == 4)
		return records_of(argv[2], argv[3]);
	if (strcmp(what, "judge") == 0 && argc == 6)
		return judge_all(argv[2], atoi(argv[3]), atoi(argv[4]), argv[5]);
	(void)fprintf(stderr, "usage: onnx-networks pack FORM FIRST COUNT FILE | one FORM SEED "
			      "FOLDER | records RAW RECORDS "
			      "| judge FOLDER EVERY PERCENT RECORDS\n");
	return 2;
}
