# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: the program, both libraries, the headers, and two ways to find them.
#
#   CMake       find_package(quern 0.1 REQUIRED)      target_link_libraries(host quern::quern)        or quern::static; quern::program is the program
#   pkg-config  cc host.c $(pkg-config --cflags --libs quern)                                         or --static
#
# The tree may be moved after it was installed: nothing in it holds an absolute path.
include(CMakePackageConfigHelpers)

set_target_properties(quern PROPERTIES EXPORT_NAME program)
set_target_properties(libquern PROPERTIES EXPORT_NAME static)
set(libraries libquern)
if(TARGET libquern_shared)
	set_target_properties(libquern_shared PROPERTIES EXPORT_NAME quern)
	list(APPEND libraries libquern_shared)
endif()
install(TARGETS quern ${libraries} EXPORT quern)
install(DIRECTORY include/quern DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
# The arithmetic that integer functions of a host's operators may use.
install(FILES ${PROJECT_BINARY_DIR}/runtime/fixed.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/quern)

# Manual pages and the completions of shells, which the program itself prints.
set(commands compile run eval analyze validate tune calibrate merge opt import export inspect match quantize tensors convert quantize-tensor tokens targets supported-ops man completion)
set(manual ${PROJECT_BINARY_DIR}/manual)
file(MAKE_DIRECTORY ${manual})
set(printed)
# printed FILE ARGUMENTS…
function(quern_prints file)
	add_custom_command(OUTPUT ${manual}/${file} COMMAND quern ${ARGN} > ${manual}/${file} DEPENDS quern VERBATIM
		COMMENT "Printing ${file}")
	set(printed ${printed} ${manual}/${file} PARENT_SCOPE)
endfunction()
quern_prints(quern.1 man)
foreach(command IN LISTS commands)
	quern_prints(quern-${command}.1 man ${command})
endforeach()
quern_prints(quern.bash completion bash)
quern_prints(_quern completion zsh)
quern_prints(quern.fish completion fish)
add_custom_target(manual ALL DEPENDS ${printed})
install(DIRECTORY ${manual}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
install(FILES ${manual}/quern.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME quern)
install(FILES ${manual}/_quern DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${manual}/quern.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/quern)
install(EXPORT quern NAMESPACE quern:: FILE quernTargets.cmake DESTINATION ${package})
set(threads_needed "")
set(pthread_flag "")
if(QUERN_THREADS)
	set(threads_needed "find_dependency(Threads)\n")
	set(pthread_flag " -pthread")
endif()
file(CONFIGURE OUTPUT quernConfig.cmake @ONLY CONTENT [[
include(CMakeFindDependencyMacro)
@threads_needed@include(${CMAKE_CURRENT_LIST_DIR}/quernTargets.cmake)
]])
# Before 1.0 another minor version is another interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/quernConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/quernConfig.cmake ${PROJECT_BINARY_DIR}/quernConfigVersion.cmake DESTINATION ${package})

file(RELATIVE_PATH prefix_of_package /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" prefix_of_package ${prefix_of_package})
set(package_head [[
prefix=${pcfiledir}/@prefix_of_package@
libdir=${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Description: quantizing graph compiler for microcontrollers
Version: @PROJECT_VERSION@
Cflags: -I${includedir}
]])
file(CONFIGURE OUTPUT quern.pc @ONLY CONTENT "${package_head}Name: quern
Libs: -L\${libdir} -lquern
")
# The static library's own libraries; a linker takes the shared one by -lquern, whatever pkg-config is told.
file(CONFIGURE OUTPUT quern-static.pc @ONLY CONTENT "${package_head}Name: quern-static
Requires: libcjson@zip_requires@@utf8proc_requires@@protobuf_requires@
Libs: \${libdir}/libquern.a -lm@pthread_flag@
")
install(FILES ${PROJECT_BINARY_DIR}/quern.pc ${PROJECT_BINARY_DIR}/quern-static.pc
	DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
