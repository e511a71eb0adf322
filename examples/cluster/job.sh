#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# job.sh tune|calibrate K - shard K of a step, on any machine.
set -eu
. "$(dirname "$0")/network.sh"
case $1 in
# shellcheck disable=SC2086 # options are words
calibrate) exec "$QUERN" calibrate "$MODEL" $SAMPLES --recipe "$OUT/net.recipe.json" -q --shard "$2/$SHARDS" -o "$OUT/statistics.$2.json" ;;
# shellcheck disable=SC2086
tune) exec "$QUERN" tune "$MODEL" $SAMPLES $DATA $WISH -q --shard "$2/$SHARDS" -o "$OUT/net.recipe.json" >"$OUT/shard.$2.log" ;;
*) echo "job.sh: unknown step '$1' (expected tune or calibrate)" >&2 && exit 2 ;;
esac
