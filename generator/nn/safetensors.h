// Files of named arrays in Hugging Face's format safetensors: eight bytes with the length of a header, a JSON object with type, shape and
// place of each, then their bytes, little-endian.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "ir/array.h"

namespace etch::nn {

using NamedArrays = std::vector<std::pair<std::string, Array>>;

/// In the order of the file's bytes. UserError if the file can't be read, is cut short or longer than it says, has a type that etch has
/// not, bytes that belong to two arrays or to none, or a shape that does not fit the bytes.
NamedArrays read_safetensors(const std::filesystem::path& file);
/// Written whole or not at all: the same arrays give the same bytes. UserError if that fails or a name is there twice.
void write_safetensors(const std::filesystem::path& file, const NamedArrays& arrays);

}  // namespace etch::nn
