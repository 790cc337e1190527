// For tests of units of work: a project in assembler, whose costs the Armv7-M manual tells, and a compiler that crashes or hangs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/process.h"
#include "emit/emit.h"
#include "search/unit.h"

namespace etch::test {

/// `count` instructions that do nothing, and the return: count + 1 instructions of 2 bytes each. The program calls it twice, prints 42 as
/// the checksum of y with two sums and ends with `status`. `mark` is a comment in its text.
inline std::vector<EmittedFile> idle_project(int count, const std::string& mark = "", int status = 0) {
  std::string f = "/* " + mark + " */\n__attribute__((naked, noinline)) void f(void) { __asm__ volatile(\"";
  for (int i = 0; i < count; i++) f += "nop\\n";
  f += "bx lr\"); }\n";
  const std::string main =
      "#include <stdio.h>\nvoid f(void);\nint main(void) {\n  f();\n  f();\n  printf(\"CHECKSUM y 0000002a\\nSUMS y fff0000000000000 "
      "1\\n\");\n  return " +
      std::to_string(status) + ";\n}\n";
  return {{"f.c", f, false, true}, {"selftest.c", main}};
}

inline Unit idle_unit(const std::vector<EmittedFile>& files) { return {files, {"f", "f"}}; }

/// What running it gives.
inline UnitRun idle_run(int count) {
  const Cost cost{.instructions = count + 1};
  return {.calls = {{"f", {cost, cost}}}, .code_bytes = {{"f", 2 * (count + 1)}}, .outputs = {{"y", {42, {0xfff0000000000000u, 1}}}}};
}

/// The same in what does not depend on the target's cycles nor on other sections of the project.
inline UnitRun without_cycles(UnitRun run) {
  for (auto& [function, calls] : run.calls)
    for (Cost& cost : calls) cost.cycles = 0;
  run.program_bytes = 0;
  return run;
}

/// A script in `folder` that does as the compiler `real` does, but runs `action` in the shell for sources that contain `mark`.
inline std::string fake_compiler(const std::filesystem::path& folder, const std::string& real, const std::string& mark,
                                 const std::string& action) {
  const std::filesystem::path script = folder / real;
  write_file(script, "#!/bin/sh\nfor a in \"$@\"; do\n  case $a in *.c) if grep -q '" + mark + "' \"$a\"; then " + action +
                         "; fi ;; esac\ndone\nexec " + find_program(real).value_or(real).string() + " \"$@\"\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const std::string objdump = real.substr(0, real.rfind("-gcc")) + "-objdump";
  if (const auto tool = find_program(objdump)) std::filesystem::create_symlink(*tool, folder / objdump);
  return script.string();
}

}  // namespace etch::test
