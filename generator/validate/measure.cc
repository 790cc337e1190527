#include "validate/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "base/error.h"
#include "base/files.h"
#include "base/tempdir.h"
#include "emulator/cross_build.h"
#include "emulator/elf.h"
#include "emulator/tools.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

// Bytes of flash, which also holds the initial values of variables.
std::int64_t flash_of(const CrossBuild& build) {
  const ImageSize size = read_image_size(build.elf);
  return size.text + size.data;
}

std::int64_t library_variables(const CrossBuild& build) {
  std::int64_t bytes = 0;
  for (const ObjectSize& object : build.map.objects)
    if (object.library) bytes += object.data + object.bss;
  return bytes;
}

CrossBuild build_empty(const Target& target, const fs::path& work) {
  fs::create_directory(work / "empty");
  write_file(work / "empty" / "main.c", "int main(void) { return 0; }\n");
  BuildOptions options;
  options.may_overflow = true;  // link flags may reserve a stack that does not fit; that is not the model's fault
  return build_project(work / "empty", target, work / "empty-build", options);
}

CrossBuild build_probe(const MeasureRequest& request, const Target& target, const fs::path& work) {
  fs::create_directory(work / "project");
  for (const EmittedFile& file : request.files) write_file(work / "project" / file.name, file.text);
  BuildOptions options;
  options.may_overflow = true;
  options.weights = false;
  write_file(work / "main.c", request.probe.main());
  options.extra_sources = {work / "main.c"};
  if (!request.probe.weights.empty()) {
    write_file(work / "weights.c", request.probe.weights);
    options.extra_sources.push_back(work / "weights.c");
  }
  return build_project(work / "project", target, work / "build", options);
}

// The beginning of the compiler's message, in one line and without the names of temporary folders.
std::string why_refused(const UserError& error, const fs::path& work) {
  std::string text = error.problem().substr(0, error.problem().find('\n', error.problem().find('\n') + 1));
  for (const std::string& folder : {fs::canonical(work).string() + "/", work.string() + "/"})
    for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder)) text.erase(at, folder.size());
  std::ranges::replace(text, '\n', ' ');
  return text;
}

// What a compiler made of a project.
struct Built {
  std::string problem;   // why there is nothing else; empty: there is
  FitMeasured measured;  // all but the stack
  StackGraph stack;
};

FitMeasured without_stack(const CrossBuild& probe, const CrossBuild& empty, const MeasureRequest& request) {
  FitMeasured result;
  result.compiler = probe.compiler;
  const std::int64_t grown = flash_of(probe) - flash_of(empty) - (request.probe.weights.empty() ? 0 : kWeightsStubBytes);
  result.code_bytes = std::min(probe.code_bytes == 0 ? grown : probe.code_bytes, grown);
  result.library_bytes = grown - result.code_bytes;
  result.variable_bytes = std::max<std::int64_t>(0, library_variables(probe) - library_variables(empty));
  if (empty.overflow.empty()) result.overflow = probe.overflow;
  return result;
}

Built build(const MeasureRequest& request, const Target& target) {
  const TempDir work("etch-measure");
  try {
    auto building = std::async(std::launch::async, [&] { return build_empty(target, work.path()); });
    const CrossBuild probe = build_probe(request, target, work.path()), empty = building.get();
    return {"", without_stack(probe, empty, request), probe.stack};
  } catch (const UserError& error) {
    return {why_refused(error, work.path()), {}, {}};
  }
}

FitMeasured with_stack(const Built& built, const std::vector<ProbeSources::Entry>& entries, const std::vector<std::string>& kernels) {
  FitMeasured result = built.measured;
  for (const ProbeSources::Entry& entry : entries) {
    const StackBound bound = stack_bound(built.stack, entry.function, kernels);
    if (bound.bytes) {
      result.stack_bytes = std::max(result.stack_bytes.value_or(0), *bound.bytes);
      continue;
    }
    result.stack_bytes.reset();
    result.stack_problem = built.stack.empty() ? result.compiler + " tells no calls between functions, gcc does"
                                               : fmt::format("{}", fmt::join(bound.unresolved, ", "));
    break;
  }
  return result;
}

// Why nothing can be measured or shown; empty if it can.
std::string no_compiler(const MeasureRequest& request, const Target& target) {
  if (request.probe.entries.empty()) return request.probe.why_not;
  if (target_compiler(target)) return "";
  return fmt::format("no compiler of the target is here ({})", fmt::join(target.toolchain.compilers, ", "));
}

}  // namespace

Measure measure_with_compiler(const Target& target) {
  return [target](const MeasureRequest& request) -> BegunMeasurement {
    if (std::string why = no_compiler(request, target); !why.empty())
      return [why = std::move(why)](const auto&) -> FitMeasurement { return {std::nullopt, why}; };
    const std::shared_future<Built> building = std::async(std::launch::async, [=] { return build(request, target); }).share();
    return [building, entries = request.probe.entries](const std::vector<std::string>& kernels) -> FitMeasurement {
      const Built& built = building.get();
      if (!built.problem.empty()) return {std::nullopt, built.problem};
      return {with_stack(built, entries, kernels), ""};
    };
  };
}

std::string instructions_of(const MeasureRequest& request, const std::vector<std::string>& kernels, const Target& target) {
  if (const std::string why = no_compiler(request, target); !why.empty()) return "none are shown: " + why + "\n";
  const TempDir work("etch-instructions");
  try {
    const CrossBuild build = build_probe(request, target, work.path());
    if (!disassemble(target, build.elf)) return "none are shown: there is no objdump beside " + build.compiler + "\n";
    std::string text;
    for (const std::string& kernel : kernels) {
      const std::string listing = disassemble(target, build.elf, kernel).value_or("");
      const std::size_t title = listing.find("<" + kernel + ">:\n");
      text += title == std::string::npos ? kernel + ": has no code of its own\n" : listing.substr(listing.rfind('\n', title) + 1);
    }
    return text;
  } catch (const UserError& error) {
    return "none are shown: " + why_refused(error, work.path()) + "\n";
  }
}

}  // namespace etch
