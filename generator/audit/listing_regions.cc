// Stack frames of code written in assembler, whose functions jump into the middle of each other and fall into the next one: what a function
// takes is what all instructions take that it reaches without a call.
#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <vector>

#include "audit/listing.h"
#include "audit/stack.h"

namespace etch {
namespace {

std::optional<std::uint64_t> hex_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
}

/// 0x240a of "; 0x240a <__mulsf3>".
std::optional<std::uint64_t> place_of(const ListedInstruction& i) {
  const std::size_t at = i.comment.find("0x");
  return at == std::string_view::npos ? std::nullopt : hex_number(i.comment.substr(at + 2));
}

class Regions {
 public:
  Regions(std::string_view text, const InstructionSet& set) : set_(set) {
    while (!text.empty()) {
      const std::string_view line = take_listed_line(text);
      if (const std::string_view title = listed_function(line); !title.empty())
        names_.try_emplace(hex_number(line).value_or(0), title);
      else if (const auto i = listed_instruction(line))
        code_.try_emplace(i->address, *i);
    }
  }

  StackGraph graph() {
    StackGraph graph;
    for (const auto& [address, name] : names_) waiting_.push_back(address);
    while (!waiting_.empty()) {
      const std::uint64_t entry = waiting_.back();
      waiting_.pop_back();
      if (code_.contains(entry)) graph[name_of(entry)] = function_at(entry);
    }
    return graph;
  }

 private:
  std::string name_of(std::uint64_t address) const {
    const auto found = names_.find(address);
    return found == names_.end() ? "code at " + std::to_string(address) : found->second;
  }

  StackFunction function_at(std::uint64_t entry) {
    StackFunction f;
    f.bytes = set_.link;
    std::set<std::uint64_t> seen;
    std::vector<std::uint64_t> next{entry};
    while (!next.empty()) {
      const auto at = code_.find(next.back());
      next.pop_back();
      if (at == code_.end() || !seen.insert(at->first).second) continue;
      const ListedInstruction& i = at->second;
      const auto taken = set_.taken(i);
      f.bytes = f.bytes && taken ? std::optional(*f.bytes + *taken) : std::nullopt;
      const Flow flow = set_.flow(i);
      const auto place = place_of(i);
      if (flow == Flow::Pointer) f.indirect = true;
      if (flow == Flow::Call && place) f.callees.insert(callee(*place, i.comment));
      if (flow == Flow::Jump && place) next.push_back(*place);
      if ((flow == Flow::Call || flow == Flow::Jump) && !place) f.bytes = std::nullopt;
      if (flow == Flow::Return || set_.leaves(i)) continue;
      const auto behind = std::next(at);
      if (behind == code_.end()) continue;
      next.push_back(behind->first);
      if (set_.skips(i) && std::next(behind) != code_.end()) next.push_back(std::next(behind)->first);
    }
    return f;
  }

  /// The function called at `address`, which `comment` names; calls into the middle of one make a function of its own.
  std::string callee(std::uint64_t address, std::string_view comment) {
    const std::size_t open = comment.find('<'), close = comment.rfind('>');
    const std::string name = name_of(address);
    if (!code_.contains(address) && open != std::string_view::npos && close != std::string_view::npos && open < close)
      return std::string(comment.substr(open + 1, close - open - 1));
    if (!names_.contains(address)) {
      names_[address] = name;
      waiting_.push_back(address);
    }
    return name;
  }

  const InstructionSet& set_;
  std::map<std::uint64_t, std::string> names_;
  std::map<std::uint64_t, ListedInstruction> code_;
  std::vector<std::uint64_t> waiting_;
};

}  // namespace

StackGraph parse_regions(std::string_view text, const InstructionSet& set) { return Regions(text, set).graph(); }

}  // namespace etch
