// etch tune and compile --tuning as a user calls them; the search itself is tested in search/ and driver/.
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/tempdir.h"
#include "driver/tune.h"
#include "onnx/builder.h"
#include "support/files.h"
#include "support/instructions.h"
#include "support/made_once.h"

namespace etch {
namespace {

TEST(Tuning, what_can_not_be_tuned_is_refused_with_what_can) {
  const std::string model = test::zoo_model("mlp").string();
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"--target", "opencl"}, "target opencl: its kernels run on a device, whose time is not measured"},
      {{"--target", "cortex-m4f", "--kernel", "k9_none"},
       "--kernel k9_none: is no kernel of this model with these options; its kernels are "},
      {{"--target", "cortex-m4f", "--tuning", "/nowhere/x.opts"}, "/nowhere/x.opts: can't be read: No such file or directory"},
  };
  for (const auto& [options, error] : cases) {
    std::vector<std::string> args{"tune", model, "-o", "/nowhere/table.opts"};
    args.insert(args.end(), options.begin(), options.end());
    const ProcessResult result = etch_tool(args);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.err.find(error), std::string::npos) << result.err;
  }
}

// What is wrong is told before anything is measured, and the table stays as it is.
TEST(Tuning, a_table_stays_where_nothing_can_be_found) {
  const TempDir work("etch-tuning");
  const std::string table = (work.path() / "net.opts").string(), model = (work.path() / "net.onnx").string();
  GraphBuilder g("net", 13);
  g.output(g.node("Relu", {g.input("x", DType::Float32, {"batch", 4})}), DType::Float32, {"batch", 4});
  write_file(model, g.bytes());
  const std::string rows = "# mine\n0123456789abcdef r_4_4: UPCAST 0 4\n";
  write_file(table, rows);
  struct Case {
    std::vector<std::string> options;
    int exit_code;
    const char* error;
  };
  const Case cases[] = {
      {{"--dim", "batch=1..4", "-o", table}, 1, "sizes are open"},
      {{"--dim", "batch=1", "-o", table, "--no-optimize"}, 2, "--no-optimize: leaves no steps to search for"},
      {{"--dim", "batch=1", "-o", work.path().string()}, 1, "can't be read: Is a directory"},
      {{"--dim", "batch=1", "-o", table, "--tuning", work.path().string()}, 1, "can't be read: Is a directory"},
      {{"--dim", "batch=1", "-o", "/nowhere/net.opts"}, 1, "/nowhere/net.opts: can't be written: No such file or directory"},
  };
  for (const Case& c : cases) {
    std::vector<std::string> args{"tune", model, "--target", "cortex-m4f"};
    args.insert(args.end(), c.options.begin(), c.options.end());
    const ProcessResult result = etch_tool(args);
    EXPECT_EQ(result.exit_code, c.exit_code);
    EXPECT_NE(result.err.find(c.error), std::string::npos) << result.err;
  }
  EXPECT_EQ(test::content(table), rows);
  EXPECT_EQ(test::folder_content(work.path()).size(), 2u) << "nothing is left behind";
}

TEST(Tuning, a_table_of_other_kernels_changes_nothing_but_the_options) {
  const TempDir work("etch-tuning");
  const std::string table = (work.path() / "other.opts").string(), model = test::zoo_model("mlp").string();
  write_file(table, "0123456789abcdef r_4_4: UPCAST 0 4\n");
  const auto compiled = [&](const std::string& tuning) {
    const auto out = work.path() / "out";
    const ProcessResult result =
        etch_tool({"compile", model, "--target", "cortex-m4f", "--no-measure", "--tuning", tuning, "-o", out.string()});
    EXPECT_TRUE(result.ok()) << result.err;
    std::string text = test::content(out / "mlp.c");
    for (const std::string& name : {std::string("off"), std::string("other.opts")})
      if (const std::size_t at = text.find(" --tuning " + name); at != std::string::npos) text.erase(at, 10 + name.size());
    return text;
  };
  EXPECT_EQ(compiled(table), compiled("off"));
}

// Rows are found by what a kernel is, so a table of another target may have none, or some that were measured elsewhere.
TEST(Tuning, what_a_table_has_for_the_model_is_told) {
  const TempDir work("etch-tuning");
  const std::string table = (work.path() / "t.opts").string(), model = test::zoo_model("mlp").string();
  const std::string row = [&] {  // of the first kernel
    const Target target = test::target_named("cortex-m4f");
    CompileOptions options;
    options.import.path = model;
    options.target = target;
    options.target.tuning.clear();
    const Frontend frontend = read_model(options);
    return rows_of(tasks_of(frontend, options).at(0), {}).text();
  }();
  const auto text_with = [&](const std::string& what, const std::string& rows) {
    write_file(table, what + rows);
    const ProcessResult result =
        etch_tool({"compile", model, "--target", "cortex-m4f", "--no-measure", "--tuning", table, "-o", (work.path() / "out").string()});
    EXPECT_TRUE(result.ok()) << result.err;
    return result.out;
  };
  const std::string other = "0123456789abcdef r_4_4: UPCAST 0 4\n";
  struct Case {
    std::string what, rows, note;
  };
  const std::string rows = "t.opts: rows for this model's kernels and choices on cortex-m4f with these options: ";
  const Case cases[] = {
      {"", other, rows + "0 of 1: the heuristics chose"},
      {"# Found for cortex-m3 with gcc-9.\n", other, rows + "0 of 1, found for cortex-m3 with gcc-9: the heuristics chose"},
      {"# Found for cortex-m3 with gcc-9.\n", row, rows + "1 of 1, found for cortex-m3 with gcc-9: they may not be the best here"},
      {"# Found for cortex-m4f with clang-19.\n", row, rows + "1 of 1, found for cortex-m4f with clang-19, not with arm-none-eabi-gcc: "},
      {"# Found for cortex-m4f with arm-none-eabi-gcc.\n", row + other, ""},
      {"", row, ""},
  };
  for (const Case& c : cases) {
    const std::string text = text_with(c.what, c.rows);
    if (!c.note.empty()) EXPECT_NE(text.find(c.note), std::string::npos) << c.note << " is missing in\n" << text;
    if (c.note.empty()) EXPECT_EQ(text.find("t.opts:"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace etch
