/* SPDX-License-Identifier: Apache-2.0 */
/* llm.h - language models of files that hold tensors and hyper-parameters, but no graph: GGUF files, and folders of
 * Hugging Face.
 *
 *   general.architecture = "llama"      ─▶  qn_llm (llm_config.c)   5 blocks, 8 heads …
 *   blk.0.attn_q.weight  q8_0 [64,64]   ─▶  values (llm_weights.c)  const, dequantize
 *                                       ─▶  graph (llm_graph.c)     token -> logits, states: position, keys, values
 *
 * Keys, names and architectures are rows, so that both kinds of file give the same graph. */
#ifndef QN_IMPORT_LLM_H
#define QN_IMPORT_LLM_H

#include "formats/archive.h"
#include "import/importer.h"

/* What distinguishes architectures.  All have RMS norms, rotary embeddings, groups of queries that share keys and
 * values, and a gated feed-forward network. */
typedef struct qn_llm_arch {
	const char *name;    /* in GGUF files, and as model_type in config.json */
	const char *in_gguf; /* the name in GGUF files; NULL: the same */
	bool pairs;    /* in a GGUF file elements 2i and 2i+1 rotate together; else i and i + n/2 */
	bool qkv_bias; /* queries, keys and values have biases */
	bool qk_norm;  /* each head of queries and keys has a norm, before it rotates */
	bool gelu;     /* of the gate, with tanh; else silu */
	bool scaled;   /* embeddings are multiplied by the root of their length */
	bool norm_plus_1; /* Hugging Face stores the weights of norms minus 1 */
	bool window_off;  /* sliding_window of config.json counts only with use_sliding_window */
} qn_llm_arch;

enum { QN_LLM_CONTEXT = 256 }; /* tokens of the cache where nothing else is said */

/* The hyper-parameters. */
typedef struct qn_llm {
	qn_importer im;
	qn_archive_data file;
	bool hugging_face;
	const qn_llm_arch *arch;
	int64_t blocks, width, hidden, heads, kv_heads, head_dim, value_dim, rope_dim;
	int64_t trained, vocab, window;
	double rope_base, epsilon;
	double rope_factor; /* angles are divided by it */
	/* of llama3, which divides only slow ones: positions it was trained with first, and how many turns in them
	 * are slow and fast; original 0: all are divided */
	double rope_original, rope_low, rope_high;
	bool converts;   /* no network is built: its cache does not matter */
	int64_t context; /* of the cache */
	bool *taken;     /* tensors of the file that the graph reads */
} qn_llm;

/* The tensors of the network, by what they are for. */
typedef enum qn_llm_role {
	QN_LLM_EMBEDDING,
	QN_LLM_FINAL_NORM,
	QN_LLM_OUTPUT,
	QN_LLM_ATTN_NORM,
	QN_LLM_Q,
	QN_LLM_K,
	QN_LLM_V,
	QN_LLM_Q_NORM,
	QN_LLM_K_NORM,
	QN_LLM_ATTN_OUTPUT,
	QN_LLM_FFN_NORM,
	QN_LLM_GATE,
	QN_LLM_UP,
	QN_LLM_DOWN,
	QN_LLM_ROPE_FACTORS, /* optional: frequencies are divided by them */
	QN_LLM_NROLE
} qn_llm_role;

/* Whether the architecture or config.json says that these weights have a bias; others may have one, too. */
bool qn_llm_has_bias(const qn_llm *l, qn_llm_role role);
/* Whether the logits have the matrix of the embeddings. */
bool qn_llm_is_tied(qn_llm *l);
/* Whether the file says that it is of one of the architectures, which is that of l then. */
bool qn_llm_is_known(qn_llm *l);
/* Sets it; llm.key, llm.architecture: lists those that there are. */
qn_status qn_llm_take_arch(qn_llm *l) QN_MUST_CHECK;
/* Fills l from the file's properties and its context from the caller's.  Ids: llm.architecture, llm.key, llm.value. */
qn_status qn_llm_configure(qn_llm *l) QN_MUST_CHECK;

/* Keys that say that the network is another one (llm_refused.c): of the architecture alone, and those beside the
 * hyper-parameters, which are there by then.  llm.value: QN_EINVALID; QN_EUNSUPPORTED. */
qn_status qn_llm_check_network(const qn_llm *l) QN_MUST_CHECK;
qn_status qn_llm_check_keys(const qn_llm *l) QN_MUST_CHECK;

/* How angles are scaled (llm_rope.c); gguf: the key of its kind in a GGUF file.  Ids: llm.scaling, llm.value. */
qn_status qn_llm_take_scaling(qn_llm *l, const char *gguf) QN_MUST_CHECK;

/* Puts the hyper-parameters as properties of a GGUF file of this architecture (qn_llm_configure was called). */
void qn_llm_put_keys(const qn_llm *l, const char *arch, qn_archive_data *to);
/* The name of a tensor in a file of the one kind or the other; NULL: such files have none. */
const char *qn_llm_tensor_name(qn_llm *l, bool hugging_face, qn_llm_role role, int64_t block,
			       const char *suffix);
/* A tensor of the file, which counts as used; NULL: it is not there. */
const qn_layout_tensor *qn_llm_tensor(qn_llm *l, qn_llm_role role, int64_t block,
				      const char *suffix);
/* Whether each block has a tensor of the role. */
bool qn_llm_in_blocks(qn_llm_role role);

/* The float values of a tensor "STEM.weight" or "STEM.bias" with these dims: a constant, or what is stored and its
 * dequantize.  0: it is not there (optional), or after a report (llm.tensor). */
qn_id qn_llm_matrix(qn_llm *l, qn_llm_role role, int64_t block, int64_t rows, int64_t columns);
qn_id qn_llm_vector(qn_llm *l, qn_llm_role role, int64_t block, const char *suffix, int64_t n);
bool qn_llm_has(qn_llm *l, qn_llm_role role, int64_t block, const char *suffix);
/* Reports tensors that nothing has read: another network than this one would be computed without them. */
void qn_llm_tensors_used(qn_llm *l);

/* Whether the elements 2i and 2i+1 of a head rotate together. */
bool qn_llm_rotates_pairs(const qn_llm *l);

/* The network of lib/llama.qir, with its inputs, outputs and states. */
void qn_llm_graph(qn_llm *l);

#endif
