/* SPDX-License-Identifier: Apache-2.0 */
/* make_onnx.c - writes the corpus of fuzz_onnx: small models of every kind of structure.
 *
 *   make-onnx tests/fuzz/corpus/onnx */
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/onnx_writer.h"

static void
save(const char *folder, const char *name, onx *t, int64_t version)
{
	char path[512];
	size_t n;
	const uint8_t *bytes = onx_end(t, version, &n);
	FILE *f;

	snprintf(path, sizeof path, "%s/%s.onnx", folder, name);
	f = fopen(path, "wb");
	if (f == NULL || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
		perror(path);
}

/* An image through a window, a pool and a product. */
static void
image(const char *folder, onx *t)
{
	static const float w[2 * 9] = {1, -1, 2}, m[8] = {1, 2, 3, 4, 5, 6, 7, 8};

	onx_begin(t);
	onx_input(t, "x", ONX_FLOAT, "N,1,4,4");
	onx_floats(t, "w", "2,1,3,3", w);
	onx_floats(t, "m", "8,1", m);
	onx_string(t, "auto_pad", "SAME_UPPER");
	onx_node(t, "Conv", "x,w", "a");
	onx_node(t, "Relu", "a", "b");
	onx_list(t, "kernel_shape", 2, (const int64_t[]){2, 2});
	onx_list(t, "strides", 2, (const int64_t[]){2, 2});
	onx_node(t, "MaxPool", "b", "c");
	onx_ints64(t, "s", "2", (const int64_t[]){0, -1});
	onx_node(t, "Reshape", "c,s", "d");
	onx_node(t, "Gemm", "d,m", "y");
	onx_output(t, "y");
	save(folder, "image", t, 13);
}

/* Shape arithmetic, a slice backwards, a split. */
static void
shapes(const char *folder, onx *t)
{
	onx_begin(t);
	onx_input(t, "x", ONX_FLOAT, "2,3");
	onx_node(t, "Shape", "x", "s");
	onx_ints64(t, "i", "1", (const int64_t[]){1});
	onx_node(t, "Gather", "s,i", "k");
	onx_node(t, "ConstantOfShape", "k", "z");
	onx_node(t, "Add", "x,z", "a");
	onx_ints64(t, "from", "1", (const int64_t[]){-1});
	onx_ints64(t, "to", "1", (const int64_t[]){-9});
	onx_ints64(t, "axis", "1", (const int64_t[]){1});
	onx_node(t, "Slice", "a,from,to,axis,to", "b");
	onx_node(t, "Split", "a", "c,d");
	onx_string(t, "equation", "...ij,kj->...ik");
	onx_node(t, "Einsum", "a,x", "e");
	onx_output(t, "b");
	onx_output(t, "c");
	onx_output(t, "e");
	save(folder, "shapes", t, 13);
}

/* A function with an attribute, a body. */
static void
calls(const char *folder, onx *t, onx *body)
{
	onx_begin(body);
	onx_node(body, "Neg", "h", "r");
	onx_output(body, "r");
	onx_begin(t);
	onx_function(t, "mine", "Twice", "a", "b");
	onx_refer(t, "alpha", "slope");
	onx_node(t, "LeakyRelu", "a", "h");
	onx_node(t, "Add", "h,h", "b");
	onx_function_end(t, 13);
	onx_input(t, "x", ONX_FLOAT, "2");
	onx_tensor(t, "yes", ONX_BOOL, "", "\1", 1);
	t->domain = "mine";
	onx_real(t, "slope", 0.25f);
	onx_node(t, "Twice", "x", "h");
	t->domain = NULL;
	onx_body(t, "then_branch", body);
	onx_node(t, "If", "yes", "y");
	onx_output(t, "y");
	save(folder, "calls", t, 13);
}

static void
sequence(const char *folder, onx *t)
{
	static const float w[16] = {0.5f, -1};

	onx_begin(t);
	onx_input(t, "x", ONX_FLOAT, "2,1,1");
	onx_floats(t, "w", "2,4,1", w);
	onx_floats(t, "r", "2,4,1", w);
	onx_string(t, "direction", "bidirectional");
	onx_int(t, "hidden_size", 1);
	onx_node(t, "LSTM", "x,w,r", "y,h");
	onx_floats(t, "scales", "3", (const float[]){1, 1, 2.5f});
	onx_string(t, "mode", "cubic");
	onx_node(t, "Resize", "h,,scales", "z");
	onx_output(t, "y");
	onx_output(t, "z");
	save(folder, "sequence", t, 14);
}

/* Weights in another file, behind four bytes of something else. */
static void
outside(const char *folder, onx *t)
{
	onx_begin(t);
	onx_input(t, "x", ONX_FLOAT, "N,4");
	onx_external(t, "w", ONX_FLOAT, "4,2", "outside.bin", "4");
	onx_node(t, "MatMul", "x,w", "y");
	onx_output(t, "y");
	save(folder, "outside", t, 13);
}

int
main(int argc, char **argv)
{
	onx *t = calloc(2, sizeof *t);

	if (argc != 2 || t == NULL)
		return 2;
	image(argv[1], t);
	shapes(argv[1], t);
	calls(argv[1], t, t + 1);
	sequence(argv[1], t);
	outside(argv[1], t);
	free(t);
	return 0;
}
