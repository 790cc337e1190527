#include "timer.h"

#include <fstream>

#include "context.h"

namespace etch::bench {

fs::path build_timer(const fs::path& dir, const std::string& text, const Target& target, const std::vector<std::string>& more) {
  std::ofstream(dir / "timer.c") << text;
  std::vector<std::string> argv{target.toolchain.compilers[0], "-std=gnu99"};
  argv.insert(argv.end(), more.begin(), more.end());
  argv.insert(argv.end(), target.toolchain.flags.begin(), target.toolchain.flags.end());
  for (const auto& entry : fs::directory_iterator(dir)) {
    const std::string file = entry.path().filename().string();
    if ((file.ends_with(".c") && !file.ends_with("selftest.c")) || file.ends_with(".S")) argv.push_back(file);
  }
  argv.insert(argv.end(), {"-o", "timer", "-lm"});
  ProcessOptions options;
  options.cwd = dir;
  options.timeout_s = 600;
  const ProcessResult built = run_process(argv, options);
  if (!built.ok()) throw UserError(dir.string(), describe(built) + ": " + built.err.substr(0, 500));
  return dir / "timer";
}

}  // namespace etch::bench
