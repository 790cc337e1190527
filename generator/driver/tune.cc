#include "driver/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "base/error.h"
#include "device/device.h"
#include "driver/tune_layouts.h"
#include "program/generate.h"
#include "program/loops.h"
#include "program/lower.h"
#include "program/share.h"
#include "renderer/language.h"

namespace etch {
namespace {

// What every buffer holds in a run: of a list, or where a loop writes it again, nothing is known.
std::map<int, Array> contents_of(const Program& program, const Frontend& frontend, const CompileOptions& options) {
  std::map<int, Array> contents;
  std::vector<Array> inputs;
  int number = 0;
  for (const ImportedTensor& input : frontend.model.inputs) {
    std::vector<std::int64_t> shape;
    for (const Sint& d : input.shape) shape.push_back(d.as_int());
    inputs.push_back(lcg_input(input.dtype, shape, options.seed, number));
    contents[program.inputs[static_cast<std::size_t>(number++)]] = inputs.back();
  }
  for (std::size_t b = 0; b < program.buffers.size(); b++)
    if (program.buffers[b].kind == BufferKind::Constant) contents[static_cast<int>(b)] = program.buffers[b].data;
  RunOptions run;
  run.tap = [&](int call, int output, const Array& written) {
    auto writes = program.calls[static_cast<std::size_t>(call)].writes();
    contents[*std::ranges::next(writes.begin(), output)] = written;
  };
  make_reference_device()->load(program)->run(inputs, {}, run);
  return contents;
}

// Of what a run reads and writes: a power of two, so that few measurements are of one network alone, and no more than fills caches.
std::int64_t bytes_in_caches(const Program& program) {
  constexpr std::uint64_t kMost = 8 << 20;
  std::uint64_t bytes = 0;
  for (const ProgramBuffer& buffer : program.buffers) bytes += static_cast<std::uint64_t>(buffer.max_elements * bytes_of(buffer.dtype));
  return static_cast<std::int64_t>(std::bit_ceil(std::min(bytes, kMost)));
}

bool is_plain(const ProgramKernel& kernel) {
  return kernel.external == nullptr && kernel.ast != nullptr && second_tree(kernel.ast) == nullptr && kernel.variables.empty();
}

class Tasks {
 public:
  Tasks(const Frontend& frontend, const CompileOptions& options)
      : options_(options),
        language_(language_of(options.target)),
        reference_(lower_model(frontend, nullptr, quiet(options))),
        program_(lower_model(frontend, &language_, quiet(options))),
        contents_(contents_of(reference_, frontend, options)) {}

  std::vector<Task> all() {
    for (std::size_t c = 0; c < program_.calls.size(); c++) add(c);
    return std::move(tasks_);
  }

 private:
  // Each kernel by itself, without any table.
  static CompileOptions quiet(CompileOptions options) {
    options.sharing = Sharing::None;
    options.tuning.clear();
    options.target.tuning.clear();
    options.rows = nullptr;
    options.dump = {};
    return options;
  }

  void add(std::size_t c) {
    const std::pair number(program_.calls[c].kernel, reference_.calls[c].kernel);
    const ProgramKernel& kernel = program_.kernels[static_cast<std::size_t>(number.first)];
    if (!is_plain(kernel)) return;
    if (const auto known = task_of_.find(number); known != task_of_.end()) {
      tasks_[known->second.first].subjects[known->second.second].calls++;
      return;
    }
    Subject subject;
    subject.ast = kernel.ast;
    subject.arguments = reference_.kernels[static_cast<std::size_t>(number.second)].arguments;
    subject.options = codegen_of(language_, options_);
    subject.options.tuned = nullptr;
    subject.options.backwards = kernel.backwards;
    for (const CallArgument& a : reference_.calls[c].arguments) {
      const auto content = contents_.find(a.buffer);
      if (content == contents_.end()) return;  // a state, or what a loop hands on
      subject.data.push_back(content->second);
    }
    const bool share = options_.sharing == Sharing::All;
    const std::size_t task = share ? task_like(subject) : tasks_.size();
    if (task == tasks_.size()) tasks_.push_back({kernel.name, {}, share, {}, bytes_in_caches(reference_)});
    task_of_[number] = {task, tasks_[task].subjects.size()};
    tasks_[task].subjects.push_back(std::move(subject));
  }

  // The task whose kernels the heuristics make one function with this one; the number of tasks if there is none.
  std::size_t task_like(const Subject& subject) {
    const ProgramKernel kernel = generate_kernel(subject.ast, {"k", subject.arguments, {}}, language_, subject.options);
    return alike_.try_emplace(text_beside_sizes(kernel), tasks_.size()).first->second;
  }

  const CompileOptions& options_;
  const Language& language_;
  Program reference_, program_;
  std::map<int, Array> contents_;
  std::vector<Task> tasks_;
  // By kernel: its task, and which of its subjects it is. What is one function by heuristics may be two in a table, whose rows are also
  // of bounds of constants, as the reference's kernels are.
  std::map<std::pair<int, int>, std::pair<std::size_t, std::size_t>> task_of_;
  std::map<std::string, std::size_t> alike_;
};

// Of instructions and cycles, that a byte of code has to save: a part of those of all kernels, a larger one where flash counts.
double price_of_byte(const std::vector<Task>& tasks, const TuneOptions& options, const MeasureVariants& measure) {
  double time = 0;
  std::int64_t done = 0;
  for (const Task& task : tasks) {
    if (options.compile.step) options.compile.step("measuring " + task.name, done++, static_cast<std::int64_t>(tasks.size()));
    if (const auto cost = cost_of_heuristics(task, measure, language_of(options.compile.target))) time += time_of(*cost);
  }
  return time / flash_worth(options.compile);
}

}  // namespace

void require_tunable(const Frontend& frontend, const CompileOptions& options) {
  if (language_of(options.target).grid)
    throw UserError("target " + options.target.name, "its kernels run on a device, whose time is not measured",
                    "choose a target whose kernels are C: etch targets lists them");
  if (!frontend.model.dims.empty())
    throw UserError(frontend.file, "sizes are open, and what a kernel costs depends on them", "bind them, for example --dim batch=1");
}

std::vector<Task> tasks_of(const Frontend& frontend, const CompileOptions& options) {
  require_tunable(frontend, options);
  return Tasks(frontend, options).all();
}

OptTable rows_of(const Task& task, const std::vector<Opt>& opts) {
  OptTable table;
  for (const Subject& s : task.subjects)
    table.set(tuning_key(s.ast, s.arguments, s.options), {Kernel(s.ast, s.options).shape_name(), opts});
  return table;
}

OptTable tune(const std::vector<Task>& tasks, const TuneOptions& options, const MeasureVariants& measure, OptTable table) {
  SearchOptions search{.language = &language_of(options.compile.target),
                       .width = options.width,
                       .most_rounds = options.most_rounds,
                       .by_model = options.by_model};
  search.byte_price = price_of_byte(tasks, options, measure);
  std::int64_t done = 0;
  std::vector<std::vector<Opt>> found;  // for other kernels, which may be like this one
  for (Task task : tasks) {
    if (!options.only.empty() && std::ranges::find(options.only, task.name) == options.only.end()) continue;
    if (options.compile.step) options.compile.step("searching " + task.name, done++, static_cast<std::int64_t>(tasks.size()));
    std::vector<std::string> keys;
    for (const Subject& s : task.subjects) {
      keys.push_back(tuning_key(s.ast, s.arguments, s.options));
      const TunedKernel* row = table.find(keys.back());
      if (row != nullptr && std::ranges::find(task.known, row->opts) == task.known.end()) task.known.push_back(row->opts);
    }
    for (const std::vector<Opt>& opts : found)
      if (std::ranges::find(task.known, opts) == task.known.end()) task.known.push_back(opts);
    search.step = [&](int measured, double ratio) {
      if (options.compile.step)
        options.compile.step(fmt::format("searching {}, best of {}: {:.1f} % of the heuristics' cost", task.name, measured, 100 * ratio),
                             done - 1, static_cast<std::int64_t>(tasks.size()));
    };
    const SearchResult result = search_opts(task, measure, search);
    if (result.measured > 0)
      for (const std::string& key : keys) table.remove(key);
    if (result.best != result.before) table.add(rows_of(task, result.best));
    if (result.best != result.before && std::ranges::find(found, result.best) == found.end()) found.push_back(result.best);
    if (options.found) options.found(task, result, table);
  }
  return table;
}

}  // namespace etch
