#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh BUILD - digits, and kws of QUERN_DATA, on QEMU's Cortex-M4 and M55: the bytes, and no more instructions than counts.tsv says.
set -u
here=$(cd "$(dirname "$0")" && pwd)
result=0
for row in "m4:" "m4:--target cortex-m4" "m55:--target cortex-m55"; do
	options=${row#*:}
	"$here/../../scripts/bench-mcu" "$1" --core="${row%%:*}" --net=digits,kws --check="$here/counts.tsv" --compile="$options"
	status=$?
	[ $status -eq 77 ] && exit 77
	[ $status -eq 0 ] || result=1
done
exit $result
