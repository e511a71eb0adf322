/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_tensor.c - tensors of a TFLite file: their names, shapes and types.
 *
 *   INT8 [64,3,3,1] scale {0.1, …} axis 0    ->    tensor<64x3x3x1x!quant.uniform<i8:f32:0, {0.1, …}>> */
#include "import/tflite.h"

#include <string.h>

#include "ir/diag.h"

/* ---- names and shapes ---- */

/* "a/b;c/d" is one value that several nodes of the converted model became: the first is enough. */
const char *
qn_tfl_name_of(qn_tfl *f, const qn_flat_vector *text, size_t index)
{
	qn_buf b;

	qn_buf_init(&b, f->im.m->arena);
	for (size_t i = 0; i < text->n && i < 200; i++) {
		int64_t c = qn_flat_int_at(text, i, QN_FLAT_U8);

		if (c == ';' && b.n > 0)
			break;
		qn_buf_putc(&b, c >= 0x20 && c < 0x7f && c != '"' && c != '\\' ? (char)c : '_');
	}
	if (b.n == 0)
		qn_buff(&b, "t%zu", index);
	return qn_buf_str(&b);
}

enum {
	LONGEST_FOREIGN_NAME = 1024
}; /* letters; values of longer names have none that other tools know */

/* NULL: too long, or more memory than the file may take. */
static const char *
whole_name(qn_tfl *f, const qn_tfl_tensor *t)
{
	const qn_flat_vector text = qn_flat_text_in(&t->t, QN_TFL_FIELD_tensor_name);
	qn_buf b;

	if (text.n == 0 || text.n > LONGEST_FOREIGN_NAME || text.n > f->im.room)
		return NULL;
	f->im.room -= text.n;
	qn_buf_init(&b, f->im.scratch);
	for (size_t i = 0; i < text.n; i++)
		qn_buf_putc(&b, (char)qn_flat_int_at(&text, i, QN_FLAT_U8));
	return qn_buf_str(&b);
}

void
qn_tfl_add_name(qn_tfl *f, const qn_tfl_tensor *t, qn_id id, qn_id from)
{
	const char *name = id != 0 && f->depth == 0 ? whole_name(f, t) : NULL;
	const qn_tfl_tensor *first;

	if (name == NULL)
		return;
	first = qn_map_gets(&f->now->named, name);
	if (first == NULL)
		qn_map_puts(&f->now->named, name, (void *)(uintptr_t)t);
	if (first == NULL || first == t) /* a name of two tensors is that of the first */
		qn_importer_add_name(&f->im, name, id, from);
}

static qn_status
shape(qn_tfl *f, qn_tfl_tensor *t)
{
	qn_flat_vector dims = qn_flat_vector_in(&t->t, QN_TFL_FIELD_tensor_shape, 4);

	t->rank = dims.n <= QN_MAX_RANK ? (int32_t)dims.n : -1;
	for (int32_t i = 0; i < t->rank; i++) {
		int64_t dim = qn_flat_int_at(&dims, (size_t)i, QN_FLAT_I32);

		if (dim < -1)
			return qn_importer_damaged(&f->im, "tensor '%s' has a dimension of %lld",
						   t->name, (long long)dim);
		t->dim[i] = dim;
	}
	return QN_OK;
}

qn_status
qn_tfl_tensors(qn_tfl *f, const qn_flat_table *graph)
{
	qn_flat_vector v = qn_flat_vector_in(graph, QN_TFL_FIELD_graph_tensors, 4);

	f->now->ntensor = v.n;
	qn_map_init(&f->now->named, f->im.scratch);
	f->now->tensor = QN_NEW(f->im.scratch, qn_tfl_tensor, v.n + 1);
	f->now->of_run = QN_NEW(f->im.scratch, qn_tfl_tensor *, v.n + 1);
	for (size_t i = 0; i < v.n; i++) {
		qn_tfl_tensor *t = &f->now->tensor[i];

		t->t = qn_flat_table_at(&v, i);
		if (t->t.at == 0)
			return qn_importer_damaged(&f->im, "tensor %zu is missing", i);
		qn_flat_vector text = qn_flat_text_in(&t->t, QN_TFL_FIELD_tensor_name);
		t->name = qn_tfl_name_of(f, &text, i);
		QN_TRY(shape(f, t));
	}
	return QN_OK;
}

/* ---- element types ---- */

bool
qn_tfl_take(qn_tfl *f, uint64_t bytes)
{
	return qn_importer_take(&f->im, bytes);
}

/* QN_NPLAIN: Quern has no such type. */
static qn_plain
plain_of(int64_t type)
{
#define X(name, plain, number)                                                                     \
	if (type == number)                                                                        \
		return QN_PLAIN_##plain;
	QN_TFL_TYPES(X)
#undef X
	return QN_NPLAIN;
}

/* The axis that n scales stand along.  Converters give biases the axis of their weights, 3 of [O] or [1,O]: an axis that is not
 * the tensor's is the only one that has as many indices, where all others have one. */
static int32_t
axis_of(const qn_tfl_tensor *t, int32_t axis, int64_t n)
{
	int32_t found = axis, longer = 0;

	if (axis >= 0 && axis < t->rank && t->dim[axis] == n)
		return axis;
	for (int32_t i = 0; i < t->rank; i++) {
		longer += t->dim[i] != 1;
		found = t->dim[i] == n ? i : found;
	}
	return longer == 1 ? found : axis;
}

/* "model.tflite: tensor 'x'" */
static const char *
place_of(qn_tfl *f, const qn_tfl_tensor *t)
{
	qn_buf b;

	qn_buf_init(&b, f->im.scratch);
	qn_buff(&b, "%s: tensor '%s'", f->im.file, t->name);
	return qn_buf_str(&b);
}

/* The vector of scales as the element's, the zero points as its; false after a report. */
static bool
scales(qn_tfl *f, const qn_tfl_tensor *t, const qn_flat_table *q, qn_elem *d, int32_t *axis)
{
	qn_flat_vector scale = qn_flat_vector_in(q, QN_TFL_FIELD_quantization_scale, 4);
	qn_flat_vector zp = qn_flat_vector_in(q, QN_TFL_FIELD_quantization_zero_point, 8);
	qn_types *types = &f->im.m->types;
	const qn_params *vec;

	*axis = (int32_t)qn_flat_int(q, QN_TFL_FIELD_quantization_axis, QN_FLAT_I32, 0);
	d->zp = qn_flat_int_at(&zp, 0, QN_FLAT_I64);
	if (scale.n == 1) {
		d->scale = qn_scale_const(types, qn_flat_real_at(&scale, 0));
		return true;
	}
	*axis = axis_of(t, *axis, (int64_t)scale.n);
	if (*axis < 0 || *axis >= t->rank || t->dim[*axis] != (int64_t)scale.n ||
	    (zp.n > 1 && zp.n != scale.n))
		return qn_importer_refuse(&f->im, "import.type",
					  "tensor '%s' has %zu scales and %zu zero points for axis "
					  "%d (expected one per index)",
					  t->name, scale.n, zp.n, (int)*axis) != 0;
	if (!qn_tfl_take(f, 16 * (uint64_t)scale.n))
		return false;
	double *s = QN_NEW(f->im.scratch, double, scale.n);
	int64_t *z = QN_NEW(f->im.scratch, int64_t, scale.n);
	for (size_t i = 0; i < scale.n; i++) {
		s[i] = qn_importer_scale(qn_flat_real_at(&scale, i));
		z[i] = qn_flat_int_at(&zp, zp.n > 1 ? i : 0, QN_FLAT_I64);
	}
	if (qn_params_intern(types, place_of(f, t), NULL, scale.n, 1, NULL, s, z, &vec) != QN_OK)
		return false;
	d->zp = 0;
	d->gran = QN_PER_AXIS;
	d->naxis = 1;
	d->axis = axis;
	d->scale = qn_scale_vec(types, vec);
	return true;
}

/* No scales, or one of 0, which converters write for what is not quantized. */
static bool
has_scales(const qn_flat_table *q)
{
	qn_flat_vector scale = qn_flat_vector_in(q, QN_TFL_FIELD_quantization_scale, 4);

	return scale.n > 1 || (scale.n == 1 && qn_flat_real_at(&scale, 0) != 0.0);
}

static const qn_elem *
element(qn_tfl *f, qn_tfl_tensor *t)
{
	int64_t number = qn_flat_int(&t->t, QN_TFL_FIELD_tensor_type, QN_FLAT_I8, 0);
	qn_plain plain = plain_of(number);
	qn_flat_table q = qn_flat_table_in(&t->t, QN_TFL_FIELD_tensor_quantization);
	const qn_elem *e = NULL;
	int32_t axis = 0;

	if (plain == QN_NPLAIN) {
		(void)qn_importer_refuse(&f->im, "import.type",
					 "tensor '%s' has elements of type %lld; strings, complex "
					 "numbers, resources and variants are not supported",
					 t->name, (long long)number);
		return NULL;
	}
	const qn_plain_info *info = &qn_plain_table[plain];
	const int64_t details =
		q.at != 0 ? qn_flat_int(&q, QN_TFL_FIELD_quantization_details_type, QN_FLAT_U8, 0)
			  : 0;
	if (info->is_float || plain == QN_PLAIN_bool || q.at == 0 ||
	    (details == 0 && !has_scales(&q)))
		return qn_elem_plain(&f->im.m->types, plain);
	if (details == QN_TFL_DETAILS_BLOCKWISE)
		return qn_tfl_blocks(f, t, &q, info);
	if (details != 0) {
		(void)qn_importer_refuse(&f->im, "import.type",
					 "tensor '%s' is quantized in a custom way; supported are "
					 "one scale, one per index of an axis, or blocks",
					 t->name);
		return NULL;
	}
	qn_elem d = qn_elem_desc(info->bits, info->is_signed);
	d.kind = QN_ELEM_UNIFORM;
	if (!scales(f, t, &q, &d, &axis))
		f->im.problems++;
	else if (qn_elem_make(&f->im.m->types, place_of(f, t), &d, &e) != QN_OK)
		f->im.problems++;
	return e;
}

/* The element of a value in the graph: quantized, or float if parameters are not wanted. */
static const qn_elem *
wanted(const qn_tfl *f, const qn_elem *e)
{
	return f->im.how->from_float && qn_elem_is_quant(e)
		       ? qn_elem_plain(&f->im.m->types, QN_PLAIN_f32)
		       : e;
}

const qn_type *
qn_tfl_type(qn_tfl *f, qn_tfl_tensor *t)
{
	if (!t->looked_at) {
		t->looked_at = true;
		if (t->rank < 0)
			(void)qn_importer_refuse(&f->im, "import.rank",
						 "tensor '%s' has more than %d dimensions", t->name,
						 (int)QN_MAX_RANK);
		else
			t->elem = element(f, t);
	}
	if (t->elem == NULL)
		return NULL;
	const qn_type *type = qn_type_tensor(&f->im.m->types, wanted(f, t->elem), t->rank, t->dim);
	if (qn_elem_is_quant(type->elem) &&
	    qn_type_check(&f->im.m->types, t->name, type) != QN_OK) {
		f->im.problems++;
		t->elem = NULL;
		return NULL;
	}
	return type;
}
