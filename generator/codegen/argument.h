// The parameters of a kernel: buffers, then variables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/dtype.h"
#include "shape/shapetracker.h"

namespace etch {

enum class Access : std::uint8_t { Read, Write };

/// A buffer that a kernel reads or writes. Written buffers come first.
struct KernelArgument {
  DType dtype{};
  Sint elements = 0;  // may hold Variables
  std::string name;   // what the text calls it
  Access access = Access::Read;
  bool is_constant = false;  // its content is known at generation time, and may be laid out in another order
  bool is_bounded = false;   // it is known to hold no NaN and no magnitude above kBounded
  /// Set by generate_kernel, for constants only: the order in which the text reads it, if that is not the buffer's own. Element j
  /// of the new order is element layout->expr_node(j) of the old one.
  std::optional<ShapeTracker> layout{};
  bool in_words = false;  // with that: it is aligned as an int32 is
};

/// A few products and sums of constants up to this magnitude stay finite.
inline constexpr double kBounded = 0x1p30;

/// Work-items of a group at most where the driver chooses.
inline constexpr std::int64_t kDriverItems = 256;

/// The name and the parameters of a kernel's function, as the text declares them.
struct KernelSignature {
  std::string function;  // C identifier
  std::vector<KernelArgument> arguments;
  std::vector<std::string> variables;  // integers, after the buffers
  std::int64_t work_items = 1;         // in a group, in languages with a grid; filled in when the kernel is made
  bool overlaps = false;               // outputs may lie over parts of inputs: loads and stores keep their order; filled in as well
};

}  // namespace etch
