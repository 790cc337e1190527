// Messages between the tool and its OpenCL process: a JSON text followed by raw bytes, over a local socket. Both sides are the
// same build on the same machine, so numbers are sent in the machine's byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace etch {

enum class FrameKind : std::uint32_t {
  Request = 1,   // to the child
  Reply = 2,     // the one answer to a request
  Progress = 3,  // before the answer: what is about to be done, as text
  Tap = 4,       // before the answer: what a call has written
  Call = 5,      // before the answer: what a function in C reads; a request follows with what it wrote
};

struct Frame {
  FrameKind kind{};
  std::string json;
  std::vector<std::byte> blob;
};

enum class FrameStatus : std::uint8_t { Ok, Closed, TimedOut };

/// Writes one frame; its blob is the concatenation of `parts`. Gives up after `timeout_s` seconds without progress (zero or less:
/// never). A peer that has gone gives Closed, not a signal.
FrameStatus write_frame(int socket, FrameKind kind, std::string_view json, const std::vector<std::span<const std::byte>>& parts,
                        double timeout_s);
/// Reads one frame, with the same rules.
FrameStatus read_frame(int socket, Frame& frame, double timeout_s);

}  // namespace etch
