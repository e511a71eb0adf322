// SPDX-License-Identifier: Apache-2.0
// saturation.js - the accuracy of an exported network in the arithmetic of ONNX Runtime's kernels for x86 without VNNI,
// computed here, as few machines of today have it: u8 data x i8 weights, two neighbouring products added in 16 bits with
// saturation (VPMADDUBSW), these sums in 32 bits.  Depthwise convolutions are exact there.
//
//   node saturation.js MODEL.onnx X.npy LABELS.npy [--bound PERCENT]
//
// Prints the accuracy with exact and with saturating sums; --bound: fails where the second is lower by more than that.
const {load, attributes, values} = require('./onnx_file.js');
const {convert} = require('./qlinear.js');
const {read} = require('./npy.js');

const clamp = (v) => v < 0 ? 0 : v > 255 ? 255 : v;
const narrow = (v) => v < -32768 ? -32768 : v > 32767 ? 32767 : v;
const even = (v) => {
	const r = Math.round(v);
	return r - v === 0.5 && r % 2 !== 0 ? r - 1 : r;
};
const f32 = Math.fround;
const size = (dims) => dims.reduce((a, b) => a * b, 1);

// The sum over k of (a[k] - zero) * w[k], in one way or the other; total: the sum of w.
const exact = (a, w, at, n, zero, total) => {
	let sum = 0;
	for (let k = 0; k < n; k++)
		sum += a[k] * w[at + k];
	return sum - zero * total;
};
const saturating = (a, w, at, n, zero, total) => {
	let sum = 0;
	for (let k = 0; k + 1 < n; k += 2)
		sum += narrow(a[k] * w[at + k] + a[k + 1] * w[at + k + 1]);
	return sum + (n % 2 === 1 ? a[n - 1] * w[at + n - 1] : 0) - zero * total;
};

const totals = (w, rows, n) => Array.from({length: rows}, (_, o) => w.subarray(o * n, (o + 1) * n).reduce((a, b) => a + b, 0));

// Patches of an image [C, H, W] as the rows (kh, kw, c) that the kernels multiply; pads are the zero point.
const conv = (n, constant) => {
	const w = constant(n.in[3]), [O, I, kh, kw] = w.dims, a = attributes(n), rows = new Int32Array(w.data.length);
	const [top, left] = a.pads || [0, 0], [sh, sw] = a.strides || [1, 1], depthwise = a.group > 1 && I === 1, K = kh * kw * I;
	for (let o = 0; o < O; o++)
		for (let c = 0; c < I; c++)
			for (let p = 0; p < kh * kw; p++)
				rows[o * K + p * I + c] = w.data[(o * I + c) * kh * kw + p];
	const total = totals(rows, O, K), ws = constant(n.in[4]).data, bias = n.in[8] ? constant(n.in[8]).data : new Int32Array(O);
	const [xs, xz, ys, yz] = [1, 2, 6, 7].map((i) => constant(n.in[i]).data[0]);
	return (x, product) => {
		const [, C, H, W] = x.dims, OH = Math.floor((H + top + (a.pads || [0, 0, 0, 0])[2] - kh) / sh) + 1;
		const OW = Math.floor((W + left + (a.pads || [0, 0, 0, 0])[3] - kw) / sw) + 1, y = new Int32Array(O * OH * OW);
		const patch = new Int32Array(kh * kw * C);
		if (!depthwise && a.group > 1)
			throw new Error(`${n.name}: groups that are not single channels`);
		for (let row = 0; row < OH; row++)
			for (let col = 0; col < OW; col++) {
				for (let p = 0; p < kh * kw; p++) {
					const h = row * sh - top + Math.floor(p / kw), v = col * sw - left + p % kw, out = h < 0 || h >= H || v < 0 || v >= W;
					for (let c = 0; c < C; c++)
						patch[depthwise ? c * kh * kw + p : p * C + c] = out ? xz : x.data[(c * H + h) * W + v];
				}
				for (let o = 0; o < O; o++) {
					const s = depthwise ? exact(patch.subarray(o * K, (o + 1) * K), rows, o * K, K, xz, total[o]) :
						product(patch, rows, o * K, K, xz, total[o]);
					y[(o * OH + row) * OW + col] = clamp(even(f32((s + bias[o]) * f32(f32(xs * ws[ws.length > 1 ? o : 0]) / ys))) + yz);
				}
			}
		return {dims: [1, O, OH, OW], data: y};
	};
};

const gemm = (n, constant) => {
	const w = constant(n.in[3]), [O, K] = w.dims, rows = Int32Array.from(w.data), total = totals(rows, O, K);
	const bias = n.in[6] ? constant(n.in[6]).data : new Int32Array(O), ws = constant(n.in[4]).data;
	const [xs, xz, ys, yz] = [1, 2, 7, 8].map((i) => constant(n.in[i]).data[0]);
	return (x, product) => ({dims: [1, O], data: Int32Array.from({length: O}, (_, o) => clamp(even(f32((product(x.data, rows, o * K, K, xz, total[o]) +
		bias[o]) * f32(f32(xs * ws[ws.length > 1 ? o : 0]) / ys))) + yz))});
};

const pool = (n, constant) => {
	const [xs, xz, ys, yz] = [1, 2, 3, 4].map((i) => constant(n.in[i]).data[0]);
	return (x) => {
		const [, C, H, W] = x.dims;
		if (attributes(n).kernel_shape.join() !== [H, W].join())
			throw new Error(`${n.name}: only pools over whole images are computed here`);
		return {dims: [1, C, 1, 1], data: Int32Array.from({length: C}, (_, c) =>
			clamp(even((x.data.subarray(c * H * W, (c + 1) * H * W).reduce((a, b) => a + b, 0) / (H * W) - xz) * xs / ys) + yz))};
	};
};

const makers = {
	QLinearConv: conv,
	QGemm: gemm,
	QLinearAveragePool: pool,
	QLinearSoftmax: () => (x) => x, // the largest stays the largest
	Identity: () => (x) => x,
	Reshape: (n, constant) => (x) => ({dims: Array.from(constant(n.in[1]).data, Number), data: x.data}),
	DequantizeLinear: (n, constant) => (x) => ({dims: x.dims, data: Float64Array.from(x.data, (v) => (v - constant(n.in[2]).data[0]) * constant(n.in[1]).data[0])}),
	QuantizeLinear: (n, constant) => (x) => {
		const zero = constant(n.in[2]), low = zero.type === 3 ? -128 : 0;
		return {dims: x.dims, data: Int32Array.from(x.data, (v) => clamp(even(v / constant(n.in[1]).data[0]) + zero.data[0] - low) + low)};
	},
};

const [model, xPath, labelPath, ...options] = process.argv.slice(2);
const f = convert(load(model)), x = read(xPath), labels = read(labelPath).data, dims = [1, ...x.shape.slice(1)], each = size(dims);
const constant = (name) => {
	const t = f.initializers.get(name);
	return {type: t.type, dims: t.dims, data: values(t)};
};
const steps = f.nodes.map((n) => {
	if (makers[n.op] === undefined)
		throw new Error(`${n.op} '${n.name}' is not computed here`);
	return {from: n.in[0], to: n.out[0], run: makers[n.op](n, constant)};
});
const right = (product) => {
	let count = 0;
	for (let i = 0; i < labels.length; i++) {
		const known = new Map([[f.inputs[0], {dims, data: x.data.subarray(i * each, (i + 1) * each)}]]);
		for (const s of steps)
			known.set(s.to, s.run(known.get(s.from), product));
		const y = known.get(f.outputs[0]).data;
		count += y.indexOf(Math.max(...y)) === Number(labels[i]);
	}
	return count;
};
const a = right(exact), b = right(saturating), percent = (n) => (n / labels.length * 100).toFixed(1);
console.log(`${model}: ${a} of ${labels.length} right (${percent(a)} %) with exact sums, ${b} (${percent(b)} %) with sums of pairs in 16 bits`);
if (options.includes('--bound') && (a - b) / labels.length * 100 > Number(options[options.indexOf('--bound') + 1]))
	process.exit(1);
