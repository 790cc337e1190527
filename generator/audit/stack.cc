#include "audit/stack.h"

#include <algorithm>
#include <charconv>

namespace etch {
namespace {

/// Removes the first line from `text` and returns it.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// The text in quotes after `key`: quoted(`a: "b"`, "a: ") is b.
std::string_view quoted(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return {};
  const std::size_t begin = line.find('"', at + key.size());
  if (begin == std::string_view::npos) return {};
  return line.substr(begin + 1, line.find('"', begin + 1) - begin - 1);
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

std::string_view bare(std::string_view name) { return name.substr(name.rfind(':') + 1); }

/// Full names by bare name; several if more than one file has a static function of that name.
std::map<std::string_view, std::vector<std::string_view>> full_names(const StackGraph& graph) {
  std::map<std::string_view, std::vector<std::string_view>> result;
  for (const auto& [name, function] : graph) result[bare(name)].push_back(name);
  return result;
}

/// The graph with calls through pointers filled in and every callee name resolved.
class Resolved {
 public:
  Resolved(const StackGraph& graph, const IndirectCalls& indirect) : graph_(graph), names_(full_names(graph)) {
    for (const auto& [caller, callees] : indirect)
      for (const std::string& from : find(caller))
        for (const std::string& to : callees) {
          const auto found = find(to);
          if (found.empty()) pointed_[from].insert(to);  // stays without a figure, and is named
          pointed_[from].insert(found.begin(), found.end());
        }
  }

  std::vector<std::string> find(std::string_view name) const {
    if (graph_.contains(std::string(name))) return {std::string(name)};
    std::vector<std::string> result;
    if (const auto it = names_.find(name); it != names_.end()) result.assign(it->second.begin(), it->second.end());
    return result;
  }

  const StackFunction* function(const std::string& name) const {
    const auto it = graph_.find(name);
    return it == graph_.end() ? nullptr : &it->second;
  }

  std::vector<std::string> callees(const std::string& name) const {
    std::set<std::string> result;
    if (const StackFunction* f = function(name)) result = f->callees;
    if (const auto it = pointed_.find(name); it != pointed_.end()) result.insert(it->second.begin(), it->second.end());
    return {result.begin(), result.end()};
  }

  bool resolves_pointers(const std::string& name) const { return pointed_.contains(name); }

 private:
  const StackGraph& graph_;
  std::map<std::string_view, std::vector<std::string_view>> names_;
  std::map<std::string, std::set<std::string>> pointed_;
};

struct Visit {
  std::string name;
  std::vector<std::string> callees;
  std::size_t done = 0;
};

/// Visits functions depth first, callees before callers, without recursion.
class Depths {
 public:
  explicit Depths(const Resolved& graph) : graph_(graph) {}

  void visit(const std::string& entry) {
    open(entry);
    while (!stack_.empty()) {
      Visit& at = stack_.back();
      if (at.done == at.callees.size()) {
        close(at);
        continue;
      }
      const std::string next = at.callees[at.done++];
      if (on_path_.contains(next)) {
        unresolved_.insert(next + ": calls itself");
      } else if (!depth_.contains(next)) {
        open(next);
      }
    }
  }

  StackBound bound(const std::string& entry) const {
    StackBound result;
    result.unresolved.assign(unresolved_.begin(), unresolved_.end());
    if (unresolved_.empty()) result.bytes = depth_.at(entry);
    result.without_figure.assign(without_figure_.begin(), without_figure_.end());
    if (unresolved_.size() == without_figure_.size()) result.known_bytes = depth_.at(entry);
    std::set<std::string> seen;  // only a cycle repeats a name
    for (std::string at = entry; !at.empty() && seen.insert(at).second; at = deepest_.contains(at) ? deepest_.at(at) : "")
      result.path.push_back(at + " " + std::to_string(own(at).value_or(0)));
    return result;
  }

  const std::map<std::string, std::int64_t>& depths() const { return depth_; }

 private:
  std::optional<std::int64_t> own(const std::string& name) const {
    const StackFunction* f = graph_.function(name);
    return f == nullptr ? std::nullopt : f->bytes;
  }

  void open(const std::string& name) {
    on_path_.insert(name);
    stack_.push_back({name, graph_.callees(name)});
    const StackFunction* f = graph_.function(name);
    if (f == nullptr || !f->bytes) {
      unresolved_.insert(name + ": no figure");
      without_figure_.insert(name);
    }
    if (f != nullptr && f->indirect && !graph_.resolves_pointers(name)) unresolved_.insert(name + ": calls through a pointer");
  }

  void close(const Visit& at) {
    std::int64_t below = 0;
    std::string deepest;
    for (const std::string& callee : at.callees) {
      const auto it = depth_.find(callee);
      if (it == depth_.end() || (it->second <= below && !deepest.empty())) continue;
      below = it->second;
      deepest = callee;
    }
    if (!deepest.empty()) deepest_[at.name] = deepest;
    depth_[at.name] = own(at.name).value_or(0) + below;
    on_path_.erase(at.name);
    stack_.pop_back();
  }

  const Resolved& graph_;
  std::vector<Visit> stack_;
  std::set<std::string> on_path_, unresolved_, without_figure_;
  std::map<std::string, std::int64_t> depth_;
  std::map<std::string, std::string> deepest_;
};

}  // namespace

StackGraph parse_callgraph_info(std::string_view text) {
  StackGraph graph;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.starts_with("node:")) {
      const std::string title(quoted(line, "title: "));
      if (title == "__indirect_call" || line.find("shape : ellipse") != std::string_view::npos) continue;
      StackFunction& f = graph[title];
      // label: NAME\nFILE:LINE:COLUMN\nBYTES bytes (static)
      const std::string_view label = quoted(line, "label: ");
      const std::size_t end = label.find(" bytes (");
      if (end == std::string_view::npos) continue;
      const std::size_t begin = label.rfind("\\n", end);
      const bool fixed = label.substr(end).starts_with(" bytes (static)") || label.substr(end).starts_with(" bytes (dynamic,bounded)");
      if (fixed && begin != std::string_view::npos) f.bytes = number(label.substr(begin + 2));
    } else if (line.starts_with("edge:")) {
      StackFunction& f = graph[std::string(quoted(line, "sourcename: "))];
      const std::string target(quoted(line, "targetname: "));
      if (target == "__indirect_call") {
        f.indirect = true;
      } else {
        f.callees.insert(target);
      }
    }
  }
  return graph;
}

StackGraph parse_stack_usage(std::string_view text) {
  StackGraph graph;
  while (!text.empty()) {
    const std::string_view line = take_line(text);  // FILE:LINE[:COLUMN]:NAME<tab>BYTES<tab>static
    const std::size_t first = line.find('\t'), second = line.find('\t', first == std::string_view::npos ? first : first + 1);
    if (second == std::string_view::npos) continue;
    StackFunction& f = graph[std::string(bare(line.substr(0, first)))];
    const std::string_view kind = line.substr(second + 1);
    if (kind == "static" || kind == "dynamic,bounded") f.bytes = number(line.substr(first + 1));
  }
  return graph;
}

StackGraph add_scalable_frames(StackGraph graph, std::string_view remarks, std::int64_t vscale) {
  constexpr std::int64_t kRegister = 8, kAlign = 16;  // in multiples of vscale: one register, and what all of them together are rounded to
  std::string name;
  std::map<std::string, std::int64_t> parts;
  while (!remarks.empty()) {
    const std::string_view line = take_line(remarks);
    constexpr std::string_view kFunction = "Function: ", kAligned = ", Align: ", kSize = ", Size: vscale x ";
    if (line.starts_with(kFunction)) name = std::string(line.substr(kFunction.size()));
    const std::size_t aligned = line.find(kAligned), size = line.find(kSize);
    if (!line.starts_with("Offset: ") || aligned == std::string_view::npos || size == std::string_view::npos) continue;
    const auto bytes = number(line.substr(size + kSize.size())), align = number(line.substr(aligned + kAligned.size()));
    if (bytes && align) parts[name] += *bytes + std::max(*align, kRegister) - kRegister;
  }
  for (const auto& [function, bytes] : parts) {
    StackFunction& f = graph[function];
    const std::int64_t rounded = (bytes + kAlign - 1) / kAlign * kAlign;
    f.bytes = f.bytes && vscale > 0 ? std::optional(*f.bytes + rounded * vscale + kAlign) : std::nullopt;
  }
  return graph;
}

StackGraph merge(const StackGraph& first, const StackGraph& second) {
  const auto names = full_names(first);
  const auto in_first = [&](const std::string& name) {
    const auto it = names.find(name);
    return !first.contains(name) && it != names.end() && it->second.size() == 1 ? std::string(it->second[0]) : name;
  };
  StackGraph graph = first;
  for (const auto& [name, function] : second) {
    StackFunction& f = graph[in_first(name)];
    if (!f.bytes) f.bytes = function.bytes;
    f.indirect |= function.indirect;
    for (const std::string& callee : function.callees) f.callees.insert(in_first(callee));
  }
  return graph;
}

StackBound worst_case_stack(const StackGraph& graph, std::string_view entry, const IndirectCalls& indirect) {
  const Resolved resolved(graph, indirect);
  const auto found = resolved.find(entry);
  if (found.size() != 1) {
    StackBound unknown;
    unknown.unresolved = {std::string(entry) + (found.empty() ? ": no such function" : ": more than one function of this name")};
    return unknown;
  }
  Depths depths(resolved);
  depths.visit(found[0]);
  return depths.bound(found[0]);
}

std::vector<std::string> reachable(const StackGraph& graph, std::string_view entry, const IndirectCalls& indirect) {
  const Resolved resolved(graph, indirect);
  Depths depths(resolved);
  for (const std::string& name : resolved.find(entry)) depths.visit(name);
  std::vector<std::string> names;
  for (const auto& [name, depth] : depths.depths()) names.push_back(name);
  return names;
}

}  // namespace etch
