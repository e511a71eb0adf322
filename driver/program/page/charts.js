/* SPDX-License-Identifier: Apache-2.0 */
/* charts.js - bars of error, histograms, memory over time. */

/* ---- bars ---- */

function drawBars(order) {
	const left = 250, width = 1180, row = 34, top = 6;
	const values = layers.flatMap(l => [number(l.alone), number(l.here)]).filter(Number.isFinite);
	const best = Math.ceil(Math.max(20, ...values) / 10) * 10;
	const worst = Math.floor(Math.min(best - 20, ...values) / 10) * 10;
	const at = db => left + (best - Math.min(best, db)) / (best - worst) * (width - left - 60);
	const svg = image(width, top + row * layers.length + 26, "isolated and cumulative error of each layer");

	for (let db = best; db >= worst; db -= 10) {
		svg.append(shape("line", {class: "axis", x1: at(db), x2: at(db), y1: top, y2: top + row * layers.length}));
		svg.append(shape("text", {class: "soft", x: at(db), y: top + row * layers.length + 16,
			"text-anchor": "middle"}, db === best ? `${db} dB` : db));
	}
	order.forEach((l, i) => {
		const g = shape("g", {class: "row", "data-name": l.name}), y = top + i * row;

		g.append(shape("rect", {x: 0, y, width, height: row, fill: "transparent"}));
		g.append(shape("text", {class: "name", x: left - 10, y: y + 20, "text-anchor": "end"}, shorten(l.layers, 34)));
		g.append(shape("title", {}, `${l.layers}\nisolated ${fixed(2)(l.alone)} dB, cumulative ${fixed(2)(l.here)} dB`));
		[["alone", "var(--first)"], ["here", "var(--second)"]].forEach(([key, fill], k) => {
			const end = at(Math.max(worst, number(l[key])));

			g.append(shape("rect", {x: left, y: y + 4 + k * 13, height: 11, width: Math.max(0, end - left), rx: 2, fill}));
			g.append(shape("text", {class: "soft", x: end + 5, y: y + 13 + k * 13, "font-size": "10"}, fixed(1)(l[key])));
		});
		g.addEventListener("click", () => select(l));
		svg.append(g);
	});
	document.getElementById("bars").replaceChildren(svg);
}

function watchBars(layer) {
	for (const g of document.querySelectorAll("#bars .row"))
		g.classList.toggle("selected", g.dataset.name === layer.name);
}

/* ---- histograms ---- */

function round(v) {
	return Number(v.toPrecision(4)).toString();
}

/* Counts on a logarithmic scale, and the chosen range between two lines. */
function drawHistogram(h, fill) {
	const width = 380, height = 110, foot = 18;
	const svg = image(width, height + foot, `histogram of ${h.value}`);
	const most = Math.log1p(Math.max(1, ...h.count)), bin = width / h.count.length;
	const at = v => h.hi > h.lo ? (v - h.lo) / (h.hi - h.lo) * (width - 2) + 1 : width / 2;

	svg.style.width = "100%";
	svg.style.height = "auto";
	h.count.forEach((n, i) => {
		const size = Math.log1p(n) / most * (height - 8);
		const bar = shape("rect", {x: i * bin, y: height - size, width: Math.max(1, bin - 1), height: size, fill});

		bar.append(shape("title", {}, `${round(h.lo + i * (h.hi - h.lo) / h.count.length)}: ${count(n)}`));
		svg.append(bar);
	});
	svg.append(shape("line", {class: "axis", x1: 0, x2: width, y1: height, y2: height}));
	for (const end of [h.range_lo, h.range_hi])
		svg.append(shape("line", {class: "range", x1: at(end), x2: at(end), y1: 0, y2: height}));
	svg.append(shape("text", {class: "soft", x: 0, y: height + 14}, round(h.lo)));
	svg.append(shape("text", {class: "soft", x: width, y: height + 14, "text-anchor": "end"}, round(h.hi)));
	return svg;
}

/* ---- memory ---- */

/* Buffers of the activation arena: from their first step to their last, at their bytes. */
function drawMemory() {
	const m = data.memory, note = document.getElementById("memory-note");

	if (m.steps === undefined) {
		note.textContent = `Not known: ${m.error}.`;
		return;
	}
	note.textContent = `Activation arena: ${count(m.arena_bytes)} bytes (any plan needs at least ` +
		`${count(m.lower_bound)}), ${count(m.weight_bytes)} bytes of constants, ${m.steps} steps, about ` +
		`${count(m.instructions)} instructions (${m.instructions_of}). A box is a ` +
		"buffer: the steps in which it is alive, from left to right, at its bytes of the arena.";
	const left = 70, height = 260, step = Math.max(14, Math.min(70, 1080 / m.steps)), width = left + step * m.steps + 10;
	const svg = image(width, height + 34, "buffers of the activation arena over the steps of a run");
	const at = bytes => height - (m.arena_bytes > 0 ? bytes / m.arena_bytes : 0) * (height - 12);

	for (let k = 0; k <= 4; k++) {
		const y = at(m.arena_bytes * k / 4);

		svg.append(shape("line", {class: "axis", x1: left, x2: width, y1: y, y2: y}));
		svg.append(shape("text", {class: "soft", x: left - 6, y: y + 4, "text-anchor": "end"},
			count(Math.round(m.arena_bytes * k / 4))));
	}
	for (const b of m.buffers) {
		const box = shape("rect", {x: left + b.first * step + 1, y: at(b.offset + b.bytes), rx: 2, stroke: "var(--paper)",
			width: (b.last - b.first + 1) * step - 2, height: Math.max(1, at(b.offset) - at(b.offset + b.bytes)),
			fill: b.use === "result" ? "var(--first)" : "var(--second)", "fill-opacity": 0.75});

		box.append(shape("title", {}, `${b.name} (${b.use}): ${count(b.bytes)} bytes at ${count(b.offset)}, ` +
			`steps ${b.first} to ${b.last}`));
		svg.append(box);
	}
	const every = Math.ceil(m.steps / 30);
	for (let k = 0; k < m.steps; k += every)
		svg.append(shape("text", {class: "soft", x: left + (k + 0.5) * step, y: height + 16, "text-anchor": "middle"}, k));
	svg.append(shape("text", {class: "soft", x: left, y: height + 31}, "step"));
	document.getElementById("memory").append(svg);
	drawLegend("memory-legend", [["var(--first)", "results"], ["var(--second)", "work memory of kernels"]]);
}
