#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# case_names.sh - ONNX's backend tests are passed by what operators mean: no name of a case is in the sources, nor in what runs
# them.  Needs QUERN_DATA.
set -u
. "$(dirname "$0")/check.sh"
cases=${QUERN_DATA:-}/onnx
[ -n "${QUERN_DATA:-}" ] && [ -d "$cases" ] || { skip "case names: QUERN_DATA names no folder with onnx/"; exit 0; }
cd "$QUERN_SOURCE" || exit 1
find "$cases" -name model.onnx -exec dirname {} \; | sed 's|.*/||' | sort -u >"$tmp/names"
[ -s "$tmp/names" ] || { failed "no case in $cases"; finish; }
grep -rnwFf "$tmp/names" include ir formats import runtime patterns passes calibrate codegen driver bench scripts tests/conformance* >"$tmp/bad"
is_empty "$tmp/bad" "none of the names of $(wc -l <"$tmp/names") cases is in the sources"
finish
