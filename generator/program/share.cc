#include "program/share.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "codegen/builder.h"
#include "codegen/options.h"
#include "codegen/passes.h"
#include "renderer/language.h"

namespace etch {
namespace {

using Numbers = std::vector<std::int64_t>;

constexpr double kSmall = 0.02;  // of the program's work: operations, and bytes read and written

bool is_number(const UOp* u) { return u->uop == UOpKind::Const && is_int(u->dtype) && u->dtype != DType::Bool; }

/// What kernels that are to be one function have in common, and the integers in which they may differ, in the order of their uses.
struct Shape {
  std::string text;
  Numbers numbers;
};

void append(std::string& text, std::int64_t n) { text += std::to_string(n) + ","; }

Shape shape_of(const ProgramKernel& kernel) {
  Shape shape;
  for (const KernelArgument& a : kernel.arguments)
    shape.text += std::string(name_of(a.dtype)) + (a.is_constant ? " constant" : "") + (a.access == Access::Read ? " read;" : " written;");
  std::unordered_map<const UOp*, int> place;  // look-up only
  for (const UOp* u : kernel.code.order) {
    if (is_number(u)) continue;
    place.emplace(u, static_cast<int>(place.size()));
    for (std::int64_t field : {static_cast<std::int64_t>(u->uop), static_cast<std::int64_t>(u->dtype), static_cast<std::int64_t>(u->op),
                               std::int64_t{u->lanes}, std::int64_t{u->exact}, u->number, u->size})
      append(shape.text, field);
    if (u->value) shape.text += u->value->to_text();
    if (u->uop != UOpKind::Loop) shape.text += u->name;
    for (const UOp* s : u->src) {
      shape.text += ' ';
      if (!is_number(s)) {
        append(shape.text, place.at(s));
        continue;
      }
      shape.text += name_of(s->dtype);
      shape.numbers.push_back(s->value->as_int());
    }
    shape.text += '\n';
  }
  return shape;
}

/// `factor` times a parameter plus `offset`; without a parameter the offset alone.
struct Term {
  int parameter = -1;
  std::int64_t factor = 0, offset = 0;
};

/// The numbers that the kernels of a group have at one use, one of each kernel.
using Column = Numbers;

/// `column` as a multiple of `parameter` and an offset, the same for all kernels.
std::optional<Term> term_of(const Column& column, const Column& parameter, int number) {
  constexpr std::int64_t kMostFactor = 64;
  std::size_t other = 1;
  while (other < parameter.size() && parameter[other] == parameter[0]) other++;
  if (other == parameter.size()) return std::nullopt;
  const std::int64_t step = parameter[other] - parameter[0], moved = column[other] - column[0];
  if (moved % step != 0 || std::abs(moved / step) > kMostFactor) return std::nullopt;
  const Term term{number, moved / step, column[0] - moved / step * parameter[0]};
  for (std::size_t k = 0; k < column.size(); k++)
    if (term.factor * parameter[k] + term.offset != column[k]) return std::nullopt;
  return term;
}

class Group {
 public:
  Group(std::vector<int> kernels, const std::vector<Shape>& shapes) : kernels_(std::move(kernels)) {
    for (std::size_t use = 0; use < shapes[static_cast<std::size_t>(kernels_[0])].numbers.size(); use++) {
      Column column;
      for (int k : kernels_) column.push_back(shapes[static_cast<std::size_t>(k)].numbers[use]);
      terms_.push_back(term_for(column));
    }
  }

  const std::vector<int>& kernels() const { return kernels_; }
  std::size_t parameters() const { return parameters_.size(); }

  /// The numbers that calls of the group's kernel `member` pass.
  Numbers numbers_of(std::size_t member) const {
    Numbers numbers;
    for (const Column& p : parameters_) numbers.push_back(p[member]);
    return numbers;
  }

  DType dtype() const {
    const auto fits = [](std::int64_t n) { return n >= int_min(DType::Int16) && n <= int_max(DType::Int16); };
    const bool narrow = std::ranges::all_of(parameters_, [&](const Column& p) { return std::ranges::all_of(p, fits); });
    return narrow ? DType::Int16 : DType::Int32;
  }

  /// The steps of the function, which takes the numbers as argument `argument`.
  UOpList code(const UOpList& first, int argument) const {
    UOpBuilder b(first);
    std::unordered_map<const UOp*, const UOp*> now;  // look-up only
    std::vector<const UOp*> values;
    std::size_t use = 0;
    for (const UOp* u : first.order) {
      if (is_number(u)) continue;
      if (values.empty() && u->uop != UOpKind::DefineGlobal) {
        values = load_all(b, argument);
        compute_all(b, first, values);
      }
      if (u->uop == UOpKind::End) {
        b.end(now.at(u->src[0]));
        continue;
      }
      UOp copy = *u;
      for (const UOp*& s : copy.src) s = is_number(s) ? value_of(b, terms_[use++], values, s->dtype) : now.at(s);
      now[u] = b.add(std::move(copy));
    }
    return b.finish();
  }

 private:
  Term term_for(const Column& column) {
    if (std::ranges::all_of(column, [&](std::int64_t n) { return n == column[0]; })) return {-1, 0, column[0]};
    for (std::size_t p = 0; p < parameters_.size(); p++)
      if (const auto term = term_of(column, parameters_[p], static_cast<int>(p))) return *term;
    parameters_.push_back(column);
    return {static_cast<int>(parameters_.size()) - 1, 1, 0};
  }

  std::vector<const UOp*> load_all(UOpBuilder& b, int argument) const {
    const UOp* array = b.add(UOp{.uop = UOpKind::DefineGlobal, .dtype = dtype(), .number = argument});
    std::vector<const UOp*> values;
    for (std::size_t p = 0; p < parameters_.size(); p++) {
      const UOp* at = b.constant(Scalar::of_int(DType::Int32, static_cast<std::int64_t>(p)));
      const UOp* loaded = b.add(UOp{.uop = UOpKind::Load, .dtype = dtype(), .src = {array, at}});
      values.push_back(
          b.add(UOp{.uop = UOpKind::Cast, .dtype = DType::Int32, .src = {loaded}, .exact = true, .hint = "n" + std::to_string(p)}));
    }
    return values;
  }

  /// Once, outside of all loops, where every use finds it.
  void compute_all(UOpBuilder& b, const UOpList& first, const std::vector<const UOp*>& values) const {
    std::size_t use = 0;
    for (const UOp* u : first.order)
      for (const UOp* s : u->src)
        if (!is_number(u) && is_number(s)) value_of(b, terms_[use++], values, s->dtype);
  }

  static const UOp* value_of(UOpBuilder& b, const Term& term, const std::vector<const UOp*>& values, DType dtype) {
    const auto number = [&](std::int64_t n) { return b.constant(Scalar::of_int(dtype, n)); };
    if (term.parameter < 0) return number(term.offset);
    const UOp* value = b.cast(values[static_cast<std::size_t>(term.parameter)], dtype);
    if (term.factor != 1) value = b.alu(Op::Mul, dtype, {value, number(term.factor)}, true);
    if (term.offset > 0) value = b.alu(Op::Add, dtype, {value, number(term.offset)}, true);
    if (term.offset < 0) value = b.alu(Op::Sub, dtype, {value, number(-term.offset)}, true);
    return value;
  }

  std::vector<int> kernels_;
  std::vector<Term> terms_;  // of each use of a number
  std::vector<Column> parameters_;
};

class Joining {
 public:
  Joining(Program& program, const CodegenOptions& codegen) : program_(program), codegen_(codegen) {}

  void run(Sharing sharing) {
    std::map<std::string, std::vector<int>> by_shape;
    std::vector<Shape> shapes;
    const std::vector<bool> is_small = small_kernels();
    for (const ProgramKernel& k : program_.kernels) {
      const bool may_join = k.external == nullptr && (sharing == Sharing::All || is_small[shapes.size()]);
      shapes.push_back(may_join ? shape_of(k) : Shape{});
      if (may_join) by_shape[shapes.back().text].push_back(static_cast<int>(shapes.size()) - 1);
    }
    for (auto& [text, kernels] : by_shape)
      if (kernels.size() > 1) join(Group(std::move(kernels), shapes));
    drop_unused_kernels(program_);
  }

 private:
  std::vector<bool> small_kernels() const {
    std::vector<double> work(program_.kernels.size(), 0);
    double sum = 0;
    for (const ProgramCall& call : program_.calls) {
      const auto of_call =
          static_cast<double>(call.macs.max()) + static_cast<double>(call.flops.max()) + static_cast<double>(call.bytes.max());
      work[static_cast<std::size_t>(call.kernel)] += of_call;
      sum += of_call;
    }
    std::vector<bool> is_small;
    for (const double w : work) is_small.push_back(w <= kSmall * sum);
    return is_small;
  }

  void join(const Group& group) {
    const int first = group.kernels()[0];
    ProgramKernel& kernel = program_.kernels[static_cast<std::size_t>(first)];
    const int argument = static_cast<int>(kernel.arguments.size());
    const bool has_numbers = group.parameters() > 0;
    if (has_numbers) {
      const auto elements = static_cast<std::int64_t>(group.parameters());
      kernel.arguments.push_back({group.dtype(), elements, "n", Access::Read, true, true});
      kernel.takes_sizes = true;
      kernel.code = remove_dead(hoist_invariants(group.code(kernel.code, argument)));
      verify(kernel.code, "share_kernels");
      KernelSignature signature{kernel.name, kernel.arguments, {}};
      kernel.text = program_.language->render(kernel.code, *program_.language, signature, codegen_);
      kernel.uops = to_text(kernel.code);
    }
    for (std::size_t member = 0; member < group.kernels().size(); member++) {
      const int old = group.kernels()[member];
      const int numbers = has_numbers ? constant(kernel.name, group.numbers_of(member), group.dtype()) : -1;
      for (ProgramCall& call : program_.calls) {
        if (call.kernel != old || (old == first && static_cast<int>(call.arguments.size()) > argument)) continue;
        call.kernel = first;
        if (has_numbers) call.arguments.push_back({numbers, Access::Read, 0});
      }
    }
  }

  int constant(const std::string& kernel, const Numbers& numbers, DType dtype) {
    ProgramBuffer buffer;
    buffer.name = kernel + "_sizes_" + std::to_string(program_.buffers.size());
    buffer.kind = BufferKind::Constant;
    buffer.dtype = dtype;
    buffer.shape = {static_cast<std::int64_t>(numbers.size())};
    buffer.max_elements = static_cast<std::int64_t>(numbers.size());
    buffer.data = Array::of_ints(dtype, {buffer.max_elements}, numbers);
    program_.buffers.push_back(std::move(buffer));
    return static_cast<int>(program_.buffers.size()) - 1;
  }

  Program& program_;
  const CodegenOptions& codegen_;
};

}  // namespace

std::string text_beside_sizes(const ProgramKernel& kernel) { return shape_of(kernel).text; }

void share_kernels(Program& program, const CodegenOptions& codegen, Sharing sharing) {
  if (sharing == Sharing::None) return;
  check(program.language != nullptr && !program.language->grid && program.variables.empty(), "kernels in loops of C with fixed sizes");
  Joining(program, codegen).run(sharing);
}

}  // namespace etch
