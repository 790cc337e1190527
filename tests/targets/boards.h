// What every emulated target has to show: a model is built by its compiler, gives its expected outputs in its emulator, and its costs are
// measured and agree with each other.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/boards.h"
#include "support/tool.h"

namespace etch::test {

/// Validates `model` on the target, with its data if `data` names them, and checks the costs.
inline void expect_valid_on(const Target& target, const std::string& model, const std::string& data = "",
                            const std::vector<std::string>& more = {}) {
  std::vector<std::string> args{"validate", model, "--backends", "interp", "--target", target.name, "--json"};
  args.insert(args.end(), more.begin(), more.end());
  if (!data.empty()) args.insert(args.end(), {"--data", data});
  const ProcessResult run = etch_tool(args);
  ASSERT_TRUE(run.ok()) << describe(run) << "\n" << run.err << run.out;
  const auto all = nlohmann::json::parse(run.out), json = all.at("target"), fit = all.at("fit");
  EXPECT_TRUE(json.at("ok")) << json;
  EXPECT_EQ(json.at("heap_symbols"), nlohmann::json::array());
  EXPECT_EQ(json.at("soft_double_symbols"), nlohmann::json::array());
  EXPECT_GT(json.at("instructions"), 1000);
  EXPECT_GT(json.at("loads"), 100);
  ASSERT_TRUE(json.at("stack_bytes").is_number() && json.at("stack_bound_bytes").is_number()) << json;
  EXPECT_GT(json.at("stack_bytes"), 32);
  EXPECT_LE(json.at("stack_bytes"), json.at("stack_bound_bytes"));
  std::int64_t of_kernels = 0;
  for (const auto& kernel : json.at("kernels")) {
    const auto& cost = kernel.at("cost");
    of_kernels += cost.at("instructions").get<std::int64_t>();
    EXPECT_GT(cost.at("code_bytes"), 0) << kernel;
    EXPECT_GT(cost.at("stores"), 0) << kernel;
    EXPECT_EQ(cost.at("cycles_estimated").is_null(), !target.cycles) << kernel;
  }
  EXPECT_LE(of_kernels, json.at("instructions").get<std::int64_t>());
  EXPECT_GE(of_kernels, json.at("instructions").get<std::int64_t>() * 8 / 10) << "what is around the kernels is little";
  if (target.cycles) {
    EXPECT_EQ(json.at("cycles_estimated").get<std::int64_t>(),
              target.cycles.estimate(json.at("instructions"), json.at("loads"), json.at("stores"), json.at("taken_branches")));
  }
  EXPECT_EQ(json.at("cycles_estimated").is_null(), !target.cycles);
  EXPECT_EQ(fit.at("fits"), true) << fit;
  EXPECT_EQ(fit.at("ram").at("stack_bytes"), json.at("stack_bound_bytes"));
  // The linker of RISC-V shortens calls by distance, and two programs are linked.
  EXPECT_NEAR(fit.at("flash").at("code_bytes").get<double>(), json.at("code_bytes").get<double>(), 64);
  EXPECT_EQ(fit.at("compiler"), *target_compiler(target));
}

}  // namespace etch::test
