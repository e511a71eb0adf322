/* SPDX-License-Identifier: Apache-2.0 */
/* main.js - puts the page together. */

function summarize() {
	const parts = [`${layers.length} layers, ${count(data.samples)} samples`];

	parts.push(Number.isFinite(number(data.sqnr)) ?
		`SQNR ${fixed(2)(data.sqnr)} dB, cosine ${fixed(6)(data.cosine)} with all layers quantized` : "no noise");
	if (data.accuracy !== undefined)
		parts.push(`${data.accuracy.metric} ${fixed(2)(data.accuracy.quantized)} % ` +
			`(float ${fixed(2)(data.accuracy.float)} %)`);
	document.title = `${data.model} - quern analyze`;
	document.getElementById("title").textContent = data.model;
	document.getElementById("summary").textContent = `${parts.join(". ")}. Quern ${data.version}.`;
}

function begin() {
	const order = document.getElementById("order"), measure = document.getElementById("measure");
	let worstFirst = false;

	summarize();
	drawLegend("legend-bars", [["var(--first)", "isolated"], ["var(--second)", "cumulative"]]);
	drawBars(byIndex);
	for (const [key, name] of measures)
		measure.append(element("option", {value: key}, name));
	drawGraph();
	colourGraph(measures[0][0]);
	drawMemory();
	const mark = drawTable(document.getElementById("table"), columns, layers, l => l.name, select);
	watchers.push(watchBars, watchGraph, l => mark(l.name), showDetails);
	measure.addEventListener("change", () => colourGraph(measure.value));
	document.getElementById("theme").addEventListener("click", turnTheme);
	order.addEventListener("click", () => {
		worstFirst = !worstFirst;
		order.textContent = worstFirst ? "in the order of the network" : "worst first";
		drawBars(worstFirst ? layers : byIndex);
		if (selected !== null)
			watchBars(selected);
	});
	if (layers.length > 0)
		select(layers[0]);
}

begin();
