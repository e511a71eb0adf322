/* SPDX-License-Identifier: Apache-2.0 */
/* import.h - models of other tools as graphs: ONNX and TFLite files.
 *
 *   model.onnx     protobuf     NCHW      nodes by name     constants, QDQ, QLinear ops
 *   model.tflite   flatbuffer   NHWC      nodes by number   types with scales
 *         \            /
 *          importer.h          one graph of the operators of ir/ops.def
 *
 * A file is never trusted: counts, offsets and depths are checked before anything is allocated by
 * them, and what cannot be taken is listed in one run. */
#ifndef QN_IMPORT_IMPORT_H
#define QN_IMPORT_IMPORT_H

#include "ir/graph.h"
#include "ir/pin.h"

enum { QN_CONTEXT_MOST = 1 << 20 }; /* tokens that a language model remembers */

/* What reading may be told. */
typedef struct qn_import_how {
	size_t ndim;
	/* "NAME=N": the value of a dimension that the file names or leaves open ("batch=1");
	 * "INPUT:AXIS=N" for one without a name */
	const char *const *dim;
	/* an already quantized file: its float values, without its parameters */
	bool from_float;
	int64_t context; /* tokens that a language model remembers; 0: the default */
	uint64_t times;  /* limits of what a file may need, in multiples of docs/limits.md; 0: 1 */
	size_t npin;
	qn_pin *pin; /* inputs that become constants */
	size_t ncut;
	/* names of the values that are the outputs, instead of those of the file; what only others need is not read */
	const char *const *cut;
} qn_import_how;

typedef enum qn_import_format {
	QN_IMPORT_NONE,
	QN_IMPORT_ONNX,
	QN_IMPORT_TFLITE,
	QN_IMPORT_GGUF,
	QN_IMPORT_HUGGING_FACE /* a folder with a config.json */
} qn_import_format;

/* By the file extension: .onnx, .tflite (also .lite), .gguf; a folder; else NONE. */
qn_import_format qn_import_format_of(const char *path);

/* "model.safetensors.index.json": no graph, although it ends in .json. */
bool qn_import_is_index(const char *path);

/* Says why a file whose extension names no format is not read: it is not there, is of another format
 * by its content or extension, with the way to convert it, or is unknown.  Ids: file.open,
 * model.format. */
qn_status qn_import_refuse(qn_arena *a, const char *path);

/* The language model of a Hugging Face folder as the tensors and properties of a GGUF file, which live as long as out and d.
 * Ids: those of reading the folder as a model (llm.key, llm.value, llm.tensor, llm.unused).  Warnings: tokenizer.left-out;
 * llm.names: another network, whose names and properties stay. */
struct qn_archive_data;
qn_status qn_hugging_face_to_gguf(const struct qn_archive_data *d,
				  struct qn_archive_data *out) QN_MUST_CHECK;

/* Whether bytes are a TFLite model, whatever their file's extension. */
bool qn_import_is_tflite(const char *data, size_t n);

/* Reads `path` into the empty model m.  All problems are reported, those of operators with
 * "file: node 'conv1' (Conv, version 11)" as place.  Ids: import.file (damaged, or of another format), import.op,
 * import.version, import.attr, import.input, import.dim, import.type, and those of shape rules. */
qn_status qn_import_read(qn_model *m, const char *path, qn_import_format format,
			 const qn_import_how *how) QN_MUST_CHECK;

/* The readers of bytes; they live as long as the model.  folder: where external data is looked for,
 * with its '/', or NULL: references to it are errors. */
qn_status qn_onnx_read(qn_model *m, const char *file, const char *folder, const void *data,
		       size_t n, const qn_import_how *how) QN_MUST_CHECK;
/* A TensorProto by itself, as the files of ONNX's test data are.  f16, bf16 and f64 become f32; stored: what it was. */
qn_status qn_onnx_read_value(qn_model *m, const char *file, const void *data, size_t n,
			     const qn_tensor **out, qn_plain *stored) QN_MUST_CHECK;
qn_status qn_tflite_read(qn_model *m, const char *file, const void *data, size_t n,
			 const qn_import_how *how) QN_MUST_CHECK;

/* Language models: the bytes of a GGUF file; a folder. */
qn_status qn_gguf_read_model(qn_model *m, const char *file, const void *data, size_t n,
			     const qn_import_how *how) QN_MUST_CHECK;
qn_status qn_hugging_face_read_model(qn_model *m, const char *folder,
				     const qn_import_how *how) QN_MUST_CHECK;

/* Row i of the tables of operators that are read; name NULL past the last.  Rows of one operator may be several, for
 * versions of it. */
typedef struct qn_import_op {
	const char *domain, *name; /* domain "": the format's own */
	/* versions of the operator set, INT32_MAX: the newest; 0, 0: it has none */
	int32_t min, max;
} qn_import_op;
qn_import_op qn_onnx_op_at(size_t i);
qn_import_op qn_tflite_op_at(size_t i);

/* A float or calibrated model as the bytes of an ONNX file (QDQ).  Ids: export.stage, export.op. */
qn_status qn_onnx_write(qn_model *m, qn_buf *out) QN_MUST_CHECK;

#endif
