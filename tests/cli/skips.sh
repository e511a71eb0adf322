#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# skips.sh - values that several steps read with different ranges, and layers that are cut into parts: no sums of 32 bits
# are stored for them.
. "$(dirname "$0")/common.inc"

# No sum is read by two requantizes.
has_no_stored_sum() { # NAME FILE
	cases=$((cases + 1))
	if grep -o '= requantize %[^ ]*acc ' "$2" | sort | uniq -d | grep -q .; then
		fail "$1" "two requantizes read one sum" "$2"
	fi
}

# The skip of a small U-Net: %r is pooled, and joined with %u, whose range is wider.
cat >unet.qir <<'X'
graph @main(%x: tensor<1x16x16x4xf32>) {
  %w = const : tensor<8x3x3x4xf32> rand 1
  %c = conv2d %x, %w {pad=[1,1,1,1]}
  %r = relu %c
  %p = max_pool %r {kernel=[2,2], stride=[2,2]}
  %v = const : tensor<8x3x3x8xf32> rand 2
  %d = conv2d %p, %v {pad=[1,1,1,1]}
  %u = resize_nearest %d {size=[16,16], mode=asymmetric}
  %j = concat %r, %u {axis=3}
  %o = const : tensor<4x1x1x16xf32> rand 3
  %y = conv2d %j, %o
  return %y
}
X
awk 'BEGIN { for (i = 1; i <= 8 * 1024; i++) printf "%.3f%s", i * i * 7919 % 10007 / 10007 - 0.3, i % 1024 ? "," : "\n" }' >unet.csv
good unet-graph opt unet.qir --calib unet.csv --stop-after=legalize -o unet.int.qir
has_no_stored_sum unet-sums unet.int.qir
good unet compile unet.qir --calib unet.csv -o unet
has_words unet stdout 'arena        8192 bytes'

# A concat that is read and joined again, as in a DenseNet: %c has one reader, but two ranges.
cat >dense.qir <<'X'
graph @main(%x: tensor<1x16x16x4xf32>) {
  %w = const : tensor<8x3x3x4xf32> rand 1
  %c = conv2d %x, %w {pad=[1,1,1,1]}
  %j = concat %c, %x {axis=3}
  %a = const : tensor<8x1x1x12xf32> rand 2
  %d = conv2d %j, %a
  %j2 = concat %j, %d {axis=3}
  %b = const : tensor<8x1x1x20xf32> rand 3
  %y = conv2d %j2, %b
  return %y
}
X
good dense-graph opt dense.qir --calib unet.csv --stop-after=legalize -o dense.int.qir
has_no_stored_sum dense-sums dense.int.qir

# Queries, keys and values of one layer, as image transformers have them.
cat >qkv.qir <<'X'
graph @main(%x: tensor<1x16x8xf32>) {
  %w = const : tensor<48x8xf32> rand 1
  %b = const : tensor<48xf32> rand 2
  %r = reshape %x {shape=[16,8]}
  %d = dense %r, %w, %b
  %h = reshape %d {shape=[1,16,3,2,8]}
  %t = transpose %h {perm=[2,0,3,1,4]}
  %zero = const : tensor<i64> [0]
  %one = const : tensor<i64> [1]
  %two = const : tensor<i64> [2]
  %q = gather %t, %zero {axis=0}
  %k = gather %t, %one {axis=0}
  %v = gather %t, %two {axis=0}
  %kt = transpose %k {perm=[0,1,3,2]}
  %s = matmul %q, %kt
  %a = softmax %s {axis=3}
  %y = matmul %a, %v
  return %y
}
X
awk 'BEGIN { for (i = 1; i <= 8 * 128; i++) printf "%.3f%s", i * i * 7919 % 10007 / 10007 - 0.3, i % 128 ? "," : "\n" }' >qkv.csv
good qkv-graph opt qkv.qir --calib qkv.csv --stop-after=legalize -o qkv.int.qir
has_no_stored_sum qkv-sums qkv.int.qir
cases=$((cases + 1))
[ "$(grep -c '= dense ' qkv.int.qir)" = 3 ] || fail qkv-layers "there is not one layer for each of them" qkv.int.qir

finish
