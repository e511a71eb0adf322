/* SPDX-License-Identifier: Apache-2.0 */
/* net.c - the values of a network, its nodes in the file, and the draws.
 *
 *   net_val *y = net_real_like(n, x);     elements to be filled in
 *   net_node1(n, "Relu", x, y);           the node that gives them */
#include "tests/networks/net.h"

#include <stdio.h>
#include <stdlib.h>

const char *const net_form_names[NET_NFORM] = {"qoperator", "qdq", "dynamic", "recurrent"};

const char *const net_reason_names[NET_NREASON] = {"an average, rounded twice",
						   "a bias of real numbers, rounded",
						   "two requantizes made one",
						   "a value without parameters",
						   "softmax",
						   "a constant of real numbers, rounded",
						   "16 bits"};

/* ---- draws (splitmix64) ---- */

static uint64_t
next(net *n)
{
	uint64_t z = (n->state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

int64_t
net_draw(net *n, int64_t lo, int64_t hi)
{
	return lo + (int64_t)((next(n) >> 20) % (uint64_t)(hi - lo + 1));
}

bool
net_chance(net *n, int percent)
{
	return net_draw(n, 0, 99) < percent;
}

double
net_real(net *n, double lo, double hi)
{
	double t = (double)net_draw(n, 0, 1 << 24) / (1 << 24);

	return (double)(float)(lo + (hi - lo) * t);
}

/* ---- values ---- */

static double *
elements(net *n, int64_t count)
{
	double *v = calloc((size_t)(count > 0 ? count : 1), sizeof *v);

	if (v == NULL || n->nblock == 2 * NET_MOST) {
		(void)fputs("onnx-networks: out of memory\n", stderr);
		exit(1);
	}
	n->block[n->nblock++] = v;
	return v;
}

static net_val *
value(net *n, int type, int rank, const int64_t *dim, int64_t sets)
{
	if (n->nval == NET_MOST || rank > NET_RANK) {
		(void)fputs("onnx-networks: too many values\n", stderr);
		exit(1);
	}
	net_val *v = &n->val[n->nval];

	*v = (net_val){.type = type, .rank = rank, .count = 1, .constant = sets == 1};
	(void)snprintf(v->name, sizeof v->name, "v%d", n->nval++);
	for (int i = 0; i < rank; i++) {
		v->dim[i] = dim[i];
		v->count *= dim[i];
	}
	v->lo = elements(n, sets * v->count);
	v->hi = elements(n, sets * v->count);
	return v;
}

net_val *
net_new(net *n, int type, int rank, const int64_t *dim)
{
	return value(n, type, rank, dim, NET_SAMPLES);
}

net_val *
net_like(net *n, const net_val *x)
{
	net_val *y = net_new(n, x->type, x->rank, x->dim);

	y->q = x->q;
	return y;
}

net_val *
net_real_like(net *n, const net_val *x)
{
	return net_new(n, ONX_FLOAT, x->rank, x->dim);
}

net_val *
net_hidden(net *n, int rank, const int64_t *dim)
{
	return value(n, ONX_FLOAT, rank, dim, 1);
}

double
net_lo(const net_val *x, int s, int64_t i)
{
	return x->lo[x->constant ? i : s * x->count + i];
}

double
net_hi(const net_val *x, int s, int64_t i)
{
	return x->hi[x->constant ? i : s * x->count + i];
}

void
net_range(const net_val *x, double *lo, double *hi)
{
	int64_t all = (x->constant ? 1 : NET_SAMPLES) * x->count;

	*lo = x->lo[0];
	*hi = x->hi[0];
	for (int64_t i = 1; i < all; i++) {
		*lo = x->lo[i] < *lo ? x->lo[i] : *lo;
		*hi = x->hi[i] > *hi ? x->hi[i] : *hi;
	}
}

bool
net_same_shape(const net_val *a, const net_val *b)
{
	return a->rank == b->rank && memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim) == 0;
}

/* ---- the file ---- */

/* "1,4,8", "" of a scalar. */
static const char *
dims_text(const net_val *v, char *text, size_t room)
{
	size_t at = 0;

	text[0] = '\0';
	for (int i = 0; i < v->rank; i++)
		at += (size_t)snprintf(text + at, room - at, "%s%lld", i > 0 ? "," : "",
				       (long long)v->dim[i]);
	return text;
}

/* Elements of a constant as the file has them. */
static size_t
stored(const net_val *c, void *out)
{
	const size_t each = onx_each(c->type), count = (size_t)c->count;

	for (size_t i = 0; i < count; i++) {
		char *at = (char *)out + i * each;
		const float f = (float)c->lo[i];
		const int64_t k = c->type == ONX_FLOAT ? 0 : (int64_t)c->lo[i];
		const int32_t k32 = (int32_t)k;
		const uint8_t k8 = (uint8_t)k;
		const uint16_t k16 = (uint16_t)k;

		memcpy(at,
		       c->type == ONX_FLOAT   ? (const void *)&f
		       : c->type == ONX_INT64 ? (const void *)&k
		       : c->type == ONX_INT32 ? (const void *)&k32
		       : each == 2            ? (const void *)&k16
					      : (const void *)&k8,
		       each);
	}
	return each * count;
}

net_val *
net_const(net *n, int type, int rank, const int64_t *dim, const double *v)
{
	static int64_t data[ONX_ROOM / 8];
	net_val *c = value(n, type, rank, dim, 1);
	char text[64];

	for (int64_t i = 0; i < c->count; i++)
		c->lo[i] = c->hi[i] = type == ONX_FLOAT ? (double)(float)v[i] : v[i];
	onx_tensor(&n->file, c->name, type, dims_text(c, text, sizeof text), data, stored(c, data));
	return c;
}

net_val *
net_scalar(net *n, int type, double v)
{
	return net_const(n, type, 0, NULL, &v);
}

net_val *
net_list(net *n, int count, const int64_t *v)
{
	double d[16];

	for (int i = 0; i < count; i++)
		d[i] = (double)v[i];
	return net_const(n, ONX_INT64, 1, (const int64_t[]){count}, d);
}

static void
names_text(int count, net_val *const *v, char *text, size_t room)
{
	size_t at = 0;

	text[0] = '\0';
	for (int i = 0; i < count; i++)
		at += (size_t)snprintf(text + at, room - at, "%s%s", v[i] != NULL ? v[i]->name : "",
				       i + 1 < count || v[i] == NULL ? "," : "");
}

void
net_node(net *n, const char *op, int nin, net_val *const *in, int nout, net_val *const *out)
{
	char from[512], to[128];

	while (nin > 0 && in[nin - 1] == NULL)
		nin--;
	names_text(nin, in, from, sizeof from);
	names_text(nout, out, to, sizeof to);
	onx_node(&n->file, op, from, to);
	n->file.domain = NULL;
	n->nops++;
}

void
net_node1(net *n, const char *op, net_val *x, net_val *y)
{
	net_node(n, op, 1, &x, 1, &y);
}

void
net_node2(net *n, const char *op, net_val *a, net_val *b, net_val *y)
{
	net_node(n, op, 2, (net_val *[]){a, b}, 1, &y);
}

void
net_microsoft(net *n)
{
	n->file.domain = "com.microsoft";
}

void
net_give(net *n, net_val *y)
{
	char text[64];

	for (int i = 0; i < n->noutput; i++)
		if (n->output[i] == y)
			return;
	if (n->noutput == NET_OUTPUTS || y == n->input || y->constant)
		return;
	n->output[n->noutput++] = y;
	onx_value_info(&n->file, 12, y->name, y->type, dims_text(y, text, sizeof text));
}

/* ---- a network ---- */

net_val *
net_any(net *n, const net_row *rows, net_val *x)
{
	int sum = 0;

	for (const net_row *r = rows; r->name != NULL; r++)
		sum += r->weight;
	for (int trial = 0; trial < 12; trial++) {
		int64_t at = net_draw(n, 0, sum - 1);
		const net_row *r = rows;

		while (at >= r->weight)
			at -= (r++)->weight;
		net_val *y = r->step(n, x);
		if (y != NULL)
			return y;
	}
	return x;
}

void
net_begin(net *n, net_form form, uint64_t seed)
{
	*n = (net){
		.form = form,
		.state =
			seed * 3 +
			(uint64_t)form}; /* 3: what the records of the first forms were made with */
	onx_begin(&n->file);
	(void)next(n);
}

static const int64_t shapes[][4] = {{1, 3, 8, 8}, {1, 4, 6, 6}, {1, 8, 4, 4}, {1, 2, 7, 5},
				    {1, 4, 5, 5}, {1, 6, 4, 6}, {1, 1, 9, 7}, {1, 8, 3, 3}};

void
net_make(net *n)
{
	static void (*const make[NET_NFORM])(net *) = {net_make_qoperator, net_make_qdq,
						       net_make_dynamic, net_make_recurrent};
	const int64_t *dim = shapes[net_draw(n, 0, (int64_t)(sizeof shapes / sizeof *shapes) - 1)];
	static const int64_t versions[] = {14, 17, 18, 19};
	int type = n->form == NET_QOPERATOR && net_chance(n, 35)
			   ? (net_chance(n, 60) ? ONX_UINT8 : ONX_INT8)
			   : ONX_FLOAT;
	net_val *x = net_new(n, type, 4, dim);
	double reach = net_real(n, 0.5, 4), low = net_chance(n, 20) ? 0 : -reach;
	char text[64];

	n->version = versions[net_draw(n, 0, 3)];
	for (int64_t i = 0; i < NET_SAMPLES * x->count; i++)
		x->lo[i] = x->hi[i] = type == ONX_FLOAT
					      ? net_real(n, low, reach)
					      : (double)net_draw(n, net_qmin(type), net_qmax(type));
	n->input = x;
	onx_input(&n->file, x->name, x->type, dims_text(x, text, sizeof text));
	if (type != ONX_FLOAT)
		x->q = net_params_for(n, low, reach, type);
	make[n->form](n);
}

const uint8_t *
net_end(net *n, size_t *bytes)
{
	onx *t = &n->file;

	t->inner.n = 0;
	onx_text(&t->inner, 1, "com.microsoft");
	onx_number(&t->inner, 2, 1);
	onx_field(&t->functions, 8, t->inner.data, t->inner.n);
	onx_text(&t->graph, 2, "network");
	return onx_end(t, n->version, bytes);
}

void
net_free(net *n)
{
	for (int i = 0; i < n->nblock; i++)
		free(n->block[i]);
	n->nblock = 0;
}
