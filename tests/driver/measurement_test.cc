// The compiler measures a project in the background, from before INTERP computes what the self-test expects to the end of the writing.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/tempdir.h"
#include "driver/compile.h"
#include "support/files.h"
#include "support/instructions.h"
#include "support/node_model.h"
#include "validate/measure.h"

namespace etch {
namespace {

namespace fs = std::filesystem;
using Events = std::vector<std::string>;
using test::floats;

// Notes when the compiler began, INTERP computed and the result was wanted.
CompileOptions noting(Events& events, fs::path* folder = nullptr) {
  CompileOptions options;
  options.import.bytes = test::bytes_of({"Relu", 14, {floats({2}, {1, -2})}, {}});
  options.import.name = "net";
  options.target = test::target_named("cortex-m4f");
  options.step = [&events](std::string_view what, std::int64_t, std::int64_t) {
    if (what == "self-test") events.emplace_back("expects");
  };
  options.measure = [&events, folder](const MeasureRequest& request) -> BegunMeasurement {
    events.emplace_back("begins");
    if (folder != nullptr) *folder = request.dir;
    return [&events, request](const std::vector<std::string>& kernels) -> FitMeasurement {
      events.push_back("wanted for " + kernels.at(0));
      FitMeasured measured;
      measured.code_bytes = static_cast<std::int64_t>(test::content(request.dir / "net.c").size());
      return {measured, ""};
    };
  };
  return options;
}

CompiledProject compiled(const CompileOptions& options) { return compile_project(read_model(options), options); }

TEST(Measurement, BeginsBeforeTheSelfTestIsComputed) {
  Events events;
  fs::path folder;
  const CompileOptions options = noting(events, &folder);
  const TempDir out("etch-measured");
  {
    const CompiledProject project = compiled(options);
    const WrittenProject written = write_audited(out.path() / "net", project, options);
    EXPECT_EQ(events, (Events{"begins", "expects", "wanted for k0_relu_n"}));
    const std::string source = test::content(out.path() / "net" / "net.c");
    EXPECT_EQ(written.fit.measurement.measured->code_bytes, static_cast<std::int64_t>(source.size())) << "it is the project's C";
    EXPECT_NE(test::content(out.path() / "net" / "selftest.c").find("expected"), std::string::npos);
    EXPECT_TRUE(fs::exists(folder));
  }
  EXPECT_FALSE(fs::exists(folder)) << "its files go with the project";
}

TEST(Measurement, OfOneProjectIsEnoughForAllWhoWantIt) {
  Events events;
  const CompileOptions options = noting(events);
  const CompiledProject project = compiled(options);
  const TempDir out("etch-measured");
  const Fit alone = fit_of(project, options), first = write_audited(out.path() / "a", project, options).fit,
            second = write_audited(out.path() / "b", project, options).fit;
  EXPECT_EQ(events, (Events{"begins", "expects", "wanted for k0_relu_n", "wanted for k0_relu_n", "wanted for k0_relu_n"}));
  EXPECT_EQ(to_json(alone), to_json(first));
  EXPECT_EQ(to_json(alone), to_json(second));
}

TEST(Measurement, BeginsLaterWhereTheProjectWasCompiledWithout) {
  Events events;
  const CompileOptions options = noting(events);
  CompileOptions without = options;
  without.measure = {};
  const CompiledProject project = compiled(without);
  EXPECT_EQ(events, Events{"expects"});
  EXPECT_TRUE(fit_of(project, options).measurement.measured);
  EXPECT_EQ(events, (Events{"expects", "begins", "wanted for k0_relu_n"}));
  EXPECT_FALSE(fit_of(project, without).measurement.measured);
}

TEST(Measurement, DoesNotBeginWhereNothingCanFit) {
  Events events;
  CompileOptions options = noting(events);
  for (Memory& memory : options.target.memories) memory.size = 8;
  const CompiledProject project = compiled(options);
  const TempDir out("etch-measured");
  EXPECT_THROW(write_audited(out.path() / "net", project, options), UserError);
  EXPECT_FALSE(fit_of(project, options).fits());
  EXPECT_EQ(events, Events{"expects"});
  EXPECT_FALSE(fs::exists(out.path() / "net"));
}

// A compiler is asked as often as one likes, or never: it has ended before its folder goes.
TEST(Measurement, IsTheSameByARealCompilerAskedTwice) {
  Events events;
  CompileOptions options = noting(events);
  options.target = test::target_named("host");
  options.measure = measure_with_compiler(options.target);
  const CompiledProject project = compiled(options);
  const Fit first = fit_of(project, options), again = fit_of(project, options);
  if (!first.measurement.measured) GTEST_SKIP() << first.measurement.problem;
  EXPECT_GT(first.measurement.measured->code_bytes, 0);
  EXPECT_EQ(to_json(first), to_json(again));
  compiled(options);  // never asked
}

}  // namespace
}  // namespace etch
