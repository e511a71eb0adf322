# SPDX-License-Identifier: Apache-2.0
# network.sh - what is calibrated and tuned, for the other scripts of this folder.  Each variable can be set before.

here=$(cd "$(dirname "$0")" && pwd)
digits=$here/../digits
: "${QUERN:=quern}"                                     # the program
: "${MODEL:=$digits/digits.json}"                       # a float model
: "${SAMPLES:=--calib $digits/calib.npy}"               # for calibration
: "${DATA:=--data $digits/test_x.npy --labels $digits/test_y.npy}"
: "${WISH:=--max-weights 4K --target cortex-m4}"        # of quern tune
: "${OUT:=out}"                                         # a folder that all machines see
: "${SHARDS:=4}"
export QUERN MODEL SAMPLES DATA WISH OUT SHARDS
mkdir -p "$OUT"
