/* SPDX-License-Identifier: Apache-2.0 */
/* importer_budget.c - what a file may cost: an attacker's kilobyte must not take gigabytes or hours.
 *
 *   ConstantOfShape([1000000000])          4 GB out of 30 bytes: import.size
 *   fold of a product of two constants     left to the clean pass, when there is much of it
 *   LSTM over 65536 steps                  a million nodes out of 100 bytes: import.size
 *
 * The budgets grow with the file, so that a large model has what it needs (docs/limits.md). */
#include "import/importer.h"
#include "ir/diag.h"
#include "ir/limits.h"
#include "ir/window.h"

enum {
	ROOM = 24 << 20, /* bytes, in any case */
	ROOM_EACH = 32,  /* for each byte of the file */
	WORK = 1 << 24,  /* elements computed, in any case */
	WORK_EACH = 64,  /* for each byte of the file */
	NODES = 1 << 16, /* in any case */
	COMPARED = 1 << 26,
	MOST_FOLDED =
		1 << 20, /* elements of a node's value that are computed while a file is read */
};

static uint64_t
times(uint64_t a, uint64_t b)
{
	return b > 0 && a > UINT64_MAX / 2 / b ? UINT64_MAX / 2 : a * b;
}

uint64_t
qn_importer_most(const qn_importer *im, uint64_t n)
{
	return im->how->times > 1 ? times(n, im->how->times) : n;
}

const char *
qn_importer_more(qn_importer *im)
{
	qn_buf b;

	qn_buf_init(&b, im->scratch);
	qn_buff(&b,
		"; for a file that you trust, --import-limit %llu (qn_import_opts.limit) allows "
		"twice as much",
		(unsigned long long)(im->how->times > 1 ? 2 * im->how->times : 2));
	return qn_buf_str(&b);
}

void
qn_importer_grant(qn_importer *im, size_t bytes)
{
	const bool first = im->nodes == 0;

	im->room += qn_importer_most(im, ROOM_EACH * (uint64_t)bytes + (first ? ROOM : 0));
	im->work += qn_importer_most(im, WORK_EACH * (uint64_t)bytes + (first ? WORK : 0));
	im->nodes += qn_importer_most(im, bytes / 4 + (first ? NODES : 0));
	if (first)
		im->compared = qn_importer_most(im, COMPARED);
}

void
qn_importer_grant_tables(qn_importer *im, uint64_t elements, uint64_t nodes)
{
	im->tables = elements;
	im->work += 4 * nodes * elements;
	im->room += 2 * sizeof(double) * nodes * elements;
}

bool
qn_importer_take(qn_importer *im, uint64_t bytes)
{
	if (bytes <= im->room) {
		im->room -= bytes;
		return true;
	}
	return qn_importer_refuse(im, "import.size",
				  "constants and tables are many times larger than the file they "
				  "come from; %llu more bytes are too many%s",
				  (unsigned long long)bytes, qn_importer_more(im)) != 0;
}

bool
qn_importer_take_type(qn_importer *im, const qn_type *type)
{
	int64_t count = qn_type_count(type);

	return qn_importer_take(im, count < 0 ? UINT64_MAX
					      : (uint64_t)count * qn_elem_bytes(type->elem));
}

/* The elements of a type, dims of 0 left out: loops may run over the others. */
static uint64_t
extent(const qn_type *type)
{
	uint64_t n = 1;

	for (int32_t i = 0; i < type->rank; i++)
		n *= type->dim[i] > 1 ? (uint64_t)type->dim[i] : 1;
	return n;
}

/* The positions of a pool's window, inside the image or not; 0 for other nodes. */
static uint64_t
window_of(const qn_node *n)
{
	const qn_attr_set_info *attrs = qn_opinfo_of(n)->attrs;
	uint64_t taps = 1;

	if (attrs != qn_opinfo_get(QN_OP_max_pool)->attrs &&
	    attrs != qn_opinfo_get(QN_OP_max_pool3d)->attrs)
		return 0;
	const qn_pooling p = qn_pooling_of(n);
	for (int32_t i = 0; i < p.axes; i++)
		taps = times(taps, (uint64_t)p.kernel[i]);
	return taps;
}

/* At most that many elements are looked at: those of the operands and of the result, for what multiplies or
 * compares each of the result's with all of one operand's, or with those of a window. */
static uint64_t
work_of(const qn_importer *im, const qn_node *n)
{
	uint64_t count = extent(n->type), most = window_of(n), sum = count;
	bool each = qn_opinfo_of(n)->behaviour == QN_ACC || n->op == QN_OP_matmul ||
		    n->op == QN_OP_top_k || n->op == QN_OP_top_k_indices || n->op == QN_OP_lrn;

	for (uint32_t i = 0; i < n->nin; i++) {
		uint64_t have = extent(qn_importer_type(im, n->in[i]));

		sum += have;
		most = each && have > most ? have : most;
	}
	return sum + times(count, most);
}

bool
qn_importer_may_fold(qn_importer *im, const qn_node *n)
{
	int64_t count = qn_type_count(n->type), most = (int64_t)qn_importer_most(im, MOST_FOLDED);

	if (im->tables > (uint64_t)most)
		most = (int64_t)im->tables;
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

bool
qn_importer_may_compare(qn_importer *im, uint64_t n)
{
	if (n <= im->compared) {
		im->compared -= n;
		return true;
	}
	return qn_importer_refuse(im, "import.size",
				  "%llu elements to compare; in all nodes of a file at most 2^26 "
				  "are compared, %llu are left%s",
				  (unsigned long long)n, (unsigned long long)im->compared,
				  qn_importer_more(im)) != 0;
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
		(void)qn_importer_refuse(
			im, "import.size",
			"the file expands to more than %llu nodes, which is out of proportion to "
			"its size or above limits.nodes; a long sequence or functions that call "
			"functions multiply nodes%s",
			(unsigned long long)most, qn_importer_more(im));
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
qn_importer_step(qn_importer *im)
{
	const uint64_t most = qn_importer_most(im, QN_IMPORT_STEPS);

	if (++im->steps <= most)
		return true;
	if (!im->full) {
		(void)qn_importer_refuse(
			im, "import.size",
			"loops have more than %llu steps in total; they are unrolled%s",
			(unsigned long long)most, qn_importer_more(im));
		im->full = true;
	}
	return false;
}

bool
qn_importer_may_read(qn_importer *im, uint64_t *read)
{
	return nodes_ok(im, ++*read);
}
