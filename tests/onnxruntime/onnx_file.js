// SPDX-License-Identifier: Apache-2.0
// onnx_file.js - ONNX files as objects and back, as far as the checks need them.
//
//   const f = load('net.onnx');   f.nodes[0] = {op, domain, name, in, out, attr: [bytes]}   f.initializers.get('w') = {type, dims, raw}
//   save(f, 'other.onnx');        inputs, outputs and attributes pass through as their bytes
const fs = require('fs');

const text = (b) => Buffer.from(b).toString();

// A message as a list of [field, value]: BigInt for numbers, bytes for all else.
const fields = (b) => {
	const out = [];
	let at = 0;
	const number = () => {
		for (let v = 0n, shift = 0n;; shift += 7n) {
			const c = b[at++];
			v |= BigInt(c & 127) << shift;
			if (c < 128)
				return v;
		}
	};
	while (at < b.length) {
		const key = Number(number()), wire = key & 7;
		if (wire === 0) {
			out.push([key >> 3, number()]);
			continue;
		}
		const n = wire === 2 ? Number(number()) : wire === 5 ? 4 : 8;
		out.push([key >> 3, b.subarray(at, at + n)]);
		at += n;
	}
	return out;
};

const varint = (v) => {
	const out = [];
	for (v = BigInt.asUintN(64, BigInt(v)); v > 127n; v >>= 7n)
		out.push(Number(v & 127n) | 128);
	return Buffer.from([...out, Number(v)]);
};
const field = (number, v) => {
	const bytes = typeof v === 'string' ? Buffer.from(v) : v;
	if (typeof bytes === 'number' || typeof bytes === 'bigint')
		return Buffer.concat([varint(number << 3), varint(bytes)]);
	return Buffer.concat([varint(number << 3 | 2), varint(bytes.length), bytes]);
};

const all = (m, number) => m.filter(([f]) => f === number).map(([, v]) => v);
const one = (m, number) => all(m, number)[0];

const node = (b) => {
	const m = fields(b);
	return {op: text(one(m, 4)), domain: text(one(m, 7) || ''), name: text(one(m, 3) || ''), in: all(m, 1).map(text),
		out: all(m, 2).map(text), attr: all(m, 5)};
};
const packed = (n) => Buffer.concat([...n.in.map((v) => field(1, v)), ...n.out.map((v) => field(2, v)), field(3, n.name),
	field(4, n.op), ...n.attr.map((v) => field(5, v)), field(7, n.domain)]);

const tensor = (b) => {
	const m = fields(b);
	return {name: text(one(m, 8)), type: Number(one(m, 2)), dims: all(m, 1).map(Number), raw: one(m, 9) || Buffer.alloc(0), bytes: b};
};

// {name: ints, one int} of a node.
const attributes = (n) => Object.fromEntries(n.attr.map((b) => {
	const m = fields(b), list = all(m, 8);
	return [text(one(m, 1)), list.length > 0 ? list.map((v) => Number(BigInt.asIntN(64, v))) :
		one(m, 3) !== undefined ? Number(BigInt.asIntN(64, one(m, 3))) : undefined];
}));

const values = (t) => {
	const kinds = {1: Float32Array, 2: Uint8Array, 3: Int8Array, 6: Int32Array, 7: BigInt64Array};
	const copy = new Uint8Array(t.raw);
	return new kinds[t.type](copy.buffer, 0, copy.length / kinds[t.type].BYTES_PER_ELEMENT);
};

const load = (path) => {
	const model = fields(fs.readFileSync(path)), graph = fields(one(model, 7));
	return {model, graph, nodes: all(graph, 1).map(node),
		initializers: new Map(all(graph, 5).map(tensor).map((t) => [t.name, t])),
		outputs: all(graph, 12).map((b) => text(one(fields(b), 1))), inputs: all(graph, 11).map((b) => text(one(fields(b), 1)))};
};

// Without the metadata; with the operators of ONNX Runtime's own domain.
const save = (f, path) => {
	const graph = Buffer.concat([...f.nodes.map((n) => field(1, packed(n))), field(2, 'network'),
		...[...f.initializers.values()].map((t) => field(5, t.bytes)),
		...f.graph.filter(([k]) => k === 11 || k === 12).map(([k, v]) => field(k, v))]);
	const own = Buffer.concat([field(1, 'com.microsoft'), field(2, 1)]);
	fs.writeFileSync(path, Buffer.concat([field(1, 8), ...all(f.model, 8).map((v) => field(8, v)), field(8, own), field(7, graph)]));
};

const count = (f) => {
	const n = {};
	for (const {op} of f.nodes)
		n[op] = (n[op] || 0) + 1;
	return n;
};

module.exports = {load, save, attributes, values, count};
