/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_index.c - any text as the index of several safetensors files, and as the config.json beside it;
 * the files that it may name are in memory. */
#include "tests/fuzz/fuzz.h"

#include "formats/archive.h"

enum { MOST_FILE = 128 };

/* A safetensors file with one tensor of two bytes. */
static size_t
one_tensor(char *out, const char *name)
{
	const int n = snprintf(out + 8, MOST_FILE - 8,
			       "{\"%s\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}ab",
			       name);

	memset(out, 0, 8);
	out[0] = (char)(n - 2);
	return (size_t)n + 8;
}

static void
check(fuzz *f, const qn_archive_data *d, qn_status status)
{
	if (status != QN_OK) {
		FUZZ_CHECK(fuzz_told(f));
		return;
	}
	for (size_t i = 0; i < d->n; i++)
		FUZZ_CHECK(qn_layout_check(&f->env, "t", &d->tensor[i].t) == QN_OK);
	for (size_t i = 0; i < d->nproperty; i++)
		(void)qn_property_json(&f->arena, &d->property[i]);
}

static void
target(fuzz *f, const char *data, size_t size)
{
	static const char index[] = "d/model.safetensors.index.json";
	char a[MOST_FILE], b[MOST_FILE];
	qn_memory_file files[] = {
		{.path = "d/a.safetensors", .data = a, .n = one_tensor(a, "w")},
		{.path = "d/b.safetensors", .data = b, .n = one_tensor(b, "v")},
		{.path = index, .data = data, .n = size},
		{.path = "d/config.json", .data = data, .n = size},
	};
	qn_archive_data d;

	for (size_t i = 0; i + 1 < QN_COUNT(files); i++)
		files[i].next = &files[i + 1];
	f->env.memory_files = files;
	qn_archive_init(&d, &f->arena, "safetensors index", index);
	check(f, &d, qn_safetensors_read_index(&d, index));
	qn_archive_init(&d, &f->arena, QN_HUGGING_FACE_FOLDER, "d");
	check(f, &d, qn_hugging_face_read(&d, "d"));
	f->env.memory_files = NULL;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_run(target, data, size);
	return 0;
}
