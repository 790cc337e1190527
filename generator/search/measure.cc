#include "search/measure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "audit/digest.h"
#include "base/runtime_text.h"
#include "emit/emit.h"
#include "memory/plan.h"

namespace etch {
namespace {

constexpr std::size_t kMostInImage = 24;  // variants
// Of their outputs, and of their constants: in an emulated chip, where it does not have less, and under an operating system.
constexpr std::int64_t kMostBytes = 1 << 20, kMostHostedBytes = 64 << 20;

// Whether what is measured is a program for an operating system.
bool is_hosted(const Target& target) { return target.is_host() || target.emulator.kind == EmulatorKind::Process; }

std::int64_t budget(const Target& target, MemoryKind kind) {
  if (is_hosted(target)) return kMostHostedBytes;
  const std::int64_t bytes = target.bytes(kind);
  return bytes == 0 ? kMostBytes : std::min(kMostBytes, bytes / 2);
}

// A program of some variants.
struct Image {
  std::vector<std::size_t> variants;  // their numbers
  std::vector<EmittedFile> files;
  std::vector<std::string> functions, outputs;  // of each call, and names of buffers, in order
};

Image image_of(const Task& task, const std::vector<Variant>& all, std::vector<std::size_t> numbers, const Target& target,
               const Language& language) {
  std::vector<Variant> variants;
  for (const std::size_t v : numbers) variants.push_back(all[v]);
  // As constants, large inputs are linked as a binary file instead of compiled as text.
  const BufferKind read = is_hosted(target) ? BufferKind::Constant : BufferKind::Input;
  const Program program = program_of(task, variants, language, read);
  const MemoryPlan plan = plan_memory(program, {.align = target.arena_align});
  EmitOptions emitting;
  emitting.name = "trial";
  emitting.target_name = target.name;
  emitting.build = emit_build(target);
  emitting.selftest.emplace().prints_sums = true;
  for (const Subject& subject : task.subjects)
    for (std::size_t a = 0; a < subject.arguments.size(); a++)
      if (read == BufferKind::Input && !subject.arguments[a].is_constant && subject.arguments[a].access == Access::Read)
        emitting.selftest->inputs.push_back(subject.data[a].reshaped({subject.data[a].size()}));
  Image image{std::move(numbers), emit(program, plan, emitting), {}, {}};
  for (const ProgramCall& call : program.calls) image.functions.push_back(program.kernels[static_cast<std::size_t>(call.kernel)].name);
  for (int b : program.outputs) image.outputs.push_back(program.buffers[static_cast<std::size_t>(b)].name);
  return image;
}

void add(const Cost& of_call, int calls, Cost& cost) {
  cost.instructions += calls * of_call.instructions;
  cost.cycles += calls * of_call.cycles;
  cost.stack_bytes = std::max(cost.stack_bytes, of_call.stack_bytes);
}

// Of each variant of the image.
std::vector<Measured> measured_in(const Task& task, const Image& image, const UnitRun& run) {
  std::vector<Measured> result(image.variants.size(), Measured{std::nullopt, run.problem, {}, run.was_stopped});
  if (!run.problem.empty()) return result;
  std::size_t call = 0, output = 0;
  std::map<std::string, std::size_t> done;
  for (Measured& measured : result) {
    Cost cost;
    for (std::size_t s = 0; s < task.subjects.size(); s++, call++) {
      const std::string& f = image.functions[call];
      const std::size_t turn = done[f]++;
      const auto calls = run.calls.find(f);
      if (calls == run.calls.end() || turn >= calls->second.size())
        measured.problem = "the compiler left it no function of its own";
      else
        add(calls->second[turn], task.subjects[s].calls, cost);
      if (const auto bytes = run.code_bytes.find(f); turn == 0 && bytes != run.code_bytes.end()) cost.code_bytes += bytes->second;
      for (const KernelArgument& a : task.subjects[s].arguments) {
        if (a.access != Access::Write) continue;
        const auto printed = run.outputs.find(image.outputs[output++]);
        if (printed == run.outputs.end())
          measured.problem = "the program that measures it printed no result";
        else
          measured.outputs.push_back(printed->second);
      }
    }
    if (measured.problem.empty()) measured.cost = cost;
  }
  return result;
}

// Stands for all that decides what is measured in a project of these files; `what` says what that is.
std::string digest_of(std::string what, const std::vector<EmittedFile>& files) {
  for (const EmittedFile& file : files) what += "\n" + file.name + " " + std::to_string(file.text.size()) + "\n" + file.text;
  return sha256_hex(what);
}

// Stands for what the kernels of a task read and what they have to compute.
std::string data_of(const Task& task) {
  std::string all = "data";
  for (const Subject& s : task.subjects)
    for (const Array& data : s.data) {
      all += fmt::format(" {} {}\n", name_of(data.dtype()), data.size());
      all.append(reinterpret_cast<const char*>(data.bytes().data()), data.bytes().size());
    }
  return sha256_hex(all);
}

// Of the files that every program gets.
std::string runtime_of() {
  std::string all;
  for (const RuntimeFile& file : runtime_files()) all.append(file.name).append(file.text);
  return sha256_hex(all);
}

// How programs of variants are made, where no text below shows it; raised when that changes.
constexpr int kTrialVersion = 1;

// Of what decides how programs of variants are built and measured, beside their kernels and data.
std::string way_of(const Task& task, const Target& target) {
  static const std::string runtime = runtime_of();
  std::string way = fmt::format("{} {} {} {}", kTrialVersion, task.share, target.arena_align, runtime);
  if (target.is_host()) way += fmt::format(" {}", task.other_bytes);
  return way;
}

// Of a variant alone, whose functions are named by its steps. `beside`: what data_of and way_of say.
std::string digest_of(const Task& task, const Variant& variant, const std::string& beside) {
  std::string what = fmt::format("variant {}\n{}", beside, pragmas_for(variant.kernels));
  for (const Subject& s : task.subjects) what += fmt::format(" {}", s.calls);
  for (const ProgramKernel& kernel : variant.kernels) {
    what += fmt::format("\n{}\n{}{}", kernel.name, fmt::join(kernel.text.definitions, "\n"), kernel.text.source);
    for (const KernelArgument& a : kernel.arguments) what += fmt::format("{} {}\n", a.in_words, a.layout ? a.layout->to_text() : "");
  }
  return sha256_hex(what);
}

// Measures the variants of one call.
class Variants {
 public:
  Variants(const Task& task, const std::vector<Variant>& all, const Target& target, const Language& language, const MeasureOptions& options)
      : task_(task), all_(all), target_(target), language_(language), options_(options), result_(all.size()), digests_(all.size()) {}

  std::vector<Measured> run() {
    std::vector<std::size_t> missing;
    for (std::size_t v = 0; v < all_.size(); v++)
      if (!find(v)) missing.push_back(v);
    for (std::size_t first = 0; first < missing.size();) {
      const std::span<const std::size_t> rest = std::span(missing).subspan(first);
      const std::size_t count = fitting(rest, missing.size());
      add({rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(count)});
      first += count;
    }
    measure();
    for (const std::size_t v : std::exchange(again_, {})) add({v});
    measure();
    return std::move(result_);
  }

 private:
  bool find(std::size_t v) {
    if (options_.cache == nullptr) return false;
    if (beside_.empty()) beside_ = data_of(task_) + " " + way_of(task_, target_);
    digests_[v] = digest_of(task_, all_[v], beside_);
    const std::optional<Measured> known = options_.cache->find(digests_[v]);
    if (known) result_[v] = *known;
    return known.has_value();
  }

  // An image of these variants. What was added before is measured where the files of all take much memory, and as much on the disk.
  void add(std::vector<std::size_t> numbers) {
    images_.push_back(image_of(task_, all_, std::move(numbers), target_, language_));
    for (const EmittedFile& file : images_.back().files) bytes_ += static_cast<std::int64_t>(file.text.size());
    if (bytes_ > options_.most_bytes) measure();
  }

  void measure() {
    const std::vector<Image> images = std::exchange(images_, {});
    bytes_ = 0;
    std::vector<Unit> units;
    for (const Image& image : images) units.push_back({image.files, image.functions, false, task_.subjects.size(), task_.other_bytes});
    if (!units.empty()) options_.run(units, [&](std::size_t unit, const UnitRun& run) { take(images[unit], run); });
  }

  void take(const Image& image, const UnitRun& run) {
    const std::vector<Measured> measured = measured_in(task_, image, run);
    for (std::size_t i = 0; i < measured.size(); i++) {
      const std::size_t v = image.variants[i];
      result_[v] = measured[i];
      if (!run.problem.empty() && measured.size() > 1)
        again_.push_back(v);
      else if (options_.cache != nullptr)
        options_.cache->keep(digests_[v], measured[i]);
    }
  }

  // How many of `numbers`, from the first on, become one image: the memories have room for their outputs and constants. `count`: of all
  // that become images.
  std::size_t fitting(std::span<const std::size_t> numbers, std::size_t count) const {
    const auto least = static_cast<std::size_t>(std::max(1, options_.least_units));
    const std::size_t most = std::min(kMostInImage, (count + least - 1) / least);
    std::int64_t written = 0, constants = 0;
    std::size_t n = 0;
    for (; n < numbers.size() && n < most; n++) {
      for (const ProgramKernel& k : all_[numbers[n]].kernels)
        for (const KernelArgument& a : k.arguments) {
          const std::int64_t bytes = a.elements.max() * bytes_of(a.dtype);
          if (a.access == Access::Write) written += bytes;
          if (a.is_constant) constants += bytes;
        }
      if (n > 0 && (written > budget(target_, MemoryKind::Ram) || constants > budget(target_, MemoryKind::Flash))) break;
    }
    return n;
  }

  const Task& task_;
  const std::vector<Variant>& all_;
  const Target& target_;
  const Language& language_;
  const MeasureOptions& options_;
  std::vector<Measured> result_;
  std::vector<std::string> digests_;  // of what the cache finds each variant by
  std::string beside_;                // what decides about it beside the kernels
  std::vector<Image> images_;         // to be measured together
  std::int64_t bytes_ = 0;            // of their files
  std::vector<std::size_t> again_;    // variants of units that failed
};

Measured measured_of(const std::string& entry, const UnitRun& run) {
  if (!run.problem.empty()) return {std::nullopt, run.problem, {}, run.was_stopped};
  Cost cost = run.calls.at(entry).at(0);
  cost.code_bytes = run.program_bytes;
  return {cost, "", {}};
}

}  // namespace

MeasureVariants measure_variants(const Target& target, const Language& language, const MeasureOptions& options) {
  return [target, &language, options](const Task& task, const std::vector<Variant>& variants) {
    return Variants(task, variants, target, language, options).run();
  };
}

std::vector<Measured> measure_projects(const std::vector<MeasuredProject>& projects, const MeasureOptions& options) {
  std::vector<Measured> result(projects.size());
  std::vector<std::string> digests(projects.size());
  std::vector<std::size_t> missing;
  std::vector<Unit> units;
  for (std::size_t p = 0; p < projects.size(); p++) {
    if (options.cache != nullptr) {
      digests[p] = digest_of("project " + projects[p].entry, projects[p].files);
      if (const auto known = options.cache->find(digests[p])) {
        result[p] = *known;
        continue;
      }
    }
    missing.push_back(p);
    units.push_back({projects[p].files, {projects[p].entry}, true});
  }
  if (units.empty()) return result;
  options.run(units, [&](std::size_t unit, const UnitRun& run) {
    const std::size_t p = missing[unit];
    result[p] = measured_of(projects[p].entry, run);
    if (options.cache != nullptr) options.cache->keep(digests[p], result[p]);
  });
  return result;
}

}  // namespace etch
