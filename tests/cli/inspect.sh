#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# inspect.sh - the summary of a model, and its graph in Graphviz's language and as an image.
. "$(dirname "$0")/common.inc"

E=$QUERN_SOURCE/examples/digits

silent summary inspect "$E/digits.json"
has_words summary stdout 'model        digits (float)|conv1 = conv2d image, conv1.w : tensor<1x8x8x16xf32>  9216 MACs'

# As JSON: the same, also beside an image's file; docs/quern-inspect.schema.json is tested by unit-schema.
silent json inspect "$E/digits.json" --json
has_words json stdout '"model": "digits"|"stage": "float"|{"name": "conv1", "op": "conv2d", "inputs": ["image", "conv1.w"], "type": "tensor<1x8x8x16xf32>", "macs": 9216}'
mv stdout alone
silent json-dot inspect "$E/digits.json" --json --dot digits.dot
cases=$((cases + 1))
cmp -s alone stdout && [ -s digits.dot ] || fail json-dot 'other JSON, or no graph' stdout

# Names that mean something to Graphviz, HTML or a shell.
cat >odd.qir <<'END'
model "a \"b\" <c> & $(d)"
graph @main(%"x <&> \"y\"": tensor<1x4x4x1xf32>) {
  %w = const : tensor<2x3x3x1xf32> splat 0.5
  %k = const : tensor<2xf32> [1.0, 2.0]
  %c = conv2d %"x <&> \"y\"", %w {stride=[2,1], pad=[1,1,1,1]}
  return %c, %k as "both"
}
END
silent dot inspect odd.qir --dot odd.dot
has_words dot odd.dot 'kernel=[3,3], stride=[2,1], pad=[1,1,1,1]|w 2x3x3x1 f32|x &lt;&amp;&gt; "y" = input'
grep -q 'label="w\\nconst' odd.dot && fail dot "a constant that a node reads has a box" odd.dot
grep -q 'label="k\\nconst' odd.dot || fail dot "a constant that is an output has no box" odd.dot

# links NAME FILE.svg: each link inside the image leads to one of its parts.
links() {
	cases=$((cases + 1))
	grep -o 'xlink:href="#[^"]*"' "$2" | sed 's/.*"#\(.*\)"/\1/' | sort -u >links
	[ -s links ] || fail "$1" "there are no links"
	while read -r id; do
		grep -q "id=\"$id\"" "$2" || fail "$1" "the link to $id leads nowhere"
	done <links
}
if command -v dot >/dev/null; then
	silent svg inspect odd.qir --svg odd.svg
	links svg odd.svg
	good integer opt -q "$E/digits.json" --calib "$E/calib.npy" --stop-after=legalize -o q.qir
	silent integer-svg inspect q.qir --svg q.svg
	links integer-svg q.svg
	has_words integer-svg q.svg 'kernel=[3,3], padding=same, groups=16|dw.w 16x3x3x1 i8 16 scales|pool1 = max_pool residual : 1x4x4x16 i8|accumulator'
	grep -q '>float<' q.svg && fail integer-svg "the legend has colours that are not there"
else
	echo "Graphviz's dot is not installed: images were not made"
fi
finish
