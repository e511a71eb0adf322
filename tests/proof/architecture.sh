#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# architecture.sh - what docs/architecture.md and CONTRIBUTING.md say of the sources and no other test holds them to:
# which files touch the disk, start threads and jump, where third-party headers are included, that the page's tables of
# folders and of passes are those of includes.sh and of the program, and how files are named.
set -u
. "$(dirname "$0")/check.sh"
: "${QUERN_BIN:?names the program quern}" "${QUERN_LIB:?names the static library}"
cd "$QUERN_SOURCE" || exit 1
page=docs/architecture.md

# only "WHAT" "SYMBOLS" FILE…: of the library, these objects alone may want the symbols, and each of them wants one.
only() {
	what=$1 symbols=$2
	shift 2
	printf '%s\n' "$@" | sort >"$tmp/allowed"
	nm -A "$QUERN_LIB" 2>/dev/null | awk -v symbols=" $symbols " '
		$(NF - 1) == "U" {
			name = $NF
			sub(/@.*/, "", name)
			if (sub(/^__/, "", name))
				sub(/_chk$/, "", name)
			if (index(symbols, " " name " ")) {
				object = $1
				sub(/:$/, "", object)
				sub(/.*:/, "", object)
				sub(/[.]o.*/, "", object)
				print object
			}
		}' | sort -u >"$tmp/have"
	comm -3 "$tmp/have" "$tmp/allowed" >"$tmp/bad"
	is_empty "$tmp/bad" "$what: $* and nobody else"
}

# A shared library does not tell its objects apart.
case $QUERN_LIB in
*.a) static=yes ;;
*) static= ;;
esac
if [ -n "$static" ] && has nm; then
	only "files are opened by" "open open64 openat creat fopen open_2 open64_2" file.c
	only "files are written and renamed by" \
		"write pwrite rename renameat link linkat symlink unlink unlinkat mkdir mkdirat rmdir ftruncate fsync mkstemp" \
		commit.c file_write.c folder_lock.c
	only "threads are started by" "pthread_create" pool.c
	only "jumps are set by" "setjmp _setjmp sigsetjmp" arena.c parallel.c
	only "text becomes a floating-point number in" "strtod strtof strtold sscanf atof" text.c
else
	skip "symbols: no nm, or no static library"
fi

# header FILE: only this file includes the third-party header.
for pair in cjson/cJSON.h:formats/json_tree.c uthash.h:ir/map.c zip.h:formats/npz.c stb/stb_image.h:formats/image_stb.c \
	utf8proc.h:formats/character_classes.c \
	protobuf-c/protobuf-c.h:import/wire.h; do
	git_grep=$(grep -rlE "#[[:space:]]*include[[:space:]]*<${pair%%:*}>" ir formats lib import runtime patterns calibrate passes codegen driver | sort | tr '\n' ' ')
	[ "$git_grep" = "${pair##*:} " ] && ok "${pair%%:*} is included by ${pair##*:} alone" ||
		failed "${pair%%:*} is included by: $git_grep"
done

# The page's table of folders: FOLDER and the folders that it may include; the same from the rows of includes.sh.
folders="ir formats lib import runtime patterns calibrate passes codegen driver"
for f in $folders; do
	row=$(grep -F "| \`$f/\` |" "$page") || { failed "$page has no row of $f/"; continue; }
	case ${row##*| } in "") may=${row% |} may=${may##*| } ;; *) may=${row##*| } ;; esac
	case $may in
	*"all of the above"*) may=$folders ;;
	esac
	for g in $folders; do
		[ "$g" != "$f" ] || continue
		printf '%s\n' "$may" | tr -c 'a-z\n' ' ' | grep -qw "$g" && echo "$f $g"
	done
done | sort >"$tmp/page"
sed -n 's/^check \([a-z]*\) "$(sources [a-z]*).*" \(.*\)/\1 \2/p; s/^\t\(runtime\/.*\)/import \1/p' tests/proof/includes.sh |
	while read -r f rest; do
		for path in $rest; do
			g=${path%%/*}
			case " $folders " in *" $g "*) [ "$g" = "$f" ] || echo "$f $g" ;; esac
		done
	done | sort -u >"$tmp/rules"
[ "$(wc -l <"$tmp/rules")" -gt 20 ] || failed "only $(wc -l <"$tmp/rules") pairs of folders are in includes.sh"
diff "$tmp/page" "$tmp/rules" >"$tmp/bad"
is_empty "$tmp/bad" "$page lists the $(wc -l <"$tmp/rules") pairs of folders of includes.sh"

# Each of these folders is a target of the build.
sed -n 's/^set(folders \(.*\))$/\1/p' CMakeLists.txt >"$tmp/list"
[ "$(cat "$tmp/list")" = "$folders" ] && ok "each folder is one target of CMakeLists.txt" ||
	failed "CMakeLists.txt has the folders $(cat "$tmp/list"), the page $folders"

# The page's table of passes is the program's list, in its order.
"$QUERN_BIN" opt --list-passes 2>/dev/null | awk '{print $1}' >"$tmp/passes"
sed -n '/^| pass | from/,/^$/s/^| \([a-z-]*\) | .*/\1/p' "$page" | grep -v '^pass$' >"$tmp/listed"
[ -s "$tmp/passes" ] || failed "quern opt --list-passes prints nothing"
diff "$tmp/passes" "$tmp/listed" >"$tmp/bad"
is_empty "$tmp/bad" "$page lists the $(wc -l <"$tmp/passes") passes of quern opt --list-passes"

# Files of an op family have its name, which ops.def says; in codegen/ all rows are in kernels_*.c and their table.
grep '^OP(' ir/ops.def | sed 's/.*, *\([a-z0-9_]*\)).*/\1/' | sort -u >"$tmp/families"
ls ir/infer_*.c runtime/impl_*.c | sed 's/.*\/[a-z]*_\(.*\)[.]c/\1/' | sort -u |
	grep -v -x -e acc -e plain -e util | comm -23 - "$tmp/families" >"$tmp/bad"
is_empty "$tmp/bad" "files ir/infer_*.c and runtime/impl_*.c have the names of families of ops.def"
grep -lE '^const qn_[a-z_]+ qn_emit_op_' codegen/*.c | grep -v -e '/kernels_[a-z0-9]*[.]c$' -e '/kernel_table[.]c$' >"$tmp/bad"
is_empty "$tmp/bad" "rows of kernels are in codegen/kernels_*.c"

# Every source names its licence.
find ir formats import runtime patterns calibrate passes codegen driver include tests bench examples scripts cmake -type f \
	\( -name '*.[ch]' -o -name '*.def' -o -name '*.in' -o -name '*.sh' -o -name '*.cmake' -o -name '*.awk' \) |
	xargs grep -L 'SPDX-License-Identifier: ' >"$tmp/bad"
is_empty "$tmp/bad" "every source names its licence"
finish
