#include "device/runner.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "device/device_error.h"
#include "program/lower_call.h"

namespace etch {

void update_stats(const Stats& stats, const Estimate& estimate, const VarValues& var_vals, std::optional<double> seconds,
                  const KernelRun& run, std::int64_t kernels) {
  const std::int64_t ops = evaluate(estimate.ops, var_vals), mem = evaluate(estimate.mem, var_vals);
  const GlobalCounters::Values after = stats.counters->add_kernels(kernels, ops, mem, seconds);
  if (stats.tells(kDebugRuns)) stats.debug->print_run(stats.device, run, ops, mem, seconds, after);
}

KernelRun shown_run(const ProgramKernel& kernel, const VarValues& var_vals) {
  KernelRun run{.name = kernel.name, .grid = std::nullopt, .buffers = kernel.arguments.size()};
  if (!kernel.global_size.empty()) run.grid = launch_size(kernel, var_vals);
  return run;
}

std::optional<double> JITRunner::exec(const std::vector<const Buffer*>& rawbufs, const VarValues& var_vals, bool wait) {
  const bool tells = stats_.tells(kDebugRuns);
  const std::optional<double> seconds = run(rawbufs, var_vals, wait || tells);
  count(rawbufs.size(), var_vals, seconds);
  return wait ? seconds : std::nullopt;
}

void JITRunner::count(std::size_t buffers, const VarValues& var_vals, std::optional<double> seconds) const {
  KernelRun shown_as = stats_.tells(kDebugRuns) ? shown(var_vals) : KernelRun();
  shown_as.buffers = buffers;
  update_stats(stats_, estimate_, var_vals, seconds, shown_as);
}

ASTSignature signature_of(const LazyOp* ast, std::string device) {
  check(ast->op == Op::Store, "the root of an AST is a Store");
  std::map<int, KernelArgument> arguments;
  for (const LazyOp* op : toposort(ast)) {
    if (op->op != Op::Load && op->op != Op::Store) continue;
    const int index = op->mem().index;
    KernelArgument& argument = arguments[index];
    argument.dtype = op->dtype;
    argument.access = op->op == Op::Store ? Access::Write : Access::Read;
    argument.name = (op->op == Op::Store ? "out" : "in") + (op == ast ? std::string() : std::to_string(index));
    argument.elements = std::max({argument.elements.as_int(), op->st().real_size(), std::int64_t{1}});
  }
  ASTSignature signature{.device = std::move(device), .arguments = {}, .variables = {}};
  for (auto& [index, argument] : arguments) {
    check(index == static_cast<int>(signature.arguments.size()), "the buffers of an AST are numbered without gaps");
    signature.arguments.push_back(std::move(argument));
  }
  for (const Node* v : variables(ast)) signature.variables.push_back({v->name, v->min, v->max});
  return signature;
}

Estimate estimate_of(const LazyOp* ast, const std::vector<KernelArgument>& arguments) {
  std::vector<Sint> elements;
  for (const KernelArgument& argument : arguments) elements.push_back(argument.elements);
  return {.ops = count_work(ast).flops, .mem = bytes_moved(ast, elements)};
}

void ASTRunner::check_arguments(const std::vector<const Buffer*>& rawbufs, const VarValues& var_vals) const {
  const std::vector<KernelArgument>& wanted = signature_.arguments;
  if (rawbufs.size() != wanted.size())
    throw DeviceError("kernel on " + signature_.device,
                      "there are " + std::to_string(rawbufs.size()) + " buffers, it takes " + std::to_string(wanted.size()));
  for (std::size_t i = 0; i < wanted.size(); i++) {
    const Buffer& got = *rawbufs[i];
    const std::int64_t least = wanted[i].elements.as_int();
    if (got.device() == signature_.device && got.dtype() == wanted[i].dtype && got.size() >= least) continue;
    throw DeviceError("kernel on " + signature_.device + ", buffer " + std::to_string(i),
                      "is " + std::to_string(got.size()) + " x " + std::string(name_of(got.dtype())) + " on " + got.device() +
                          ", accepted is " + std::string(name_of(wanted[i].dtype)) + " on " + signature_.device + ", at least " +
                          std::to_string(least));
  }
  check_values("variable", signature_.variables, var_vals);
}

std::vector<std::int32_t> values_of(const ProgramKernel& kernel, const VarValues& var_vals) {
  std::vector<std::int32_t> values;
  for (const std::string& v : kernel.variables) values.push_back(static_cast<std::int32_t>(var_vals.at(v)));
  return values;
}

std::optional<double> launch(const LoadedKernel& loaded, const ProgramKernel& kernel, std::span<void* const> buffers,
                             const VarValues& var_vals, bool wait) {
  return loaded(buffers, launch_size(kernel, var_vals), values_of(kernel, var_vals), wait);
}

std::optional<double> CompiledASTRunner::run(const std::vector<const Buffer*>& rawbufs, const VarValues& var_vals, bool wait) {
  check_arguments(rawbufs, var_vals);
  std::vector<void*> memory;
  for (const Buffer* buffer : rawbufs) memory.push_back(buffer->opaque());
  return launch(loaded_, kernel_, memory, var_vals, wait);
}

void interpret(const LazyOp* ast, std::span<const HostPiece> buffers, const VarValues& var_vals) {
  const std::vector<const LazyOp*> stores = stores_of(ast);
  std::vector<InterpInput> inputs;
  for (const HostPiece& piece : buffers.subspan(1)) inputs.push_back({piece.dtype, piece.data, piece.elements});
  // Where an output begins: a call in a loop may write one element of a list.
  const auto place = [&](std::size_t k) {
    const std::vector<View>& views = stores[k]->st().views();
    check(views.size() == 1, "a store writes adjacent elements");
    const std::int64_t first = evaluate(views.front().offset, var_vals);
    return HostPiece{buffers[k].data + first * bytes_of(buffers[k].dtype), buffers[k].elements - first, buffers[k].dtype};
  };
  if (stores.size() == 1) {
    const HostPiece out = place(0);
    return interp_evaluate_into(ast, inputs, var_vals, out.data, out.elements);
  }
  std::vector<std::vector<std::byte>> results;  // all, before any is written: one may lie over an input of another
  for (std::size_t k = 0; k < stores.size(); k++) {
    std::int64_t elements = 1;
    for (const Sint& d : stores[k]->shape) elements *= evaluate(d, var_vals);
    check(elements <= place(k).elements, "an output holds its shape");
    results.emplace_back(static_cast<std::size_t>(elements * bytes_of(buffers[k].dtype)));
    interp_evaluate_into(stores[k], inputs, var_vals, results.back().data(), elements);
  }
  for (std::size_t k = 0; k < stores.size(); k++) std::ranges::copy(results[k], place(k).data);
}

std::optional<double> InterpretedASTRunner::run(const std::vector<const Buffer*>& rawbufs, const VarValues& var_vals, bool wait) {
  check_arguments(rawbufs, var_vals);
  std::vector<HostPiece> pieces;
  for (const Buffer* buffer : rawbufs) pieces.push_back({buffer->as_buffer().data(), buffer->size(), buffer->dtype()});
  const auto begin = std::chrono::steady_clock::now();
  interpret(ast_, pieces, var_vals);
  if (!wait) return std::nullopt;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace etch
