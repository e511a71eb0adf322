// SPDX-License-Identifier: Apache-2.0
// node run.js PACK RAW [LEVEL]: each network of PACK (onnx-networks pack) under ONNX Runtime, with graph optimizations of this level,
// a line a network into RAW, which onnx-networks records reads: form, seed, CRC, then the elements of all outputs, or !
// and why ONNX Runtime refuses it.
const fs = require('fs');
const ort = require('onnxruntime-node');
const forms = ['qoperator', 'qdq', 'dynamic', 'recurrent'];
const arrays = {float32: Float32Array, int8: Int8Array, uint8: Uint8Array};
(async () => {
	const [pack, raw, level] = process.argv.slice(2), b = fs.readFileSync(pack), out = fs.openSync(raw, 'w');
	for (let at = 0; at < b.length;) {
		const [form, seed, crc, n] = [0, 4, 8, 12].map((k) => b.readUInt32LE(at + k));
		const file = b.subarray(at + 16, at += 16 + n), m = b.readUInt32LE(at), input = b.subarray(at + 4, at += 4 + m);
		let line = `${forms[form]} ${seed} ${crc.toString(16).padStart(8, '0')} `;
		try {
			const s = await ort.InferenceSession.create(file, {logSeverityLevel: 4, intraOpNumThreads: 1, graphOptimizationLevel: level || 'all'});
			const meta = s.inputMetadata[0], type = arrays[meta.type], shape = meta.shape.map(Number);
			const x = new type(input.buffer.slice(input.byteOffset, input.byteOffset + m)), each = shape.reduce((p, q) => p * q, 1);
			const y = s.outputNames.map(() => []);
			for (let i = 0; i < x.length / each; i++) {
				const r = await s.run({[s.inputNames[0]]: new ort.Tensor(meta.type, x.slice(i * each, (i + 1) * each), shape)});
				s.outputNames.forEach((name, k) => y[k].push(...Array.from(r[name].data, Number)));
			}
			line += y.map((v) => v.join(' ')).join('|');
			await s.release();
		} catch (e) {
			line += '!' + e.message.replace(/\s+/g, ' ');
		}
		fs.writeSync(out, line + '\n');
	}
	fs.closeSync(out);
})();
