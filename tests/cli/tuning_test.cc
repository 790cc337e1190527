// etch tune and compile --tuning as a user calls them; the search itself is tested in search/ and driver/.
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/tempdir.h"
#include "support/files.h"
#include "support/made_once.h"

namespace etch {
namespace {

TEST(Tuning, what_can_not_be_tuned_is_refused_with_what_can) {
  const std::string model = test::zoo_model("mlp").string();
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{}, "target host: programs for it run on this machine, where nothing counts instructions"},
      {{"--target", "opencl"}, "target opencl: programs for it run on this machine"},
      {{"--target", "cortex-m4f", "--kernel", "k9_none"},
       "--kernel k9_none: is no kernel of this model with these options; its kernels are "},
      {{"--target", "cortex-m4f", "--tuning", "/nowhere/x.opts"}, "/nowhere/x.opts: the table of OptOps cannot be read"},
  };
  for (const auto& [options, error] : cases) {
    std::vector<std::string> args{"tune", model, "-o", "/nowhere/table.opts"};
    args.insert(args.end(), options.begin(), options.end());
    const ProcessResult result = etch_tool(args);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.err.find(error), std::string::npos) << result.err;
  }
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

}  // namespace
}  // namespace etch
