#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# real-ops.sh - real math ops in a JSON file are read as the ops that they stand for, and compile.
. "$(dirname "$0")/common.inc"

cat >net.json <<'NET'
{"quern": 1, "name": "net", "stage": "float", "graph": {"name": "main",
 "inputs": [{"name": "x", "type": "tensor<1x4xf32>"}],
 "constants": {"w": {"type": "tensor<4x3xf32>", "data": [1, 2, 3, -1, 0.5, 0.25, 0, 1, 0, 0.5, 0.5, -2]},
               "b": {"type": "tensor<3xf32>", "data": [0.5, -0.5, 1]}},
 "nodes": [
  {"name": "s", "op": "stats", "inputs": ["x"], "attrs": {"layer": [-1, 1]}},
  {"name": "y", "op": "real_matmul", "inputs": ["s", "w", "b"], "attrs": {"clamp_min": 0}},
  {"name": "t", "op": "stats", "inputs": ["y"], "attrs": {"layer": [0, 8]}},
  {"name": "z", "op": "real_unary", "inputs": ["t"], "attrs": {"kind": "TANH", "clamp_max": 0.5}},
  {"name": "u", "op": "stats", "inputs": ["z"], "attrs": {"layer": [0, 0.5]}}],
 "outputs": [{"name": "u", "value": "u"}]}}
NET

good read opt -q net.json -o net.qir
has_words read net.qir '= matmul %s, %w|= add %matmul_1, %b|%y = clip %add_1 {min=0.0}|= tanh %t|%z = clip %tanh_1 {max=0.5}'
good compile compile -q net.json -o out
has_words compile out/net.h 'net_run'
sed 's/"TANH"/"COS"/' net.json >wrong.json
cases=$((cases + 1))
run opt -q wrong.json
[ "$code" -eq 1 ] && grep -q 'attr.value' stderr || fail wrong "exit code $code" stderr
finish
