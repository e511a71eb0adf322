/* SPDX-License-Identifier: Apache-2.0 */
/* convert.c - how models of formats that are not read become ones that are. */
#include <ctype.h>
#include <string.h>

#include "import/import.h"

#define KERAS                                                                                      \
	"a Keras model: convert it in Python, tf.lite.TFLiteConverter.from_keras_model(model)"     \
	".convert() gives the bytes of a .tflite"
#define TORCH                                                                                      \
	"a PyTorch model: load it in Python, torch.onnx.export(model.eval(), example_input, "      \
	"'model.onnx') writes an .onnx"

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
	{".safetensors",
	 "weights without a graph: export the model that they belong to as .onnx, or "
	 "name them in a .json graph (docs/json-format.md)"},
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

const char *
qn_import_convert(const char *path)
{
	const char *name = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;

	if (strchr(name, '.') == NULL)
		return "a file or folder without an extension: a TensorFlow SavedModel folder is "
		       "converted in Python, tf.lite.TFLiteConverter.from_saved_model(folder)"
		       ".convert() gives the bytes of a .tflite";
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		if (ends_in(path, rows[i].extension))
			return rows[i].how;
	return NULL;
}
