/* SPDX-License-Identifier: Apache-2.0 */
/* importer_dim.c - dimensions that a file leaves open: the caller's numbers, and 1 for a batch.
 *
 *   image [batch, 3, height, 224]    "height=192"      batch is 1, and the log says so
 *                                    "image:2=192"     the same without a name */
#include "import/importer.h"

#include <string.h>

#include "ir/diag.h"
#include "ir/limits.h"

/* An integer from 1 to 2^31 - 1, else -1. */
static int64_t
length_of(const char *text)
{
	int64_t v = 0;

	for (const char *s = text; *s != '\0'; s++) {
		if (*s < '0' || *s > '9')
			return -1;
		v = v * 10 + (*s - '0');
		if (v > INT32_MAX)
			return -1;
	}
	return v > 0 ? v : -1;
}

/* The number after "KEY=", -1: this option is of another key. */
static int64_t
number_of(const char *option, const char *key)
{
	size_t n = strlen(key);

	if (n == 0 || strncmp(option, key, n) != 0 || option[n] != '=')
		return -1;
	return length_of(option + n + 1);
}

static bool
given(qn_importer *im, const char *key, int64_t *out)
{
	for (size_t i = 0; i < im->how->ndim; i++) {
		int64_t v = number_of(im->how->dim[i], key);

		if (v < 0)
			continue;
		if (im->dim_used == NULL)
			im->dim_used = QN_NEW(im->scratch, bool, im->how->ndim);
		im->dim_used[i] = true;
		*out = v;
		return true;
	}
	return false;
}

static const char *
key_of(qn_importer *im, const char *input, int32_t axis)
{
	qn_buf place;

	qn_buf_init(&place, im->scratch);
	qn_buff(&place, "%s:%d", input, (int)axis);
	return qn_buf_str(&place);
}

bool
qn_importer_dim_option(qn_importer *im, const char *input, int32_t axis, const char *name,
		       int64_t *out)
{
	return given(im, key_of(im, input, axis), out) || given(im, name, out);
}

bool
qn_importer_dim(qn_importer *im, const char *input, int32_t axis, const char *name, int64_t *out)
{
	const char *key = key_of(im, input, axis);

	if (qn_importer_dim_option(im, input, axis, name, out))
		return true;
	bool batch =
		axis == 0 || (im->batch != NULL && name[0] != '\0' && strcmp(im->batch, name) == 0);
	if (!batch) {
		(void)qn_importer_refuse(
			im, "import.dim",
			"dimension %d of input '%s'%s%s%s is open; give it a number: "
			"--input-dim %s=N",
			(int)axis, input, name[0] != '\0' ? " ('" : "", name,
			name[0] != '\0' ? "')" : "", name[0] != '\0' ? name : key);
		return false;
	}
	if (axis == 0 && name[0] != '\0')
		im->batch = name;
	qn_log(im->m->env, "%s: dimension %d of input '%s' is open; it is taken as 1", im->file,
	       (int)axis, input);
	*out = 1;
	return true;
}

/* What is wrong with an option that no dimension took. */
static const char *
wrong_with(const char *option)
{
	const char *equals = strrchr(option, '=');

	if (equals == NULL || equals == option)
		return "is invalid (expected NAME=N or INPUT:AXIS=N)";
	if (length_of(equals + 1) < 0)
		return "has no valid length: N must be an integer from 1 to 2147483647";
	return "is not an open dimension of an input, nor a batch; write NAME=N or INPUT:AXIS=N, "
	       "for another batch INPUT:0=N";
}

void
qn_importer_dims_used(qn_importer *im)
{
	for (size_t i = 0; i < im->how->ndim; i++)
		if (im->dim_used == NULL || !im->dim_used[i]) {
			(void)qn_importer_refuse(im, "import.dim", "'%s' %s", im->how->dim[i],
						 wrong_with(im->how->dim[i]));
			qn_importer_failed(im, QN_EUSAGE);
		}
}
