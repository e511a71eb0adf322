#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# slurm.sh - tunes and calibrates as Slurm job arrays.  sbatch --wait returns when an array has ended; options of the
# command line are those of sbatch.
#
#   OUT=/shared/net SHARDS=16 examples/cluster/slurm.sh --partition=cpu --time=30
set -eu
. "$(dirname "$0")/network.sh"

shards() {
	step=$1
	shift
	sbatch --wait --quiet --export=ALL --array="1-$SHARDS" --output="$OUT/$step.%a.log" "$@" \
		--wrap="$here/job.sh $step \$SLURM_ARRAY_TASK_ID"
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
