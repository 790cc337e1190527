// What a search found: the OptOps of kernels, as a file of text. A kernel is found by a key of its AST and of all that decides which
// steps it may take, so that a row is never taken for another kernel.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/argument.h"
#include "codegen/options.h"
#include "ir/lazyop.h"

namespace etch {

struct TunedKernel {
  std::string shape;  // for people: the kernel's loops before any step, "r_25_5_64_64"
  std::vector<Opt> opts;
  std::string file{};  // where the row stands, for notes
  int line = 0;
};

/// 16 hexadecimal digits: the same for equal kernels, on every machine.
std::string tuning_key(const LazyOp* ast, const std::vector<KernelArgument>& arguments, const CodegenOptions& options);

/// A file has lines "KEY SHAPE: OPTOPS" and comments behind '#':
///   0f3ab2c41d9e7756 r_125_64_64: TC 0 3, UPCAST 1 4, OVERLAP 0 2
class OptTable {
 public:
  /// UserError with file and line if a line is none of these, or if two have the same key.
  static OptTable parse(std::string_view text, const std::string& file);
  /// UserError also if the file can't be read.
  static OptTable read(const std::filesystem::path& file);
  /// The text of a file, the rows in the order of their keys. Equal tables have equal texts.
  std::string text() const;

  /// The row of that kernel; null if there is none.
  const TunedKernel* find(const std::string& key) const;
  void set(const std::string& key, TunedKernel row) { rows_[key] = std::move(row); }
  void remove(const std::string& key) { rows_.erase(key); }
  /// Takes the rows of `other`, also those for kernels that this one has rows for.
  void add(const OptTable& other);
  std::size_t size() const { return rows_.size(); }

 private:
  std::map<std::string, TunedKernel> rows_;
};

}  // namespace etch
