/* SPDX-License-Identifier: Apache-2.0 */
/* resume_nets.h - the networks of those tests, and the folder in which they keep files.  The file that
 * includes it defines _POSIX_C_SOURCE for mkdtemp. */
#ifndef QN_TESTS_RESUME_NETS_H
#define QN_TESTS_RESUME_NETS_H

#include "tests/e2e/resume.h"

#include <unistd.h>

#define DENSE_WEIGHTS "const : tensor<5x6xf32> rand 3\n"

static const resume_net resume_nets[] = {
	{.name = "digits",
	 .file = "examples/digits/digits.json",
	 .skip = "name:conv2*,op:softmax",
	 .recipe = "{\"rules\": [{\"name\": \"conv1*\", \"activations\": \"i16\"}, "
		   "{\"op\": \"dense\", \"method\": \"percentile\", \"weights\": \"i4\"}, "
		   "{\"name\": \"conv2*\", \"skip\": true}]}",
	 .samples = 7}, /* too few, which is warned of once */
	/* one weight for two layers, batch norms, more than 16 channels, a pattern that declines */
	{.name = "shared",
	 .text = "graph @main(%x: tensor<1x6x6x3xf32>, %z: tensor<1x6xf32>) {\n"
		 "%w = const : tensor<18x3x3x3xf32> rand 1\n"
		 "%b = const : tensor<18xf32> rand 2\n"
		 "%c = conv2d %x, %w {padding=same}\n"
		 "%cb = bias_add %c, %b\n"
		 "%cr = relu %cb\n"
		 "%p = max_pool %cr {kernel=[2,2], stride=[2,2]}\n"
		 "%g = const : tensor<18xf32> splat 0.5\n"
		 "%v = const : tensor<18xf32> splat 1.5\n"
		 "%n = batch_norm %p, %g, %b, %b, %v\n"
		 "%d = global_avg_pool %n\n"
		 "%f = flatten %d\n"
		 "%wa = const : tensor<6x18xf32> rand 4\n"
		 "%wb = const : tensor<6x18xf32> rand 4\n"
		 "%l1 = dense %f, %wa\n"
		 "%l2 = dense %f, %wb\n"
		 "%s = add %l1, %z\n"
		 "%t = mul %s, %l2\n"
		 "%wc = " DENSE_WEIGHTS "%k1 = dense %t, %wc\n"
		 "%k2 = dense %z, %wc\n"
		 "%y = sub %k1, %k2\n"
		 "%q = softmax %y\n"
		 "%h = tanh %k2\n"
		 "return %q, %h as \"head\" }\n",
	 .skip = "first,name:s",
	 .recipe = "{\"rules\": [{\"name\": \"l*\", \"method\": \"kl\"}, {\"name\": \"h\", "
		   "\"activations\": \"i16\"}, {\"name\": \"t\", \"skip\": true}]}",
	 .samples = 6},
	/* channels first, functions, names that collide */
	{.name = "first",
	 .text = "graph @half(%a: tensor<1x4xf32>) {\n%r = relu %a\n%w = const : tensor<4x4xf32> "
		 "rand 9\n"
		 "%d = dense %r, %w\nreturn %d }\n"
		 "graph @main(%x: tensor<1x2x4x4xf32>) {\n"
		 "%t = transpose %x {perm=[0,2,3,1]}\n"
		 "%w = const : tensor<4x3x3x2xf32> rand 5\n"
		 "%c = conv2d %t, %w {padding=same}\n"
		 "%u = transpose %c {perm=[0,3,1,2]}\n"
		 "%l = sigmoid %u\n"
		 "%m = mul %u, %l\n"
		 "%v = transpose %m {perm=[0,2,3,1]}\n"
		 "%g = global_avg_pool %v\n"
		 "%f = reshape %g {shape=[1,4]}\n"
		 "%h1 = call @half %f\n"
		 "%h2 = call @half %h1\n"
		 "%o = const : tensor<4xf32> [1.0,2.0,3.0,4.0]\n"
		 "%y = bias_add %h2, %o\n"
		 "%x.q = tanh %y\n"
		 "return %x.q, %m }\n",
	 .skip = "op:silu,last",
	 .recipe = "{\"rules\": [{\"op\": \"silu\", \"method\": \"percentile\"}, "
		   "{\"name\": \"c\", \"granularity\": \"per-tensor\"}, {\"op\": \"tanh\", "
		   "\"skip\": true}]}",
	 .samples = 6},
	{.name = "kws",
	 .file = "models/kws_hybrid_float.tflite",
	 .data = true,
	 .skip = "first,op:softmax",
	 .recipe = "{\"rules\": [{\"op\": \"dense\", \"method\": \"kl\"}, {\"op\": \"softmax\", "
		   "\"skip\": true}]}",
	 .samples = 2},
	{.name = "mnist_cntk",
	 .file = "models/mnist_cntk.onnx",
	 .data = true,
	 .skip = "last",
	 .recipe = "{\"rules\": [{\"op\": \"conv2d\", \"method\": \"percentile\"}, {\"op\": "
		   "\"max_pool\", \"skip\": true}]}",
	 .samples = 2},
	{.name = "ad",
	 .file = "models/ad_float.tflite",
	 .data = true,
	 .skip = "first",
	 .recipe = "{\"rules\": [{\"op\": \"dense\", \"activations\": \"i16\", \"method\": "
		   "\"mse\"}]}",
	 .samples = 2},
	{.name = "mnist_valid",
	 .file = "models/mnist_valid_float.tflite",
	 .data = true,
	 .skip = "name:*softmax*,last",
	 .recipe = "{\"rules\": [{\"op\": \"conv2d\", \"method\": \"kl\"}, {\"op\": \"dense\", "
		   "\"skip\": true}]}",
	 .samples = 2},
	{.name = "resnet8",
	 .file = "models/resnet8_float.tflite",
	 .data = true,
	 .skip = "op:add",
	 .recipe = "{\"rules\": [{\"op\": \"add\", \"method\": \"percentile\"}, {\"op\": "
		   "\"softmax\", \"skip\": true}]}",
	 .samples = 2},
};

static char resume_folder[] = "/tmp/quern-resume-XXXXXX";

static inline int
resume_begin(void)
{
	return mkdtemp(resume_folder) != NULL ? 0 : -1;
}

static inline const char *
resume_path(const char *name)
{
	static char path[200];

	(void)snprintf(path, sizeof path, "%s/%s", resume_folder, name);
	return path;
}

/* Removes the folder and what lies in it. */
static inline int
resume_remove(void)
{
	static const char *const names[] = {"net.qir", "stop.qir", "stop.json", "stop.safetensors"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		(void)remove(resume_path(names[i]));
	return remove(resume_folder);
}

static inline bool
resume_full(void)
{
	const char *v = getenv("QUERN_FULL");

	return v != NULL && strcmp(v, "1") == 0;
}

/* The file of a network; NULL: it is not there. */
static inline const char *
resume_net_path(const resume_net *net)
{
	static char path[400];
	const char *root = getenv(net->data ? "QUERN_DATA" : "QUERN_SOURCE");

	if (net->text != NULL) {
		FILE *f = fopen(resume_path("net.qir"), "w");

		assert_non_null(f);
		fprintf(f, "model \"%s\"\n%s", net->name, net->text);
		assert_int_equal(fclose(f), 0);
		return resume_path("net.qir");
	}
	(void)snprintf(path, sizeof path, "%s/%s", root != NULL ? root : ".", net->file);
	return access(path, R_OK) == 0 ? path : NULL;
}

#endif
