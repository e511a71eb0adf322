#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tune-page.sh - the page of quern tune in a browser: all candidates as points, a click shows a recipe, the axes change.
. "$(dirname "$0")/common.inc"

E=$QUERN_SOURCE/examples/digits
good page tune "$E/digits.json" -q --calib "$E/calib.npy" --no-repairs --max-weights 4K -o d.recipe.json --html page.html
has_words page stdout 'd.front.json, d.journal.json|page.html'
[ -z "$(ls -A | grep -v '^d\.\|^page.html$\|^std')" ] || fail page "other files are left"
usage shard '--shard and --html' tune "$E/digits.json" --calib "$E/calib.npy" --max-weights 4K --shard 1/2 --html page.html
rm page.html
run tune "$E/digits.json" -q --calib "$E/calib.npy" --no-repairs --max-weights 100 -o e.recipe.json --html page.html
[ "$code" -eq 5 ] && [ -s page.html ] || fail nearest "exit code $code, and no page of candidates that are too large" stderr
good again tune "$E/digits.json" -q --calib "$E/calib.npy" --no-repairs --max-weights 4K -o d.recipe.json --html page.html
case_of no-folder 1 file.write 'none/page.html' tune "$E/digits.json" -q --calib "$E/calib.npy" --no-repairs --max-weights 4K -o d.recipe.json --html none/page.html

. "$QUERN_SOURCE/tests/cli/pages.inc"

n=$(grep -c '"weight_bytes": [0-9]*, "arena' d.front.json)
best=$(grep '"weight_bytes": [0-9]*, "arena' d.front.json | grep -n '"best": true' | cut -d: -f1)
with_script loaded page.html ""
browse loaded loaded.html --dump-dom
has_words loaded loaded.txt "<title>digits - quern tune</title>|<div class=\"title\">candidate $best, the best</div>|<g class=\"point selected\" data-name=\"$best\"|$n candidates on 200 samples"
[ "$(grep -o '<g class="point[a-z ]*" data-name="[0-9]*"' loaded.txt | sort -u | wc -l)" -eq "$n" ] || fail loaded "not $n points"
[ "$(grep -o '<tr data-name="[0-9]*"' loaded.txt | wc -l)" -eq "$n" ] || fail loaded "not $n rows"
[ "$(grep -o 'class="range budget"' loaded.txt | wc -l)" -eq 1 ] || fail loaded "no line of the budget"

with_script clicked page.html 'document.querySelector("#chart [data-name=\\"3\\"]").dispatchEvent(new MouseEvent("click")); document.querySelector("th[data-key=weight_bytes]").click(); const w = document.getElementById("width"); w.value = "instructions"; w.dispatchEvent(new Event("change")); document.getElementById("theme").click();'
browse clicked clicked.html --dump-dom
has_words clicked clicked.txt '<title>digits - quern tune</title>|<div class="title">candidate 3</div>|<g class="point selected" data-name="3"|<tr data-name="3" class="selected">|{"weights":"i4"}|aria-sort="ascending"|data-theme="dark"'
[ "$(grep -c 'class="range budget"' clicked.txt)" -eq 0 ] || fail clicked "the budget of another axis"

browse image clicked.html --window-size=1400,1500 --screenshot=page.png
[ "$(head -c 4 page.png | tail -c 3)" = PNG ] && [ "$(wc -c <page.png)" -gt 50000 ] || fail image "no image of the page"
[ -z "${KEEP:-}" ] || cp page.png "$KEEP"
finish
