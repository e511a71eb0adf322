/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c - see wire.h.  The format: protobuf.dev/programming-guides/encoding. */
#include "import/wire.h"

#include <string.h>

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };
enum { PLACE = 16 }; /* bytes of a place: offset and length */
enum {
	FIELD_MEMORY = 96
}; /* libprotobuf-c keeps a member for each field of a message, in slabs that double */

typedef struct scan {
	const qn_wire_how *how;
	const uint8_t *data; /* all of it */
	size_t at, end;      /* of the message that is being read */
	int depth;
	qn_wire *out;
} scan;

static bool
wrong(scan *s, const char *what)
{
	if (s->out->wrong == NULL) {
		s->out->wrong = what;
		s->out->at = s->at;
	}
	return false;
}

/* most: bytes of the longest form. */
static bool
varint(scan *s, int most, uint64_t *out)
{
	*out = 0;
	for (int i = 0; i < most; i++) {
		if (s->at >= s->end)
			return wrong(s, "a number goes beyond the end of its message");
		uint8_t byte = s->data[s->at++];
		if (i < 9 || byte <= 1)
			*out |= (uint64_t)(byte & 0x7f) << (7 * i);
		if ((byte & 0x80) == 0)
			return true;
	}
	return wrong(s, "a number has too many bytes");
}

static void
put(scan *s, const void *data, size_t n)
{
	if (n > 0 && s->out->data != NULL)
		memcpy(s->out->data + s->out->n, data, n);
	s->out->n += n;
}

/* A length in `width` bytes, with leading zeros. */
static void
put_length(uint8_t *to, size_t width, size_t length)
{
	for (size_t i = 0; i < width; i++) {
		to[i] = (uint8_t)((length & 0x7f) | (i + 1 < width ? 0x80 : 0));
		length >>= 7;
	}
}

/* What is known of a field; NULL fields: not in the schema. */
typedef struct field {
	const ProtobufCFieldDescriptor *info;
	const ProtobufCMessageDescriptor *message; /* NULL: it holds none */
	bool kept;
} field;

static field
look_up(const scan *s, const ProtobufCMessageDescriptor *of, uint32_t number)
{
	field f = {.info = protobuf_c_message_descriptor_get_field(of, number)};

	if (f.info != NULL) {
		f.kept = true;
		if (f.info->type == PROTOBUF_C_TYPE_MESSAGE)
			f.message = f.info->descriptor;
	}
	for (size_t i = 0; f.info == NULL && i < s->how->nextra; i++)
		if (s->how->extra[i].of == of && s->how->extra[i].field == number) {
			f.message = s->how->extra[i].is;
			f.kept = true;
		}
	return f;
}

static bool
is_bytes(ProtobufCType type)
{
	return type == PROTOBUF_C_TYPE_STRING || type == PROTOBUF_C_TYPE_BYTES ||
	       type == PROTOBUF_C_TYPE_MESSAGE;
}

static bool message(scan *s, const ProtobufCMessageDescriptor *of, size_t n);

/* The content of a length-delimited field; out: at the width bytes of its length. */
static bool
content(scan *s, const ProtobufCMessageDescriptor *of, const field *f, uint32_t number,
	size_t width, size_t n)
{
	size_t length_at = s->out->n;

	s->out->n += width;
	if (f->message != NULL) {
		if (!message(s, f->message, n))
			return false;
	} else if (of == s->how->bulk && number == s->how->bulk_field && n >= PLACE) {
		uint64_t place[2] = {s->at, n};

		put(s, place, PLACE);
		s->at += n;
	} else {
		/* Packed numbers take up to 8 bytes for each of theirs. */
		s->out->memory += is_bytes(f->info->type) ? n + 1 : 8 * (uint64_t)n;
		put(s, s->data + s->at, n);
		s->at += n;
	}
	if (s->out->data != NULL)
		put_length(s->out->data + length_at, width, s->out->n - length_at - width);
	return true;
}

static bool
delimited(scan *s, const ProtobufCMessageDescriptor *of, const field *f, uint32_t number,
	  size_t start)
{
	uint64_t n;
	size_t before = s->at;

	if (!varint(s, 5, &n))
		return false;
	if (n > s->end - s->at)
		return wrong(s, "a length goes beyond the end of its message");
	if (!f->kept) {
		s->at += (size_t)n;
		return true;
	}
	put(s, s->data + start, before - start);
	return content(s, of, f, number, s->at - before, (size_t)n);
}

/* The value of a field of a fixed kind; start: of its tag. */
static bool
number_value(scan *s, const field *f, int wire, size_t start)
{
	uint64_t value;
	size_t n = wire == FIXED64 ? 8 : 4;

	if (wire == VARINT) {
		if (!varint(s, 10, &value))
			return false;
	} else {
		if (n > s->end - s->at)
			return wrong(s, "a number goes beyond the end of its message");
		s->at += n;
	}
	if (f->kept && f->info != NULL) {
		s->out->memory += 8;
		put(s, s->data + start, s->at - start);
	}
	return true;
}

/* One field.  seen: bit k for field k < 64 that holds a singular message. */
static bool
one_field(scan *s, const ProtobufCMessageDescriptor *of, uint64_t *seen)
{
	uint64_t tag;
	size_t start = s->at;

	if (!varint(s, 5, &tag))
		return false;
	uint32_t number = (uint32_t)(tag >> 3);
	int wire = (int)(tag & 7);
	if (number == 0 || tag > UINT32_MAX)
		return wrong(s, "a field has the number 0 or one that does not exist");
	if (wire != VARINT && wire != FIXED64 && wire != BYTES && wire != FIXED32)
		return wrong(s, "unknown kind of a field");
	field f = look_up(s, of, number);
	if (f.kept)
		s->out->memory += FIELD_MEMORY;
	if (f.kept && wire != BYTES && (f.info == NULL || is_bytes(f.info->type)))
		return wrong(s, "a string or message is given as a number");
	if (f.message != NULL && f.info != NULL && f.info->label != PROTOBUF_C_LABEL_REPEATED &&
	    number < 64) {
		if ((*seen >> number & 1) != 0)
			return wrong(s, "a message that may occur once occurs twice");
		*seen |= UINT64_C(1) << number;
	}
	return wire == BYTES ? delimited(s, of, &f, number, start)
			     : number_value(s, &f, wire, start);
}

static bool
message(scan *s, const ProtobufCMessageDescriptor *of, size_t n)
{
	size_t outer_end = s->end;
	uint64_t seen = 0;

	if (s->depth >= QN_WIRE_DEPTH)
		return wrong(s, "messages are nested more than 64 deep");
	s->depth++;
	s->end = s->at + n;
	s->out->messages++;
	s->out->memory += of->sizeof_message + 16;
	while (s->at < s->end)
		if (!one_field(s, of, &seen))
			return false;
	s->end = outer_end;
	s->depth--;
	return true;
}

bool
qn_wire_scan(qn_arena *a, const qn_wire_how *how, const void *data, size_t n, qn_wire *out)
{
	scan s = {.how = how, .data = data, .end = n, .out = out};

	/* Once to check and to count, which says how long the copy is. */
	*out = (qn_wire){0};
	if (!message(&s, how->root, n))
		return false;
	uint8_t *copy = qn_arena_alloc(a, out->n + 1, 1);
	*out = (qn_wire){.data = copy};
	s = (scan){.how = how, .data = data, .end = n, .out = out};
	return message(&s, how->root, n);
}

const uint8_t *
qn_wire_bulk(const ProtobufCBinaryData *bytes, const void *file, size_t *n)
{
	uint64_t place[2];

	*n = bytes->len;
	if (bytes->len != PLACE)
		return bytes->data;
	memcpy(place, bytes->data, PLACE);
	*n = (size_t)place[1];
	return (const uint8_t *)file + place[0];
}

static void *
take(void *arena, size_t n)
{
	return qn_arena_alloc(arena, n > 0 ? n : 1, 1);
}

static void
leave(void *arena, void *p)
{
	(void)arena, (void)p;
}

ProtobufCAllocator
qn_wire_allocator(qn_arena *a)
{
	return (ProtobufCAllocator){.alloc = take, .free = leave, .allocator_data = a};
}
