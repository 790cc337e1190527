#include "validate/data_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/nearest.h"
#include "driver/selftest.h"
#include "onnx/freeze.h"
#include "onnx/tensor_file.h"
#include "onnx/tensor_proto.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

// Values of the variables from the sizes that an array has; true if there were new ones.
bool bind(const Shape& shape, const std::vector<std::int64_t>& sizes, VarValues& vars) {
  const std::size_t before = vars.size();
  if (shape.size() != sizes.size()) return false;  // reported when the array is checked
  for (std::size_t i = 0; i < shape.size(); i++)
    if (const Node* node = shape[i].node(); node != nullptr && node->kind == NodeKind::Variable) vars.try_emplace(node->name, sizes[i]);
  return vars.size() > before;
}

// The file's array with the type and shape that `tensor` declares. `one_for_all`: a single element is broadcast as in numpy.
Array checked(const fs::path& file, Array array, const ImportedTensor& tensor, const VarValues& vars, bool one_for_all) {
  const std::vector<std::int64_t> shape = concrete_shape(tensor.shape, vars);
  // numpy has no bfloat16: test data made with it hold the bits as uint16.
  if (tensor.dtype == DType::BFloat16 && array.dtype() == DType::UInt16)
    array = Array(DType::BFloat16, array.shape(), {array.bytes().begin(), array.bytes().end()});
  if (one_for_all && array.dtype() == tensor.dtype && array.size() == 1 && array.shape() != shape)
    array = Array::filled(tensor.dtype, shape, array.at(0));
  if (array.dtype() != tensor.dtype || array.shape() != shape)
    throw UserError(file.string(),
                    fmt::format("is {} [{}], '{}' of the model is {} [{}]", name_of(array.dtype()), fmt::join(array.shape(), ","),
                                tensor.name, name_of(tensor.dtype), fmt::join(shape, ",")),
                    "give test data that was made for this model");
  return array;
}

std::vector<fs::path> folders_with_data(const fs::path& dir) {
  if (!fs::is_directory(dir)) throw UserError(dir.string(), "is not a folder", "give a folder with test_data_set_0, test_data_set_1, ...");
  std::vector<fs::path> folders = data_set_folders(dir);
  if (folders.empty() && fs::exists(dir / "input_0.pb")) folders = {dir};
  if (folders.empty())
    throw UserError(dir.string(), "holds no test_data_set_N and no input_0.pb", "give a folder in the layout of the ONNX backend tests");
  return folders;
}

void require_in_range(const ImportedDim& dim, std::int64_t value, const std::string& place) {
  if (value < dim.min || value > dim.max)
    throw UserError(place, fmt::format("has size {} for dimension '{}', the model was given {}..{}", value, dim.name, dim.min, dim.max),
                    "widen the range of --dim");
}

// The shape in a .npy or .pb; nullopt for raw bytes, which have none.
std::optional<std::vector<std::int64_t>> shape_of_file(const fs::path& file) {
  try {
    if (file.extension() == ".npy") return read_npy(file).shape();
    if (file.extension() == ".pb") return read_tensor_file(file).array.shape();
  } catch (const UserError&) {  // thrown again, with more detail, when the array is read
  }
  return std::nullopt;
}

std::size_t input_named(const ImportedModel& model, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find_if(model.inputs, [&](const auto& in) { return in.name == name || in.c_name == name; }) -
                                  model.inputs.begin());
}

// One --input argument: "FILE", or "NAME=FILE" if NAME (which may contain '=' too) is an input.
struct InputFile {
  std::size_t input;
  fs::path file;
};

InputFile input_file(const ImportedModel& model, const std::string& text, std::size_t next) {
  const auto first = text.find('=');
  for (auto equals = first; equals != std::string::npos; equals = text.find('=', equals + 1))
    if (const std::size_t i = input_named(model, std::string_view(text).substr(0, equals)); i < model.inputs.size())
      return {i, text.substr(equals + 1)};
  if (first == std::string::npos || fs::is_regular_file(text)) return {next, text};
  for (const FrozenTensor& frozen : model.frozen)
    if (text.starts_with(frozen.name + "="))
      throw UserError("--input " + text, fmt::format("input '{}' is frozen: it is no input of the model any more", frozen.name),
                      "leave it out, or leave out its --freeze");
  std::vector<std::string> names;
  for (const auto& in : model.inputs) names.push_back(in.name);
  throw UserError(
      "--input " + text,
      fmt::format("the model has no input '{}'; its inputs are {}", text.substr(0, first), nearest_text(text.substr(0, first), names)),
      "name one of them, --input NAME=FILE");
}

// The files of --input, by input.
std::vector<fs::path> files_by_input(const ImportedModel& model, const std::vector<std::string>& files) {
  std::vector<fs::path> by_input(model.inputs.size());
  std::size_t next = 0;
  for (const std::string& text : files) {
    const auto [i, file] = input_file(model, text, next);
    const std::string place = "--input " + text;
    if (file.empty()) throw UserError(place, "names no file", "write --input FILE or --input NAME=FILE");
    if (i >= model.inputs.size())
      throw UserError(place, fmt::format("there are more inputs than the {} of the model", model.inputs.size()),
                      "name them: --input NAME=FILE");
    if (!by_input[i].empty())
      throw UserError(place, fmt::format("input '{}' is given already: {}", model.inputs[i].name, by_input[i].string()),
                      "give each input once; an --input without a name is for the input behind the one before");
    by_input[i] = file;
    next = i + 1;
  }
  return by_input;
}

// One more than the largest K of `dir`'s files input_K.pb (or output_K.pb): their number if none is missing.
std::size_t count_files(const fs::path& dir, const char* what) {
  const std::string prefix = std::string(what) + "_";
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(dir)) {
    const std::string name = entry.path().filename().string(), number = entry.path().stem().string();
    if (!name.starts_with(prefix) || !name.ends_with(".pb")) continue;
    const std::string_view digits = std::string_view(number).substr(prefix.size());
    std::size_t k = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), k);
    if (error == std::errc() && end == digits.data() + digits.size()) count = std::max(count, k + 1);
  }
  return count;
}

// UserError if there are more files than the model has inputs (or outputs): they belong to another model or another version of it.
void refuse_surplus(const fs::path& dir, const char* what, std::size_t files, std::size_t count) {
  if (files <= count) return;
  throw UserError((dir / fmt::format("{}_{}.pb", what, files - 1)).string(),
                  fmt::format("the model has {} {}{}", count, what, count == 1 ? "" : "s"), "give test data that was made for this model");
}

// Test data that were made for the original model may also hold inputs that are frozen now; their values must then be the frozen ones.
void require_frozen(const fs::path& dir, const ImportedModel& model) {
  for (const FrozenTensor& frozen : model.frozen) {
    const fs::path file = dir / fmt::format("input_{}.pb", frozen.position);
    if (!fs::exists(file)) continue;
    const ImportedTensor declared{frozen.name, {}, frozen.value.dtype(), {frozen.value.shape().begin(), frozen.value.shape().end()}, {}};
    const Array array = checked(file, read_tensor_file(file).array, declared, {}, true);
    if (std::ranges::equal(array.bytes(), frozen.value.bytes())) continue;
    throw UserError(file.string(), fmt::format("differs from what '{}' is frozen to, {}", frozen.name, frozen.file.string()),
                    "freeze what the test data hold, or take the file away");
  }
}

DataSet read_set(const fs::path& dir, const ImportedModel& model) {
  DataSet set{dir.filename().string(), {}, {}, {}};
  const std::size_t left = model.inputs.size(), files = count_files(dir, "input");
  refuse_surplus(dir, "input", files, left + model.frozen.size());
  refuse_surplus(dir, "output", count_files(dir, "output"), model.outputs.size());
  if (files > left) require_frozen(dir, model);
  std::vector<std::size_t> positions;
  for (const FrozenTensor& frozen : model.frozen) positions.push_back(frozen.position);
  const auto file_of = [&](std::size_t i) { return dir / fmt::format("input_{}.pb", data_number(i, files, left, positions)); };
  std::vector<Array> raw;
  for (std::size_t i = 0; i < model.inputs.size(); i++) {
    raw.push_back(read_tensor_file(file_of(i)).array);
    bind(model.inputs[i].shape, raw.back().shape(), set.vars);
  }
  for (const ImportedDim& dim : model.dims) {
    const std::int64_t value = set.vars.try_emplace(dim.c_name, dim.max).first->second;
    require_in_range(dim, value, dir.string());
  }
  for (std::size_t i = 0; i < raw.size(); i++) set.inputs.push_back(checked(file_of(i), raw[i], model.inputs[i], set.vars, true));
  for (std::size_t i = 0; i < model.outputs.size(); i++) {
    const fs::path file = dir / fmt::format("output_{}.pb", i);
    if (fs::exists(file)) set.expected.push_back(checked(file, read_tensor_file(file).array, model.outputs[i], set.vars, false));
  }
  if (!set.expected.empty() && set.expected.size() != model.outputs.size())
    throw UserError(dir.string(), fmt::format("has {} of the model's {} outputs", set.expected.size(), model.outputs.size()),
                    "give output_K.pb for each output, or for none");
  return set;
}

// The values of one variable to test with.
std::vector<std::int64_t> values_to_try(std::int64_t min, std::int64_t max) {
  std::set<std::int64_t> values;
  if (max - min < 16)
    for (std::int64_t v = min; v <= max; v++) values.insert(v);
  else
    values = {min, min + 1, min + (max - min) / 3, min + (max - min) / 2, max - 1, max};
  return {values.begin(), values.end()};
}

}  // namespace

std::vector<fs::path> data_set_folders(const fs::path& dir) {
  std::vector<std::pair<long, fs::path>> found;
  const std::string prefix = "test_data_set_";
  for (const auto& entry : fs::directory_iterator(dir)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_directory() || !name.starts_with(prefix)) continue;
    const std::string number = name.substr(prefix.size());
    if (!number.empty() && number.size() < 9 && std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; }))
      found.emplace_back(std::stol(number), entry.path());
  }
  std::ranges::sort(found);
  std::vector<fs::path> folders;
  for (auto& [number, path] : found) folders.push_back(std::move(path));
  return folders;
}

std::vector<std::int64_t> concrete_shape(const Shape& shape, const VarValues& vars) {
  std::vector<std::int64_t> result;
  for (const Sint& d : shape) result.push_back(evaluate(d, vars));
  return result;
}

std::vector<DataSet> read_data_sets(const fs::path& dir, const ImportedModel& model) {
  std::vector<DataSet> sets;
  for (const fs::path& folder : folders_with_data(dir)) sets.push_back(read_set(folder, model));
  return sets;
}

std::vector<std::vector<std::vector<std::int64_t>>> shapes_in_data_sets(const fs::path& dir) {
  std::vector<std::vector<std::vector<std::int64_t>>> sets;
  for (const fs::path& folder : folders_with_data(dir)) {
    auto& shapes = sets.emplace_back();
    for (std::size_t i = 0, files = count_files(folder, "input"); i < files; i++)
      shapes.push_back(shape_of_file(folder / fmt::format("input_{}.pb", i)).value_or(std::vector<std::int64_t>()));
  }
  return sets;
}

DataSet data_set_of_files(const ImportedModel& model, const std::vector<std::string>& files, const VarValues& vars, std::uint64_t seed) {
  const std::vector<fs::path> by_input = files_by_input(model, files);
  DataSet set{files.empty() ? "random" : "files", vars, {}, {}};
  const auto require_all_in_range = [&](const std::string& place) {
    for (const ImportedDim& dim : model.dims)
      if (const auto value = set.vars.find(dim.c_name); value != set.vars.end()) require_in_range(dim, value->second, place);
  };
  for (std::size_t i = 0; i < model.inputs.size(); i++) {
    const auto shape = shape_of_file(by_input[i]);
    if (shape && bind(model.inputs[i].shape, *shape, set.vars)) require_all_in_range(by_input[i].string());
  }
  for (const ImportedDim& dim : model.dims) set.vars.try_emplace(dim.c_name, dim.max);
  for (std::size_t i = 0; i < model.inputs.size(); i++) {
    const ImportedTensor& input = model.inputs[i];
    const auto shape = concrete_shape(input.shape, set.vars);
    set.inputs.push_back(by_input[i].empty() ? input_within(input, random_array(input.dtype, shape, seed + i))
                                             : read_tensor_file(by_input[i], input.dtype, shape));
    if (by_input[i].empty()) set.random.push_back(input.name);
  }
  return set;
}

std::vector<DataSet> random_data_sets(const ImportedModel& model, std::uint64_t seed) {
  std::vector<VarValues> assignments{{}};
  for (const ImportedDim& dim : model.dims) {
    std::vector<VarValues> more;
    for (const VarValues& vars : assignments)
      for (std::int64_t value : values_to_try(dim.min, dim.max)) {
        more.push_back(vars);
        more.back()[dim.c_name] = value;
      }
    assignments = std::move(more);
  }
  std::vector<DataSet> sets;
  for (const VarValues& vars : assignments) {
    sets.push_back(data_set_of_files(model, {}, vars, seed));
    for (const auto& [name, value] : vars) sets.back().name += fmt::format(", {} {}", name, value);
  }
  return sets;
}

}  // namespace etch
