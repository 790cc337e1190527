#include "device/frames.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

namespace etch {
namespace {

struct Header {
  std::uint32_t kind = 0, json_bytes = 0;
  std::uint64_t blob_bytes = 0;
};

FrameStatus wait_for(int socket, short events, double timeout_s) {
  pollfd p{socket, events, 0};
  for (;;) {
    const int n = poll(&p, 1, timeout_s > 0 ? static_cast<int>(timeout_s * 1000) : -1);
    if (n > 0) return FrameStatus::Ok;
    if (n == 0) return FrameStatus::TimedOut;
    if (errno != EINTR) return FrameStatus::Closed;
  }
}

FrameStatus send_all(int socket, std::span<const std::byte> bytes, double timeout_s) {
  while (!bytes.empty()) {
    const ssize_t n = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (const FrameStatus s = wait_for(socket, POLLOUT, timeout_s); s != FrameStatus::Ok) return s;
    } else if (n == 0 || errno != EINTR) {
      return FrameStatus::Closed;
    }
  }
  return FrameStatus::Ok;
}

FrameStatus receive_all(int socket, std::span<std::byte> bytes, double timeout_s) {
  while (!bytes.empty()) {
    const ssize_t n = recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (n > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (const FrameStatus s = wait_for(socket, POLLIN, timeout_s); s != FrameStatus::Ok) return s;
    } else if (n == 0 || errno != EINTR) {
      return FrameStatus::Closed;
    }
  }
  return FrameStatus::Ok;
}

}  // namespace

FrameStatus write_frame(int socket, FrameKind kind, std::string_view json, const std::vector<std::span<const std::byte>>& parts,
                        double timeout_s) {
  Header header{static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(json.size()), 0};
  for (const auto& part : parts) header.blob_bytes += part.size();
  FrameStatus status = send_all(socket, std::as_bytes(std::span(&header, 1)), timeout_s);
  if (status == FrameStatus::Ok) status = send_all(socket, std::as_bytes(std::span(json)), timeout_s);
  for (const auto& part : parts)
    if (status == FrameStatus::Ok) status = send_all(socket, part, timeout_s);
  return status;
}

FrameStatus read_frame(int socket, Frame& frame, double timeout_s) {
  Header header;
  FrameStatus status = receive_all(socket, std::as_writable_bytes(std::span(&header, 1)), timeout_s);
  if (status != FrameStatus::Ok) return status;
  frame.kind = static_cast<FrameKind>(header.kind);
  frame.json.resize(header.json_bytes);
  frame.blob.resize(header.blob_bytes);
  status = receive_all(socket, std::as_writable_bytes(std::span(frame.json)), timeout_s);
  if (status == FrameStatus::Ok) status = receive_all(socket, frame.blob, timeout_s);
  return status;
}

}  // namespace etch
