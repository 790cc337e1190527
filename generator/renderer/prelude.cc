#include "base/runtime_text.h"
#include "renderer/cstyle.h"
#include "renderer/generate.h"

namespace etch {

std::string prelude(std::string_view language, const std::vector<std::string>& helpers) {
  if (helpers.empty()) return "";
  if (style_named(language).grid) return std::string(runtime_text("etch_math.h"));
  return "#include \"etch_math.h\"\n";
}

}  // namespace etch
