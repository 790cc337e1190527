// A folder of generator/ includes only folders above it in tests/layers.txt, and runtime_c includes nothing of generator/.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kSource = ETCH_SOURCE_DIR;

std::vector<std::string> layers() {
  std::ifstream file(kSource / "tests/layers.txt");
  std::vector<std::string> result;
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') result.push_back(line);
  return result;
}

// The folders that `file` includes: "shape" for #include "shape/view.h"; a name without a folder counts as "".
std::vector<std::string> included_folders(const fs::path& file) {
  static const std::regex pattern(R"re(^\s*#\s*include\s*"([^"]*)")re");
  std::ifstream in(file);
  std::vector<std::string> result;
  std::smatch match;
  for (std::string line; std::getline(in, line);) {
    if (!std::regex_search(line, match, pattern)) continue;
    const std::string path = match[1];
    const auto slash = path.find('/');
    result.push_back(slash == std::string::npos ? "" : path.substr(0, slash));
  }
  return result;
}

bool is_source(const fs::path& file) {
  static const std::vector<std::string> endings{".cc", ".h", ".def", ".c"};
  return std::ranges::find(endings, file.extension().string()) != endings.end();
}

// The violations of the rule: "shape/view.cc includes ir/".
std::vector<std::string> violations(const fs::path& root, const std::vector<std::string>& order) {
  std::map<std::string, int> rank;
  for (const std::string& name : order) rank.emplace(name, static_cast<int>(rank.size()));
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file() || !is_source(entry.path())) continue;
    const fs::path relative = fs::relative(entry.path(), root);
    const std::string folder = relative.begin()->string();
    if (relative == "etch.h") continue;  // the library's one header includes all of them
    if (!rank.contains(folder)) {
      found.push_back(relative.string() + " lies in a folder that tests/layers.txt does not list");
      continue;
    }
    for (const std::string& other : included_folders(entry.path()))
      if (rank.contains(other) && rank[other] > rank[folder]) found.push_back(relative.string() + " includes " + other + "/");
  }
  std::ranges::sort(found);
  return found;
}

TEST(Layers, a_folder_includes_only_folders_above_it) {
  EXPECT_EQ(violations(kSource / "generator", layers()), std::vector<std::string>());
}

// It is for users of the library.
TEST(Layers, no_folder_includes_etch_h) {
  for (const auto& entry : fs::recursive_directory_iterator(kSource / "generator"))
    if (entry.is_regular_file() && is_source(entry.path())) {
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) EXPECT_NE(line, "#include \"etch.h\"") << entry.path();
    }
}

TEST(Layers, the_check_sees_a_violation) {
  // With the order reversed, nearly every include is a violation.
  std::vector<std::string> reversed = layers();
  std::ranges::reverse(reversed);
  EXPECT_GT(violations(kSource / "generator", reversed).size(), 50u);
}

TEST(Layers, runtime_c_includes_nothing_of_generator) {
  const std::vector<std::string> order = layers();
  for (const auto& entry : fs::recursive_directory_iterator(kSource / "runtime_c")) {
    if (!is_source(entry.path())) continue;
    for (const std::string& folder : included_folders(entry.path()))
      EXPECT_EQ(std::ranges::find(order, folder), order.end()) << entry.path() << " includes " << folder << "/";
  }
}

}  // namespace
