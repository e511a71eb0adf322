#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# limit.sh SECONDS COMMAND… - runs it with a limit of CPU time for each of its processes, which a busy machine does not shorten;
# ctest's limit of elapsed time only ends what waits for ever.
seconds=$1
shift
ulimit -St "$seconds" || exit
exec "$@"
