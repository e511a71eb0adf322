/* SPDX-License-Identifier: Apache-2.0 */
/* importer_room.c - what a file may ask for: an attacker's kilobyte must not take gigabytes or hours.
 *
 *   ConstantOfShape([1000000000])          4 GB out of 30 bytes: import.size
 *   fold of a product of two constants     left to the clean pass, when there is much of it
 *   LSTM over 65536 steps                  a million nodes out of 100 bytes: import.size
 *
 * The budgets grow with the file, so that a large model has what it needs (docs/limits.md). */
#include "import/importer.h"
#include "ir/diag.h"
#include "ir/limits.h"

enum {
	ROOM = 24 << 20, /* bytes, in any case */
	ROOM_EACH = 32,  /* for each byte of the file */
	WORK = 1 << 24,  /* elements computed, in any case */
	WORK_EACH = 64,  /* for each byte of the file */
	NODES = 1 << 16, /* in any case */
	MOST_FOLDED =
		1 << 20, /* elements of a node's value that are computed while a file is read */
};

void
qn_importer_grant(qn_importer *im, size_t bytes)
{
	im->room += ROOM_EACH * (uint64_t)bytes;
	im->work += WORK_EACH * (uint64_t)bytes;
	im->nodes += bytes / 4;
	if (im->nodes > bytes / 4)
		return;
	im->room += ROOM;
	im->work += WORK;
	im->nodes += NODES;
}

bool
qn_importer_take(qn_importer *im, uint64_t bytes)
{
	if (bytes <= im->room) {
		im->room -= bytes;
		return true;
	}
	return qn_importer_refuse(im, "import.size",
				  "constants and tables are many times larger than the file that "
				  "they come from; %llu bytes more are too many",
				  (unsigned long long)bytes) != 0;
}

bool
qn_importer_take_type(qn_importer *im, const qn_type *type)
{
	int64_t count = qn_type_count(type);

	return qn_importer_take(im, count < 0 ? UINT64_MAX
					      : (uint64_t)count * qn_elem_bytes(type->elem));
}

/* At most so many elements are looked at: those of the operands and of the result, for what multiplies or
 * slides each of the result's with all of one operand's. */
static uint64_t
work_of(const qn_importer *im, const qn_node *n)
{
	uint64_t count = (uint64_t)qn_type_count(n->type), most = 0, sum = count;
	bool each = qn_opinfo_of(n)->behaviour == QN_ACC || n->op == QN_OP_matmul ||
		    n->op == QN_OP_max_pool || n->op == QN_OP_avg_pool || n->op == QN_OP_top_k ||
		    n->op == QN_OP_top_places;

	for (uint32_t i = 0; i < n->nin; i++) {
		uint64_t have = (uint64_t)qn_type_count(qn_importer_type(im, n->in[i]));
		sum += have;
		most = have > most ? have : most;
	}
	return each && most > 0
		       ? sum + (count > UINT64_MAX / 2 / most ? UINT64_MAX / 2 : count * most)
		       : sum;
}

bool
qn_importer_may_fold(qn_importer *im, const qn_node *n)
{
	int64_t count = qn_type_count(n->type), most = MOST_FOLDED;

	if (count > most && qn_opinfo_of(n)->behaviour == QN_SAME)
		most = qn_type_count(qn_importer_type(im, n->in[0])); /* it only moves */
	if (count < 0 || count > most)
		return false;
	uint64_t work = work_of(im, n), bytes = (uint64_t)count * qn_elem_bytes(n->type->elem);
	if (work > im->work || 2 * bytes > im->room)
		return false;
	im->work -= work;
	im->room -= 2 * bytes; /* it is computed in memory of its own, then copied */
	return true;
}

/* Whether `have` nodes are not too many. */
static bool
nodes_ok(qn_importer *im, uint64_t have)
{
	uint64_t limit = qn_limit(im->m->env, QN_LIMIT_NODES);
	uint64_t most = im->nodes < limit ? im->nodes : limit;

	if (have <= most)
		return true;
	if (!im->full)
		(void)qn_importer_refuse(im, "import.size",
					 "the file becomes more than %llu nodes, which is out of "
					 "proportion to its size or beyond limits.nodes; a long "
					 "sequence or functions that call functions multiply nodes",
					 (unsigned long long)most);
	im->full = true;
	im->problems++;
	return false;
}

bool
qn_importer_may_add(qn_importer *im)
{
	return nodes_ok(im, im->g->n);
}

bool
qn_importer_may_read(qn_importer *im, uint64_t *read)
{
	return nodes_ok(im, ++*read);
}
