#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# recipes.sh - storage types and calibration methods for parts of a model, what stays float, and why; storage types for all of it.
. "$(dirname "$0")/common.inc"

E=$QUERN_SOURCE/examples/digits

# ---- what stays float, how parts are stored, why ----

cat >mixed.json <<'END'
{"rules": [
  {"_": "the rest", "activations": "i8", "weights": "i8"},
  {"op": "input", "activations": "i16"},
  {"name": "bn1", "activations": "i16"},
  {"name": "residual", "activations": "i16"},
  {"name": "pw*", "weights": "i4"},
  {"op": "dense", "activations": "i16", "weights": "i4", "granularity": "per-tensor"}
]}
END
silent mixed-eval eval -q "$E/digits.json" --calib "$E/calib.npy" --data "$E/test_x.npy" --labels "$E/test_y.npy" --recipe mixed.json --min-accuracy 98
silent mixed compile -q "$E/digits.json" --calib "$E/calib.npy" --recipe mixed.json --self-test 50 -o mixed
cases=$((cases + 1))
{ "${CC:-cc}" -O1 -DDIGITS_SELFTEST_MAIN -o mixed/selftest mixed/digits.c mixed/digits_weights.c mixed/digits_selftest.c && mixed/selftest; } >stdout 2>&1 ||
	fail mixed-selftest "emitted C differs from the interpreter" stdout
has_words mixed-selftest stdout 'passed (50 samples'
for k in requantize_from_s16_s8 shift_from_s8_s16 shift_from_s16_s8; do
	grep -q "qn_$k(" mixed/digits.c || fail mixed "no qn_$k"
done
# weights in blocks, of all layers by options and of some by a recipe
printf '{"rules": [{"name": "conv2", "weights": "i4 block 32"}, {"op": "dense", "weights": "int8 block 8"}, {"name": "pw*", "weights": "i2 block 8"}]}' >blocks.json
for how in '--recipe blocks.json' '--weights-type i4 --weight-block 16' '--weights-type i4 --weight-block 8 --activations i16' '--weights-type i2 --weight-block 8 --weight-method mse --activations u8'; do
	rm -rf blocks
	case $how in *i2* | *blocks.json) with=distant ;; *) with=silent ;; esac
	$with "$how" compile -q "$E/digits.json" --calib "$E/calib.npy" $how --self-test 20 -o blocks
	grep -q 'qn_conv2d_blocks_' blocks/digits.c || fail "$how" "no layer has weights in blocks"
	cases=$((cases + 1))
	{ "${CC:-cc}" -O1 -Werror -Wall -DDIGITS_SELFTEST_MAIN -o blocks/selftest blocks/digits.c blocks/digits_weights.c blocks/digits_selftest.c && blocks/selftest; } >stdout 2>&1 ||
		fail "$how" "emitted C differs from the interpreter" stdout
done
silent blocks-eval eval -q "$E/digits.json" --calib "$E/calib.npy" --data "$E/test_x.npy" --labels "$E/test_y.npy" --weights-type i4 --weight-block 8 --min-accuracy 98.5
silent 'large block' compile -q "$E/digits.json" --calib "$E/calib.npy" --weight-block 1024 -o blocks
usage 'block range' 'from 1 to 65536' compile -q "$E/digits.json" --calib "$E/calib.npy" --weight-block 65537 -o blocks
usage 'block' "invalid value 7" compile -q "$E/digits.json" --calib "$E/calib.npy" --weight-block 7 -o blocks
# rules that change nothing, and why
silent 'no rule' compile -q "$E/digits.json" --calib "$E/calib.npy" --self-test 0 -o without
unused()
{
	rm -rf unused
	printf '{"rules": [%s]}' "$1" >unused.json
	case_of "unused $1" 0 recipe.unused "/rules/0 changes nothing: $2" compile -q "$E/digits.json" --calib "$E/calib.npy" --recipe unused.json --self-test 0 -o unused
	same "unused $1" without/digits.c unused/digits.c
}
unused '{"name": "relu1", "activations": "i16"}' "'relu1' (relu) has no parameters of its own: its values are stored as those of 'bn1'"
unused '{"name": "residual", "weights": "i4"}' "'residual' (add) has no weights"
unused '{"name": "image", "granularity": "per-tensor"}' "'image' (input) has no weights"
unused '{"op": "output", "weights": "i4"}' 'what it matches has no weights'
# the table of an embedding: packed, the elements that are gathered rescaled
cat >embed.qir <<'EOF'
model "embed"
graph @main(%i: tensor<1x6xi32>) {
  %w = const : tensor<50x64xf32> rand 1
  %e = gather %w, %i
  %f = reshape %e {shape=[6,64]}
  %m = const : tensor<16x64xf32> rand 3
  %y = dense %f, %m
  return %y
}
EOF
awk 'BEGIN { for (i = 0; i < 240; i++) printf "%c%c%c%c", (i * 7 + int(i / 25)) % 50 + 128, 0, 0, 0 }' | LC_ALL=C tr '\200-\261' '\000-\061' | npy embed.npy '<i4' '40, 6'
printf '{"rules": [{"op": "gather", "weights": "i4 block 32"}]}' >embed.json
embed()
{
	rm -rf embed
	case $2 in *i2*) with=distant ;; *) with=silent ;; esac
	$with "embedding $2" compile -q embed.qir --calib embed.npy $2 --self-test 20 -o embed
	grep -q "qn_gather_blocks_$3(&" embed/embed.c || fail "embedding $2" "no table in blocks"
	grep -q "/\* w, $1 bytes" embed/embed_weights.c || fail "embedding $2" "the table does not have $1 bytes" embed/embed_weights.c
	cases=$((cases + 1))
	{ "${CC:-cc}" -O1 -Werror -Wall -DEMBED_SELFTEST_MAIN -o embed/selftest embed/embed.c embed/embed_weights.c embed/embed_selftest.c && embed/selftest; } >stdout 2>&1 ||
		fail "embedding $2" "emitted C differs from the interpreter" stdout
}
embed 1600 '--recipe embed.json' s8
embed 1600 '--weights-type i4 --weight-block 32 --activations u8' u8
embed 1600 '--weights-type i4 --weights per-tensor' s8
embed 800 '--weights-type i2 --weight-block 8 --weight-method mse' s8
embed 3200 '--weight-block 16 --activations i16' s16
silent 'embedding i8' compile -q embed.qir --calib embed.npy --weight-block 16 -o embed
! grep -q qn_gather_blocks embed/embed.c || fail 'embedding i8' "a table of 8 bits for values of 8 bits"
# a method of calibration for parts of it: each value has the range that its method gives it when it is that of all
printf '{"rules": [{"name": "pw*", "method": "kl"}, {"op": "dense", "method": "percentile:p=99"}, {"op": "input", "method": "global:scale=0.5,zero=-3"}]}' >methods.json
tail -c +129 "$E/calib.npy" | head -c $((20 * 256)) | npy few.npy '<f4' '20, 8, 8, 1'
ranges() { # FILE OPTION…: the values of the symbols
	local to=$1
	shift
	cases=$((cases + 1))
	run opt "$E/digits.json" --calib few.npy --stop-after bind -q "$@"
	[ "$code" -eq 0 ] && [ ! -s stderr ] || fail "ranges $*" "exit code $code" stderr
	grep '^symbol' stdout >"$to"
}
ranges by-recipe --recipe methods.json --threads 2
for m in minmax kl percentile:p=99 global:scale=0.5,zero=-3; do
	ranges "by-${m%%:*}" --method $m
done
sort -u by-kl by-minmax >both
[ "$(grep -c . both)" -gt "$(grep -c . by-kl)" ] || fail recipe-methods "kl gives what minmax gives"
{
	grep -v '^symbol \$\(pw\|logits\|image.input\)' by-minmax
	grep '^symbol \$pw' by-kl
	grep '^symbol \$logits' by-percentile
	grep '^symbol \$image.input' by-global
} | sort >expected
sort by-recipe | diff - expected >difference || fail recipe-methods "other ranges" difference
printf '{"rules": [{"name": "pw*", "method": "output:steps=11,least=0.9"}]}' >search.json
ranges searched --recipe search.json
diff by-minmax searched >difference && fail recipe-search "nothing was searched"
grep '^[<>]' difference | grep -v 'symbol \$pw' >others && fail recipe-search "other partitions were searched" others
good methods compile -q "$E/digits.json" --calib few.npy --recipe methods.json -o methods
# A rule that matches nothing is an error of the pass that reads the recipe, whichever begins.
silent nothing-partitioned opt -q "$E/digits.json" --passes axes,clean,partition -o partitioned.qir
silent nothing-matches opt -q partitioned.qir --passes quantize --recipe methods.json -o symbolic.qir
printf '{"rules": [{"name": "pv*", "method": "kl"}]}' >nothing.json
case_of nothing-quantize 1 recipe.nothing "nothing.json:/rules/0: error: /rules/0|named 'pv*'; did you mean 'probs', 'pw_bias' or 'pw'?" opt -q partitioned.qir --passes quantize --recipe nothing.json -o o.qir
case_of nothing-symbolic 1 recipe.nothing "/rules/0" quantize -q "$E/digits.json" --recipe nothing.json
case_of nothing-calibrate 1 recipe.nothing "/rules/0" calibrate -q "$E/digits.json" --recipe nothing.json --calib few.npy -o o.json
silent methods-saved opt -q "$E/digits.json" --recipe methods.json --stop-after quantize -o methods.qir
good methods-saved compile -q methods.qir --calib few.npy -o methods-saved
diff -r methods methods-saved >difference || fail methods-saved "other files than in one run" difference
# a layer of the source's file is known by its name there, whatever its node is called
printf 'model "m"\ngraph @main(%%x: tensor<1x4xf32>) {\n  %%y = tanh %%x from ["block/act"]\n  %%z = exp %%y\n  return %%z\n}\n' >named.qir
silent skip-layer quantize named.qir --explain --skip 'name:block/*'
has_words skip-layer stdout "skipped by name 'block/*'"
printf '{"rules": [{"name": "block/*", "skip": true}]}' >layer.json
silent recipe-layer quantize named.qir --explain --recipe layer.json
has_words recipe-layer stdout "skipped by /rules/0 of the recipe"
case_of float-layer 3 legalize.float "tanh 'y' (layer 'block/act') stays in float: skipped by /rules/0" \
	compile -q named.qir --method global:scale=0.1 --recipe layer.json -o named
silent explain quantize "$E/digits.json" --explain --skip 'last,name:res*'
has_words explain stdout "taken     conv2d_bias  bn1|from image conv1.w bn1.bias; symbols \$conv1.x \$conv1.w|residual  skipped by name 'res*'"
has_words explain stdout "probs     skipped by 'last'|not taken conv2d       conv1     'conv1' belongs to the match of 'conv2d_bias' at 'bn1'"
good skip-nothing quantize "$E/digits.json" --skip op:tanh
has_words skip-nothing stderr "'tanh' matches nothing that would be quantized [skip.nothing]"
usage skip-syntax "invalid value 'conv1' (expected first, last, name:GLOB or op:OP) [skip.syntax]" quantize "$E/digits.json" --skip first,conv1
usage skip-op "unknown op 'conv'|[skip.op]|[skip.syntax]" quantize "$E/digits.json" --skip op:conv,name:
usage skip-late "partition|pass.absent" opt "$E/digits.json" --passes clean --skip first

# ---- storage types for the whole model ----

# Storage types: of the emitted C, kept by a saved model, and refused where they mean nothing.
F=$QUERN_SOURCE/tests/proof/families.qir
for t in 'u8 i8 uint8_t' 'i16 i8 int16_t' 'i16 i4 int16_t' 'i8 i4 int8_t'; do
	# shellcheck disable=SC2086
	set -- $t
	silent "storage $t" compile -q "$F" --calib "$E/calib.npy" --activations "$1" --weights-type "$2" -o "direct-$1-$2"
	grep -q "^	const $3 \*x;" "direct-$1-$2/families.h" || fail "storage $t" "the input is no $3"
	silent "storage $t, saved" opt -q "$F" --calib "$E/calib.npy" --activations "$1" --weights-type "$2" --stop-after legalize -o "$1-$2.json"
	silent "storage $t, continued" compile -q "$1-$2.json" --calib "$E/calib.npy" -o "from-$1-$2"
	same "storage $t" "from-$1-$2" "direct-$1-$2"
done
cases=$((cases + 1))
grep -qx '/\* w1, 30 bytes \*/' direct-i16-i8/families_weights.c && grep -qx '/\* w1, 15 bytes \*/' direct-i16-i4/families_weights.c ||
	fail 'storage' "weights of 4 bits take no half of the bytes"
grep -q '"options": .*activations=i16 weights-type=i4' direct-i16-i4/families.report.json ||
	fail 'storage' "the report does not name the storage types" direct-i16-i4/families.report.json
# Accuracy: float has 99.2 %.
for t in 'u8 i8 99.0' 'i16 i8 99.0' 'i8 i4 97.0' 'u8 i4 97.0' 'i16 i4 97.0'; do
	# shellcheck disable=SC2086
	set -- $t
	silent "accuracy $t" eval -q "$E/digits.json" --calib "$E/calib.npy" --data "$E/test_x.npy" --labels "$E/test_y.npy" \
		--activations "$1" --weights-type "$2" --min-accuracy "$3"
done
usage activations "--activations|'i32'|i8, u8, i16 or auto" compile "$F" --activations i32 -o out
usage weights-type "--weights-type|'i3'|i8, i4 or i2" compile "$F" --weights-type i3 -o out
usage rfc-u8 'option.activations|i8 or i16' compile "$F" --calib "$E/calib.npy" --scheme rfc --activations u8 -o out
usage late-activations 'option.late|activations' compile i16-i4.json --activations u8 -o out

finish
