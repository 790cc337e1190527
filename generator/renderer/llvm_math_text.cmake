# Writes the IR in the file IR into the source file TEXT, as strings of a length that every compiler takes.
file(READ ${IR} ir)
set(pieces "")
while(NOT ir STREQUAL "")
  string(LENGTH "${ir}" left)
  if(left GREATER 32000)
    set(left 32000)
  endif()
  string(SUBSTRING "${ir}" 0 ${left} piece)
  string(SUBSTRING "${ir}" ${left} -1 ir)
  string(APPEND pieces "    R\"etch_ir(${piece})etch_ir\",\n")
endwhile()
file(WRITE ${TEXT} "#include <string_view>

#include \"renderer/llvm.h\"

namespace etch {
namespace {
constexpr std::string_view kPieces[] = {
${pieces}};
}  // namespace

std::string llvm_math(const std::vector<std::string>& helpers) {
  std::string text;
  if (!helpers.empty())
    for (std::string_view piece : kPieces) text += piece;
  return text;
}
}  // namespace etch
")
