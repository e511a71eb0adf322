/* SPDX-License-Identifier: Apache-2.0 */
/* table.js - the table of all figures, sorted by the heading that is selected. */

const sorting = {key: null, down: false};

function compareBy(key) {
	return (a, b) => {
		const x = number(a[key]), y = number(b[key]);

		if (x === undefined || y === undefined)
			return (x === undefined) - (y === undefined);
		return typeof x === "string" ? x.localeCompare(y) : x - y || 0;
	};
}

function drawRows() {
	const order = [...layers], body = element("tbody");

	if (sorting.key !== null)
		order.sort(compareBy(sorting.key));
	if (sorting.down)
		order.reverse();
	for (const l of order) {
		const row = element("tr", {"data-name": l.name});

		for (const [key, , , write] of columns)
			row.append(element("td", {title: key === "layers" ? l.layers : ""}, write(l[key])));
		row.addEventListener("click", () => select(l));
		body.append(row);
	}
	document.querySelector("#table tbody").replaceWith(body);
	if (selected !== null)
		watchTable(selected);
}

function sortBy(key) {
	sorting.down = sorting.key === key && !sorting.down;
	sorting.key = key;
	for (const th of document.querySelectorAll("#table th"))
		if (th.dataset.key === key)
			th.setAttribute("aria-sort", sorting.down ? "descending" : "ascending");
		else
			th.removeAttribute("aria-sort");
	drawRows();
}

function drawTable() {
	const table = document.getElementById("table"), head = element("tr");

	for (const [key, heading, help] of columns) {
		const th = element("th", {title: help, "data-key": key}, heading);

		th.addEventListener("click", () => sortBy(key));
		head.append(th);
	}
	const thead = element("thead");
	thead.append(head);
	table.append(thead, element("tbody"));
	drawRows();
}

function watchTable(layer) {
	for (const row of document.querySelectorAll("#table tbody tr"))
		row.classList.toggle("selected", row.dataset.name === layer.name);
}
