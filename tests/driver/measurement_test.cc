// The compiler measures a project in the background, from before INTERP computes what the self-test expects to the end of the writing.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/tempdir.h"
#include "driver/compile.h"
#include "emulator/cross_build.h"
#include "support/files.h"
#include "support/instructions.h"
#include "support/node_model.h"
#include "validate/measure.h"

namespace etch {
namespace {

namespace fs = std::filesystem;
using Events = std::vector<std::string>;
using test::floats;

CompileOptions compiling(const char* target) {
  CompileOptions options;
  options.import.bytes = test::bytes_of({"Relu", 14, {floats({2}, {1, -2})}, {}});
  options.import.name = "net";
  options.target = test::target_named(target);
  return options;
}

// Notes when the compiler began, INTERP computed and the result was wanted.
CompileOptions noting(Events& events) {
  CompileOptions options = compiling("cortex-m4f");
  options.step = [&events](std::string_view what, std::int64_t, std::int64_t) {
    if (what == "self-test by INTERP") events.emplace_back("INTERP computes");
  };
  options.measure = [&events](const MeasureRequest& request) -> BegunMeasurement {
    events.emplace_back("begins");
    FitMeasured measured;
    for (const EmittedFile& file : request.files) {
      if (file.name == "net.c") measured.code_bytes = static_cast<std::int64_t>(file.text.size());
      if (file.is_weights || file.name == "selftest.c") events.push_back("gets " + file.name);
    }
    return [&events, measured](const std::vector<std::string>& kernels) -> FitMeasurement {
      events.push_back("wanted for " + kernels.at(0));
      return {measured, ""};
    };
  };
  return options;
}

CompiledProject compiled(const CompileOptions& options) { return compile_project(read_model(options), options); }

TEST(Measurement, BeginsBeforeTheSelfTestIsComputed) {
  Events events;
  const CompileOptions options = noting(events);
  const TempDir out("etch-measured");
  const WrittenProject written = write_audited(out.path() / "net", compiled(options), options);
  EXPECT_EQ(events, (Events{"begins", "INTERP computes", "wanted for k0_relu_n"}));
  const std::string source = test::content(out.path() / "net" / "net.c");
  EXPECT_EQ(written.fit.measurement.measured->code_bytes, static_cast<std::int64_t>(source.size())) << "it is the project's C";
  EXPECT_NE(test::content(out.path() / "net" / "selftest.c").find("expected"), std::string::npos);
}

TEST(Measurement, OfOneProjectIsEnoughForAllWhoWantIt) {
  Events events;
  const CompileOptions options = noting(events);
  const CompiledProject project = compiled(options);
  const TempDir out("etch-measured");
  const Fit alone = fit_of(project, options), first = write_audited(out.path() / "a", project, options).fit,
            second = write_audited(out.path() / "b", project, options).fit;
  const std::string wanted = "wanted for k0_relu_n";
  EXPECT_EQ(events, (Events{"begins", "INTERP computes", wanted, wanted, wanted}));
  EXPECT_EQ(to_json(alone), to_json(first));
  EXPECT_EQ(to_json(alone), to_json(second));
}

TEST(Measurement, BeginsLaterWhereTheProjectWasCompiledWithout) {
  Events events;
  const CompileOptions options = noting(events);
  CompileOptions without = options;
  without.measure = {};
  const CompiledProject project = compiled(without);
  EXPECT_EQ(events, Events{"INTERP computes"});
  EXPECT_TRUE(fit_of(project, options).measurement.measured);
  EXPECT_EQ(events, (Events{"INTERP computes", "begins", "wanted for k0_relu_n"}));
  EXPECT_FALSE(fit_of(project, without).measurement.measured);
}

// Whose file ends as the self-test's.
TEST(Measurement, OfAModelThatIsCalledAfterASelfTest) {
  CompileOptions options = compiling("host");
  options.import.name = "net_selftest";
  std::vector<std::string> names;
  options.measure = [&names](const MeasureRequest& request) -> BegunMeasurement {
    for (const EmittedFile& file : request.files) names.push_back(file.name);
    return [](const auto&) -> FitMeasurement { return {std::nullopt, "not asked"}; };
  };
  compiled(options);
  EXPECT_NE(std::ranges::find(names, "net_selftest.c"), names.end());
  EXPECT_EQ(std::ranges::find(names, "selftest.c"), names.end());
}

TEST(Measurement, DoesNotBeginWhereNothingCanFit) {
  Events events;
  CompileOptions options = noting(events);
  for (Memory& memory : options.target.memories) memory.size = 8;
  const CompiledProject project = compiled(options);
  const TempDir out("etch-measured");
  EXPECT_THROW(write_audited(out.path() / "net", project, options), UserError);
  EXPECT_FALSE(fit_of(project, options).fits());
  EXPECT_EQ(events, Events{"INTERP computes"});
  EXPECT_FALSE(fs::exists(out.path() / "net"));
}

// A compiler that waits for a file, at most ten seconds.
fs::path waiting_compiler(const TempDir& work, const std::string& compiler) {
  const fs::path script = work.path() / "gcc";
  const std::string go = (work.path() / "go").string();
  write_file(script,
             "#!/bin/sh\nfor turn in $(seq 1000); do [ -e '" + go + "' ] && exec " + compiler + " \"$@\"; sleep 0.01; done\nexit 1\n");
  fs::permissions(script, fs::perms::owner_all);
  return script;
}

TEST(Measurement, ByACompilerGoesOnInTheBackground) {
  CompileOptions options = compiling("host");
  const auto compiler = target_compiler(options.target);
  ASSERT_TRUE(compiler) << "clang or gcc, by which this test was built";
  const TempDir work("etch-waits");
  options.target.toolchain.compilers = {waiting_compiler(work, *compiler).string()};
  options.measure = measure_with_compiler(options.target);
  const CompiledProject project = compiled(options);
  write_file(work.path() / "go", "");  // not before the project is there
  const Fit first = fit_of(project, options), again = fit_of(project, options);
  ASSERT_TRUE(first.measurement.measured) << first.measurement.problem;
  EXPECT_GT(first.measurement.measured->code_bytes, 0);
  EXPECT_EQ(to_json(first), to_json(again));
}

TEST(Measurement, IsLetGoWhereTheSelfTestFails) {
  CompileOptions options = compiling("host");
  int begun = 0, ended = 0;
  options.measure = [&](const MeasureRequest&) -> BegunMeasurement {
    begun++;
    const std::shared_ptr<int> running(new int(0), [&ended](const int* p) {
      ended++;
      delete p;
    });
    return [running](const auto&) -> FitMeasurement { return {std::nullopt, "never asked"}; };
  };
  options.step = [](std::string_view what, std::int64_t, std::int64_t) {
    if (what == "self-test by INTERP") throw UserError("the self-test", "fails", "");
  };
  EXPECT_THROW(compiled(options), UserError);
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(ended, 1);
}

}  // namespace
}  // namespace etch
