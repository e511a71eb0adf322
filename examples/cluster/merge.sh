#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# merge.sh tune|calibrate - what the shards of a step wrote becomes one file.  tune: the recipe when the search is
# complete, else exit code 10: it needs another round.
set -eu
. "$(dirname "$0")/network.sh"
# shellcheck disable=SC2046 # numbers are words
set -- "$1" $(seq "$SHARDS")
step=$1
shift
for k; do
	case $step in
	calibrate) set -- "$@" "$OUT/statistics.$k.json" ;;
	tune) set -- "$@" "$OUT/net.$k-of-$SHARDS.journal.json" ;;
	esac
	shift
done
case $step in
calibrate) "$QUERN" merge "$@" -q -o "$OUT/statistics.json" ;;
tune)
	"$QUERN" merge "$@" -q -o "$OUT/net.journal.json"
	grep -q 'the search is complete' "$OUT"/shard.*.log || exit 10
	# shellcheck disable=SC2086 # options are words
	"$QUERN" tune "$MODEL" $SAMPLES $DATA $WISH -q -o "$OUT/net.recipe.json"
	;;
esac
