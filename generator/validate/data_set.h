// Inputs of a run and, where somebody else computed them, the outputs it should have.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "interp/interp.h"
#include "ir/array.h"
#include "onnx/import.h"

namespace etch {

struct DataSet {
  std::string name;                      // "test_data_set_0", "random, batch 3"
  VarValues vars;                        // a value for each dimension that stays variable
  std::vector<Array> inputs;             // in the order of the model's
  std::vector<Array> expected;           // the same of the outputs; empty: only the reference knows
  std::vector<std::string> random = {};  // names of the inputs that nobody gave
};

/// `dir`'s folders test_data_set_N, by N.
std::vector<std::filesystem::path> data_set_folders(const std::filesystem::path& dir);

/// `dir`'s folders test_data_set_N in the order of N, or `dir` itself if it holds input_0.pb. The size of a variable dimension
/// is what the first input with it has. Throws UserError that names the file; a file for an input or output that the model does not
/// have is one too.
std::vector<DataSet> read_data_sets(const std::filesystem::path& dir, const ImportedModel& model);

/// The shapes of the inputs in those folders, [set][input], for ImportOptions::examples.
std::vector<std::vector<std::vector<std::int64_t>>> shapes_in_data_sets(const std::filesystem::path& dir);

/// Random inputs: one set; with variable dimensions one for each of up to 16 values, else smallest, largest and some between.
std::vector<DataSet> random_data_sets(const ImportedModel& model, std::uint64_t seed);

/// From "FILE" (of the input behind the last one given) or "NAME=FILE"; inputs that are not given are random. A variable that `vars` lacks
/// is what the files have (.npy and .pb know their shape), else at its largest.
DataSet data_set_of_files(const ImportedModel& model, const std::vector<std::string>& files, const VarValues& vars, std::uint64_t seed);

/// The shape with the variables' values.
std::vector<std::int64_t> concrete_shape(const Shape& shape, const VarValues& vars);

}  // namespace etch
