// SPDX-License-Identifier: Apache-2.0
// fused.js - what ONNX Runtime makes of an exported network: its nodes after optimization, values at every level, and the
// time beside the same network written with operators on integers.
//
//   node fused.js MODEL.onnx X.npy Y.npy [--steps N] [--top PERCENT] [--time]
//
// Y.npy is what the interpreter computes of X.npy.  Fails where the largest output is the same in less than --top percent
// of the samples (99), values differ by a step of quantization or more on average (--steps: steps in 1.0 of a float output), an
// operator stays float between others although it has an integer kernel, or, with --time, the file takes more than 1.15
// times as long.
const path = require('path');
const {load, save, count} = require('./onnx_file.js');
const {convert} = require('./qlinear.js');
const {read} = require('./npy.js');
const ort = require(path.join(process.cwd(), 'node_modules', 'onnxruntime-node'));

const levels = ['disabled', 'basic', 'extended', 'all'];
const create = (file, level, more = {}) => ort.InferenceSession.create(file, {logSeverityLevel: 3, graphOptimizationLevel: level,
	intraOpNumThreads: 1, executionMode: 'sequential', ...more});
const largest = (v) => v.indexOf(Math.max(...v));

const feed = (session, given, i) => {
	const m = session.inputMetadata[0], shape = m.shape.map(Number), each = shape.reduce((a, b) => a * b, 1);
	return {[session.inputNames[0]]: new ort.Tensor(m.type, given.data.slice(i * each, (i + 1) * each), shape)};
};

const agreement = async (session, given, want, steps) => {
	const m = session.inputMetadata[0], n = given.data.length / m.shape.map(Number).reduce((a, b) => a * b, 1);
	const size = want.data.length / n;
	let same = 0, sum = 0, most = 0;
	for (let i = 0; i < n; i++) {
		const y = await session.run(feed(session, given, i));
		const have = Array.from(y[session.outputNames[0]].data, Number), w = Array.from(want.data.slice(i * size, (i + 1) * size), Number);
		same += largest(have) === largest(w);
		have.forEach((v, j) => {
			const d = Math.abs(v - w[j]) * steps;
			sum += d;
			most = Math.max(most, d);
		});
	}
	return {same: same / n, mean: sum / want.data.length, most};
};

// What is left of pairs, and of transposes, between operators on integers: not what begins or ends the network.
const inside = (f) => {
	const maker = new Map(f.nodes.flatMap((n) => n.out.map((v) => [v, n]))), users = new Map();
	f.nodes.forEach((n) => n.in.forEach((v) => users.set(v, [...(users.get(v) || []), n])));
	const integer = (n) => /^QLinear|^QGemm|^ConvInteger|^MatMulInteger/.test(n.op);
	const search = (n, next, seen = new Set()) => next(n).some((m) => !seen.has(m) && (seen.add(m), integer(m) || search(m, next, seen)));
	const before = (n) => n.in.map((v) => maker.get(v)).filter((m) => m !== undefined);
	const after = (n) => n.out.flatMap((v) => users.get(v) || []);
	return f.nodes.filter((n) => ['Transpose', 'QuantizeLinear', 'DequantizeLinear'].includes(n.op) && search(n, before) && search(n, after));
};

const median = (v) => [...v].sort((a, b) => a - b)[v.length >> 1];
const timed = async (a, b, given) => {
	const some = [a, b].map((s) => feed(s, given, 0));
	const once = async (s, x, runs) => {
		const from = process.hrtime.bigint();
		for (let i = 0; i < runs; i++)
			await s.run(x);
		return Number(process.hrtime.bigint() - from) / runs;
	};
	const runs = Math.max(3, Math.ceil(1e7 / await once(a, some[0], 20)));
	const pairs = [];
	for (let i = 0; i < 61; i++)
		pairs.push(i % 2 === 0 ? [await once(a, some[0], runs), await once(b, some[1], runs)] :
			[await once(b, some[1], runs), await once(a, some[0], runs)].reverse());
	// what else the machine does only adds to a time
	const least = (k) => Math.min(...pairs.map((p) => p[k]));
	return {ratio: median(pairs.map(([u, v]) => u / v)), best: least(0) / least(1), time: least(0) / 1000};
};

(async () => {
	const [model, x, y, ...options] = process.argv.slice(2);
	const steps = options.includes('--steps') ? Number(options[options.indexOf('--steps') + 1]) : 1;
	const top = options.includes('--top') ? Number(options[options.indexOf('--top') + 1]) : 99;
	const name = path.basename(model, '.onnx'), given = read(x), want = read(y);
	let bad = 0;
	for (const level of levels) {
		const a = await agreement(await create(model, level), given, want, steps);
		const ok = a.same * 100 >= top && a.mean < 1;
		bad += !ok;
		console.log(`${name} ${level}: the largest is the same in ${(a.same * 100).toFixed(2)} %, values differ by ${a.mean.toFixed(4)} on average, at most by ${a.most.toFixed(1)}${ok ? '' : ': NOT WITHIN THE BOUNDS'}`);
	}
	await create(model, 'extended', {optimizedModelFilePath: name + '.optimized'});
	const f = load(name + '.optimized'), left = inside(f);
	console.log(`${name} nodes after extended: ${Object.entries(count(f)).map(([op, n]) => `${op} ${n}`).join(', ')}`);
	left.forEach((n) => console.log(`  inside: ${n.op} '${n.name}'`));
	bad += left.length > 0;
	if (options.includes('--time')) {
		const direct = convert(load(model));
		save(direct, name + '.direct');
		const a = await agreement(await create(name + '.direct', 'extended'), given, want, steps);
		console.log(`${name} written directly: ${Object.entries(count(direct)).map(([op, n]) => `${op} ${n}`).join(', ')}; values differ by ${a.mean.toFixed(4)}`);
		for (const level of ['extended', 'all']) {
			const t = await timed(await create(model, level), await create(name + '.direct', level), given);
			const ok = Math.min(t.ratio, t.best) <= 1.15;
			bad += !ok;
			console.log(`${name} ${level}: ${t.time.toFixed(0)} us at least, ${t.best.toFixed(3)} times that of the network written directly (median of pairs ${t.ratio.toFixed(3)})${ok ? '' : ': TOO LONG'}`);
		}
	}
	process.exit(bad === 0 ? 0 : 1);
})().catch((e) => {
	console.log(`${process.argv[2]}: ${e.message}`);
	process.exit(1);
});
