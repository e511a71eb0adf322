/* SPDX-License-Identifier: Apache-2.0 */
/* emit_custom.c - custom operators: the text of their function once, its parameters among
 * the constants, and a call per step.
 *
 *   {
 *           const void *const x[1] = {in->image};
 *           acme_softsign_s8(net_act_param, x, s + 64);
 *   } */
#include "codegen/emitter.h"
#include "ir/custom.h"
#include "runtime/impl_args.h"

static void
put_function(qn_emitter *e, const qn_op_desc *d)
{
	if (qn_map_gets(&e->host_ops, d->integer_name) != NULL)
		return;
	qn_map_puts(&e->host_ops, d->integer_name, e);
	qn_buff(&e->host, "/* %s */\n%s\n\n", d->name, d->integer_text);
}

void
qn_emit_custom(qn_emitter *e, const qn_step *s, const void *prepared)
{
	const qn_custom_args *args = prepared;
	const qn_op_desc *d = qn_custom_desc(qn_graph_node(e->g, s->core));
	uint32_t i;

	if (args->lut != NULL) {
		const qn_step_facts f = qn_step_facts_of(e->g, s);
		const char *why;

		qn_emit_kernel(e, s, qn_kernel_choose(qn_table_kernels, QN_TABLE_KERNELS, &f, &why),
			       args->lut);
		return;
	}
	put_function(e, d);
	const char *param = qn_emit_table(e, s, "param", QN_PLAIN_i32, args->nparam,
					  args->nparam > 0 ? args->param : NULL);
	param = qn_emit_load_table(e, param, args->nparam);
	qn_buff(&e->run, "\t{\n\t\tconst void *const x[%u] = {", s->nin);
	for (i = 0; i < s->nin; i++)
		qn_buff(&e->run, "%s%s", i > 0 ? ", " : "", qn_emit_ref(e, s->in[i], QN_NPLAIN));
	qn_buff(&e->run, "};\n\n\t\t%s(%s, x, %s);\n\t}\n", d->integer_name,
		param != NULL ? param : "NULL", qn_emit_ref(e, s->node, QN_NPLAIN));
}
