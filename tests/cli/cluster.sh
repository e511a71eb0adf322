#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cluster.sh - examples/cluster with GNU parallel gives the statistics, the recipe and the C of one process; with Slurm, too,
# where there is a cluster (scripts/check-slurm makes one of this machine and sets SLURM_CONF).
. "$(dirname "$0")/common.inc"

E=$QUERN_SOURCE/examples/digits
if ! command -v parallel >/dev/null; then
	echo "note: GNU parallel is not installed; nothing was run"
	exit 0
fi
export QUERN=$QUERN_BIN SHARDS=2 WISH="--no-repairs --max-weights 4K --target cortex-m4"
tail -c +129 "$E/test_x.npy" | head -c 25600 | npy x.npy '<f4' '100, 8, 8, 1'
tail -c +129 "$E/test_y.npy" | head -c 800 | npy y.npy '<i8' '100,'
export DATA="--data $work/x.npy --labels $work/y.npy"

# shellcheck disable=SC2086 # options are words
good tune tune -q "$E/digits.json" --calib "$E/calib.npy" $DATA $WISH -o net.recipe.json
good calibrate calibrate -q "$E/digits.json" --calib "$E/calib.npy" --recipe net.recipe.json -o statistics.json
good compile compile -q "$E/digits.json" --stats statistics.json --recipe net.recipe.json -o c

# in_shards NAME OPTION…: examples/cluster/NAME.sh makes the same files.
in_shards() {
	local how=$1
	shift
	cases=$((cases + 1))
	export OUT=$work/$how
	"$QUERN_SOURCE/examples/cluster/$how.sh" "$@" >stdout 2>stderr || fail "$how" "exit code $?" stderr
	same "$how: recipe" net.recipe.json "$how/net.recipe.json"
	same "$how: front" net.front.json "$how/net.front.json"
	same "$how: statistics" statistics.json "$how/statistics.json"
	same "$how: c" c "$how/c"
}
in_shards parallel --jobs 2
if [ -n "${SLURM_CONF:-}" ]; then
	in_shards slurm
else
	echo "note: there is no Slurm cluster (scripts/check-slurm makes one)"
fi
finish
