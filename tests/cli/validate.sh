#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# validate.sh - emitted programs on devices: this machine, QEMU's Cortex-M4, and devices that differ, hang, die or say too much.
. "$(dirname "$0")/common.inc"

E=$QUERN_SOURCE/examples/digits
silent compile compile -q "$E/digits.json" --calib "$E/calib.npy" --validation -o out
has_words compile stdout '_device.c, .integer.qir'
cp -R out o
samples="-q --data $E/test_x.npy"

# ---- equal ----

# TMPDIR is where the program is built; nothing stays there.
mkdir tmp
export TMPDIR=$work/tmp
silent host validate o $samples --labels "$E/test_y.npy"
has_words host stdout 'program      digits (generic), 11 steps|device       this machine|samples      500'
has_words host stdout 'output       probs: 5000 of 5000 bytes equal, max error 0, RMSE 0, cosine 1.0|11 of 11 equal|result       equal'
has_words host stdout 'top1         device 99.00 %, interpreter 99.00 % (495 and 495 of 500)'
cases=$((cases + 1))
[ -z "$(ls tmp)" ] || fail host "something is left of the build"
silent json validate o $samples --labels "$E/test_y.npy" --json
has_words json stdout '{"quern_validate": 1, |"program": "digits", "target": "generic", "content": "|"samples": 500, "equal": true'
has_words json stdout '"elements": 5000, "equal": 5000, "bytes": 5000, "equal_bytes": 5000, "max_error": 0, "rmse": 0, "cosine": 1}'
has_words json stdout '"steps": {"count": 11, "compared": 11, "different": []}|"top1": {"samples": 500, "device": 495, "interpreter": 495}'

# The program as a user builds it: main, or with functions of the user's.  Sixteen bits: values of two bytes.
warnings='-std=c99 -O1 -Wall -Wextra -Wpedantic -Wconversion -Werror'
build() { # build FOLDER OPTION…: ./device
	local folder=$1
	shift
	cc $warnings "$@" "$folder/digits.c" "$folder/digits_weights.c" "$folder/digits_device.c" -o device 2>stderr ||
		fail "build of $folder" "it fails" stderr
}
build o -DDIGITS_TRACE -DDIGITS_DEVICE_MAIN -fsanitize=address,undefined
silent own-build validate o $samples --device ./device
has_words own-build stdout 'device       ./device|11 of 11 equal'
cases=$((cases + 1))
cc $warnings -c o/digits_device.c -o own.o 2>stderr || fail own-callbacks "it does not compile" stderr
# without the trace steps are not compared; what a board says at its start is passed over
build o -DDIGITS_DEVICE_MAIN
silent outputs validate o $samples --device 'printf "boot 1.2\r\nquern\n"; exec ./device'
has_words outputs stdout 'not compared: the device was built without NAME_TRACE|5000 of 5000 bytes equal'
silent compile16 compile -q "$E/digits.json" --calib "$E/calib.npy" --activations i16 --validation -o wide --self-test 0
silent wide validate wide $samples
has_words wide stdout '10000 of 10000 bytes equal|equal'
# Steps that only the plan of a target has: of i8 for values of u8, of layers with scales at run time.
head -c $((128 + 4 * 64 * 20)) "$E/test_x.npy" | tail -c +129 | npy few.npy '<f4' '20, 8, 8, 1'
for how in '--activations u8 --target cortex-m4' '--activations u8 --target x86-64-avx2' '--dynamic op:dense' '--dynamic op:conv2d --activations u8 --target cortex-m0plus'; do
	rm -rf plan
	silent "compile $how" compile -q "$E/digits.json" --calib "$E/calib.npy" $how --validation -o plan --self-test 0
	silent "validate $how" validate plan -q --data few.npy
	has_words "validate $how" stdout '200 of 200 bytes equal|result       equal'
	n=$(sed -n 's/.*, \([0-9]*\) steps$/\1/p' stdout)
	has_words "validate $how" stdout "$n of $n equal"
done

# ---- different ----

# One bit of one output: the error is that of its scale, 1/256.
build o -DDIGITS_TRACE -DDIGITS_DEVICE_MAIN
sed 's/^\t\tdigits_run(s, &in, &out);/&\n\t\tout_probs[3] = (int8_t)(out_probs[3] ^ 1);/' o/digits_device.c >flip.c
cp -R o flipped && cp flip.c flipped/digits_device.c
build flipped -DDIGITS_TRACE -DDIGITS_DEVICE_MAIN
stdout_ok=1 case_of flipped 4 "" "" validate o $samples --device ./device --labels "$E/test_y.npy"
has_words flipped stdout '4500 of 5000 bytes equal, max error 0.00390625|11 of 11 equal|result       different'
stdout_ok=1 case_of flipped-json 4 "" "" validate o $samples --device ./device --json
has_words flipped-json stdout '"equal": false|"equal": 4500, "bytes": 5000, "equal_bytes": 4500, "max_error": 0.00390625, "rmse": |"first_sample": 0}'
# a wrong weight: the step of its layer is the first that differs, named as in the source
cp -R o wrong
awk '/^DIGITS_WEIGHTS_ATTR const int8_t digits_pw_w\[|digits_pw/ { seen = 1 }
	seen && !done && /^\t-?[0-9]/ { sub(/-?[0-9]+/, "99"); done = 1 } { print }' o/digits_weights.c >wrong/digits_weights.c
cases=$((cases + 1))
cmp -s o/digits_weights.c wrong/digits_weights.c && fail wrong "no weight was changed"
build wrong -DDIGITS_TRACE -DDIGITS_DEVICE_MAIN
stdout_ok=1 case_of wrong 4 "" "" validate o $samples --device ./device
has_words wrong stdout 'result       different'
grep -m 1 '^step [0-9]' stdout | grep -qE '\(.*pw.*\) differs in [0-9]+ of 500 samples, from sample [0-9]+ on; first to differ in [1-9]' ||
	fail wrong "the layer is not named" stdout

# ---- devices that fail ----

build o -DDIGITS_TRACE -DDIGITS_DEVICE_MAIN
hello=$(head -c 0 | ./device | head -n 1)
case_of not-found 1 validate.device 'exit code 127 (the command was not found, or is not a program) before its first line' validate o $samples --device ./no-such-device 
case_of hangs 1 validate.device 'the device sent nothing for 1 s (--time-limit), after 0 of the 54 bytes of its answer to sample 0' \
	validate o $samples --time-limit 1 --device "echo '$hello'; sleep 60"
case_of hangs-at-once 1 validate.device 'the device sent nothing for 1 s (--time-limit) before its first line' \
	validate o $samples --time-limit 1 --device 'sleep 60'
case_of dies 1 validate.device 'the device ended with exit code 3, after 0 of the 54 bytes of its answer to sample 0' \
	validate o $samples --device "echo '$hello'; exit 3"
cp -R o dying
sed 's/^\t\tdigits_run(s, &in, &out);/\t\tif (++runs == 8)\n\t\t\treturn 5;\n&/; s/^static uint8_t scratch/static int runs;\n&/' \
	o/digits_device.c >dying/digits_device.c
build dying -DDIGITS_TRACE -DDIGITS_DEVICE_MAIN
case_of dies-later 1 validate.device 'ended with exit code 5, after 0 of the 54 bytes of its answer to sample 7' validate o $samples --device ./device
build o -DDIGITS_TRACE -DDIGITS_DEVICE_MAIN
case_of signal 1 validate.device 'the device was ended by signal 9' validate o $samples --device "echo '$hello'; kill -9 \$\$"
case_of too-much 1 validate.device 'sent more' validate o $samples --device './device; echo more'
case_of too-much-at-once 1 validate.device 'sent more than' validate o $samples --device "echo '$hello'; head -c 100000 /dev/zero; cat >/dev/null"
case_of fails-at-end 1 validate.device 'exit code 7 after the last sample' validate o $samples --device './device; exit 7'
case_of no-greeting 1 validate.device "without a line 'quern-device" validate o $samples --device 'yes | head -c 70000'
case_of strange-greeting 1 validate.device "first line is 'quern-device 2 x'" validate o $samples --device 'echo quern-device 2 x'
case_of other 1 validate.device 'runs another compilation|build and load it again' validate wide $samples --device ./device
case_of steps 1 validate.device 'the device has 3 steps, the program has 11' validate o $samples --device "echo '${hello% *} 3'"
CC=false case_of no-compiler 1 validate.device 'could not be built|set CC' validate o $samples
cases=$((cases + 1))
[ -z "$(ls tmp)" ] || fail build "something is left of a build"
# an interrupted run ends its device
cases=$((cases + 1))
(echo $BASHPID >pid && exec "$QUERN_BIN" validate o $samples --device 'echo $$ >device.pid; exec sleep 300' <&- 2>stderr) &
for _ in $(seq 100); do
	[ -s device.pid ] && break
	sleep 0.1
done
kill -TERM "$(cat pid)"
wait $!
sleep 0.2
! grep -q sleep "/proc/$(cat device.pid)/cmdline" 2>stderr || fail interrupted "the device still runs"

# ---- what cannot be ----

case_of no-folder 1 validate.folder "is not a folder" validate nowhere $samples
mkdir empty
case_of empty 1 validate.folder 'compile the model with --validation' validate empty $samples
cp -R o two && cp wide/* two/ && for f in two/digits.*; do cp "$f" "two/other.${f#two/digits.}"; done
case_of two 1 validate.folder "2 programs; choose one with --name: digits or other" validate two $samples
case_of wrong-name 1 validate.folder "has no program 'digit' (--name); choose digits or other" validate two $samples --name digit
bytes 500 '\012\000\000\000' | npy tens.npy '<i4' '500,'
case_of class 1 data.labels 'tens.npy: error: sample 0 has label 10, but there are 10 classes' validate o $samples --labels tens.npy
cp -R o mixed && cp wide/digits.report.json mixed/
case_of mixed 1 validate.report 'of another compilation' validate mixed $samples
case_of data 1 'data.shape' '' validate o -q --data "$E/test_y.npy" --device ./device
usage no-data 'missing option: --data' validate o
usage label-column "--label-column 'x' is for --labels" validate o --data x.npy --label-column x
# a compilation without the option removes what it would not fit
silent without compile -q "$E/digits.json" --calib "$E/calib.npy" -o o
cases=$((cases + 1))
[ ! -e o/digits_device.c ] && [ ! -e o/digits.integer.qir ] || fail without "the files of another compilation are left"

# ---- QEMU ----

if command -v qemu-system-arm >/dev/null && command -v arm-none-eabi-gcc >/dev/null; then
	silent compile-m4 compile -q "$E/digits.json" --calib "$E/calib.npy" --validation --target cortex-m4 -o m4
	head -c $((128 + 4 * 64 * 40)) "$E/test_x.npy" | tail -c +129 | npy few.npy '<f4' '40, 8, 8, 1'
	good m4 validate m4 -q --data few.npy --device "'$QUERN_SOURCE/examples/mps2/run' m4 digits"
	has_words m4 stdout 'digits (cortex-m4)|11 of 11 equal|400 of 400 bytes equal'
else
	echo "QEMU: skipped, without qemu-system-arm or arm-none-eabi-gcc"
fi
finish
