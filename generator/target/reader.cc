// The elements of a target's XML, and checked access to them.
#include "target/reader.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "base/error.h"

namespace etch {

struct Rule {
  std::string_view parent, name;
  bool required, repeats;
  std::array<std::string_view, 7> required_attributes, optional_attributes;
  bool has_text;
};

namespace {

// parent, element, required, repeats, required attributes, optional attributes, holds text
constexpr Rule kSchema[] = {
    {"", "target", true, false, {"name"}, {}, false},
    {"target", "description", true, false, {}, {}, true},
    {"target", "language", false, false, {}, {}, true},
    {"target", "core", true, false, {"name", "fpu"}, {"fma", "threads", "pointer", "int", "product", "bytes", "order"}, false},
    {"target", "registers", true, false, {"float"}, {"integer"}, false},
    {"target", "vector", false, false, {"bits", "registers"}, {"extensions", "integers", "scalars", "hides_equal"}, false},
    {"target", "cache", false, false, {"level2"}, {"level1"}, false},
    {"target", "memory", false, true, {"name", "kind", "size"}, {"origin"}, false},
    {"target", "pool", false, true, {"name", "memory"}, {"size", "holds", "address"}, false},
    {"target", "arena", false, false, {"align"}, {}, false},
    {"target", "cycles", false, false, {"instruction", "load", "store", "taken", "source"}, {}, false},
    {"target", "tuning", false, false, {"file"}, {}, false},
    {"target", "constants", false, false, {"space", "integer", "object"}, {}, false},
    {"target", "feature", false, true, {"macro"}, {}, false},
    {"target", "math", false, false, {}, {"double", "none", "library"}, false},
    {"target", "dot", false, true, {"name", "a", "b", "sum", "macs", "lanes"}, {"steps", "words"}, false},
    {"dot", "text", true, true, {"when"}, {"header", "step"}, true},
    {"dot", "intrinsic", false, false, {"name", "feature"}, {}, false},
    {"target", "matrix", false, true, {"name", "a", "b", "sum", "size"}, {}, false},
    {"matrix", "items", true, false, {"a", "b", "sum"}, {}, false},
    {"matrix", "registers", true, false, {"a", "b", "sum"}, {}, false},
    {"matrix", "text", false, true, {"when"}, {"header"}, true},
    {"target", "toolchain", true, false, {"file"}, {"triple", "include", "linker", "package"}, false},
    {"toolchain", "compiler", true, true, {}, {}, true},
    {"toolchain", "flag", false, true, {}, {"kind"}, true},
    {"toolchain", "link", false, true, {}, {}, true},
    {"toolchain", "library", false, true, {}, {}, true},
    {"target", "emulator", false, false, {"program"}, {"kind", "package"}, false},
    {"emulator", "arg", false, true, {}, {}, true},
};

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front()))) s.remove_prefix(1);
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back()))) s.remove_suffix(1);
  return s;
}

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t factor = 1;
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  if (!hex && !text.empty()) {
    constexpr std::string_view kSuffixes = "KMG";
    if (const std::size_t at = kSuffixes.find(text.back()); at != std::string_view::npos) {
      factor = std::int64_t{1} << (10 * (at + 1));
      text.remove_suffix(1);
    }
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size() || text.empty() || text[0] == '-') return std::nullopt;
  if (value > INT64_MAX / factor) return std::nullopt;
  return value * factor;
}

}  // namespace

std::string list_of(const std::vector<std::string_view>& words) {
  std::string result;
  for (std::string_view word : words) result += (result.empty() ? "" : ", ") + std::string(word);
  return result.empty() ? "none" : result;
}

bool is_c_name(std::string_view text) {
  const bool is_word = std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  return is_word && !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0;
}

std::string Reader::text_of(const Element& e) {
  std::string result;
  for (const tinyxml2::XMLNode* n = e.FirstChild(); n != nullptr; n = n->NextSibling())
    if (n->ToText() != nullptr) result += n->Value();
  return std::string(trimmed(result));
}

void Reader::fail(int line, const std::string& what, const std::string& help) const {
  throw UserError(file_ + ":" + std::to_string(line), what, help);
}

void Reader::check_schema(const Element& e, std::string_view parent) const {
  const Rule& rule = rule_of(e, parent);
  check_attributes(e, rule);
  check_children(e);
  const std::string text = text_of(e);
  if (rule.has_text && (text.empty() || e.FirstChildElement() != nullptr))
    fail(e.GetLineNum(), quoted(e) + " has to hold a text and nothing else");
  if (!rule.has_text && !text.empty()) fail(e.GetLineNum(), quoted(e) + " holds the text '" + text + "', none is accepted");
  for (const Element* c = e.FirstChildElement(); c != nullptr; c = c->NextSiblingElement()) check_schema(*c, e.Name());
}

std::string Reader::attribute(const Element& e, const char* name, std::string fallback) const {
  const char* value = e.Attribute(name);
  return value == nullptr ? fallback : std::string(trimmed(value));
}

std::int64_t Reader::number(const Element& e, const char* name, std::int64_t low, std::int64_t high, std::int64_t fallback) const {
  if (e.Attribute(name) == nullptr) return fallback;
  const std::string value = attribute(e, name);
  const auto n = parse_number(value);
  if (!n || *n < low || *n > high)
    fail(e.GetLineNum(),
         quoted(e) + ": " + name + " is '" + value + "', accepted is a number from " + std::to_string(low) + " to " + std::to_string(high),
         "numbers are decimal or 0x..., K, M and G behind a decimal number multiply by 1024");
  return *n;
}

bool Reader::boolean(const Element& e, const char* name, bool fallback) const {
  if (e.Attribute(name) == nullptr) return fallback;
  return choice(e, name, attribute(e, name), {"true", "false"}) == 0;
}

std::size_t Reader::choice(const Element& e, std::string_view what, std::string_view value,
                           const std::vector<std::string_view>& choices) const {
  const auto it = std::ranges::find(choices, value);
  if (it == choices.end())
    fail(e.GetLineNum(), quoted(e) + ": " + std::string(what) + " is '" + std::string(value) + "', accepted are " + list_of(choices));
  return static_cast<std::size_t>(it - choices.begin());
}

std::vector<std::string> Reader::texts(const Element& parent, const char* name) const {
  std::vector<std::string> result;
  for (const Element* e = parent.FirstChildElement(name); e != nullptr; e = e->NextSiblingElement(name)) result.push_back(text_of(*e));
  return result;
}

const Rule& Reader::rule_of(const Element& e, std::string_view parent) const {
  std::vector<std::string_view> known;
  for (const Rule& rule : kSchema) {
    if (rule.parent != parent) continue;
    if (rule.name == e.Name()) return rule;
    known.push_back(rule.name);
  }
  const std::string place = parent.empty() ? "at the top" : "in <" + std::string(parent) + ">";
  fail(e.GetLineNum(), "unknown element " + quoted(e) + " " + place + ", accepted are " + list_of(known));
}

void Reader::check_attributes(const Element& e, const Rule& rule) const {
  std::vector<std::string_view> known;
  for (const auto& some : {rule.required_attributes, rule.optional_attributes})
    for (std::string_view name : some)
      if (!name.empty()) known.push_back(name);
  for (const auto* a = e.FirstAttribute(); a != nullptr; a = a->Next())
    if (std::ranges::find(known, a->Name()) == known.end())
      fail(a->GetLineNum(), quoted(e) + ": unknown attribute " + a->Name() + ", accepted are " + list_of(known));
  for (std::string_view name : rule.required_attributes)
    if (!name.empty() && attribute(e, std::string(name).c_str()).empty())
      fail(e.GetLineNum(), quoted(e) + " needs the attribute " + std::string(name));
}

void Reader::check_children(const Element& e) const {
  for (const Rule& rule : kSchema) {
    if (rule.parent != e.Name()) continue;
    const std::string name(rule.name);
    const Element* first = e.FirstChildElement(name.c_str());
    if (first == nullptr && rule.required) fail(e.GetLineNum(), quoted(e) + " needs an element <" + name + ">");
    const Element* second = first == nullptr ? nullptr : first->NextSiblingElement(name.c_str());
    if (second != nullptr && !rule.repeats)
      fail(second->GetLineNum(), "<" + name + "> stands twice, first in line " + std::to_string(first->GetLineNum()));
  }
}

}  // namespace etch
