#include "onnx/input_sizes.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>

#include "base/error.h"
#include "base/nearest.h"

namespace etch {
namespace {

using onnx::GraphProto;

std::string place_name(const std::string& input, int axis) { return input + "[" + std::to_string(axis) + "]"; }

/// Whether a dim_param names a dimension: exporters also write "?" or "None", on several axes of different sizes.
bool is_dimension_name(const std::string& text) {
  constexpr std::string_view kNoNames[] = {"none", "null", "unk", "unknown", "undefined", "dynamic", "any"};
  std::string lower;
  for (char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const bool has_letter = std::ranges::any_of(lower, [](char c) { return std::isalpha(static_cast<unsigned char>(c)) || (c & 0x80) != 0; });
  return has_letter && std::ranges::find(kNoNames, lower) == std::end(kNoNames);
}

InputAxis axis_of(const onnx::TensorShapeProto_Dimension& dim, const std::string& input, int axis) {
  InputAxis result{input, axis, place_name(input, axis), "", std::nullopt};
  if (dim.has_dim_value()) {
    result.declared = std::to_string(dim.dim_value());
    if (dim.dim_value() >= 0) result.fixed = dim.dim_value();
  } else if (!dim.dim_param().empty()) {
    result.declared = dim.dim_param();
    if (is_dimension_name(dim.dim_param())) result.dim = dim.dim_param();
  }
  return result;
}

/// "x[2]" as input and axis; nullopt for other texts.
std::optional<std::pair<std::string, int>> parse_place(const std::string& name) {
  const std::size_t open = name.rfind('[');
  if (open == std::string::npos || open == 0 || !name.ends_with(']')) return std::nullopt;
  int axis = 0;
  const char* const last = name.data() + name.size() - 1;
  const auto [end, error] = std::from_chars(name.data() + open + 1, last, axis);
  if (error != std::errc() || end != last || axis < 0) return std::nullopt;
  return std::pair(name.substr(0, open), axis);
}

std::string shape_text(const std::vector<InputAxis>& axes) {
  std::string text;
  for (const InputAxis& a : axes) text += (a.axis == 0 ? "" : ",") + (a.declared.empty() ? std::string("?") : a.declared);
  return "[" + text + "]";
}

bool same(const SizeRange& a, const SizeRange& b) { return a.min == b.min && a.max == b.max; }

}  // namespace

std::string range_text(const SizeRange& range) {
  return std::to_string(range.min) + (range.max == range.min ? "" : ".." + std::to_string(range.max));
}

std::string dim_option(const std::string& dim, const std::string& value) {
  const std::string text = dim + "=" + value;
  const bool plain = std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("_-.=/:,").find(c) != std::string_view::npos;
  });
  if (plain) return "--dim " + text;
  std::string quoted;
  for (char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return "--dim '" + quoted + "'";
}

std::int64_t InputAxis::example(int rank, int choice) const {
  constexpr std::int64_t kBatch[] = {1, 2}, kImage[] = {224, 160}, kOther[] = {16, 24};
  return axis == 0 && rank > 1 ? kBatch[choice] : rank >= 4 && axis >= 2 ? kImage[choice] : kOther[choice];
}

InputSizes::InputSizes(const ImportOptions& options, const GraphProto& graph, const std::set<std::string>& initializers,
                       const std::string& place)
    : place_(place) {
  for (const auto& info : graph.input()) {
    if (initializers.contains(info.name())) continue;
    inputs_.push_back(info.name());
    const auto& type = info.type().tensor_type();
    if (type.has_shape()) {
      auto& axes = axes_[info.name()];
      axes.clear();
      for (int axis = 0; axis < type.shape().dim_size(); axis++) axes.push_back(axis_of(type.shape().dim(axis), info.name(), axis));
      continue;
    }
    const auto given = std::ranges::find(options.shapes, info.name(), &ShapeBinding::input);
    if (given == options.shapes.end()) continue;
    auto& axes = axes_[info.name()];
    for (int axis = 0; axis < static_cast<int>(given->sizes.size()); axis++)
      axes.push_back({info.name(), axis, place_name(info.name(), axis), "", std::nullopt});
  }
  for (const DimBinding& binding : options.dims) bind_dim(binding);
  for (const ShapeBinding& binding : options.shapes) bind_shape(binding);
}

const std::vector<InputAxis>* InputSizes::axes(const std::string& input) const {
  const auto found = axes_.find(input);
  return found == axes_.end() ? nullptr : &found->second;
}

std::optional<DimBinding> InputSizes::binding(const InputAxis& axis) const {
  const auto found = bound_.find(axis.dim);
  if (found == bound_.end()) return std::nullopt;
  return DimBinding{axis.dim, found->second.range.min, found->second.range.max};
}

void InputSizes::bind_dim(const DimBinding& binding) {
  const SizeRange range{binding.min, binding.max};
  const std::string by = "--dim " + binding.name + "=" + range_text(range);
  for (const InputAxis* axis : axes_called(binding.name, by)) bind_axis(*axis, range, by);
}

void InputSizes::bind_shape(const ShapeBinding& binding) {
  std::string by = "--shape " + binding.input + "=";
  for (std::size_t i = 0; i < binding.sizes.size(); i++) by += (i == 0 ? "" : ",") + range_text(binding.sizes[i]);
  if (std::ranges::find(inputs_, binding.input) == inputs_.end())
    throw UserError(by, "the model has no input '" + binding.input + "'", "its inputs: " + nearest_text(binding.input, inputs_));
  const std::vector<InputAxis>& axes = axes_.at(binding.input);
  if (axes.size() != binding.sizes.size())
    throw UserError(by,
                    "it has " + std::to_string(binding.sizes.size()) + " sizes, the input has " + std::to_string(axes.size()) +
                        " axes: " + shape_text(axes),
                    "give one size for each axis");
  for (std::size_t i = 0; i < axes.size(); i++) bind_axis(axes[i], binding.sizes[i], by);
}

void InputSizes::bind_axis(const InputAxis& axis, const SizeRange& range, const std::string& by) {
  // An empty input is of no use: 0 is how some exporters write an open size.
  if (axis.fixed && *axis.fixed > 0) {
    if (same(range, {*axis.fixed, *axis.fixed})) return;
    throw UserError(by, "the model fixes the size of '" + axis.input + "' at axis " + std::to_string(axis.axis) + " at " + axis.declared,
                    "leave it as it is, or export the model with an open size there");
  }
  const auto [entry, fresh] = bound_.try_emplace(axis.dim, Bound{range, by});
  if (fresh || same(entry->second.range, range)) return;
  throw UserError(by,
                  "it gives dimension '" + axis.dim + "' (axis " + std::to_string(axis.axis) + " of '" + axis.input + "') the size " +
                      range_text(range) + ", " + entry->second.by + " gives it " + range_text(entry->second.range),
                  "give each size once; axes of one name have one size");
}

std::vector<const InputAxis*> InputSizes::axes_called(const std::string& name, const std::string& by) const {
  std::vector<const InputAxis*> result;
  for (const auto& [input, axes] : axes_)
    for (const InputAxis& axis : axes)
      if (!axis.fixed && axis.declared == name) result.push_back(&axis);
  if (!result.empty()) return result;
  const auto place = parse_place(name);
  if (!place || std::ranges::find(inputs_, place->first) == inputs_.end()) fail_unknown(name);
  const auto found = axes_.find(place->first);
  if (found == axes_.end())
    throw UserError(by, "the model gives no shape of '" + place->first + "'", "give all of it: --shape " + place->first + "=1,3,224,224");
  if (place->second >= static_cast<int>(found->second.size()))
    throw UserError(
        by, "'" + place->first + "' has " + std::to_string(found->second.size()) + " axes, counted from 0: " + shape_text(found->second),
        "name one of them");
  return {&found->second[static_cast<std::size_t>(place->second)]};
}

void InputSizes::fail_unknown(const std::string& name) const {
  std::vector<std::string> open;
  for (const std::string& input : inputs_)
    if (const auto* all = axes(input))
      for (const InputAxis& axis : *all)
        if (!axis.fixed && std::ranges::find(open, axis.dim) == open.end()) open.push_back(axis.dim);
  throw UserError(
      place_, "no dimension is called '" + name + "'",
      open.empty() ? "all sizes of the model are fixed: leave --dim out" : "the model's dimensions: " + nearest_text(name, open));
}

}  // namespace etch
