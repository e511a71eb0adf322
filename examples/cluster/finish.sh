#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# finish.sh - C, from the recipe and the statistics.
set -eu
. "$(dirname "$0")/network.sh"
exec "$QUERN" compile "$MODEL" --stats "$OUT/statistics.json" --recipe "$OUT/net.recipe.json" -q -o "$OUT/c"
