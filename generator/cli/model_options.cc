#include "cli/model_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/naming.h"
#include "base/nearest.h"
#include "base/tempdir.h"
#include "driver/custom.h"
#include "emulator/processor.h"

namespace etch {
namespace {

std::optional<std::int64_t> parse_int(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "1" or "1..16".
template <class Bad>
SizeRange parse_range(std::string_view value, const Bad& bad) {
  const auto dots = value.find("..");
  const auto low = parse_int(value.substr(0, dots));
  const auto high = dots == std::string_view::npos ? low : parse_int(value.substr(dots + 2));
  if (!low || !high) throw bad(fmt::format("'{}' is not a number or a range", value));
  if (*low < 1 || *high < *low || *high > (std::int64_t{1} << 31) - 1)
    throw bad(fmt::format("the range {} is empty, below 1 or above 2^31-1", value));
  return {*low, *high};
}

// "batch=1", "x[2]=48" or "batch=1..16".
DimBinding parse_dim(const std::string& text) {
  const auto bad = [&](const std::string& what) {
    return CommandLineError("--dim " + text, what, "write NAME=N or NAME=A..B with 1 <= A <= B, for example --dim batch=1..16");
  };
  const auto equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) throw bad("has no name and value");
  const SizeRange range = parse_range(std::string_view(text).substr(equals + 1), bad);
  return {text.substr(0, equals), range.min, range.max};
}

// "x=1,3,48,160..640"; "x=" is the shape of a scalar.
ShapeBinding parse_shape(const std::string& text) {
  const auto bad = [&](const std::string& what) {
    return CommandLineError("--shape " + text, what,
                            "write INPUT=N,N,... with a number or a range A..B for each axis, for example --shape x=1,3,48,160..640");
  };
  const auto equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) throw bad("has no input and sizes");
  ShapeBinding shape{text.substr(0, equals), {}};
  std::string_view rest = std::string_view(text).substr(equals + 1);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    shape.sizes.push_back(parse_range(rest.substr(0, comma), bad));
    if (comma == rest.size() - 1) throw bad("ends with a comma");
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  return shape;
}

// "h_in=h_out", split at the first =.
StateBinding parse_state(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw CommandLineError("--state " + text, "has no input and output", "write INPUT=OUTPUT, for example --state h_in=h_out");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

// "com.example.Leaky=leaky".
CustomBinding parse_custom(const std::string& text) {
  const auto equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw CommandLineError("--custom " + text, "has no operator and function",
                           "write DOMAIN.OPERATOR=FUNCTION, for example --custom com.example.Leaky=leaky");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::vector<CustomOperator> custom_operators(const ModelArgs& args) {
  std::vector<CustomBinding> bindings;
  for (const std::string& text : args.customs) {
    bindings.push_back(parse_custom(text));
    if (std::ranges::count(bindings, bindings.back().op, &CustomBinding::op) > 1)
      throw CommandLineError("--custom " + text, "is the second for '" + bindings.back().op + "'", "give each operator once");
  }
  return read_custom_operators(args.custom_files, bindings);
}

std::string options_text(const ModelArgs& args) {
  std::string text = "--target " + args.target;
  for (const std::string& dim : args.dims) text += " --dim " + dim;
  // The file name without its folder, so that the emitted text does not depend on where the file is.
  for (const std::string& freeze : args.freeze) {
    const std::filesystem::path file = freeze.substr(freeze.find('=') + 1);
    text += " --freeze " + freeze.substr(0, freeze.find('=') + 1) + file.filename().string();
  }
  for (const std::string& shape : args.shapes) text += " --shape " + shape;
  for (const std::string& state : args.states) text += " --state " + state;
  for (const std::string& custom : args.customs) text += " --custom " + custom;
  for (const std::filesystem::path& file : args.custom_files) text += " --custom-file " + file.filename().string();
  if (args.weights != "auto") text += " --weights " + args.weights;
  if (args.goal != "speed") text += " --optimize " + args.goal;
  if (args.winograd != "auto") text += " --winograd " + args.winograd;
  if (!args.tuning.empty()) text += " --tuning " + std::filesystem::path(args.tuning).filename().string();
  if (!args.optimize) text += " --no-optimize";
  if (args.workers > 1) text += fmt::format(" --workers {}", args.workers);
  if (args.io_in_arena) text += " --io-in-arena";
  return text;
}

Dump make_dump(const std::vector<std::string>& stages, Progress& progress) {
  for (const std::string& stage : stages)
    if (std::ranges::find(dump_stages(), stage) == dump_stages().end())
      throw CommandLineError("--dump " + stage, "is no stage; the stages are " + nearest_text(stage, dump_stages()),
                             "name some of them, separated by commas");
  return [stages, &progress](std::string_view stage, const std::function<std::string()>& text) {
    if (std::ranges::find(stages, stage) == stages.end()) return;
    progress.clear();
    fmt::print("==== {}\n{}\n", stage, text());
  };
}

std::string variables_help(const std::string& name, const ImportedModel& model) {
  std::vector<std::string> names;
  for (const ImportedDim& dim : model.dims) names.push_back(dim.name);
  return names.empty() ? "no size is variable; a range leaves one so: --dim " + name + "=1..16"
                       : "its variable dimensions: " + nearest_text(name, names);
}

}  // namespace

CompileOptions compile_options(const ModelArgs& args, Progress& progress) {
  CompileOptions options = options_naming_tables(args, progress);
  read_tables(options);
  return options;
}

namespace {

std::optional<Winograd> winograd_option(const ModelArgs& args) {
  if (args.winograd == "auto") return std::nullopt;
  if (args.winograd == "off") return Winograd::Off;
  if (args.goal == "flash")
    throw CommandLineError("--winograd " + args.winograd, "can't go with --optimize flash, as it takes larger weights",
                           "leave one of the two out");
  return args.winograd == "1d" ? Winograd::OneAxis : Winograd::TwoAxes;
}

void require_sharable(const ModelArgs& args, const Target& target) {
  if (args.workers <= 1) return;
  const std::string option = fmt::format("--workers {}", args.workers);
  if (args.goal == "ram")
    throw CommandLineError(option, "can't go with --optimize ram, whose results lie over what another worker still reads",
                           "leave one of the two out");
  if (language_of(target).grid)
    throw UserError(option, fmt::format("the kernels of target {} run on a device, whose own work-items share them", target.name),
                    "leave it out, or choose a target with kernels in C (etch targets)");
}

}  // namespace

CompileOptions options_naming_tables(const ModelArgs& args, Progress& progress) {
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
  for (const std::string& text : args.states) options.import.states.push_back(parse_state(text));
  for (const std::string& text : args.shapes) {
    ShapeBinding shape = parse_shape(text);
    if (std::ranges::find(options.import.shapes, shape.input, &ShapeBinding::input) != options.import.shapes.end())
      throw CommandLineError("--shape " + text, "is the second for '" + shape.input + "'", "give the shape of each input once");
    options.import.shapes.push_back(std::move(shape));
  }
  options.import.customs = custom_operators(args);
  options.target = find_target(args.target, target_dirs(args.targets_dir));
  if (!args.cc.empty()) options.target.toolchain.compilers = {args.cc};
  if (args.tuning == "off")
    options.target.tuning.clear();
  else
    options.tuning = args.tuning;
  options.optimize = args.optimize;
  options.overlap = args.goal == "ram";
  options.winograd = winograd_option(args);
  options.io_in_arena = args.io_in_arena;
  require_sharable(args, options.target);
  options.workers = args.workers;
  options.wide_weights = args.optimize && args.goal != "flash";
  if (args.optimize && args.goal == "flash")
    options.sharing = Sharing::All;
  else if (args.optimize && !options.target.memories.empty())  // what it saves is missed elsewhere
    options.sharing = Sharing::Small;
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
      throw UserError("--set " + text, fmt::format("the model has no variable dimension '{}'", name), variables_help(name, model));
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

std::filesystem::path cache_folder(const std::string& chosen) {
  if (chosen == "off") return {};
  if (!chosen.empty()) return chosen;
  // As the XDG Base Directory Specification has it: a path that is not absolute does not count.
  for (const auto& [variable, below] : {std::pair{"XDG_CACHE_HOME", "etch"}, {"HOME", ".cache/etch"}}) {
    const char* folder = std::getenv(variable);
    if (folder != nullptr && *folder == '/') return std::filesystem::path(folder) / below;
  }
  return {};
}

DeviceOptions device_options(const ModelArgs& args, const Target& target) {
  DeviceOptions options;
  options.cache.dir = cache_folder(args.cache);
  COptions& c = options.of<COptions>();
  c.cc = args.cc;
  const std::vector<std::string> missing = args.cc.empty() ? features_missing_here(target) : std::vector<std::string>();
  if (!missing.empty())
    fmt::print(stderr, "target {}: this processor lacks {}: kernels in C are compiled for what it has\n", target.name,
               fmt::join(missing, ", "));
  if (target.is_host() && args.cc.empty() && missing.empty()) {
    const auto compiler =
        std::ranges::find_if(target.toolchain.compilers, [](const std::string& name) { return find_program(name).has_value(); });
    if (compiler != target.toolchain.compilers.end()) c.cc = *compiler;
    c.flags = {"-std=gnu99"};
    c.flags.insert(c.flags.end(), target.toolchain.flags.begin(), target.toolchain.flags.end());
  } else {
    // Whether a*b+c is contracted changes the last bits, and errno what is an instruction: these flags are those of the project's build.
    for (const std::string& flag : target.toolchain.flags_of(FlagKind::Code))
      if (flag.starts_with("-ffp-contract") || flag == "-fno-math-errno") c.flags.push_back(flag);
  }
  c.arena_align = target.arena_align;
  LlvmOptions& llvm = options.of<LlvmOptions>();
  llvm.arena_align = target.arena_align;
  llvm.contract = std::ranges::find(c.flags, "-ffp-contract=off") == c.flags.end();
  options.of<CudaOptions>().contract = llvm.contract;
  return options;
}

std::vector<std::unique_ptr<Device>> devices_named(const std::vector<std::string>& names, const DeviceOptions& options) {
  const bool all = names == std::vector<std::string>{"all"};
  std::vector<std::unique_ptr<Device>> devices;
  const std::vector<std::string> known = device_names();
  for (const std::string& name : all ? known : names) {
    if (std::ranges::find(known, name) == known.end())
      throw UserError("backend " + name, "is unknown; the backends are " + nearest_text(name, known), "choose some of them, or all");
    auto device = make_device(name, options);
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
