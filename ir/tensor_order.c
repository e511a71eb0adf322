/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_order.c - the order of the bytes of an element.
 *
 *   file, check sum   little-endian   00 00 80 3f
 *   memory            the host's      00 00 80 3f, on a big-endian host 3f 80 00 00
 *
 * On a little-endian host a tensor of a file is a view of it; on a big-endian one it is a copy. */
#include <string.h>

#include "ir/tensor.h"

static bool
big_endian(void)
{
	const uint16_t one = 1;
	uint8_t first;

	memcpy(&first, &one, sizeof first);
	return first == 0;
}

/* Into `to`, each element's bytes from the last to the first. */
static void
turn(uint8_t *to, const uint8_t *from, size_t bytes, size_t width)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = from[i - i % width + (width - 1 - i % width)];
}

qn_tensor *
qn_tensor_view_file(qn_arena *a, const qn_type *type, const void *data)
{
	const size_t width = qn_plain_table[type->elem->plain].bytes;
	void *copy;

	if (width == 1 || !big_endian())
		return qn_tensor_view(a, type, data);
	qn_tensor *x = qn_tensor_new(a, type, &copy);
	turn(copy, data, x->bytes, width);
	return x;
}

const void *
qn_tensor_file_bytes(qn_arena *a, const qn_tensor *x)
{
	const size_t width = qn_plain_table[x->type->elem->plain].bytes;

	if (width == 1 || !big_endian())
		return x->data;
	void *copy = qn_arena_alloc(a, x->bytes + 1, 1);
	turn(copy, x->data, x->bytes, width);
	return copy;
}

uint32_t
qn_tensor_crc_next(uint32_t crc, const qn_tensor *x)
{
	const size_t width = qn_plain_table[x->type->elem->plain].bytes;
	const uint8_t *p = x->data;

	if (width == 1 || !big_endian())
		return qn_crc32(crc, x->data, x->bytes);
	for (size_t i = 0; i < x->bytes; i += width) {
		uint8_t turned[8];

		turn(turned, p + i, width, width);
		crc = qn_crc32(crc, turned, width);
	}
	return crc;
}

uint32_t
qn_tensor_crc(const qn_tensor *x)
{
	return qn_tensor_crc_next(0, x);
}
