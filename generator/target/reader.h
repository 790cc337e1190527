// Internal to target/: checked access to one target's XML. Which elements and attributes there may be is the table in reader.cc.
#pragma once

#include <tinyxml2.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace etch {

using Element = tinyxml2::XMLElement;
struct Rule;

/// "a, b, c"; "none" for no words.
std::string list_of(const std::vector<std::string_view>& words);
/// Whether `text` is a name of C.
bool is_c_name(std::string_view text);

/// Access to one file; errors name it.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  [[noreturn]] void fail(int line, const std::string& what, const std::string& help = "") const;
  /// Throws unless `e` and all below it are elements and attributes that are known.
  void check_schema(const Element& e, std::string_view parent) const;
  std::string attribute(const Element& e, const char* name, std::string fallback = "") const;
  /// An attribute that is a number, with an optional 0x in front and an optional K, M or G (of 1024) at the end.
  std::int64_t number(const Element& e, const char* name, std::int64_t low, std::int64_t high, std::int64_t fallback) const;
  bool boolean(const Element& e, const char* name, bool fallback) const;
  /// The position of `value` in `choices`; `what` names it in the error.
  std::size_t choice(const Element& e, std::string_view what, std::string_view value, const std::vector<std::string_view>& choices) const;
  /// The texts of the elements of that name.
  std::vector<std::string> texts(const Element& parent, const char* name) const;
  /// The text directly in an element, also between comments and child elements.
  static std::string text_of(const Element& e);
  static std::string quoted(const Element& e) { return "<" + std::string(e.Name()) + ">"; }

 private:
  const Rule& rule_of(const Element& e, std::string_view parent) const;
  void check_attributes(const Element& e, const Rule& rule) const;
  void check_children(const Element& e) const;

  std::string file_;
};

}  // namespace etch
