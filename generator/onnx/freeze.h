// Graph inputs that become constants: axes, shapes, pads and sizes that a model takes as inputs, given by files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/array.h"

namespace etch {

/// Reads "NAME=FILE" texts: the file of each named input. UserError for a name that is not among `inputs` (it lists them, the nearest
/// first), the name of an initializer, a second file for one input, and a text that is not NAME=FILE. Names and paths may contain '='.
std::map<std::string, std::filesystem::path> freeze_files(const std::vector<std::string>& freeze, const std::vector<std::string>& inputs,
                                                          const std::set<std::string>& initializers);

/// The file's elements with the type and sizes that the input declares; a size of -1 is taken from the file. A raw file can decide at
/// most one size. UserError at --freeze if type or shape differ.
Array read_frozen(const std::string& input, const std::filesystem::path& file, DType dtype, std::vector<std::int64_t> sizes);

/// "axes=axes.npy": the argument of --freeze that makes the input a constant, quoted for a shell if its name needs it.
std::string freeze_argument(const std::string& input);

/// The number K of the file input_K.pb of a test data set that belongs to input `index` of the `left` inputs that are not frozen.
/// `files` is the number of such files. A data set made for the original model has files for the frozen inputs too, at positions
/// `frozen` (ascending, among all inputs). One made for the frozen model has none, which is seen by `files` <= `left`.
std::size_t data_number(std::size_t index, std::size_t files, std::size_t left, const std::vector<std::size_t>& frozen);

}  // namespace etch
