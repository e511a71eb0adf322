#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# signals.sh - commands that are ended or killed at any moment, and commands that write to one folder at once: what is there afterwards is of one
# compilation, nothing is left over, and the exit status says what happened.
. "$(dirname "$0")/common.inc"
E=$QUERN_SOURCE/examples/digits
# A signal may come before a background command has become the program: it must not clean up like this shell.
trap - EXIT

# Two models of one name, and what each of them gives.
good a compile -q "$E/digits.json" --calib "$E/calib.npy" -o a
good b compile -q "$E/digits.json" --calib "$E/calib.npy" --weights per-tensor --activations u8 -o b
start() {
	if [ "$1" = a ]; then
		exec "$QUERN_BIN" compile -q "$E/digits.json" --calib "$E/calib.npy" -o "$2"
	else
		exec "$QUERN_BIN" compile -q "$E/digits.json" --calib "$E/calib.npy" --weights per-tensor --activations u8 -o "$2"
	fi >/dev/null 2>stderr
}
# of_one NAME: the folder out is that of a or of b.
of_one() {
	cases=$((cases + 1))
	diff -rq out a >difference 2>&1 || diff -rq out b >>difference 2>&1 || fail "$1" "files of two models, or files that are left" difference
}

# Ended by a signal, from early to after the end; the later commands find no leftovers.
ended=0
for signal in TERM INT HUP; do
	number=$(kill -l $signal)
	for ms in 001 003 005 008 012 016 020 030 050 080; do
		rm -rf out new
		[ $ms != 008 ] && cp -r a out
		(trap - INT; start b out) &
		pid=$!
		sleep 0.$ms
		# a shell without job control starts background commands with SIGINT ignored, which stays so
		[ $signal = INT ] && kill -TERM $pid 2>/dev/null || kill -$signal $pid 2>/dev/null
		wait $pid
		code=$?
		[ $signal = INT ] && number=15
		cases=$((cases + 1))
		[ $code -eq 0 ] || [ $code -eq $((128 + number)) ] || fail "$signal after 0.$ms" "exit status $code" stderr
		[ $code -eq 0 ] || ended=$((ended + 1))
		if [ -d out ]; then
			of_one "$signal after 0.$ms"
		fi
	done
done
[ $ended -gt 0 ] || fail ended "no command was ended before its time"

# Killed: what is left goes with the next command, which finds all files of one model before.
for ms in 004 006 008 010 012 014 016 018 020 025 030 040; do
	rm -rf out
	cp -r a out
	(start b out) &
	pid=$!
	sleep 0.$ms
	kill -KILL $pid 2>/dev/null
	wait $pid 2>/dev/null
	good "killed after 0.$ms" run "$E/digits.json" "$E/calib.npy" -o out/y.npy
	rm -f out/y.npy
	of_one "killed after 0.$ms"
done

# Several at once.
for round in 1 2 3; do
	rm -rf out
	pids=
	for k in a b a b a b; do
		(start $k out) &
		pids="$pids $!"
	done
	for pid in $pids; do
		wait "$pid" || fail "writers $round" "exit status $?" stderr
	done
	of_one "writers $round"
done

# A model and the weights of another save do not go together.
mkdir saved
silent 'saved' opt -q "$E/digits.json" --calib "$E/calib.npy" --stop-after=legalize -o saved/a.json
silent 'saved' opt -q "$E/digits.json" --calib "$E/calib.npy" --weights per-tensor --stop-after=legalize -o saved/b.json
silent 'saved' compile -q saved/a.json -o from-saved
mv saved/b.safetensors saved/a.safetensors
case_of 'weights of another save' 1 tensor.crc 'a.json:|saved with another model' compile -q saved/a.json -o mixed

# Somebody else holds the folder: told, and gone on with as soon as it is free.
if command -v flock >/dev/null; then
	mkdir held
	exec 8<held
	flock 8
	cases=$((cases + 1))
	"$QUERN_BIN" compile "$E/digits.json" --calib "$E/calib.npy" -o held 8<&- >stdout 2>stderr &
	compiler=$!
	for _ in $(seq 600); do
		! grep -q waiting stderr && kill -0 $compiler 2>/dev/null || break
		sleep 0.1
	done
	exec 8<&-
	wait $compiler || fail held "exit status $?" stderr
	has_words held stderr 'waiting for another program that writes to held/'
fi

# A file that may not grow beyond 1 KiB.
rm -rf out
(
	ulimit -f 1
	exec "$QUERN_BIN" compile -q "$E/digits.json" --calib "$E/calib.npy" -o out >/dev/null 2>stderr
)
code=$?
cases=$((cases + 1))
[ $code -eq 1 ] || fail limit "exit status $code" stderr
has_words limit stderr 'out/digits.|File too large|[file.write]'
[ ! -e out ] || fail limit "files are left: $(ls -A out)"

trap clean_up EXIT
finish
