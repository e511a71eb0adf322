/* SPDX-License-Identifier: Apache-2.0 */
/* plain_llm.h - a language model of a GGUF file computed by plain loops in double, for comparison: one token after the
 * other, keys and values of all tokens of a sequence in arrays.  It shares no code with the importer: its own keys and
 * names, libm's functions, the rotation by its formula.
 *
 *   plain_llm m;
 *   plain_llm_open(ctx, "stories.gguf", 256, &m);
 *   plain_llm_step(&m, token, logits);      position 0, 1 … 255, then a new sequence
 *   plain_llm_close(&m); */
#ifndef PLAIN_LLM_H
#define PLAIN_LLM_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quern/layout.h"

typedef struct plain_block {
	const float *attn_norm, *q, *k, *v, *q_bias, *k_bias, *v_bias, *q_norm, *k_norm;
	const float *attn_output;
	const float *ffn_norm, *gate, *up, *down;
	double *keys, *values; /* [context][kv_heads * head_dim] */
} plain_block;

typedef struct plain_llm {
	char arch[16];
	int blocks, width, hidden, heads, kv_heads, head_dim, vocab, context, position;
	double base, factor, epsilon;
	const float *embedding, *norm, *output, *factors;
	plain_block *block;
} plain_llm;

/* A number of the file's properties, "ARCH.NAME", of a list its first; `otherwise` when it is missing. */
static double
plain_number(qn_archive *x, const char *arch, const char *name, double otherwise)
{
	char key[96];

	(void)snprintf(key, sizeof key, "%s.%s", arch, name);
	for (size_t i = 0; i < qn_archive_properties(x); i++) {
		qn_property_view p;

		if (qn_archive_property(x, i, &p) == QN_OK && strcmp(p.key, key) == 0)
			return strtod(p.json + (p.json[0] == '['), NULL);
	}
	return otherwise;
}

/* The values of a tensor, which the context owns; NULL: there is none. */
static const float *
plain_tensor(const qn_archive *x, int block, const char *name)
{
	char full[96];
	qn_array *values = NULL;

	if (block < 0)
		(void)snprintf(full, sizeof full, "%s", name);
	else
		(void)snprintf(full, sizeof full, "blk.%d.%s", block, name);
	const qn_stored *t = qn_archive_find(x, full);
	return t != NULL && qn_stored_values(t, 0, &values) == QN_OK ? qn_array_data(values) : NULL;
}

static void
plain_block_open(const qn_archive *x, const plain_llm *m, int i, plain_block *b)
{
	const size_t cache = (size_t)(m->context * m->kv_heads * m->head_dim);

	b->attn_norm = plain_tensor(x, i, "attn_norm.weight");
	b->q = plain_tensor(x, i, "attn_q.weight");
	b->k = plain_tensor(x, i, "attn_k.weight");
	b->v = plain_tensor(x, i, "attn_v.weight");
	b->q_bias = plain_tensor(x, i, "attn_q.bias");
	b->k_bias = plain_tensor(x, i, "attn_k.bias");
	b->v_bias = plain_tensor(x, i, "attn_v.bias");
	b->q_norm = plain_tensor(x, i, "attn_q_norm.weight");
	b->k_norm = plain_tensor(x, i, "attn_k_norm.weight");
	b->attn_output = plain_tensor(x, i, "attn_output.weight");
	b->ffn_norm = plain_tensor(x, i, "ffn_norm.weight");
	b->gate = plain_tensor(x, i, "ffn_gate.weight");
	b->up = plain_tensor(x, i, "ffn_up.weight");
	b->down = plain_tensor(x, i, "ffn_down.weight");
	b->keys = calloc(cache, sizeof(double));
	b->values = calloc(cache, sizeof(double));
}

/* 0: the file cannot be read. */
static int
plain_llm_open(qn_ctx *ctx, const char *path, int context, plain_llm *m)
{
	qn_archive *x;
	qn_property_view p;

	if (qn_archive_open(ctx, path, &x) != QN_OK)
		return 0;
	*m = (plain_llm){.context = context};
	for (size_t i = 0; i < qn_archive_properties(x); i++)
		if (qn_archive_property(x, i, &p) == QN_OK &&
		    strcmp(p.key, "general.architecture") == 0)
			(void)sscanf(p.json, "\"%15[a-z0-9]", m->arch);
	m->blocks = (int)plain_number(x, m->arch, "block_count", 0);
	m->width = (int)plain_number(x, m->arch, "embedding_length", 0);
	m->hidden = (int)plain_number(x, m->arch, "feed_forward_length", 0);
	m->heads = (int)plain_number(x, m->arch, "attention.head_count", 1);
	m->kv_heads = (int)plain_number(x, m->arch, "attention.head_count_kv", m->heads);
	m->head_dim = (int)plain_number(x, m->arch, "attention.key_length", m->width / m->heads);
	m->base = plain_number(x, m->arch, "rope.freq_base", 10000);
	m->factor = plain_number(x, m->arch, "rope.scaling.factor",
				 plain_number(x, m->arch, "rope.scale_linear", 1));
	if (m->factor == 0)
		m->factor = 1;
	m->epsilon = plain_number(x, m->arch, "attention.layer_norm_rms_epsilon", 0);
	m->vocab = (int)qn_stored_dim(qn_archive_find(x, "token_embd.weight"), 0);
	m->embedding = plain_tensor(x, -1, "token_embd.weight");
	m->norm = plain_tensor(x, -1, "output_norm.weight");
	m->output = plain_tensor(x, -1, "output.weight");
	m->factors = plain_tensor(x, -1, "rope_freqs.weight");
	m->block = calloc((size_t)m->blocks, sizeof *m->block);
	for (int i = 0; i < m->blocks; i++)
		plain_block_open(x, m, i, &m->block[i]);
	return 1;
}

static void
plain_llm_close(plain_llm *m)
{
	for (int i = 0; i < m->blocks; i++) {
		free(m->block[i].keys);
		free(m->block[i].values);
	}
	free(m->block);
}

static void
plain_norm(const plain_llm *m, int n, const double *x, const float *w, double *y)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += x[i] * x[i];
	for (int i = 0; i < n; i++)
		y[i] = x[i] / sqrt(sum / n + m->epsilon) * (double)w[i];
}

/* In place, of each head; w NULL: none. */
static void
plain_head_norms(const plain_llm *m, double *x, int heads, const float *w)
{
	for (int h = 0; h < heads && w != NULL; h++)
		plain_norm(m, m->head_dim, x + h * m->head_dim, w, x + h * m->head_dim);
}

static void
plain_linear(const float *w, const float *bias, const double *x, int rows, int columns, double *y)
{
	for (int i = 0; i < rows; i++) {
		y[i] = bias != NULL ? (double)bias[i] : 0;
		for (int k = 0; k < columns; k++)
			y[i] += (double)w[(size_t)i * (size_t)columns + (size_t)k] * x[k];
	}
}

/* Each pair turns by position / base^(2 pair / head_dim). */
static void
plain_rotate(const plain_llm *m, double *x, int heads)
{
	const int half = m->head_dim / 2, near = strcmp(m->arch, "llama") == 0;

	for (int h = 0; h < heads; h++) {
		double *v = x + h * m->head_dim;

		for (int i = 0; i < half; i++) {
			const double turn = m->position / pow(m->base, 2.0 * i / m->head_dim) /
					    m->factor /
					    (m->factors != NULL ? (double)m->factors[i] : 1);
			double *a = near ? &v[2 * i] : &v[i], *b = near ? a + 1 : a + half;
			const double was = *a;

			*a = was * cos(turn) - *b * sin(turn);
			*b = *b * cos(turn) + was * sin(turn);
		}
	}
}

/* Head h of the queries q over all positions so far. */
static void
plain_attend(const plain_llm *m, const plain_block *b, const double *q, int h, double *y)
{
	const int of_kv = m->kv_heads * m->head_dim;
	const int at = h / (m->heads / m->kv_heads) * m->head_dim;
	double *p = calloc((size_t)m->context, sizeof *p), most = -HUGE_VAL, sum = 0;

	for (int t = 0; t <= m->position; t++) {
		for (int i = 0; i < m->head_dim; i++)
			p[t] += q[i] * b->keys[t * of_kv + at + i] / sqrt((double)m->head_dim);
		most = fmax(most, p[t]);
	}
	for (int t = 0; t <= m->position; t++)
		sum += p[t] = exp(p[t] - most);
	for (int i = 0; i < m->head_dim; i++) {
		y[i] = 0;
		for (int t = 0; t <= m->position; t++)
			y[i] += p[t] / sum * b->values[t * of_kv + at + i];
	}
	free(p);
}

static void
plain_attention(const plain_llm *m, const plain_block *b, double *x, double *t)
{
	const int of_q = m->heads * m->head_dim, of_kv = m->kv_heads * m->head_dim;
	double *n = t, *q = n + m->width, *y = q + of_q, *z = y + of_q;

	plain_norm(m, m->width, x, b->attn_norm, n);
	plain_linear(b->q, b->q_bias, n, of_q, m->width, q);
	plain_linear(b->k, b->k_bias, n, of_kv, m->width, b->keys + m->position * of_kv);
	plain_linear(b->v, b->v_bias, n, of_kv, m->width, b->values + m->position * of_kv);
	plain_head_norms(m, q, m->heads, b->q_norm);
	plain_head_norms(m, b->keys + m->position * of_kv, m->kv_heads, b->k_norm);
	plain_rotate(m, q, m->heads);
	plain_rotate(m, b->keys + m->position * of_kv, m->kv_heads);
	for (int h = 0; h < m->heads; h++)
		plain_attend(m, b, q + h * m->head_dim, h, y + h * m->head_dim);
	plain_linear(b->attn_output, NULL, y, m->width, of_q, z);
	for (int i = 0; i < m->width; i++)
		x[i] += z[i];
}

static void
plain_feed(const plain_llm *m, const plain_block *b, double *x, double *t)
{
	const int gelu = strcmp(m->arch, "gemma") == 0;
	double *n = t, *g = n + m->width, *u = g + m->hidden, *z = u + m->hidden;

	plain_norm(m, m->width, x, b->ffn_norm, n);
	plain_linear(b->gate, NULL, n, m->hidden, m->width, g);
	plain_linear(b->up, NULL, n, m->hidden, m->width, u);
	for (int i = 0; i < m->hidden; i++) {
		const double v = g[i];

		u[i] *= gelu ? v / 2 * (1 + tanh(sqrt(2 / acos(-1.0)) * (v + 0.044715 * v * v * v)))
			     : v / (1 + exp(-v));
	}
	plain_linear(b->down, NULL, u, m->width, m->hidden, z);
	for (int i = 0; i < m->width; i++)
		x[i] += z[i];
}

static void
plain_llm_step(plain_llm *m, int token, double *logits)
{
	const int most = 2 * m->heads * m->head_dim + 2 * m->hidden + 3 * m->width;
	double *x = calloc((size_t)(m->width + most), sizeof *x), *t = x + m->width;

	for (int i = 0; i < m->width; i++)
		x[i] = (double)m->embedding[(size_t)token * (size_t)m->width + (size_t)i] *
		       (strcmp(m->arch, "gemma") == 0 ? sqrt((double)m->width) : 1);
	for (int i = 0; i < m->blocks; i++) {
		plain_attention(m, &m->block[i], x, t);
		plain_feed(m, &m->block[i], x, t);
	}
	plain_norm(m, m->width, x, m->norm, t);
	plain_linear(m->output != NULL ? m->output : m->embedding, NULL, t, m->vocab, m->width,
		     logits);
	m->position = (m->position + 1) % m->context;
	free(x);
}

#endif
