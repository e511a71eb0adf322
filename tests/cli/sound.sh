#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sound.sh - features of sound before a network: --front-end against a graph that has them, folders of WAV files, streams,
# the emitted program, errors.
. "$(dirname "$0")/common.inc"

# wav FILE SEED: 70 samples, a tone of the seed's pitch with noise.
wav() {
	{
		printf 'RIFF\260\000\000\000WAVEfmt \020\000\000\000\001\000\001\000\200\076\000\000\000\175\000\000\002\000\020\000data\214\000\000\000'
		awk -v seed="$2" 'BEGIN {
			for (i = 0; i < 70; i++) {
				v = int(9000 * sin(i * (0.1 + seed * 0.13)) + (i * i * 7919 + seed * 31) % 401) + 65536
				printf "\\%03o\\%03o\n", v % 256, int(v / 256) % 256
			}
		}' | tr -d '\n' | xargs -0 printf
	} >"$1"
}
mkdir words
for i in 1 2 3 4 5 6; do wav words/$i.wav $i; done
[ "$(wc -c <words/1.wav)" -eq 184 ] || fail 'wav' 'its size'

# Two frames of five channels, in a network of another shape; the same in one graph.
body='  %w = const : tensor<3x10xf32> rand 1
  %r = reshape %x {shape=[1,10]}
  %d = dense %r, %w
  %y = softmax %d
  return %y
}'
printf 'model "net"\ngraph @main(%%x: tensor<1x2x5x1xf32>) {\n%s\n' "$body" >net.qir
printf 'model "net"\ngraph @main(%%s: tensor<1x70xf32>) {\n  %%f = log_mel %%s {window=40, hop=30, channels=5}\n  %%x = reshape %%f {shape=[1,2,5,1]}\n%s\n' \
	"$body" >whole.qir
front=(--front-end log_mel:window=40,hop=30,channels=5)
silent 'float' run -q net.qir words "${front[@]}" -o front.npy
silent 'float, whole' run -q whole.qir words -o whole.npy
same 'float' front.npy whole.npy
silent 'samples' run -q net.qir words --front-end log_mel:samples=70,window=40,hop=25,channels=5 -o samples.npy
cmp -s front.npy samples.npy && fail 'samples' 'another hop changes nothing'

# Two channels side by side have as many elements as one of twice the length, and are not it.
mkdir stereo
for i in 1 2; do
	{
		head -c 22 words/$i.wav
		printf '\002\000'
		tail -c +25 words/$i.wav | head -c 8
		printf '\004\000'
		tail -c +35 words/$i.wav
	} >stereo/$i.wav
done
case_of 'stereo' 1 data.shape 'has shape [2,35,2]|frames, channels of audio' run -q net.qir stereo "${front[@]}" -o out.npy
printf 'model "two"\ngraph @main(%%x: tensor<1x35x2xf32>) {\n  %%y = tanh %%x\n  return %%y\n}\n' >two.qir
silent 'stereo, two channels' run -q two.qir stereo -o two.npy
sed -i 's/1x35x2/1x2x35/' two.qir
case_of 'stereo, channels first' 1 data.shape '--layout puts the channels first' run -q two.qir stereo -o out.npy
silent 'stereo, layout' run -q two.qir stereo --layout nchw -o two.npy

# The number of samples may stand between the attributes.
silent 'samples, last' run -q net.qir words --front-end log_mel:window=40,hop=25,channels=5,samples=70 -o last.npy
same 'samples, last' samples.npy last.npy

# Saved, the model takes sound itself.
silent 'save' opt -q net.qir "${front[@]}" -o saved.json
silent 'saved' run -q saved.json words -o saved.npy
same 'saved' front.npy saved.npy

# Calibrated with the folder; a quantized network gets 16-bit samples, whichever comes first.
good 'quantize' opt -q net.qir "${front[@]}" --calib words --stop-after=legalize -o integer.qir
grep -q '@main(%x: tensor<1x70x!quant.uniform<i16:f32' integer.qir || fail 'quantize' 'the input is not PCM' integer.qir
printf 'model "net" stage integer\ngraph @main(%%x: tensor<1x2x5x!quant.uniform<i8:f32, 0.1:-128>>) {\n  %%y = relu %%x\n  return %%y\n}\n' >codes.qir
silent 'quantized' run -q codes.qir words "${front[@]}" -o codes.npy
silent 'quantized, opt' opt -q codes.qir "${front[@]}" -o codes-front.qir
[ "$(grep -c '= requantize' codes-front.qir)" -eq 1 ] || fail 'quantized' 'no requantize' codes-front.qir

# The emitted program computes what the interpreter does, for each word.
good 'compile' compile -q net.qir "${front[@]}" --calib words -o out
cases=$((cases + 1))
${CC:-cc} -std=c99 -Wall -Wextra -Werror -O1 -DNET_SELFTEST_MAIN out/*.c -o selftest 2>log || fail 'cc' 'it does not compile' log
./selftest >log 2>&1 || fail 'selftest' 'it fails' log

# A stream: each run takes the samples after those of the run before, and the frames are those of the whole clip, whose
# first window begins with silence: 360 samples after 10 of silence are 18 frames, in 9 runs of 40 samples.
stream=(--front-end log_mel:stream,window=30,hop=20,channels=5)
for i in 1 2 3 4 5 6; do
	tail -c 140 words/$i.wav | head -c 120
done >clips.bin
{
	bytes 10 '\000\000'
	cat clips.bin
} >whole.bin
frames() { # FILE SAMPLES FRAMES ELEM OF-RESULT
	printf 'model "frames"%s\ngraph @main(%%x: tensor<1x%sx%s>) {\n  %%y = log_mel %%x {window=30, hop=20, channels=5} : tensor<1x%sx5x%s>\n  return %%y\n}\n' \
		"$5" "$2" "$3" "$1" "$4"
}
pcm='!quant.uniform<i16:f32, 0.000030517578125>'
level='!quant.uniform<i16:f32, 0.0390625>'
frames 18 370 "$pcm" "$level" ' stage integer' >whole-i16.qir
printf 'model "net" stage integer\ngraph @main(%%x: tensor<1x2x5x%s>) {\n  %%y = reshape %%x {shape=[1,10]}\n  return %%y\n}\n' "$level" >hops-i16.qir
frames 18 370 f32 f32 '' >whole-f32.qir
printf 'model "net"\ngraph @main(%%x: tensor<1x2x5xf32>) {\n  %%y = reshape %%x {shape=[1,10]}\n  return %%y\n}\n' >hops-f32.qir
for type in i16 f32; do
	scale=
	[ $type = i16 ] || scale=--input-scale=0.000030517578125
	silent "stream $type, whole" run -q whole-$type.qir whole.bin --shape 370 --dtype i16 $scale -o whole-$type.npy
	silent "stream $type" run -q hops-$type.qir clips.bin --shape 40 --dtype i16 $scale "${stream[@]}" -o hops-$type.npy
	tail -c +129 whole-$type.npy >whole-$type.raw
	tail -c +129 hops-$type.npy >hops-$type.raw
	same "stream $type" whole-$type.raw hops-$type.raw
	[ "$(tr -d '\000' <hops-$type.raw | wc -c)" -gt 60 ] || fail "stream $type" 'the frames are silent'
done
# Files that are longer than a run are cut into runs, as arrays are.
for i in 1 2 3 4 5 6; do
	tail -c 140 words/$i.wav
done >long.bin
silent 'stream, folder' run -q hops-f32.qir words "${stream[@]}" -o folder.npy
silent 'stream, long' run -q hops-f32.qir long.bin --shape 70 --dtype i16 --input-scale=0.000030517578125 "${stream[@]}" -o long.npy
same 'stream, folder' folder.npy long.npy

silent 'stream, sequences' run -q hops-i16.qir clips.bin --shape 40 --dtype i16 --sequence 3 "${stream[@]}" -o reset.npy
cmp -s reset.npy hops-i16.npy && fail 'stream, sequences' 'the noise is not reset'
silent 'stream, mfcc' inspect net.qir --front-end mfcc:stream,window=40,hop=30,channels=5,coefficients=5
[ "$(grep -c '^state ' stdout)" -eq 1 ] || fail 'stream, mfcc' 'other states than the samples before' stdout
silent 'stream without overlap' inspect net.qir --front-end mfcc:stream,window=40,hop=40,channels=5,coefficients=5
grep -q '^state ' stdout && fail 'stream without overlap' 'it has a state' stdout

# Repairs compare a quantized stream, whose noise is as it was recorded, with the float one: they do no harm.
sed 's/%y = softmax %d/%y = relu6 %d/' net.qir >repair.qir
for repair in "" --bias-correction; do
	good "stream, repair $repair" eval -q repair.qir "${stream[@]}" $repair --calib clips.bin --data clips.bin --shape 40 --dtype i16 --input-scale 0.000030517578125 --against repair.qir
	grep -qE '^integer +sqnr +[34][0-9]\.' stdout || fail "stream, repair $repair" 'it is not near the float network' stdout
done

# Calibrated as a stream, with states as PCM is; the emitted program does the same.
good 'stream, compile' compile -q net.qir "${stream[@]}" --calib clips.bin --shape 40 --dtype i16 --input-scale 0.000030517578125 --self-test 9 -o stream
grep -q 'int16_t x_noise\[' stream/net.h || fail 'stream, compile' 'no state for the noise' stream/net.h
cases=$((cases + 1))
${CC:-cc} -std=c99 -Wall -Wextra -Werror -O1 -DNET_SELFTEST_MAIN stream/*.c -o selftest 2>log || fail 'stream, cc' 'it does not compile' log
./selftest >log 2>&1 || fail 'stream, selftest' 'it fails' log

# Errors.
usage 'stream form' "import.front-end|expected ATTRIBUTE=VALUE, not streams" run net.qir words --front-end log_mel:streams
usage 'stream, samples' "import.front-end|leave out samples=N" run net.qir words --front-end log_mel:samples=70,hop=30,stream
usage 'op' "import.front-end|expected log_mel or mfcc, not mel" run net.qir words --front-end mel -o out.npy
usage 'input' "import.front-end|the model has no input s" run net.qir words --front-end s=log_mel -o out.npy
usage 'channels' "import.front-end|its last dimension must be the 40 numbers of a frame" run net.qir words --front-end log_mel
usage 'samples few' "import.front-end|from 70 to 99, not 69" run net.qir words --front-end log_mel:samples=69,window=40,hop=30,channels=5
usage 'samples form' "import.front-end|expected samples=N" run net.qir words --front-end log_mel:samples=x
usage 'samples huge' "import.front-end|expected samples=N" run net.qir words --front-end log_mel:samples=99999999999999999999,hop=1
case_of 'attribute' 2 attr.unknown "unknown attribute 'hops'" run net.qir words --front-end log_mel:hops=1
case_of 'range' 2 attr.value "window is 1, must be 16 to 2048" run net.qir words --front-end log_mel:window=1
usage 'braces' "import.front-end|expected ATTRIBUTE=VALUE" run net.qir words --front-end 'log_mel:hop=1} #'
printf 'model "two"\ngraph @main(%%a: tensor<1x2x5xf32>, %%b: tensor<1x2x5xf32>) {\n  %%y = add %%a, %%b\n  return %%y\n}\n' >two.qir
usage 'several' "import.front-end|the model has several inputs; write INPUT=log_mel" run two.qir words words --front-end log_mel
silent 'named' inspect two.qir --front-end b=log_mel:window=40,hop=30,channels=5
grep -q 'b : tensor<1x70xf32>' stdout || fail 'named' 'b takes no samples' stdout

# Real: keywords, MFCCs of a second.
if [ -f "${QUERN_DATA:-}/models/kws_int8.tflite" ]; then
	silent 'kws' inspect "$QUERN_DATA/models/kws_int8.tflite" --front-end mfcc:samples=16000,coefficients=10
	grep -q 'tensor<1x16000x!quant.uniform<i16' stdout || fail 'kws' 'its input is not PCM' stdout
fi
finish
