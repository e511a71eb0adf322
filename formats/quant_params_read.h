/* SPDX-License-Identifier: Apache-2.0 */
/* quant_params_read.h - what quant_params.json says, for archives (quant_params.h) and for graphs (import/). */
#ifndef QN_FORMATS_QUANT_PARAMS_READ_H
#define QN_FORMATS_QUANT_PARAMS_READ_H

#include "formats/archive.h"
#include "formats/json_tree.h"

enum { QN_PARAMS_PARTS = 3 }; /* at most, of one layer */

/* "input_scale" with "input_scale_shape"; without a shape: [] of one number, else [n]. */
typedef struct qn_params_array {
	int64_t n;
	int32_t rank;
	int64_t dim[QN_MAX_RANK];
	const float *v; /* NULL: the key is missing */
} qn_params_array;

/* The text that is read. */
typedef struct qn_params_text {
	qn_env *env;
	qn_arena *a;
	qn_json_doc doc;
} qn_params_text;

/* What a layer's object says.  Scales are positive and multiply when dequantizing. */
typedef struct qn_params_layer {
	const qn_json *json;
	qn_params_array input_scale, weight_scale, weight_zp, output_scale, premul;
	const qn_dtype *input_dtype, *weight_dtype, *output_dtype; /* output NULL: not said */
	bool quantized; /* its weight is, by weight_scale; else only its input or output */
	bool attention; /* no weight: an output of attention, whose act_scale is output_scale here */
	int parts;
	const char *part[QN_PARAMS_PARTS]; /* names of its layers: its own, or to_q, to_k, to_v */
} qn_params_layer;

/* Reads the text, an object of layers, into doc.  Id: quant-params.json. */
qn_status qn_params_text_read(qn_params_text *r, const char *place, const char *text,
			      size_t n) QN_MUST_CHECK;
/* Reports id at v. */
qn_status qn_params_bad(const qn_params_text *r, const qn_json *v, const char *id,
			const char *what);
/* Ids: quant-params.json, quant-params.shape. */
qn_status qn_params_array_read(const qn_params_text *r, const qn_json *object, const char *key,
			       qn_params_array *out) QN_MUST_CHECK;
/* Ids: also quant-params.zp, quant-params.missing. */
qn_status qn_params_layer_read(const qn_params_text *r, const qn_json *json,
			       qn_params_layer *l) QN_MUST_CHECK;
bool qn_params_zero(const qn_params_array *x);
/* All are above 0, and so are their reciprocals finite. */
bool qn_params_positive(const qn_params_array *x);

/* How values are quantized: v / s + zp, rounded half to even. */
typedef struct qn_params_coding {
	const qn_dtype *dtype;
	int64_t nscale;
	const float *s, *zp; /* zp NULL: 0 */
	bool saturate;       /* false: an integer that does not fit is an error */
} qn_params_coding;

/* n elements from v, little-endian; scale k counts `inner` elements, then the next one follows, after the
 * last the first.  place: of messages.  Id: quant-params.overflow. */
qn_status qn_params_codes(const qn_params_text *r, const char *place, const qn_params_coding *c,
			  int64_t n, int64_t inner, const float *v, uint8_t *out) QN_MUST_CHECK;

#endif
