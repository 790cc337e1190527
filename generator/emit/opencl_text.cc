#include <fmt/format.h>

#include <algorithm>

#include "emit/device_host.h"
#include "emit/literals.h"
#include "emit/opencl.h"
#include "emit/sections.h"
#include "renderer/language.h"

namespace etch {
namespace {

// C99 guarantees string literals of 4095 characters.
constexpr std::size_t kLongestPiece = 4000;
constexpr std::size_t kLongestLine = 1000;  // of the literals: a longer line is cut

// Splits the text into pieces, each a list of lines; a line ends with its line break unless it was cut.
std::vector<std::vector<std::string>> pieces_of(const std::string& text) {
  std::vector<std::vector<std::string>> pieces(1);
  std::size_t length = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::size_t whole = (end == std::string::npos ? text.size() : end + 1) - at;
    const std::size_t bytes = std::min(whole, kLongestLine);
    if (length + bytes > kLongestPiece) {
      pieces.emplace_back();
      length = 0;
    }
    pieces.back().push_back(text.substr(at, bytes));
    length += bytes;
    at += bytes;
  }
  return pieces;
}

std::string literal_line(std::string line) {
  const bool ends = line.ends_with('\n');
  if (ends) line.pop_back();
  std::string text = c_string(line);
  if (ends) text.insert(text.size() - 1, "\\n");
  return text;
}

}  // namespace

std::string opencl_text(const Project& p) {
  const std::vector<std::string> helpers = helpers_of(*p.program);
  const bool uses_double = std::ranges::any_of(p.program->kernels, [](const ProgramKernel& k) { return k.text.uses_double; });
  std::string text = p.first_line() + " The kernels, in OpenCL C 1.2. */\n";
  if (!helpers.empty()) {
    text += "\n" + banner("helpers") + "\n";
    if (!uses_double) text += "#define ETCH_NO_DOUBLE /* not every device has it */\n\n";
    text += p.program->language->prelude(helpers);
  }
  text += "\n" + banner("kernels");
  if (const std::string definitions = definitions_of(*p.program); !definitions.empty()) text += definitions + "\n";
  return text + kernel_texts(p, on_device);
}

std::size_t opencl_text_pieces(const std::string& text) { return pieces_of(text).size(); }

std::string opencl_text_source(const Project& p, const std::string& text) {
  const auto pieces = pieces_of(text);
  std::string source = fmt::format(
      "{0} The text of {1}.cl, which the driver compiles, in pieces as long as C takes them. */\n"
      "#include \"{1}.h\"\n\nconst char *const {1}_kernels[{2}] = {{\n",
      p.first_line(), p.name, pieces.size());
  for (const auto& piece : pieces) {
    for (const std::string& line : piece) source += "  " + literal_line(line) + "\n";
    source.insert(source.size() - 1, ",");
  }
  return source + "};\n";
}

}  // namespace etch
