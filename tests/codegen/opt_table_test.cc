// The table of what a search found: its text, its errors, and the keys of kernels.
#include "codegen/opt_table.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "program/generate.h"
#include "support/compiled.h"
#include "support/conv.h"
#include "support/expect_error.h"
#include "support/instructions.h"

namespace etch::opt_table_test {
namespace {

constexpr const char* kKey = "0123456789abcdef";

TEST(OptTable, each_step_is_read_as_it_is_written) {
  for (int op = 0; op <= static_cast<int>(OptOp::Tensor); op++) {
    Opt opt{static_cast<OptOp>(op)};
    const bool has_axis = opt.op != OptOp::NoLocals && opt.op != OptOp::Interior && opt.op != OptOp::PrefetchWrite &&
                          opt.op != OptOp::Pipeline && opt.op != OptOp::Roll && opt.op != OptOp::Zigzag && opt.op != OptOp::Backwards;
    if (has_axis) opt.axis = 2;
    if (has_axis && opt.op != OptOp::Outermost && opt.op != OptOp::Prefetch) opt.amount = 12;
    const std::vector<Opt> opts{opt, {OptOp::Upcast, 0, 0}, opt};
    EXPECT_EQ(opts_of(to_text(opts)), opts) << to_text(opts);
  }
  EXPECT_EQ(opts_of(""), std::vector<Opt>());
  for (const char* bad : {"UPCAST", "UPCAST 1", "UPCAST 1 x", "UPCAST 1 2 3", "UPCAST -1 2", "INTERIOR 0", "upcast 1 2", "UPCAST 1 2,",
                          ", UPCAST 1 2", "UPCAST 1 99999999999999999999"})
    EXPECT_EQ(opts_of(bad), std::nullopt) << bad;
}

TEST(OptTable, a_table_is_read_as_it_is_written_whatever_the_order_of_its_rows) {
  OptTable table;
  table.set("ffffffffffffffff", {"r_8_5_6", {{OptOp::Upcast, 0, 4}, {OptOp::Interior}}});
  table.set("0000000000000001", {"E_4", {}});
  const std::string text = table.text();
  EXPECT_EQ(OptTable::parse(text, "f").text(), text);
  OptTable other;
  other.set("0000000000000001", {"E_4", {}});
  other.set("ffffffffffffffff", {"r_8_5_6", {{OptOp::Upcast, 0, 4}, {OptOp::Interior}}});
  EXPECT_EQ(other.text(), text);
  EXPECT_EQ(OptTable::parse(text, "f").find("ffffffffffffffff")->opts, table.find("ffffffffffffffff")->opts);
  EXPECT_EQ(table.find("0000000000000002"), nullptr);
  other.set("0000000000000001", {"E_4", {{OptOp::Upcast, 0, 2}}});
  table.add(other);
  EXPECT_EQ(table.text(), other.text());
}

TEST(OptTable, a_table_says_for_what_its_rows_were_found) {
  OptTable table;
  table.set("0000000000000001", {"E_4", {}});
  table.add_found_for({"cortex-m4f", "arm-none-eabi-gcc"});
  table.add_found_for({"cortex-m3", "clang-19"});
  const std::string text = table.text();
  EXPECT_NE(text.find("# Found for cortex-m3 with clang-19.\n# Found for cortex-m4f with arm-none-eabi-gcc.\n"), std::string::npos) << text;
  const OptTable read = OptTable::parse(text, "f");
  EXPECT_EQ(read.text(), text);
  ASSERT_EQ(read.files().size(), 1u);
  EXPECT_EQ(read.files()[0].name, "f");
  EXPECT_EQ(read.files()[0].rows, 1u);
  EXPECT_EQ(read.files()[0].found_for, (std::set<FoundFor>{{"cortex-m3", "clang-19"}, {"cortex-m4f", "arm-none-eabi-gcc"}}));
  EXPECT_FALSE(OptTable::parse("# Found for cortex-m3 with clang-19.\r\n", "f").files()[0].found_for.empty());
  for (const char* other : {"# Found for nothing.\n", "# Found for with gcc.\n", "# Found for me with some luck.\n",
                            "# Found for x with .\n", "# Found for cortex-m3 with clang-19\n", "# For cortex-m3 with clang-19.\n"})
    EXPECT_TRUE(OptTable::parse(other, "f").files()[0].found_for.empty()) << other;
  OptTable both;
  both.add(read);
  EXPECT_TRUE(both.files().empty());
  both.add_with_files(read);
  EXPECT_EQ(both.files().size(), 1u);
}

TEST(OptTable, ways_of_choices_stand_beside_the_steps_of_kernels) {
  OptTable table;
  table.set_layout("00000000000000ff", TunedLayout{"order_8_48_48", 2});
  table.set("ffffffffffffffff", {"r_8_5_6", {{OptOp::Upcast, 0, 4}}});
  table.set_layout("0000000000000001", TunedLayout{"padding_4", 0});
  const OptTable read = OptTable::parse(table.text(), "f");
  EXPECT_EQ(read.text(), table.text());
  EXPECT_EQ(read.size(), 3u);
  EXPECT_EQ(read.way("00000000000000ff"), 2);
  EXPECT_EQ(read.way("ffffffffffffffff"), std::nullopt);
  EXPECT_EQ(read.find("00000000000000ff"), nullptr);
  EXPECT_EQ(read.ways(), (std::map<std::string, int>{{"00000000000000ff", 2}, {"0000000000000001", 0}}));
  OptTable again = read.without_layouts();
  EXPECT_EQ(again.size(), 1u);
  again.add(read.layouts_alone());
  EXPECT_EQ(again.text(), table.text());
  again.remove_layout("00000000000000ff");
  EXPECT_EQ(again.ways(), (std::map<std::string, int>{{"0000000000000001", 0}}));
}

// What FILE gets where other tables are taken too: together they say what was found.
TEST(OptTable, rows_above_other_tables_say_the_rest) {
  const auto table = [](const std::string& rows) { return OptTable::parse(rows, "f"); };
  const std::string a = "000000000000000a ", b = "000000000000000b ", c = "000000000000000c ", d = "000000000000000d ";
  const OptTable others = table(a + "r: UPCAST 0 2\n" + b + "r: UPCAST 0 2\n" + c + "order: WAY 1\n" + d + "order: WAY 2\n");
  const OptTable usual = table(b + "r: UPCAST 0 8\n" + d + "order: WAY 0\n0000000000000001 order: WAY 0\n");
  const OptTable all = table(a + "r: UPCAST 0 4\n" + c + "order: WAY 1\n0000000000000002 r: NOLOCALS\n0000000000000003 order: WAY 1\n");
  const OptTable found = all.above(others, usual, {});
  EXPECT_EQ(found.text(), table(a + "r: UPCAST 0 4\n" + b + "r: UPCAST 0 8\n0000000000000002 r: NOLOCALS\n" + d +
                                "order: WAY 0\n0000000000000003 order: WAY 1\n")
                              .text());
  EXPECT_EQ(all.above(others, {}, others).way("000000000000000c"), 1) << "a row that FILE has stays there";
  EXPECT_EQ(all.above({}, usual, {}).text(), all.text());
}

TEST(OptTable, a_damaged_row_is_an_error_that_names_its_line) {
  const std::string key = kKey;
  const std::pair<std::string, std::string> cases[] = {
      {"# one\n\nnokey r_4: UPCAST 0 2\n", "t.opts:3: 'nokey' is no key of a kernel or a choice, accepted are 16 digits 0 to 9, a to f"},
      {"0123456789ABCDEF r_4: UPCAST 0 2\n", "t.opts:1: '0123456789ABCDEF' is no key"},
      {key + " r_4 UPCAST 0 2\n", "t.opts:1: there is no ':'"},
      {key + ": UPCAST 0 2\n", "t.opts:1: '0123456789abcdef:' is no key"},
      {key + " r_4: UPCAST 0\n", "t.opts:1: ' UPCAST 0' are no steps"},
      {"\x1b[31mred r: UPCAST 0 2\n", "t.opts:1: '\\x1b[31mred' is no key"},
      {key + " r_4: " + std::string(1000, 'x') + "\n", "t.opts:1: ' " + std::string(59, 'x') + "...' are no steps"},
      {key + " order_4: WAY 1\x07\n", "t.opts:1: 'WAY 1\\x07' is no way"},
      {key + " order_4: WAY\n", "t.opts:1: ' WAY' are no steps"},
      {key + " order_4: WAY x\n", "t.opts:1: 'WAY x' is no way"},
      {key + " order_4: WAY -1\n", "t.opts:1: 'WAY -1' is no way"},
      {key + " order_4: WAY 1 2\n", "t.opts:1: 'WAY 1 2' is no way"},
      {key + " order_4: WAY 1\n" + key + " r_4: UPCAST 0 4\n", "t.opts:2: 0123456789abcdef has a row before, in line 1"},
      {key + " r_4: UPCAST 0 2\n" + key + " r_4: UPCAST 0 4\n", "t.opts:2: 0123456789abcdef has a row before, in line 1"},
  };
  for (const auto& [text, error] : cases) test::expect_error<UserError>([&, t = &text] { OptTable::parse(*t, "t.opts"); }, error);
  test::expect_error<UserError>([] { OptTable::read("/nowhere/t.opts"); }, "/nowhere/t.opts: can't be read: No such file");
  test::expect_error<UserError>([] { OptTable::read("/"); }, "/: can't be read: Is a directory");
}

// Each property that decides which steps a kernel may take gives another key.
TEST(OptTable, kernels_that_may_take_other_steps_have_other_keys) {
  LazyOps ops;
  const LazyOp* conv =
      test::conv_store(ops, {.in = 4, .out = 8, .height = 6, .width = 6, .kernel = 3, .pad = 1}, DType::Int8, DType::Int32);
  const LazyOp* wider =
      test::conv_store(ops, {.in = 4, .out = 8, .height = 6, .width = 7, .kernel = 3, .pad = 1}, DType::Int8, DType::Int32);
  const auto arguments = test::signature_of("k", conv, {288, 144, 288}, {false, false, true}).arguments;
  auto bounded = arguments, laid = arguments;
  bounded[1].is_bounded = true;
  laid[2].is_constant = false;
  const CodegenOptions m4 = codegen_options(test::target_named("cortex-m4f"), kC);
  CodegenOptions small = m4, overlap = m4, backwards = m4, other_rows = m4;
  small.small_code = true;
  overlap.overlap = true;
  backwards.overlap = backwards.backwards = true;
  std::swap(other_rows.instructions[0], other_rows.instructions[1]);
  const std::set<std::string> keys{tuning_key(conv, arguments, m4),        tuning_key(wider, arguments, m4),
                                   tuning_key(conv, bounded, m4),          tuning_key(conv, laid, m4),
                                   tuning_key(conv, arguments, small),     tuning_key(conv, arguments, overlap),
                                   tuning_key(conv, arguments, backwards), tuning_key(conv, arguments, other_rows)};
  EXPECT_EQ(keys.size(), 8u);
  LazyOps again;
  const LazyOp* same =
      test::conv_store(again, {.in = 4, .out = 8, .height = 6, .width = 6, .kernel = 3, .pad = 1}, DType::Int8, DType::Int32);
  EXPECT_EQ(tuning_key(same, arguments, m4), tuning_key(conv, arguments, m4));
}

TEST(OptTable, a_kernel_takes_the_steps_of_its_row_or_with_a_note_those_of_the_heuristics) {
  LazyOps ops;
  const LazyOp* store = test::conv_store(ops, {.out = 4, .height = 8, .width = 8, .kernel = 1}, DType::Int8, DType::Int32);
  const auto arguments = test::signature_of("k", store, {256, 64, 4}, {false, false, true}).arguments;
  CodegenOptions options = codegen_options(test::target_named("cortex-m3"), kC);
  const std::vector<Opt> plain = choose_opts(store, arguments, options).applied();
  const std::string key = tuning_key(store, arguments, options);
  for (const char* steps : {"UPCAST 0 2, UPCAST 1 8", "UPCAST 0 2, UPCAST 7 8", ""}) {
    options.tuned = std::make_shared<const OptTable>(OptTable::parse("\n" + key + " r: " + steps + "\n", "t.opts"));
    RowFound found;
    const std::vector<Opt> taken = choose_opts(store, arguments, options, &found).applied();
    const bool is_stale = std::string_view(steps).find('7') != std::string_view::npos;
    EXPECT_EQ(taken, is_stale ? plain : *opts_of(steps)) << steps;
    EXPECT_EQ(found.note.starts_with("t.opts:2: UPCAST 7 8 can't be applied (there is no such axis)"), is_stale) << found.note;
    EXPECT_EQ(found.note.empty(), !is_stale) << found.note;
    EXPECT_EQ(found.row, (TableRow{"t.opts", 2}));
  }
  options.optimize = false;
  EXPECT_TRUE(choose_opts(store, arguments, options).applied().empty());
}

}  // namespace
}  // namespace etch::opt_table_test
