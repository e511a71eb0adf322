/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h - protobuf's wire format, looked at before libprotobuf-c sees it.
 *
 *   3a 0d | 2a 0b | 4a 09 ……         field 7, 13 bytes: field 5, 11 bytes: field 9, 9 bytes of data
 *   tag length …
 *
 * The check walks all messages by the schema: lengths stay inside their message, nesting is bounded,
 * no singular message occurs twice (libprotobuf-c would merge them, again and again), and what unpacking
 * will allocate is added up.  It writes a copy without unknown fields in which the content of one field
 * (of TensorProto, raw_data) of 16 bytes and more is replaced by its place, so weights are never copied. */
#ifndef QN_IMPORT_WIRE_H
#define QN_IMPORT_WIRE_H

#include <protobuf-c/protobuf-c.h>

#include "ir/arena.h"

enum { QN_WIRE_DEPTH = 64 }; /* messages inside messages */

/* A field that is not in the schema and is kept as an unknown one: of messages `of`, holding messages `is`. */
typedef struct qn_wire_extra {
	const ProtobufCMessageDescriptor *of, *is;
	uint32_t field;
} qn_wire_extra;

typedef struct qn_wire_how {
	const ProtobufCMessageDescriptor *root;
	const ProtobufCMessageDescriptor
		*bulk; /* whose field number bulk_field is replaced by its place */
	uint32_t bulk_field;
	const qn_wire_extra *extra;
	size_t nextra;
} qn_wire_how;

typedef struct qn_wire {
	uint8_t *data; /* to unpack */
	size_t n;
	uint64_t memory; /* bytes that unpacking allocates, at most */
	uint64_t messages;
	const char *wrong; /* what is wrong with the bytes, NULL: nothing */
	size_t at;         /* where */
} qn_wire;

/* False: out->wrong and out->at say why. */
bool qn_wire_scan(qn_arena *a, const qn_wire_how *how, const void *data, size_t n, qn_wire *out);

/* The bytes of a bulk field as it was unpacked; file: what was scanned. */
const uint8_t *qn_wire_bulk(const ProtobufCBinaryData *bytes, const void *file, size_t *n);

/* An allocator of libprotobuf-c that takes from an arena and gives nothing back. */
ProtobufCAllocator qn_wire_allocator(qn_arena *a);

#endif
