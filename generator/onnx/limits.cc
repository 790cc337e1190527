#include "onnx/limits.h"

#include <bit>

#include "base/error.h"
#include "onnx/node.h"

namespace etch {
namespace {

std::string text_of(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (std::int64_t d : shape) text += (text.empty() ? "" : ",") + std::to_string(d);
  return "[" + text + "]";
}

}  // namespace

void require_sane_shape(const std::vector<std::int64_t>& shape, const std::string& where, std::int64_t most) {
  for (std::size_t axis = 0; axis < shape.size(); axis++) {
    if (shape[axis] >= 0) continue;
    throw UserError(where, "its shape " + text_of(shape) + " has the size " + std::to_string(shape[axis]) + " at axis " +
                               std::to_string(axis) + ", sizes are >= 0");
  }
  std::int64_t count = 1;
  for (std::int64_t d : shape) {
    if (d == 0) continue;  // the other sizes of an empty tensor must be sane too, as strides are products of them
    if (d > most / count) {
      throw UserError(where,
                      "its shape " + text_of(shape) + " has more than " + std::to_string(most) + " elements (2^" +
                          std::to_string(std::bit_width(static_cast<std::uint64_t>(most)) - 1) + "), the most of one tensor",
                      "check the shape; the file may be damaged");
    }
    count *= d;
  }
}

void require_sane_shape(const std::vector<Sint>& shape, const std::string& where, std::int64_t most) {
  std::vector<std::int64_t> largest;
  for (const Sint& d : shape) largest.push_back(d.max());
  require_sane_shape(largest, where, most);
}

void require_sane_shape(const std::vector<Sint>& shape, const NodeContext& node, std::int64_t most) {
  try {
    require_sane_shape(shape, "", most);
  } catch (const UserError& error) {
    node.fail("of what it computes, " + error.problem(), error.help());
  }
}

}  // namespace etch
