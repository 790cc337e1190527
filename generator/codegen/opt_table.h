// What a search found, as a file of text: the OptOps of kernels, and which way is best where values may lie in memory in several. A kernel
// is found by a key of its AST and of all that decides which steps it may take, so that a row is never taken for another kernel.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
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

/// A choice of the schedule (see schedule/layout_choice.h).
struct TunedLayout {
  std::string subject;  // for people: "order_8_48_48"
  int way = 0;
  std::string file{};  // where the row stands, for notes
  int line = 0;
};

/// What the rows of a table were found for: a target, and its compiler by its file's name, "arm-none-eabi-gcc".
struct FoundFor {
  std::string target, compiler;
  auto operator<=>(const FoundFor&) const = default;
};

/// A file in which rows of a table stand.
struct TableFile {
  std::string name;
  std::size_t rows = 0;
  std::set<FoundFor> found_for{};  // empty: it does not say
};

/// 16 hexadecimal digits: the same for equal kernels, on every machine.
std::string tuning_key(const LazyOp* ast, const std::vector<KernelArgument>& arguments, const CodegenOptions& options);

/// A file has lines "KEY SHAPE: OPTOPS" and "KEY SUBJECT: WAY N", and comments behind '#':
///   0f3ab2c41d9e7756 r_125_64_64: TC 0 3, UPCAST 1 4, OVERLAP 0 2
///   30d1f0c2a94be815 order_8_48_48: WAY 0
/// Comments "# Found for TARGET with COMPILER." are read, too.
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
  /// The row of that choice; null if there is none.
  const TunedLayout* layout(const std::string& key) const;
  /// The way of that choice; nullopt if there is no row.
  std::optional<int> way(const std::string& key) const;
  void set_layout(const std::string& key, TunedLayout row) { layouts_[key] = std::move(row); }
  void remove_layout(const std::string& key) { layouts_.erase(key); }
  /// Of all choices, by key.
  std::map<std::string, int> ways() const;
  /// The rows of kernels, or those of choices, alone.
  OptTable without_layouts() const;
  OptTable layouts_alone() const;
  /// Takes the rows of `other`, also those for kernels and choices that this one has rows for.
  void add(const OptTable& other);
  /// The same with its files: a user is told what comes of them.
  void add_with_files(const OptTable& other);
  const std::vector<TableFile>& files() const { return files_; }
  /// Rows of it are for that: its text says so.
  void add_found_for(FoundFor what) { found_for_.insert(std::move(what)); }
  /// The rows that have to go before those of `others`, so that both together say what this table says: those that are not the same
  /// there, those of `own` in any case, and for a kernel or a choice that has a row there and none here its row of `usual`, if it has one.
  /// They are for what those of `own` are for.
  OptTable above(const OptTable& others, const OptTable& usual, const OptTable& own) const;
  std::size_t size() const { return rows_.size() + layouts_.size(); }

 private:
  std::map<std::string, TunedKernel> rows_;
  std::map<std::string, TunedLayout> layouts_;
  std::set<FoundFor> found_for_;
  std::vector<TableFile> files_;
};

}  // namespace etch
