#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# progress-stages.sh - the list of stages in quern/context.h is that of the sources.
. "$(dirname "$0")/common.inc"

cd "$QUERN_SOURCE" || exit 1
reported() {
	grep -rhoE 'qn_progress\([^;"]*"[a-z]+"|->stage = "[a-z]+"' --include='*.c' --include='*.h' calibrate codegen driver formats import ir passes patterns runtime |
		grep -v '^qn_progress(env, "calibrate", 12' | grep -o '"[a-z]*"' | sort -u
}
listed() {
	sed -n '/several, and through/,/With several threads/p' include/quern/context.h | grep -o '"[a-z]*"' | sort -u
}
cases=$((cases + 1))
diff <(reported) <(listed) >"$work/difference" && [ "$(listed | wc -l)" -gt 15 ] || fail stages "those of the sources differ from those of context.h" "$work/difference"

finish
