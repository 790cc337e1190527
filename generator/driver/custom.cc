#include "driver/custom.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "audit/prototype.h"
#include "base/error.h"
#include "base/naming.h"
#include "base/nearest.h"

namespace etch {
namespace {

constexpr const char* kNameLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";

// Reading from a pipe would wait for somebody to write.
void require_file(const std::filesystem::path& path, const std::string& where) {
  std::error_code bad;
  const std::filesystem::file_status status = std::filesystem::status(path, bad);
  const char* const help = "name a file of C";
  if (status.type() == std::filesystem::file_type::not_found) throw UserError(where, "is not there", help);
  if (bad) throw UserError(where, "can't be reached: " + bad.message(), help);
  if (std::filesystem::is_directory(status)) throw UserError(where, "is a folder", help);
  if (!std::filesystem::is_regular_file(status)) throw UserError(where, "is a pipe, a device or the like, not a file", help);
}

std::vector<CFile> read_files(const std::vector<std::filesystem::path>& paths) {
  std::vector<CFile> files;
  for (const std::filesystem::path& path : paths) {
    const std::string where = "--custom-file " + path.string(), name = path.filename().string();
    require_file(path, where);
    std::ifstream in(path, std::ios::binary);
    if (!in) throw UserError(where, std::string("can't be read: ") + std::strerror(errno), "name a file of C that may be read");
    if (!name.ends_with(".c") && !name.ends_with(".h"))
      throw UserError(where, "is neither NAME.c nor NAME.h", "give files of C, and the headers of yours that they include");
    if (name.front() == '-' || name.find_first_not_of(kNameLetters) != std::string::npos)
      throw UserError(where, "its name has more than letters, digits, '_', '-' and '.', or begins with '-'",
                      "rename it: the name stands in CMakeLists.txt and on command lines");
    if (std::ranges::find(files, name, &CFile::name) != files.end())
      throw UserError(where, "is the second file called " + name, "rename one: they lie in one folder");
    files.push_back({name, {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()}});
  }
  return files;
}

/// The function with that name, of which there has to be one that other files can call.
const Prototype& find_function(const std::vector<Prototype>& all, const CustomBinding& binding) {
  const std::string where = "--custom " + binding.op + "=" + binding.function;
  if (c_identifier(binding.function) != binding.function)
    throw UserError(where, "the function's name is no identifier of C, or C itself has it", "rename the function");
  const Prototype* found = nullptr;
  std::vector<std::string> names;
  for (const Prototype& p : all) {
    names.push_back(p.function);
    if (p.function != binding.function) continue;
    if (found != nullptr && found->not_callable.empty() && p.not_callable.empty())
      throw UserError(where, "the function is defined in " + found->file + " and in " + p.file, "keep one");
    if (found == nullptr || !found->not_callable.empty()) found = &p;
  }
  if (found == nullptr)
    throw UserError(where,
                    "no file of --custom-file defines the function" +
                        (names.empty() ? std::string() : "; they define " + nearest_text(binding.function, names)),
                    "name the C file that defines it: --custom-file FILE.c");
  return *found;
}

std::vector<ExternalSymbol> defined_in(const std::string& file, const std::vector<CDefinition>& all) {
  std::vector<ExternalSymbol> symbols;
  for (const CDefinition& d : all)
    if (d.file == file) symbols.push_back({d.name, d.line});
  return symbols;
}

/// The files become parts of one program.
void require_one_of_each(const std::vector<CDefinition>& all) {
  for (auto d = all.begin(); d != all.end(); d++)
    if (const auto first = std::find_if(all.begin(), d, [&](const CDefinition& e) { return e.name == d->name && e.file != d->file; });
        first != d)
      throw UserError("--custom-file " + d->file + ", line " + std::to_string(d->line),
                      "it defines " + d->name + ", which " + first->file + " defines in line " + std::to_string(first->line),
                      "keep one, or make it static");
}

}  // namespace

std::vector<CustomOperator> read_custom_operators(const std::vector<std::filesystem::path>& files,
                                                  const std::vector<CustomBinding>& bindings) {
  if (bindings.empty() && files.empty()) return {};
  const std::vector<CFile> texts = read_files(files);
  const CContents contents = read_c(texts);
  for (const CDefinition& d : contents.definitions)
    if (d.name == "main")
      throw UserError("--custom-file " + d.file, "it defines main, which programs that run the model have",
                      "move main to a file of its own");
  auto shared = std::make_shared<std::vector<ExternalFile>>();
  for (const CFile& file : texts) shared->push_back({file.name, file.text, defined_in(file.name, contents.definitions)});
  std::vector<CustomOperator> customs;
  for (const CustomBinding& binding : bindings) {
    const auto dot = binding.op.rfind('.');
    CustomOperator custom{dot == std::string::npos ? "" : binding.op.substr(0, dot),
                          dot == std::string::npos ? binding.op : binding.op.substr(dot + 1), find_function(contents.functions, binding),
                          shared};
    if (custom.domain == "ai.onnx") custom.domain.clear();
    customs.push_back(std::move(custom));
  }
  require_one_of_each(contents.definitions);
  return customs;
}

}  // namespace etch
