#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# parallel.sh - tunes and calibrates with GNU parallel, on this machine or on those of --sshlogin.
#
#   WISH="--max-weights 5K --target cortex-m4" SHARDS=8 examples/cluster/parallel.sh --jobs 4
set -eu
. "$(dirname "$0")/network.sh"

# shards STEP OPTION…: all shards of a step; options are those of parallel.
shards() {
	step=$1
	shift
	# shellcheck disable=SC2046 # numbers are words
	parallel --will-cite "$@" "$here/job.sh" "$step" '{}' ::: $(seq "$SHARDS") </dev/null
}

code=10
while [ $code -eq 10 ]; do
	shards tune "$@"
	code=0
	"$here/merge.sh" tune || code=$?
done
[ $code -eq 0 ] || exit $code
shards calibrate "$@"
"$here/merge.sh" calibrate
"$here/finish.sh"
