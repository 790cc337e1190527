#include "driver/compile.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <future>
#include <map>

#include "audit/audit.h"
#include "audit/digest.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/tempdir.h"
#include "codegen/horizontal.h"
#include "codegen/math.h"
#include "codegen/opt_table.h"
#include "driver/selftest.h"
#include "driver/tuning_notes.h"
#include "emit/write.h"
#include "memory/parts.h"
#include "program/external.h"
#include "program/lower.h"
#include "quant/fixed_point.h"
#include "quant/float_parts.h"
#include "quant/integers.h"
#include "quant/unsigned_weights.h"
#include "renderer/language.h"
#include "schedule/wide_weights.h"

namespace etch {
namespace {

// Elements that the longest dot product of one lane multiplies, or the lanes of the widest one. Rows of words do what others do, for other
// kernels.
std::int64_t channel_tile(const Target& target) {
  std::int64_t tile = kChannelTile;
  for (const TargetInstruction& row : target.instructions)
    if (!row.is_matrix() && !row.words) tile = std::max(tile, row.lanes == 1 ? row.macs * row.steps : row.lanes);
  return tile;
}

// Bytes between operators have the type that the widest dot product with weights of int8 takes, if it takes but one of the two.
ByteOptions byte_options(const Target& target) {
  std::map<std::string, std::int64_t> most{{"int8", 0}, {"uint8", 0}};
  for (const TargetInstruction& row : target.instructions)
    if (row.b == "int8" && !row.is_matrix() && !row.words) most[row.a] = std::max(most[row.a], row.macs * row.lanes);
  ByteOptions options{.tile = channel_tile(target)};
  if (most["int8"] != most["uint8"]) options.stored = most["int8"] > most["uint8"] ? DType::Int8 : DType::UInt8;
  return options;
}

// Of the model's bytes; empty if it was traced.
std::string sha256_of(const ImportOptions& model) {
  if (!model.bytes.empty()) return sha256_hex(std::as_bytes(std::span(model.bytes.data(), model.bytes.size())));
  return model.path.empty() ? "" : sha256_hex_of(model.path);
}

// What a search found, in the target's own table and in the user's.
std::shared_ptr<const OptTable> tuned_opts(const CompileOptions& options) {
  if (!options.optimize) return nullptr;
  if (options.target.tuning.empty() && options.tuning.empty()) return options.rows;
  OptTable table;
  if (!options.target.tuning.empty()) table.add(OptTable::read(options.target.tuning));  // its author chose it: nothing to tell
  if (!options.tuning.empty()) table.add_with_files(OptTable::read(options.tuning));
  if (options.rows != nullptr) table.add_with_files(*options.rows);
  return std::make_shared<const OptTable>(std::move(table));
}

// A target whose second cache is known is no microcontroller.
bool has_memory_to_spare(const Target& target) { return target.memories.empty() && target.cache_bytes > 0; }

bool has_vectors(const CompileOptions& options) {
  return options.target.vector.extensions && options.target.vector.bits > 0 && !language_of(options.target).grid;
}

// On a processor with vectors and memory to spare, where neither that nor the size of the code counts more.
bool is_for_speed(const CompileOptions& options) {
  const bool counts = options.optimize && !options.overlap && options.sharing != Sharing::All;
  return counts && has_vectors(options) && has_memory_to_spare(options.target);
}

// Where instructions start as soon as what they need is there, so that some wait for memory while others multiply. Workers share one
// loop of a kernel.
bool fuses_horizontally(const CompileOptions& options) { return is_for_speed(options) && options.workers == 1 && !options.target.in_order; }

// Of what one product waits for a good part is not in the first cache, and there is room in the others for what the second one reads.
std::function<bool(const TwoProducts&)> fits_of(const CodegenOptions& codegen) {
  return [codegen](const TwoProducts& p) {
    const std::int64_t bytes = p.outputs * p.length * bytes_of(DType::Float32);
    const bool waits = bytes > codegen.first_cache_bytes * 3 / 2 && static_cast<double>(bytes) <= most_of_turn(codegen);
    return waits && run_together(p.length, p.other_length) && tiles_together(p.outputs, p.rows, p.others, codegen).has_value();
  };
}

// Kernels compute two vectors of columns side by side. A sum whose weights for these fill more than half of the cache is cut into blocks
// that leave room for what else is read meanwhile.
LongSums long_sums_of(const CompileOptions& options) {
  if (!is_for_speed(options)) return {};
  const CodegenOptions codegen = codegen_options(options.target, language_of(options.target));
  const int bytes = 2 * codegen.vector_bits / 8;
  return {.longest = codegen.cache_bytes / 2 / bytes,
          .block = static_cast<std::int64_t>(most_of_turn(codegen)) / bytes,
          .lanes = codegen.vector_bits / 32};
}

Winograd winograd_of(const CompileOptions& options) {
  if (options.winograd) return *options.winograd;
  const bool pays =
      has_vectors(options) && has_memory_to_spare(options.target) && options.optimize && options.wide_weights && !options.overlap;
  return pays ? Winograd::OneAxis : Winograd::Off;
}

// What was found for choices of the schedule. Their context is all that decides what a way costs beside the kernels.
LayoutChoices layout_choices(const CompileOptions& options, const ScheduleOptions& how, std::shared_ptr<const OptTable> table) {
  LayoutChoices choices;
  if (table != nullptr) choices.found = [table](const std::string& key) { return table->way(key); };
  choices.lists = options.lists_choices;
  const std::string_view stored = how.stored_bytes ? name_of(*how.stored_bytes) : "";
  choices.context = fmt::format("{} {} {} {} {} {}", how.orders_alike, how.integer_orders_alike, stored, how.dot_elements,
                                options.sharing == Sharing::All, options.wide_weights);
  if (how.winograd == Winograd::TwoAxes) choices.context += " 2d";
  for (const TargetInstruction& row : options.target.instructions) choices.context += " " + row.name;
  return choices;
}

EmitOptions emit_options(const Frontend& frontend, const CompileOptions& options) {
  EmitOptions emit;
  emit.name = frontend.model.name;
  emit.tool_version = options.tool_version;
  emit.model_file = frontend.file;
  emit.model_sha256 = frontend.sha256;
  if (frontend.model.opset > 0) emit.model_facts = fmt::format("{} nodes, opset {}", frontend.model.node_count, frontend.model.opset);
  emit.options_text = options.options_text;
  emit.target_name = options.target.name;
  emit.build = emit_build(options.target);
  emit.weights = options.weights;
  emit.widened_bytes = frontend.widened_bytes;
  emit.role = frontend.role;
  return emit;
}

// What a user's function in C computes in, the audit says.
bool computes_double(const ProgramKernel& kernel) {
  if (kernel.external != nullptr)
    return !kernel.external->is_custom() && std::ranges::count(kernel.arguments, DType::Float64, &KernelArgument::dtype) > 0;
  return std::ranges::any_of(toposort(kernel.ast), [](const LazyOp* op) { return op->dtype == DType::Float64; });
}

// UserError if a target whose FPU is not of double precision would have to compute double in software.
void require_no_double(const Program& program, const Target& target) {
  if (target.fpu == Fpu::Double) return;
  std::vector<std::string> nodes;  // all of them, so that one error is enough
  for (const ProgramCall& call : program.calls) {
    if (!computes_double(program.kernels[static_cast<std::size_t>(call.kernel)])) continue;
    for (const std::string& node : call.nodes)
      if (std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(node);
  }
  if (nodes.empty()) return;
  throw UnsupportedError(
      nodes_text(nodes),
      fmt::format("computed in float64, {}",
                  target.fpu == Fpu::None ? "target " + target.name + " has no FPU" : "the FPU of target " + target.name + " is single"),
      "export the model in float32, or choose a target with double arithmetic", "float64 on " + target.name);
}

// UserError if a kernel would call a function of floats that the target's C library does not have.
void require_math(const Program& program, const Target& target) {
  const CodegenOptions options = codegen_options(target, language_of(target));
  for (const ProgramCall& call : program.calls) {
    const LazyOp* ast = program.kernels[static_cast<std::size_t>(call.kernel)].ast;
    if (ast == nullptr) continue;
    for (const LazyOp* op : toposort(ast)) {
      if (expansion_of(op->op, op->dtype, options) != nullptr) continue;
      std::string function(name_of(op->op));
      for (char& c : function) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      function += 'f';
      if (op->op == Op::Rint || op->op == Op::RintSmall || !target.lacks(function)) continue;  // runtime_c has a rintf
      throw UnsupportedError(nodes_text(call.nodes), "computed with " + function + ", the C library of target " + target.name + " has none",
                             "choose a target that has it, or replace the operator by a table", function + " on " + target.name);
    }
  }
}

// UserError if the target leaves a function to its C library that etch never calls there, or always does.
void require_known_math(const Target& target) {
  const std::vector<std::string> known = functions_of_library();
  for (const std::string& name : target.library_math)
    if (std::ranges::find(known, name) == known.end())
      throw UserError(target.file.string(), "<math>: library names '" + name + "'", "there are " + nearest_text(name, known));
}

void require_no_pools_on_grid(const Target& target) {
  if (target.pools.empty() || !language_of(target).grid) return;
  throw UserError(
      target.file.string(),
      fmt::format("<pool> names parts of the processor's memory, the kernels of target {} run on a device with its own", target.name),
      "leave <pool> out");
}

void dump_kernels(const Program& program, const CompileOptions& options) {
  if (!options.dump) return;
  const auto all = [&program](auto text) {
    std::string result;
    for (const ProgramKernel& kernel : program.kernels)
      result += fmt::format("-- {} ({})\n{}\n", kernel.name, kernel.shape_name, text(kernel));
    return result;
  };
  options.dump("ast", [&] { return all([](const ProgramKernel& k) { return k.ast == nullptr ? "" : to_text(k.ast); }); });
  options.dump("uops", [&] { return all([](const ProgramKernel& k) { return k.uops; }); });
  options.dump("source",
               [&] { return all([](const ProgramKernel& k) { return k.external == nullptr ? k.text.source : external_text(k); }); });
}

Fit fit_without_compiler(const CompiledProject& project, const CompileOptions& options) {
  return make_fit(project.report, options.target, {std::nullopt, "left out (--no-measure)"});
}

// Null where nothing is measured.
BegunMeasurement begin_measuring(const CompiledProject& project, const CompileOptions& options) {
  if (!options.measure || !fit_without_compiler(project, options).fits()) return nullptr;
  if (project.measurement) return project.measurement;
  MeasureRequest request{{}, project.probe};
  std::ranges::copy_if(project.files, std::back_inserter(request.files),
                       [](const EmittedFile& file) { return !file.is_weights && !file.is_selftest; });
  return options.measure(request);
}

Fit measured_fit(const CompiledProject& project, const CompileOptions& options, const BegunMeasurement& measurement,
                 const AuditReport& audit) {
  if (options.step) options.step("measuring code and stack", 0, 0);
  return make_fit(project.report, options.target, measurement(audit.table_functions));
}

}  // namespace

const std::vector<std::string>& dump_stages() {
  static const std::vector<std::string> stages{"graph", "schedule", "ast", "uops", "source", "plan"};
  return stages;
}

SelfTestResult selftest_result(const std::string& text) {
  if (text == "auto") return SelfTestResult::Auto;
  if (text == "interp") return SelfTestResult::Interp;
  if (text == "checksum") return SelfTestResult::Checksum;
  throw UserError("--selftest " + text, "unknown form of self-test", "choose one of auto, interp, checksum");
}

void read_tables(CompileOptions& options) {
  options.rows = tuned_opts(options);
  options.tuning.clear();
  options.target.tuning.clear();
}

ImportOptions import_options(const CompileOptions& options) {
  ImportOptions import = options.import;
  import.target.has_grid = language_of(options.target).grid;
  // Where RAM is the goal, none is to spare anywhere.
  if (options.overlap || !has_memory_to_spare(options.target)) import.target.may_take_memory = false;
  if (fuses_horizontally(options)) import.target.fit_together = fits_of(codegen_options(options.target, language_of(options.target)));
  import.target.long_sums = long_sums_of(options);
  return import;
}

Frontend read_model(const CompileOptions& options) {
  if (options.step) options.step("reading " + options.import.path.filename().string(), 0, 0);
  return schedule_model(import_onnx(import_options(options)), options);
}

CodegenOptions codegen_of(const Language& language, const CompileOptions& options) {
  CodegenOptions codegen = codegen_options(options.target, language);
  codegen.optimize = options.optimize;
  codegen.small_code = options.sharing == Sharing::All;
  codegen.overlap = options.overlap && !language.grid;
  if (!language.grid) codegen.workers.most = options.workers;
  codegen.tuned = tuned_opts(options);
  return codegen;
}

Frontend schedule_model(ImportedModel model, const CompileOptions& options) {
  Frontend frontend;
  frontend.model = std::move(model);
  frontend.file = options.import.path.filename().string();
  // Beside the schedule: of large weights it takes as long as a good part of that.
  std::future<std::string> sha256 = std::async(std::launch::async, [&options] { return sha256_of(options.import); });
  std::vector<OutputSpec> outputs;
  std::vector<const LazyBuffer*> buffers;
  for (const ImportedTensor& output : frontend.model.outputs) {
    outputs.push_back({output.name, output.tensor});
    buffers.push_back(output.tensor.buffer());
  }
  std::vector<StateSpec> states;
  for (const ImportedState& state : frontend.model.states) {
    states.push_back({state.state.tensor, state.next});
    buffers.push_back(state.next.buffer());
  }
  buffers = to_integers(*frontend.model.graph, buffers, &frontend.dead, byte_options(options.target));
  if (options.target.product_bits > 0) buffers = to_fixed_point(*frontend.model.graph, buffers, options.target.product_bits);
  if (options.target.unsigned_bytes) buffers = to_unsigned_weights(*frontend.model.graph, buffers);
  frontend.float_nodes = float_parts(buffers);
  for (std::size_t i = 0; i < outputs.size(); i++) outputs[i].value = {frontend.model.graph.get(), buffers[i]};
  for (std::size_t i = 0; i < states.size(); i++) states[i].next = {frontend.model.graph.get(), buffers[outputs.size() + i]};
  if (options.dump) options.dump("graph", [&] { return to_text(buffers); });
  if (options.step) options.step("scheduling", 0, 0);
  constexpr std::int64_t kRowsOfAGrid = 256;
  const Language& language = language_of(options.target);
  const auto shares_row = [](std::int64_t elements) { return items_of_row(elements) > 1; };
  ScheduleOptions how{.min_rows = language.grid ? kRowsOfAGrid : 0,
                      .shares_row = language.local_memory ? +shares_row : nullptr,
                      .orders_alike = options.overlap && !language.grid,
                      .integer_orders_alike = options.target.vector.integers,
                      .float_orders_alike = options.target.vector.bits > 0 && !language.grid && !options.overlap,
                      .stored_bytes = byte_options(options.target).stored,
                      .dot_elements = options.target.vector.integers ? channel_tile(options.target) : 0,
                      .winograd = winograd_of(options),
                      .fuses_horizontally = fuses_horizontally(options),
                      .first_cache_bytes = options.target.first_cache_bytes,
                      .vector_bytes = options.target.vector.bits / 8};
  const std::shared_ptr<const OptTable> table = tuned_opts(options);
  how.layouts = layout_choices(options, how, table);
  frontend.schedule = create_schedule(*frontend.model.graph, outputs, how, states);
  if (table != nullptr) frontend.tuning_notes = notes_on_refused(frontend.schedule.refused, *table);
  frontend.widened_bytes = frontend.schedule.widened_bytes;
  if (options.wide_weights)
    frontend.widened_bytes += widen_weights(*frontend.model.graph, frontend.schedule, codegen_of(language, options).instructions);
  verify(frontend.schedule);
  frontend.sha256 = sha256.get();
  if (options.dump) options.dump("schedule", [&] { return to_text(frontend.schedule); });
  return frontend;
}

Program lower_model(const Frontend& frontend, const Language* language, const CompileOptions& options) {
  LowerOptions lowering;
  lowering.language = language;
  if (language != nullptr && !language->grid) lowering.sharing = options.sharing;
  if (language != nullptr) lowering.codegen = codegen_of(*language, options);
  for (const ImportedTensor& input : frontend.model.inputs) lowering.inputs.push_back(input.tensor.buffer());
  lowering.place = options.import.path.string();
  lowering.size_names = names_of(frontend.model.dims);
  const auto progress = [&](int done, int total, const std::string& kernel) {
    if (options.step) options.step("lowering " + kernel, done, total);
  };
  // Every language gets the same order, so that calls can be compared by number.
  Program program = reorder(lower(frontend.model.graph, frontend.schedule, lowering, progress));
  for (std::size_t k = 0; k < frontend.model.inputs.size(); k++) {
    ProgramBuffer& buffer = program.buffers[static_cast<std::size_t>(program.inputs[k])];
    buffer.below = frontend.model.inputs[k].below;
    buffer.by_value = frontend.model.inputs[k].by_value;
  }
  if (language != nullptr && !language->grid) {
    program.io_in_arena = options.io_in_arena;
    program.pools = options.target.pools;
  }
  verify(program);
  require_own_names(program, frontend.model.name);
  if (language != nullptr) dump_kernels(program, options);
  return program;
}

CompiledProject compile_project(const Frontend& frontend, const CompileOptions& options, const std::optional<SelfTest>& selftest) {
  require_no_pools_on_grid(options.target);
  require_known_math(options.target);
  return compile_program(frontend, lower_model(frontend, &language_of(options.target), options), options, selftest);
}

CompiledProject compile_program(const Frontend& frontend, Program program, const CompileOptions& options,
                                const std::optional<SelfTest>& selftest) {
  CompiledProject project;
  project.program = std::move(program);
  require_no_double(project.program, options.target);
  require_math(project.program, options.target);
  if (options.step) options.step("planning memory", 0, 0);
  const bool grid = project.program.language->grid;
  PlanOptions planning{.align = options.target.arena_align, .align_all = grid};
  project.plan = plan_memory(project.program, planning);
  verify(project.plan, project.program);
  if (options.overlap && !grid && project.program.pools.empty()) {
    planning.overlap = false;
    project.apart_bytes = plan_memory(project.program, planning).arena_bytes;
  }
  if (options.dump) options.dump("plan", [&] { return to_text(project.plan, project.program); });
  leave_out_copies(project.program, project.plan);
  EmitOptions emitting = emit_options(frontend, options);
  bool computes_expected = false;
  if (selftest) {
    emitting.selftest = *selftest;
  } else if (options.selftest) {
    if (options.selftest_result == SelfTestResult::Auto) project.why_checksum = too_much_to_expect(project.program);
    computes_expected = options.selftest_result != SelfTestResult::Checksum && project.why_checksum.empty();
    emitting.selftest = selftest_inputs(frontend, options);
  }
  if (options.step) options.step("emitting", 0, 0);
  project.files = emit(project.program, project.plan, emitting);
  project.report = make_report(project.program, project.plan, emitting);
  project.report.arena_apart_bytes = project.apart_bytes;
  auto& notes = project.report.tuning_notes;
  notes.insert(notes.begin(), frontend.tuning_notes.begin(), frontend.tuning_notes.end());
  if (const auto table = tuned_opts(options)) {
    const std::vector<std::string> of_files = notes_on_files(*table, frontend.schedule.found, project.program.rows, options.target);
    notes.insert(notes.begin(), of_files.begin(), of_files.end());
  }
  for (const DeadChannels& d : frontend.dead) project.report.dead.push_back({d.nodes, d.removed, d.total});
  project.report.float_nodes = frontend.float_nodes;
  project.named_after_folder = frontend.model.named_after_folder;
  project.probe = probe_sources(project.program, project.plan, emitting);
  project.measurement = begin_measuring(project, options);
  if (computes_expected) {
    if (options.step) options.step("self-test", 0, 0);
    add_expected(*emitting.selftest, frontend, options);
    const auto file = std::ranges::find(project.files, kSelfTestFile, &EmittedFile::name);
    check(file != project.files.end(), "a project with a self-test has its file");
    *file = emit_selftest(project.program, project.plan, emitting);
  }
  return project;
}

WrittenProject write_audited(const std::filesystem::path& dir, const CompiledProject& project, const CompileOptions& options) {
  WrittenProject result{project.report, fit_without_compiler(project, options)};
  require_fit(result.fit);
  Report& report = result.report;
  for (const EmittedFile& file : project.files) report.files.push_back(file.name);
  report.files.push_back("fit.json");
  if (options.step) options.step("writing", 0, 0);
  const BegunMeasurement measurement = begin_measuring(project, options);
  write_project(dir, project.files, [&](const std::filesystem::path& written) {
    if (options.step) options.step("checking the C that was written", 0, 0);
    AuditOptions auditing = audit_options(options.target);
    std::vector<std::string> of_user;  // files; what is found there is the user's to judge
    for (const ExternalFile& file : external_files(project.program.kernels))
      if (!file.of_runtime) of_user.push_back(file.name);
    auditing.symbols = report.custom_functions;
    const AuditReport audit = audit_directory(written, std::move(auditing));
    ReportAudit section{static_cast<int>(audit.functions.size()), audit.bounded_loops, {}};
    for (const Finding& finding : audit.findings) {
      check(std::ranges::find(of_user, finding.file) != of_user.end(), "emitted C passes the audit: " + describe(finding));
      section.findings.push_back(describe(finding));
    }
    report.audit = section;
    write_file(written / "report.json", to_json(report));
    write_file(written / "report.txt", to_text(report));
    if (measurement) {
      result.fit = measured_fit(project, options, measurement, audit);
      require_fit(result.fit);
    }
    write_file(written / "fit.json", to_json(result.fit));
  });
  return result;
}

Fit fit_of(const CompiledProject& project, const CompileOptions& options) {
  const BegunMeasurement measurement = begin_measuring(project, options);
  if (!measurement) return fit_without_compiler(project, options);
  const TempDir work("etch-fit");
  for (const EmittedFile& file : project.files)
    if (!file.is_weights) write_file(work.path() / file.name, file.text);
  return measured_fit(project, options, measurement, audit_directory(work.path(), audit_options(options.target)));
}

}  // namespace etch
