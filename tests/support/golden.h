// For tests: expected texts in files below tests/golden. UPDATE_GOLDEN=1 writes them anew; the difference is reviewed.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "support/files.h"

namespace etch::test {

/// The folder tests/golden/`name` must hold exactly these files.
inline void expect_golden(const std::string& name, const std::map<std::string, std::string>& files) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(ETCH_SOURCE_DIR) / "tests/golden" / name;
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    fs::remove_all(folder);
    fs::create_directories(folder);
    for (const auto& [file, text] : files) std::ofstream(folder / file, std::ios::binary) << text;
  }
  ASSERT_TRUE(fs::exists(folder)) << "UPDATE_GOLDEN=1 makes it";
  const std::map<std::string, std::string> golden = folder_content(folder);
  for (const auto& [file, text] : golden) EXPECT_TRUE(files.contains(file)) << name << "/" << file << " is not made any more";
  for (const auto& [file, text] : files) {
    const auto found = golden.find(file);
    EXPECT_EQ(text, found == golden.end() ? "" : found->second)
        << name << "/" << file << ": UPDATE_GOLDEN=1 rewrites, review the difference";
  }
}

}  // namespace etch::test
