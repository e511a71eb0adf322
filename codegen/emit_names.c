/* SPDX-License-Identifier: Apache-2.0 */
/* emit_names.c - names of inputs and outputs, and those of the program that no constant can have. */
#include "codegen/emitter.h"

#include <string.h>

/* Symbols of the program besides constants and argument structs. */
static const char *const own_symbol[] = {
	"run",    "inputs",      "outputs",      "selftest",       "trace",
	"traced", "steps",       "weights",      "io_round_float", "io_round_double",
	"device", "device_read", "device_write", "trace_op",
};

/* Its macros, which symbols meet when the model's name is in capitals. */
static const char *const own_macro[] = {
	"H",     "CONTENT", "SCRATCH_BYTES", "SCRATCH_ALIGN", "SELFTEST_MAIN", "WEIGHTS_ATTR",
	"IO_OK", "IO_RANK", "IO_SHAPE",      "IO_H",          "DEVICE_MAIN",   "SAMPLE_H",
};
/* Of a network with states. */
static const char *const state_symbol[] = {"state",  "reset",  "step",  "largest",
					   "sample", "encode", "decode"};
static const char *const port_macro[] = {"LEN", "BYTES", "SCALE", "ZERO_POINT", NULL};
static const char *const sample_macro[] = {"ZERO", "SCALE", "MEAN", "STD", NULL};

static void
take_port_macros(qn_emitter *e, const char *way, const char *port, const char *const *macro)
{
	for (size_t i = 0; macro[i] != NULL; i++) {
		qn_buf b;

		qn_buf_init(&b, e->arena);
		qn_buff(&b, "%s_%s_%s", way, port, macro[i]);
		(void)qn_names_add(&e->names, qn_buf_str(&b));
	}
}

static void
take_io_name(qn_emitter *e, const char *what, const char *port)
{
	qn_buf b;

	qn_buf_init(&b, e->arena);
	qn_buff(&b, "io_%s_%s", what, port);
	(void)qn_names_add(&e->names, qn_buf_str(&b));
}

/* Names that no constant and no argument struct can have. */
static void
take_own_names(qn_emitter *e)
{
	for (size_t i = 0; i < QN_COUNT(own_symbol); i++)
		(void)qn_names_add(&e->names, own_symbol[i]);
	for (size_t i = 0; e->g->nstate > 0 && i < QN_COUNT(state_symbol); i++)
		(void)qn_names_add(&e->names, state_symbol[i]);
	for (size_t i = 0; i < e->plan->nstep; i++) {
		qn_buf b;

		qn_buf_init(&b, e->arena);
		qn_buff(&b, "scratch_fits_%s", e->plan->step[i].name);
		(void)qn_names_add(&e->names, qn_buf_str(&b));
	}
	for (size_t k = 0; k < qn_graph_fed(e->g); k++)
		take_io_name(e, "quantize", e->input[k]);
	for (size_t k = 0; k < qn_graph_given(e->g); k++)
		take_io_name(e, "dequantize", e->output[k]);
	if (strcmp(e->macro, e->plan->name) != 0)
		return;
	for (size_t i = 0; i < QN_COUNT(own_macro); i++)
		(void)qn_names_add(&e->names, own_macro[i]);
	for (size_t k = 0; k < e->g->nstate; k++)
		take_port_macros(e, "STATE", qn_state_port_of(e, k).name, port_macro);
	for (size_t k = 0; k < qn_graph_fed(e->g); k++) {
		take_port_macros(e, "IN", e->input[k], port_macro);
		take_port_macros(e, "SAMPLE", e->input[k], sample_macro);
	}
	for (size_t k = 0; k < qn_graph_given(e->g); k++)
		take_port_macros(e, "OUT", e->output[k], port_macro);
}

static void
name_ports(qn_emitter *e)
{
	const qn_graph *g = e->g;
	qn_names in, out;
	size_t k;

	qn_names_init_as(&in, e->arena, QN_NAME_MEMBER, NULL);
	qn_names_init_as(&out, e->arena, QN_NAME_MEMBER, NULL);
	e->input = QN_NEW(e->arena, const char *, g->ninput + 1);
	e->output = QN_NEW(e->arena, const char *, g->noutput + 1);
	for (k = 0; k < g->ninput; k++)
		e->input[k] = qn_names_add(&in, qn_graph_node(g, g->input[k])->name);
	for (k = 0; k < g->noutput; k++)
		e->output[k] = qn_names_add(&out, g->output[k].name);
}

void
qn_emit_names(qn_emitter *e)
{
	name_ports(e);
	take_own_names(e);
}
