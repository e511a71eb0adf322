// SPDX-License-Identifier: Apache-2.0
// qlinear.js - a file of QuantizeLinear and DequantizeLinear pairs as one of operators on integers, written directly:
// what ONNX Runtime's optimizer should come to.
//
//   DequantizeLinear -> Conv -> Relu -> QuantizeLinear     QLinearConv
//   DequantizeLinear -> Reshape -> QuantizeLinear          Reshape
const own = 'com.microsoft';

// How an operator between pairs is written: [operator, domain], and whether each operand brings scale and zero point.
const forms = {
	Conv: ['QLinearConv', ''],
	Gemm: ['QGemm', own],
	Add: ['QLinearAdd', own],
	Mul: ['QLinearMul', own],
	AveragePool: ['QLinearAveragePool', own],
	GlobalAveragePool: ['QLinearGlobalAveragePool', own],
	Sigmoid: ['QLinearSigmoid', own],
	Softmax: ['QLinearSoftmax', own],
	MaxPool: ['MaxPool', ''],
	Reshape: ['Reshape', ''],
	Transpose: ['Transpose', ''],
};
const plain = ['MaxPool', 'Reshape', 'Transpose'];

// int attribute
const attribute = (name, v) => {
	const b = Buffer.from(name);
	return Buffer.concat([Buffer.from([10, b.length]), b, Buffer.from([24, v, 160, 1, 2])]);
};

const convert = (f) => {
	const maker = new Map(), users = new Map(f.outputs.map((v) => [v, [null]]));
	for (const n of f.nodes) {
		n.out.forEach((v) => maker.set(v, n));
		n.in.forEach((v) => users.set(v, [...(users.get(v) || []), n]));
	}
	const only = (n) => {
		const list = users.get(n.out[0]) || [];
		return list.length === 1 ? list[0] : null;
	};
	const take = (n) => {
		const form = forms[n.op], q = (() => {
			let next = only(n);
			while (next !== null && (next.op === 'Relu' || next.op === 'Clip'))
				next = only(next);
			return next;
		})();
		const from = n.in.map((v) => maker.get(v));
		const data = n.op === 'Reshape' ? from.slice(0, 1) : from;
		if (form === undefined || q === null || q.op !== 'QuantizeLinear' || data.some((d) => d === undefined || d.op !== 'DequantizeLinear'))
			return null;
		const out = q.in.slice(1), base = {op: form[0], domain: form[1], name: n.name, out: q.out, attr: n.attr};
		if (plain.includes(n.op))
			return {...base, in: [data[0].in[0], ...n.in.slice(1)]};
		const wide = data.length === 3 ? data[2].in[0] : null;
		const operands = data.slice(0, 2).flatMap((d) => d.in);
		if (n.op === 'Conv')
			return {...base, in: [...operands, ...out, ...(wide !== null ? [wide] : [])]};
		if (n.op === 'Gemm')
			return {...base, in: [...operands, wide !== null ? wide : '', ...out]};
		if (n.op === 'Softmax')
			return {...base, in: [...operands, ...out], attr: [...n.attr, attribute('opset', 14)]};
		return {...base, in: [...operands, ...out]};
	};
	const made = new Map();
	for (const n of f.nodes) {
		const y = take(n);
		if (y !== null)
			made.set(y.out[0], y);
	}
	const nodes = f.nodes.map((n) => n.op === 'QuantizeLinear' && made.get(n.out[0]) || n);
	// what no output needs any more goes
	const need = new Set(f.outputs), kept = [];
	for (const n of nodes.reverse())
		if (n.out.some((v) => need.has(v))) {
			n.in.forEach((v) => need.add(v));
			kept.unshift(n);
		}
	return {...f, nodes: kept, initializers: new Map([...f.initializers].filter(([k]) => need.has(k)))};
};

module.exports = {convert};
