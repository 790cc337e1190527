#include "emit/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "emit/literals.h"

namespace etch {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t sum(const std::vector<std::int64_t>& values) { return std::accumulate(values.begin(), values.end(), std::int64_t{0}); }

std::vector<std::int64_t> sizes_of(const Fit& fit, MemoryKind kind) {
  std::vector<std::int64_t> sizes;
  for (const Memory& m : fit.memories)
    if (m.kind == kind) sizes.push_back(m.size);
  return sizes;
}

// What pools leave of each memory.
std::vector<std::int64_t> free_of(const Fit& fit, MemoryKind kind) {
  std::vector<std::int64_t> sizes;
  for (const Memory& m : fit.memories) {
    if (m.kind != kind) continue;
    sizes.push_back(m.size);
    for (const ReportPool& pool : fit.pools)
      if (pool.memory == m.name) sizes.back() -= pool.bytes;
  }
  return sizes;
}

// If `used` exceeds `limit`, even by a byte, the text is above 100 %.
std::string percent_text(std::int64_t used, std::int64_t limit) {
  const double tenths = 1000.0 * static_cast<double>(used) / static_cast<double>(limit);
  return fmt::format("{:.1f} %", (used > limit ? std::ceil(tenths) : tenths) / 10);
}

// Puts each block as a whole into one of the memories: largest first, every memory tried. False only if it is proved impossible; a
// search that takes too long is given up and counts as success.
class Packing {
 public:
  Packing(std::vector<std::int64_t> blocks, std::vector<std::int64_t> memories) : blocks_(std::move(blocks)), free_(std::move(memories)) {
    std::ranges::sort(blocks_, std::greater<>());
  }
  bool possible() {
    std::vector<std::size_t> at;  // the memory of each block that is placed
    std::size_t first = 0;        // where the next block may go
    for (int steps = 0; at.size() < blocks_.size() && steps < kMostSteps; steps++) {
      const std::size_t block = at.size(), m = next_memory(block, first);
      if (m < free_.size()) {
        free_[m] -= blocks_[block];
        at.push_back(m);
        first = 0;
        continue;
      }
      if (at.empty()) return false;
      first = at.back() + 1;  // take the last one back
      free_[at.back()] += blocks_[block - 1];
      at.pop_back();
    }
    return true;
  }

 private:
  static constexpr int kMostSteps = 200'000;

  // The first memory from `first` on that has room for the block and is not as full as one tried before; free_.size() if none has.
  std::size_t next_memory(std::size_t block, std::size_t first) const {
    const auto is_tried = [&](std::size_t m) {
      return std::ranges::find(free_.begin(), free_.begin() + static_cast<std::ptrdiff_t>(m), free_[m]) !=
             free_.begin() + static_cast<std::ptrdiff_t>(m);
    };
    std::size_t m = first;
    while (m < free_.size() && (is_tried(m) || free_[m] < blocks_[block])) m++;
    return m;
  }

  std::vector<std::int64_t> blocks_, free_;
};

// "arena 64 000, inputs 1 960, outputs 48, stack 220"
std::string ram_parts(const Fit& fit) {
  std::string text =
      fmt::format("arena {}, inputs {}, outputs {}", grouped(fit.arena_bytes), grouped(sum(fit.inputs)), grouped(sum(fit.outputs)));
  if (fit.state_bytes > 0) text += ", state " + grouped(fit.state_bytes);
  if (fit.on_device) {
    const std::int64_t known = fit.arena_bytes + sum(fit.inputs) + sum(fit.outputs) + fit.state_bytes + fit.weights_bytes;
    text += fmt::format(", weights {}, rounding {}", grouped(fit.weights_bytes), grouped(fit.device_bytes - known));
  } else if (const auto& m = fit.measurement.measured) {
    text += m->stack_bytes ? ", stack " + grouped(*m->stack_bytes) : ", and the stack";
    if (m->variable_bytes > 0) text += ", variables of libraries " + grouped(m->variable_bytes);
  } else {
    text += ", and the stack";
  }
  return text;
}

std::string flash_parts(const Fit& fit) {
  std::string text = fit.weights_in_flash ? "weights " + grouped(fit.weights_bytes) + ", " : "";
  if (const auto& m = fit.measurement.measured)
    text += fmt::format("code {}, library functions {}", grouped(m->code_bytes), grouped(m->library_bytes));
  else
    text += "and the code";
  if (!fit.weights_in_flash) text += "; without the weights, a blob of " + grouped(fit.weights_bytes) + " of your own placing";
  return text;
}

std::string memory_names(const Fit& fit, MemoryKind kind) {
  std::string text;
  for (const Memory& m : fit.memories)
    if (m.kind == kind) text += fmt::format("{}{} {}", text.empty() ? "" : " + ", m.name, grouped(m.size));
  return text;
}

void require_total(Fit& fit, MemoryKind kind, std::int64_t used, const std::string& parts) {
  const auto limit = fit.limit(kind);
  if (!limit || used <= *limit) return;
  const char* const what = kind == MemoryKind::Ram ? "RAM" : "flash";
  fit.problems.push_back(fmt::format("{} bytes of {} are needed ({}), the target has {} ({}): {}", grouped(used), what, parts,
                                     grouped(*limit), memory_names(fit, kind), percent_text(used, *limit)));
}

// Each object must lie in one memory as a whole, so memories whose sum is large enough may still not do.
void require_blocks(Fit& fit, MemoryKind kind, std::vector<std::int64_t> blocks, const char* what) {
  const std::vector<std::int64_t> memories = free_of(fit, kind);
  if (memories.size() < 2 || !fit.problems.empty()) return;
  std::erase(blocks, 0);
  if (Packing(blocks, memories).possible()) return;
  fit.problems.push_back(fmt::format("{} are one block each, the largest has {} bytes; no way to place them in {}", what,
                                     grouped(*std::ranges::max_element(blocks)), memory_names(fit, kind)));
}

Json or_null(const std::optional<std::int64_t>& value) { return value ? Json(*value) : Json(nullptr); }

Json percent_json(std::int64_t used, const std::optional<std::int64_t>& limit) {
  if (!limit) return nullptr;
  return std::round(1000.0 * static_cast<double>(used) / static_cast<double>(*limit)) / 10;
}

std::string line(const char* what, std::int64_t used, const std::optional<std::int64_t>& limit, const std::string& parts) {
  const std::string of = limit ? fmt::format("of {:>13} bytes {:>8}", grouped(*limit), percent_text(used, *limit)) : "bytes";
  return fmt::format("  {:<7} {:>13} {}  {}\n", what, grouped(used), of, parts);
}

enum class Verdict : std::uint8_t { No, NoLimit, AsFarAsIsKnown, Yes };

Verdict verdict(const Fit& fit) {
  if (!fit.fits()) return Verdict::No;
  const bool ram = fit.limit(MemoryKind::Ram).has_value(), flash = fit.limit(MemoryKind::Flash).has_value();
  if (!ram && !flash) return Verdict::NoLimit;
  const auto& m = fit.measurement.measured;
  return m && (!ram || m->stack_bytes) ? Verdict::Yes : Verdict::AsFarAsIsKnown;
}

const char* verdict_text(const Fit& fit) {
  switch (verdict(fit)) {
    case Verdict::No:
      return "NO";
    case Verdict::NoLimit:
      return "no limit is known, the target names no memories";
    case Verdict::AsFarAsIsKnown:
      return fit.measurement.measured ? "yes, as far as is known without the stack" : "yes, as far as is known without code and stack";
    case Verdict::Yes:
      break;
  }
  return "yes";
}

}  // namespace

std::int64_t Fit::ram_bytes() const {
  const auto& m = measurement.measured;
  if (on_device) return device_bytes;
  return arena_bytes + state_bytes + sum(inputs) + sum(outputs) + (m ? m->stack_bytes.value_or(0) + m->variable_bytes : 0);
}

std::int64_t Fit::flash_bytes() const {
  const auto& m = measurement.measured;
  return (weights_in_flash ? weights_bytes : 0) + (m ? m->code_bytes + m->library_bytes : 0);
}

std::optional<std::int64_t> Fit::limit(MemoryKind kind) const {
  const std::vector<std::int64_t> sizes = sizes_of(*this, kind);
  return sizes.empty() ? std::nullopt : std::optional(sum(sizes));
}

Fit make_fit(const Report& report, const Target& target, FitMeasurement measurement) {
  Fit fit;
  fit.target = target.name;
  fit.on_device = report.on_device;
  if (!fit.on_device) fit.memories = target.memories;
  fit.arena_bytes = std::max(report.arena_bytes, report.step_arena_bytes);  // never needed at once
  fit.pools = report.pools;
  fit.state_bytes = report.state_bytes;
  fit.weights_bytes = report.weights_bytes;
  fit.device_bytes = report.device_bytes;
  fit.inputs = report.inputs;
  fit.outputs = report.outputs;
  fit.weights_in_flash = report.weights_form != "blob";
  fit.measurement = std::move(measurement);
  const auto& m = fit.measurement.measured;
  require_total(fit, MemoryKind::Ram, fit.ram_bytes(), ram_parts(fit));
  require_total(fit, MemoryKind::Flash, fit.flash_bytes(), flash_parts(fit));
  std::vector<std::int64_t> blocks = fit.inputs;
  blocks.insert(blocks.end(), fit.outputs.begin(), fit.outputs.end());
  if (fit.pools.empty()) blocks.push_back(fit.arena_bytes);
  if (fit.state_bytes > 0) blocks.push_back(fit.state_bytes);
  if (m && m->stack_bytes) blocks.push_back(*m->stack_bytes);
  require_blocks(fit, MemoryKind::Ram, blocks,
                 fit.pools.empty() ? "the arena, inputs, outputs and the stack" : "inputs, outputs and the stack, beside the pools,");
  if (fit.weights_in_flash) require_blocks(fit, MemoryKind::Flash, {fit.weights_bytes}, "the weights");
  if (m && !m->overflow.empty() && fit.problems.empty()) fit.problems.push_back("the linker finds no room: " + m->overflow);
  return fit;
}

void require_fit(const Fit& fit) {
  if (fit.fits()) return;
  std::string text = "the model does not fit: ";
  for (const std::string& problem : fit.problems) text += (problem == fit.problems.front() ? "" : "; ") + problem;
  const auto flash = fit.limit(MemoryKind::Flash);
  std::string help = "if the board has other memories, describe it in an XML file of its own (--targets-dir)";
  if (flash && fit.flash_bytes() > *flash && fit.weights_in_flash) help += "; --weights blob leaves the weights' place to you";
  help += "; else smaller inputs (--shape, --dim) or a smaller network";
  throw UserError("target '" + fit.target + "'", text, help);
}

std::string to_json(const Fit& fit) {
  const auto& m = fit.measurement.measured;
  const auto ram = fit.limit(MemoryKind::Ram), flash = fit.limit(MemoryKind::Flash);
  Json j;
  j["target"] = fit.target;
  j["fits"] = verdict(fit) == Verdict::AsFarAsIsKnown ? Json(nullptr) : Json(fit.fits());
  j["problems"] = fit.problems;
  j["compiler"] = m ? Json(m->compiler) : Json(nullptr);
  j["not_measured"] = m ? Json(nullptr) : Json(fit.measurement.problem);
  j["ram"] = {{"used_bytes", fit.ram_bytes()},
              {"limit_bytes", or_null(ram)},
              {"percent", percent_json(fit.ram_bytes(), ram)},
              {"arena_bytes", fit.arena_bytes},
              {"input_bytes", sum(fit.inputs)},
              {"output_bytes", sum(fit.outputs)},
              {"stack_bytes", m ? or_null(m->stack_bytes) : Json(nullptr)},
              {"variable_bytes", m ? Json(m->variable_bytes) : Json(nullptr)}};
  if (fit.state_bytes > 0) j["ram"]["state_bytes"] = fit.state_bytes;
  if (m && !m->stack_bytes) j["ram"]["stack_problem"] = m->stack_problem;
  j["flash"] = {{"used_bytes", fit.flash_bytes()},
                {"limit_bytes", or_null(flash)},
                {"percent", percent_json(fit.flash_bytes(), flash)},
                {"weights_bytes", fit.weights_bytes},
                {"weights_counted", fit.weights_in_flash},
                {"code_bytes", m ? Json(m->code_bytes) : Json(nullptr)},
                {"library_bytes", m ? Json(m->library_bytes) : Json(nullptr)}};
  j["memories"] = Json::array();
  for (const Memory& memory : fit.memories)
    j["memories"].push_back({{"name", memory.name}, {"kind", text(memory.kind)}, {"bytes", memory.size}});
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_text(const Fit& fit) {
  const auto& m = fit.measurement.measured;
  const auto ram = fit.limit(MemoryKind::Ram), flash = fit.limit(MemoryKind::Flash);
  std::string text = fmt::format("\nFit on {}: {}\n", fit.target, verdict_text(fit));
  text += line(fit.on_device ? "device" : "RAM", fit.ram_bytes(), ram, ram_parts(fit));
  if (!fit.on_device) text += line("flash", fit.flash_bytes(), flash, flash_parts(fit));
  if (m)
    text += fmt::format("  code{} by {}{}\n", m->stack_bytes ? " and stack" : "", m->compiler,
                        m->stack_bytes ? "" : "; no bound of the stack: " + m->stack_problem);
  else
    text += "  code and stack are not measured: " + fit.measurement.problem + "\n";
  for (const std::string& problem : fit.problems) text += "  " + problem + "\n";
  return text;
}

}  // namespace etch
