#include "interp/interp.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "interp/reduce.h"

namespace etch {
namespace {

using namespace interp;

template <class T>
void copy_elements(const Access& access, const std::byte* from, std::int64_t elements, std::int64_t count, std::byte* to) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  access.walk(
      0, count,
      [&](std::int64_t at, std::int64_t position, std::int64_t step, std::int64_t n) {
        const std::int64_t end = position + step * (n - 1);
        check(std::min(position, end) >= 0 && std::max(position, end) < elements, "a relayout reads inside its array");
        const std::byte* p = from + position * kBytes;
        std::byte* q = to + at * kBytes;
        if (step == 1) {
          std::memcpy(q, p, static_cast<std::size_t>(n * kBytes));
          return;
        }
        for (std::int64_t k = 0; k < n; k++) std::memcpy(q + k * kBytes, p + k * step * kBytes, sizeof(T));
      },
      [&](std::int64_t at, std::int64_t n) { std::memset(to + at * kBytes, 0, static_cast<std::size_t>(n * kBytes)); });
}

Domain domain_of(const std::vector<std::int64_t>& shape) {
  Domain domain;
  for (std::size_t a = 0; a < shape.size(); a++)
    if (shape[a] != 1) domain.push_back({static_cast<int>(a), shape[a]});
  return domain;
}

// Whether elements that follow each other in the store's shape do so in memory; where the first one lies is the caller's to know.
bool stores_in_order(const LazyOp* store) {
  const std::vector<View>& views = store->st().views();
  return views.size() == 1 && views[0].strides == View::create(views[0].shape).strides;
}

// Elements [at, at + n) of a store, from a block of their own to where the store's view has them.
void scatter(const Access& access, std::int64_t at, std::int64_t n, std::int64_t width, const std::byte* from, std::byte* out) {
  access.walk(
      at, n,
      [&](std::int64_t element, std::int64_t position, std::int64_t step, std::int64_t count) {
        for (std::int64_t i = 0; i < count; i++) std::copy_n(from + (element + i) * width, width, out + (position + i * step) * width);
      },
      [](std::int64_t, std::int64_t) { check(false, "a store writes each of its elements"); });
}

}  // namespace

void interp_evaluate_into(const LazyOp* store, const std::vector<InterpInput>& inputs, const VarValues& vars, std::byte* out,
                          std::int64_t out_elements) {
  check(store->op == Op::Store, "the root of an AST is a Store");
  const Domain domain = domain_of(fixed(store->shape, vars));
  const std::int64_t size = size_of(domain);
  check(size <= out_elements, "the output of a kernel holds its shape");
  if (size == 0) return;
  Inputs leaves;
  leaves.buffers = &inputs;
  leaves.vars = &vars;
  for (const LazyOp* op : toposort(store))
    if (is_reduce(op->op)) leaves.reduced.emplace(op, reduce(op, leaves));
  BlockProgram program(store->src[0], domain, leaves);
  std::optional<Access> access;
  if (!stores_in_order(store)) access.emplace(fixed(store->st(), vars), domain);
  std::vector<std::byte> block(access ? static_cast<std::size_t>(kBlock * bytes_of(store->dtype)) : 0);
  for (std::int64_t at = 0; at < size; at += kBlock) {
    const std::int64_t n = std::min(kBlock, size - at);
    write_block(store->dtype, program.run(at, n), n, access ? block.data() : out, access ? 0 : at);
    if (access) scatter(*access, at, n, bytes_of(store->dtype), block.data(), out);
  }
}

Array interp_evaluate(const LazyOp* store, const std::vector<const Array*>& inputs, const VarValues& vars) {
  std::vector<InterpInput> raw;
  for (const Array* input : inputs) raw.push_back({input->dtype(), input->bytes().data(), input->size()});
  std::vector<std::int64_t> shape = fixed(store->shape, vars);
  const std::int64_t size = element_count(shape);
  std::vector<std::byte> bytes(static_cast<std::size_t>(size * bytes_of(store->dtype)));
  interp_evaluate_into(store, raw, vars, bytes.data(), size);
  return {store->dtype, std::move(shape), std::move(bytes)};
}

Array relayout(const Array& data, const ShapeTracker& st, const VarValues& vars) {
  const std::vector<FixedView> views = fixed(st, vars);
  std::vector<std::int64_t> shape = views.back().shape;
  const std::int64_t count = element_count(shape);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count * bytes_of(data.dtype())));
  const Access access(views, domain_of(shape));
  const std::byte* from = data.bytes().data();
  const int size = bytes_of(data.dtype());
  const auto copy = size == 1   ? copy_elements<std::uint8_t>
                    : size == 2 ? copy_elements<std::uint16_t>
                    : size == 4 ? copy_elements<std::uint32_t>
                                : copy_elements<std::uint64_t>;
  copy(access, from, data.size(), count, bytes.data());
  return {data.dtype(), std::move(shape), std::move(bytes)};
}

}  // namespace etch
