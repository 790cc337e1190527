#include "emit/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "emit/literals.h"

namespace etch {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kUnmeasured =
    "null means not measured: code, stack and instructions need the target's compiler and emulator (etch validate --target)";

Json number(const std::optional<std::int64_t>& value) { return value ? Json(*value) : Json(nullptr); }

bool is_measured(const Report& r) { return r.code_bytes && r.stack_bytes && r.instructions; }

Json audit_json(const std::optional<ReportAudit>& audit) {
  if (!audit) return nullptr;
  return Json{{"ok", audit->findings.empty()},
              {"functions", audit->functions},
              {"bounded_loops", audit->bounded_loops},
              {"findings", audit->findings}};
}

Json cost_json(const ReportKernel& k) {
  const ReportCost& c = *k.cost;
  return Json{
      {"instructions", c.instructions},
      {"instructions_per_mac", k.macs == 0 ? Json(nullptr) : Json(static_cast<double>(c.instructions) / static_cast<double>(k.macs))},
      {"loads", c.loads},
      {"stores", c.stores},
      {"taken_branches", c.taken_branches},
      {"cycles_estimated", number(c.cycles_estimated)},
      {"stack_bytes", number(c.stack_bytes)},
      {"code_bytes", c.code_bytes}};
}

Json kernel_json(const ReportKernel& k) {
  Json j{{"name", k.name}, {"nodes", k.nodes}, {"shape", k.shape}, {"macs", k.macs}, {"bytes", k.bytes}};
  if (!k.shared.empty()) j["shared_loop"] = k.shared;
  if (k.cost) j["cost"] = cost_json(k);
  return j;
}

Json buffer_json(const ReportBuffer& b) {
  Json j{{"name", b.name}, {"offset", b.offset}, {"bytes", b.bytes}, {"first_call", b.first}, {"last_call", b.last}};
  if (b.inner_axis >= 0) j["innermost_axis"] = b.inner_axis;
  if (b.block > 0) j["block"] = b.block;
  if (b.pool.empty()) return j;
  j["pool"] = b.pool;
  j["accessed_bytes"] = b.accessed_bytes;
  j["why"] = b.why;
  return j;
}

void add_pools(Json& j, const Report& r) {
  if (r.pools.empty()) return;
  for (const ReportPool& p : r.pools) {
    j["pools"].push_back({{"name", p.name},
                          {"memory", p.memory},
                          {"bytes", p.bytes},
                          {"limit_bytes", p.limit_bytes},
                          {"lower_bound_bytes", p.lower_bound_bytes},
                          {"tensors", p.tensors},
                          {"accessed_bytes", p.accessed_bytes},
                          {"unused", p.unused.empty() ? Json(nullptr) : Json(p.unused)}});
  }
  j["pools_are_best"] = r.pools_are_best;
}

std::string figure(const char* what, const std::optional<std::int64_t>& value, const char* unit) {
  return value ? fmt::format("  {:<22} {:>13} {}\n", what, grouped(*value), unit) : fmt::format("  {:<22} {:>13}\n", what, "not measured");
}

std::string arena_text(const Report& r) {
  std::string text = figure("arena", r.arena_bytes,
                            r.on_device       ? "bytes on the device, made when the model is opened"
                            : r.pools.empty() ? "bytes of RAM, in one block of the caller"
                                              : "bytes of RAM, in a block of the caller for each pool");
  text += figure("  lower bound", r.arena_lower_bound_bytes,
                 r.pools.empty() ? "bytes: the most that is live at one call" : "bytes: of each pool the most that is live at one call");
  if (r.arena_bytes > r.arena_lower_bound_bytes)
    text += r.arena_is_smallest ? "    all ways to place the buffers were tried: none takes less\n"
                                : "    not all ways to place the buffers were tried: one may take less, down to the lower bound\n";
  if (r.step_arena_bytes > 0) {
    text += figure("arena of a step", r.step_arena_bytes, "bytes of RAM, which may be the same block: never needed at once");
    text += figure("  lower bound", r.step_arena_lower_bound_bytes, "bytes");
    text += fmt::format("  {:<22} {}\n", "trained", nodes_text(r.trained));
  }
  if (r.arena_apart_bytes > 0) text += figure("  without overlap", r.arena_apart_bytes, "bytes, if no output lay over a part of an input");
  return text;
}

// A line for each pool and one for each tensor in them.
std::string pools_text(const Report& r) {
  if (r.pools.empty()) return "";
  std::int64_t accessed = 0;
  std::size_t pool = 4, name = 6;
  for (const ReportPool& p : r.pools) {
    accessed += p.accessed_bytes;
    pool = std::max(pool, p.name.size());
  }
  for (const ReportBuffer& b : r.buffers) name = std::max(name, nodes_text({b.name}).size());
  std::string text = "\nPools of the target, the fastest first; kernels read and write as much as possible there\n";
  for (const ReportPool& p : r.pools) {
    const double part = accessed == 0 ? 0 : 100 * static_cast<double>(p.accessed_bytes) / static_cast<double>(accessed);
    text += fmt::format("  {:<{}} {:>11} of {:>11} bytes in {}: ", p.name, pool, grouped(p.bytes), grouped(p.limit_bytes), p.memory);
    text += p.unused.empty() ? fmt::format("{} tensors, {:.1f} % of the bytes that kernels access\n", p.tensors, part) : p.unused + "\n";
  }
  text += r.pools_are_best ? "  it is proved that no placing gives the faster pools more\n"
                           : "  not all ways to place the tensors were tried: one may give the faster pools more\n";
  text += fmt::format("  {:<{}}  {:<{}}  {:>11}  {:>13}  why\n", "tensor", name, "pool", pool, "bytes", "accessed");
  for (const ReportBuffer& b : r.buffers)
    text += fmt::format("  {:<{}}  {:<{}}  {:>11}  {:>13}  {}\n", nodes_text({b.name}), name, b.pool, pool, grouped(b.bytes),
                        grouped(b.accessed_bytes), nodes_text({b.why}));
  return text;
}

// The tensors that do not lie in the order of their axes, those of one order together.
std::string orders_text(const Report& r) {
  std::map<std::pair<int, std::int64_t>, std::vector<std::string>> names;
  for (const ReportBuffer& b : r.buffers)
    if (b.inner_axis >= 0) names[{b.inner_axis, b.block}].push_back(b.name);
  if (names.empty()) return "";
  std::string text = "\nTensors that do not lie in the order of their axes\n";
  for (const auto& [order, of] : names) {
    const std::string blocks = order.second > 0 ? fmt::format(" in blocks of {}", order.second) : "";
    text += fmt::format("  axis {} innermost{}: {}\n", order.first, blocks, nodes_text(of));
  }
  return text;
}

std::string workers_text(const Report& r) {
  if (r.workers.most <= 1) return "";
  std::string text = fmt::format("\nUp to {} workers: each does a part of {} of {} calls, worker 0 the others; barriers before {} calls\n",
                                 r.workers.most, r.workers.shared_calls, r.kernels.size(), r.workers.barriers);
  std::vector<std::string> alone;
  for (const ReportKernel& k : r.kernels)
    if (k.shared.empty()) alone.push_back(k.name);
  return alone.empty() ? text : text + "  not shared, as they have little to do or no loop to share: " + nodes_text(alone) + "\n";
}

std::string or_dash(const std::optional<std::int64_t>& value) { return value ? grouped(*value) : "-"; }

}  // namespace

std::string nodes_text(const std::vector<std::string>& nodes) {
  constexpr std::size_t kShown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(nodes.size(), kShown); i++) text += (i == 0 ? "" : ", ") + nodes[i];
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';  // one line stays one line
  return nodes.size() > kShown ? text + fmt::format(" and {} more", nodes.size() - kShown) : text;
}

std::string costs_text(const std::vector<ReportKernel>& kernels) {
  if (std::ranges::none_of(kernels, [](const ReportKernel& k) { return k.cost.has_value(); })) return "";
  std::size_t name = 4;
  for (const ReportKernel& k : kernels) name = std::max(name, k.name.size());
  std::string text = fmt::format("  {:<{}}  {:>13}  {:>7}  {:>11}  {:>11}  {:>13}  {:>6}  {:>6}\n", "cost", name, "instructions", "a MAC",
                                 "loads", "stores", "cycles, est.", "stack", "flash");
  for (const ReportKernel& k : kernels) {
    if (!k.cost) continue;
    const ReportCost& c = *k.cost;
    const std::string per_mac =
        k.macs == 0 ? "-" : fmt::format("{:.2f}", static_cast<double>(c.instructions) / static_cast<double>(k.macs));
    text += fmt::format("  {:<{}}  {:>13}  {:>7}  {:>11}  {:>11}  {:>13}  {:>6}  {:>6}\n", k.name, name, grouped(c.instructions), per_mac,
                        grouped(c.loads), grouped(c.stores), or_dash(c.cycles_estimated), or_dash(c.stack_bytes), grouped(c.code_bytes));
  }
  return text;
}

std::string to_json(const Report& r) {
  Json j;
  j["name"] = r.name;
  j["etch"] = r.tool_version;
  j["model"] = r.model_file;
  j["sha256"] = r.model_sha256;
  j["target"] = r.target;
  j["options"] = r.options;
  j["language"] = r.language;
  j["arena_bytes"] = r.arena_bytes;
  j["arena_lower_bound_bytes"] = r.arena_lower_bound_bytes;
  if (r.arena_bytes > r.arena_lower_bound_bytes) j["arena_is_smallest"] = r.arena_is_smallest;
  if (r.step_arena_bytes > 0) {
    j["step_arena_bytes"] = r.step_arena_bytes;
    j["step_arena_lower_bound_bytes"] = r.step_arena_lower_bound_bytes;
    j["trained"] = r.trained;
  }
  if (r.arena_apart_bytes > 0) j["arena_apart_bytes"] = r.arena_apart_bytes;
  j["arena_align"] = r.arena_align;
  j["input_bytes"] = r.input_bytes;
  j["output_bytes"] = r.output_bytes;
  if (r.state_bytes > 0) j["state_bytes"] = r.state_bytes;
  j["weights_bytes"] = r.weights_bytes;
  if (r.widened_bytes > 0) j["widened_bytes"] = r.widened_bytes;
  j["weights_form"] = r.weights_form;
  j["macs"] = r.macs;
  j["indices_proved"] = r.indices_proved;
  j["functions"] = r.functions;
  j["code_bytes"] = number(r.code_bytes);
  j["stack_bytes"] = number(r.stack_bytes);
  j["stack_bound_bytes"] = number(r.stack_bound_bytes);
  j["instructions"] = number(r.instructions);
  j["loads"] = number(r.loads);
  j["stores"] = number(r.stores);
  j["taken_branches"] = number(r.taken_branches);
  j["cycles_estimated"] = number(r.cycles_estimated);
  if (r.cycles_estimated) j["cycles_rule"] = r.cycles_rule;
  j["note"] = is_measured(r) ? Json(nullptr) : Json(kUnmeasured);
  j["audit"] = audit_json(r.audit);
  if (!r.files.empty()) j["files"] = r.files;
  if (!r.custom_functions.empty()) j["custom_functions"] = r.custom_functions;
  j["kernels"] = Json::array();
  for (const ReportKernel& k : r.kernels) j["kernels"].push_back(kernel_json(k));
  j["folded_nodes"] = r.folded;
  if (!r.float_nodes.empty()) j["float_nodes"] = r.float_nodes;
  if (!r.tuning_notes.empty()) j["tuning_notes"] = r.tuning_notes;
  for (const ReportDeadChannels& d : r.dead) j["dead_channels"].push_back({{"nodes", d.nodes}, {"removed", d.removed}, {"total", d.total}});
  add_pools(j, r);
  if (r.workers.most > 1)
    j["workers"] = {{"most", r.workers.most}, {"shared_calls", r.workers.shared_calls}, {"barriers", r.workers.barriers}};
  j["arena"] = Json::array();
  for (const ReportBuffer& b : r.buffers) j["arena"].push_back(buffer_json(b));
  // Names in the model may be invalid UTF-8, which must not stop the report.
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_text(const Report& r) {
  const bool on_device = r.on_device;
  std::string text = fmt::format("{}, generated by etch {}{}\n", r.name, r.tool_version,
                                 r.model_file.empty() ? "" : " from " + nodes_text({r.model_file}));
  if (!r.model_sha256.empty()) text += "model sha256 " + r.model_sha256 + "\n";
  if (!r.options.empty()) text += "options " + nodes_text({r.options}) + "\n";
  text += fmt::format(
      "\nFiles: {0}.h is what your program includes, {0}.c the model. Build by add_subdirectory, by this folder's CMakeLists.txt\n"
      "with a toolchain file, or by:\n  {1}\n",
      r.name, r.build_command);
  text += r.files_note;
  text += "\nMemory\n";
  text += arena_text(r);
  const char* io = on_device ? "bytes, the caller's, and as many on the device" : "bytes, the caller's";
  text += figure("inputs", r.input_bytes, io);
  text += figure("outputs", r.output_bytes, io);
  if (r.state_bytes > 0)
    text += figure("state", r.state_bytes,
                   on_device ? "bytes on the device, kept from run to run" : "bytes of RAM, the caller's, kept from run to run");
  const char* weights = on_device ? "bytes, as {}, copied to the device" : "bytes of flash, as {}";
  text += figure("weights", r.weights_bytes, fmt::format(fmt::runtime(weights), r.weights_form).c_str());
  if (r.widened_bytes > 0) text += figure("  widened", r.widened_bytes, "bytes of that for speed; --optimize flash leaves them out");
  text += figure("code", r.code_bytes, on_device ? "bytes of the host's program" : "bytes of flash");
  text += figure("stack, seen", r.stack_bytes, "bytes");
  text += figure("stack, worst case", r.stack_bound_bytes, "bytes");
  text += "\nWork\n";
  text += figure("multiply-accumulates", r.macs, "");
  text += figure("instructions", r.instructions, "");
  if (r.cycles_estimated) text += figure("cycles, estimated", r.cycles_estimated, r.cycles_rule.c_str());
  text += figure("indices proved", r.indices_proved, "loads and stores inside their buffers");
  if (!is_measured(r)) text += "  What is not measured needs the target's compiler and emulator: etch validate --target.\n";
  if (r.audit) {
    text += fmt::format("\nAudit: {} functions, {} loops with evident end, {} findings\n", r.audit->functions, r.audit->bounded_loops,
                        r.audit->findings.size());
    for (const std::string& finding : r.audit->findings) text += "  " + finding + "\n";
  }
  text += pools_text(r);
  text += orders_text(r) + workers_text(r);
  text += "\nKernels in the order of their calls\n";
  std::size_t name = 4, shape = 5;
  for (const ReportKernel& k : r.kernels) {
    name = std::max(name, k.name.size());
    shape = std::max(shape, k.shape.size());
  }
  text += fmt::format("  {:<{}}  {:<{}}  {:>15}  {:>13}  nodes\n", "name", name, "shape", shape, "MACs", "bytes");
  for (const ReportKernel& k : r.kernels)
    text += fmt::format("  {:<{}}  {:<{}}  {:>15}  {:>13}  {}\n", k.name, name, k.shape, shape, grouped(k.macs), grouped(k.bytes),
                        nodes_text(k.nodes));
  text += costs_text(r.kernels);
  if (!r.folded.empty()) text += "Folded into constants, or nothing to compute: " + nodes_text(r.folded) + "\n";
  for (const std::string& note : r.tuning_notes) text += note + "\n";
  if (!r.float_nodes.empty()) text += "In float between quantised values: " + nodes_text(r.float_nodes) + "\n";
  if (!r.dead.empty()) text += "\nChannels that are the same for every input, folded into constants\n";
  for (const ReportDeadChannels& d : r.dead)
    text += fmt::format("  {:>6} of {:>6}  {}\n", grouped(d.removed), grouped(d.total), nodes_text(d.nodes));
  return text;
}

}  // namespace etch
