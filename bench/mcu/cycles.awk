# SPDX-License-Identifier: Apache-2.0
# cycles.awk - cycles of a Cortex-M4, estimated from how often each instruction was executed.
#
#   awk -f cycles.awk COUNT DISASSEMBLY
#
# COUNT is what count.c writes ("at ADDRESS N"), DISASSEMBLY what objdump -d --no-show-raw-insn prints.
# The model, without wait states of the flash:
#
#   load             2, after a load or store 1; of several words one each and 1
#   store            1 a word
#   taken branch     3; of a conditional one as many are taken as the instruction after it was executed less often
#   division         8
#   everything else  1

FNR == NR {
	if ($1 == "at") {
		sub(/^0*/, "", $2)
		n[$2] = $3
	}
	next
}

$1 ~ /^[0-9a-f]+:$/ {
	address[++lines] = substr($1, 1, length($1) - 1)
	op[lines] = $2
	sub(/[.].*/, "", op[lines])
	args[lines] = $0
	sub(/^[^\t]*\t[^\t]*\t?/, "", args[lines])
}

# Registers between braces, of which some are ranges.
function registers(text, name, i, count, ends) {
	if (!match(text, /[{].*[}]/))
		return 1
	count = split(substr(text, RSTART + 1, RLENGTH - 2), name, /, */)
	for (i in name)
		if (name[i] ~ /-/) {
			split(name[i], ends, /-/)
			gsub(/[a-z]/, "", ends[1])
			gsub(/[a-z]/, "", ends[2])
			count += ends[2] - ends[1]
		}
	return count
}

function words(i) {
	return op[i] ~ /^(ldrd|strd)/ ? 2 : op[i] ~ /^(ldm|stm|push|pop|vldm|vstm|vpush|vpop)/ ? registers(args[i]) : 1
}

function is_load(i) { return op[i] ~ /^(ldr|ldm|pop|vldr|vldm|vpop)/ }
function is_store(i) { return op[i] ~ /^(str|stm|push|vstr|vstm|vpush)/ }

# Cycles of all executions of instruction i.
function cycles(i, count, after, taken) {
	count = n[address[i]]
	if (is_load(i))
		return count * (words(i) + !(is_load(i - 1) || is_store(i - 1)))
	if (is_store(i))
		return count * words(i)
	if (op[i] ~ /^(b|bl|bx|blx)$/)
		return 3 * count
	if (op[i] ~ /^(b(eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)|cbn?z)$/) {
		after = n[address[i + 1]]
		taken = after < count ? count - after : 0
		return count + 2 * taken
	}
	return op[i] ~ /^[us]div/ ? 8 * count : count
}

END {
	for (i = 1; i <= lines; i++)
		if (address[i] in n)
			all += cycles(i)
	printf "%d\n", all
}
