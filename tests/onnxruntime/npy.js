// SPDX-License-Identifier: Apache-2.0
// npy.js - arrays of .npy files.  {shape, type: '<f4', data: Float32Array}
const fs = require('fs');

const types = {'<f4': Float32Array, '|i1': Int8Array, '|u1': Uint8Array, '|b1': Uint8Array, '<i2': Int16Array,
	'<u2': Uint16Array, '<i4': Int32Array, '<i8': BigInt64Array};

const read = (path) => {
	const b = fs.readFileSync(path), n = b.readUInt16LE(8), head = b.toString('latin1', 10, 10 + n);
	const shape = /'shape': \(([^)]*)\)/.exec(head)[1].split(',').filter((s) => s.trim()).map(Number);
	const raw = b.subarray(10 + n), type = /'descr': '([^']*)'/.exec(head)[1];
	return {shape, type, data: new types[type](raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.length))};
};

const write = (path, type, shape, data) => {
	let head = `{'descr': '${type}', 'fortran_order': False, 'shape': (${shape.join(', ')},), }`;
	head += ' '.repeat(63 - (10 + head.length) % 64) + '\n';
	const start = Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, head.length & 255, head.length >> 8]);
	fs.writeFileSync(path, Buffer.concat([start, Buffer.from(head), Buffer.from(data.buffer, data.byteOffset, data.byteLength)]));
};

module.exports = {types, read, write};
