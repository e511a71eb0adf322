# SPDX-License-Identifier: Apache-2.0
# Turns the operators that the texts lib/*.qir stand for into a table of C, for lists of what can be read.
#
#   cmake -DOUT=operators_data.c "-DFILES=recurrent.qir;…" -P operators.cmake
#
#   graph @gru(%x, %w) {…} onnx "GRU" since 7 {      -->      {"", "GRU", "gru", 7, false, false, NULL},
cmake_policy(SET CMP0053 NEW)

set(text "/* Written by lib/operators.cmake. */\n#include \"lib/lib.h\"\n\nconst qn_lib_operator qn_lib_operators[] = {\n")
foreach(path IN LISTS FILES)
	file(READ "${path}" body)
	string(REGEX MATCHALL "graph @[A-Za-z0-9_]+|(onnx|tflite) (\"[A-Za-z0-9_.]+\" )?\"[A-Za-z0-9_]+\"( since [0-9]+)?" parts "${body}")
	set(graph "")
	foreach(part IN LISTS parts)
		if(part MATCHES "^graph @(.*)$")
			set(graph "${CMAKE_MATCH_1}")
		elseif(part MATCHES "^(onnx|tflite) (\"([A-Za-z0-9_.]+)\" )?\"([A-Za-z0-9_]+)\"( since ([0-9]+))?$")
			set(since 1)
			set(tflite false)
			if(CMAKE_MATCH_6)
				set(since "${CMAKE_MATCH_6}")
			endif()
			if(CMAKE_MATCH_1 STREQUAL tflite)
				set(tflite true)
			endif()
			string(APPEND text "\t{\"${CMAKE_MATCH_3}\", \"${CMAKE_MATCH_4}\", \"${graph}\", ${since}, ${tflite}, false, NULL},\n")
		endif()
	endforeach()
endforeach()
string(APPEND text "\t{NULL, NULL, NULL, 0, false, false, NULL},\n};\n")
file(WRITE "${OUT}" "${text}")
