/* SPDX-License-Identifier: Apache-2.0 */
/* tie_states.c - inputs and outputs that the caller ties become states.
 *
 *   graph @main(%h: T, %x: …)            graph @main(%x: …, %h: T state)
 *     …                          ->        …
 *     return %n as "hn", %y                return %y, %n as "hn" to %h            tied: hn=h
 *
 * requires: any graph; tied outputs and inputs of equal types.   leaves: the same graph with states, whose first values are 0 or
 * those that were given for the input. */
#include <string.h>

#include "ir/diag.h"
#include "ir/nearest.h"
#include "passes/passes.h"

typedef struct tie {
	const char *output, *input;
	size_t out, in; /* their indices */
} tie;

typedef struct tier {
	qn_model *m;
	const qn_graph *g;
	const char *place;
	size_t n;
	tie *tie;
	bool *in_tied, *out_tied; /* by index */
} tier;

/* "'a' (tensor<…>), 'b' (…)": the inputs or outputs that are not states yet. */
static const char *
candidates(const tier *t, bool inputs)
{
	const qn_graph *g = t->g;
	const size_t n = inputs ? qn_graph_fed(g) : qn_graph_given(g);
	qn_buf b;

	qn_buf_init(&b, t->m->scratch);
	b.decimal = true;
	for (size_t i = 0; i < n; i++) {
		const qn_id id = inputs ? g->input[i] : g->output[i].value;

		qn_buff(&b, "%s'%s' (", i > 0 ? ", " : "",
			inputs ? qn_graph_node(g, id)->name : g->output[i].name);
		qn_type_print(&b, qn_graph_node(g, id)->type);
		qn_buf_putc(&b, ')');
	}
	return n > 0 ? qn_buf_str(&b) : "none";
}

static bool
find(const tier *t, bool inputs, const char *name, size_t *out)
{
	const qn_graph *g = t->g;
	const size_t n = inputs ? qn_graph_fed(g) : qn_graph_given(g);

	for (*out = 0; *out < n; ++*out)
		if (strcmp(inputs ? qn_graph_node(g, g->input[*out])->name : g->output[*out].name,
			   name) == 0)
			return true;
	(void)qn_report(t->m->env, QN_EUSAGE, "import.tie", t->place,
			"unknown %s '%s' (expected %s)", inputs ? "input" : "output", name,
			candidates(t, inputs));
	return false;
}

/* Whether the output is the input with more of something: what a run is to remember grows with each. */
static bool
grows(const qn_type *from, const qn_type *to)
{
	bool longer = false;

	if (from->is_tuple || to->is_tuple || from->elem != to->elem || from->rank != to->rank)
		return false;
	for (int32_t i = 0; i < to->rank; i++) {
		if (from->dim[i] < to->dim[i])
			return false;
		longer = longer || from->dim[i] > to->dim[i];
	}
	return longer;
}

static bool
check_tie(tier *t, tie *p)
{
	qn_env *env = t->m->env;

	if (!find(t, false, p->output, &p->out) || !find(t, true, p->input, &p->in))
		return false;
	const qn_type *from = qn_graph_node(t->g, t->g->output[p->out].value)->type;
	const qn_type *to = qn_graph_node(t->g, t->g->input[p->in])->type;
	if (from != to) {
		(void)qn_report(env, QN_EUSAGE, "import.tie", t->place,
				"output '%s' and input '%s' must have equal types; outputs are %s, "
				"inputs are %s%s",
				p->output, p->input, candidates(t, false), candidates(t, true),
				grows(from, to)
					? "; a state has the same size in each run, so export the "
					  "model with a cache of a fixed length"
					: "");
		return false;
	}
	if (t->out_tied[p->out] || t->in_tied[p->in]) {
		(void)qn_report(env, QN_EUSAGE, "import.tie", t->place,
				"'%s=%s': %s '%s' is tied twice; tie each once", p->output,
				p->input, t->out_tied[p->out] ? "output" : "input",
				t->out_tied[p->out] ? p->output : p->input);
		return false;
	}
	t->out_tied[p->out] = t->in_tied[p->in] = true;
	return true;
}

/* "OUTPUT=INPUT" */
static bool
read_tie(tier *t, const char *text, tie *p)
{
	const char *equals = strchr(text, '=');

	if (equals == NULL || equals == text || equals[1] == '\0') {
		(void)qn_report(t->m->env, QN_EUSAGE, "import.tie", t->place,
				"'%s' is not OUTPUT=INPUT", text);
		return false;
	}
	p->output = qn_arena_strn(t->m->scratch, text, (size_t)(equals - text));
	p->input = equals + 1;
	return check_tie(t, p);
}

/* The first values of a state; *ok: false after a report. */
static const qn_tensor *
first_values(tier *t, const tie *p, size_t npin, qn_pin *pin, bool *ok)
{
	const qn_type *type = qn_graph_node(t->g, t->g->input[p->in])->type;
	qn_types *types = &t->m->types;
	qn_pin *of = NULL;

	for (size_t i = 0; i < npin; i++)
		if (pin[i].name != NULL && strcmp(pin[i].name, p->input) == 0)
			of = &pin[i];
	if (of == NULL)
		return NULL;
	of->used = true;
	const qn_tensor *x =
		qn_pin_tensor(types, t->m->arena, t->place, of, qn_state_init_type(types, type));
	*ok = *ok && x != NULL;
	return x;
}

static bool
copy(tier *t, qn_graph *to, qn_id *map, qn_id id)
{
	qn_node n = *qn_graph_node(t->g, id);
	qn_id *in = QN_NEW(t->m->scratch, qn_id, n.nin + 1);

	for (uint32_t i = 0; i < n.nin; i++)
		in[i] = map[n.in[i]];
	n.in = in;
	return map[id] != 0 || (map[id] = qn_graph_add(to, &n)) != 0;
}

/* An output beside the states' next values, which a network needs: where all are tied, the first one, under
 * its own name. */
static void
copy_outputs(const tier *t, qn_graph *to, const qn_id *map)
{
	const qn_graph *g = t->g;
	const bool none = qn_graph_given(g) == t->n;

	for (size_t i = 0; i < qn_graph_given(g); i++)
		if (!t->out_tied[i] || (none && i == t->tie[0].out))
			qn_graph_output(to, g->output[i].name, map[g->output[i].value]);
	for (size_t k = qn_graph_given(g); k < g->noutput; k++)
		qn_graph_output(to, g->output[k].name, map[g->output[k].value]);
	for (size_t i = 0; i < t->n; i++) {
		const qn_output *o = &g->output[t->tie[i].out];
		qn_buf name;

		qn_buf_init(&name, t->m->scratch);
		qn_buff(&name, none && i == 0 ? "%s.next" : "%s", o->name);
		qn_graph_output(to, qn_buf_str(&name), map[o->value]);
	}
}

static bool
rebuild(tier *t, size_t npin, qn_pin *pin)
{
	const qn_graph *g = t->g;
	qn_graph *to = qn_graph_new(t->m, g->name);
	qn_id *map = QN_NEW(t->m->scratch, qn_id, g->n);
	bool ok = true;

	for (size_t i = 0; i < g->ninput; i++)
		if (i >= qn_graph_fed(g) || !t->in_tied[i])
			ok = ok && copy(t, to, map, g->input[i]);
	qn_graph_copy_states(to, g);
	for (size_t i = 0; ok && i < t->n; i++) {
		ok = copy(t, to, map, g->input[t->tie[i].in]);
		qn_graph_add_state(to, first_values(t, &t->tie[i], npin, pin, &ok));
	}
	for (qn_id id = 1; ok && id < g->n; id++)
		ok = copy(t, to, map, id);
	if (!ok)
		return false;
	copy_outputs(t, to, map);
	qn_graph_copy_facts(to, g);
	t->m->graph[t->m->ngraph - 1] = to;
	return true;
}

qn_status
qn_tie_states(qn_model *m, const char *place, size_t n, const char *const *text, size_t npin,
	      qn_pin *pin)
{
	const qn_graph *g = qn_model_entry(m);
	tier t = {.m = m,
		  .g = g,
		  .place = place,
		  .n = n,
		  .tie = QN_NEW(m->scratch, tie, n + 1),
		  .in_tied = QN_NEW(m->scratch, bool, g->ninput + 1),
		  .out_tied = QN_NEW(m->scratch, bool, g->noutput + 1)};
	bool ok = true;

	if (n == 0)
		return QN_OK;
	for (size_t i = 0; i < n; i++)
		ok = read_tie(&t, text[i], &t.tie[i]) && ok;
	return ok && rebuild(&t, npin, pin) ? QN_OK : QN_EUSAGE;
}
