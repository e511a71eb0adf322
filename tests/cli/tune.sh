#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tune.sh - a recipe within budgets: what it says is what compile and eval give; the same after a stop, for jobs and for shards.
. "$(dirname "$0")/common.inc"

E=$QUERN_SOURCE/examples/digits
model=$E/digits.json
tail -c +129 "$E/test_x.npy" | head -c 25600 | npy x.npy '<f4' '100, 8, 8, 1'
tail -c +129 "$E/test_y.npy" | head -c 800 | npy y.npy '<i8' '100,'
digits="$model --calib $E/calib.npy --data x.npy --labels y.npy"
fast="-q $digits --no-repairs"

# ---- wrong command lines ----

usage no-calib 'missing option: --calib' tune "$model" --max-weights 4K
usage no-budget 'missing option: a budget|an accuracy (--min-accuracy)' tune $digits
usage size "--max-weights|'4Q'|K or M" tune $digits --max-weights 4Q
usage zero "--max-arena|'0'" tune $digits --max-arena 0
usage time "--time|'5M'|(expected an integer from 1 on)" tune $digits --max-weights 4K --time 5M
usage twice 'one metric decides' tune $digits --min-accuracy 90 --min cosine=0.9
usage metric "tune.metric|'beauty'|(expected top1, perplexity, score-error, auc, " tune $fast --max-weights 4K --metric beauty -o o.json
usage shard "--shard|'3/2'" tune $digits --max-weights 4K --shard 3/2
usage shard-jobs '--shard and --jobs' tune $digits --max-weights 4K --shard 1/2 --jobs 2
usage name 'NAME.recipe.json' tune $digits --max-weights 4K -o recipe
usage target "--target|'m4'|cortex-m4" tune $fast --max-weights 4K --target m4 -o o.json

# ---- a budget: what the recipe says is what compile and eval have ----

# figure FILE KEY: of the best point
figure() { sed -n "/\"best\": true/s/.*\"$2\": \([-0-9.]*\).*/\1/p" "$1" | sed 's/\.0$//'; }

good budget tune $fast --max-weights 4K --target cortex-m4 -o a.recipe.json
has_words budget stdout 'candidates   |top1         |weights      |a.recipe.json, a.front.json, a.journal.json'
[ "$(figure a.front.json weight_bytes)" -le 4096 ] || fail budget "over the budget" a.front.json
has_words comments a.recipe.json '"_": "digits: |100 samples other than|"_options": "compile with --recipe --target cortex-m4 --max-weights 4096"|layers with weights'
good compile compile -q "$model" --calib "$E/calib.npy" --recipe a.recipe.json --target cortex-m4 --max-weights 4096 -o out
has_words compile stdout "weights      $(figure a.front.json weight_bytes) bytes|arena        $(figure a.front.json arena_bytes) bytes|instructions about $(figure a.front.json instructions) "
good eval eval -q $digits --recipe a.recipe.json --against "$model" --json
has_words eval stdout "\"metric\": \"top1\", \"output\": \"probs\", \"value\": $(figure a.front.json value),|\"metric\": \"sqnr\", \"output\": \"probs\", \"value\": $(figure a.front.json sqnr),"
# it is better than one storage for all layers in these bytes
good i4 compile -q "$model" --calib "$E/calib.npy" --weights-type i4 --target cortex-m4 --max-weights 4096 -o out
i4=$(quern eval -q $digits --weights-type i4 --against "$model" | sed -n 's/^integer *sqnr *\([0-9]*\)\..*/\1/p')
awk -v a="$(figure a.front.json sqnr)" -v b="$i4" 'BEGIN { exit !(a > b) }' || fail better "SQNR $(figure a.front.json sqnr) dB, all layers with i4 $i4 dB"
# the rows of the table are the front as it grows
good table tune $digits --no-repairs --max-weights 4K --target cortex-m4 -o a.recipe.json
has_words table stdout 'instructions|front, within, best'

# ---- the same after a stop, for jobs and threads, in shards ----

cases=$((cases + 1))
head -n 8 a.journal.json | sed '$ s/,$//' >b.journal.json
printf '  ]\n}\n' >>b.journal.json
good resumed tune $fast --max-weights 4K --target cortex-m4 -o b.recipe.json
same resumed a.recipe.json b.recipe.json
same resumed-front a.front.json b.front.json
good jobs tune $fast --max-weights 4K --target cortex-m4 --jobs 3 -o c.recipe.json
same jobs a.recipe.json c.recipe.json
same jobs-front a.front.json c.front.json
[ -z "$(find . -name '*job-*')" ] || fail jobs "journals of jobs are left"
run tune $fast --max-weights 4K --target cortex-m4 --time 1 --threads 1 -o d.recipe.json # 5 on a slow machine
has_words time stdout 'the search is not complete: run it again'
good time-on tune $fast --max-weights 4K --target cortex-m4 -o d.recipe.json
same time a.front.json d.front.json
for _ in 1 2 3 4 5 6; do
	for k in 2 1; do
		good "shard $k" tune $fast --max-weights 4K --target cortex-m4 --shard $k/2 -o e.recipe.json
	done
	good merge merge e.1-of-2.journal.json e.2-of-2.journal.json -o e.journal.json
done
good shard tune $fast --max-weights 4K --target cortex-m4 --shard 1/2 -o e.recipe.json
has_words shard stdout 'the search is complete'
good shards tune $fast --max-weights 4K --target cortex-m4 -o e.recipe.json
same shards a.recipe.json e.recipe.json
same shards-front a.front.json e.front.json

# ---- journals of other searches, and damaged ones ----

case_of other-options 2 tune.journal 'other options' tune $fast --max-weights 4K --target cortex-m3 -o a.recipe.json
case_of other-samples 2 tune.journal 'other samples' tune -q "$model" --calib x.npy --data x.npy --labels y.npy --no-repairs --max-weights 4K --target cortex-m4 -o a.recipe.json
head='{"quern_journal": 1, "model": "00000000", "samples": "00000000", "options": "00000000"'
echo "$head, \"entries\": [{\"recipe\": 7}]}" >f.journal.json
case_of damaged 1 tune.journal 'f.journal.json:/entries/0|not what quern tune writes|remove the journal' tune $fast --max-weights 4K -o f.recipe.json
echo '{"quern_journal": 1, "model": "what", "samples": "", "options": 7, "entries": []}' >f.journal.json
case_of no-hash 1 tune.journal 'f.journal.json:/model|not what quern tune writes' tune $fast --max-weights 4K -o f.recipe.json
head -c 900 a.journal.json >f.journal.json
case_of truncated 1 'json.syntax tune.journal' 'f.journal.json:8:|f.journal.json: error: the journal is damaged; remove it' tune $fast --max-weights 4K -o f.recipe.json
sed '9 s/"arena_bytes": [0-9]/&0/' a.journal.json >f.journal.json
case_of changed 1 tune.journal 'f.journal.json:/entries/1|was changed: its check sum differs; remove the entry' tune $fast --max-weights 4K --target cortex-m4 -o f.recipe.json
case_of merge-changed 1 tune.journal 'f.journal.json:/entries/1|was changed' merge a.journal.json f.journal.json -o h.journal.json
echo '{}' >f.journal.json
case_of no-journal 1 tune.journal 'unknown version of a journal' tune $fast --max-weights 4K -o f.recipe.json
case_of no-folder 1 file.write "No such file or directory; make the folder 'nowhere'" tune $fast --max-weights 4K -o nowhere/f.recipe.json
[ ! -e nowhere ] && ! grep -q 'front' stdout || fail no-folder "work was done before" stdout
cp a.journal.json g.journal.json
sed -i 's/"samples": "........"/"samples": "01234567"/' g.journal.json
case_of merge-others 2 tune.merge 'another samples' merge a.journal.json g.journal.json -o h.journal.json

# ---- repairs ----

# The recipe has them: it alone gives what was measured.  Of channels that are far from alike equalization makes something.
cat >wide.qir <<'X'
graph @main(%x: tensor<1x4xf32>) {
  %w1 = const : tensor<4x4xf32> [25,-12.5,37.5,5, 0.3,0.9,-0.6,0.2, -0.8,0.4,0.15,0.7, 0.6,-0.35,0.45,-0.9]
  %w2 = const : tensor<3x4xf32> [0.01,0.85,-0.4,0.3, -0.02,0.1,0.65,0.5, 0.015,-0.15,0.25,-0.6]
  %h = dense %x, %w1
  %r = relu %h
  %y = dense %r, %w2
  return %y
}
X
tail -c +129 "$E/calib.npy" | head -c 4096 | npy wide.npy '<f4' '256, 4'
good repairs tune -q wide.qir --calib wide.npy --max-weights 300 -o w.recipe.json
has_words repairs stdout 'repairs      weight-rounding adaptive, bias-correction, equalize'
has_words repairs w.recipe.json '"weights": "i8", "weight-rounding": "adaptive", "bias-correction": true, "equalize": true}|equalized: |; weight rounding, bias correction: |; rounded to nearest, bias correction: |; weight rounding, no bias correction: '
good repairs-eval eval -q wide.qir --calib wide.npy --data wide.npy --recipe w.recipe.json --against wide.qir --json
has_words repairs-eval stdout "\"metric\": \"sqnr\", \"output\": \"y\", \"value\": $(figure w.front.json sqnr),"
good repairs-compile compile -q wide.qir --calib wide.npy --recipe w.recipe.json --max-weights 300 -o out
has_words repairs-compile stdout "weights      $(figure w.front.json weight_bytes) bytes|repaired     "

# ---- an accuracy ----

good accuracy tune $fast --min-accuracy 98 -o i.recipe.json
awk -v v="$(figure i.front.json value)" 'BEGIN { exit !(v >= 98) }' || fail accuracy "not as accurate as it was asked for" i.front.json
# no candidate that is accurate enough has fewer bytes
least=$(sed -n '/"within": true/s/.*"weight_bytes": \([0-9]*\).*/\1/p' i.front.json | sort -n | head -n 1)
[ "$(figure i.front.json weight_bytes)" = "$least" ] || fail accuracy "not the smallest: $least" i.front.json
# the least arena is that of the kernels that need the least, and compile gives it with the options of the recipe
good arena tune $fast --min-accuracy 98 --minimize arena --target cortex-m4 -o r.recipe.json
least=$(figure r.front.json arena_bytes)
has_words arena r.recipe.json "compile with --recipe --target cortex-m4 --max-arena $least\""
good arena-compile compile -q "$model" --calib "$E/calib.npy" --recipe r.recipe.json --target cortex-m4 --max-arena "$least" -o out
has_words arena-compile stdout "arena        $least bytes"
case_of less-arena 5 budget.arena "needs $least bytes" compile -q "$model" --calib "$E/calib.npy" --recipe r.recipe.json --target cortex-m4 --max-arena $((least - 1)) -o out
cases=$((cases + 1))
run tune $fast --min sqnr=200 -o j.recipe.json
[ "$code" -eq 4 ] || fail too-accurate "exit code $code" stderr
[ -s j.recipe.json ] || fail too-accurate "no recipe of the nearest candidate"
run tune $fast --max-weights 100 -o k.recipe.json
[ "$code" -eq 5 ] || fail too-small "exit code $code" stderr
# without labels the float model decides; without --data the calibration data
good agreement tune -q "$model" --calib "$E/calib.npy" --no-repairs --max-weights 4K -o l.recipe.json
has_words agreement l.recipe.json 'agreement |which are those for calibration'
# subfolders whose names are numbers are labels as others are; the journal is of these labels
class_folders classes
folder="-q $model --calib classes --data classes --input-scale 0.0625 --no-repairs --max-weights 4K -o p.recipe.json"
good folder tune $folder
has_words folder stdout 'top1  '
mv classes/9/a.pgm classes/8/b.pgm && rmdir classes/9 && mkdir classes/9
case_of folder-changed 2 tune.journal 'other samples' tune $folder
# an error is a small number without a unit
good small tune $fast --max-weights 6K --metric mse -o q.recipe.json
sed -n '/^mse /p' stdout | grep -Eq '^mse          [0-9.]*[1-9](e-[0-9]+)?, float 0$' || fail small "the error has no digits" stdout
grep -Eq '; mse [0-9.]*[1-9](e-[0-9]+)?, float 0\.0, SQNR' q.recipe.json || fail small "the recipe's error has no digits" q.recipe.json
good instructions tune $fast --max-instructions 260K --target cortex-m4 -o m.recipe.json
[ "$(figure m.front.json instructions)" -le 260000 ] || fail instructions "over the budget" m.front.json
finish
