#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# messages.sh - what messages name: options of other commands, shards that are missing, options that statistics depend on,
# names that were changed, members of an .npz, the least memory of a program.
. "$(dirname "$0")/common.inc"

E=$QUERN_SOURCE/examples/digits
calib=(--calib "$E/calib.npy")

# ---- options of other commands ----

usage 'other command' 'quern eval: --target is an option of compile' eval "$E/digits.json" --target cortex-m4
usage 'two others' 'quern compile: --data is an option of eval, analyze' compile "$E/digits.json" --data "$E/test_x.npy"
usage 'with value' 'quern run: --calib is an option of compile, ' run "$E/digits.json" "--calib=$E/calib.npy"
usage 'no command' "unknown option: --targes; did you mean '--target'" compile "$E/digits.json" --targes generic
run run --help
has_words 'usage of run' stdout '[-o OUTPUT.npy]…'

# ---- statistics ----

for k in 2 4; do
	silent "shard $k" calibrate "$E/digits.json" "${calib[@]}" --shard "$k/5" -o "s$k.json" -q
done
good merge merge s2.json s4.json -o part.json
has_words merge stderr 'quern merge: 80 of 200 batches are merged; missing: 0 to 39, 80 to 119, 160 to 199 (counted from 0)'
for k in 1 3 5; do
	silent "shard $k" calibrate "$E/digits.json" "${calib[@]}" --shard "$k/5" -o "s$k.json" -q
done
silent 'merge all' merge s1.json s2.json s3.json s4.json s5.json -o all.json
case_of activations 1 stats.mismatch 'other storage types|--activations' compile "$E/digits.json" --stats all.json --activations i16 -o out -q
case_of weights-type 1 stats.mismatch '--weights-type|--skip|--recipe' compile "$E/digits.json" --stats all.json --weights-type i4 -o out -q

# ---- names ----

for row in 9all=n9all 'my model=my_model'; do
	case_of "name ${row%=*}" 0 emit.name "${row%=*}: warning: files and symbols are named '${row#*=}'" \
		compile "$E/digits.json" "${calib[@]}" --name "${row%=*}" -o out -q
	[ -e "out/${row#*=}.c" ] || fail "name ${row%=*}" "no file of this name"
done
silent 'a name' compile "$E/digits.json" "${calib[@]}" --name my_model2 -o out -q
mkdir -p flat
usage folder "quern compile: 'flat' is not a model; give samples with --calib flat" compile "$E/digits.json" flat

# ---- members of an .npz ----

head -c $((128 + 3 * 256)) "$E/test_x.npy" | sed '1s/(500, 8, 8, 1), }  /(3, 8, 8, 1), }    /' >a.npy
cp a.npy b.npy
if npz ab.npz a.npy b.npy; then
	case_of members 1 data.input "no samples for input 'image'; arrays with a name: 'a', 'b'; rename one (numpy: np.savez(FILE, image=x))" \
		run "$E/digits.json" ab.npz -q
	case_of 'named members' 2 data.option "remove 'image='|np.savez(FILE, image=x)" run "$E/digits.json" image=ab.npz -q
fi

# ---- an op that the other scheme has no pattern of ----

printf 'graph @main(%%x: tensor<1x4xf32>) {\n  %%y = sigmoid %%x\n  return %%y\n}\n' >gate.qir
printf '1,2,3,4\n-1,2,0,1\n' >gate.csv
case_of scheme 3 legalize.float 'leave --scheme rfc out' compile gate.qir --calib gate.csv --scheme rfc -o out -q

# ---- memory: the message names what the kernels that need the least need ----

need() {
	sed -n 's/.*needs \([0-9]*\) bytes of activation arena.*/\1/p' stderr
}
silent arena compile "$E/digits.json" "${calib[@]}" --target cortex-m4 -o out -q
grep -qE '^arena +[0-9]+ bytes \(at least [0-9]+ with these kernels\)$' stdout || fail arena "no arena" stdout
case_of budget 5 budget.arena 'with the kernels that need the least' compile "$E/digits.json" "${calib[@]}" --target cortex-m4 --max-arena 100 -o out -q
least=$(need)
silent 'least budget' compile "$E/digits.json" "${calib[@]}" --target cortex-m4 --max-arena "$least" -o out -q
grep -q "^arena *$least bytes" stdout || fail 'least budget' "another arena than $least" stdout
case_of 'below it' 5 budget.arena "needs $least bytes of activation arena, 1 more" compile "$E/digits.json" "${calib[@]}" --target cortex-m4 --max-arena $((least - 1)) -o out -q
case_of 'another target' 5 'budget.arena budget.weights' "kernels that need the least; a processor's kernels (--target) may need less|; quern tune finds the layers" compile "$E/digits.json" "${calib[@]}" --max-arena 100 --max-weights 100 -o out -q
# … and states: a sum that is carried from run to run
printf 'graph @main(%%x: tensor<1x4xf32>, %%h: tensor<1x4xf32> state) {\n  %%s = add %%x, %%h\n  %%t = tanh %%s\n  %%y = relu %%t\n  %%z = tanh %%y\n  return %%z, %%t to %%h\n}\n' >sum.qir
silent 'ram' compile sum.qir --calib gate.csv -o out -q
ram=$(($(sed -n 's/^arena *\([0-9]*\) bytes.*/\1/p' stdout) + $(sed -n 's/^state *\([0-9]*\) bytes.*/\1/p' stdout)))
silent 'ram that is enough' compile sum.qir --calib gate.csv --max-ram "$ram" -o out -q
case_of 'ram budget' 5 budget.ram "needs $ram bytes of RAM (activation arena $((ram - 4)), states 4), 1 more than the budget of $((ram - 1))" compile sum.qir --calib gate.csv --max-ram $((ram - 1)) -o out -q
case_of 'less than states' 5 budget.ram 'states 4' compile sum.qir --calib gate.csv --max-ram 2 -o out -q
if [ -d "${QUERN_DATA:-}/models" ]; then
	case_of 'context' 5 budget.ram '--context' compile "$QUERN_DATA/models/stories260K.gguf" --calib "$QUERN_SOURCE/examples/tinyllm/calib.txt" --sequence 32 --activations i8 --max-ram 64K -o out -q
	case_of 'kws budget' 5 budget.arena 'more than the budget of 8000, with the kernels that need the least' compile "$QUERN_DATA/models/kws_int8.tflite" --target cortex-m4 --max-arena 8000 -o out -q
fi


# ---- one form of messages, and hints ----

bytes 200 '\000\000\200\077' | npy float.npy '<f4' '200,'
tail -c +129 "$E/test_x.npy" | head -c 51200 | npy two.npy '<f4' '200, 8, 8, 1'
case_of 'labels of floats' 1 data.labels '200 labels of f32|(numpy: y.astype(int))' eval "$E/digits.json" --data two.npy --labels float.npy -q
bytes 2000 '\001' | npy hot.npy '|i1' '200, 10'
case_of 'labels of rows' 1 data.labels '2000 labels of i8|(numpy: y.argmax(1))' eval "$E/digits.json" --data two.npy --labels hot.npy -q
{
	printf 'RIFF\044\000\000\000WAVEfmt \020\000\000\000\001\000\001\000\100\037\000\000\200\076\000\000\002\000\020\000data\024\000\000\000'
	bytes 10 '\000\001'
} >short.wav
case_of 'other audio' 1 data.shape 'has shape [1,10,1], but' run "$E/digits.json" short.wav -o out.npy -q
! grep -q 'of images' stderr || fail 'other audio' "it speaks of images" stderr
case_of 'solver and recipe' 2 pass.absent 'with --solver off, patterns do' compile "$E/digits.json" "${calib[@]}" --solver on --bias-correction -o out -q

usage 'weights type' "quern compile: --weights: invalid value 'int8' (expected default, per-channel or per-tensor); storage types are for --weights-type" \
	compile "$E/digits.json" "${calib[@]}" --weights int8 -o out
usage 'one number' "quern run: --input-scale: '1,2' has more than 1 number" run "$E/digits.json" "$E/test_x.npy" --input-scale 1,2
grep -q 'more than 1 numbers' stderr && fail 'one number' "a plural of one" stderr
usage 'one form' "quern eval: --shape: invalid value 'x'" eval "$E/digits.json" --data a.bin --shape x
usage 'one form, samples' "quern run: samples 'a.npy:scal=1': unknown option 'scal'" run "$E/digits.json" a.npy:scal=1

finish
