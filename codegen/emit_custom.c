/* SPDX-License-Identifier: Apache-2.0 */
/* emit_custom.c - custom operators, and custom kernels of built-in ones: the text of their function once,
 * its parameters among the constants, and a call per step.
 *
 *   {
 *           const void *const x[1] = {in->image};
 *           acme_softsign_s8(net_act_param, x, s + 64);
 *   } */
#include "codegen/emitter.h"

#include <string.h>

#include "ir/diag.h"
#include "ir/custom.h"
#include "runtime/impl_args.h"
#include "runtime/override.h"

/* A custom function, and its parameters. */
typedef struct host_function {
	const char *label, *name, *text;
	const int32_t *param;
	int32_t nparam;
} host_function;

/* Where networks share a C file, the first one has the text; another text of this name does not
 * compile. */
static void
put_guard(qn_emitter *e, const host_function *f)
{
	const unsigned crc = qn_crc32(0, f->text, strlen(f->text));

	qn_buff(&e->host, "#ifndef %s_%08x_is_here\n#define %s_%08x_is_here\n", f->name, crc,
		f->name, crc);
}

static void
put_function(qn_emitter *e, const host_function *f)
{
	if (qn_map_gets(&e->host_ops, f->name) != NULL)
		return;
	qn_map_puts(&e->host_ops, f->name, e);
	if (e->shares)
		put_guard(e, f);
	qn_buff(&e->host, "/* %s */\n%s\n\n", f->label, f->text);
	if (e->shares)
		qn_buf_puts(&e->host, "#endif\n\n");
}

static void
put_call(qn_emitter *e, const qn_step *s, const host_function *f)
{
	put_function(e, f);
	const char *param = qn_emit_table(e, s, "param", QN_PLAIN_i32, f->nparam,
					  f->nparam > 0 ? f->param : NULL);
	param = qn_emit_load_table(e, param, f->nparam);
	qn_buff(&e->run, "\t{\n\t\tconst void *const x[%u] = {", s->nin);
	for (uint32_t i = 0; i < s->nin; i++)
		qn_buff(&e->run, "%s%s", i > 0 ? ", " : "", qn_emit_ref(e, s->in[i], QN_NPLAIN));
	qn_buff(&e->run, "};\n\n\t\t%s(%s, x, %s);\n\t}\n", f->name, param != NULL ? param : "NULL",
		qn_emit_ref(e, s->node, QN_NPLAIN));
}

void
qn_emit_custom(qn_emitter *e, const qn_step *s, const void *prepared)
{
	const qn_custom_args *args = prepared;
	const qn_op_desc *d = qn_custom_desc(qn_graph_node(e->g, s->core));

	if (args->lut != NULL) {
		qn_step table = *s;
		const char *why;

		table.args = args->lut;
		const qn_step_facts f = qn_step_facts_of(e->g, &table);
		qn_emit_kernel(e, s, qn_kernel_choose(qn_table_kernels, QN_TABLE_KERNELS, &f, &why),
			       args->lut);
		return;
	}
	put_call(e, s,
		 &(host_function){d->name, d->integer_name, d->integer_text, args->param,
				  args->nparam});
}

static void
emit_host(qn_emitter *e, const qn_step *s, const void *prepared)
{
	const qn_override_choice *c = prepared;
	const qn_kernel_desc *d = &c->by->desc;

	put_call(e, s, &(host_function){d->name, d->c_name, d->c_text, c->param, c->nparam});
}

const qn_kernel qn_host_kernel = {.emit = emit_host};

/* The custom function that a step calls, NULL where there is none. */
static const char *
function_of(const qn_plan *p, const qn_step *s)
{
	const qn_node *core = qn_graph_node(p->g, s->core);

	if (s->host != NULL && s->host->by != NULL)
		return s->host->by->desc.c_name;
	return core->op == QN_OP_custom ? qn_custom_desc(core)->integer_name : NULL;
}

qn_status
qn_emit_check_custom(const qn_plan *p)
{
	const size_t n = strlen(p->name);

	for (size_t i = 0; i < p->nstep; i++) {
		const char *f = function_of(p, &p->step[i]);

		if (f != NULL && strncmp(f, p->name, n) == 0 && (f[n] == '_' || f[n] == '\0'))
			return qn_report(p->g->model->env, QN_EINVALID, "emit.function",
					 p->step[i].name,
					 "the custom function '%s' may meet a name of the program, "
					 "which all begin with '%s_'; choose another name of the "
					 "model (name of qn_emit_opts, the program with --name)",
					 f, p->name);
	}
	return QN_OK;
}
