/* SPDX-License-Identifier: Apache-2.0 */
/* graph.js - the layers as a graph from top to bottom, and the details of the selected one.
 *
 * A layer stands below all that it takes values from.  An edge that passes a rank has a place of its own there, so
 * that it goes around boxes; places of a rank are ordered by the mean of those above. */

const BOX = {width: 210, height: 46, gap: 26, down: 34, edge: 20};

/* ---- layout ---- */

function ranksOf() {
	const rank = new Map();

	for (const l of byIndex)
		rank.set(l.index, 1 + Math.max(-1, ...l.from.filter(f => rank.has(f)).map(f => rank.get(f))));
	return rank;
}

/* Places by rank, and for each edge its places from top to bottom. */
function placesOf(rank) {
	const rows = [], own = new Map(), edges = [];
	const put = (r, place) => ((rows[r] = rows[r] || []).push(place), place);

	for (const l of byIndex)
		own.set(l.index, put(rank.get(l.index), {layer: l, width: BOX.width, above: []}));
	for (const l of byIndex)
		for (const f of l.from.filter(f => own.has(f) && rank.get(f) < rank.get(l.index))) {
			const path = [own.get(f)];

			for (let r = rank.get(f) + 1; r < rank.get(l.index); r++)
				path.push(put(r, {width: BOX.edge, above: [path[path.length - 1]]}));
			own.get(l.index).above.push(path[path.length - 1]);
			path.push(own.get(l.index));
			edges.push(path);
		}
	return {rows, edges};
}

function arrange(rows) {
	const span = row => row.reduce((sum, p) => sum + p.width + BOX.gap, -BOX.gap);
	const width = Math.max(...rows.map(span)) + 24;

	rows.forEach((row, r) => {
		const wish = p => p.above.length === 0 ? 0 : p.above.reduce((sum, q) => sum + q.x, 0) / p.above.length;
		let x = (width - span(row)) / 2;

		row.sort((a, b) => wish(a) - wish(b));
		for (const p of row) {
			p.x = x + p.width / 2;
			p.y = 12 + r * (BOX.height + BOX.down);
			x += p.width + BOX.gap;
		}
	});
	return {width, height: 24 + rows.length * (BOX.height + BOX.down) - BOX.down};
}

/* ---- drawing ---- */

function pathOf(places) {
	let text = "", last = null;

	for (const p of places) {
		if (last !== null) {
			const from = last.y + BOX.height, middle = (from + p.y) / 2;

			text += `${text === "" ? `M${last.x} ${from}` : `L${last.x} ${from}`}` +
				`C${last.x} ${middle} ${p.x} ${middle} ${p.x} ${p.y}`;
		}
		last = p;
	}
	return text;
}

function drawBox(p) {
	const l = p.layer, g = shape("g", {class: "node", "data-name": l.name, tabindex: 0});

	g.append(shape("rect", {x: p.x - BOX.width / 2, y: p.y, width: BOX.width, height: BOX.height, rx: 5}));
	g.append(shape("text", {x: p.x, y: p.y + 19, "text-anchor": "middle"}, shorten(l.layers, 28)));
	g.append(shape("text", {class: "value", x: p.x, y: p.y + 36, "text-anchor": "middle"}));
	g.append(shape("title", {}, l.layers));
	g.addEventListener("click", () => select(l));
	g.addEventListener("keydown", e => e.key === "Enter" && select(l));
	return g;
}

function drawGraph() {
	const {rows, edges} = placesOf(ranksOf());

	if (rows.length === 0)
		return;
	const size = arrange(rows);
	const svg = image(size.width, size.height, "the layers of the network");

	for (const e of edges)
		svg.append(shape("path", {class: "edge", d: pathOf(e)}));
	for (const p of rows.flat().filter(p => p.layer !== undefined))
		svg.append(drawBox(p));
	document.getElementById("graph").append(svg);
}

function colourGraph(key) {
	const [, , value] = measures.find(m => m[0] === key);
	const scale = scaleOf(layers.map(value)), column = columns.find(c => c[0] === key);

	for (const g of document.querySelectorAll("#graph .node")) {
		const l = layers.find(l => l.name === g.dataset.name);
		const unit = ["alone", "here", "gain"].includes(key) && column[3](l[key]) !== "-" ? " dB" : "";

		g.querySelector("rect").style.fill = heat(scale(value(l)));
		g.querySelector(".value").textContent = `${l.op} · ${column[3](l[key])}${unit}`;
	}
}

function watchGraph(layer) {
	for (const g of document.querySelectorAll("#graph .node"))
		g.classList.toggle("selected", g.dataset.name === layer.name);
}

/* ---- details ---- */

function showDetails(l) {
	const box = document.getElementById("details"), list = element("dl");

	box.replaceChildren(element("div", {class: "title"}, l.layers));
	for (const [key, heading, help, write] of columns.slice(1)) {
		list.append(element("dt", {title: help}, heading));
		list.append(element("dd", {"data-key": key}, write(l[key])));
	}
	box.append(list);
	if (l.advice !== undefined) {
		box.append(element("h3", {}, `Rule of a recipe: ${l.advice.where} +${fixed(1)(l.advice.gain)} dB at most`));
		box.append(element("pre", {}, JSON.stringify({rules: [l.advice.rule]})));
	}
	for (const [h, what, fill] of [[l.input_values, "Input", "var(--first)"], [l.weight_values, "Weights", "var(--second)"]])
		if (h !== undefined) {
			box.append(element("h3", {}, `${what} ${h.value}: range ${round(h.range_lo)} to ${round(h.range_hi)}`));
			box.append(drawHistogram(h, fill));
		}
}
