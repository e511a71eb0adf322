/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - runs files through a fuzz target without a fuzzer: the arguments, and all files of
 * those that are folders.  So the findings of once stay tests in every build. */
#define _POSIX_C_SOURCE 200809L

#include "tests/fuzz/fuzz.h"

#include <dirent.h>

static size_t files;

static void
replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	long size;

	FUZZ_CHECK(f != NULL && fseek(f, 0, SEEK_END) == 0);
	FUZZ_CHECK((size = ftell(f)) >= 0 && fseek(f, 0, SEEK_SET) == 0);
	uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
	FUZZ_CHECK(data != NULL && fread(data, 1, (size_t)size, f) == (size_t)size);
	(void)fclose(f);
	fprintf(stderr, "%s\n", path); /* the last line tells which one it was */
	(void)LLVMFuzzerTestOneInput(data, (size_t)size);
	free(data);
	files++;
}

static void
replay(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;

	if (d == NULL) {
		replay_file(path);
		return;
	}
	while ((e = readdir(d)) != NULL) {
		char name[1024];

		snprintf(name, sizeof name, "%s/%s", path, e->d_name);
		if (e->d_name[0] != '.')
			replay(name);
	}
	(void)closedir(d);
}

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	FUZZ_CHECK(files > 0);
	(void)LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	return 0;
}
