/* SPDX-License-Identifier: Apache-2.0 */
/* folder.c - see folder.h. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include "formats/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/file.h"
#include "ir/diag.h"

enum { MOST_LABEL_DIGITS = 9 };

/* Names on their way; the open folder is closed with the arena at the latest. */
typedef struct listing {
	DIR *dir;
	const char **name;
	size_t n, cap;
} listing;

static void
close_dir(void *ptr)
{
	listing *l = ptr;

	if (l->dir != NULL)
		(void)closedir(l->dir);
	l->dir = NULL;
}

static int
by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool
qn_folder_is(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

const char *
qn_folder_test_data(qn_arena *a, const char *path, size_t k)
{
	char name[40];

	(void)snprintf(name, sizeof name, "input_%zu.pb", k);
	return qn_path_join(a, path, name);
}

size_t
qn_folder_count_test_data(qn_arena *a, const char *path)
{
	struct stat st;
	size_t n = 0;

	while (stat(qn_folder_test_data(a, path, n), &st) == 0 && S_ISREG(st.st_mode))
		n++;
	return n;
}

/* Paths of the entries that are wanted (NULL: folders), sorted. */
static qn_status
list(qn_arena *a, const char *path, qn_wanted_fn *wanted, listing *l)
{
	struct dirent *e;

	*l = (listing){0};
	qn_arena_defer(a, close_dir, l);
	l->dir = opendir(path);
	if (l->dir == NULL && errno == ENOMEM)
		return QN_ENOMEM; /* the guard of the call reports it */
	if (l->dir == NULL)
		return qn_report(a->env, QN_EIO, "file.open", path, "%s",
				 errno == ENOENT   ? "folder not found"
				 : errno == EACCES ? "permission denied"
						   : "the folder cannot be read");
	while ((e = readdir(l->dir)) != NULL) {
		if (e->d_name[0] == '.' || (wanted != NULL && !wanted(e->d_name)))
			continue;
		const char *full = qn_path_join(a, path, e->d_name);
		if (qn_folder_is(full) != (wanted == NULL))
			continue;
		if (l->n == QN_FOLDER_MOST)
			return qn_report(a->env, QN_EBUDGET, "folder.size", path,
					 "more than 2^20 files; split the folder");
		if (l->n == l->cap)
			l->name = qn_arena_grow(a, l->name, &l->cap, l->n + 1, sizeof *l->name);
		l->name[l->n++] = full;
	}
	close_dir(l);
	if (l->n > 0)
		qsort(l->name, l->n, sizeof *l->name, by_bytes);
	return QN_OK;
}

/* The number that a subfolder's name is; -1 when it is not one. */
static int64_t
label_of(const char *path)
{
	const char *s = qn_path_base(path);
	int64_t v = 0;

	if (strlen(s) > MOST_LABEL_DIGITS)
		return -1;
	for (; *s != '\0'; s++) {
		if (*s < '0' || *s > '9')
			return -1;
		v = v * 10 + (*s - '0');
	}
	return v;
}

static qn_status
list_classes(qn_arena *a, const char *path, qn_wanted_fn *wanted, qn_folder *out)
{
	listing *sub = QN_NEW(a, listing, 1);
	size_t total = 0;
	bool numbers = true;

	QN_TRY(list(a, path, NULL, sub));
	listing *files = QN_NEW(a, listing, sub->n + 1);
	for (size_t i = 0; i < sub->n; i++) {
		QN_TRY(list(a, sub->name[i], wanted, &files[i]));
		total += files[i].n;
		numbers = numbers && label_of(sub->name[i]) >= 0;
	}
	if (total > QN_FOLDER_MOST)
		return qn_report(a->env, QN_EBUDGET, "folder.size", path,
				 "more than 2^20 files; split the folder");
	const char **name = QN_NEW(a, const char *, total + 1);
	int64_t *label = QN_NEW(a, int64_t, total + 1);
	*out = (qn_folder){.path = name, .label = label, .nclass = numbers ? 0 : sub->n};
	for (size_t i = 0; i < sub->n; i++)
		for (size_t k = 0; k < files[i].n; k++) {
			name[out->n] = files[i].name[k];
			label[out->n++] = numbers ? label_of(sub->name[i]) : (int64_t)i;
		}
	for (size_t i = 0; i < sub->n; i++)
		sub->name[i] = qn_path_base(sub->name[i]);
	out->class_name = sub->name;
	return QN_OK;
}

qn_status
qn_folder_list(qn_arena *a, const char *path, qn_wanted_fn *wanted, qn_folder *out)
{
	listing *l = QN_NEW(a, listing, 1);

	QN_TRY(list(a, path, wanted, l));
	if (l->n == 0)
		return list_classes(a, path, wanted, out);
	*out = (qn_folder){.n = l->n, .path = l->name};
	return QN_OK;
}
