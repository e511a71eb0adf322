/* SPDX-License-Identifier: Apache-2.0 */
/* simplify_search.c - the domains with the fewest casts: ops are taken in their order, and for every choice of the values
 * that are still to be read, the cheapest way there is kept (simplify.c). */
#include <string.h>

#include "passes/simplify_impl.h"
#include "passes/solver.h"

enum { CAST_COST = 1 << 12 };
/* At most that many choices are open, and that many values of them. */
enum { MOST_STATES = 1024, LEAST_STATES = 16, MOST_LIVE = 1 << 16 };

/* A value that is still to be read: where it is computed, and where it is wanted (bit d: domain d). */
typedef struct live {
	uint32_t domain, wanted;
} live;

typedef struct state {
	uint32_t parent; /* among those of the step before */
	uint32_t label;  /* of the step's node */
	int64_t cost;
	live *at; /* of the values that are live after the step */
} state;

/* The states after a step. */
typedef struct front {
	qn_arena *arena; /* of them alone */
	size_t n;
	state *state;
} front;

/* What leads back from them. */
typedef struct step {
	qn_id node;
	uint32_t *parent;
	uint8_t *label;
} step;

typedef struct search {
	simplify *s;
	qn_id *alive; /* values that are live after the last step, in no order */
	size_t nalive;
	front now;
	step *steps;
	size_t nstep;
} search;

/* Casts of a value that nothing more reads. */
static int64_t
casts(const search *c, qn_id id, const live *v)
{
	const uint32_t others = v->wanted & ~bit(v->domain);
	int64_t n = v->domain != FLOAT && others != 0;

	for (uint32_t d = 1; d <= c->s->ntype; d++)
		n += (others >> d & 1U) != 0 && !qn_simplify_is_const(c->s, id);
	return n;
}

/* Where id is among the live values; nalive: nowhere. */
static size_t
alive_at(const search *c, qn_id id)
{
	size_t i = 0;

	while (i < c->nalive && c->alive[i] != id)
		i++;
	return i;
}

/* The values that a step adds, and where they begin: operands that no op has computed, and its own. */
static void
bring_alive(search *c, qn_id id)
{
	const qn_node *n = qn_graph_node(c->s->g, id);

	for (uint32_t i = 0; i < n->nin; i++)
		if (qn_couples(c->s->g, n, i, false) && alive_at(c, n->in[i]) == c->nalive)
			c->alive[c->nalive++] = n->in[i];
	c->alive[c->nalive++] = id;
}

/* Adds a state unless one of the same values is as cheap. */
static void
keep(front *to, qn_map *seen, const state *new, size_t nlive)
{
	const size_t bytes = nlive * sizeof *new->at + 1;
	state *known = qn_map_get(seen, new->at, bytes);

	if (known == NULL) {
		known = &to->state[to->n++];
		*known = *new;
		known->at = qn_arena_copy(to->arena, new->at, bytes);
		qn_map_put(seen, known->at, bytes, known);
	} else if (new->cost < known->cost) {
		known->cost = new->cost;
		known->parent = new->parent;
		known->label = new->label;
	}
}

/* The states after the node is computed in domain `label`, from one state before. */
static void
extend(search *c, qn_id node, uint32_t parent, front *to, uint32_t label, size_t before,
       qn_map *seen, live *room)
{
	const qn_node *n = qn_graph_node(c->s->g, node);
	const state *from = &c->now.state[parent];
	state new = {.parent = parent, .label = label, .cost = from->cost, .at = room};
	size_t kept = 0;

	memset(room, 0, (c->nalive + 1) * sizeof *room);
	memcpy(room, from->at, before * sizeof *room);
	for (size_t k = before; k < c->nalive; k++)
		room[k] = (live){c->s->domain[c->alive[k]], c->s->wanted[c->alive[k]]};
	room[c->nalive - 1].domain = label;
	for (uint32_t i = 0; i < n->nin; i++)
		if (qn_couples(c->s->g, n, i, false))
			room[alive_at(c, n->in[i])].wanted |= bit(label);
	new.cost -= label != FLOAT;
	for (size_t k = 0; k < c->nalive; k++) {
		const qn_id last = c->s->last[c->alive[k]];

		if (last > node)
			room[kept++] = room[k];
		else
			new.cost += CAST_COST *casts(c, c->alive[k], &room[k]);
	}
	memset(room + kept, 0, (c->nalive + 1 - kept) * sizeof *room);
	keep(to, seen, &new, kept);
}

static void
drop_dead(search *c, qn_id id)
{
	size_t kept = 0;

	for (size_t k = 0; k < c->nalive; k++)
		if (c->s->last[c->alive[k]] > id)
			c->alive[kept++] = c->alive[k];
	c->nalive = kept;
}

/* Leaves the cheapest states, in their order. */
static void
limit(front *to, size_t most)
{
	int64_t lo = INT64_MAX, hi = INT64_MIN;
	size_t kept = 0;

	if (to->n <= most)
		return;
	for (size_t i = 0; i < to->n; i++) {
		lo = to->state[i].cost < lo ? to->state[i].cost : lo;
		hi = to->state[i].cost > hi ? to->state[i].cost : hi;
	}
	while (lo < hi) {
		const int64_t half = lo + (hi - lo) / 2;
		size_t below = 0;

		for (size_t i = 0; i < to->n; i++)
			below += to->state[i].cost <= half;
		if (below > most)
			hi = half;
		else
			lo = half + 1;
	}
	for (size_t i = 0; i < to->n && kept < most; i++)
		if (to->state[i].cost <= lo)
			to->state[kept++] = to->state[i];
	to->n = kept;
}

static size_t
most_states(size_t nlive)
{
	const size_t most = MOST_LIVE / (nlive + 1);

	return most > MOST_STATES ? MOST_STATES : most < LEAST_STATES ? LEAST_STATES : most;
}

static void
take_step(search *c, qn_id id)
{
	const uint32_t labels[3] = {FLOAT, c->s->all_of[id], c->s->all_to[id]};
	const size_t before = c->nalive;
	step *back = &c->steps[c->nstep++];
	front to = {.arena = qn_arena_child(c->s->m->scratch)};
	qn_map seen;

	bring_alive(c, id);
	qn_map_init(&seen, to.arena);
	to.state = QN_NEW(to.arena, state, 3 * c->now.n);
	live *room = QN_NEW(to.arena, live, c->nalive + 1);
	for (uint32_t k = 0; k < c->now.n; k++)
		for (int l = 0; l < 3; l++)
			if (l == 0 || (labels[l] != FLOAT && (l == 1 || labels[2] != labels[1])))
				extend(c, id, k, &to, labels[l], before, &seen, room);
	limit(&to, most_states(c->nalive));
	drop_dead(c, id);
	*back = (step){.node = id,
		       .parent = QN_NEW(c->s->m->scratch, uint32_t, to.n),
		       .label = QN_NEW(c->s->m->scratch, uint8_t, to.n)};
	for (size_t k = 0; k < to.n; k++) {
		back->parent[k] = to.state[k].parent;
		back->label[k] = (uint8_t)to.state[k].label;
	}
	qn_arena_release(c->now.arena);
	c->now = to;
}

void
qn_simplify_search(simplify *s)
{
	search at_work = {.s = s}, *c = &at_work;
	size_t n = 0;

	for (qn_id id = 1; id < c->s->g->n; id++)
		n += c->s->moves[id];
	c->steps = QN_NEW(c->s->m->scratch, step, n + 1);
	c->alive = QN_NEW(c->s->m->scratch, qn_id, c->s->g->n);
	c->now = (front){.arena = qn_arena_child(c->s->m->scratch), .n = 1};
	c->now.state = QN_NEW(c->now.arena, state, 1);
	c->now.state[0].at = QN_NEW(c->now.arena, live, 1);
	for (qn_id id = 1; id < c->s->g->n; id++)
		if (c->s->moves[id])
			take_step(c, id);
	uint32_t best = 0;
	for (uint32_t k = 1; k < c->now.n; k++)
		if (c->now.state[k].cost < c->now.state[best].cost)
			best = k;
	qn_arena_release(c->now.arena);
	for (size_t i = c->nstep; i > 0; i--) {
		c->s->domain[c->steps[i - 1].node] = c->steps[i - 1].label[best];
		best = c->steps[i - 1].parent[best];
	}
}
