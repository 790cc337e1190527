# The files of runtime_c as text inside of etch: what is emitted is what the host's tests linked.
file(GLOB runtime_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/runtime_c/*.h ${PROJECT_SOURCE_DIR}/runtime_c/*.c)
list(SORT runtime_files)
set(rows "")
foreach(file IN LISTS runtime_files)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(APPEND rows "    {\"${name}\", R\"etch_text(${text})etch_text\"},\n")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/runtime_text.cc @ONLY CONTENT [=[
#include "base/runtime_text.h"

#include "base/error.h"

namespace etch {
namespace {
constexpr RuntimeFile kFiles[] = {
@rows@};
}  // namespace

std::span<const RuntimeFile> runtime_files() { return kFiles; }

std::string_view runtime_text(std::string_view name) {
  for (const RuntimeFile& file : kFiles)
    if (file.name == name) return file.text;
  fail_check("every runtime file that is asked for exists", std::source_location::current());
}
}  // namespace etch
]=])
target_sources(etch_base PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/runtime_text.cc)
