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

/// What "NAME=FILE" says, by input. UserError for a name that is not among `inputs` (it lists them, the nearest first), one of an
/// initializer, a second file for one input, and text that is not NAME=FILE. Names and paths may both hold a '='.
std::map<std::string, std::filesystem::path> freeze_files(const std::vector<std::string>& freeze, const std::vector<std::string>& inputs,
                                                          const std::set<std::string>& initializers);

/// The file's elements as the input declares them: `sizes` with -1 where the file decides. A raw file decides at most one.
/// UserError, at --freeze, if type or shape differ.
Array read_frozen(const std::string& input, const std::filesystem::path& file, DType dtype, std::vector<std::int64_t> sizes);

/// "axes=axes.npy": what stands behind --freeze to make the input a constant, quoted for a shell where its name needs it.
std::string freeze_argument(const std::string& input);

/// The number K of input_K.pb that belongs to input `index` of those that are left, where test data have `files` of them.
/// Made for the model's file they have one for each frozen input too (at `frozen`, ascending, among all inputs); made for the
/// model as it is now they have none: then there are no more of them than the `left` inputs.
std::size_t data_number(std::size_t index, std::size_t files, std::size_t left, const std::vector<std::size_t>& frozen);

}  // namespace etch
