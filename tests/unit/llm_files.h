/* SPDX-License-Identifier: Apache-2.0 */
/* llm_files.h - small language models with random weights, as GGUF files and as folders of Hugging Face.
 *
 *   const llm_file f = {.arch = "qwen2", .head_dim = 8, .bias = true, .form = "q8_0"};
 *   llm_file_write(ctx, &f, "x.gguf");
 *   llm_folder_write(ctx, &f, "x");          the same network, by Hugging Face's names, order of rows and norms */
#ifndef LLM_FILES_H
#define LLM_FILES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "quern/layout.h"

enum {
	LLM_HEADS = 4,
	LLM_KV_HEADS = 2,
	LLM_VOCAB = 48,
	LLM_TOKENS = 512, /* of stories260K */
};

typedef struct llm_file {
	const char *arch;
	int blocks;   /* 0: 2 */
	int width;    /* 0: 32; the feed-forward network has twice as many */
	int shards;   /* of a folder: two files with an index */
	int head_dim; /* 0: width / heads, without a key */
	int bias, tied, no_tokens;
	int linear, llama3;      /* how angles are scaled */
	const char *form;        /* layout of the matrices, or bf16 of all tensors; NULL: f32 */
	const char *drop;        /* a tensor or key that is left out; NULL: none */
	const char *key, *value; /* a key that gets this value; NULL: none */
	int gguf_only;           /* folders have no such key */
	const char *tokens; /* a GGUF file whose LLM_TOKENS tokens it has; NULL: without texts */
	const char *extra;  /* a tensor that no network has; NULL: none */
	const char *flat;   /* matrices whose first rows are nearly constant; NULL: none */
} llm_file;

static int
llm_width(const llm_file *f)
{
	return f->width > 0 ? f->width : 32;
}

static int
llm_vocabulary(const llm_file *f)
{
	return f->tokens != NULL ? LLM_TOKENS : LLM_VOCAB;
}

/* The file that is written. */
typedef struct llm_writer {
	qn_ctx *ctx;
	qn_archive *x;
	const llm_file *f;
	int folder; /* of Hugging Face */
	uint32_t seed;
} llm_writer;

static float
llm_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (float)(*seed >> 8) / 8388608.0F - 1;
}

/* The rows of each head from pairs of neighbours to halves. */
static void
llm_to_halves(float *x, int64_t rows, int64_t columns, int64_t head)
{
	const size_t n = (size_t)(rows * columns) * sizeof *x;
	float *from = malloc(n);

	memcpy(from, x, n);
	for (int64_t r = 0; r < rows; r++) {
		const int64_t i = r % head, to = r - i + i / 2 + (i % 2) * (head / 2);

		memcpy(x + to * columns, from + r * columns, (size_t)columns * sizeof *x);
	}
	free(from);
}

/* x cut to a float of 8 bits, and its byte. */
static float
llm_cut(float x, int mantissa, int bias, uint8_t *byte)
{
	int e;
	const double f = 2 * frexp(fabs((double)x), &e), one = ldexp(1, mantissa);
	const int normal = e - 1 + bias > 0, exponent = normal ? e - 1 + bias : 0;
	const int q = (int)(normal ? (f - 1) * one : ldexp(fabs((double)x), bias - 1 + mantissa));

	*byte = (uint8_t)((x < 0) << 7 | exponent << mantissa | q);
	const double v = ldexp(normal ? 1 + q / one : q / one, (normal ? exponent : 1) - bias);
	return (float)(x < 0 ? -v : v);
}

/* Floats of 8 bits, which a GGUF file does not have: there their values. */
static void
llm_store_f8(const llm_writer *w, const char *name, int rank, const int64_t *dim, const float *x)
{
	const int e4m3 = strcmp(w->f->form, "f8E4M3FN") == 0;
	const int64_t n = rank == 2 ? dim[0] * dim[1] : dim[0];
	uint8_t *bytes = malloc((size_t)n + 1);
	float *values = malloc((size_t)(n + 1) * sizeof *values);
	qn_array *a;
	qn_stored *t;

	for (int64_t i = 0; i < n; i++)
		values[i] = llm_cut(x[i], e4m3 ? 3 : 2, e4m3 ? 7 : 15, &bytes[i]);
	(void)qn_array_new(w->ctx, w->folder ? "u8" : "f32", rank, dim,
			   w->folder ? (const void *)bytes : values, &a);
	(void)qn_stored_of_array(w->ctx, name, a, &t);
	if (w->folder) {
		qn_plane_view plane = {.name = "",
				       .dtype = w->f->form,
				       .rank = rank,
				       .data = qn_array_data(a),
				       .bytes = (size_t)n};

		memcpy(plane.dim, dim, (size_t)rank * sizeof *dim);
		(void)qn_stored_new(w->ctx, name, "plain", rank, dim, 1, &plane, 0, NULL, &t);
	}
	(void)qn_archive_add(w->x, name, t);
	free(values);
	free(bytes);
}

static void
llm_store(const llm_writer *w, const char *name, int rank, const int64_t *dim, const float *x)
{
	qn_array *a;
	qn_stored *t;

	if (w->f->drop != NULL && strcmp(w->f->drop, name) == 0)
		return;
	if (w->f->form != NULL && strncmp(w->f->form, "f8", 2) == 0) {
		llm_store_f8(w, name, rank, dim, x);
		return;
	}
	const int bf16 = w->f->form != NULL && strcmp(w->f->form, "bf16") == 0;
	if (bf16) {
		const int64_t n = rank == 2 ? dim[0] * dim[1] : dim[0];
		uint16_t *high = malloc((size_t)n * sizeof *high);

		for (int64_t i = 0; i < n; i++) {
			uint32_t bits;

			memcpy(&bits, &x[i], sizeof bits);
			high[i] = (uint16_t)(bits >> 16);
		}
		(void)qn_array_new(w->ctx, "bf16", rank, dim, high, &a);
		free(high);
	} else {
		(void)qn_array_new(w->ctx, "f32", rank, dim, x, &a);
	}
	(void)qn_stored_of_array(w->ctx, name, a, &t);
	if (w->f->form != NULL && rank == 2 && !bf16)
		(void)qn_stored_repack(t, w->f->form, NULL, &t);
	(void)qn_archive_add(w->x, name, t);
}

/* A tensor of random values, by the name of this kind of file; rows 0: a vector, -1: none. */
static void
llm_add(llm_writer *w, int block, const char *gguf, const char *other, int64_t rows,
	int64_t columns)
{
	const int rank = rows != 0 ? 2 : 1;
	const int64_t n0 = rows > 0 ? rows : 0, dim[] = {rank == 2 ? n0 : columns, columns};
	const int is_norm = rank == 1 && strstr(gguf, "norm") != NULL;
	const int64_t n = rank == 2 ? n0 * columns : columns;
	const char *name = w->folder ? other : gguf;
	float *x = malloc((size_t)(n + 1) * sizeof *x);
	char full[96];

	for (int64_t i = 0; i < n; i++)
		x[i] = llm_random(&w->seed) * (rank == 1       ? 0.5F
					       : columns > 128 ? 0.0625F
							       : 0.25F) +
		       (is_norm ? 1.0F : 0.0F);
	for (int64_t i = 0; i < columns && n0 > 0 && w->f->flat != NULL; i++)
		if (strstr(gguf, w->f->flat) != NULL)
			x[i] = 0.25F + 1e-5F * x[i];
	if (w->folder && strcmp(w->f->arch, "gemma") == 0 && is_norm)
		for (int64_t i = 0; i < n; i++)
			x[i] -= 1;
	if (w->folder && strcmp(w->f->arch, "llama") == 0 &&
	    (strstr(gguf, "attn_q.") != NULL || strstr(gguf, "attn_k.") != NULL))
		llm_to_halves(x, rank == 2 ? rows : n, rank == 2 ? columns : 1,
			      w->f->head_dim > 0 ? w->f->head_dim : llm_width(w->f) / LLM_HEADS);
	if (block < 0)
		(void)snprintf(full, sizeof full, "%s", name);
	else
		(void)snprintf(full, sizeof full, w->folder ? "model.layers.%d.%s" : "blk.%d.%s",
			       block, name);
	llm_store(w, full, rank, dim, x);
	free(x);
}

static void
llm_tensors(llm_writer *w)
{
	const int head = w->f->head_dim > 0 ? w->f->head_dim : llm_width(w->f) / LLM_HEADS;
	const int q = LLM_HEADS * head, kv = LLM_KV_HEADS * head;
	const int width = llm_width(w->f), hidden = 2 * width;

	llm_add(w, -1, "token_embd.weight", "model.embed_tokens.weight",
		w->f->no_tokens ? -1 : llm_vocabulary(w->f), width);
	for (int i = 0; i < (w->f->blocks > 0 ? w->f->blocks : 2); i++) {
		llm_add(w, i, "attn_norm.weight", "input_layernorm.weight", 0, width);
		llm_add(w, i, "attn_q.weight", "self_attn.q_proj.weight", q, width);
		llm_add(w, i, "attn_k.weight", "self_attn.k_proj.weight", kv, width);
		llm_add(w, i, "attn_v.weight", "self_attn.v_proj.weight", kv, width);
		if (w->f->bias) {
			llm_add(w, i, "attn_q.bias", "self_attn.q_proj.bias", 0, q);
			llm_add(w, i, "attn_k.bias", "self_attn.k_proj.bias", 0, kv);
			llm_add(w, i, "attn_v.bias", "self_attn.v_proj.bias", 0, kv);
		}
		if (strcmp(w->f->arch, "qwen3") == 0) {
			llm_add(w, i, "attn_q_norm.weight", "self_attn.q_norm.weight", 0, head);
			llm_add(w, i, "attn_k_norm.weight", "self_attn.k_norm.weight", 0, head);
		}
		llm_add(w, i, "attn_output.weight", "self_attn.o_proj.weight", width, q);
		llm_add(w, i, "ffn_norm.weight", "post_attention_layernorm.weight", 0, width);
		llm_add(w, i, "ffn_gate.weight", "mlp.gate_proj.weight", hidden, width);
		llm_add(w, i, "ffn_up.weight", "mlp.up_proj.weight", hidden, width);
		llm_add(w, i, "ffn_down.weight", "mlp.down_proj.weight", width, hidden);
	}
	llm_add(w, -1, "output_norm.weight", "model.norm.weight", 0, width);
	if (!w->f->tied)
		llm_add(w, -1, "output.weight", "lm_head.weight", llm_vocabulary(w->f), width);
	if (w->f->extra != NULL)
		llm_add(w, -1, w->f->extra, w->f->extra, 0, 4);
}

/* The hyper-parameters by both names; the first is the number of blocks, then two multiples of the width. */
static const struct {
	const char *gguf, *other;
	int value;
} llm_keys[] = {
	{"block_count", "num_hidden_layers", 0},
	{"embedding_length", "hidden_size", 1},
	{"feed_forward_length", "intermediate_size", 2},
	{"attention.head_count", "num_attention_heads", LLM_HEADS},
	{"attention.head_count_kv", "num_key_value_heads", LLM_KV_HEADS},
	{"context_length", "max_position_embeddings", 64},
};
static int
llm_number(const llm_file *f, size_t i)
{
	if (i == 0)
		return f->blocks > 0 ? f->blocks : 2;
	return llm_keys[i].value * (i < 3 ? llm_width(f) : 1);
}
#define LLM_NKEYS (sizeof llm_keys / sizeof llm_keys[0])

static void
llm_set(const llm_writer *w, const char *key, const char *json)
{
	if (w->f->drop != NULL && strcmp(w->f->drop, key) == 0)
		return;
	(void)qn_archive_set_property(
		w->x, key, w->f->key != NULL && strcmp(w->f->key, key) == 0 ? w->f->value : json);
}

static void
llm_file_write(qn_ctx *ctx, const llm_file *f, const char *path)
{
	llm_writer w = {.ctx = ctx, .f = f, .seed = 7};
	qn_archive *tokens;
	char key[96], json[96];

	(void)qn_archive_new(ctx, &w.x);
	if (f->tokens != NULL && qn_archive_open(ctx, f->tokens, &tokens) == QN_OK)
		(void)qn_archive_copy_properties(w.x, tokens); /* its own are set below */
	(void)snprintf(json, sizeof json, "\"%s\"", f->arch);
	llm_set(&w, "general.architecture", json);
	for (size_t i = 0; i < LLM_NKEYS; i++) {
		(void)snprintf(key, sizeof key, "%s.%s", f->arch, llm_keys[i].gguf);
		(void)snprintf(json, sizeof json, "%d", llm_number(f, i));
		llm_set(&w, key, json);
	}
	(void)snprintf(key, sizeof key, "%s.attention.key_length", f->arch);
	(void)snprintf(json, sizeof json, "%d", f->head_dim);
	if (f->head_dim > 0)
		llm_set(&w, key, json);
	(void)snprintf(key, sizeof key, "%s.attention.value_length", f->arch);
	if (f->head_dim > 0)
		llm_set(&w, key, json);
	(void)snprintf(key, sizeof key, "%s.attention.layer_norm_rms_epsilon", f->arch);
	llm_set(&w, key, "0.0009765625");
	(void)snprintf(key, sizeof key, "%s.rope.freq_base", f->arch);
	llm_set(&w, key, "500.5");
	if (f->key != NULL)
		llm_set(&w, f->key, f->value);
	llm_tensors(&w);
	/* llama3 of heads of 8 and base 500.5: wave lengths 6.3, 30, 140 and 664; up to 64 / 4 stay, from 64 / 1 on
	 * are divided by 8, between mixed by (64 / 29.72 - 1) / 3 */
	(void)snprintf(key, sizeof key, "%s.rope.scaling.type", f->arch);
	if (f->linear)
		llm_set(&w, key, "\"linear\"");
	(void)snprintf(key, sizeof key, "%s.rope.scaling.factor", f->arch);
	if (f->linear)
		llm_set(&w, key, "4.5");
	if (f->llama3)
		llm_store(&w, "rope_freqs.weight", 1, (const int64_t[]){4},
			  (const float[]){1, 1 / (0.3845070F + (1 - 0.3845070F) / 8), 8, 8});
	(void)qn_archive_save(w.x, path);
	qn_archive_free(w.x);
}

/* The tensors of a folder: in one file, or in two and an index. */
static inline void
llm_folder_tensors(const llm_writer *w, const char *folder)
{
	const size_t n = qn_archive_size(w->x), parts = w->f->shards ? 2 : 1;
	qn_archive *part;
	char path[512];
	FILE *out = NULL;

	(void)snprintf(path, sizeof path, "%s/model.safetensors.index.json", folder);
	if (w->f->shards)
		out = fopen(path, "w");
	for (size_t k = 0; k < parts; k++) {
		(void)qn_archive_new(w->ctx, &part);
		for (size_t i = k * n / parts; i < (k + 1) * n / parts; i++) {
			const qn_stored *t = qn_archive_get(w->x, i);

			(void)qn_archive_add(part, qn_stored_name(t), t);
			if (out != NULL)
				(void)fprintf(out, "%s\"%s\": \"part-%d.safetensors\"",
					      i > 0 ? ", " : "{\"weight_map\": {",
					      qn_stored_name(t), (int)k);
		}
		(void)snprintf(path, sizeof path, "%s/model.safetensors", folder);
		if (out != NULL)
			(void)snprintf(path, sizeof path, "%s/part-%d.safetensors", folder, (int)k);
		(void)qn_archive_save(part, path);
		qn_archive_free(part);
	}
	if (out != NULL) {
		(void)fputs("}}\n", out);
		(void)fclose(out);
	}
}

static inline void
llm_folder_write(qn_ctx *ctx, const llm_file *f, const char *folder)
{
	llm_writer w = {.ctx = ctx, .f = f, .folder = 1, .seed = 7};
	char path[512];
	FILE *out;

	(void)mkdir(folder, 0777);
	(void)snprintf(path, sizeof path, "%s/config.json", folder);
	out = fopen(path, "w");
	(void)fprintf(
		out,
		"{\"model_type\": \"%s\", \"rms_norm_eps\": 0.0009765625, \"rope_theta\": 500.5",
		f->arch);
	for (size_t i = 0; i < LLM_NKEYS; i++)
		if (f->key == NULL || strcmp(f->key, llm_keys[i].other) != 0)
			(void)fprintf(out, ", \"%s\": %d", llm_keys[i].other, llm_number(f, i));
	if (f->head_dim > 0)
		(void)fprintf(out, ", \"head_dim\": %d", f->head_dim);
	if (f->key != NULL)
		(void)fprintf(out, ", \"%s\": %s", f->key, f->value);
	if (f->linear)
		(void)fputs(", \"rope_parameters\": {\"type\": \"linear\", \"factor\": 4.5}", out);
	if (f->llama3)
		(void)fputs(", \"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8.0, "
			    "\"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0, "
			    "\"original_max_position_embeddings\": 64}",
			    out);
	if (f->key == NULL || strcmp(f->key, "tie_word_embeddings") != 0)
		(void)fprintf(out, ", \"tie_word_embeddings\": %s", f->tied ? "true" : "false");
	(void)fputs("}\n", out);
	(void)fclose(out);
	(void)qn_archive_new(ctx, &w.x);
	llm_tensors(&w);
	llm_folder_tensors(&w, folder);
	qn_archive_free(w.x);
}

#endif
