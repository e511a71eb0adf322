/* SPDX-License-Identifier: Apache-2.0 */
/* stream_windows.c - how the rows of convolutions, pools and resizing follow from those of their operands:
 *
 *   conv2d {stride=[2,1], pad=[1,1,1,1]}, 3 rows by 3       row i from rows 2 i - 1 to 2 i + 1
 *   conv2d_transpose {pad=[1,1,1,1]}, 3 rows by 3           row i from rows i - 1 to i + 1 */
#include "ir/window.h"
#include "passes/stream_flow.h"

/* Whether the rows are not on an axis of the image: they are samples, or channels, which is refused; *ok: not so. */
static bool
is_beside_image(qn_stream *s, const qn_node *n, const qn_rows *x, int32_t axes, qn_rows *out,
		bool *ok)
{
	*ok = qn_flow_only_data(s, n);
	if (*ok && x->axis > axes)
		*ok = qn_flow_all_rows(
			s, n, "the rows are its channels, and each result reads all of them");
	else if (*ok && x->axis == 0)
		return qn_flow_same(x, x->axis, out);
	return !*ok;
}

bool
qn_flow_convolution(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	const qn_convolving c = qn_convolving_of(n);
	const int32_t k = x->axis - 1;
	qn_window w;
	bool ok;

	if (is_beside_image(s, n, x, c.axes, out, &ok))
		return ok;
	const int64_t kernel = qn_flow_type(s, n, 1)->dim[1 + k];
	if (!qn_window_conv(&c, k, x->n, kernel, &w))
		return qn_flow_all_rows(s, n, "its windows are not known");
	return qn_flow_windows(s, n, x,
			       (qn_reads){c.stride[k], w.before, (kernel - 1) * c.dilation[k] + 1},
			       w.out, out);
}

/* Each row of the result is a sum over the rows of the operand that its windows put there. */
bool
qn_flow_transposed(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	const qn_attrs_conv2d_transpose *a = &n->attr->conv2d_transpose;
	const int32_t k = x->axis - 1;
	qn_window w;
	bool ok;

	if (is_beside_image(s, n, x, 2, out, &ok))
		return ok;
	if (a->stride[k] != 1)
		return qn_flow_all_rows(s, n, "its stride makes several rows of each");
	const int64_t kernel = qn_flow_type(s, n, 1)->dim[1 + k];
	const int64_t reach = (kernel - 1) * a->dilation[k] + 1;
	if (!qn_window_transpose(a, k, x->n, kernel, &w) || w.before >= reach)
		return qn_flow_all_rows(s, n, "its windows are not known");
	return qn_flow_windows(s, n, x, (qn_reads){1, reach - 1 - w.before, reach}, w.out, out);
}

bool
qn_flow_resize(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	const int32_t k = x->axis - 1;

	if (k >= 0 && k < 2 && n->attr->resize.size[k] != x->n)
		return qn_flow_all_rows(s, n, "it makes another number of rows of them");
	return qn_flow_same(x, x->axis, out);
}

bool
qn_flow_pool(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	const qn_pooling p = qn_pooling_of(n);
	const int32_t k = x->axis - 1;
	qn_window w;

	if (k < 0 || k >= p.axes)
		return qn_flow_same(x, x->axis, out);
	if (p.ceil_mode != 0 && p.count_include_pad != 0)
		return qn_flow_all_rows(s, n, "it counts padding in windows that end beyond it");
	if (!qn_window_pool(&p, k, x->n, &w))
		return qn_flow_all_rows(s, n, "its windows are not known");
	return qn_flow_windows(
		s, n, x, (qn_reads){p.stride[k], w.before, (p.kernel[k] - 1) * p.dilation[k] + 1},
		w.out, out);
}
