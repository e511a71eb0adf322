# SPDX-License-Identifier: Apache-2.0
# Makes headers of the kernels' texts: each piece that depends on how codes are stored is written once for each family.
#
#   cmake -DSOURCE=. -DOUT=build -P runtime/kernels/families.cmake      runtime/fixed.h.in -> build/runtime/fixed.h …
#
#   /*@ qn_clip_q */                                   /*@ qn_clip_s8 */
#   qn_clip_q(…, const qn_code_t *x, qn_code_t *y)     qn_clip_s8(…, const int8_t *x, int8_t *y)
#                                              --->    /*@ qn_clip_u8 */
#                                                      qn_clip_u8(…, const uint8_t *x, uint8_t *y)
#                                                      /*@ qn_clip_s16 */ …
#
# A family is the storage of activations, s8, u8 or s16, and that of weights: i8, i4 with two codes a byte (w4), or i2 with
# four (w2).  s16n is s16 where sums are known to fit in 32 bits: biases and accumulators have these, and are rescaled as those
# of 64 bits are.  Products with weights in blocks have two sums; the outer one is as wide as an accumulator of the family, or,
# in families that end in x, of 64 bits.
#
#   token                    s8        u8        s16       meaning
#   _q   at a name's end     _s8       _u8       _s16      the family; also before another "_"
#   _qw                      _s8       _u8       _s16      … and the weights': _s8w4, _u8w4, _s16w4, _s8w2 …
#   _qx                      _s8       _u8       _s16      … and the outer sum's: _s8x, _u8x, _s8w4x …
#   _o, _ow, _ox                       _u8       _s16      the same, nothing for s8; _w4, _u8w4, _s16w4, _s8x …
#   _a                                           64        the width of accumulators, nothing for 32 bits
#   _ax                                          64        … of the outer sum: 64 for families with x
#   qn_sum_t, QN_READ_AX     int32     int32     int64     the outer sum; reads a constant one; int64 for families with x
#   qn_code_t, qn_code       int8      uint8     int16     a code of an activation; _t: the C type
#   qn_acc_t, qn_acc         int32     int32     int64     an accumulator or a bias
#   QN_CODE_MIN, _MAX        the ends of qn_code_t
#   QN_CODE_LEAST            not above any code c, nor any -1 - c
#   QN_READ_A                reads a constant accumulator
#   qn_requant_a(            qn_requant( or, for 16 bits, qn_requant64(
#   qn_most_terms            terms of code * weight that fit into an accumulator
#   qn_most_pairs            products of two codes that fit
#   qn_reach                 largest distance of a code to its zero point
#   qn_delta_t               int16_t   int16_t   int32_t   the difference of a code and its zero point
#   qn_code_set, qn_code_copy                          n codes of one value, n codes: memset, memcpy or their like
#   qn_weights w = a->w +    w: the place of a row of weights; qn_weight(w, i) is its code i
#
# An instance whose name is there already is left out, so a piece without a token in its name is written once, and so is
# one without "w" in its tokens for the families of i4 and i2 weights; those with x are for pieces with "x" in their tokens.  s16n is
# for pieces that say so: /*@ qn_dense_by4_qw +n */.  A marker may name the families of its piece, where the
# text does not hold for all: /*@ qn_lut_q s8 */.
cmake_policy(VERSION 3.20)
set(qn_families s8 u8 s16 s8w4 u8w4 s16w4 s8w2 u8w2 s16w2)
set(qn_narrow_families s16n s16nw4)
set(qn_wide_families s8x u8x s8w4x u8w4x s8w2x u8w2x)
set(qn_tokens QN_CODE_LEAST QN_CODE_MIN QN_CODE_MAX QN_READ_A "qn_requant_a(" qn_most_terms qn_most_pairs qn_reach qn_code_set qn_code_copy
	qn_code qn_acc qn_delta)
set(qn_s8 INT8_MIN INT8_MIN INT8_MAX QN_READ32 "qn_requant(" 66311 33025 255 memset memcpy int8 int32 int16)
set(qn_u8 -256 0 UINT8_MAX QN_READ32 "qn_requant(" 66311 33025 255 memset memcpy uint8 int32 int16)
set(qn_s16 INT16_MIN INT16_MIN INT16_MAX QN_READ64 "qn_requant64(" 33818640 131071 32768 qn_set16 qn_copy16 int16
	int64 int32)
set(qn_s16n INT16_MIN INT16_MIN INT16_MAX QN_READ32 "qn_requant64(" 65535 131071 32768 qn_set16 qn_copy16 int16 int32 int32)
set(qn_s8_suffix "" "")
set(qn_u8_suffix _u8 "")
set(qn_s16_suffix _s16 64)
set(qn_s16n_suffix _s16n "")

# The piece's text in one family.
function(qn_kernel_instance text family out)
	string(REGEX REPLACE "x$" "" narrow ${family})
	string(REGEX REPLACE "w[24]$" "" code ${narrow})
	list(GET qn_${code}_suffix 0 other)
	list(GET qn_${code}_suffix 1 acc)
	set(weights "${other}")
	if(narrow MATCHES "w([24])$")
		set(bits ${CMAKE_MATCH_1})
		string(REGEX REPLACE "^s8$" "" weights "${code}")
		set(weights "_${weights}w${bits}")
		string(REPLACE "qn_weights w = a->w + " "int32_t w = " text "${text}")
		string(REPLACE "qn_weight(w, " "qn_read${bits}(a->w, w + " text "${text}")
	endif()
	set(wide "${weights}")
	set(sum "${acc}")
	if(family STREQUAL narrow)
		string(REPLACE "QN_READ_AX" "QN_READ_A" text "${text}")
		string(REPLACE "qn_sum_t" "qn_acc_t" text "${text}")
	else()
		set(wide "_${family}")
		set(sum 64)
		string(REPLACE "QN_READ_AX" "QN_READ64" text "${text}")
		string(REPLACE "qn_sum_t" "int64_t" text "${text}")
	endif()
	string(REPLACE "qn_weights w = " "const QN_ROM int8_t *w = " text "${text}")
	string(REPLACE "qn_weight(" "QN_READ8(" text "${text}")
	foreach(token value IN ZIP_LISTS qn_tokens qn_${code})
		string(REPLACE "${token}" "${value}" text "${text}")
	endforeach()
	string(REGEX REPLACE "_qx([^A-Za-z0-9_])" "_${family}\\1" text "${text}")
	string(REGEX REPLACE "_ox([^A-Za-z0-9_])" "${wide}\\1" text "${text}")
	string(REGEX REPLACE "_ax([^A-Za-z0-9_])" "${sum}\\1" text "${text}")
	string(REGEX REPLACE "_qw([^A-Za-z0-9_])" "_${narrow}\\1" text "${text}")
	string(REGEX REPLACE "_ow([^A-Za-z0-9_])" "${weights}\\1" text "${text}")
	string(REGEX REPLACE "_q([^A-Za-z0-9])" "_${code}\\1" text "${text}")
	string(REGEX REPLACE "_o([^A-Za-z0-9_])" "${other}\\1" text "${text}")
	string(REGEX REPLACE "_a([^A-Za-z0-9_])" "${acc}\\1" text "${text}")
	set(${out} "${text}" PARENT_SCOPE)
endfunction()

# All instances of a piece that begins with its marker.
function(qn_kernel_piece piece out)
	set(families ${qn_families})
	if(piece MATCHES "^/[*]@ [^ \n]+_[qoa]x [*]/")
		list(APPEND families ${qn_wide_families})
	endif()
	if(piece MATCHES "^/[*]@ [^ \n]+ [+]n [*]/")
		list(APPEND families ${qn_narrow_families})
		string(REGEX REPLACE "^([^+]*) [+]n" "\\1" piece "${piece}")
	endif()
	if(piece MATCHES "^/[*]@ ([^ \n]+)(( [us][0-9wn]+)+) [*]/\n")
		string(REPLACE " " ";" families "${CMAKE_MATCH_2}")
		string(REPLACE "${CMAKE_MATCH_0}" "/*@ ${CMAKE_MATCH_1} */\n" piece "${piece}")
	endif()
	set(all "")
	set(names "")
	foreach(family IN LISTS families)
		if(family STREQUAL "")
			continue()
		endif()
		qn_kernel_instance("${piece}" ${family} instance)
		string(REGEX MATCH "^[^\n]*" marker "${instance}")
		if(NOT marker IN_LIST names)
			list(APPEND names "${marker}")
			string(APPEND all "${instance}")
		endif()
	endforeach()
	set(${out} "${all}" PARENT_SCOPE)
endfunction()

# Writes the header OUT of the text IN, unless it is up to date.
function(qn_kernel_header in out)
	file(READ "${in}" rest)
	set(text "")
	string(FIND "${rest}" "\n/*@ " at)
	while(NOT at EQUAL -1)
		math(EXPR at "${at} + 1")
		string(SUBSTRING "${rest}" 0 ${at} piece)
		string(SUBSTRING "${rest}" ${at} -1 rest)
		if(piece MATCHES "^/[*]@ ")
			qn_kernel_piece("${piece}" piece)
		endif()
		string(APPEND text "${piece}")
		string(FIND "${rest}" "\n/*@ " at)
	endwhile()
	string(APPEND text "${rest}")
	set(old "")
	if(EXISTS "${out}")
		file(READ "${out}" old)
	endif()
	if(NOT text STREQUAL old)
		file(WRITE "${out}" "${text}")
	endif()
endfunction()

# The headers of all texts under SOURCE, in folder OUT; the list in the order in which their pieces are written out.
function(qn_kernel_headers source out list)
	file(GLOB texts RELATIVE "${source}" "${source}/runtime/kernels/*.h.in")
	set(all "")
	foreach(text IN ITEMS runtime/fixed.h.in LISTS texts)
		string(REGEX REPLACE "[.]in$" "" header "${out}/${text}")
		qn_kernel_header("${source}/${text}" "${header}")
		list(APPEND all "${header}")
	endforeach()
	set(${list} "${all}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
	qn_kernel_headers("${SOURCE}" "${OUT}" headers)
endif()
