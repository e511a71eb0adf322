#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mutations.sh - checks the checks: each patch in mutations/ plants a fault, and the test that it names must fail.
#
#   copy of the sources + one patch  ->  the objects of the files that it names  ->  linked before the library, where they
#   stand in for the right ones  ->  the named test fails.  Without the patch it passes.
#
# The text above a patch says what the fault is, and then
#   test: promise_…      a test of test_promises.c
#   test: defect_…       a test of test_defects.c
#   test: golden_graphs  a test of test_requantize.c
#   test: host           the lines "host:" of determinism.sh, whose host is built with the fault
#   test: random_graphs  a test of test_e2e_random.c (full tier only: it takes seconds)
#   compile: FILE.c …    the files that the patch reaches
set -u
. "$(dirname "$0")/check.sh"
: "${QUERN_LIB:?names the static library}"
has patch || { skip "mutations: no patch"; exit 0; }
here=$QUERN_SOURCE/tests/proof
flags="-std=c11 -O1 -ffp-contract=off -fvisibility=hidden $QUERN_CFLAGS"
mkdir "$tmp/source" "$tmp/objects" "$tmp/tests"
for d in ir formats runtime patterns calibrate passes codegen driver include; do
	cp -r "$QUERN_SOURCE/$d" "$tmp/source"
done

# headers: those of the kernels' texts, in the copy.
headers() {
	cmake -DSOURCE="$tmp/source" -DOUT="$tmp/source" -P "$tmp/source/runtime/kernels/families.cmake"
}
headers

# Only a library that reads .npz wants libzip, only one that reads .onnx libprotobuf-c, and so on.
zip=
nm "$QUERN_LIB" 2>/dev/null | grep -q ' U zip_' && zip=-lzip
nm "$QUERN_LIB" 2>/dev/null | grep -q ' U protobuf_c_' && zip="$zip -lprotobuf-c"
nm "$QUERN_LIB" 2>/dev/null | grep -q ' U utf8proc_' && zip="$zip -lutf8proc"

# link OUT SOURCE…: with the objects before the library.  A test's source is compiled once for all faults.
link() {
	out=$1 tests=
	shift
	for f; do
		o=$tmp/tests/$(basename "$f").o
		# shellcheck disable=SC2086
		[ -e "$o" ] || "$QUERN_CC" $flags -I"$QUERN_SOURCE" -I"$tmp/source" -I"$QUERN_SOURCE/include" -c "$f" -o "$o" || return 1
		tests="$tests $o"
	done
	# shellcheck disable=SC2086,SC2046
	"$QUERN_CC" $flags $tests $(ls "$tmp"/objects/*.o 2>/dev/null) "$QUERN_LIB" -lcmocka -lcjson $zip -lm -pthread -o "$out"
}

# run_test NAME: 0 passes, 1 fails in the way that a test fails, 2 anything else.
run_test() {
	case $1 in
	promise_* | defect_* | golden_graphs)
		case $1 in
		promise_*) link "$tmp/t" "$here/test_promises.c" ;;
		defect_*) link "$tmp/t" "$here/test_defects.c" ;;
		*) link "$tmp/t" "$here/test_requantize.c" "$here/real_graph.c" "$here/requantize_proof.c" "$here/requantize_bound.c" "$here/op_bound.c" "$here/aligned_bound.c" "$here"/../e2e/random_*.c ;;
		esac || return 2
		(cd "$QUERN_SOURCE" && "$tmp/t" "$1") >"$tmp/log" 2>&1
		status=$?
		passed="OK \] $1" broken="FAILED  \] $1"
		;;
	host)
		link "$tmp/t" "$here/ftz_host.c" || return 2
		QUERN_FULL=0 QUERN_FTZ_HOST=$tmp/t "$here/determinism.sh" >"$tmp/log" 2>&1
		status=$?
		passed="^ok .*host:" broken="^FAILED .*host:"
		grep -q "^skipped .*flushed subnormals" "$tmp/log" && return 3
		;;
	random_graphs)
		link "$tmp/t" "$here/../e2e/test_e2e_random.c" "$here"/../e2e/random_*.c || return 2
		TMPDIR=$tmp QUERN_FULL=0 "$tmp/t" >"$tmp/log" 2>&1
		status=$?
		passed="OK \] $1" broken="seed .* differs"
		;;
	*) return 2 ;;
	esac
	[ $status = 0 ] && grep -q "$passed" "$tmp/log" && return 0
	[ $status != 0 ] && grep -q "$broken" "$tmp/log" && return 1
	return 2
}

# objects FILE…: compiles files of the copy.
objects() {
	headers || return 1
	for f; do
		# shellcheck disable=SC2086
		"$QUERN_CC" $flags -I"$tmp/source" -I"$tmp/source/include" -c "$tmp/source/$f" \
			-o "$tmp/objects/$(echo "$f" | tr / _).o" || return 1
	done
}

# show WHAT: the fault was not handled as it should be.
show() {
	failed "$1"
	tail -n 10 "$tmp/log" | sed 's/^/         /'
}

# mutate PATCH
mutate() {
	name=$(basename "$1" .patch)
	test=$(sed -n 's/^test: //p' "$1")
	files=$(sed -n 's/^compile: //p' "$1")
	if [ "$test" = random_graphs ] && [ "$QUERN_FULL" != 1 ]; then
		skip "$name: only with QUERN_FULL=1"
		return
	fi
	rm -f "$tmp"/objects/*
	run_test "$test"
	case $? in
	0) ;;
	3) skip "$name: $test is skipped on this machine"; return ;;
	*) show "$name: $test does not pass without the fault"; return ;;
	esac
	if ! patch -s -p1 -d "$tmp/source" <"$1" >"$tmp/log" 2>&1; then
		show "$name: the patch does not apply any more"
		rm -rf "$tmp/source"
		finish
	fi
	# shellcheck disable=SC2086
	if ! objects $files 2>"$tmp/log"; then
		show "$name: the patched files do not compile"
	else
		run_test "$test"
		case $? in
		1) ok "$name: $test passes without and fails with the fault" ;;
		0) show "$name: $test does not notice the fault" ;;
		*) show "$name: $test neither passes nor fails" ;;
		esac
	fi
	patch -s -R -p1 -d "$tmp/source" <"$1" || failed "$name: the patch cannot be taken back"
	headers
}

for p in "$here"/mutations/*.patch; do
	mutate "$p"
done
finish
