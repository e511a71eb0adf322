/* SPDX-License-Identifier: Apache-2.0 */
/* image.c - chooses the reader of an image by its first bytes. */
#include "formats/image.h"

#include <string.h>

#include "ir/diag.h"

qn_status
qn_image_decode(qn_arena *a, const char *place, const char *data, size_t n, qn_image *out)
{
	static const struct {
		const char *magic;
		size_t n;
		qn_status (*decode)(qn_arena *, const char *, const char *, size_t, qn_image *);
	} rows[] = {
		{"P2", 2, qn_pnm_decode},          {"P3", 2, qn_pnm_decode},
		{"P5", 2, qn_pnm_decode},          {"P6", 2, qn_pnm_decode},
		{"\x89PNG\r\n", 6, qn_stb_decode}, {"\xFF\xD8\xFF", 3, qn_stb_decode},
	};

	for (size_t i = 0; i < QN_COUNT(rows); i++)
		if (n >= rows[i].n && memcmp(data, rows[i].magic, rows[i].n) == 0)
			return rows[i].decode(a, place, data, n, out);
	return qn_report(a->env, QN_EINVALID, "image.format", place,
			 "not a PNG, JPEG or PNM (P2, P3, P5, P6) image");
}
