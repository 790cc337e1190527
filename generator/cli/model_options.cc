#include "cli/model_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/naming.h"
#include "base/tempdir.h"
#include "cli/project_paths.h"
#include "renderer/generate.h"

namespace etch {
namespace {

std::optional<std::int64_t> parse_int(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "batch=1" or "batch=1..16".
DimBinding parse_dim(const std::string& text) {
  const auto bad = [&](const std::string& what) {
    return CommandLineError("--dim " + text, what, "write NAME=N or NAME=A..B with 1 <= A <= B, for example --dim batch=1..16");
  };
  const auto equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) throw bad("has no name and value");
  const std::string_view value = std::string_view(text).substr(equals + 1);
  const auto dots = value.find("..");
  const auto low = parse_int(value.substr(0, dots));
  const auto high = dots == std::string_view::npos ? low : parse_int(value.substr(dots + 2));
  if (!low || !high) throw bad(fmt::format("'{}' is not a number or a range", value));
  if (*low < 1 || *high < *low || *high > (std::int64_t{1} << 31) - 1)
    throw bad(fmt::format("the range {} is empty, below 1 or above 2^31-1", value));
  return {text.substr(0, equals), *low, *high};
}

std::string options_text(const ModelArgs& args) {
  std::string text = "--target " + args.target;
  for (const std::string& dim : args.dims) text += " --dim " + dim;
  // The file without its folder: what is emitted is the same wherever it lies.
  for (const std::string& freeze : args.freeze) {
    const std::filesystem::path file = freeze.substr(freeze.find('=') + 1);
    text += " --freeze " + freeze.substr(0, freeze.find('=') + 1) + file.filename().string();
  }
  if (args.weights != "auto") text += " --weights " + args.weights;
  if (!args.optimize) text += " --no-optimize";
  return text;
}

Dump make_dump(const std::vector<std::string>& stages, Progress& progress) {
  for (const std::string& stage : stages)
    if (std::ranges::find(dump_stages(), stage) == dump_stages().end())
      throw CommandLineError("--dump " + stage, fmt::format("is no stage; the stages are {}", fmt::join(dump_stages(), ", ")),
                             "name some of them, separated by commas");
  return [stages, &progress](std::string_view stage, const std::function<std::string()>& text) {
    if (std::ranges::find(stages, stage) == stages.end()) return;
    progress.clear();
    fmt::print("==== {}\n{}\n", stage, text());
  };
}

}  // namespace

CompileOptions compile_options(const ModelArgs& args, Progress& progress) {
  CompileOptions options;
  options.import.path = args.model;
  if (!args.name.empty() && project_identifier(args.name) != args.name)
    throw UserError("--name " + args.name, "is no C identifier, too long, or a name that C or build systems have",
                    "use letters, digits and _, for example --name " + project_identifier(args.name));
  options.import.name = args.name;
  for (const std::string& text : args.dims) {
    DimBinding dim = parse_dim(text);
    if (std::ranges::find(options.import.dims, dim.name, &DimBinding::name) != options.import.dims.end())
      throw CommandLineError("--dim " + text, "is the second for '" + dim.name + "'", "give each dimension once");
    options.import.dims.push_back(std::move(dim));
  }
  options.import.freeze = args.freeze;
  options.target = find_target(args.target, target_dirs(args.targets_dir));
  if (!args.cc.empty()) options.target.toolchain.compilers = {args.cc};
  options.optimize = args.optimize;
  options.weights = weights_form(args.weights);
  options.tool_version = ETCH_VERSION;
  options.options_text = options_text(args);
  options.dump = make_dump(args.dump, progress);
  options.step = [&progress](std::string_view what, std::int64_t done, std::int64_t total) { progress.step(what, done, total); };
  return options;
}

VarValues variable_values(const std::vector<std::string>& sets, const ImportedModel& model) {
  VarValues values;
  for (const std::string& text : sets) {
    const auto equals = text.rfind('=');
    const std::string name = text.substr(0, equals);
    if (equals == std::string::npos || equals == 0)
      throw CommandLineError("--set " + text, "has no value", "write NAME=N, for example --set batch=3");
    const auto value = parse_int(std::string_view(text).substr(equals + 1));
    if (!value)
      throw CommandLineError("--set " + text, fmt::format("'{}' is no number", text.substr(equals + 1)),
                             "write NAME=N, for example --set batch=3");
    const auto dim = std::ranges::find_if(model.dims, [&](const ImportedDim& d) { return d.name == name || d.c_name == name; });
    if (dim == model.dims.end())
      throw UserError("--set " + text, fmt::format("the model has no variable dimension '{}'", name),
                      "leave it variable by --dim " + name + "=1..16");
    if (!values.emplace(dim->c_name, 0).second)
      throw CommandLineError("--set " + text, "is the second for '" + name + "'", "give each dimension once");
    const std::int64_t chosen = *value;
    if (chosen < dim->min || chosen > dim->max)
      throw UserError("--set " + text, fmt::format("the value lies outside {}..{}", dim->min, dim->max),
                      "choose a value in the range of --dim");
    values[dim->c_name] = chosen;
  }
  return values;
}

DeviceOptions device_options(const ModelArgs& args, const Target& target) {
  DeviceOptions options;
  options.cc = args.cc;
  options.runtime_dir = default_runtime_dir();
  options.prelude = prelude("opencl", {"all"});
  if (target.is_host() && args.cc.empty()) {
    const auto compiler =
        std::ranges::find_if(target.toolchain.compilers, [](const std::string& c) { return find_program(c).has_value(); });
    if (compiler != target.toolchain.compilers.end()) options.cc = *compiler;
    options.c_flags = {"-std=gnu11"};
    options.c_flags.insert(options.c_flags.end(), target.toolchain.flags.begin(), target.toolchain.flags.end());
  }
  return options;
}

std::vector<std::unique_ptr<Device>> devices_named(const std::vector<std::string>& names, const DeviceOptions& options) {
  const bool all = names == std::vector<std::string>{"all"};
  std::vector<std::unique_ptr<Device>> devices;
  for (const std::string& name : all ? device_names() : names) {
    auto device = make_device(name, options);
    if (device == nullptr)
      throw UserError("backend " + name, fmt::format("is unknown; the backends are {}", fmt::join(device_names(), ", ")),
                      "choose some of them, or all");
    std::string why;
    if (device->available(&why)) {
      devices.push_back(std::move(device));
    } else if (all) {
      fmt::print(stderr, "SKIPPED: backend {}: {}\n", name, why);
    } else {
      throw UserError("backend " + name, "is not available here: " + why, "install what it needs, or leave it out of --backends");
    }
  }
  return devices;
}

}  // namespace etch
