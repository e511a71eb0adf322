// SPDX-License-Identifier: Apache-2.0
// samples.js - samples as a network's input takes them.
//
//   node samples.js FROM.npy TO.npy [--count N] [--enlarge K] [--zero Z] [--scale S] [--float]
//
// Values become (v - Z) * S, images K times as wide and high; i8 integers, or f32.
const {read, write} = require('./npy.js');

const [from, to, ...rest] = process.argv.slice(2);
const option = (name, otherwise) => rest.includes(name) ? Number(rest[rest.indexOf(name) + 1]) : otherwise;
const x = read(from), k = option('--enlarge', 1), n = Math.min(option('--count', x.shape[0]), x.shape[0]);
const [, h, w, c] = [...x.shape, 1, 1].slice(0, 4), scale = option('--scale', 1), zero = option('--zero', 0);
const y = new (rest.includes('--float') ? Float32Array : Int8Array)(n * h * w * c * k * k);
let at = 0;
for (let i = 0; i < n; i++)
	for (let row = 0; row < h * k; row++)
		for (let col = 0; col < w * k; col++)
			for (let channel = 0; channel < c; channel++)
				y[at++] = (x.data[((i * h + Math.floor(row / k)) * w + Math.floor(col / k)) * c + channel] - zero) * scale;
write(to, rest.includes('--float') ? '<f4' : '|i1', [n, h * k, w * k, c], y);
