/* SPDX-License-Identifier: Apache-2.0 */
/* convert.c - how models of formats that are not read become ones that are. */
#include <ctype.h>
#include <string.h>

#include "formats/archive.h"
#include "formats/file.h"
#include "formats/folder.h"
#include "import/import.h"
#include "ir/diag.h"

#define KERAS                                                                                      \
	"a Keras model: convert it in Python, tf.lite.TFLiteConverter.from_keras_model(model)"     \
	".convert() gives the bytes of a .tflite"
#define TORCH                                                                                      \
	"a PyTorch model: load it in Python, torch.onnx.export(model.eval(), example_input, "      \
	"'model.onnx') writes an .onnx"
#define ARCHIVE                                                                                    \
	"an archive of tensors without a graph: quern tensors lists them, quern convert writes "   \
	"them as another archive, such as a .safetensors that a .json graph names"

#define FOLDER                                                                                     \
	"weights of a Hugging Face folder, whose config.json says which network they are of: "     \
	"give the folder"

static const struct {
	const char *extension, *how;
} rows[] = {
	{".h5", KERAS},
	{".hdf5", KERAS},
	{".keras", KERAS},
	{".pt", TORCH},
	{".pth", TORCH},
	{".ckpt", TORCH},
	{".pb",
	 "a TensorFlow graph: tf.lite.TFLiteConverter.from_saved_model(folder).convert() gives "
	 "the bytes of a .tflite; python -m tf2onnx.convert --saved-model FOLDER --output "
	 "model.onnx writes an .onnx"},
	{".pkl", "a pickle: for scikit-learn, skl2onnx.to_onnx(model, X[:1].astype('float32'))"
		 ".SerializeToString() gives the bytes of an .onnx"},
	{".joblib", "a scikit-learn model: skl2onnx.to_onnx(model, X[:1].astype('float32'))"
		    ".SerializeToString() gives the bytes of an .onnx"},
	{".ort", "a model in ONNX Runtime's own format: give the .onnx that it was converted from"},
	{".pte", "a program for ExecuTorch: export the PyTorch model that it comes from, "
		 "torch.onnx.export(model.eval(), example_input, 'model.onnx')"},
	{".mlmodel", "a Core ML model: export the model that it was converted from, as .onnx or "
		     ".tflite"},
	{".safetensors",
	 "weights without a graph: export the model that they belong to as .onnx, or "
	 "name them in a .json graph (docs/json-format.md)"},
	{".irpa", ARCHIVE},
	{".safetensors.index.json",
	 "the index of several files of weights without a graph; of a language model, give the "
	 "folder of a config.json with its weights"},
	{".npz",
	 "arrays without a graph: weights are named in a .json graph (docs/json-format.md); "
	 "samples follow the model on the command line"},
	{".npy", "an array without a graph: samples follow the model on the command line"},
};

static bool
ends_in(const char *path, const char *extension)
{
	const size_t n = strlen(path), k = strlen(extension);

	if (n < k)
		return false;
	for (size_t i = 0; i < k; i++)
		if (tolower((unsigned char)path[n - k + i]) != extension[i])
			return false;
	return true;
}

bool
qn_import_is_tflite(const char *data, size_t n)
{
	return n >= 8 && memcmp(data + 4, "TFL3", 4) == 0;
}

bool
qn_import_is_index(const char *path)
{
	return ends_in(path, ".safetensors.index.json");
}

/* What a file of a known format that is not read is, and how it is converted; NULL for all others. */
static const char *
conversion(qn_arena *a, const char *path)
{
	const char *name = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
	const bool weights = ends_in(path, ".safetensors") || qn_import_is_index(path);

	if (weights && qn_hugging_face_is(a, qn_path_folder(a, path)))
		return FOLDER;

	if (strchr(name, '.') == NULL)
		return "a file or folder without an extension: a TensorFlow SavedModel folder is "
		       "converted in Python, tf.lite.TFLiteConverter.from_saved_model(folder)"
		       ".convert() gives the bytes of a .tflite";
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		if (ends_in(path, rows[i].extension))
			return rows[i].how;
	return NULL;
}

qn_status
qn_import_refuse(qn_arena *a, const char *path)
{
	const char *data = "", *convert = conversion(a, path);
	size_t n = 0;

	if (!qn_folder_is(path))
		QN_TRY(qn_file_map(a, path, &data, &n));
	if (qn_import_is_tflite(data, n))
		return qn_report(a->env, QN_EUSAGE, "model.format", path,
				 "this is a TFLite model: rename it to .tflite");
	if (convert != NULL)
		return qn_report(a->env, QN_EUSAGE, "model.format", path, "this is %s", convert);
	return qn_report(a->env, QN_EUSAGE, "model.format", path,
			 "unknown file extension (expected .json (graph), .qir (text form), .onnx, "
			 ".tflite, .gguf, or a folder with a config.json)");
}
