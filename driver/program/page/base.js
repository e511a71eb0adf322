/* SPDX-License-Identifier: Apache-2.0 */
/* base.js - the layers, their figures, and the one that is selected. */

const layers = data.layers;
const byIndex = [...layers].sort((a, b) => a.index - b.index);

/* Figures of a layer: key in the JSON, heading, what it means, how it is written. */
const columns = [
	["layers", "layer", "layers of the file", v => v],
	["op", "op", "operator", v => v],
	["weights", "weights", "how weights are stored", v => v === undefined ? "-" : v],
	["alone", "alone", "dB at the outputs, this layer alone quantized", fixed(2)],
	["weights_alone", "weights", "dB at the outputs, only its constants quantized", fixed(2)],
	["inputs_alone", "inputs", "dB at the outputs, only its other operands quantized", fixed(2)],
	["here", "here", "dB at its own results, all layers quantized", fixed(2)],
	["gain", "gain", "dB that the network gains if this layer stays float", fixed(2)],
	["cosine", "cosine", "of the outputs with the float ones, this layer alone quantized", fixed(6)],
	["loss", "loss", "points of accuracy lost, this layer alone quantized", fixed(2)],
	["won", "won", "points of accuracy won if this layer stays float", fixed(2)],
	["clipped", "clipped %", "values outside the range", fixed(3)],
	["used", "used %", "share of the range that values reach", fixed(1)],
	["outliers", "outliers", "channels of more than 4 times the median range", count],
	["worst_outlier", "worst", "largest ratio to the median", fixed(1)],
	["saturated", "saturated", "elements of accumulators at an end of their type", count],
	["macs", "MACs", "multiplications", count],
	["weight_bytes", "bytes", "of weights", count],
	["instructions", "instructions", "estimate for one run", count],
	["matches", "matches", "of patterns", count]
].filter(c => layers.some(l => l[c[0]] !== undefined));

/* Errors by which the graph can be coloured: the larger the worse. */
const measures = [
	["alone", "isolated error", l => -number(l.alone)],
	["here", "cumulative error", l => -number(l.here)],
	["gain", "gain if it were float", l => number(l.gain)],
	["weight_bytes", "bytes of weights", l => l.weight_bytes],
	["macs", "MACs", l => l.macs]
];

/* The end of a long name tells more than its begin. */
function shorten(text, most) {
	return text.length > most ? "…" + text.slice(text.length - most + 1) : text;
}

/* From 0 to 1 between the least and the most of what is finite; infinities are at the ends. */
function scaleOf(values) {
	const finite = values.filter(Number.isFinite);
	const least = Math.min(...finite), most = Math.max(...finite);

	return v => v === -Infinity || finite.length === 0 ? 0 : v === Infinity ? 1 :
		most > least ? (v - least) / (most - least) : 0.5;
}

function heat(share) {
	return `color-mix(in oklab, var(--high) ${Math.round(100 * share)}%, var(--low))`;
}

/* ---- the selected layer ---- */

const watchers = [];
let selected = null;

function select(layer) {
	selected = layer;
	for (const watch of watchers)
		watch(layer);
}
