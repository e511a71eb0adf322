#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# analyze-page.sh - the page of quern analyze in a browser: drawn without an error, a click shows a layer, a heading sorts.
. "$(dirname "$0")/common.inc"

E=$QUERN_SOURCE/examples/digits
silent page analyze "$E/digits.json" -q --calib "$E/calib.npy" --html page.html
has_words page stdout 'conv2, bn3|network: '
[ "$(ls)" = "$(printf 'page.html\nstderr\nstdout')" ] || fail page "other files are left"
usage no-value "--html" analyze "$E/digits.json" --calib "$E/calib.npy" --html

. "$QUERN_SOURCE/tests/cli/pages.inc"

with_script loaded page.html ""
browse loaded loaded.html --dump-dom
has_words loaded loaded.txt '<title>digits - quern analyze</title>|<div class="title">probs</div>|<h1 id="title">digits</h1>'
for layer in conv1 dw pw residual pool2 conv2 logits probs; do
	[ "$(grep -o "<g class=\"[a-z ]*\" data-name=\"$layer\"" loaded.txt | wc -l)" -eq 2 ] ||
		fail loaded "'$layer' is not in the bars and in the graph"
	[ "$(grep -o "<tr data-name=\"$layer\"\|<tr data-name=\"$layer\" class=\"selected\"" loaded.txt | wc -l)" -eq 1 ] ||
		fail loaded "'$layer' is not in the table"
done
[ "$(grep -o '<path class="edge"' loaded.txt | wc -l)" -eq 8 ] || fail loaded "not eight edges"
[ "$(grep -o '<rect' loaded.txt | wc -l)" -gt 60 ] || fail loaded "no bars, no histograms"

# a click on a box of the graph shows its details, marks it everywhere; a second one on a heading sorts downwards
with_script clicked page.html 'document.querySelector("#graph [data-name=conv2]").dispatchEvent(new MouseEvent("click")); const th = document.querySelector("th[data-key=macs]"); th.click(); th.click(); document.getElementById("theme").click(); const m = document.getElementById("measure"); m.value = "macs"; m.dispatchEvent(new Event("change"));'
browse clicked clicked.html --dump-dom
has_words clicked clicked.txt '<title>digits - quern analyze</title>|<div class="title">conv2, bn3</div>|<g class="node selected" data-name="conv2"|<g class="row selected" data-name="conv2"|<tr data-name="conv2" class="selected">|<dd data-key="macs">73,728</dd>|aria-sort="descending"|conv2d · 73,728|data-theme="dark"'
grep -o '<tbody><tr data-name="[a-z0-9]*"' clicked.txt | grep -q '"conv2"' || fail clicked "the most MACs do not stand first"

browse image clicked.html --window-size=1400,2400 --screenshot=page.png
[ "$(head -c 4 page.png | tail -c 3)" = PNG ] && [ "$(wc -c <page.png)" -gt 50000 ] || fail image "no image of the page"
[ -z "${KEEP:-}" ] || cp page.png "$KEEP"
finish
