/* SPDX-License-Identifier: Apache-2.0 */
/* elements.js - the data, and what all pages use: numbers as text, elements, the theme. */
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);

/* An infinity is a text in JSON. */
function number(v) {
	return v === "inf" ? Infinity : v === "-inf" ? -Infinity : v;
}

function fixed(digits) {
	return v => v === undefined ? "-" : Number.isFinite(number(v)) ? number(v).toFixed(digits) : "-";
}

function count(v) {
	return v === undefined ? "-" : v.toLocaleString("en");
}

function element(name, attributes, text) {
	const e = document.createElement(name);

	for (const key in attributes || {})
		e.setAttribute(key, attributes[key]);
	if (text !== undefined)
		e.textContent = text;
	return e;
}

function shape(name, attributes, text) {
	const e = document.createElementNS("http://www.w3.org/2000/svg", name);

	for (const key in attributes || {})
		e.setAttribute(key, attributes[key]);
	if (text !== undefined)
		e.textContent = text;
	return e;
}

function image(width, height, label) {
	return shape("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label});
}

function drawLegend(id, entries) {
	for (const [colour, text] of entries) {
		const e = element("span"), box = element("i");

		box.style.background = colour;
		e.append(box, text);
		document.getElementById(id).append(e);
	}
}

function turnTheme() {
	const dark = matchMedia("(prefers-color-scheme: dark)").matches;
	const now = document.documentElement.dataset.theme || (dark ? "dark" : "light");

	document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
}
