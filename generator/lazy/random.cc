// Random numbers as operations of the graph: the same on every backend, and in emitted code.
//
// Threefry-2x32 with 20 rounds: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
#include <array>

#include "base/error.h"
#include "lazy/graph.h"
#include "lazy/tensor.h"

namespace etch {
namespace {

constexpr int kRounds = 20;
constexpr std::array<int, 8> kRotations{13, 15, 26, 6, 17, 29, 16, 24};
constexpr std::int64_t kParity = 0x1BD11BDA;  // of the key schedule

/// Bits of a value's whole number, the hidden one included.
int digits_of(DType dtype) {
  if (dtype == DType::Float16) return 11;
  return dtype == DType::BFloat16 ? 8 : 24;
}

Tensor rotate_left(const Tensor& x, int bits) {
  return Tensor::binary(Op::Or, Tensor::binary(Op::Shl, x, x.full_like(bits)), Tensor::binary(Op::Shr, x, x.full_like(32 - bits)));
}

Tensor exclusive_or(const Tensor& a, const Tensor& b) { return Tensor::binary(Op::Xor, a, b); }

}  // namespace

std::pair<Tensor, Tensor> Tensor::threefry(const Tensor& key0, const Tensor& key1, const Tensor& counter0, const Tensor& counter1) {
  for (const Tensor& t : {key0, key1, counter0, counter1})
    if (t.dtype() != DType::UInt32) throw ShapeError("threefry takes words of uint32, one is " + std::string(name_of(t.dtype())));
  const std::array<Tensor, 3> key{key0, key1, exclusive_or(exclusive_or(key0, key1), key0.full_like(static_cast<double>(kParity)))};
  Tensor x = counter0 + key[0], y = counter1 + key[1];
  for (int round = 0; round < kRounds; round++) {
    x = x + y;
    y = exclusive_or(rotate_left(y, kRotations[static_cast<std::size_t>(round) % kRotations.size()]), x);
    if (round % 4 != 3) continue;
    const int turn = round / 4 + 1;
    x = x + key[static_cast<std::size_t>(turn % 3)];
    y = y + key[static_cast<std::size_t>((turn + 1) % 3)] + static_cast<double>(turn);
  }
  return {x, y};
}

Tensor Tensor::uniform(LazyGraph& graph, const Shape& shape, DType dtype, const Tensor& key, const Tensor& counter) {
  if (!is_float(dtype)) throw ShapeError("uniform numbers are of a float type, not " + std::string(name_of(dtype)));
  if (key.dtype() != DType::UInt32 || counter.dtype() != DType::UInt32 || key.shape() != Shape{2} || counter.shape() != Shape{2})
    throw ShapeError("key and counter are two words of uint32 each");
  const Sint n = product(shape);
  if (n.max() >= (std::int64_t{1} << 32)) throw ShapeError("fewer than 2^32 random numbers are drawn at once, not " + to_text(n));
  const auto word = [&](const Tensor& words, int k) { return words.slice(0, k, k + 1).expand({n}); };
  const Tensor low = word(counter, 0) + arange(graph, n, DType::UInt32);
  const Tensor carry = (low < word(counter, 0)).cast(DType::UInt32);
  const auto [x, y] = threefry(word(key, 0), word(key, 1), low, word(counter, 1) + carry);
  const auto upper = [](const Tensor& bits, int count) { return binary(Op::Shr, bits, bits.full_like(32 - count)); };
  // As many bits as the type holds, so that 1 is never reached by rounding.
  Tensor numbers;
  if (dtype == DType::Float64)
    numbers = (upper(x, 27).cast(dtype) * 67108864.0 + upper(y, 26).cast(dtype)) * 0x1p-53;
  else
    numbers = upper(x, digits_of(dtype)).cast(DType::Float32) * (1.0 / static_cast<double>(std::int64_t{1} << digits_of(dtype)));
  return numbers.cast(dtype).reshape(shape);
}

}  // namespace etch
