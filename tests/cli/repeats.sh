#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# repeats.sh - steps that come several times in a row are one C function, with the same results and traces.
. "$(dirname "$0")/common.inc"

# A network of N blocks, each of which has weights and a state of its own.
dense_net() { # N
	local x='%x' i
	printf 'model "deep"\ngraph @main(%%x: tensor<1x16xf32>'
	for ((i = 0; i < $1; i++)); do printf ', %%h%d: tensor<1x16xf32> state splat 0.125' $i; done
	printf ') {\n'
	for ((i = 0; i < $1; i++)); do
		cat <<X
  %w$i = const : tensor<16x16xf32> rand $((3 * i + 1))
  %v$i = const : tensor<16x16xf32> rand $((3 * i + 2))
  %b$i = const : tensor<16xf32> rand $((3 * i + 3))
  %n$i = rms_norm $x, %b$i
  %a$i = dense %n$i, %w$i, %b$i
  %s$i = sigmoid %a$i
  %m$i = mul %s$i, %h$i
  %t$i = dense %m$i, %v$i
  %u$i = tanh %t$i
  %y$i = add %u$i, $x
X
		x="%y$i"
	done
	printf '  return %s as "y"' "$x"
	for ((i = 0; i < $1; i++)); do printf ', %%s%d as "h%d.next" to %%h%d' $i $i $i; done
	printf '\n}\n'
}
# All blocks read %g, which the first of them computes from the state that it sets.
shared_net() { # N
	dense_net "$1" | sed 's/(%x: /(%in: /
/^  %w0 = /i\  %x = tanh %in
s/^  return \(%y[0-9]*\) /  %end = tanh \1\n  return %end /
/^  %s0 = /i\  %g = tanh %h0
/^  %m[0-9]* = /{s/%m/%k/;p;s/^  %k\([0-9]*\) = .*/  %m\1 = mul %k\1, %g/}'
}
# Convolutions that need row pointers, a pool that is joined with one, and additions.
image_net() { # N
	local x='%x' i
	printf 'model "deep"\ngraph @main(%%x: tensor<1x12x12x4xf32>) {\n'
	for ((i = 0; i < $1; i++)); do
		cat <<X
  %w$i = const : tensor<4x3x3x4xf32> rand $((3 * i + 1))
  %v$i = const : tensor<16x1x1x4xf32> rand $((3 * i + 2))
  %u$i = const : tensor<4x3x3x16xf32> rand $((3 * i + 3))
  %a$i = conv2d $x, %w$i {padding=same}
  %r$i = relu %a$i
  %e$i = conv2d %r$i, %v$i
  %f$i = relu6 %e$i
  %g$i = conv2d %f$i, %u$i {padding=same}
  %h$i = max_pool %g$i {kernel=[3, 3], padding=same}
  %y$i = add %h$i, $x
X
		x="%y$i"
	done
	printf '  return %s as "y"\n}\n' "$x"
}
for ((i = 0; i < 12 * 12 * 4 * 4; i++)); do
	v=$(((i * 7919 + i * i * 31) % 255))
	printf '\\000\\000\\%03o\\%03o' $((v / 2 + 64)) $((v % 2 ? 63 : 191))
done | xargs -0 printf >x.bin
npy image.npy '<f4' '4, 12, 12, 4' <x.bin
head -c $((64 * 40)) x.bin | npy dense.npy '<f4' '40, 16'
tail -c +129 "$QUERN_SOURCE/examples/digits/calib.npy" | head -c $((64 * 40)) | npy shared.npy '<f4' '40, 16'

strict="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-qual -Wundef -Werror -DQN_PORTABLE -DDEEP_TRACE -DDEEP_SELFTEST_MAIN"
selftest() { # FOLDER COMPILER…
	local folder=$1
	shift
	cases=$((cases + 1))
	# shellcheck disable=SC2086
	"$@" $strict "$folder/deep.c" "$folder/deep_weights.c" "$folder/deep_selftest.c" -o t 2>stderr && ./t >stdout ||
		fail "$folder: $*" "the self-test fails" stdout
	grep -q "self-test passed" stdout || fail "$folder: $*" "it did not run" stderr
}
for net in dense shared image; do
	"${net}_net" 20 >$net.qir
	sequence="--sequence 10 --self-test"
	[ $net != image ] || sequence=--self-test
	[ $net != shared ] || sequence="--optimize size $sequence" # its blocks are one function for the least code
	for way in "i8 generic" "i8 cortex-m4" "i16 generic" "i8 cortex-m55"; do
		read -r activations target <<<"$way"
		[ "$net" != image ] || [ "$target" = generic ] || continue # pruned channels make its blocks call other kernels
		folder=$net-$activations-$target
		# shellcheck disable=SC2086
		good "$folder" compile -q $net.qir --name deep --calib $net.npy $sequence 4 --activations $activations --target $target -o $folder
		grep -q '_repeat \*one' $folder/deep.c || fail "$folder" "no step is repeated" $folder/deep.c
		[ $net != shared ] || grep -q ', 20 times' $folder/deep.c || fail "$folder" "a block stands alone" $folder/deep.c
		selftest $folder cc -std=c99 -O1 -fsanitize=address,undefined
	done
	selftest $net-i8-generic cc -std=c11 -O3
	! command -v clang >/dev/null || selftest $net-i8-generic clang -std=c99 -O2
	! command -v g++ >/dev/null || selftest $net-i8-generic g++ -std=c++11 -O2 -x c++
done

# Nine blocks have hardly more code than five: an entry of the table for each thing that differs.
code() { # N: bytes of the program's code
	dense_net "$1" >n.qir
	good "$1 blocks" compile -q n.qir --name deep --calib dense.npy --sequence 10 --optimize size -o n
	cc -std=c99 -Os -c n/deep.c -o n.o
	size -A n.o | awk '$1 ~ /^\.text/ { n += $2 } END { print n }'
}
five=$(code 5) nine=$(code 9)
cases=$((cases + 1))
[ $((nine - five)) -lt 200 ] || fail "code" "4 blocks more are $((nine - five)) bytes more, from $five" n/deep.c

# Few blocks are faster one by one, and so are all with --optimize speed.
dense_net 4 >n.qir
for how in "n.qir balanced" "dense.qir speed"; do
	read -r file optimize <<<"$how"
	good "$how" compile -q $file --name deep --calib dense.npy --sequence 10 --optimize $optimize -o n
	! grep -q '_repeat \*one' n/deep.c || fail "$how" 'a step is repeated' n/deep.c
done

# What is shared comes first only where the arena is not larger then, with rows of the convolution computed at a time.
{
	printf 'model "wide" stage integer\ngraph @main(%%x: tensor<1x64x64x1x!quant.uniform<i8:f32, 0.5>>, %%z: tensor<1x12000x!quant.uniform<i8:f32, 0.5>>, %%x2: tensor<1x128x128x1x!quant.uniform<i8:f32, 0.5>>) {\n'
	printf '  %%w = const : tensor<8x3x3x1x!quant.uniform<i8:f32, 0.1>> splat 1\n'
	for net in '1 %x 64' '2 %x2 128'; do
		read -r i x n <<<"$net"
		printf '  %%c%d = conv2d %s, %%w {padding=same}\n  %%q%d = requantize %%c%d : tensor<1x%dx%dx8x!quant.uniform<i8:f32, 0.5>>\n  %%p%d = max_pool %%q%d {kernel=[4,4], stride=[4,4]}\n' $i "$x" $i $i $n $n $i $i
		[ $i = 1 ] || continue
		printf '  %%g = global_avg_pool %%p1 : tensor<1x1x1x8x!quant.uniform<i8:f32, 0.5>>\n  %%t0 = reshape %%g {shape=[1,8]}\n  %%mask = tanh %%z : tensor<1x12000x!quant.uniform<i8:f32, 0.5>>\n'
		for ((k = 0; k < 12; k++)); do
			printf '  %%s%d = slice %%mask {begin=[0,%d], end=[1,%d]}\n  %%t%d = add %%t%d, %%s%d : tensor<1x8x!quant.uniform<i8:f32, 0.5>>\n' $k $((k + 8)) $((k + 16)) $((k + 1)) $k $k
		done
	done
	printf '  return %%t12 as "y", %%p2 as "y2"\n}\n'
} >wide.qir
good wide compile -q wide.qir --optimize size -o wide
has_words wide stdout 'arena        12'

# In program memory of an AVR tables would have to be read otherwise: its steps stay as they are.
good avr compile -q dense.qir --name deep --calib dense.npy --sequence 10 --self-test 4 --target avr -o avr
! grep -q '_repeat \*one' avr/deep.c || fail avr 'a step is repeated' avr/deep.c
selftest avr cc -std=c99 -O1
finish
