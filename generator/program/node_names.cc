#include "program/node_names.h"

#include <algorithm>
#include <utility>

#include "base/naming.h"

namespace etch {
namespace {

constexpr std::size_t kLongest = 40;

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

std::string lower_case(std::string text) {
  for (char& c : text) c = is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

// Whether a part of a path only repeats an operator: "conv" of a Conv does, "conv1" does not. A part that begins with a capital is an
// operator: "Conv_3", "BiasAdd", "Conv2D1".
bool is_operator(const std::string& part, const std::string& kind) { return is_upper(part[0]) || part == lower_case(kind); }

std::vector<std::string> parts_of(const NamedNode& node) {
  const std::string last = node.name.substr(node.name.find_last_of(';') + 1);
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= last.size();) {
    const std::size_t end = std::min(last.find('/', begin), last.size());
    if (end > begin) parts.push_back(last.substr(begin, end - begin));
    begin = end + 1;
  }
  while (parts.size() > 1 && is_operator(parts.back(), node.kind)) parts.pop_back();
  return parts;
}

// The short name from the last `depth` parts.
std::string short_name(const std::vector<std::string>& parts, std::size_t depth, const std::string& kind) {
  std::string tail;
  for (std::size_t i = parts.size() - std::min(depth, parts.size()); i < parts.size(); i++) tail += (tail.empty() ? "" : "_") + parts[i];
  tail = c_identifier(tail);
  if (!kind.empty() && lower_case(tail).find(lower_case(kind)) == std::string::npos) tail = lower_case(kind) + "_" + tail;
  return c_identifier(tail.substr(0, kLongest));
}

}  // namespace

NodeNames::NodeNames(const std::vector<NamedNode>& nodes) {
  std::map<std::string, std::pair<std::vector<std::string>, std::string>> open;  // parts and kind, by node
  std::size_t longest = 1;
  for (const NamedNode& node : nodes) {
    const auto it = open.try_emplace(node.name, parts_of(node), node.kind).first;
    longest = std::max(longest, it->second.first.size());
  }
  for (std::size_t depth = 1; !open.empty(); depth++) {
    std::map<std::string, int> uses;
    for (const auto& [name, node] : open) uses[short_name(node.first, depth, node.second)]++;
    for (const auto& [name, found] : names_) uses[found]++;
    std::erase_if(open, [&](const auto& entry) {
      const auto& [parts, kind] = entry.second;
      const std::string candidate = short_name(parts, depth, kind);
      if (uses.at(candidate) > 1 && depth < longest) return false;
      names_[entry.first] = candidate;
      return true;
    });
  }
}

std::string NodeNames::of(const std::string& node) const {
  const auto it = names_.find(node);
  return it == names_.end() ? "kernel" : it->second;
}

}  // namespace etch
