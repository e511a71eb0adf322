#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Train the digits example and write the files that Quern reads.

	load_digits --> split --> train --> digits.json          the graph, in floats
	                  |         +-----> digits.safetensors   its constants
	                  +--> calib.npy                200 samples of the training part
	                  +--> test_x.npy, test_y.npy   500 samples, used for the score only

	./train.py              train on the training part and write all files
	./train.py --validate   train without 297 samples of it, score these, write nothing
	./train.py --check      read the written files back and score them (check.py; numpy only)

The table NODES below is the network: training walks it forwards and backwards, and the JSON file is
its printout. Everything is numpy; scikit-learn only supplies the images.
"""

import json
import os
import struct
import sys

# Read by BLAS when numpy loads: one thread, so that the number of cores cannot change a sum.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
	os.environ[variable] = "1"
sys.dont_write_bytecode = True

import numpy as np  # noqa: E402

import check  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SEED_SPLIT, SEED_TRAIN = 20, 7
TEST, CALIB, VALIDATION = 500, 200, 297
EPOCHS, BATCH, RATE, DECAY = 60, 32, 4e-3, 2e-2
EPSILON = 0.001  # added to the variance in batch_norm
MOMENTUM = 0.95  # of the running mean and variance that inference uses

SAME3 = {"stride": [1, 1], "padding": "same"}
POOL2 = {"kernel": [2, 2], "stride": [2, 2], "padding": "valid"}


def bn(name, data):
	names = [f"{name}.{part}" for part in ("gamma", "beta", "mean", "var")]
	return (name, "batch_norm", [data, *names], {"epsilon": EPSILON})


NODES = [
	("conv1", "conv2d", ["image", "conv1.w"], SAME3),
	bn("bn1", "conv1"),
	("relu1", "relu", ["bn1"], {}),
	("dw", "conv2d", ["relu1", "dw.w"], {**SAME3, "groups": 16}),
	bn("bn2", "dw"),
	("relu2", "relu", ["bn2"], {}),
	("pw", "conv2d", ["relu2", "pw.w"], SAME3),
	("pw_bias", "bias_add", ["pw", "pw.b"], {}),
	("residual", "add", ["pw_bias", "relu1"], {}),
	("relu3", "relu", ["residual"], {}),
	("pool1", "max_pool", ["relu3"], POOL2),
	("conv2", "conv2d", ["pool1", "conv2.w"], SAME3),
	bn("bn3", "conv2"),
	("relu4", "relu6", ["bn3"], {}),
	("pool2", "avg_pool", ["relu4"], POOL2),
	("flat", "flatten", ["pool2"], {}),
	("logits", "dense", ["flat", "dense.w", "dense.b"], {}),
	("probs", "softmax", ["logits"], {"axis": -1}),
]

# Weights are [O, kh, kw, I/groups]; a batch_norm has one number per channel.
SHAPES = {"conv1.w": (16, 3, 3, 1), "dw.w": (16, 3, 3, 1), "pw.w": (16, 1, 1, 16), "pw.b": (16,),
	"conv2.w": (32, 3, 3, 16), "dense.w": (10, 128), "dense.b": (10,)}
CHANNELS = {"bn1": 16, "bn2": 16, "bn3": 32}


# -- ops: each returns its output and a function from the output's gradient to its inputs' --


def conv2d(x, w, attrs):
	"""Stride 1, SAME, groups 1 or one per channel: one product per tap (i, j) of the kernel."""
	n, height, width, c = x.shape
	kh, kw = w.shape[1:3]
	top, left = (kh - 1) // 2, (kw - 1) // 2
	padded = np.pad(x, ((0, 0), (top, kh - 1 - top), (left, kw - 1 - left), (0, 0)))
	depthwise = attrs.get("groups", 1) > 1
	taps = [(i, j) for i in range(kh) for j in range(kw)]

	def patch(i, j):
		return padded[:, i:i + height, j:j + width].reshape(-1, c)

	y = np.zeros((n * height * width, w.shape[0]), np.float32)
	for i, j in taps:
		y += patch(i, j) * w[:, i, j, 0] if depthwise else patch(i, j) @ w[:, i, j].T

	def back(g):
		g = g.reshape(-1, w.shape[0])
		dw, dpadded = np.zeros_like(w), np.zeros_like(padded)
		for i, j in taps:
			dw[:, i, j] = (g * patch(i, j)).sum(0)[:, None] if depthwise else g.T @ patch(i, j)
			dx = g * w[:, i, j, 0] if depthwise else g @ w[:, i, j]
			dpadded[:, i:i + height, j:j + width] += dx.reshape(x.shape)
		return [dpadded[:, top:top + height, left:left + width], dw]

	return y.reshape(n, height, width, -1), back


def batch_norm(x, gamma, beta, mean, var, attrs):
	"""Normalizes with the batch's own statistics and moves the running ones (in place)."""
	axes, count = (0, 1, 2), x.size // x.shape[-1]
	batch_mean, batch_var = x.mean(axes), x.var(axes)
	mean += (1 - MOMENTUM) * (batch_mean - mean)
	var += (1 - MOMENTUM) * (batch_var * count / (count - 1) - var)
	inverse = 1 / np.sqrt(batch_var + np.float32(attrs["epsilon"]))
	unit = (x - batch_mean) * inverse

	def back(g):
		dbeta, dgamma = g.sum(axes), (g * unit).sum(axes)
		dx = gamma * inverse * (g - (dbeta + unit * dgamma) / np.float32(count))
		return [dx, dgamma, dbeta, None, None]

	return unit * gamma + beta, back


def bias_add(x, b, attrs):
	return x + b, lambda g: [g, g.sum(tuple(range(g.ndim - 1)))]


def add(x, y, attrs):
	return x + y, lambda g: [g, g]


def relu(x, attrs):
	return np.maximum(x, 0), lambda g: [g * (x > 0)]


def relu6(x, attrs):
	return np.clip(x, 0, 6), lambda g: [g * ((x > 0) & (x < 6))]


def windows(x):
	"""[N, H, W, C] to [N, H/2, W/2, C, 4]: the four pixels of each 2x2 window last."""
	n, height, width, c = x.shape
	x = x.reshape(n, height // 2, 2, width // 2, 2, c)
	return x.transpose(0, 1, 3, 5, 2, 4).reshape(n, height // 2, width // 2, c, 4)


def unwindows(x):
	n, height, width, c, _ = x.shape
	x = x.reshape(n, height, width, c, 2, 2).transpose(0, 1, 4, 2, 5, 3)
	return x.reshape(n, height * 2, width * 2, c)


def max_pool(x, attrs):
	w = windows(x)
	first = np.arange(4) == w.argmax(-1)[..., None]
	return w.max(-1), lambda g: [unwindows(first * g[..., None])]


def avg_pool(x, attrs):
	return windows(x).mean(-1), lambda g: [unwindows(np.repeat(g[..., None] / 4, 4, axis=-1))]


def flatten(x, attrs):
	return x.reshape(len(x), -1), lambda g: [g.reshape(x.shape)]


def dense(x, w, b, attrs):
	return x @ w.T + b, lambda g: [g @ w, g.T @ x, g.sum(0)]


OPS = {f.__name__: f for f in (
	conv2d, batch_norm, bias_add, add, relu, relu6, max_pool, avg_pool, flatten, dense)}


# -- training --


def initial(rng):
	"""He's initialization: the variance of a weight is 2 / (number of inputs of one output)."""
	values = {}
	for name, shape in SHAPES.items():
		scale = np.sqrt(2 / np.prod(shape[1:])) if len(shape) > 1 else 0.0
		values[name] = (rng.standard_normal(shape) * scale).astype(np.float32)
	for name, c in CHANNELS.items():
		for part, start in (("gamma", 1), ("beta", 0), ("mean", 0), ("var", 1)):
			values[f"{name}.{part}"] = np.full(c, start, np.float32)
	return values


def gradients(constants, x, labels):
	"""Forward to the logits, back from the mean cross-entropy; {constant: gradient}."""
	values, backs = {**constants, "image": x}, []
	for name, op, inputs, attrs in NODES[:-1]:
		values[name], back = OPS[op](*(values[i] for i in inputs), attrs)
		backs.append((name, inputs, back))
	logits = values["logits"]
	p = np.exp(logits - logits.max(-1, keepdims=True))
	p /= p.sum(-1, keepdims=True)
	grads = {"logits": (p - np.eye(10, dtype=np.float32)[labels]) / np.float32(len(x))}
	for name, inputs, back in reversed(backs):
		for source, g in zip(inputs, back(grads.pop(name))):
			if g is not None:
				grads[source] = grads[source] + g if source in grads else g
	return {name: grads[name] for name in constants if name in grads}


def shifted(x, rng):
	"""Each image moved by -1, 0 or 1 pixel (0 half of the time) along both axes; zeros come in."""
	padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
	moves = rng.choice([0, 1, 1, 2], size=(len(x), 2))
	return np.stack([image[i:i + 8, j:j + 8] for image, (i, j) in zip(padded, moves)])


def train(x, labels):
	"""Adam with decoupled weight decay and a learning rate that falls along half a cosine."""
	rng = np.random.RandomState(SEED_TRAIN)
	constants = initial(rng)
	m = {name: np.zeros_like(v) for name, v in constants.items()}
	v = {name: np.zeros_like(v) for name, v in constants.items()}
	per_epoch = -(-len(x) // BATCH)
	step, steps = 0, EPOCHS * per_epoch
	for epoch in range(EPOCHS):
		order = rng.permutation(len(x))
		for picks in np.array_split(order, per_epoch):
			step += 1
			rate = RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
			for name, g in gradients(constants, shifted(x[picks], rng), labels[picks]).items():
				m[name] += 0.1 * (g - m[name])
				v[name] += 0.001 * (g * g - v[name])
				mean, square = m[name] / (1 - 0.9 ** step), v[name] / (1 - 0.999 ** step)
				change = mean / (np.sqrt(square) + 1e-8)
				if name.endswith(".w"):
					change = change + DECAY * constants[name]
				constants[name] -= np.float32(rate) * change.astype(np.float32)
		if (epoch + 1) % 10 == 0:
			print(f"epoch {epoch + 1:3d} of {EPOCHS}", flush=True)
	return constants


# -- files --


def samples():
	"""(x, labels) of the held-out part and of the training part."""
	from sklearn.datasets import load_digits
	digits = load_digits()
	x = (digits.images / 16).astype(np.float32)[..., None]
	labels = digits.target.astype(np.int64)
	# RandomState and not default_rng: numpy promises that its stream never changes.
	order = np.random.RandomState(SEED_SPLIT).permutation(len(x))
	held, rest = order[:TEST], order[TEST:]
	return (x[held], labels[held]), (x[rest], labels[rest])


def graph_text(constants):
	"""The graph as JSON, one constant or node per line."""
	def rows(items):
		return ",\n".join("      " + item for item in items)

	def type_of(shape):
		return "tensor<" + "".join(f"{d}x" for d in shape) + "f32>"

	def constant(name):
		declared = type_of(constants[name].shape)
		row = {"type": declared, "file": "digits.safetensors", "tensor": name}
		return f"{json.dumps(name)}: {json.dumps(row)}"

	def node(name, op, inputs, attrs):
		row = {"name": name, "op": op, "inputs": inputs}
		return json.dumps({**row, "attrs": attrs} if attrs else row)

	return f"""{{
  "quern": 1,
  "name": "digits",
  "stage": "float",
  "graph": {{
    "name": "main",
    "inputs": [{{"name": "image", "type": "{type_of((1, 8, 8, 1))}"}}],
    "constants": {{
{rows(constant(name) for name in constants)}
    }},
    "nodes": [
{rows(node(*row) for row in NODES)}
    ],
    "outputs": [{{"name": "probs", "value": "probs"}}]
  }}
}}
"""


def safetensors_bytes(constants):
	"""u64 length of the header, the header (JSON, spaces up to a multiple of 8 bytes), the data."""
	header, at = {}, 0
	for name, value in constants.items():
		end = at + value.nbytes
		header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [at, end]}
		at = end
	text = json.dumps(header, separators=(",", ":")).encode()
	text += b" " * (-len(text) % 8)
	data = b"".join(value.astype("<f4").tobytes() for value in constants.values())
	return struct.pack("<Q", len(text)) + text + data


def in_order(constants):
	"""The constants in the order in which the nodes use them."""
	return {name: constants[name] for row in NODES for name in row[2] if name in constants}


def write(constants, held, rest):
	def path(name):
		return os.path.join(HERE, name)

	with open(path("digits.json"), "w", encoding="ascii", newline="\n") as file:
		file.write(graph_text(constants))
	with open(path("digits.safetensors"), "wb") as file:
		file.write(safetensors_bytes(constants))
	np.save(path("calib.npy"), rest[0][:CALIB].astype("<f4"))
	np.save(path("test_x.npy"), held[0].astype("<f4"))
	np.save(path("test_y.npy"), held[1].astype("<i8"))


def main(arguments):
	if arguments == ["--check"]:
		return check.main(HERE)
	if arguments not in ([], ["--validate"]):
		print(__doc__)
		return 2
	held, (x, labels) = samples()
	if arguments:
		constants = train(x[:-VALIDATION], labels[:-VALIDATION])
		graph = json.loads(graph_text(constants))["graph"]
		probs = check.run(graph, constants, x[-VALIDATION:])
		print(check.score("validation", probs, labels[-VALIDATION:]))
		return 0
	write(in_order(train(x, labels)), held, (x, labels))
	return check.main(HERE)


if __name__ == "__main__":
	sys.exit(main(sys.argv[1:]))
