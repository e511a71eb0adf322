#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# embedding.sh - the pieces of docs/embedding.md are one program, which builds without a warning and runs.
#
# A piece that begins with static or typedef and holds a function stands at file level, every other one becomes a
# function; main calls these in order.
set -u
. "$(dirname "$0")/check.sh"
: "${QUERN_LIB:?names the static library}" "${QUERN_LIBS:?names the libraries that it needs}"
cp "$QUERN_SOURCE/examples/digits/digits.json" "$QUERN_SOURCE/examples/digits/digits.safetensors" "$tmp"

{
	cat <<-X
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <quern/host_ops.h>
		#include <quern/kernels.h>
		#include <quern/measure.h>
		#include <quern/patterns.h>
		#include <quern/tune.h>
		static qn_ctx *ctx;
		static qn_model *m;
		static qn_array *samples;
		static size_t memory_left(void);
	X
	awk '
		BEGIN {n = 1}
		function flush() {
			if (text ~ /\n\{\n/) { printf "%s", text }
			else { printf "static void piece_%d(void)\n{\n%s}\n", n, text; calls = calls "\tpiece_" n "();\n"; n++ }
		}
		/^```c$/ {inside = 1; text = ""; next}
		/^```$/ && inside {inside = 0; flush(); next}
		inside {
			# What later pieces, and the end, look at.
			if ($0 ~ /^static pool memory/) { print; next }
			text = text $0 "\n"
		}
		END {printf "static size_t memory_left(void)\n{\n\treturn memory.used;\n}\n\nint main(void)\n{\n%s\treturn 0;\n}\n", calls}
	' "$QUERN_SOURCE/docs/embedding.md"
} >"$tmp/host.c"

# shellcheck disable=SC2086 # flags are words
if ! "$QUERN_CC" -std=c11 $QUERN_CFLAGS -Wall -Wextra -Wpedantic -Werror -I"$QUERN_SOURCE/include" "$tmp/host.c" "$QUERN_LIB" \
	$QUERN_LIBS -lm -pthread -o "$tmp/host" >"$tmp/log" 2>&1; then
	failed "the pieces of docs/embedding.md do not build"
	head -n 30 "$tmp/log"
elif ! (cd "$tmp" && ./host >out 2>log); then
	failed "the pieces of docs/embedding.md do not run"
	cat "$tmp/log"
else
	ok "the pieces of docs/embedding.md build and run: $(grep -c . "$tmp/out") lines, $(tail -n 1 "$tmp/out")"
fi
# Nothing went to show(); the log callback's lines begin with its own name.
grep -v '^quern: ' "$tmp/log" >"$tmp/bad"
[ -e "$tmp/host" ] && is_empty "$tmp/bad" "none of them reports an error"
finish
