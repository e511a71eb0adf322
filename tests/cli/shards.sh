#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shards.sh - statistics in shards, by GNU parallel and one after the other, give the bytes of one run.
. "$(dirname "$0")/common.inc"

E=$QUERN_SOURCE/examples/digits

calibrate() {
	quern calibrate "$E/digits.json" --calib "$E/calib.npy" -q "$@"
}

# ---- 8 shards: under GNU parallel, where it is installed, else one after the other ----

export QUERN_BIN E
shards() { # METHOD FOLDER OPTION…
	local method=$1 folder=$2
	shift 2
	mkdir "$folder"
	cases=$((cases + 1))
	if command -v parallel >/dev/null; then
		# shellcheck disable=SC2016
		parallel -j 4 --will-cite "$QUERN_BIN" calibrate "$E/digits.json" --calib "$E/calib.npy" -q --method "$method" "$@" \
			--shard '{}/8' -o "$folder/s{}.json" ::: 8 3 5 1 7 2 4 6 >stdout 2>stderr </dev/null || fail "$folder" "a shard fails" stderr
	else
		for k in 8 3 5 1 7 2 4 6; do
			calibrate --method "$method" "$@" --shard $k/8 -o "$folder/s$k.json" || fail "$folder" "shard $k fails"
		done
	fi
}
command -v parallel >/dev/null || echo "note: GNU parallel is not installed; the shards ran one after the other"

for m in ema kl; do
	shards $m $m-s
	silent "$m merge" merge $m-s/s*.json -o $m-all.json -q
	calibrate --method $m -o $m-one.json || fail $m "one run fails"
	same "$m shards" $m-all.json $m-one.json
	silent "$m halves 1" merge $m-s/s5.json $m-s/s2.json $m-s/s8.json -o half1.json -q
	silent "$m halves 2" merge $m-s/s7.json $m-s/s1.json $m-s/s3.json $m-s/s4.json $m-s/s6.json -o half2.json -q
	silent "$m halves" merge half2.json half1.json -o halves.json -q
	same "$m halves" halves.json $m-one.json
done
# a method of two passes: the shards once a pass
m=percentile_ort
shards $m pass1
silent 'merge pass 1' merge pass1/s*.json -o first.json -q
shards $m pass2 --stats first.json
silent 'merge pass 2' merge pass2/s*.json -o second.json -q
calibrate --method $m -o one.json || fail $m "one run fails"
same 'two passes' second.json one.json
silent 'pass 2 in one' calibrate "$E/digits.json" --calib "$E/calib.npy" --stats first.json -q -o rest.json
same 'pass 2 in one' rest.json one.json

# a method that searches: shards hold where it begins, the samples are needed again
shards output:steps=3 searched
silent 'merge output' merge searched/s*.json -o searched.json -q
calibrate --method output:steps=3 -o one.json || fail output "one run fails"
same 'output shards' searched.json one.json
silent 'output by shards' compile "$E/digits.json" --stats searched.json --calib "$E/calib.npy" -q -o output-stats
silent 'output by threads' compile "$E/digits.json" --method output:steps=3 --calib "$E/calib.npy" --threads 4 -q -o output-direct
same output output-stats output-direct
grep -q '"options": .*method=output:steps=3,least=0.5,cosine=0 ' output-direct/digits.report.json || fail output "it is not recorded"
case_of 'output without samples' 1 calibrate.no-data 'digits: error|statistics do not have them|--calib' \
	compile "$E/digits.json" --stats searched.json -o out -q
silent 'output explained' calibrate "$E/digits.json" --stats searched.json --explain probs.x -q
has_words 'output explained' stdout 'method       output:steps=3|note         the search of a compilation starts'
quern opt "$E/digits.json" --stop-after quantize -q -o symbolic.qir
silent 'output of a saved graph' compile symbolic.qir --calib "$E/calib.npy" --method output:steps=3 -q -o output-saved
same 'output of a saved graph' output-saved output-direct
sed '/^  part /d' symbolic.qir >no-parts.qir
case_of 'output of a graph without parts' 2 calibrate.parts 'the method output|start from the float model' \
	opt no-parts.qir --calib "$E/calib.npy" --method output --stop-after bind -q
printf 'model "moves" stage float\ngraph @main(%%x: tensor<1x8xf32>) {\n  %%y = relu %%x\n  return %%y\n}\n' >moves.qir
tail -c +129 "$E/calib.npy" | head -c $((4 * 8 * 20)) | npy moves.npy '<f4' '20, 8'
good 'output of moves alone' compile moves.qir --calib moves.npy --method output --self-test 2 -o moves

finish
