#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# streaming.sh - networks over a window as networks over a hop: equal outputs, calibration on windows and on hops, the emitted program on
# this machine and on a Cortex-M4, samples that are cut into steps, what cannot stream.
. "$(dirname "$0")/common.inc"

# 11 frames of 4 features; padding at both ends, a stride of 2.
cat >net.qir <<'X'
model "net"
graph @main(%x: tensor<1x11x4x1xf32>) {
  %w = const : tensor<6x4x3x1xf32> rand 1
  %c = conv2d %x, %w {stride=[2,1], padding=same}
  %r = relu %c
  %v = const : tensor<5x3x3x6xf32> rand 2
  %d = conv2d %r, %v {padding=same}
  %p = avg_pool %d {kernel=[6,4], stride=[6,4]}
  %f = flatten %p
  %k = const : tensor<3x5xf32> rand 3
  %l = dense %f, %k
  %y = softmax %l
  return %y
}
X
floats() { # FILE SHAPE COUNT SEED
	for ((i = 0; i < $3; i++)); do
		v=$(((($4 + i) * 7919 + i * i * 31) % 255))
		printf '\\000\\000\\%03o\\%03o' $((v / 2 + 64)) $((v % 2 ? 63 : 191))
	done | xargs -0 printf | npy "$1" '<f4' "$2"
}
floats x.npy '9, 11, 4, 1' 396 3

# ---- windows and hops ----

silent 'float window' run -q net.qir x.npy -o y.npy
for hop in 2 4 8; do
	silent "float, hop $hop" run -q net.qir x.npy --stream axis=1,hop=$hop -o hop.npy
	same "float, hop $hop" y.npy hop.npy
done
for form in i8 u8 i16; do
	good "$form" opt -q net.qir --calib x.npy --activations $form --stop-after=mixed-storage -o $form.json
	silent "$form window" run -q $form.json x.npy -o y.npy
	silent "$form hop" run -q $form.json x.npy --stream axis=1,hop=2 -o hop.npy
	same "$form hop" y.npy hop.npy
	good "$form in one run" opt -q net.qir --calib x.npy --activations $form --stop-after=mixed-storage --stream axis=1,hop=2 -o one.json
	silent "$form, two runs" opt -q $form.json --stream axis=1,hop=2 -o two.json
	sed 's/"options": "[^"]*"//' one.json >one
	sed 's/"options": "[^"]*"//; s/two.safetensors/one.safetensors/' two.json >two
	same "$form, two runs" one two
	silent "$form, streamed file" run -q two.json x.npy -o hop.npy
	same "$form, streamed file" y.npy hop.npy
done

# The rows of a hop read only padding, after the window or before it.
for pads in 0,5,1,1 0,9,0,0 12,2,1,1; do
	printf 'model "beyond"\ngraph @main(%%x: tensor<1x11x4x1xf32>) {\n  %%w = const : tensor<2x2x2x1xf32> rand 1\n  %%b = const : tensor<2xf32> rand 2\n' >beyond.qir
	printf '  %%c = conv2d %%x, %%w, %%b {pad=[%s]}\n  %%y = slice %%c {begin=[0,%s], end=[1,%s]}\n  return %%y\n}\n' "$pads" \
		$([ "${pads%%,*}" = 0 ] && echo '-2,0,0 99,9,9' || echo '0,0,0 2,9,9') >>beyond.qir
	silent "padding $pads, window" run -q beyond.qir x.npy -o beyond.npy
	silent "padding $pads, hop" run -q beyond.qir x.npy --stream axis=1,hop=2 -o hop.npy
	same "padding $pads" beyond.npy hop.npy
	good "padding $pads, program" compile -q beyond.qir --calib x.npy --stream axis=1,hop=2 -o beyond
done

# Compilers see no overlap where the rows of a hop lie after the memory of the kernel that reads them.
cat >strict.qir <<'X'
model "strict"
graph @main(%x: tensor<1x7x3xf32>) {
  %w = const : tensor<2x2x3xf32> rand 1
  %b = const : tensor<2xf32> rand 2
  %y = conv1d %x, %w, %b {stride=2, dilation=3}
  return %y
}
X
floats strict.npy '12, 7, 3' 252 4
good 'strict' compile -q strict.qir --calib strict.npy --stream axis=1,hop=4 --target cortex-m4 -o strict
cases=$((cases + 1))
${CC:-cc} -DQN_PORTABLE -std=c99 -O2 -Wall -Wextra -Werror -c strict/strict.c -o strict/strict.o 2>log || fail 'strict' 'it has warnings' log

# Threads, and hops as samples: the last of each 6 belongs to the window.
silent 'threads' run -q i8.json x.npy --stream axis=1,hop=2 --threads 3 -o hop.npy
silent 'one thread' run -q i8.json x.npy --stream axis=1,hop=2 --threads 1 -o one.npy
same 'threads' hop.npy one.npy
silent 'streamed float' opt -q net.qir --stream axis=1,hop=2 -o stream.qir
{ bytes 4 '\000\000\000\000' && tail -c +129 x.npy | head -c 176; } | npy hops.npy '<f4' '6, 2, 4, 1'
silent 'hops' run -q stream.qir hops.npy --sequence 6 -o each.npy
tail -c 12 each.npy >last
run run -q net.qir x.npy -o y.npy
tail -c +129 y.npy | head -c 12 >first
same 'the last hop' first last
case_of 'sequences twice' 2 data.sequence 'each sample is a sequence of 6 steps already' run -q stream.qir x.npy --sequence 6 -o out.npy

# One name of a node in the float and the quantized graph, which has its sums by themselves.
silent 'float window' run -q net.qir x.npy -o y.npy
good 'i8' opt -q net.qir --calib x.npy --stop-after=mixed-storage -o i8.json
silent 'i8 window' run -q i8.json x.npy -o i8.npy
for name in d d.acc; do
	silent "float, window=$name" run -q net.qir x.npy --stream axis=1,hop=2,window=$name -o hop.npy
	same "float, window=$name" y.npy hop.npy
	silent "i8, window=$name" run -q i8.json x.npy --stream axis=1,hop=2,window=$name -o hop.npy
	same "i8, window=$name" i8.npy hop.npy
done
case_of 'no such node' 2 stream.option "has no node 'e.acc'" run -q net.qir x.npy --stream axis=1,hop=2,window=e.acc -o hop.npy

# Another input is given whole: a sample for each window, or for each step.
sed 's/^graph @main(%x: tensor<1x11x4x1xf32>)/graph @main(%x: tensor<1x11x4x1xf32>, %e: tensor<1x3xf32>)/; s/%y = softmax %l/%s = add %l, %e\n  %y = softmax %s/' net.qir >two.qir
floats e.npy '9, 3' 27 11
silent 'two inputs, window' run -q two.qir x=x.npy e=e.npy -o two.npy
silent 'two inputs, hop' run -q two.qir x=x.npy e=e.npy --stream x:axis=1,hop=2 -o both.npy
same 'two inputs' two.npy both.npy
for ((i = 0; i < 54; i++)); do tail -c +$((129 + 12 * (i / 6))) e.npy | head -c 12; done | npy steps.npy '<f4' '54, 3'
silent 'two inputs, by step' run -q two.qir x=x.npy e=steps.npy --stream x:axis=1,hop=2 -o both.npy
same 'two inputs, by step' two.npy both.npy
floats five.npy '5, 3' 15 2
sed 's/%s = add %l, %e/%s = add %l, %e/; s/%r = relu %c/%k3 = const : tensor<6x3xf32> rand 9\n  %g = dense %e, %k3\n  %r = mul %c, %g/' two.qir >gate.qir
case_of 'a gate of another input' 3 stream.operand "'g' follows from the input 'e'|--input-value e=FILE.npy" run -q gate.qir x=x.npy e=e.npy --stream x:axis=1,hop=2 -o both.npy
head -c 140 e.npy | tail -c 12 | npy one.npy '<f4' '1, 3'
silent 'a fixed gate' run -q gate.qir x=x.npy --input-value e=one.npy --stream x:axis=1,hop=2 -o both.npy
silent 'a fixed gate, window' run -q gate.qir x=x.npy --input-value e=one.npy -o two.npy
same 'a fixed gate' two.npy both.npy
case_of 'two inputs, neither' 1 data.count '' run -q two.qir x=x.npy e=five.npy --stream x:axis=1,hop=2 -o both.npy

# Between passes: the same network in the end, or one that is calibrated on hops.
good "streamed after quantize" opt -q net.qir --calib x.npy --stop-after=quantize --stream axis=1,hop=2 -o part.json
good "from quantize on" compile -q part.json --calib x.npy -o rest
good 'window' run -q i8.json x.npy -o window.npy
for pass in calibrate bind requantize legalize; do
	good "streamed after $pass" opt -q net.qir --calib x.npy --stop-after=$pass --stream axis=1,hop=2 -o part.json
	good "from $pass on" opt -q part.json --calib x.npy --stop-after=mixed-storage -o rest.json
	silent "run from $pass on" run -q rest.json x.npy -o hop.npy
	same "streamed after $pass" window.npy hop.npy
done

# Calibration on the stream: another network of values, as accurate.
good 'calibrated on hops' compile -q stream.qir --calib x.npy --self-test 2 -o hops
has_words 'calibrated on hops' stdout 'state  |input        x : tensor<1x2x4x1'
good 'agreement' eval -q net.qir --calib x.npy --data x.npy --stream axis=1,hop=2
has_words 'agreement' stdout integer

# ---- the program ----

good compile compile -q net.qir --calib x.npy --stream axis=1,hop=2 --target cortex-m4 --self-test 3 -o out
has_words compile stdout 'state  |window       |input        x : tensor<1x2x4x1|self'
cases=$((cases + 1))
${CC:-cc} -O2 -Wall -Wextra -Werror -DQN_PORTABLE -DNET_TRACE -DNET_SELFTEST_MAIN out/net.c out/net_weights.c out/net_selftest.c -o out/test 2>stderr &&
	out/test >stdout && grep -q 'self-test passed (18 samples' stdout || fail 'self-test' 'it fails' stdout
has_words report out/net.report.json 'stream=axis=1,hop=2|"streamed": {"input": "x", "axis": 1, "hop": 2, "window": 11}'
has_words 'text' stream.qir 'streamed "x" axis 1, 2 of 11'
has_words 'JSON' two.json '"streamed": {"input": "x", "axis": 1, "hop": 2, "window": 11}'
silent 'text of JSON' opt -q two.json -o three.qir
silent 'JSON of text' opt -q three.qir -o four.json
has_words 'JSON of text' four.json '"streamed": {"input": "x", "axis": 1, "hop": 2, "window": 11}'
for rows in 'axis 0, 2 of 11' 'axis 8, 2 of 11' 'axis 1, 0 of 11' 'axis 1, 11 of 11' 'axis 1, 2' 'axis 9999999999999999999, 2 of 11' 'axis'; do
	sed "s/^streamed.*/streamed \"x\" $rows/" stream.qir >bad.qir
	case_of "streamed: $rows" 1 graph.syntax "expected 'axis A, H of W' rows" inspect bad.qir
done
for rows in '"axis": 0, "hop": 2, "window": 11' '"axis": 1, "hop": 11, "window": 11' '"axis": 8, "hop": 2, "window": 11' '"axis": 1, "hop": 2' '"axis": 1.5, "hop": 2, "window": 11'; do
	sed "s/\"streamed\":.*/\"streamed\": {\"input\": \"x\", $rows},/" two.json >bad.json
	case_of "streamed: $rows" 1 json.value 'streamed' inspect bad.json
done
silent inspect inspect net.qir --stream axis=1,hop=2
has_words inspect stdout 'state        x.rows'

# A device gets windows as sequences of hops, each with one label.
printf '\000\001\002\000\001\002\000\001\002' | npy label.npy '|u1' '9,'
good 'for a device' compile -q net.qir --calib x.npy --stream axis=1,hop=2 --validation -o device
good device validate device --data x.npy --labels label.npy
has_words device stdout 'samples      54|output       y: 162 of 162 bytes equal|of 9)|result       equal'

# ---- statistics, layers, recipes ----

good statistics calibrate -q net.qir --calib x.npy -o window.json
good 'statistics, streamed' calibrate -q net.qir --calib x.npy --stream axis=1,hop=2 -o hops.json
same statistics window.json hops.json
case_of 'statistics, no axis' 2 stream.option 'axis is missing' calibrate net.qir --calib x.npy --stream hop=2 -o hops.json
good 'of statistics' compile -q net.qir --stats hops.json --stream axis=1,hop=2 --self-test 0 -o stats
good 'of samples' compile -q net.qir --calib x.npy --stream axis=1,hop=2 --self-test 0 -o direct
same 'of statistics' stats/net.c direct/net.c
sum_of() { sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$2" | awk '{n += $1} END {print n}'; }
good analyze analyze -q net.qir --calib x.npy --json
cp stdout window.json
good 'analyze, streamed' analyze -q net.qir --calib x.npy --stream axis=1,hop=2 --json
cp stdout hops.json
cases=$((cases + 1))
[ "$(sum_of instructions hops.json)" -lt "$(sum_of instructions window.json)" ] || fail 'analyze, instructions' 'a hop is not less than a window' hops.json
case_of 'analyze, no hop' 2 stream.option 'hop is missing' analyze net.qir --calib x.npy --stream axis=1
good tune tune -q net.qir --calib x.npy --max-weights 4K --no-repairs --stream axis=1,hop=2 --target cortex-m4 -o net.recipe.json
has_words tune net.recipe.json 'compile with --recipe --target cortex-m4 --stream axis=1,hop=2 --max-weights 4096'
good 'tuned program' compile -q net.qir --calib x.npy --recipe net.recipe.json --target cortex-m4 --stream axis=1,hop=2 --max-weights 4096 -o tuned
has_words 'tuned program' net.recipe.json "$(sed -n 's/.*"weight_bytes": \([0-9]*\).*/\1 bytes of constants/p' tuned/net.report.json)|$(sed -n 's/.*"scratch_bytes": \([0-9]*\).*/arena of \1 bytes/p' tuned/net.report.json)"
case_of 'tune, another hop' 2 tune.journal '' tune -q net.qir --calib x.npy --max-weights 4K --no-repairs --stream axis=1,hop=4 --target cortex-m4 -o net.recipe.json
case_of 'tune, stride' 3 'data.few stream.stride' 'make the hop a multiple of 2' tune -q net.qir --calib x.npy --max-weights 4K --no-repairs --stream axis=1,hop=1 -o other.recipe.json

# ---- what cannot stream ----

case_of 'hop of the stride' 3 stream.stride "node 'c': error: conv2d cannot stream: it has a stride of 2|make the hop a multiple of 2" run net.qir x.npy --stream axis=1,hop=1 -o out.npy
# All strides at once: 2, then 2 again, beside 3.
cat >strides.qir <<'X'
model "strides"
graph @main(%x: tensor<1x48x4x1xf32>) {
  %w = const : tensor<1x2x1x1xf32> rand 1
  %a = conv2d %x, %w {stride=[2,1]}
  %b = conv2d %a, %w {stride=[2,1]}
  %v = const : tensor<1x3x1x1xf32> rand 2
  %c = conv2d %x, %v {stride=[3,1]}
  return %b, %c
}
X
for hop in 1 2 3; do
	case_of "strides of 12, hop $hop" 3 stream.stride 'make the hop a multiple of 12' opt strides.qir --stream axis=1,hop=$hop -o out.qir
done
silent 'a hop of all strides' opt -q strides.qir --stream axis=1,hop=12 -o out.qir
for hop in 0 -1 11 99 2.5 two 99999999999999999999 ''; do
	case_of "hop '$hop'" 2 stream.option hop compile net.qir --calib x.npy --stream "axis=1,hop=$hop" -o out
done
for axis in 0 -1 4 99999999999999999999 x; do
	case_of "axis '$axis'" 2 stream.option axis compile net.qir --calib x.npy --stream "axis=$axis,hop=2" -o out
done
case_of 'no axis' 2 stream.option 'axis is missing' opt net.qir --stream hop=2
case_of 'unknown input' 2 stream.option 'the model has no input audio' opt net.qir --stream audio:axis=1,hop=2
case_of 'window' 2 stream.option "did you mean" opt net.qir --stream axis=1,hop=2,window=yy
case_of 'twice' 3 stream.state "streamed already: input 'x' takes hops of 2 of 11 rows along axis 1" opt stream.qir --stream axis=1,hop=2
sed '/^streamed/d' stream.qir >states.qir
case_of 'states' 3 stream.state "the network has the state 'x.rows' already" opt states.qir --stream axis=1,hop=2
silent 'window' run -q net.qir x.npy --stream axis=1,hop=1,window=c -o hop.npy
same 'window' y.npy hop.npy

case_of 'stop after stream' 2 pass.unknown "'stream' runs after all passes of the list: use --stream axis=A,hop=N" opt net.qir --stop-after=stream

# ---- nodes from the whole window, names, reductions over all axes ----

# Two gates beside each other, each of which follows from the whole window; an output whose name a next state would have.
cat >gates.qir <<'X'
model "gates"
graph @main(%x: tensor<1x8x4xf32>) {
  %w = const : tensor<4x3x4xf32> rand 1
  %c = conv1d %x, %w
  %m = reduce_mean %c {axes=[1], keepdims=1}
  %g = mul %c, %m
  %h = sub %c, %m
  %a = reduce_max %g {axes=[1]}
  %b = reduce_max %h {axes=[1]}
  %x.next = add %a, %b
  %c.next = reduce_sum %x {axes=[]}
  return %x.next, %c.next
}
X
floats g.npy '9, 8, 4' 288 5
case_of 'gates' 3 stream.operand "node 'g': error: mul cannot stream: 'm' follows from the whole window|window=g|node 'h': error|window=h" run gates.qir g.npy --stream axis=1,hop=2 -o out.npy -o out2.npy
case_of 'one of two gates' 3 stream.operand "window=h" run gates.qir g.npy --stream axis=1,hop=2,window=g -o out.npy -o out2.npy
silent 'gates window' run -q gates.qir g.npy -o y.npy -o z.npy
silent 'gates hop' run -q gates.qir g.npy --stream axis=1,hop=2,window=g,window=h -o yh.npy -o zh.npy
same 'gates' y.npy yh.npy
same 'gates, all axes' z.npy zh.npy
silent 'gates, names' inspect gates.qir --stream axis=1,hop=2,window=g,window=h
has_words 'gates, names' stdout 'x.next|c.next'
for node in x w x.next; do
	case_of "window=$node" 2 stream.option "window: '$node' computes nothing from rows of the window" inspect gates.qir --stream axis=1,hop=2,window=g,window=h,window=$node
done
case_of 'axis twice' 2 stream.option 'axis is given twice' inspect gates.qir --stream axis=1,hop=2,axis=2
case_of 'hop twice' 2 stream.option 'hop is given twice' inspect gates.qir --stream axis=1,hop=2,hop=2
sed 's/x: tensor<1x8x4xf32>/x: tensor<1x8x4xf32>, %v: tensor<1x1x4xf32>/; s/%g = mul %c, %m/%g = mul %c, %v/; /%h =/d; s/add %a, %b/relu %a/; /%b =/d' gates.qir >other.qir
case_of 'another input' 3 stream.operand "'v' is another input|window=g" inspect other.qir --stream x:axis=1,hop=2

# Nothing is read of earlier hops: samples are windows all the same.
cat >last.qir <<'X'
model "last"
graph @main(%x: tensor<1x8x4xf32>) {
  %s = slice %x {begin=[0, 7, 0], end=[1, 8, 4]}
  %y = tanh %s
  return %y
}
X
silent 'no states, window' run -q last.qir g.npy -o y.npy
silent 'no states, hop' run -q last.qir g.npy --stream axis=1,hop=3 --threads 2 -o hop.npy
same 'no states' y.npy hop.npy
good 'no states, program' compile -q last.qir --calib g.npy --stream axis=1,hop=3 --self-test 3 -o fresh
cases=$((cases + 1))
${CC:-cc} -O2 -Wall -Wextra -Werror -DQN_PORTABLE -DLAST_SELFTEST_MAIN fresh/last.c fresh/last_weights.c fresh/last_selftest.c -o fresh/test 2>stderr &&
	fresh/test >stdout && grep -q 'self-test passed (9 samples' stdout || fail 'no states, self-test' 'it fails' stdout

# ---- one operator each ----

# one NAME STATEMENTS: the largest of the rows of %c, hop by hop.  no: it cannot stream, and the message has the word.
one() {
	printf 'model "one"\ngraph @main(%%x: tensor<1x8x4xf32>) {\n%s\n  %%m = reduce_max %%c {axes=[%s]}\n  return %%m\n}\n' "$3" "$2" >one.qir
	silent "$1 window" run -q one.qir g.npy -o y.npy
	silent "$1 hop" run -q one.qir g.npy --stream axis=1,hop=2 -o hop.npy
	same "$1" y.npy hop.npy
}
no() {
	printf 'model "one"\ngraph @main(%%x: tensor<1x8x4xf32>) {\n%s\n  %%m = reduce_max %%c {axes=[1]}\n  return %%m\n}\n' "$3" >one.qir
	case_of "$1" 3 stream.op "node 'c': error|$2|window=c" run one.qir g.npy --stream axis=1,hop=2 -o out.npy
}
one reverse 1 '  %c = reverse %x {axes=[-1, 0]}'
one tile 1 '  %c = tile %x {repeats=[1, 1, 2]}'
one gather 1 '  %i = const : tensor<2xi32> [2, 0]  %c = gather %x, %i {axis=2}'
one 'gather before' 3 '  %t = transpose %x {perm=[2, 0, 1]}  %i = const : tensor<2x2xi32> [0, 2, 1, 3]  %c = gather %t, %i {axis=0}'
printf 'model "sound"\ngraph @main(%%x: tensor<1x64xf32>) {\n  %%c = log_mel %%x {window=16, hop=8, channels=2}\n  return %%c\n}\n' >sound.qir
floats sound.npy '2, 64' 128 5
case_of 'noise reduction' 3 stream.op "node 'c': error|its noise reduction reads all frames|--front-end log_mel:stream|window=c" \
	run -q sound.qir sound.npy --stream axis=1,hop=8 -o out.npy
no 'reverse rows' 'it reverses the rows' '  %c = reverse %x {axes=[-2]}'
no 'tile rows' 'it repeats the rows' '  %c = tile %x {repeats=[1, 2, 1]}'
no 'gather rows' 'it takes rows in another order' '  %i = const : tensor<2xi32> [2, 0]  %c = gather %x, %i {axis=1}'
one resize '1, 3' '  %e = reshape %x {shape=[1, 8, 4, 1]}  %c = resize_nearest %e {size=[8, 8]}'
no 'resize rows' 'it makes another number of rows' '  %e = reshape %x {shape=[1, 8, 4, 1]}  %c = resize_nearest %e {size=[4, 8]}'
no 'transposed rows' 'its stride makes several rows' '  %e = reshape %x {shape=[1, 8, 4, 1]}  %w = const : tensor<2x2x1x1xf32> rand 4  %c = conv2d_transpose %e, %w {stride=[2, 1]}'
no 'cumsum' 'it computes along the rows' '  %c = cumsum %x {axis=1}'
case_of 'dynamic' 3 'data.few stream.op' 'its scales follow from the values of all rows (--dynamic)|window=c.dynamic' compile -q net.qir --calib x.npy --dynamic op:conv2d --stream axis=1,hop=2 -o out

# ---- keyword spotting, as it is delivered ----

kws=${QUERN_DATA:-}/models/kws_int8.tflite
if [ -r "$kws" ]; then
	{ head -c 128 "$QUERN_DATA/samples/kws_x.npy" | sed 's/(500, /(24,  /' && tail -c +129 "$QUERN_DATA/samples/kws_x.npy" | head -c $((24 * 490)); } >some.npy
	silent 'kws window' run -q "$kws" some.npy -o y.npy
	for hop in 2 4 6 48; do
		silent "kws, hop $hop" run -q "$kws" some.npy --stream axis=1,hop=$hop -o hop.npy
		same "kws, hop $hop" y.npy hop.npy
	done
	case_of 'kws, hop 1' 3 stream.stride "make the hop a multiple of 2" run -q "$kws" some.npy --stream axis=1,hop=1 -o out.npy
	good 'kws float window' run -q "$QUERN_DATA/models/kws_hybrid_float.tflite" some.npy --input-zero 83 --input-scale 0.5847029 -o y.npy
	good 'kws float hop' run -q "$QUERN_DATA/models/kws_hybrid_float.tflite" some.npy --input-zero 83 --input-scale 0.5847029 --stream axis=1,hop=2 -o hop.npy
	same 'kws float' y.npy hop.npy
	good 'kws program' compile -q "$kws" --calib some.npy --stream axis=1,hop=2 --target cortex-m4 --self-test 1 -o kws
	if command -v arm-none-eabi-gcc qemu-system-arm >/dev/null; then
		cases=$((cases + 1))
		"$QUERN_SOURCE/tests/mcu/arm-cc" -O2 -DKWS_INT8_SELFTEST_MAIN kws/kws_int8.c kws/kws_int8_weights.c kws/kws_int8_selftest.c -o kws/m4 2>stderr &&
			"$QUERN_SOURCE/tests/mcu/arm-run" kws/m4 >stdout && grep -q 'self-test passed (25 samples' stdout || fail 'kws in QEMU' 'it fails' stdout
	fi
else
	echo 'keyword spotting: skipped, QUERN_DATA is not set or has no kws_int8.tflite'
fi
finish
