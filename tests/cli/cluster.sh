#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cluster.sh - examples/cluster with GNU parallel gives the statistics, the recipe and the C of one process.
. "$(dirname "$0")/common.inc"

E=$QUERN_SOURCE/examples/digits
if ! command -v parallel >/dev/null; then
	echo "note: GNU parallel is not installed; nothing was run"
	exit 0
fi
export QUERN=$QUERN_BIN SHARDS=2 OUT=$work/shards WISH="--no-repairs --max-weights 4K --target cortex-m4"
tail -c +129 "$E/test_x.npy" | head -c 25600 | npy x.npy '<f4' '100, 8, 8, 1'
tail -c +129 "$E/test_y.npy" | head -c 800 | npy y.npy '<i8' '100,'
export DATA="--data $work/x.npy --labels $work/y.npy"

cases=$((cases + 1))
"$QUERN_SOURCE/examples/cluster/parallel.sh" --jobs 2 >stdout 2>stderr || fail parallel "exit code $?" stderr
# shellcheck disable=SC2086 # options are words
good tune tune -q "$E/digits.json" --calib "$E/calib.npy" $DATA $WISH -o net.recipe.json
same recipe net.recipe.json shards/net.recipe.json
same front net.front.json shards/net.front.json
good calibrate calibrate -q "$E/digits.json" --calib "$E/calib.npy" --recipe net.recipe.json -o statistics.json
same statistics statistics.json shards/statistics.json
good compile compile -q "$E/digits.json" --stats statistics.json --recipe net.recipe.json -o c
same c c shards/c
finish
