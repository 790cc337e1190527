#include "interp/block.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/error.h"
#include "base/toposort.h"
#include "ir/array.h"

namespace etch::interp {
namespace {

bool is_leaf(const LazyOp* op) { return info(op->op).group == OpGroup::Buffer || is_reduce(op->op); }

struct Half {
  std::uint16_t bits;
};
struct BHalf {
  std::uint16_t bits;
};

template <class T>
double to_double(T v) {
  return static_cast<double>(v);
}
template <>
double to_double(Half v) {
  if ((v.bits & 0x7c00u) == 0 || (v.bits & 0x7c00u) == 0x7c00u) return static_cast<double>(half_to_float(v.bits));
  // Normal numbers without a call: the exponent is moved from bias 15 to bias 127.
  const std::uint32_t bits = ((v.bits & 0x8000u) << 16) | (((v.bits & 0x7fffu) << 13) + (112u << 23));
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return static_cast<double>(f);
}
template <>
double to_double(BHalf v) {
  return static_cast<double>(bfloat16_to_float(v.bits));
}

/// Calls `read` with the C type of the elements of `dtype` and what converts one to the type of a Block.
template <class Read>
void with_type(DType dtype, Read read) {
  const auto as_double = [](auto v) { return to_double(v); };
  const auto as_int = [](auto v) { return static_cast<std::int64_t>(v); };
  switch (dtype) {
    case DType::Bool:
      return read(std::uint8_t{}, [](std::uint8_t v) -> std::int64_t { return v != 0; });
    case DType::Int8:
      return read(std::int8_t{}, as_int);
    case DType::UInt8:
      return read(std::uint8_t{}, as_int);
    case DType::Int16:
      return read(std::int16_t{}, as_int);
    case DType::UInt16:
      return read(std::uint16_t{}, as_int);
    case DType::Int32:
      return read(std::int32_t{}, as_int);
    case DType::UInt32:
      return read(std::uint32_t{}, as_int);
    case DType::Int64:
    case DType::UInt64:
      return read(std::int64_t{}, as_int);
    case DType::Float16:
      return read(Half{}, as_double);
    case DType::BFloat16:
      return read(BHalf{}, as_double);
    case DType::Float32:
      return read(float{}, as_double);
    case DType::Float64:
      return read(double{}, as_double);
  }
}

template <class Value>
auto& values_in(Block& block) {
  if constexpr (std::is_same_v<Value, double>)
    return block.f;
  else
    return block.i;
}

template <class T>
T element(const InterpInput& in, std::int64_t position) {
  T v;
  std::memcpy(&v, in.data + position * static_cast<std::int64_t>(sizeof(T)), sizeof v);
  return v;
}

void load(const Access& access, const InterpInput& in, std::int64_t start, std::int64_t count, Block& out) {
  with_type(in.dtype, [&]<class T, class Convert>(T, Convert convert) {
    using Value = decltype(convert(T{}));
    Value* to = values_in<Value>(out).data();
    access.walk(
        start, count,
        [&](std::int64_t at, std::int64_t position, std::int64_t step, std::int64_t n) {
          const std::int64_t end = position + step * (n - 1);
          check(std::min(position, end) >= 0 && std::max(position, end) < in.elements, "a kernel reads inside its buffers");
          if (step == 0) {
            std::fill_n(to + at, n, convert(element<T>(in, position)));
          } else if (step == 1) {
            for (std::int64_t k = 0; k < n; k++) to[at + k] = convert(element<T>(in, position + k));
          } else {
            for (std::int64_t k = 0; k < n; k++) to[at + k] = convert(element<T>(in, position + k * step));
          }
        },
        [&](std::int64_t at, std::int64_t n) { std::fill_n(to + at, n, Value{0}); });
  });
}

/// The elements at `places`; 0 for a negative place, which is padding.
void load_at(const std::vector<std::int64_t>& places, const InterpInput& in, Block& out) {
  with_type(in.dtype, [&]<class T, class Convert>(T, Convert convert) {
    using Value = decltype(convert(T{}));
    auto& to = values_in<Value>(out);
    for (std::size_t k = 0; k < places.size(); k++) {
      check(places[k] < in.elements, "a kernel reads inside its buffers");
      to[k] = places[k] < 0 ? Value{0} : convert(element<T>(in, places[k]));
    }
  });
}

// Const and Index: a value of the position, 0 where masked.
template <class Out, class Value>
void positions(const Access& access, std::int64_t start, std::int64_t count, Out* out, Value value) {
  access.walk(
      start, count,
      [&](std::int64_t at, std::int64_t position, std::int64_t step, std::int64_t n) {
        for (std::int64_t k = 0; k < n; k++) out[at + k] = value(position + k * step);
      },
      [&](std::int64_t at, std::int64_t n) { std::fill_n(out + at, n, Out{0}); });
}

/// All elements of a buffer of that shape, in row-major order.
FixedView in_order(std::vector<std::int64_t> shape) {
  FixedView view{std::move(shape), {}, 0, {}, {}};
  view.strides.resize(view.shape.size());
  std::int64_t stride = 1;
  for (std::size_t k = view.shape.size(); k-- > 0; stride *= view.shape[k]) view.strides[k] = view.shape[k] == 1 ? 0 : stride;
  return view;
}

}  // namespace

std::vector<FixedView> views_of(const LazyOp* leaf, const Inputs& inputs) {
  if (!is_reduce(leaf->op)) return fixed(leaf->st(), *inputs.vars);
  return {in_order(inputs.reduced.at(leaf).shape)};
}

namespace {

std::vector<const LazyOp*> region(const LazyOp* root) {
  static const std::vector<const LazyOp*> none;
  // The operand of an indexed Load is a part of the region.
  return toposort<LazyOp>({root}, [](const LazyOp* op) -> const std::vector<const LazyOp*>& { return is_reduce(op->op) ? none : op->src; });
}

}  // namespace

std::vector<const LazyOp*> leaves_of(const LazyOp* root) {
  std::vector<const LazyOp*> leaves;
  for (const LazyOp* op : region(root))
    if (is_leaf(op)) leaves.push_back(op);
  return leaves;
}

void BlockProgram::set_up_leaf(Step& step, const LazyOp* op, const Domain& domain, const Inputs& inputs) {
  if (is_reduce(op->op)) {
    step.reduced = &inputs.reduced.at(op);
    const bool f = is_float(op->dtype);
    step.input = {
        f ? DType::Float64 : DType::Int64,
        reinterpret_cast<const std::byte*>(f ? static_cast<const void*>(step.reduced->values.f.data()) : step.reduced->values.i.data()),
        element_count(step.reduced->shape)};
  }
  if (op->op == Op::Load) {
    const int index = op->mem().index;
    check(index >= 1 && index <= static_cast<int>(inputs.buffers->size()), "a Load names one of the kernel's inputs");
    step.input = (*inputs.buffers)[static_cast<std::size_t>(index - 1)];
    check(step.input.dtype == op->dtype, "a Load has the type of its buffer");
  }
  std::vector<FixedView> views = views_of(op, inputs);
  if (is_indexed(op)) {
    step.access = std::make_unique<Access>(std::vector<FixedView>{in_order(views.back().shape)}, domain);
    step.rows = std::move(views);
    return;
  }
  step.access = std::make_unique<Access>(views, domain);
  if (op->op != Op::Const) return;
  step.float_value = op->constant().value.as_double();
  step.int_value = op->constant().value.as_int();
  bool masked = false;
  for (const FixedView& v : views) masked = masked || !v.mask_begin.empty();
  if (masked) return;
  step.constant = true;
  std::fill(step.out.f.begin(), step.out.f.end(), step.float_value);
  std::fill(step.out.i.begin(), step.out.i.end(), step.int_value);
}

BlockProgram::BlockProgram(const LazyOp* root, const Domain& domain, const Inputs& inputs, const LazyOp* exact) {
  const std::vector<const LazyOp*> order = region(root);
  std::unordered_map<const LazyOp*, std::size_t> at;  // for look-up only
  const auto block = static_cast<std::size_t>(std::clamp<std::int64_t>(size_of(domain), 1, kBlock));
  steps_.resize(order.size());
  for (std::size_t k = 0; k < order.size(); k++) {
    const LazyOp* op = order[k];
    Step& step = steps_[k];
    at[op] = k;
    if (op->op == Op::Expand) {  // sources have the same value in all places
      at[op] = at.at(op->src[0]);
      step.dtype = op->dtype;
      step.constant = true;
      continue;
    }
    step.op = op->op;
    step.dtype = op->dtype;
    if (is_float(op->dtype)) {
      step.out.f.resize(block);
    } else {
      step.out.i.resize(block);
    }
    if (!is_leaf(op)) {
      for (const LazyOp* s : op->src) step.src.push_back(&steps_[at.at(s)].out);
      step.src_dtype = op->src.back()->dtype;
      step.constant = true;
      for (const LazyOp* s : op->src) step.constant = step.constant && steps_[at.at(s)].constant;
      step.rounds = op != exact;
      if (step.constant) compute(step, block);
      continue;
    }
    if (is_indexed(op)) {
      step.src.push_back(&steps_[at.at(op->src[0])].out);
      step.src_dtype = op->src[0]->dtype;
    }
    set_up_leaf(step, op, domain, inputs);
  }
  result_ = &steps_[at.at(root)].out;
}

std::int64_t BlockProgram::unit_run() const {
  std::int64_t shortest = kBlock;
  for (const Step& step : steps_)
    if (step.access && !step.constant) shortest = std::min(shortest, step.access->unit_run());
  return shortest;
}

// Each position is clamped to its row, then mapped through all views one element at a time.
void BlockProgram::read_indexed(Step& step, std::int64_t start, std::int64_t count) {
  const std::int64_t length = step.rows.back().shape.back();
  std::vector<std::int64_t> places(static_cast<std::size_t>(count));
  step.access->walk(
      start, count,
      [&](std::int64_t at, std::int64_t position, std::int64_t stride, std::int64_t n) {
        for (std::int64_t k = 0; k < n; k++) places[static_cast<std::size_t>(at + k)] = position + k * stride;
      },
      [](std::int64_t, std::int64_t) {});
  const auto& index = step.src[0]->i;
  const bool is_unsigned_wide = step.src_dtype == DType::UInt64;
  for (std::size_t k = 0; k < places.size(); k++) {
    std::int64_t at = is_unsigned_wide && index[k] < 0 ? length - 1 : std::clamp<std::int64_t>(index[k], -length, length - 1);
    if (at < 0) at += length;
    places[k] = position_through(step.rows, places[k] + at);
  }
  load_at(places, step.input, step.out);
}

void BlockProgram::read(Step& step, std::int64_t start, std::int64_t count) const {
  if (!step.rows.empty()) return read_indexed(step, start, count);
  const bool f = is_float(step.dtype);
  if (step.op == Op::Const) {
    if (f) {
      positions(*step.access, start, count, step.out.f.data(), [&](std::int64_t) { return step.float_value; });
    } else {
      positions(*step.access, start, count, step.out.i.data(), [&](std::int64_t) { return step.int_value; });
    }
  } else if (step.op == Op::Index) {
    if (f) {
      positions(*step.access, start, count, step.out.f.data(), [&](std::int64_t p) { return rounded(step.dtype, static_cast<double>(p)); });
    } else {
      positions(*step.access, start, count, step.out.i.data(), [&](std::int64_t p) { return wrapped(step.dtype, p); });
    }
  } else {
    load(*step.access, step.input, start, count, step.out);
  }
}

void BlockProgram::compute(Step& step, std::size_t count) {
  apply(step.op, step.dtype, step.src_dtype, step.src, count, step.out);
  if (step.rounds) round_block(step.dtype, count, step.out);
}

const Block& BlockProgram::run(std::int64_t start, std::int64_t count) {
  for (Step& step : steps_) {
    if (step.constant) continue;
    if (step.access) {
      read(step, start, count);
    } else {
      compute(step, static_cast<std::size_t>(count));
    }
  }
  return *result_;
}

namespace {

template <class T, class From>
void write_as(const From* values, std::int64_t count, std::byte* memory, std::int64_t at) {
  std::byte* p = memory + at * static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t k = 0; k < count; k++) {
    const T v = static_cast<T>(values[k]);
    std::memcpy(p + k * static_cast<std::int64_t>(sizeof(T)), &v, sizeof v);
  }
}

}  // namespace

void write_block(DType dtype, const Block& values, std::int64_t count, std::byte* memory, std::int64_t at) {
  switch (dtype) {
    case DType::Bool:
    case DType::Int8:
    case DType::UInt8:
      return write_as<std::uint8_t>(values.i.data(), count, memory, at);
    case DType::Int16:
    case DType::UInt16:
      return write_as<std::uint16_t>(values.i.data(), count, memory, at);
    case DType::Int32:
    case DType::UInt32:
      return write_as<std::uint32_t>(values.i.data(), count, memory, at);
    case DType::Int64:
    case DType::UInt64:
      return write_as<std::int64_t>(values.i.data(), count, memory, at);
    case DType::Float32:
      return write_as<float>(values.f.data(), count, memory, at);
    case DType::Float64:
      return write_as<double>(values.f.data(), count, memory, at);
    case DType::Float16:
    case DType::BFloat16:
      for (std::int64_t k = 0; k < count; k++) {
        const double v = values.f[static_cast<std::size_t>(k)];
        const std::uint16_t bits = dtype == DType::Float16 ? double_to_half(v) : double_to_bfloat16(v);
        std::memcpy(memory + (at + k) * 2, &bits, 2);
      }
      return;
  }
}

}  // namespace etch::interp
