/* SPDX-License-Identifier: Apache-2.0 */
/* permute.c - a constant with its axes in another order, bytes and scales alike.
 *
 *   [1,3,3,64] of i8 with scales along axis 3, perm 3 1 2 0    ->    [64,3,3,1], scales along axis 0 */
#include "import/importer.h"

#include <string.h>

#include "ir/diag.h"

/* The element with its scales along the new position of their axis; NULL after a report. */
static const qn_elem *
moved_elem(qn_importer *im, const qn_elem *e, int32_t rank, const int64_t *perm)
{
	qn_elem d = *e;
	const qn_elem *moved = NULL;
	int32_t axis = 0;

	if (!qn_elem_is_quant(e) || e->gran == QN_PER_TENSOR)
		return e;
	while (axis + 1 < rank && perm[axis] != e->axis[0])
		axis++;
	d.axis = &axis;
	if (qn_elem_make(&im->m->types, im->file, &d, &moved) != QN_OK)
		im->problems++;
	return moved;
}

static void
move(const char *from, char *to, size_t each, const qn_type *type, const int64_t *step)
{
	int64_t at[QN_MAX_RANK] = {0}, n = qn_type_count(type), place = 0;

	for (int64_t i = 0; i < n; i++) {
		memcpy(to + (size_t)i * each, from + (size_t)place * each, each);
		for (int32_t k = type->rank - 1; k >= 0; k--) {
			place += step[k];
			if (++at[k] < type->dim[k])
				break;
			place -= step[k] * type->dim[k];
			at[k] = 0;
		}
	}
}

qn_id
qn_importer_permuted(qn_importer *im, qn_id x, const int64_t *perm)
{
	const qn_tensor *from = qn_importer_known(im, x);
	const qn_type *type = from->type;
	int64_t dim[QN_MAX_RANK], step[QN_MAX_RANK] = {0};
	void *data;

	for (int32_t i = 0; i < type->rank; i++) {
		dim[i] = type->dim[perm[i]];
		step[i] = 1;
		for (int64_t k = perm[i] + 1; k < type->rank; k++)
			step[i] *= type->dim[k];
	}
	const qn_elem *e = moved_elem(im, type->elem, type->rank, perm);
	if (e == NULL || !qn_importer_take_type(im, type))
		return 0;
	qn_tensor *y = qn_tensor_new(im->m->arena,
				     qn_type_tensor(&im->m->types, e, type->rank, dim), &data);
	move(from->data, data, qn_elem_bytes(e), y->type, step);
	const char *name = qn_graph_node(im->g, x)->name;
	const qn_id id = qn_importer_const(im, name, y);
	if (id != 0)
		qn_importer_copy_names(im, id, x);
	return id;
}
