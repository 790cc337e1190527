// OptOp TC: dot products of several lanes, each row of each target by itself and among other steps. Sums by plain loops are the reference.
#include <gtest/gtest.h>

#include "support/boards.h"
#include "support/dot_sums.h"
#include "support/processor.h"

namespace etch {
namespace {

using test::DotCase;
using test::Product;

struct TargetRow {
  const char* target;
  std::vector<const char*> mnemonics;  // of each of its rows
  const char* processor;               // the flag of this machine's processor that the instructions need; empty: it is another one
};
const TargetRow kTargets[] = {{"cortex-a55", {"sdot", "udot"}, ""},
                              {"x86-64-v3", {"vpmaddwd", "vpmaddwd"}, "avx2"},
                              {"x86-64-v4", {"vpmaddwd", "vpmaddwd", "vpmaddwd"}, "avx512bw"},
                              {"x86-64-vnni", {"vpdpbusd", "vpdpbusd"}, "avx512_vnni"}};
void PrintTo(const TargetRow& row, std::ostream* out) { *out << row.target; }

std::vector<DotCase> cases(const CodegenOptions& options) {
  std::vector<DotCase> all;
  std::mt19937 rng(14);
  const auto pick = [&](int low, int high) { return static_cast<std::int64_t>(std::uniform_int_distribution(low, high)(rng)); };
  for (std::size_t r = 0; r < options.instructions.size(); r++) {
    const TargetInstruction& row = options.instructions[r];
    const Opt tc{OptOp::Tensor, 0, static_cast<std::int64_t>(r)};
    const std::vector<std::vector<Opt>> chains{{tc},
                                               {tc, {OptOp::Upcast, 0, 3}},
                                               {tc, {OptOp::Unroll, 0, 2}, {OptOp::Upcast, 1, 2}},
                                               {{OptOp::Unroll, 0, 2}, tc, {OptOp::Upcast, 0, 3}},
                                               {tc, {OptOp::PadTo, 0, 4}, {OptOp::Upcast, 0, 4}}};
    for (const std::vector<Opt>& chain : chains)
      for (const bool b_rows : {false, true}) {
        Product p{*dtype_named(row.a), *dtype_named(row.b), DType::Int32, 3 * pick(1, 3), row.lanes * 2 * pick(1, 2), 8 * pick(1, 6)};
        p.b_rows = b_rows;
        p.b_first = pick(0, 1) == 1;
        all.push_back({p, chain, true, all.size() % 5 == 4});
      }
  }
  return all;
}

class DotOfLanes : public testing::TestWithParam<TargetRow> {
 protected:
  const Target target = test::target_named(GetParam().target);
  const CodegenOptions options = codegen_options(target, kC);
};

TEST_P(DotOfLanes, GiveTheSumsInPlainC) {
  test::expect_dot_sums(cases(options), options, test::dot_numbers(15), test::strict_flags(), "cc");
}

// The compiler of the target makes that instruction of each row.
TEST_P(DotOfLanes, AreInstructionsOfTheTargetsCompiler) {
  if (const std::string why = test::missing_compiler_line(target); !why.empty()) GTEST_SKIP() << why;
  ASSERT_EQ(options.instructions.size(), GetParam().mnemonics.size());
  for (std::size_t r = 0; r < options.instructions.size(); r++) {
    const TargetInstruction& row = options.instructions[r];
    const Product p{*dtype_named(row.a), *dtype_named(row.b), DType::Int32, 4, row.lanes, 16};
    const std::string code =
        test::dot_assembly({p, {{OptOp::Tensor, 0, static_cast<std::int64_t>(r)}}}, options, test::compiler_of(target));
    EXPECT_NE(code.find(GetParam().mnemonics[r]), std::string::npos) << row.name;
  }
}

std::string test_name(const testing::TestParamInfo<TargetRow>& made) {
  std::string name = made.param.target;
  std::erase(name, '-');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Targets, DotOfLanes, testing::ValuesIn(kTargets), test_name);

// Where this machine's processor has the instructions.
class DotOfThisMachine : public DotOfLanes {};

TEST_P(DotOfThisMachine, GiveTheSumsByTheInstruction) {
  if (!test::has_feature(GetParam().processor)) GTEST_SKIP() << "this machine's processor has no " << GetParam().processor;
  const std::string compiler = target.toolchain.compilers[0];
  if (const std::string why = test::missing_compiler_line(target); !why.empty()) GTEST_SKIP() << why;
  std::vector<std::string> flags = test::strict_flags();
  for (const std::string& flag : target.toolchain.flags_of(FlagKind::Code)) flags.push_back(flag);
  flags.push_back("-O1");
  test::expect_dot_sums(cases(options), options, test::dot_numbers(15), flags, compiler);
}

std::vector<TargetRow> of_this_architecture() {
  std::vector<TargetRow> rows;
  for (const TargetRow& row : kTargets)
    if (*row.processor != '\0') rows.push_back(row);
  return rows;
}
INSTANTIATE_TEST_SUITE_P(Targets, DotOfThisMachine, testing::ValuesIn(of_this_architecture()), test_name);

}  // namespace
}  // namespace etch
