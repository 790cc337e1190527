// Runners: what runs one AST on a device, on Buffers. Each counts what it did in GlobalCounters. A program's calls and kernels that are
// run by hand go through the same runners.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/buffer.h"
#include "device/debug.h"
#include "device/loaded_kernel.h"

namespace etch {

/// The estimates are of one run, and may hold Variables.
struct Estimate {
  Sint ops = 0;  // operations, as count_work counts them
  Sint mem = 0;  // bytes that are read or written, each once
};

/// Counts one run of a kernel, or of several as one, and tells it: the estimates are evaluated for these values of the variables.
void update_stats(const Stats& stats, const Estimate& estimate, const VarValues& var_vals, std::optional<double> seconds,
                  const KernelRun& run = {}, std::int64_t kernels = 1);

/// How a run of `kernel` is shown.
KernelRun shown_run(const ProgramKernel& kernel, const VarValues& var_vals);

/// Anything that runs on buffers and that a JIT may record.
class JITRunner {
 public:
  JITRunner(Estimate estimate, Stats stats) : estimate_(std::move(estimate)), stats_(std::move(stats)) {}
  virtual ~JITRunner() = default;
  JITRunner(const JITRunner&) = delete;
  JITRunner& operator=(const JITRunner&) = delete;

  /// Runs it: `rawbufs` what is written first, then what is read, in the order of the AST's buffers; `var_vals` has a value for each
  /// variable. With `wait` the seconds until its end. Throws DeviceError, also for buffers of another type, device or size than it takes.
  std::optional<double> exec(const std::vector<const Buffer*>& rawbufs, const VarValues& var_vals, bool wait = false);
  const Sint& op_estimate() const { return estimate_.ops; }
  const Sint& mem_estimate() const { return estimate_.mem; }
  /// How many kernels one run starts.
  virtual std::int64_t kernels() const { return 1; }
  /// How a run is shown in the table of DebugLog; exec() adds the number of buffers.
  virtual KernelRun shown(const VarValues&) const { return {}; }

 protected:
  virtual std::optional<double> run(const std::vector<const Buffer*>& rawbufs, const VarValues& var_vals, bool wait) = 0;
  /// Counts a run on so many buffers, and tells about it.
  virtual void count(std::size_t buffers, const VarValues& var_vals, std::optional<double> seconds) const;
  const Stats& stats() const { return stats_; }

 private:
  Estimate estimate_;
  Stats stats_;
};

/// What a runner of an AST takes.
struct ASTSignature {
  std::string device;                     // its name
  std::vector<KernelArgument> arguments;  // each with the least number of elements that its buffer has
  std::vector<ProgramVariable> variables;
};
/// The buffers of `ast`, what it writes first. A size is that which the largest values of the variables need.
ASTSignature signature_of(const LazyOp* ast, std::string device);
Estimate estimate_of(const LazyOp* ast, const std::vector<KernelArgument>& arguments);

class ASTRunner : public JITRunner {
 public:
  /// `owner` keeps alive what the AST and the estimate point into.
  ASTRunner(ASTSignature signature, Estimate estimate, Stats stats, std::shared_ptr<const void> owner)
      : JITRunner(std::move(estimate), std::move(stats)), signature_(std::move(signature)), owner_(std::move(owner)) {}
  const ASTSignature& signature() const { return signature_; }

 protected:
  /// Throws DeviceError unless the arguments are what it takes.
  void check_arguments(const std::vector<const Buffer*>& rawbufs, const VarValues& var_vals) const;

 private:
  ASTSignature signature_;
  std::shared_ptr<const void> owner_;
};

/// The values that a kernel takes after its buffers.
std::vector<std::int32_t> values_of(const ProgramKernel& kernel, const VarValues& var_vals);

/// An AST as a compiled kernel.
class CompiledASTRunner : public ASTRunner {
 public:
  CompiledASTRunner(ASTSignature signature, Estimate estimate, Stats stats, std::shared_ptr<const void> owner, ProgramKernel kernel,
                    LoadedKernel loaded)
      : ASTRunner(std::move(signature), std::move(estimate), std::move(stats), std::move(owner)),
        kernel_(std::move(kernel)),
        loaded_(std::move(loaded)) {}

  const ProgramKernel& kernel() const { return kernel_; }
  const LoadedKernel& loaded() const { return loaded_; }
  /// The grid for these values of the variables.
  LaunchSize launch_dims(const VarValues& var_vals) const { return launch_size(kernel_, var_vals); }

  KernelRun shown(const VarValues& var_vals) const override { return shown_run(kernel_, var_vals); }

 protected:
  std::optional<double> run(const std::vector<const Buffer*>& rawbufs, const VarValues& var_vals, bool wait) override;

 private:
  ProgramKernel kernel_;
  LoadedKernel loaded_;
};

/// An AST that the reference evaluates.
class InterpretedASTRunner : public ASTRunner {
 public:
  InterpretedASTRunner(const LazyOp* ast, ASTSignature signature, Estimate estimate, Stats stats, std::shared_ptr<const void> owner,
                       std::string name)
      : ASTRunner(std::move(signature), std::move(estimate), std::move(stats), std::move(owner)), ast_(ast), name_(std::move(name)) {}

  KernelRun shown(const VarValues&) const override { return {.name = name_, .grid = std::nullopt}; }

 protected:
  std::optional<double> run(const std::vector<const Buffer*>& rawbufs, const VarValues& var_vals, bool wait) override;

 private:
  const LazyOp* ast_;
  std::string name_;
};

/// Starts a kernel with the grid and the values that `var_vals` give it.
std::optional<double> launch(const LoadedKernel& loaded, const ProgramKernel& kernel, std::span<void* const> buffers,
                             const VarValues& var_vals, bool wait);
/// Evaluates `ast` on memory of this process: what it writes first.
struct HostPiece {
  std::byte* data = nullptr;
  std::int64_t elements = 0;
  DType dtype{};
};
void interpret(const LazyOp* ast, std::span<const HostPiece> buffers, const VarValues& var_vals);

}  // namespace etch
