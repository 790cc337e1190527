#include "driver/custom.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "audit/prototype.h"
#include "base/error.h"
#include "base/naming.h"
#include "base/nearest.h"

namespace etch {
namespace {

std::vector<CFile> read_files(const std::vector<std::filesystem::path>& paths) {
  std::vector<CFile> files;
  for (const std::filesystem::path& path : paths) {
    const std::string where = "--custom-file " + path.string(), name = path.filename().string();
    std::error_code bad;
    std::ifstream in(path, std::ios::binary);
    if (!in || std::filesystem::is_directory(path, bad)) throw UserError(where, "can't be read", "name a file of C that is there");
    if (!name.ends_with(".c") && !name.ends_with(".h"))
      throw UserError(where, "is neither NAME.c nor NAME.h", "give files of C, and the headers of yours that they include");
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
    if (found != nullptr && !found->is_static && !p.is_static)
      throw UserError(where, "the function is defined in " + found->file + " and in " + p.file, "keep one");
    if (found == nullptr || found->is_static) found = &p;
  }
  if (found == nullptr)
    throw UserError(where,
                    "no file of --custom-file defines the function" +
                        (names.empty() ? std::string() : "; they define " + nearest_text(binding.function, names)),
                    "name the C file that defines it: --custom-file FILE.c");
  return *found;
}

}  // namespace

std::vector<CustomOperator> read_custom_operators(const std::vector<std::filesystem::path>& files,
                                                  const std::vector<CustomBinding>& bindings) {
  if (bindings.empty() && files.empty()) return {};
  const std::vector<CFile> texts = read_files(files);
  const std::vector<Prototype> prototypes = read_prototypes(texts);
  for (const Prototype& p : prototypes)
    if (p.function == "main")
      throw UserError("--custom-file " + p.file, "it defines main, which programs that run the model have",
                      "move main to a file of its own");
  auto shared = std::make_shared<std::vector<ExternalFile>>();
  for (const CFile& file : texts) shared->push_back({file.name, file.text});
  std::vector<CustomOperator> customs;
  for (const CustomBinding& binding : bindings) {
    const auto dot = binding.op.rfind('.');
    CustomOperator custom{dot == std::string::npos ? "" : binding.op.substr(0, dot),
                          dot == std::string::npos ? binding.op : binding.op.substr(dot + 1), find_function(prototypes, binding), shared};
    if (custom.domain == "ai.onnx") custom.domain.clear();
    customs.push_back(std::move(custom));
  }
  return customs;
}

}  // namespace etch
