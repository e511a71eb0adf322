#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh BUILD mcu|rv32imc|aarch64 - digits, with weights of 8 and of 4 bits, and of QUERN_DATA kws, on QEMU's Cortex-M0+, M3, M4 and M55, or on
# RV32IMC, and resnet8 on M4 and aarch64, features of sound on M4: the bytes, and no more instructions than counts.tsv says.
set -u
here=$(cd "$(dirname "$0")" && pwd)
result=0
cd "$here" # options name files there

# on CORE NETWORKS OPTIONS
on() {
	count --core="$1" --net="$2" --compile="$3"
}

# on_model CORE FILE OPTIONS, a model beside this file
on_model() {
	count --core="$1" --model="$2" --compile="$3"
}

count() {
	"$here/../../scripts/bench-mcu" "$build" --check="$here/counts.tsv" "$@"
	status=$?
	[ $status -eq 77 ] && exit 77
	[ $status -eq 0 ] || result=1
}

build=$1
case $2 in
mcu)
	on m4 digits,kws ""
	on m4 digits,kws,resnet8 "--target cortex-m4"
	on m4 resnet8 "--target cortex-m4 --optimize speed"
	on m4 digits "--target cortex-m4 --weights-type i4"
	on_model m4 log_mel.qir "--calib sound.csv --target cortex-m4"
	on_model m4 log_mel_stream.qir "--calib sound.csv --target cortex-m4"
	on_model m4 mfcc.qir "--calib sound.csv --target cortex-m4"
	on m55 digits,kws "--target cortex-m55"
	on m55 digits "--target cortex-m55 --weights-type i4"
	on m0plus digits,kws "--target cortex-m0plus"
	on m0plus digits "--target cortex-m0plus --weights-type i4"
	on m3 digits,kws "--target cortex-m3"
	on m3 digits "--target cortex-m3 --weights-type i4"
	;;
rv32imc)
	on rv32imc digits,kws "--target rv32imc"
	on rv32imc digits "--target rv32imc --weights-type i4"
	;;
aarch64)
	on aarch64 digits,kws,resnet8 "--target aarch64"
	on aarch64 digits "--target aarch64 --weights-type i4"
	on aarch64-dotprod digits,kws,resnet8 "--target aarch64-dotprod"
	on aarch64-dotprod digits "--target aarch64-dotprod --weights-type i4"
	;;
esac
exit $result
