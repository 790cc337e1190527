// etch-opencl: reads requests on standard input (a socket), answers on it. The tool starts it; it is of no use by hand.
#include <poll.h>
#include <unistd.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "device/frames.h"
#include "device/opencl_child/runner.h"

namespace {

using etch::Frame;
using etch::FrameKind;
using etch::FrameStatus;
using nlohmann::json;
using namespace etch::opencl;

constexpr int kSocket = 0;

void reply(FrameKind kind, const json& text, const std::vector<std::span<const std::byte>>& parts = {}) {
  if (etch::write_frame(kSocket, kind, text.dump(-1, ' ', false, json::error_handler_t::replace), parts, 0) != FrameStatus::Ok)
    _exit(0);  // nobody listens any more
}

// The parts of a frame's blob from `at` on, each named by a buffer number: [[buffer, bytes], ...].
std::map<int, std::span<const std::byte>> parts_of(const json& list, const std::vector<std::byte>& blob, std::size_t at = 0) {
  std::map<int, std::span<const std::byte>> parts;
  for (const auto& entry : list) {
    const std::size_t bytes = entry.at(1);
    parts[entry.at(0)] = std::span(blob).subspan(at, bytes);
    at += bytes;
  }
  return parts;
}

json info_of(const Runner& runner) {
  const DeviceInfo& i = runner.info();
  return {{"ok", true},         {"platform", i.platform}, {"device", i.name},   {"version", i.version},
          {"driver", i.driver}, {"cpu", i.is_cpu},        {"half", i.has_half}, {"double", i.has_double}};
}

void load(Runner& runner, const json& request, const Frame& frame) {
  const std::size_t binary = request.at("binary");
  ProgramSpec spec{request.at("source"), std::span(frame.blob).first(binary), {}, parts_of(request.at("constants"), frame.blob, binary)};
  for (const auto& k : request.at("kernels")) spec.kernels.push_back({k.at("name"), k.at("variables")});
  reply(FrameKind::Reply, {{"ok", true}, {"program", runner.load(spec)}});
}

CallSpec call_of(const json& c) {
  return {c.at("kernel"),
          c.at("buffers").get<std::vector<int>>(),
          c.at("writes").get<std::vector<int>>(),
          c.at("values").get<std::vector<std::int32_t>>(),
          c.at("groups").get<std::vector<std::size_t>>(),
          c.at("local").is_null() ? std::vector<std::size_t>() : c.at("local").get<std::vector<std::size_t>>()};
}

void run(Runner& runner, const json& request, const Frame& frame) {
  RunSpec spec;
  spec.bytes = request.at("bytes").get<std::vector<std::int64_t>>();
  spec.last_use = request.at("last_use").get<std::vector<int>>();
  spec.outputs = request.at("outputs").get<std::vector<int>>();
  spec.inputs = parts_of(request.at("inputs"), frame.blob);
  spec.tap = request.at("tap");
  spec.guards = request.at("guards");
  spec.seconds = request.at("seconds");
  for (const auto& c : request.at("calls")) spec.calls.push_back(call_of(c));
  RunEvents events;
  events.before = [](int call) { reply(FrameKind::Progress, call); };
  events.tap = [](int call, int output, std::span<const std::byte> written) { reply(FrameKind::Tap, {call, output}, {written}); };
  events.function = [](int call, std::span<const std::byte> read) {
    reply(FrameKind::Call, call, {read});
    Frame answer;
    if (etch::read_frame(kSocket, answer, 0) != FrameStatus::Ok) _exit(0);
    if (!json::parse(answer.json).at("ok").get<bool>()) throw OpenCLError("a function in C failed");
    return answer.blob;
  };
  try {
    const RunResult result = runner.run(request.at("program"), spec, events);
    std::vector<std::span<const std::byte>> parts(result.outputs.begin(), result.outputs.end());
    reply(FrameKind::Reply, {{"ok", true}, {"seconds", result.seconds}, {"memory", result.memory}}, parts);
  } catch (const GuardError& e) {
    reply(FrameKind::Reply, {{"ok", false}, {"error", e.what()}, {"buffer", e.buffer}});
  }
}

std::vector<std::pair<int, CallSpec>> calls_of(const json& list) {
  std::vector<std::pair<int, CallSpec>> calls;
  for (const auto& c : list) calls.emplace_back(c.at("program"), call_of(c.at("call")));
  return calls;
}

void replay(Runner& runner, const json& request) {
  const int list = request.at("list");
  for (const auto& u : request.at("updates")) runner.update(list, u.at(0), call_of(u.at(1)));
  runner.replay(list);
  if (runner.info().is_cpu) runner.wait();  // a driver runs kernels in this process: a crash is then this request's
}

// Memory by number, and kernels that are started one by one. False if `op` is none of these requests.
bool serve_step(Runner& runner, const std::string& op, const json& request, const Frame& frame) {
  json answer = {{"ok", true}};
  std::vector<std::byte> content;
  if (op == "alloc")
    answer["memory"] = runner.alloc(request.at("bytes"));
  else if (op == "free")
    runner.free(request.at("memory"));
  else if (op == "write")
    runner.write(request.at("memory"), frame.blob);
  else if (op == "read")
    content = runner.read(request.at("memory"), request.at("bytes"));
  else if (op == "launch")
    runner.launch(request.at("program"), call_of(request.at("call")));
  else if (op == "restore")
    runner.restore(request.at("program"), parts_of(request.at("constants"), frame.blob));
  else if (op == "prepare")
    answer["list"] = runner.prepare(calls_of(request.at("calls")));
  else if (op == "replay")
    replay(runner, request);
  else if (op == "forget")
    runner.forget(request.at("list"));
  else if (op == "wait")
    runner.wait();
  else
    return false;
  reply(FrameKind::Reply, answer, {content});
  return true;
}

void serve(std::optional<Runner>& runner, const Frame& frame) {
  const json request = json::parse(frame.json);
  const std::string op = request.at("op");
  try {
    if (op == "open") {
      runner.emplace(request.at("device").get<std::string>());
      reply(FrameKind::Reply, info_of(*runner));
    } else if (!runner) {
      throw OpenCLError("no device was chosen");
    } else if (op == "load") {
      load(*runner, request, frame);
    } else if (op == "unload") {
      runner->unload(request.at("program"));
      reply(FrameKind::Reply, {{"ok", true}});
    } else if (op == "compile") {
      const std::vector<unsigned char> binary = runner->compile(request.at("source"));
      reply(FrameKind::Reply, {{"ok", true}}, {std::as_bytes(std::span(binary))});
    } else if (!serve_step(*runner, op, request, frame)) {
      run(*runner, request, frame);
    }
  } catch (const OpenCLError& e) {
    reply(FrameKind::Reply, {{"ok", false}, {"error", e.what()}});
  }
}

// A kernel that never ends would keep this process alive after the tool is gone.
void end_with_parent() {
  pollfd p{kSocket, 0, 0};
  while ((p.revents & (POLLHUP | POLLERR | POLLNVAL)) == 0) poll(&p, 1, -1);
  _exit(0);
}

}  // namespace

int main() {
  if (isatty(kSocket) != 0) {
    std::cerr << "etch-opencl is started by etch\n";
    return 2;
  }
  std::thread(end_with_parent).detach();
  std::optional<Runner> runner;
  Frame frame;
  while (etch::read_frame(kSocket, frame, 0) == FrameStatus::Ok) {
    try {
      serve(runner, frame);
    } catch (const std::exception& e) {
      reply(FrameKind::Reply, {{"ok", false}, {"error", e.what()}});
    }
  }
  _exit(0);  // without the driver's own end, which may hang
}
