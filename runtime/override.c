/* SPDX-License-Identifier: Apache-2.0 */
/* override.c - the registry of custom kernels, and the dispatch among them. */
#include "runtime/override.h"

#include <string.h>

#include "ir/block_scales.h"
#include "ir/custom.h"
#include "ir/diag.h"
#include "runtime/impl_util.h"

/* ---- forms of operands ---- */

/* "*" or the name of a storage type. */
static bool
read_elem(qn_text *t, qn_operand_form *out)
{
	const char *word;
	size_t n;

	if (qn_text_eat(t, "*")) {
		out->elem = QN_NPLAIN;
		return true;
	}
	n = qn_text_word(t, &word);
	for (int k = 0; n > 0 && k < QN_NPLAIN; k++) {
		const char *name = qn_plain_table[k].name;

		if (strlen(name) == n && strncmp(word, name, n) == 0) {
			out->elem = (qn_plain)k;
			return !qn_plain_table[k].is_float;
		}
	}
	return false;
}

/* "i8", "i8 block 32", "* block *"; NULL or "*" alone: anything. */
static bool
read_form(const char *text, qn_operand_form *out)
{
	qn_text t;
	int64_t block = 0;

	*out = (qn_operand_form){.elem = QN_NPLAIN, .anything = true};
	if (text == NULL || strcmp(text, "*") == 0)
		return true;
	out->anything = false;
	qn_text_init(&t, "", text, strlen(text));
	if (!read_elem(&t, out))
		return false;
	qn_text_skip(&t);
	if (t.at == t.end)
		return out->elem != QN_NPLAIN;
	if (!qn_text_eat(&t, "block"))
		return false;
	out->any_block = qn_text_eat(&t, "*");
	if (!out->any_block && (!qn_text_int(&t, &block) || block < 1))
		return false;
	out->block = block;
	qn_text_skip(&t);
	return t.at == t.end;
}

static bool
in_blocks(const qn_type *type)
{
	return type->elem->kind == QN_ELEM_UNIFORM && type->elem->gran == QN_SUB_CHANNEL;
}

/* Blocks of so many elements along the last axis, and of one along all others. */
static bool
has_rows_of(const qn_type *type, int64_t block)
{
	if (type->rank < 1 || qn_block_along(type, type->rank - 1) != block)
		return false;
	for (int32_t i = 0; i + 1 < type->rank; i++)
		if (qn_block_along(type, i) != 1)
			return false;
	return true;
}

static bool
takes(const qn_operand_form *f, const qn_type *type)
{
	if (f->anything)
		return true;
	if (f->elem != QN_NPLAIN && f->elem != type->elem->plain)
		return false;
	if (!in_blocks(type))
		return f->block == 0 && !f->any_block;
	return f->any_block || (f->block > 0 && has_rows_of(type, f->block));
}

static bool
matches(const qn_override *o, const qn_graph *g, const qn_node *n)
{
	if (o->op != n->op || o->desc.nin != n->nin || !takes(&o->out, n->type))
		return false;
	for (uint32_t i = 0; i < n->nin; i++)
		if (!takes(&o->in[i], qn_in_type(g, n, i)))
			return false;
	return true;
}

/* ---- the registry ---- */

static bool
is_taken(const qn_env *env, const qn_kernel_desc *d)
{
	for (const qn_override *o = env->overrides; o != NULL; o = o->next)
		if (strcmp(o->desc.name, d->name) == 0)
			return true;
	return false;
}

/* What is wrong with a descriptor, NULL when nothing is. */
static const char *
problem(const qn_env *env, qn_op op, const qn_kernel_desc *d)
{
	const qn_opinfo *info = qn_opinfo_get(op);

	if (d->name == NULL || strchr(d->name, '.') == NULL)
		return "the name must have a dot inside, as \"acme.dense\"";
	if (d->nin < 1 || d->nin > QN_OVERRIDE_OPERANDS || d->in == NULL)
		return "it must say what its operands are: `in`, 1 to 32 of them";
	if (d->nin < info->min_in || d->nin > info->max_in)
		return "the op has another number of operands than `in`";
	if (d->run == NULL)
		return "it needs a function (run)";
	if ((d->c_name == NULL) != (d->c_text == NULL))
		return "C text needs c_name and c_text";
	if (is_taken(env, d))
		return "a kernel of this name exists";
	return d->c_text != NULL ? qn_host_function_problem(env, d->c_name, d->c_text) : NULL;
}

static const char *
copy(qn_arena *a, const char *s)
{
	return s != NULL ? qn_arena_str(a, s) : NULL;
}

static qn_override *
make(qn_arena *a, qn_op op, const qn_kernel_desc *d)
{
	qn_override *o = QN_NEW(a, qn_override, 1);

	o->op = op;
	o->desc = *d;
	o->desc.name = copy(a, d->name);
	o->desc.op = qn_opinfo_get(op)->name;
	o->desc.c_name = copy(a, d->c_name);
	o->desc.c_text = copy(a, d->c_text);
	o->desc.in = NULL; /* the forms hold them */
	o->desc.out = NULL;
	return o;
}

qn_status
qn_override_register(qn_env *env, qn_arena *a, qn_op op, const qn_kernel_desc *desc)
{
	const char *why = problem(env, op, desc), *bad = NULL;
	qn_operand_form form[QN_OVERRIDE_OPERANDS], out;

	if (why != NULL)
		return qn_report(env, QN_EUSAGE, "kernel.register",
				 desc->name != NULL ? desc->name : "", "%s", why);
	for (size_t i = 0; i < desc->nin; i++)
		if (!read_form(desc->in[i], &form[i]))
			bad = desc->in[i];
	if (!read_form(desc->out, &out))
		bad = desc->out;
	if (bad != NULL)
		return qn_report(env, QN_EUSAGE, "kernel.register", desc->name,
				 "invalid form '%s' of an operand or of the result (expected a "
				 "storage type, as i8, alone or with 'block N' or 'block *'; or *)",
				 bad);
	qn_override *o = make(a, op, desc), **at = &env->overrides;
	memcpy(o->in, form, desc->nin * sizeof form[0]);
	o->out = out;
	while (*at != NULL && (*at)->desc.salience > desc->salience)
		at = &(*at)->next;
	o->next = *at;
	*at = o;
	o->function = (qn_host_function){o->desc.c_name, o->desc.c_text, NULL};
	qn_host_function_add(env, &o->function);
	return QN_OK;
}

bool
qn_override_remove(qn_env *env, const char *name)
{
	for (qn_override **at = &env->overrides; *at != NULL; at = &(*at)->next) {
		if (strcmp((*at)->desc.name, name) != 0)
			continue;
		qn_host_function_remove(env, &(*at)->function);
		*at = (*at)->next;
		return true;
	}
	return false;
}

/* ---- the dispatch ---- */

static const qn_kernel_call *
call_of(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_types *t = &g->model->types;
	const qn_kernel_operand **in = QN_NEW(a, const qn_kernel_operand *, n->nin);
	qn_kernel_call *c = QN_NEW(a, qn_kernel_call, 1);
	qn_buf attrs;

	qn_buf_init(&attrs, a);
	(void)qn_attrs_print(&attrs, n, "");
	*c = (qn_kernel_call){.size = sizeof *c,
			      .op = qn_opinfo_of(n)->name,
			      .node = n->name,
			      .attrs = qn_buf_str(&attrs),
			      .rounding = g->model->rounding,
			      .nin = n->nin,
			      .in = in,
			      .out = qn_override_view(t, n->type, NULL, a)};
	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_node *x = qn_graph_node(g, n->in[i]);

		in[i] = qn_override_view(t, x->type, x->op == QN_OP_const ? x->value : NULL, a);
	}
	return c;
}

/* Whether o takes the call; its parameters, or why not. */
static bool
accepts(const qn_override *o, const qn_kernel_call *c, qn_arena *a, qn_override_choice *out,
	const char **why)
{
	const qn_kernel_desc *d = &o->desc;
	int room = 16;

	*why = NULL;
	if (d->can_run != NULL && d->can_run(d->user, c, why) == 0)
		return false;
	out->nparam = 0;
	out->param = QN_NEW(a, int32_t, (size_t)room);
	if (d->prepare == NULL)
		return true;
	out->nparam = d->prepare(d->user, c, out->param, room, why);
	if (out->nparam > room) {
		room = out->nparam;
		out->param = QN_NEW(a, int32_t, (size_t)room);
		out->nparam = d->prepare(d->user, c, out->param, room, why);
	}
	if (out->nparam > room)
		*why = "its prepare callback wants more parameters than it wanted before";
	return out->nparam >= 0 && out->nparam <= room;
}

static size_t
count_matches(const qn_graph *g, const qn_node *n)
{
	size_t found = 0;

	if (n->type->is_tuple || !qn_node_on_quantized(g, n) || qn_plain_impl(g, n) != NULL)
		return 0;
	for (const qn_override *o = g->model->env->overrides; o != NULL; o = o->next)
		found += matches(o, g, n);
	return found;
}

qn_override_choice *
qn_override_choose(const qn_graph *g, const qn_node *n, bool emitted, qn_arena *a)
{
	const qn_env *env = g->model->env;
	const size_t found = env->overrides != NULL ? count_matches(g, n) : 0;

	if (found == 0)
		return NULL;
	qn_override_choice *c = QN_NEW(a, qn_override_choice, 1);
	const qn_kernel_call *call = call_of(g, n, a);
	c->declined = QN_NEW(a, qn_override_declined, found);
	for (const qn_override *o = env->overrides; o != NULL && c->by == NULL; o = o->next) {
		const char *why = "it has no C text: the interpreter alone calls it";

		if (!matches(o, g, n))
			continue;
		if (emitted && env->interpreter_only && o->desc.c_text == NULL)
			c->declined[c->ndeclined++] = (qn_override_declined){o, why};
		else if (accepts(o, call, a, c, &why))
			c->by = o;
		else
			c->declined[c->ndeclined++] =
				(qn_override_declined){o, why != NULL ? why : "it gives no reason"};
	}
	return c;
}

bool
qn_is_overridden(const qn_graph *g, const qn_node *n, bool emitted, qn_arena *a)
{
	const qn_override_choice *c = qn_override_choose(g, n, emitted, a);

	return c != NULL && c->by != NULL;
}
