#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh - help, messages, docs, the public header and comments are in the words of the field (words.tsv); pages are
# wrapped, their links lead somewhere (pages.awk), and paths, options and identifiers that they name exist.
#
#   QUERN_SHOWN=1000: how many findings it prints, 20 by default
#   QUERN_BIN: the program, default build/quern
set -u
LC_ALL=C
export LC_ALL
: "${QUERN_SOURCE:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${QUERN_BIN:=$QUERN_SOURCE/build/quern}"
. "$QUERN_SOURCE/tests/proof/check.sh"
here=$QUERN_SOURCE/tests/words
case $QUERN_BIN in /*) ;; *) QUERN_BIN=$PWD/$QUERN_BIN ;; esac
cd "$QUERN_SOURCE" || exit 1

pages="README.md CONTRIBUTING.md docs/*.md examples/*/*.md"
sources="ir/*.[ch] ir/*.def formats/*.[ch] import/*.[ch] runtime/*.[ch] patterns/*.[ch] calibrate/*.[ch]
	runtime/*.h.in runtime/kernels/*.h.in passes/*.[ch] codegen/*.[ch] driver/*.[ch] driver/program/*.[ch]"

# What the program prints: help of itself and of each word in its first column that is a command.
mkdir "$tmp/help"
"$QUERN_BIN" --help >"$tmp/help/quern" || failed "quern --help ends with $?"
commands=0
for word in $(sed -n 's/^  *\([a-z][a-z-]*\)  *.*/\1/p' "$tmp/help/quern" | sort -u); do
	if "$QUERN_BIN" "$word" --help >"$tmp/help/$word" 2>/dev/null; then
		commands=$((commands + 1))
	else
		rm "$tmp/help/$word"
	fi
done
[ "$commands" -ge 13 ] && ok "help of $commands commands" || failed "quern --help names $commands commands, expected 13 or more"

# What a text on stdin has of one kind, sorted.
options() {
	grep -oE -e '(^|[^a-zA-Z0-9-])--[a-z][a-z0-9-]+' | sed 's/^[^-]*//' | sort -u
}
identifiers() {
	grep -oE '(^|[^A-Za-z0-9_])(qn|QN)_[A-Za-z0-9_]+' | sed 's/^[^qQ]*//' | sort -u
}

# unknown IDENTIFIERS LINES: lines "PAGE: NAME" whose name begins none of the identifiers.
unknown() {
	awk 'NR == FNR {
			known[++n] = $1
			next
		}
		{
			name = $2
			sub(/_w4$/, "", name)
			sub(/_[su][0-9]+(w4)?$/, "", name)
			for (i = 1; i <= n; i++)
				if (index(known[i], name) == 1)
					next
			print
		}' "$1" "$2"
}

# broken ANCHORS LINKS: the links that lead nowhere.
broken() {
	while IFS="$(printf '\t')" read -r page line target; do
		case $target in
		*.md#*) grep -qxF -e "$(normal "$target")" "$1" ;;
		*) [ -e "${target%%#*}" ] ;;
		esac || echo "$page:$line: $target"
	done <"$2"
}

# docs/../README.md is README.md
normal() {
	echo "$1" | sed -e ':a' -e 's|[^/][^/]*/[.][.]/||' -e ta
}

# shellcheck disable=SC2086 # lists of files
{
	awk -f "$here/texts.awk" $pages docs/*.json include/quern/*.h examples/*/*.c examples/*/*.cc $sources scripts/*
	(cd "$tmp" && awk -f "$here/texts.awk" help/*)
} >"$tmp/texts"
[ "$(wc -l <"$tmp/texts")" -gt 15000 ] || failed "only $(wc -l <"$tmp/texts") texts were found"
awk -f "$here/find.awk" "$here/words.tsv" "$tmp/texts" >"$tmp/bad"
is_empty "$tmp/bad" "$(wc -l <"$tmp/texts") texts are in the words of tests/words/words.tsv"

# The test notices what it looks for: each row its example, in each kind of file.
awk -v examples=1 -f "$here/find.awk" "$here/words.tsv" "$tmp/texts" >"$tmp/bad"
is_empty "$tmp/bad" "each row finds its example"
mkdir -p "$tmp/planted/include" "$tmp/planted/docs" "$tmp/planted/help"
printf 'It runs behind `behind` the pass, the whole\nnumbers.\n```c\nint behind; /* behind */\n```\n```\nbehind  # behind\n```\n' >"$tmp/planted/docs/a.md"
printf '/* behind\n * it */ int behind; /* the whole\n * number */\n' >"$tmp/planted/include/a.h"
printf '#include "behind"\n/* behind */ const char q = %s, *a = "it is \\"behind" /* x */\n\t"hand", *b = "the whole "\n\t"number"; // anew\n' \
	"'\"'" >"$tmp/planted/a.c"
printf '  --a  whole\n       number\n\nbehind\n' >"$tmp/planted/help/a"
(cd "$tmp/planted" && awk -f "$here/texts.awk" docs/a.md include/a.h a.c help/a) >"$tmp/planted/texts"
awk -f "$here/find.awk" "$here/words.tsv" "$tmp/planted/texts" |
	sed -n "s/^\([a-z/.]*:[0-9]*: '[^']*'\).*/\1/p" | sort >"$tmp/list"
cat >"$tmp/expected" <<-X
	a.c:2: 'behind'
	a.c:2: 'behind'
	a.c:3: 'whole number'
	a.c:4: 'anew'
	docs/a.md:1: 'behind'
	docs/a.md:1: 'whole numbers'
	docs/a.md:4: 'behind'
	docs/a.md:7: 'behind'
	help/a:1: 'whole number'
	help/a:4: 'behind'
	include/a.h:1: 'behind'
	include/a.h:2: 'whole number'
X
diff "$tmp/expected" "$tmp/list" >"$tmp/bad"
is_empty "$tmp/bad" "planted words are found where they stand, and only there"

# ---- pages: lines, links, paths ----
# shellcheck disable=SC2086 # lists of files
{
	awk -f "$here/pages.awk" $pages >"$tmp/bad"
	is_empty "$tmp/bad" "docs are wrapped at 100 columns"
	awk -v what=anchors -f "$here/pages.awk" $pages | sort >"$tmp/anchors"
	awk -v what=links -f "$here/pages.awk" $pages >"$tmp/links"
	awk -v what=paths -f "$here/pages.awk" $pages >"$tmp/paths"
}
broken "$tmp/anchors" "$tmp/links" >"$tmp/bad"
is_empty "$tmp/bad" "$(wc -l <"$tmp/links") relative links lead to a file or a heading"
while IFS="$(printf '\t')" read -r page line path; do
	case $path in *thin[._]*) continue ;; esac # the example of CONTRIBUTING.md
	# shellcheck disable=SC2086 # a glob
	set -- $path
	[ -e "$1" ] || [ -e "${1%.h}.h.in" ] || echo "$page:$line: $path"
done <"$tmp/paths" >"$tmp/bad"
is_empty "$tmp/bad" "$(wc -l <"$tmp/paths") paths that pages name are in the tree"

# Options that pages name are in the help of a command or in a script; those of other programs are listed here.
# shellcheck disable=SC2086 # lists of files
{
	cat "$tmp"/help/* examples/*/*.py scripts/* tests/mcu/* tests/words/* CMakeLists.txt | options >"$tmp/known"
	echo "--cflags --libs --static --install --prefix --update --array --cpus-per-task --dependency --sshlogin" |
		options | sort -u - "$tmp/known" >"$tmp/list"
	for page in $pages; do
		options <"$page" | comm -23 - "$tmp/list" | sed "s|^|$page: |"
	done >"$tmp/bad"
}
is_empty "$tmp/bad" "pages name only options that exist ($(wc -l <"$tmp/known") in help and scripts)"

# Identifiers that pages name are those of sources, or begin them; a kernel's has its storage type at the end.
find include ir formats import runtime patterns calibrate passes codegen driver tests -type f \
	\( -name '*.[ch]' -o -name '*.def' -o -name '*.in' -o -name '*.cmake' \) -exec cat {} + | identifiers >"$tmp/known"
# shellcheck disable=SC2086 # lists of files
for page in $pages; do
	identifiers <"$page" | grep -v -i -e '_thin' -e '^qn_noun_verb$' -e '^QN_CONST$' | sed "s|^|$page: |"
done >"$tmp/list"
unknown "$tmp/known" "$tmp/list" >"$tmp/bad"
is_empty "$tmp/bad" "the $(wc -l <"$tmp/list") identifiers that pages name exist"

# Keys with which a model is read are in its schema (json_prep.c: of statistics).
# shellcheck disable=SC2046 # lists of files
awk '/keys\[\] = / { on = 1 } on { print } /};/ { on = 0 }' $(ls formats/json_*.c | grep -v _prep) |
	grep -o '"[a-z_]*"' | sort -u >"$tmp/list"
while read -r key; do
	grep -q "$key: {" docs/quern-model.schema.json || echo "formats/json_*.c: $key is not in docs/quern-model.schema.json"
done <"$tmp/list" >"$tmp/bad"
is_empty "$tmp/bad" "the $(wc -l <"$tmp/list") keys of models are in their schema"

# The figures of README's comparison are those of docs/performance.md.
sed -n '/^## How it compares/,/^- /p' README.md | grep '^| [a-z]' | grep -oE '[0-9]+(,[0-9]+)+' | sort -u >"$tmp/list"
[ "$(wc -l <"$tmp/list")" -gt 30 ] || failed "only $(wc -l <"$tmp/list") figures are in README's comparison"
grep -vxFf - "$tmp/list" >"$tmp/bad" <<-X
	$(grep -oE '[0-9]+(,[0-9]+)+' docs/performance.md | sort -u)
X
is_empty "$tmp/bad" "the $(wc -l <"$tmp/list") figures of README's comparison are in docs/performance.md"

# A planted long line, a link to no file and one to no heading are noticed; what cannot be broken may be long.
long=$(printf '%0101d' 0)
mkdir "$tmp/pages"
{
	printf '# A `b`: c\n%s\n- [%s](x.md#a-b-c) \n| %s %s |\n```\n%s %s\n```\n' "$long" "$long" a "$long" b "$long"
	printf 'a %s\n[x](gone.md) [y](#a-b-d)\n[z](#a-b-c)\n' "$long"
} >"$tmp/pages/x.md"
(cd "$tmp/pages" && {
	awk -f "$here/pages.awk" x.md | sed 's/: .*//'
	awk -v what=anchors -f "$here/pages.awk" x.md >../anchors
	awk -v what=links -f "$here/pages.awk" x.md >../links
	broken ../anchors ../links
}) >"$tmp/list"
printf 'x.md:8\nx.md:9: gone.md\nx.md:9: x.md#a-b-d\n' >"$tmp/expected"
diff "$tmp/expected" "$tmp/list" >"$tmp/bad"
is_empty "$tmp/bad" "a planted long line and broken links are found"
printf 'see `--known`, (`--unknown`) qn_known_s8, qn_gone\n' >"$tmp/pages/y.md"
{
	options <"$tmp/pages/y.md"
	echo qn_known_q >"$tmp/known"
	identifiers <"$tmp/pages/y.md" | sed 's/^/y.md: /' >"$tmp/links"
	unknown "$tmp/known" "$tmp/links"
} >"$tmp/list"
printf -- '--known\n--unknown\ny.md: qn_gone\n' >"$tmp/expected"
diff "$tmp/expected" "$tmp/list" >"$tmp/bad"
is_empty "$tmp/bad" "a planted option and identifier are found"
finish
