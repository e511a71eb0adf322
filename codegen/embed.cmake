# SPDX-License-Identifier: Apache-2.0
# Turns text files into a C file, which the program carries in itself: the kernels' headers, the page of quern analyze.
#
#   cmake -DOUT=kernel_text_data.c "-DFILES=fixed.h;kernels/dense.h" -DHEADER=codegen/kernel_text.h
#         -DPREFIX=qn_kernel_ -P embed.cmake
#
# HEADER declares the type PREFIXfile {name, line, nline}, an array PREFIXfiles of it, and their number PREFIXnfile.
# Each file becomes an array of its lines: no string literal comes near the 4095 characters that a
# C compiler has to take. The order of FILES is the order in which pieces are written out.
cmake_policy(SET CMP0053 NEW)

if(NOT DEFINED OUT OR NOT DEFINED FILES OR NOT DEFINED HEADER OR NOT DEFINED PREFIX)
	message(FATAL_ERROR "embed.cmake: give -DOUT=file.c, -DFILES=a.h;b.h, -DHEADER=text.h and -DPREFIX=name_")
endif()

set(text "/* Written by codegen/embed.cmake. */\n")
string(APPEND text "#include \"${HEADER}\"\n")
set(table "")
set(count 0)

foreach(path IN LISTS FILES)
	file(READ "${path}" body)
	get_filename_component(name "${path}" NAME)
	string(REPLACE "\r\n" "\n" body "${body}")
	string(REPLACE "\\" "\\\\" body "${body}")
	string(REPLACE "\"" "\\\"" body "${body}")
	string(REPLACE "?" "\\?" body "${body}")
	string(REPLACE "\t" "\\t" body "${body}")
	string(REPLACE "\n" "\\n\",\n\t\"" body "${body}")
	string(APPEND text "\nstatic const char *const lines${count}[] = {\n\t\"${body}\",\n};\n")
	set(lines "sizeof(lines${count}) / sizeof(lines${count}[0])")
	string(APPEND table "\t{\"${name}\", lines${count}, ${lines}},\n")
	math(EXPR count "${count} + 1")
endforeach()

string(APPEND text "\nconst ${PREFIX}file ${PREFIX}files[] = {\n${table}};\n")
string(APPEND text "const size_t ${PREFIX}nfile = ${count};\n")
file(WRITE "${OUT}" "${text}")
