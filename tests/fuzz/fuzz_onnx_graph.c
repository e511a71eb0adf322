/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_onnx_graph.c - ONNX files that are well written, made from the bytes: operators in chains and branches, their
 * attributes and constants, the operator set, and the options of the compilation.
 *
 *   bytes ─▶ operator set, options, inputs ─▶ (operator, its inputs, attributes, constants)… ─▶ outputs
 *
 * Most lengths are 4 or 1, so that many operators fit together by chance. */
#define _POSIX_C_SOURCE 200809L /* getpid, unlink */

#include "tests/fuzz/fuzz_draw.h"

#include "tests/unit/onnx_writer.h"

enum { MOST_VALUES = 24, MOST_OPS = 12 };

typedef struct maker {
	fuzz_draw d;
	onx *file;
	char value[MOST_VALUES][16];
	int nvalue, nconst;
} maker;

/* Inputs: x a value, w weights, v a vector, f a float scalar, i a list of integers, n an integer scalar, s a scale,
 * z a zero point, S and Z one for each channel, q integers of 8 bits, c booleans; after ? all may be left out.
 * Attributes: i an integer, r a real, l a list, p four lengths, k a window, e a word. */
typedef struct op_row {
	const char *op, *in, *attrs;
	int nout;
	const char *domain;
} op_row;

static const op_row ops[] = {
	{"Conv", "xw?v", "auto_pad:e group:i pads:p strides:k dilations:k kernel_shape:k", 1, NULL},
	{"ConvTranspose", "xw?v", "auto_pad:e group:i pads:p strides:k output_padding:k", 1, NULL},
	{"Gemm", "xw?v", "alpha:r beta:r transA:i transB:i", 1, NULL},
	{"MatMul", "xx", "", 1, NULL},
	{"MatMul", "xw", "", 1, NULL},
	{"BatchNormalization", "xvvvv", "epsilon:r training_mode:i", 1, NULL},
	{"InstanceNormalization", "xvv", "epsilon:r", 1, NULL},
	{"LayerNormalization", "xv?v", "axis:i epsilon:r", 1, NULL},
	{"GroupNormalization", "xvv", "num_groups:i", 1, NULL},
	{"LRN", "x", "size:i alpha:r beta:r bias:r", 1, NULL},
	{"MaxPool", "x", "auto_pad:e pads:p strides:k kernel_shape:k ceil_mode:i dilations:k", 1,
	 NULL},
	{"AveragePool", "x", "auto_pad:e pads:p strides:k kernel_shape:k count_include_pad:i", 1,
	 NULL},
	{"GlobalAveragePool", "x", "", 1, NULL},
	{"Relu", "x", "", 1, NULL},
	{"LeakyRelu", "x", "alpha:r", 1, NULL},
	{"PRelu", "xv", "", 1, NULL},
	{"Clip", "x?ff", "min:r max:r", 1, NULL},
	{"Sigmoid", "x", "", 1, NULL},
	{"HardSigmoid", "x", "alpha:r beta:r", 1, NULL},
	{"HardSwish", "x", "", 1, NULL},
	{"Tanh", "x", "", 1, NULL},
	{"Gelu", "x", "approximate:e", 1, NULL},
	{"Elu", "x", "alpha:r", 1, NULL},
	{"Exp", "x", "", 1, NULL},
	{"Log", "x", "", 1, NULL},
	{"Sqrt", "x", "", 1, NULL},
	{"Erf", "x", "", 1, NULL},
	{"Softmax", "x", "axis:i", 1, NULL},
	{"LogSoftmax", "x", "axis:i", 1, NULL},
	{"Add", "xx", "", 1, NULL},
	{"Add", "xv", "", 1, NULL},
	{"Sub", "xx", "", 1, NULL},
	{"Mul", "xx", "", 1, NULL},
	{"Mul", "xf", "", 1, NULL},
	{"Div", "xx", "", 1, NULL},
	{"Div", "xf", "", 1, NULL},
	{"Pow", "xf", "", 1, NULL},
	{"Min", "xx?x", "", 1, NULL},
	{"Max", "xx?x", "", 1, NULL},
	{"Mod", "xx", "fmod:i", 1, NULL},
	{"Sum", "xx?x", "", 1, NULL},
	{"Where", "cxx", "", 1, NULL},
	{"Greater", "xx", "", 1, NULL},
	{"Cast", "x", "to:i", 1, NULL},
	{"Concat", "xx?x", "axis:i", 1, NULL},
	{"Split", "x?i", "axis:i num_outputs:i split:l", 2, NULL},
	{"Slice", "xii?ii", "axes:l starts:l ends:l", 1, NULL},
	{"Gather", "xi", "axis:i", 1, NULL},
	{"GatherElements", "xi", "axis:i", 1, NULL},
	{"ScatterElements", "xix", "axis:i reduction:e", 1, NULL},
	{"Reshape", "xi", "allowzero:i shape:l", 1, NULL},
	{"Flatten", "x", "axis:i", 1, NULL},
	{"Transpose", "x", "perm:l", 1, NULL},
	{"Squeeze", "x?i", "axes:l", 1, NULL},
	{"Unsqueeze", "xi", "axes:l", 1, NULL},
	{"Expand", "xi", "", 1, NULL},
	{"Tile", "xi", "", 1, NULL},
	{"Pad", "xi?fi", "mode:e pads:p value:r", 1, NULL},
	{"Resize", "x??ffi", "mode:e coordinate_transformation_mode:e nearest_mode:e", 1, NULL},
	{"Upsample", "xv", "mode:e", 1, NULL},
	{"DepthToSpace", "x", "blocksize:i mode:e", 1, NULL},
	{"SpaceToDepth", "x", "blocksize:i", 1, NULL},
	{"ReduceMean", "x?i", "axes:l keepdims:i", 1, NULL},
	{"ReduceSum", "x?i", "axes:l keepdims:i noop_with_empty_axes:i", 1, NULL},
	{"ReduceMax", "x?i", "axes:l keepdims:i", 1, NULL},
	{"ReduceL2", "x?i", "axes:l keepdims:i", 1, NULL},
	{"ArgMax", "x", "axis:i keepdims:i select_last_index:i", 1, NULL},
	{"TopK", "xn", "axis:i largest:i sorted:i", 2, NULL},
	{"CumSum", "xn", "exclusive:i reverse:i", 1, NULL},
	{"Trilu", "x?n", "upper:i", 1, NULL},
	{"OneHot", "xnv", "axis:i", 1, NULL},
	{"Einsum", "xx", "equation:e", 1, NULL},
	{"LSTM", "xww?v", "hidden_size:i direction:e layout:i", 2, NULL},
	{"GRU", "xww?v", "hidden_size:i direction:e linear_before_reset:i", 2, NULL},
	{"Shape", "x", "", 1, NULL},
	{"Constant", "", "value_float:r value_ints:l", 1, NULL},
	{"ConstantOfShape", "i", "", 1, NULL},
	{"Dropout", "x", "", 1, NULL},
	{"Identity", "x", "", 1, NULL},
	{"QuantizeLinear", "xsz", "axis:i", 1, NULL},
	{"QuantizeLinear", "xSZ", "axis:i block_size:i", 1, NULL},
	{"DequantizeLinear", "x?sz", "axis:i", 1, NULL},
	{"DequantizeLinear", "qSZ", "axis:i", 1, NULL},
	{"DequantizeLinear", "qsz", "", 1, NULL},
	{"DynamicQuantizeLinear", "x", "", 3, NULL},
	{"QLinearConv", "xszqSZsz", "auto_pad:e group:i pads:p strides:k", 1, NULL},
	{"QLinearMatMul", "xszqszsz", "", 1, NULL},
	{"MatMulInteger", "xq?zz", "", 1, NULL},
	{"ConvInteger", "xq?zz", "pads:p strides:k", 1, NULL},
	{"QLinearAdd", "xszxszsz", "", 1, "com.microsoft"},
	{"QLinearMul", "xszxszsz", "", 1, "com.microsoft"},
	{"QLinearGlobalAveragePool", "xszsz", "channels_last:i", 1, "com.microsoft"},
	{"QLinearLeakyRelu", "xszsz", "alpha:r", 1, "com.microsoft"},
	{"QLinearSigmoid", "xszsz", "", 1, "com.microsoft"},
	{"QLinearSoftmax", "xszsz", "axis:i opset:i", 1, "com.microsoft"},
	{"QGemm", "xszqszvsz", "transA:i transB:i", 1, "com.microsoft"},
	{"DynamicQuantizeMatMul", "xqs?zv", "", 1, "com.microsoft"},
	{"QAttention", "xqvss?izz", "num_heads:i unidirectional:i scale:r", 1, "com.microsoft"},
	{"DynamicQuantizeLSTM", "xqqvivvvSZSZ", "hidden_size:i direction:e", 2, "com.microsoft"},
	{"EmbedLayerNormalization", "iiwwwvv?ii", "epsilon:r", 3, "com.microsoft"},
	{"QEmbedLayerNormalization", "iiqqqqqisssss?zzzzz", "epsilon:r", 2, "com.microsoft"},
	{"GroupQueryAttention", "xxxxxii?wwi",
	 "num_heads:i kv_num_heads:i do_rotary:i local_window_size:i softcap:r", 3,
	 "com.microsoft"},
	{"IsNaN", "x", "", 1, NULL},
	{"IsInf", "x", "detect_negative:i", 1, NULL},
};

/* ---- constants ---- */

static void
shape_text(maker *k, const char **dims, size_t *n)
{
	static const char *const shape[] = {"4,4,3,3", "4,1,3,3", "4,4,1,1", "4,4",  "4,4,3",
					    "1,4,4,4", "16,4",    "1,4",     "4,64", "4,4,3,3,3"};

	*dims = shape[draw(&k->d, 10)];
	*n = onx_count(*dims);
}

static void
float_const(maker *k, const char *name, const char *dims)
{
	static float v[2048];
	size_t n = onx_count(dims);

	for (size_t i = 0; i < n; i++)
		v[i] = i < 6 ? draw_real(&k->d) : (float)(i * 29 % 17) / 8.0f - 1.0f;
	onx_floats(k->file, name, dims, v);
}

static void
int_const(maker *k, const char *name, bool scalar)
{
	int64_t v[6];
	int n = scalar ? 1 : draw(&k->d, 7);
	char dims[4] = "0";

	for (int i = 0; i < n; i++)
		v[i] = draw_int(&k->d);
	dims[0] = (char)('0' + n);
	onx_ints64(k->file, name, scalar ? "" : dims, v);
}

static void
byte_const(maker *k, const char *name, int type, const char *dims)
{
	static uint8_t v[2048];
	size_t n = onx_count(dims);

	for (size_t i = 0; i < n; i++)
		v[i] = (uint8_t)(i < 4 ? draw(&k->d, 256) : (int)(i * 37 % 256));
	onx_tensor(k->file, name, type, dims, v, n);
}

/* A constant for the letter; its name. */
static const char *
constant(maker *k, char letter, char *name, size_t room)
{
	const char *dims;
	size_t n;

	snprintf(name, room, "c%d", k->nconst++);
	switch (letter) {
	case 'w':
		shape_text(k, &dims, &n);
		float_const(k, name, dims);
		break;
	case 'v':
		float_const(k, name, draw(&k->d, 4) == 3 ? "1" : "4");
		break;
	case 'f':
		float_const(k, name, draw(&k->d, 6) == 5 ? "1" : "");
		break;
	case 's':
		onx_floats(k->file, name, "",
			   (const float[]){draw(&k->d, 12) == 11
						   ? draw_real(&k->d)
						   : 0.02f * (float)(1 + draw(&k->d, 9))});
		break;
	case 'S':
		onx_floats(k->file, name, draw(&k->d, 3) == 2 ? "" : "4",
			   (const float[]){0.01f, 0.02f, 0.5f, 0.03f});
		break;
	case 'z':
		byte_const(k, name, draw(&k->d, 3) == 2 ? ONX_INT8 : ONX_UINT8, "");
		break;
	case 'Z':
		byte_const(k, name, draw(&k->d, 2) == 1 ? ONX_INT8 : ONX_UINT8, "4");
		break;
	case 'q':
		shape_text(k, &dims, &n);
		byte_const(k, name, draw(&k->d, 2) == 1 ? ONX_INT8 : ONX_UINT8, dims);
		break;
	case 'c':
		byte_const(k, name, ONX_BOOL, "4");
		break;
	default:
		int_const(k, name, letter == 'n');
		break;
	}
	return name;
}

/* ---- nodes ---- */

/* A word for the attribute, of those that some operator knows, or of none. */
static const char *
word_for(maker *k, const char *name)
{
	static const char *const words[] = {"SAME_UPPER",
					    "SAME_LOWER",
					    "VALID",
					    "NOTSET",
					    "linear",
					    "nearest",
					    "cubic",
					    "constant",
					    "reflect",
					    "edge",
					    "wrap",
					    "DCR",
					    "CRD",
					    "asymmetric",
					    "half_pixel",
					    "align_corners",
					    "floor",
					    "round_prefer_floor",
					    "none",
					    "add",
					    "mul",
					    "tanh",
					    "forward",
					    "reverse",
					    "bidirectional",
					    "ij,jk->ik",
					    "bij,bjk->bik",
					    "i...,i...->...",
					    "odd"};

	(void)name;
	return words[draw(&k->d, 29)];
}

static void
attribute(maker *k, const char *name, char kind)
{
	int64_t v[8];
	int n = kind == 'p' ? 4 : kind == 'k' ? 2 : draw(&k->d, 6);

	for (int i = 0; i < n; i++)
		v[i] = draw(&k->d, 12) == 11 ? draw_int(&k->d)
		       : kind == 'k'         ? 1 + draw(&k->d, 3)
					     : draw(&k->d, 3);
	switch (kind) {
	case 'i':
		onx_int(k->file, name, draw(&k->d, 6) == 5 ? draw_int(&k->d) : draw(&k->d, 5));
		break;
	case 'r':
		onx_real(k->file, name, draw_real(&k->d));
		break;
	case 'e':
		onx_string(k->file, name, word_for(k, name));
		break;
	default:
		onx_list(k->file, name, n, v);
		break;
	}
}

static void
attributes(maker *k, const char *spec)
{
	while (*spec != '\0') {
		size_t n = strcspn(spec, ":");
		char name[40];

		memcpy(name, spec, n);
		name[n] = '\0';
		if (draw(&k->d, 2) == 1)
			attribute(k, name, spec[n + 1]);
		spec += n + 2 + (spec[n + 2] == ' ');
	}
}

static void
add_node(maker *k)
{
	const op_row *r = &ops[draw(&k->d, (int)(sizeof ops / sizeof ops[0]))];
	char in[160] = "", out[40] = "", name[16];
	bool may_end = false;

	for (const char *s = r->in; *s != '\0'; s++) {
		may_end |= *s == '?';
		if (*s == '?' || (may_end && draw(&k->d, 3) == 2))
			continue;
		/* among the later values more often */
		int back = draw(&k->d, 4) == 3 ? draw(&k->d, k->nvalue) : draw(&k->d, 2);
		const char *from = *s == 'x'
					   ? k->value[k->nvalue - 1 - (back < k->nvalue ? back : 0)]
					   : constant(k, *s, name, sizeof name);

		snprintf(in + strlen(in), sizeof in - strlen(in), "%s%s", in[0] != '\0' ? "," : "",
			 from);
	}
	attributes(k, r->attrs);
	for (int i = 0; i < r->nout && k->nvalue < MOST_VALUES; i++) {
		snprintf(k->value[k->nvalue], sizeof k->value[0], "v%d", k->nvalue);
		snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s", i > 0 ? "," : "",
			 k->value[k->nvalue++]);
	}
	k->file->domain = r->domain;
	onx_node(k->file, r->op, in, out);
	k->file->domain = NULL;
}

static void
add_inputs(maker *k)
{
	static const char *const shape[] = {"1,4,4,4", "1,4",       "4,4", "1,4,4",
					    "2,4,4,4", "1,4,3,3,3", "4",   "1,1,4,4"};
	static const int type[] = {ONX_FLOAT, ONX_FLOAT, ONX_FLOAT, ONX_UINT8,
				   ONX_INT8,  ONX_INT64, ONX_BOOL};

	for (int n = 1 + draw(&k->d, 2); k->nvalue < n;) {
		char *name = k->value[k->nvalue];

		snprintf(name, sizeof k->value[0], "x%d", k->nvalue++);
		onx_input(k->file, name, type[draw(&k->d, 7)], shape[draw(&k->d, 8)]);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int64_t version[] = {13, 17, 21, 11, 9, 7, 23};
	static onx file;
	maker k = {.d = {data, size, 0}, .file = &file};
	const fuzz_how_to how = draw_options(&k.d);
	const int64_t set = version[draw(&k.d, 7)];
	size_t n;

	onx_begin(&file);
	add_inputs(&k);
	for (int i = 0; i < MOST_OPS && k.nvalue + 3 < MOST_VALUES && (i == 0 || !drawn_out(&k.d));
	     i++)
		add_node(&k);
	onx_output(&file, k.value[k.nvalue - 1]);
	if (draw(&k.d, 3) == 2)
		onx_output(&file, k.value[draw(&k.d, k.nvalue)]);
	const uint8_t *bytes = onx_end(&file, set, &n);
	fuzz_model_run_as(".onnx", bytes, n, &how);
	return 0;
}
