/* SPDX-License-Identifier: Apache-2.0 */
/* table.js - a table of all figures, sorted by the heading that is selected. */

function compareBy(key) {
	return (a, b) => {
		const x = number(a[key]), y = number(b[key]);

		if (x === undefined || y === undefined)
			return (x === undefined) - (y === undefined);
		return typeof x === "string" ? x.localeCompare(y) : x - y || 0;
	};
}

/* columns: key, heading, what it means, how it is written.  Returns a function that marks the row of a name. */
function drawTable(table, columns, rows, nameOf, choose) {
	const head = element("tr"), thead = element("thead");
	let sorted = null, down = false, marked = null;

	function mark(name) {
		marked = name;
		for (const row of table.querySelectorAll("tbody tr"))
			row.classList.toggle("selected", row.dataset.name === name);
	}

	function drawRows() {
		const order = [...rows], body = element("tbody");

		if (sorted !== null)
			order.sort(compareBy(sorted));
		if (down)
			order.reverse();
		for (const r of order) {
			const row = element("tr", {"data-name": nameOf(r)});

			columns.forEach(([key, , , write], i) => {
				row.append(element("td", {title: i === 0 ? write(r[key]) : ""}, write(r[key])));
			});
			row.addEventListener("click", () => choose(r));
			body.append(row);
		}
		table.querySelector("tbody").replaceWith(body);
		if (marked !== null)
			mark(marked);
	}

	function sortBy(key) {
		down = sorted === key && !down;
		sorted = key;
		for (const th of table.querySelectorAll("th"))
			if (th.dataset.key === key)
				th.setAttribute("aria-sort", down ? "descending" : "ascending");
			else
				th.removeAttribute("aria-sort");
		drawRows();
	}

	for (const [key, heading, help] of columns) {
		const th = element("th", {title: help, "data-key": key}, heading);

		th.addEventListener("click", () => sortBy(key));
		head.append(th);
	}
	thead.append(head);
	table.append(thead, element("tbody"));
	drawRows();
	return mark;
}
