/* SPDX-License-Identifier: Apache-2.0 */
/* layer.c - see layer.h.  A channel whose largest and smallest sum give one result gives that always, as
 * rescaling is monotone: for example pruned channels with zero weights and any bias.  It gets no weights,
 * and a bias and a multiplier that give the result. */
#include "codegen/layer.h"

#include "ir/clamp.h"
#include "runtime/impl_args.h"

static qn_layer
layer_of(const qn_step_facts *f, int32_t channels, int64_t depth, int32_t zi, int32_t most)
{
	const qn_node *w = qn_graph_node(f->g, f->step->in[1]);
	const int32_t bits = w->type->elem->bits;
	qn_layer l = {.w = w->op == QN_OP_const && (bits == 8 || bits == 4) ? w->value : NULL,
		      .bits = bits,
		      .r = f->step->epilogue[0].args,
		      .depth = depth,
		      .channels = channels,
		      .zi = zi,
		      .most = most};

	if (f->core->nin > 2)
		l.bias = qn_graph_node(f->g, f->step->in[2])->value;
	return l;
}

qn_layer
qn_layer_of_conv(const qn_step_facts *f, int32_t most)
{
	const qn_conv2d_args *a = &((const qn_conv2d_call *)f->step->args)->args;

	return layer_of(f, a->out_c, (int64_t)a->k_h * a->k_w * (a->in_c / a->groups), a->zi, most);
}

qn_layer
qn_layer_of_dense(const qn_step_facts *f, int32_t most)
{
	const qn_dense_args *a = f->step->args;

	return layer_of(f, a->out, a->in, a->zi, most);
}

/* The bias with the share of the zero point; *reach: the largest sum that the weights can add. */
static int64_t
folded(const qn_layer *l, int64_t channel, int64_t *reach)
{
	int64_t sum = 0, bias = l->bias != NULL ? qn_tensor_i64(l->bias, channel) : 0;

	*reach = 0;
	for (int64_t k = 0; k < l->depth; k++) {
		const int64_t w = qn_tensor_i64(l->w, channel * l->depth + k);

		sum += w;
		*reach += 128 * (w < 0 ? -w : w);
	}
	return bias - l->zi * sum;
}

int64_t
qn_layer_reach(const qn_layer *l, int64_t channel)
{
	int64_t reach;

	(void)folded(l, channel, &reach);
	return reach;
}

/* The largest value of 16 bits in operand 0, of either sign. */
static int64_t
most_of_operand(const qn_step_facts *f)
{
	const qn_node *x = qn_graph_node(f->g, f->step->in[0]);
	const int64_t most = -(int64_t)INT16_MIN;

	if (x->op != QN_OP_requantize)
		return most;
	const int64_t lo = x->attr->requantize.lo, hi = x->attr->requantize.hi;
	const int64_t far = -lo > hi ? -lo : hi;
	return far < most ? far : most;
}

const char qn_layer_too_wide[] = "the sums of a channel may be too large for 32 bits";

int64_t
qn_layer_largest16(const qn_step_facts *f, const qn_layer *l, int64_t channel)
{
	const int64_t bias = l->bias != NULL ? qn_tensor_i64(l->bias, channel) : 0;

	return qn_layer_reach(l, channel) / 128 * most_of_operand(f) + (bias < 0 ? -bias : bias);
}

static int32_t
result_as(const qn_requantize_args *r, int32_t i, int64_t sum, int32_t mode)
{
	const int32_t acc = (int32_t)qn_clamp_i64(sum, INT32_MIN, INT32_MAX);

	return qn_requant(acc, r->mult[i], r->shift[i], r->zo, r->lo, r->hi, mode);
}

static int32_t
result_of(const qn_requantize_args *r, int32_t channel, int64_t sum)
{
	return result_as(r, r->mult_n == 1 ? 0 : channel, sum, r->mode);
}

/* Whether the channel gives one result for all inputs. */
static bool
is_constant(const qn_layer *l, int32_t channel, int32_t *result)
{
	int64_t reach, bias = folded(l, channel, &reach);

	*result = result_of(l->r, channel, bias - reach);
	return *result == result_of(l->r, channel, bias + reach);
}

const char qn_layer_has_ties[] = "a sum may be a tie, which it rounds otherwise";

enum { MOST_TIES = 1024 }; /* that are looked at: results of 8 bits that are not clamped have 256 */

/* With M = m' * 2^-(n + 1), m' odd, the sums that are ties are the odd multiples of 2^n. */
bool
qn_layer_ties_differ(const qn_requantize_args *r, int32_t i, int64_t lo, int64_t hi)
{
	int32_t n = 30 - r->shift[i];

	if (r->mode == QN_RQ_DOUBLE || r->mode == QN_RQ_SINGLE || r->mult[i] == 0)
		return false;
	for (int32_t m = r->mult[i]; m % 2 == 0; m /= 2)
		n--;
	if (n < 0 || n > 62)
		return false;
	const int64_t apart = INT64_C(1) << n;
	int64_t tie = lo / apart - 2;

	while (tie % 2 == 0 || tie * apart < lo)
		tie++;
	for (int32_t seen = 0; tie * apart <= hi; tie += 2, seen++)
		if (seen == MOST_TIES || result_as(r, i, tie * apart, r->mode) !=
						 result_as(r, i, tie * apart, QN_RQ_SINGLE))
			return true;
	return false;
}

/* ---- multipliers with fewer bits ---- */

enum { MOST_MORE = 8 }; /* that is added to a bias */

/* The result with another multiplier m * 2^(-n - 32), rounded as kernels do. */
static int32_t
result_with(const qn_requantize_args *r, int64_t sum, int32_t m, int32_t n)
{
	return qn_requant((int32_t)sum, m, -n - 1, r->zo, r->lo, r->hi,
			  r->mode == QN_RQ_DOUBLE ? QN_RQ_DOUBLE : QN_RQ_SINGLE);
}

/* The first sum in [lo, hi] with a result of at least y, which that of hi is. */
static int64_t
first_with(const qn_requantize_args *r, int32_t i, int64_t lo, int64_t hi, int32_t y)
{
	while (lo < hi) {
		const int64_t middle = lo + (hi - lo) / 2;

		if (result_as(r, i, middle, r->mode) >= y)
			hi = middle;
		else
			lo = middle + 1;
	}
	return lo;
}

/* Whether the results of all sums in [lo, hi] are those of the sums and `more` with m * 2^(-most - 32): both are
 * monotone, so they are the same where each result begins at one sum. */
static bool
gives_same(const qn_requantize_args *r, int32_t i, int64_t lo, int64_t hi, int32_t m, int32_t most,
	   int32_t more)
{
	const int32_t last = result_as(r, i, hi, r->mode);

	if (result_with(r, lo + more, m, most) != result_as(r, i, lo, r->mode) ||
	    result_with(r, hi + more, m, most) != last)
		return false;
	for (int32_t y = result_as(r, i, lo, r->mode) + 1; y <= last; y++) {
		const int64_t at = first_with(r, i, lo, hi, y);

		if (result_with(r, at + more, m, most) != result_as(r, i, at, r->mode) ||
		    result_with(r, at - 1 + more, m, most) != result_as(r, i, at - 1, r->mode))
			return false;
	}
	return true;
}

/* Multiplier i with an n of `most`: its bits that are left, if they give the same results for all sums in [lo, hi] with
 * *more added to them; else 0. */
static int32_t
shortened(const qn_requantize_args *r, int32_t i, int32_t most, int64_t lo, int64_t hi,
	  int32_t *more)
{
	const int32_t off = -r->shift[i] - 1 - most;
	const int32_t m = (int32_t)((r->mult[i] + (INT64_C(1) << off >> 1)) >> off);

	*more = 0;
	if (lo < INT32_MIN + MOST_MORE || hi > INT32_MAX - MOST_MORE)
		return 0;
	for (int32_t k = 0; k <= 2 * MOST_MORE; k++) { /* 0, 1, -1, 2 … */
		*more = k % 2 == 0 ? -(k / 2) : k / 2 + 1;
		if (*more <= MOST_MORE && gives_same(r, i, lo, hi, m, most, *more))
			return m;
	}
	return 0;
}

static bool
is_small(const qn_requantize_args *r, int32_t i, int32_t most)
{
	return r->mult[i] != 0 && -r->shift[i] - 1 > most;
}

/* ---- what fits ---- */

bool
qn_layer_goes_away(const qn_requantize_args *r)
{
	return r->mode == QN_RQ_DOUBLE && r->lo < r->zo;
}

/* up: multipliers of 0.5 or more are shifts to the left of sums that stay below the limit. */
static const char *
differs(const qn_step_facts *f, const qn_layer *l, int64_t limit, int32_t most, bool up,
	const char *too_large)
{
	if (l->w == NULL || (f->core->nin > 2 && l->bias == NULL))
		return "its weights are not constants of 8 or 4 bits";
	for (int32_t o = 0; o < l->channels; o++) {
		const int32_t i = l->r->mult_n == 1 ? 0 : o;
		int64_t reach, bias = folded(l, o, &reach);
		int32_t result, more = 0;

		if (is_constant(l, o, &result))
			continue;
		const int32_t left =
			l->r->mult[i] != 0 && l->r->shift[i] >= 0 ? l->r->shift[i] + 1 : 0;

		if (left > 0 && !up)
			return "a multiplier is 0.5 or more";
		if (is_small(l->r, i, most) &&
		    (l->most != most ||
		     shortened(l->r, i, most, bias - reach, bias + reach, &more) == 0))
			return "a multiplier is too small";
		bias += more;
		if (left > 30 || (bias < 0 ? -bias : bias) + reach >= limit >> left)
			return too_large;
		if (!is_small(l->r, i, most) &&
		    qn_layer_ties_differ(l->r, i, bias - reach, bias + reach))
			return qn_layer_has_ties;
	}
	return NULL;
}

const char *
qn_layer_differs(const qn_step_facts *f, const qn_layer *l, int64_t limit, int32_t most,
		 const char *too_large)
{
	return differs(f, l, limit, most, false, too_large);
}

const char *
qn_layer_differs_up(const qn_step_facts *f, const qn_layer *l, int64_t limit, int32_t most,
		    const char *too_large)
{
	return differs(f, l, limit, most, true, too_large);
}

int32_t
qn_layer_weight(const qn_layer *l, int64_t channel, int64_t k)
{
	return channel < l->channels && k < l->depth && !l->constant[channel]
		       ? (int32_t)qn_tensor_i64(l->w, channel * l->depth + k)
		       : 0;
}

qn_layer
qn_layer_find_constants(qn_layer l, qn_arena *a)
{
	bool *constant = QN_NEW(a, bool, (size_t)l.channels);
	int32_t result;

	for (int32_t o = 0; o < l.channels; o++)
		constant[o] = is_constant(&l, o, &result);
	l.constant = constant;
	return l;
}

void
qn_layer_scale(const qn_layer *l, int64_t at, int32_t *bias, int32_t *m, int32_t *n)
{
	const int32_t channel = (int32_t)at, i = l->r->mult_n == 1 ? 0 : channel;
	int64_t reach;
	int32_t result;

	*bias = *m = *n = 0;
	if (at >= l->channels)
		return;
	if (is_constant(l, channel, &result)) {
		*bias = 4 * (result - l->r->zo); /* times a quarter */
		*m = 1 << 30;
		return;
	}
	*bias = (int32_t)folded(l, channel, &reach);
	*m = l->r->mult[i];
	*n = *m != 0 && l->r->shift[i] < 0 ? -l->r->shift[i] - 1 : 0;
	if (l->most > 0 && *n > l->most) {
		int32_t more;

		*m = shortened(l->r, i, l->most, *bias - reach, *bias + reach, &more);
		*n = l->most;
		*bias += more;
	}
}

void
qn_layer_lefts(const qn_layer *l, int64_t channel, int32_t *first, int32_t *then)
{
	const bool twice = l->r->mode == QN_RQ_DOUBLE;

	*first = *then = 0;
	if (channel >= l->channels || l->constant[channel])
		return;
	const int32_t i = l->r->mult_n == 1 ? 0 : (int32_t)channel;
	if (l->r->mult[i] == 0 || l->r->shift[i] < 0)
		return;
	*first = l->r->shift[i] + (twice ? 0 : 1);
	*then = twice ? 1 : 0;
}
