/* SPDX-License-Identifier: Apache-2.0 */
/* front_end_text.c - reads what --front-end says: input, op, "stream" or "samples=N", attributes of the op. */
#include <string.h>

#include "ir/diag.h"
#include "passes/front_end.h"

qn_status
qn_front_wrong(const qn_front *f, const char *what, const char *value)
{
	return qn_report(f->m->env, QN_EUSAGE, "import.front-end", f->place, "'%s': %s%s", f->text,
			 what, value);
}

static qn_status
find_input(qn_front *f, const char *name)
{
	const size_t n = qn_graph_fed(f->g);

	if (name == NULL && n == 1)
		return QN_OK;
	for (f->input = 0; name != NULL && f->input < n; f->input++)
		if (strcmp(qn_front_input(f)->name, name) == 0)
			return QN_OK;
	return name == NULL
		       ? qn_front_wrong(f, "the model has several inputs; write INPUT=", f->text)
		       : qn_front_wrong(f, "the model has no input ", name);
}

/* Reads the attributes as those of a node of a graph. */
static qn_status
read_attributes(qn_front *f, const char *attributes)
{
	qn_model one;
	qn_buf b;

	qn_buf_init(&b, f->m->scratch);
	qn_buff(&b,
		"model \"front\" stage float\ngraph @main(%%x: tensor<*xf32>) {\n%%y = %s %%x "
		"{%s}\n",
		qn_opinfo_get(f->op)->name, attributes);
	qn_buf_puts(&b, "return %y\n}\n");
	if (strpbrk(attributes, "{}\n#") != NULL)
		return qn_front_wrong(f, "expected ATTRIBUTE=VALUE,… after ",
				      qn_opinfo_get(f->op)->name);
	qn_model_init(&one, f->m->env, f->m->scratch, "front");
	one.scratch = f->m->scratch;
	if (qn_model_parse(&one, "--front-end", b.data, b.n) != QN_OK)
		return QN_EUSAGE;
	const qn_graph *g = qn_model_entry(&one);
	qn_attrs_of(qn_graph_node(g, g->output[0].value), &f->attr);
	return QN_OK;
}

/* Takes item [s, s + n) if it is "stream" or "samples=N", which are not attributes of the op. */
static qn_status
read_item(qn_front *f, const char *s, size_t n, bool *taken)
{
	static const char name[] = "samples=", stream[] = "stream";
	const char *item = qn_arena_strn(f->m->scratch, s, n), *digit = item + sizeof name - 1;

	*taken = true;
	if (strcmp(item, stream) == 0) {
		f->streams = true;
		return QN_OK;
	}
	*taken = strncmp(item, name, sizeof name - 1) == 0;
	if (!*taken)
		return strchr(item, '=') != NULL
			       ? QN_OK
			       : qn_front_wrong(f, "expected ATTRIBUTE=VALUE, not ", item);
	for (f->samples = 0; *digit >= '0' && *digit <= '9' && f->samples < QN_FRONT_MOST_SAMPLES;
	     digit++)
		f->samples = 10 * f->samples + (*digit - '0');
	if (f->samples == 0 || *digit != '\0')
		return qn_front_wrong(f, "expected samples=N, 1 to 2^30, not ", item);
	return QN_OK;
}

/* What is left of the items between commas are the attributes. */
static qn_status
read_items(qn_front *f, const char *s, const char **attributes)
{
	qn_buf b;

	qn_buf_init(&b, f->m->scratch);
	for (bool taken; *s != '\0'; s += *s == ',') {
		const size_t n = strcspn(s, ",");

		QN_TRY(read_item(f, s, n, &taken));
		if (!taken)
			qn_buff(&b, "%s%.*s", b.n > 0 ? "," : "", (int)n, s);
		s += n;
	}
	*attributes = qn_buf_str(&b);
	if (f->streams && f->samples != 0)
		return qn_front_wrong(f,
				      "a stream takes the samples of its frames in each run; "
				      "leave out samples=N",
				      "");
	return QN_OK;
}

qn_status
qn_front_read_text(qn_front *f)
{
	const char *colon = strchr(f->text, ':');
	const char *attributes = colon != NULL ? colon + 1 : "";
	const size_t n = colon != NULL ? (size_t)(colon - f->text) : strlen(f->text);
	const char *head = qn_arena_strn(f->m->scratch, f->text, n);
	const char *equals = strchr(head, '=');
	const char *op = equals != NULL ? equals + 1 : head;

	f->op = qn_op_find(op);
	if (f->op != QN_OP_log_mel && f->op != QN_OP_mfcc)
		return qn_front_wrong(f, "expected log_mel or mfcc, not ", op);
	QN_TRY(find_input(f, equals != NULL
				     ? qn_arena_strn(f->m->scratch, head, (size_t)(equals - head))
				     : NULL));
	QN_TRY(read_items(f, attributes, &attributes));
	return read_attributes(f, attributes);
}
