/* SPDX-License-Identifier: Apache-2.0 */
/* importer_value.c - inputs and constants of the graph that a reader of a foreign file makes. */
#include "import/importer.h"

qn_id
qn_importer_input(qn_importer *im, const char *name, const qn_type *type)
{
	qn_id id = qn_importer_may_add(im) ? qn_graph_input(im->g, name, type) : 0;

	im->problems += id == 0;
	return id;
}

qn_pin *
qn_importer_pin(qn_importer *im, const char *name, size_t number)
{
	return qn_pin_find(im->how->npin, im->how->pin, name, number);
}

qn_id
qn_importer_pinned(qn_importer *im, const qn_pin *pin, const char *name, const qn_type *type)
{
	const int64_t count = qn_type_count(type);

	if (pin->name == NULL) /* of the very type */
		return qn_importer_const(im, name, pin->value);
	if (count >= 0 && !qn_importer_take(im, (uint64_t)count * sizeof(double)))
		return 0;
	const qn_tensor *x = qn_pin_tensor(&im->m->types, im->m->arena, im->file, pin, type);
	if (x != NULL)
		return qn_importer_const(im, name, x);
	qn_importer_failed(im, QN_EUSAGE);
	return 0;
}

void
qn_importer_pins_used(qn_importer *im, size_t ninput, const char *const *input)
{
	const qn_status status = qn_pin_check(im->m->env, im->scratch, im->file, im->how->npin,
					      im->how->pin, ninput, input);

	if (status != QN_OK)
		qn_importer_failed(im, status);
}

qn_id
qn_importer_const(qn_importer *im, const char *name, const qn_tensor *value)
{
	return qn_importer_may_add(im) ? qn_graph_const(im->g, name, value) : 0;
}

qn_id
qn_importer_f32(qn_importer *im, double value)
{
	void *data;
	qn_tensor *x = qn_tensor_new(im->m->arena,
				     qn_type_plain(&im->m->types, QN_PLAIN_f32, 0, NULL), &data);

	qn_store_f64(data, QN_PLAIN_f32, 0, value);
	return qn_graph_const(im->g, NULL, x);
}

qn_id
qn_importer_i64s(qn_importer *im, int32_t n, const int64_t *v)
{
	void *data;
	int64_t dim = n;
	qn_tensor *x = qn_tensor_new(im->m->arena,
				     qn_type_plain(&im->m->types, QN_PLAIN_i64, 1, &dim), &data);

	for (int32_t i = 0; i < n; i++)
		qn_store_i64(data, QN_PLAIN_i64, i, v[i]);
	return qn_graph_const(im->g, NULL, x);
}

qn_id
qn_importer_i64(qn_importer *im, int64_t v)
{
	return qn_importer_reshape(im, qn_importer_i64s(im, 1, &v), 0, NULL);
}

double
qn_importer_scale(double scale)
{
	return scale == 0.0 ? 0x1p-100 : scale;
}

int64_t
qn_importer_near(int64_t v)
{
	return v < -QN_IMPORT_MOST ? -QN_IMPORT_MOST : v > QN_IMPORT_MOST ? QN_IMPORT_MOST : v;
}

int32_t
qn_importer_ints(const qn_importer *im, qn_id x, int32_t most, int64_t *v)
{
	const qn_tensor *value = qn_importer_known(im, x);
	int64_t n = value != NULL ? qn_type_count(value->type) : -1;

	if (n < 0 || n > most || qn_elem_is_float(value->type->elem))
		return -1;
	for (int64_t i = 0; i < n; i++)
		v[i] = qn_importer_near(qn_tensor_i64(value, i));
	return (int32_t)n;
}
