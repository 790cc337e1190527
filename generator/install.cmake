# cmake --install: the tool, and the library for find_package(etch). Nothing in an installation names the folder that it is in.
include(CMakePackageConfigHelpers)

set(programs etch etch-zoo)
if(TARGET etch-opencl)
  list(APPEND programs etch-opencl)
endif()
set_target_properties(${programs} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON) # LLVM has a folder of its own
install(TARGETS ${programs} RUNTIME DESTINATION bin)
install(TARGETS etch_qemu_plugin LIBRARY DESTINATION lib/etch)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/targets ${PROJECT_SOURCE_DIR}/toolchains ${PROJECT_SOURCE_DIR}/runtime_c DESTINATION share/etch
  PATTERN CMakeLists.txt EXCLUDE PATTERN ".*" EXCLUDE)

# The library: one archive a folder, which are parts of etch::etch.
set(parts base target audit shape ir interp lazy codegen renderer onnx quant schedule program picture memory device jit emit emulator driver validate)
foreach(part IN LISTS parts)
  set_target_properties(etch_${part} PROPERTIES EXPORT_NAME ${part})
endforeach()
set_target_properties(etch_library PROPERTIES EXPORT_NAME etch)
target_include_directories(etch_library INTERFACE $<INSTALL_INTERFACE:include/etch>)
list(TRANSFORM parts PREPEND etch_ OUTPUT_VARIABLE libraries)
install(TARGETS ${libraries} etch_library EXPORT etch ARCHIVE DESTINATION lib/etch)
install(EXPORT etch NAMESPACE etch:: FILE etchTargets.cmake DESTINATION lib/cmake/etch)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/etchConfig.cmake.in ${PROJECT_BINARY_DIR}/etchConfig.cmake INSTALL_DESTINATION lib/cmake/etch)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/etchConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/etchConfig.cmake ${PROJECT_BINARY_DIR}/etchConfigVersion.cmake DESTINATION lib/cmake/etch)

# Its headers: etch.h, and those that it reaches.
install(CODE "set(source \"${CMAKE_CURRENT_LIST_DIR}\")")
install(CODE [=[
  cmake_policy(VERSION 3.25)
  set(headers etch.h)
  set(waiting ${headers})
  while(waiting)
    list(POP_FRONT waiting header)
    file(STRINGS ${source}/${header} lines REGEX "^#include \"[^\"]+\"")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" other ${line})
      if(NOT other IN_LIST headers)
        list(APPEND headers ${other})
        list(APPEND waiting ${other})
      endif()
    endforeach()
  endwhile()
  foreach(header IN LISTS headers)
    get_filename_component(folder ${header} DIRECTORY)
    file(INSTALL ${source}/${header} DESTINATION ${CMAKE_INSTALL_PREFIX}/include/etch/${folder})
  endforeach()
]=])
