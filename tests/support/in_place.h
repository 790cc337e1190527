// For tests: kernels whose outputs lie over one of their inputs.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "memory/plan.h"
#include "program/lower_call.h"
#include "support/backends.h"
#include "support/opt_chain.h"
#include "support/random_ast.h"

namespace etch::test {

/// Each kernel reads what may share memory with its output from there: inputs are copied into the arena, in which the plan puts the output
/// over one of them.
class InPlace {
 public:
  explicit InPlace(const Language& language, int vector_bits = 256) : options_(options_for(language)) {
    program_.language = &language;
    if (!language.grid) options_.vector_bits = vector_bits;
  }

  /// Whether some input of the kernel can lie in the output's memory.
  bool add(const KnownAst& c, std::mt19937* random_opts = nullptr) {
    std::optional<std::vector<Opt>> opts;
    if (random_opts != nullptr) opts = random_opt_chain(c.store, *random_opts, options_, 16, options_.has_local);
    return add(c, opts);
  }

  /// The same with those steps, or by the heuristics.
  bool add(const KnownAst& c, const std::optional<std::vector<Opt>>& opts) {
    const auto size = static_cast<std::int64_t>(c.expected.size());
    const std::vector<std::uint32_t> may_share = may_alias(c.store, c.inputs.size() + 1);
    if (std::ranges::all_of(may_share, [](std::uint32_t outputs) { return outputs == 0; })) return false;
    KernelSignature signature{"k" + std::to_string(program_.kernels.size()), {{DType::Float32, size, "out", Access::Write}}, {}};
    for (std::size_t i = 0; i < c.inputs.size(); i++)
      signature.arguments.push_back({DType::Float32, c.inputs[i].size(), "in" + std::to_string(i + 1), Access::Read});
    CodegenOptions options = options_;
    options.opts = opts;
    program_.kernels.push_back(generate_kernel(c.store, signature, *program_.language, options));
    ProgramCall call;
    call.kernel = static_cast<int>(program_.kernels.size()) - 1;
    const int result = buffer(BufferKind::Intermediate, size, {});
    call.arguments.push_back({result, Access::Write, false});
    for (std::size_t i = 0; i < c.inputs.size(); i++) {
      const int constant = buffer(BufferKind::Constant, c.inputs[i].size(), c.inputs[i]);
      call.arguments.push_back({may_share[i + 1] ? copy(constant, BufferKind::Intermediate) : constant, Access::Read, may_share[i + 1]});
    }
    program_.calls.push_back(call);
    program_.outputs.push_back(copy(result, BufferKind::Output));
    return true;
  }

  const Program& program() const { return program_; }
  const CodegenOptions& options() const { return options_; }

 private:
  int buffer(BufferKind kind, std::int64_t n, Array data) {
    program_.buffers.push_back({"b" + std::to_string(program_.buffers.size()), kind, DType::Float32, {n}, n, std::move(data)});
    return static_cast<int>(program_.buffers.size()) - 1;
  }

  int copy(int from, BufferKind kind) {
    const std::int64_t n = program_.buffers[static_cast<std::size_t>(from)].max_elements;
    const ShapeTracker st = ShapeTracker::from_shape({n});
    const auto [kernel, is_new] = copies_.try_emplace(n, static_cast<int>(program_.kernels.size()));
    if (is_new) {
      KernelSignature signature{"copy" + std::to_string(n), {{DType::Float32, n, "out", Access::Write}, {DType::Float32, n, "in"}}, {}};
      program_.kernels.push_back(
          generate_kernel(ops_.store(0, ops_.load(1, DType::Float32, st), st), signature, *program_.language, options_));
    }
    ProgramCall call;
    call.kernel = kernel->second;
    const int to = buffer(kind, n, {});
    call.arguments = {{to, Access::Write, false}, {from, Access::Read, false}};
    program_.calls.push_back(call);
    return to;
  }

  LazyOps ops_;
  CodegenOptions options_;
  Program program_;
  std::map<std::int64_t, int> copies_;  // by size
};

/// Runs the kernels, of which more than `least` write over an input, and compares what they give with what `cases` expect.
inline void expect_in_place_agrees(const Device& device, const InPlace& in_place, const std::vector<std::unique_ptr<KnownAst>>& cases,
                                   std::ptrdiff_t least, DifferenceFrom difference) {
  const MemoryPlan plan = plan_memory(in_place.program());
  EXPECT_GT(std::ranges::count_if(plan.placements, [](const Placement& p) { return p.in_place_of >= 0; }), least);
  const std::vector<Array> got = device.load(in_place.program())->run({});
  for (std::size_t k = 0; k < cases.size(); k++)
    ASSERT_EQ(difference(got[k], cases[k]->expected), "") << k << "\n" << to_text(cases[k]->store);
}

}  // namespace etch::test
