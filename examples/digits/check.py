# SPDX-License-Identifier: Apache-2.0
"""Score digits.json on test_x.npy by executing its nodes with numpy.

Shares no code with the training: it reads the graph and its constants from the files and runs op
by op in single precision. A sum over a kernel goes over (kh, kw, channel) ascending into one
accumulator and the bias comes last, which is the order of Quern's own float kernels.

	digits.json + digits.safetensors + test_x.npy --> probs [500, 10] --> argmax == test_y.npy ?
"""

import json
import os
import re
import struct

import numpy as np

WANTED = 97.5  # per cent of the held-out samples; below it the check fails


def padding(size, kernel, stride, attrs, axis):
	"""(before, after) along one axis; SAME puts the odd element after, as TFLite does."""
	mode = attrs.get("padding", "explicit")
	if mode == "same":
		total = max(0, (-(-size // stride) - 1) * stride + kernel - size)
		return total // 2, total - total // 2
	if mode == "valid":
		return 0, 0
	return tuple(attrs.get("pad", [0, 0, 0, 0])[2 * axis:2 * axis + 2])


def taps(x, kernel, attrs, fill):
	"""For each (i, j) of a kernel: the [N, OH, OW, C] input elements that meet it."""
	stride, dilation = attrs.get("stride", [1, 1]), attrs.get("dilation", [1, 1])
	reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
	pads = [padding(x.shape[1 + a], reach[a], stride[a], attrs, a) for a in (0, 1)]
	x = np.pad(x, ((0, 0), *pads, (0, 0)), constant_values=fill)
	out = [(x.shape[1 + a] - reach[a]) // stride[a] + 1 for a in (0, 1)]
	for i in range(kernel[0]):
		for j in range(kernel[1]):
			top, left = i * dilation[0], j * dilation[1]
			rows = slice(top, top + (out[0] - 1) * stride[0] + 1, stride[0])
			columns = slice(left, left + (out[1] - 1) * stride[1] + 1, stride[1])
			yield i, j, x[:, rows, columns]


def conv2d(attrs, x, w, bias=None):
	outputs, kh, kw, depth = w.shape
	# The input channel that is the c-th of each output's group.
	base = np.arange(outputs) // (outputs // attrs.get("groups", 1)) * depth
	y = np.float32(0)
	for i, j, part in taps(x, (kh, kw), attrs, 0):
		for c in range(depth):
			y = y + part[..., base + c] * w[:, i, j, c]
	return y if bias is None else y + bias


def dense(attrs, x, w, bias=None):
	y = np.zeros((len(x), len(w)), np.float32)
	for k in range(w.shape[1]):
		y += x[:, k, None] * w[:, k]
	return y if bias is None else y + bias


def batch_norm(attrs, x, gamma, beta, mean, var):
	return (x - mean) / np.sqrt(var + np.float32(attrs["epsilon"])) * gamma + beta


def max_pool(attrs, x):
	return np.max([part for _, _, part in taps(x, attrs["kernel"], attrs, -np.inf)], axis=0)


def avg_pool(attrs, x):
	total = sum(part for _, _, part in taps(x, attrs["kernel"], attrs, 0))
	return total / sum(part for _, _, part in taps(np.ones_like(x), attrs["kernel"], attrs, 0))


def softmax(attrs, x):
	e = np.exp(x - x.max(attrs["axis"], keepdims=True))
	return e / e.sum(attrs["axis"], keepdims=True)


OPS = {
	"conv2d": conv2d,
	"dense": dense,
	"bias_add": lambda attrs, x, b: x + b,
	"batch_norm": batch_norm,
	"add": lambda attrs, x, y: x + y,
	"relu": lambda attrs, x: np.maximum(x, np.float32(0)),
	"relu6": lambda attrs, x: np.clip(x, np.float32(0), np.float32(6)),
	"max_pool": max_pool,
	"avg_pool": avg_pool,
	"flatten": lambda attrs, x: x.reshape(len(x), -1),
	"softmax": softmax,
}


def read_safetensors(path):
	with open(path, "rb") as file:
		data = file.read()
	length, = struct.unpack("<Q", data[:8])
	header, data = json.loads(data[8:8 + length]), data[8 + length:]
	values = {}
	for name, row in header.items():
		begin, end = row["data_offsets"]
		if row["dtype"] != "F32":
			raise ValueError(f"{name}: dtype {row['dtype']}, want F32")
		values[name] = np.frombuffer(data[begin:end], "<f4").reshape(row["shape"])
	return values


def shape_of(text):
	return tuple(int(d) for d in re.fullmatch(r"tensor<((?:\d+x)+)f32>", text)[1].split("x")[:-1])


def load(folder):
	"""The graph of digits.json and its constants, whose declared types are checked."""
	with open(os.path.join(folder, "digits.json"), encoding="ascii") as file:
		graph = json.load(file)["graph"]
	files, constants = {}, {}
	for name, row in graph["constants"].items():
		if row["file"] not in files:
			files[row["file"]] = read_safetensors(os.path.join(folder, row["file"]))
		constants[name] = files[row["file"]][row["tensor"]]
		if constants[name].shape != shape_of(row["type"]):
			shape = list(constants[name].shape)
			raise ValueError(f"{name}: {shape} in the file, {row['type']} in the graph")
	return graph, constants


def run(graph, constants, x):
	"""The graph's one output for all samples at once: no op here mixes samples."""
	if x.shape[1:] != shape_of(graph["inputs"][0]["type"])[1:] or x.dtype != np.float32:
		raise ValueError(f"samples: {x.dtype}{list(x.shape)}; input: {graph['inputs'][0]['type']}")
	values = {**constants, graph["inputs"][0]["name"]: x}
	for node in graph["nodes"]:
		if node["name"] in values:
			raise ValueError(f"{node['name']}: the name is taken")
		y = OPS[node["op"]](node.get("attrs", {}), *(values[name] for name in node["inputs"]))
		if y.dtype != np.float32 or not np.isfinite(y).all():
			raise ValueError(f"{node['name']}: {y.dtype} or not finite")
		values[node["name"]] = y
	return values[graph["outputs"][0]["value"]]


def score(what, probs, labels):
	right = int((probs.argmax(-1) == labels).sum())
	return f"{what} accuracy: {right} of {len(labels)} = {100 * right / len(labels):.2f} %"


def main(folder):
	"""Prints the score; returns 0, or 1 if it is below WANTED."""
	graph, constants = load(folder)
	x, labels = (np.load(os.path.join(folder, name)) for name in ("test_x.npy", "test_y.npy"))
	probs = run(graph, constants, x)
	print(score("float", probs, labels))
	return 0 if 100 * (probs.argmax(-1) == labels).mean() >= WANTED else 1
