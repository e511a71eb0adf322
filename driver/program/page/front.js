/* SPDX-License-Identifier: Apache-2.0 */
/* front.js - the candidates of quern tune as points of a chart, the recipe of the selected one. */

const points = data.points.map((p, i) => ({...p, number: i + 1, rules: rulesOf(p)}));
const lessIsBetter = ["score-error", "mse", "mae", "max-diff"].includes(data.metric);
const unit = data.unit === "" ? "" : ` ${data.unit}`;

const costs = [
	["weight_bytes", "bytes of constants"],
	["arena_bytes", "bytes of the activation arena"],
	["instructions", `instructions (${data.instructions_of})`]
];
const values = [["value", `${data.metric}${unit}`], ["sqnr", "SQNR, dB"]];

const columns = [
	["number", "candidate", "in the order of the search", v => `${v}`],
	["weight_bytes", "constants", "bytes", count],
	["arena_bytes", "arena", "bytes of the activation arena", count],
	["instructions", "instructions", "estimate for one run", count],
	["value", data.metric, "what decides", fixed(3)],
	["sqnr", "SQNR", "of the outputs against the reference, in dB", fixed(2)],
	["rules", "rules", "of the recipe", count],
	["weight_rounding", "rounding", "of weights", v => v],
	["bias_correction", "biases", "corrected", yes],
	["equalize", "equalized", "scales of channels move between layers", yes],
	["within", "within", "the limits", yes],
	["front", "front", "no other one costs less and is better", yes]
];

function yes(v) {
	return v ? "yes" : "-";
}

function rulesOf(p) {
	return JSON.parse(p.recipe).rules.length;
}

/* ---- the chart ---- */

const AREA = {left: 76, top: 14, width: 640, height: 380, foot: 44};

/* Round steps that divide a range into about five. */
function ticksOf(least, most) {
	const rough = (most - least) / 5, size = 10 ** Math.floor(Math.log10(rough));
	const step = [1, 2, 5, 10].map(k => k * size).find(s => s >= rough), ticks = [];

	for (let t = Math.ceil(least / step) * step; t <= most + step / 1e6; t += step)
		ticks.push(Number(t.toPrecision(10)));
	return ticks;
}

/* From what is finite to pixels, with some room around it; infinities are at the ends. */
function axisOf(all, from, to) {
	const finite = all.filter(Number.isFinite);
	let least = Math.min(...finite), most = Math.max(...finite);

	if (finite.length === 0)
		[least, most] = [0, 1];
	const room = (most - least || Math.abs(most) || 1) * 0.06;
	[least, most] = [least - room, most + room];
	const at = v => v === Infinity ? to : v === -Infinity ? from : from + (v - least) / (most - least) * (to - from);
	return {at, ticks: ticksOf(least, most)};
}

function isAhead(a, b, cost, value) {
	const x = number(a[value]), y = number(b[value]), less = value === "value" && lessIsBetter;
	const better = less ? x < y : x > y, worse = less ? x > y : x < y;

	return a[cost] <= b[cost] && !worse && (a[cost] < b[cost] || better);
}

function drawAxes(svg, x, y, names) {
	const {left, top, width, height} = AREA;

	for (const t of x.ticks) {
		svg.append(shape("line", {class: "axis", x1: x.at(t), x2: x.at(t), y1: top, y2: top + height}));
		svg.append(shape("text", {class: "soft", x: x.at(t), y: top + height + 16, "text-anchor": "middle"}, count(t)));
	}
	for (const t of y.ticks) {
		svg.append(shape("line", {class: "axis", x1: left, x2: left + width, y1: y.at(t), y2: y.at(t)}));
		svg.append(shape("text", {class: "soft", x: left - 6, y: y.at(t) + 4, "text-anchor": "end"}, count(t)));
	}
	svg.append(shape("text", {class: "soft", x: left + width / 2, y: top + height + 36, "text-anchor": "middle"}, names[0]));
	svg.append(shape("text", {class: "soft", x: 14, y: top + height / 2, "text-anchor": "middle",
		transform: `rotate(-90 14 ${top + height / 2})`}, names[1]));
}

function drawLimits(svg, x, y, cost, value) {
	const {left, top, width, height} = AREA, limit = data.limits[cost];

	if (limit !== undefined)
		svg.append(shape("line", {class: "range budget", x1: x.at(limit), x2: x.at(limit), y1: top, y2: top + height}));
	for (const v of value === "value" ? [number(data.float), data.limits.value] : [])
		if (Number.isFinite(v))
			svg.append(shape("line", {class: "range", x1: left, x2: left + width, y1: y.at(v), y2: y.at(v)}));
}

function drawPoint(p, x, y) {
	const g = shape("g", {class: "point", "data-name": p.number, tabindex: 0});
	const fill = p.best ? "var(--second)" : p.within ? "var(--first)" : "var(--soft)";

	g.append(shape("circle", {cx: x, cy: y, r: p.best ? 8 : 5, fill, "fill-opacity": p.within || p.best ? 0.9 : 0.4}));
	g.append(shape("title", {}, `candidate ${p.number}: ${fixed(3)(p.value)}${unit}, ${count(p.weight_bytes)} bytes`));
	g.addEventListener("click", () => select(p));
	g.addEventListener("keydown", e => e.key === "Enter" && select(p));
	return g;
}

function drawChart() {
	const cost = document.getElementById("width").value, value = document.getElementById("height").value;
	const {left, top, width, height, foot} = AREA;
	const svg = image(left + width + 16, top + height + foot, "candidates by cost and accuracy");
	const limits = value === "value" ? [number(data.float), data.limits.value] : [];
	const x = axisOf([...points.map(p => p[cost]), data.limits[cost]], left, left + width);
	const y = axisOf([...points.map(p => number(p[value])), ...limits], top + height, top);
	const front = points.filter(p => !points.some(q => isAhead(q, p, cost, value)));

	drawAxes(svg, x, y, [costs.find(c => c[0] === cost)[1], values.find(v => v[0] === value)[1]]);
	drawLimits(svg, x, y, cost, value);
	front.sort((a, b) => a[cost] - b[cost]);
	svg.append(shape("polyline", {class: "edge", points: front.map(p => `${x.at(p[cost])},${y.at(number(p[value]))}`).join(" ")}));
	for (const p of [...points].sort((a, b) => a.best - b.best))
		svg.append(drawPoint(p, x.at(p[cost]), y.at(number(p[value]))));
	document.getElementById("chart").replaceChildren(svg);
	if (selected !== null)
		watchChart(selected);
}

function watchChart(p) {
	for (const g of document.querySelectorAll("#chart .point"))
		g.classList.toggle("selected", g.dataset.name === `${p.number}`);
}

/* ---- the selected candidate ---- */

let selected = null, markTable = null;

function showDetails(p) {
	const box = document.getElementById("details"), list = element("dl");
	const rules = JSON.parse(p.recipe).rules.map(r => `  ${JSON.stringify(r)}`);

	box.replaceChildren(element("div", {class: "title"}, `candidate ${p.number}${p.best ? ", the best" : ""}`));
	for (const [key, heading, help, write] of columns.slice(1)) {
		list.append(element("dt", {title: help}, heading));
		list.append(element("dd", {"data-key": key}, write(p[key])));
	}
	box.append(list, element("h3", {}, "Recipe"), element("pre", {}, `{"rules": [\n${rules.join(",\n")}\n]}`));
}

function select(p) {
	selected = p;
	watchChart(p);
	markTable(`${p.number}`);
	showDetails(p);
}

/* ---- the page ---- */

function summarize() {
	const best = points.find(p => p.best);
	const parts = [`${points.length} candidates on ${count(data.samples)} samples ` +
		(data.decided_on === "data" ? "other than those for calibration" : "which are those for calibration")];

	if (best !== undefined)
		parts.push(`Best: ${data.metric} ${fixed(2)(best.value)}${unit} (float ${fixed(2)(data.float)}${unit}), ` +
			`${count(best.weight_bytes)} bytes of constants, arena of ${count(best.arena_bytes)} bytes, about ` +
			`${count(best.instructions)} instructions (${data.target})`);
	document.title = `${data.model} - quern tune`;
	document.getElementById("title").textContent = data.model;
	document.getElementById("summary").textContent = `${parts.join(". ")}. Quern ${data.version}.`;
}

function begin() {
	for (const [id, choices] of [["width", costs], ["height", values]]) {
		for (const [key, name] of choices)
			document.getElementById(id).append(element("option", {value: key}, name));
		document.getElementById(id).addEventListener("change", drawChart);
	}
	document.getElementById("theme").addEventListener("click", turnTheme);
	summarize();
	drawLegend("legend", [["var(--second)", "best"], ["var(--first)", "within the limits"], ["var(--soft)", "outside"]]);
	drawChart();
	markTable = drawTable(document.getElementById("table"), columns, points, p => `${p.number}`, select);
	if (points.length > 0)
		select(points.find(p => p.best) || points[0]);
}

begin();
