#include "onnx/freeze.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/naming.h"
#include "base/nearest.h"
#include "onnx/tensor_file.h"
#include "onnx/tensor_proto.h"

namespace etch {
namespace {

struct Named {
  std::string name;
  std::filesystem::path file;
};

/// Splits "NAME=FILE" at the first '=' that follows a name of `names`, else at the first '='.
Named split(const std::string& text, const std::vector<std::string>& names) {
  const std::size_t first = text.find('=');
  if (first == std::string::npos || first == 0 || first + 1 == text.size())
    throw UserError("--freeze " + text, "it is not a name and a file", "write --freeze NAME=FILE, for example --freeze axes=axes.npy");
  for (std::size_t at = first; at != std::string::npos; at = text.find('=', at + 1)) {
    if (std::ranges::find(names, text.substr(0, at)) != names.end()) return {text.substr(0, at), text.substr(at + 1)};
  }
  return {text.substr(0, first), text.substr(first + 1)};
}

/// `sizes` with the open ones taken from `found`, the shape of a .npy or .pb, if that has as many axes.
std::vector<std::int64_t> with_sizes_of_file(std::vector<std::int64_t> sizes, const std::vector<std::int64_t>& found) {
  if (found.size() != sizes.size())
    throw UserError("", "it has " + std::to_string(found.size()) + " axes, the input has " + std::to_string(sizes.size()),
                    "reshape what the file holds");
  for (std::size_t i = 0; i < sizes.size(); i++) {
    if (sizes[i] < 0) sizes[i] = found[i];
  }
  return sizes;
}

/// `sizes` with its one open size set so that the array has as many bytes as the raw file.
std::vector<std::int64_t> with_size_of_raw(const std::filesystem::path& file, DType dtype, std::vector<std::int64_t> sizes) {
  std::error_code error;
  const auto length = static_cast<std::int64_t>(std::filesystem::file_size(file, error));
  std::int64_t bytes = bytes_of(dtype);
  for (std::int64_t size : sizes) bytes *= std::max<std::int64_t>(size, 1);
  if (std::ranges::count(sizes, -1) > 1)
    throw UserError("", "raw elements have no shape, and the input leaves more than one size open",
                    "give a .npy or a TensorProto .pb, or the sizes by --dim");
  if (error) return sizes;  // the error is reported when the file is read
  if (length % bytes != 0)
    throw UserError("",
                    "it has " + std::to_string(length) + " bytes, no multiple of the " + std::to_string(bytes) + " that its input needs",
                    "give raw elements of the input's type, a .npy or a TensorProto .pb");
  std::ranges::replace(sizes, std::int64_t{-1}, length / bytes);
  return sizes;
}

}  // namespace

std::map<std::string, std::filesystem::path> freeze_files(const std::vector<std::string>& freeze, const std::vector<std::string>& inputs,
                                                          const std::set<std::string>& initializers) {
  std::map<std::string, std::filesystem::path> files;
  for (const std::string& text : freeze) {
    const Named named = split(text, inputs);
    if (initializers.contains(named.name))
      throw UserError("--freeze " + text, "'" + named.name + "' is an initializer of the model: a constant already", "leave it out");
    if (std::ranges::find(inputs, named.name) == inputs.end())
      throw UserError("--freeze " + text, "the model has no input '" + named.name + "'",
                      inputs.empty() ? "it has no inputs at all" : "its inputs: " + nearest_text(named.name, inputs));
    if (!files.emplace(named.name, named.file).second)
      throw UserError("--freeze " + text, "input '" + named.name + "' is frozen already: " + files.at(named.name).string(),
                      "freeze each input once");
  }
  return files;
}

Array read_frozen(const std::string& input, const std::filesystem::path& file, DType dtype, std::vector<std::int64_t> sizes) {
  try {
    const std::string ending = file.extension().string();
    const bool open = std::ranges::find(sizes, -1) != sizes.end();
    if (ending == ".npy")
      sizes = with_sizes_of_file(std::move(sizes), read_npy(file).shape());
    else if (ending == ".pb")
      sizes = with_sizes_of_file(std::move(sizes), read_tensor_file(file).array.shape());
    else if (open)
      sizes = with_size_of_raw(file, dtype, std::move(sizes));
    return read_tensor_file(file, dtype, sizes);
  } catch (const UserError& error) {
    throw UserError("--freeze " + input + "=" + file.string(), error.problem(), error.help());
  }
}

std::string freeze_argument(const std::string& input) {
  const std::string text = input + "=" + c_identifier(input) + ".npy";
  const bool plain = std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("_-.:/=,+@%").find(c) != std::string_view::npos;
  });
  if (plain) return text;
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::size_t data_number(std::size_t index, std::size_t files, std::size_t left, const std::vector<std::size_t>& frozen) {
  if (files <= left) return index;
  for (std::size_t position : frozen) {
    if (position <= index) index++;
  }
  return index;
}

}  // namespace etch
