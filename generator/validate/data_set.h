// The inputs of a run and, if another program computed them, its expected outputs.
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
  std::vector<Array> inputs;             // in the model's order
  std::vector<Array> expected;           // outputs, in the model's order; empty: not known, the reference computes them
  std::vector<std::string> random = {};  // names of the inputs that were not given and are random
};

/// `dir`'s folders test_data_set_N, by N.
std::vector<std::filesystem::path> data_set_folders(const std::filesystem::path& dir);

/// Reads `dir`'s folders test_data_set_N in the order of N, or `dir` itself if it holds input_0.pb. The size of a variable dimension
/// is taken from the first input that has it. Throws UserError that names the file, also for a file of an input or output that the
/// model does not have.
std::vector<DataSet> read_data_sets(const std::filesystem::path& dir, const ImportedModel& model);

/// The shapes of the inputs in those folders, [set][input], for ImportOptions::examples.
std::vector<std::vector<std::vector<std::int64_t>>> shapes_in_data_sets(const std::filesystem::path& dir);

/// Random inputs: one set for each combination of sizes of the variable dimensions. Of a dimension all values are tried if there are up
/// to 16, else the smallest, the largest and some in between.
std::vector<DataSet> random_data_sets(const ImportedModel& model, std::uint64_t seed);

/// Reads inputs from "FILE" (for the input after the last one given) or "NAME=FILE"; inputs that are not given are random. A variable
/// that `vars` lacks is taken from the shapes in the files (.npy and .pb), else it gets its largest value.
DataSet data_set_of_files(const ImportedModel& model, const std::vector<std::string>& files, const VarValues& vars, std::uint64_t seed);

/// The shape with the variables' values.
std::vector<std::int64_t> concrete_shape(const Shape& shape, const VarValues& vars);

}  // namespace etch
