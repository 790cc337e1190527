#include "program/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/naming.h"
#include "interp/interp.h"
#include "lazy/graph.h"
#include "program/external.h"
#include "program/generate.h"
#include "program/lower_call.h"
#include "program/node_names.h"
#include "program/share.h"
#include "schedule/schedule.h"
#include "shape/open_sizes.h"
#include "target/target.h"

namespace etch {
namespace {

std::vector<NamedNode> named_nodes(const LazyGraph& graph, const Schedule& schedule) {
  std::vector<NamedNode> nodes;
  for (const ScheduleItem& item : schedule.items)
    for (const std::string& node : item.nodes) nodes.push_back({node, graph.origin_kind(node)});
  return nodes;
}

class Lowering {
 public:
  Lowering(std::shared_ptr<LazyGraph> graph, const Schedule& schedule, const LowerOptions& options, const LowerProgress& progress)
      : schedule_(schedule), options_(options), progress_(progress), names_(named_nodes(*graph, schedule)) {
    for (const ScheduleItem& item : schedule.items) kernels_of_[item.main_node]++;
    program_.language = options.language;
    graph_ = graph.get();
    program_.owner = std::move(graph);
  }

  Program run() {
    add_variables();
    name_workers();
    add_inputs_and_outputs();
    add_states();
    int done = 0;
    for (const ScheduleItem& item : schedule_.items) {
      try {
        add_item(item, done++);
      } catch (const NotProved&) {
        refuse_open_sizes(item);
      }
    }
    for (const ScheduledLoop& loop : schedule_.loops)
      program_.loops.push_back({variables(loop.loop->counter).empty() ? "" : variables(loop.loop->counter).front()->name, loop.loop->count,
                                loop.first, loop.end});
    program_.folded = schedule_.folded;
    const bool is_fixed = program_.variables.empty() && program_.loops.empty();
    if (is_fixed && !options_.codegen.overlap && !program_.workers.are_several())
      share_kernels(program_, options_.codegen, options_.sharing);
    verify(program_);
    return std::move(program_);
  }

 private:
  // Kernels are equal if their ASTs and the properties of their arguments are: constants may get a new layout and be bounded, and
  // sizes take part in the proofs.
  struct ArgumentKey {
    bool is_constant, is_bounded;
    std::string elements;
    auto operator<=>(const ArgumentKey&) const = default;
  };
  // Instead of the AST of a function in C: its call.
  struct KernelKey {
    const LazyOp* ast;
    std::string external;
    bool backwards = false;
    std::string counter;
    std::vector<ArgumentKey> arguments;
    auto operator<=>(const KernelKey&) const = default;
  };

  [[noreturn]] void refuse_open_sizes(const ScheduleItem& item) const {
    std::string nodes, axes;
    std::vector<Sint> sizes;
    for (const Node* v : variables(item.ast)) sizes.emplace_back(*v);
    for (const std::string& node : item.nodes) nodes += (nodes.empty() ? "" : ", ") + ("'" + node + "'");
    const std::vector<Sint>& shape = item.out->shape();
    for (std::size_t axis = 0; axis < shape.size(); axis++)
      if (!shape[axis].is_int()) axes += (axes.empty() ? "axis " : ", ") + std::to_string(axis);
    throw UnsupportedError(
        (options_.place.empty() ? "" : options_.place + ": ") + (item.nodes.size() == 1 ? "node " : "nodes ") + nodes,
        fmt::format("it can't be proved that what is read stays inside its tensor for every size of {} of the result {} ({})",
                    axes.empty() ? "the inputs" : axes, shape_text(shape), ranges_text(sizes, options_.size_names)),
        size_help(sizes, options_.size_names), "an index that can't be proved for every open size");
  }

  // In the order in which they occur in the inputs' shapes, which is their order in the emitted function.
  void add_variables() {
    std::set<std::string> found;
    auto add = [&](const Node* v) {
      if (found.insert(v->name).second) program_.variables.push_back({v->name, v->min, v->max});
    };
    for (const LazyBuffer* input : inputs())
      for (const Sint& size : input->shape())
        for (const Node* v : variables(size)) add(v);
    for (const ScheduledLoop& loop : schedule_.loops) {
      for (const Node* v : variables(loop.loop->count)) add(v);
      for (const Node* v : variables(loop.loop->counter)) found.insert(v->name);
    }
    for (const ScheduleItem& item : schedule_.items)
      for (const Node* v : variables_of(item)) add(v);
  }

  // Their variables are called as nothing that kernels take otherwise.
  void name_workers() {
    Workers& workers = options_.codegen.workers;
    CNames names;
    for (const ProgramVariable& v : program_.variables) names.add(v.name);
    for (const ScheduledLoop& loop : schedule_.loops)
      for (const Node* v : variables(loop.loop->counter)) names.add(v->name);
    workers.index = names.add(workers.index);
    workers.count = names.add(workers.count);
    program_.workers = workers;
  }

  static std::vector<const Node*> variables_of(const ScheduleItem& item) {
    return item.external == nullptr ? variables(item.ast) : variables(sizes_of(*item.external));
  }

  const std::vector<const LazyBuffer*>& inputs() const { return options_.inputs.empty() ? schedule_.inputs : options_.inputs; }

  void add_inputs_and_outputs() {
    for (const LazyBuffer* input : inputs()) {
      const int b = add_buffer(input->name, BufferKind::Input, input->dtype, input->shape());
      program_.inputs.push_back(b);
      numbers_[input] = b;
    }
    for (const ScheduledOutput& output : schedule_.outputs) {
      const DType dtype = output.buffer->dtype;
      const int b = add_buffer(output.name, BufferKind::Output, dtype, output.shape);
      program_.outputs.push_back(b);
      if (product(output.shape).is_int(0)) continue;  // no item writes it, and several such outputs may share one buffer
      check(numbers_.try_emplace(output.buffer, b).second, "no buffer stands for two outputs");
    }
  }

  void add_states() {
    for (const LazyBuffer* state : schedule_.states) {
      const int b = add_buffer(state->name, BufferKind::State, state->dtype, state->shape());
      const bool is_zero = std::ranges::all_of(state->data.bytes(), [](std::byte x) { return x == std::byte{}; });
      program_.states.push_back({b, is_zero ? -1 : add_constant(state->name + "_first", state->data, state->shape())});
      numbers_[state] = b;
    }
  }

  int add_buffer(const std::string& name, BufferKind kind, DType dtype, const std::vector<Sint>& shape) {
    ProgramBuffer buffer;
    buffer.name = buffer_names_.add(name.empty() ? "unnamed" : name);
    buffer.kind = kind;
    buffer.dtype = dtype;
    buffer.shape = shape;
    buffer.max_elements = product(shape).max();
    program_.buffers.push_back(std::move(buffer));
    return static_cast<int>(program_.buffers.size()) - 1;
  }

  void add_item(const ScheduleItem& item, int done) {
    std::vector<const LazyBuffer*> buffers = item.outs();
    buffers.insert(buffers.end(), item.inputs.begin(), item.inputs.end());
    const int kernel = kernel_of(item, buffers, done);
    ProgramCall call;
    call.kernel = kernel;
    call.nodes = item.nodes;
    call.short_name = names_.of(item.main_node);
    const bool is_external = item.external != nullptr;
    const auto aliases = is_external ? std::vector<std::uint32_t>(buffers.size()) : may_alias(item.ast, buffers.size());
    for (std::size_t i = 0; i < buffers.size(); i++) {
      const KernelArgument& argument = program_.kernels[static_cast<std::size_t>(kernel)].arguments[i];
      call.arguments.push_back({number_of(buffers[i], argument, item), argument.access, aliases[i]});
    }
    if (is_external) {  // what it computes is not known
      for (auto b = buffers.begin(); b != buffers.end(); b++)
        if (std::find(buffers.begin(), b, *b) == b) call.bytes += product((*b)->shape()) * bytes_of((*b)->dtype);
    } else {
      const Work work = count_work(item.ast);
      call.macs = work.macs;
      call.flops = work.flops;
      std::vector<Sint> elements;
      for (const LazyBuffer* b : buffers) elements.push_back(product(b->shape()));
      call.bytes = bytes_moved(item.ast, elements);
      const auto parts = parts_of_output(item.ast, elements);
      for (std::size_t i = 0; i < buffers.size(); i++) call.arguments[i].part = parts[i].value_or(-1);
    }
    program_.calls.push_back(std::move(call));
  }

  int number_of(const LazyBuffer* buffer, const KernelArgument& argument, const ScheduleItem& item) {
    if (buffer->kind == LazyKind::Data) return constant_of(buffer, argument, item);
    if (buffer->kind == LazyKind::LoopResult && buffer->slot < buffer->loop->carried)
      buffer = graph_->carried(buffer->loop, buffer->slot, buffer->dtype, buffer->shape());
    const auto [it, added] = numbers_.try_emplace(buffer, 0);
    if (added) {
      check(item.writes(buffer), "an intermediate is written before it is read");
      it->second = add_buffer(buffer == item.out ? name_of_value(item) : name_of_other(item, buffer), BufferKind::Intermediate,
                              buffer->dtype, buffer->shape());
      const auto order = std::ranges::find(schedule_.orders, buffer, &StoredOrder::buffer);
      if (order != schedule_.orders.end()) {
        program_.buffers.back().inner_axis = order->axis;
        program_.buffers.back().block = order->block;
      }
    }
    return it->second;
  }

  // Equal contents share memory, whatever their names in the model are.
  int constant_of(const LazyBuffer* buffer, const KernelArgument& argument, const ScheduleItem& item) {
    const int b = constant_in_order(buffer, argument.layout, item);
    ProgramBuffer& constant = program_.buffers[static_cast<std::size_t>(b)];
    constant.laid_out = constant.laid_out || argument.layout;
    constant.in_words = constant.in_words || argument.in_words;
    return b;
  }

  int constant_in_order(const LazyBuffer* buffer, const std::optional<ShapeTracker>& layout, const ScheduleItem& item) {
    const auto key = std::pair(buffer, layout ? layout->to_text() : std::string());
    if (const auto it = constants_.find(key); it != constants_.end()) return it->second;
    Array data = layout ? relayout(buffer->data, *layout) : buffer->data;
    data = data.reshaped({data.size()});
    std::vector<int>& equal = by_content_[data.content_hash()];
    for (int b : equal)
      if (program_.buffers[static_cast<std::size_t>(b)].data == data) return constants_[key] = b;
    const std::string name = buffer->name.empty() ? names_.of(item.main_node) + "_constant" : buffer->name;
    const int b = add_constant(name, std::move(data), buffer->shape());
    equal.push_back(b);
    return constants_[key] = b;
  }

  int add_constant(const std::string& name, const Array& data, const std::vector<Sint>& shape) {
    const int b = add_buffer(name, BufferKind::Constant, data.dtype(), shape);
    ProgramBuffer& made = program_.buffers[static_cast<std::size_t>(b)];
    made.max_elements = data.size();
    made.data = data.reshaped({data.size()});
    return b;
  }

  // Named after the main node and, if the node has several kernels, after the kernel's reduction: "softmax_12_max".
  std::string name_of_kernel(const ScheduleItem& item) const {
    std::string name = names_.of(item.main_node);
    if (kernels_of_.at(item.main_node) == 1 || item.external != nullptr) return name;
    for (const LazyOp* op : toposort(item.ast))
      if (is_reduce(op->op)) return fmt::format("{}_{}", name, reduce_info(op->op).stem);
    return name;
  }

  // Named after the last node, whose value it is.
  std::string name_of_value(const ScheduleItem& item) const {
    const bool is_main = item.nodes.empty() || item.nodes.back() == item.main_node;
    return is_main ? name_of_kernel(item) : names_.of(item.nodes.back());
  }

  // A further output is named after the node that it is the value of.
  std::string name_of_other(const ScheduleItem& item, const LazyBuffer* buffer) const {
    for (auto origin = buffer->origins.rbegin(); origin != buffer->origins.rend(); origin++)
      if (std::ranges::find(item.nodes, *origin) != item.nodes.end()) return names_.of(*origin);
    return name_of_value(item);
  }

  int kernel_of(const ScheduleItem& item, const std::vector<const LazyBuffer*>& buffers, int done) {
    std::vector<KernelArgument> arguments = arguments_of(buffers, item.outs().size());
    const bool backwards = runs_backwards(item);
    KernelKey key{item.ast, item.external == nullptr ? "" : key_of(*item.external), backwards, counter_of(item), {}};
    for (const KernelArgument& a : arguments) key.arguments.push_back({a.is_constant, a.is_bounded, to_text(a.elements)});
    const auto [it, added] = kernels_.try_emplace(std::move(key), static_cast<int>(program_.kernels.size()));
    if (!added) return it->second;
    const std::string name = fmt::format("k{}_{}", program_.kernels.size(), name_of_kernel(item));
    if (progress_) progress_(done, static_cast<int>(schedule_.items.size()), name);
    KernelSignature signature{name, std::move(arguments), {}};
    ProgramKernel kernel = kernel_for(item, std::move(signature), backwards);
    std::vector<int>& of_ast = kernels_of_ast_[item.ast];
    for (int k : of_ast) {
      ProgramKernel& known = program_.kernels[static_cast<std::size_t>(k)];
      if (!is_same_function(known, kernel)) continue;
      if (known.note.empty()) known.note = kernel.note;
      return it->second = k;
    }
    of_ast.push_back(it->second);
    program_.kernels.push_back(std::move(kernel));
    return it->second;
  }

  // Bounds of constants may make no difference to the steps of an AST: both are one function then. Without steps that is not known.
  static bool is_same_function(const ProgramKernel& a, const ProgramKernel& b) {
    if (a.code.order.empty() || b.code.order.empty() || a.backwards != b.backwards || a.variables != b.variables) return false;
    const auto same_argument = [](const KernelArgument& x, const KernelArgument& y) {
      const auto order = [](const KernelArgument& c) { return c.layout ? c.layout->to_text() : ""; };
      return x.name == y.name && x.elements == y.elements && x.is_constant == y.is_constant && x.in_words == y.in_words &&
             order(x) == order(y);
    };
    return std::ranges::equal(a.arguments, b.arguments, same_argument) && a.opts == b.opts && a.uops == b.uops &&
           text_beside_sizes(a) == text_beside_sizes(b);
  }

  // Where outputs may lie over parts of inputs, the kernels of a chain run forwards and backwards in turn: the output of one that runs
  // forwards lies a little below its input, that of one that runs backwards a little above it, so that the chain stays in one place.
  bool runs_backwards(const ScheduleItem& item) {
    if (!options_.codegen.overlap || item.external != nullptr) return false;
    const LazyBuffer* largest = nullptr;
    for (const LazyBuffer* b : item.inputs) {
      const bool is_larger =
          largest == nullptr || product(b->shape()).max() * bytes_of(b->dtype) > product(largest->shape()).max() * bytes_of(largest->dtype);
      if (backwards_.contains(b) && is_larger) largest = b;
    }
    const bool backwards = largest != nullptr && !backwards_.at(largest);
    for (const LazyBuffer* out : item.outs()) backwards_[out] = backwards;
    return backwards;
  }

  // Of the innermost loop that the item is in, if its kernel takes it.
  static std::string counter_of(const ScheduleItem& item) {
    if (item.loops.empty() || item.external != nullptr) return "";
    const std::vector<const Node*> counter = variables(item.loops.back()->counter), taken = variables(item.ast);
    const bool takes = !counter.empty() && std::ranges::find(taken, counter.front()->name, &Node::name) != taken.end();
    return takes ? counter.front()->name : "";
  }

  ProgramKernel kernel_for(const ScheduleItem& item, KernelSignature signature, bool backwards) {
    const Language* language = options_.language;
    if (item.external != nullptr) return external_kernel(item.external, std::move(signature));
    if (language == nullptr) return kernel_of_ast(item.ast, std::move(signature));
    CodegenOptions codegen = options_.codegen;
    codegen.backwards = backwards;
    codegen.counter = counter_of(item);
    ProgramKernel kernel = generate_kernel(item.ast, std::move(signature), *language, codegen);
    program_.rows.insert(kernel.rows.begin(), kernel.rows.end());
    return kernel;
  }

  // Names: "out", "out2", "in", "in2", "w" (a constant), "b" (a constant of one axis).
  std::vector<KernelArgument> arguments_of(const std::vector<const LazyBuffer*>& buffers, std::size_t outputs) {
    CNames names;
    for (const ProgramVariable& variable : program_.variables) names.add(variable.name);
    for (const ScheduledLoop& loop : schedule_.loops)
      for (const Node* v : variables(loop.loop->counter)) names.add(v->name);
    if (program_.workers.are_several())
      for (const std::string& name : {program_.workers.index, program_.workers.count}) names.add(name);
    std::vector<KernelArgument> result;
    for (const LazyBuffer* b : buffers) {
      const bool is_constant = b->kind == LazyKind::Data, is_written = result.size() < outputs;
      const auto larger = [](Sint d) { return !d.is_int(1); };
      const auto rank = std::count_if(b->shape().begin(), b->shape().end(), larger);
      const char* name = is_written ? "out" : !is_constant ? "in" : rank > 1 ? "w" : "b";
      result.push_back(
          {b->dtype, product(b->shape()), names.add(name), is_written ? Access::Write : Access::Read, is_constant, is_bounded(b)});
    }
    return result;
  }

  // Whether the generator knows that no element is NaN or larger than kBounded.
  bool is_bounded(const LazyBuffer* buffer) {
    if (buffer->kind != LazyKind::Data) return false;
    const auto [it, added] = bounded_.try_emplace(buffer, true);
    for (std::int64_t i = 0; added && it->second && i < buffer->data.size(); i++)
      it->second = std::fabs(buffer->data.double_at(i)) <= kBounded;
    return it->second;
  }

  LazyGraph* graph_ = nullptr;
  const Schedule& schedule_;
  LowerOptions options_;
  const LowerProgress& progress_;
  Program program_;
  std::map<const LazyBuffer*, int> numbers_;               // for look-up only: its order depends on addresses
  std::unordered_map<const LazyBuffer*, bool> bounded_;    // look-up only
  std::unordered_map<const LazyBuffer*, bool> backwards_;  // whether the kernel that writes it runs backwards; look-up only
  std::map<std::pair<const LazyBuffer*, std::string>, int> constants_;
  std::map<std::uint64_t, std::vector<int>> by_content_;
  std::map<KernelKey, int> kernels_;
  std::unordered_map<const LazyOp*, std::vector<int>> kernels_of_ast_;  // look-up only
  UniqueNames buffer_names_;
  NodeNames names_;
  std::map<std::string, int> kernels_of_;  // by main node: its number of items
};

}  // namespace

Program lower(std::shared_ptr<LazyGraph> graph, const Schedule& schedule, const LowerOptions& options, const LowerProgress& progress) {
  return Lowering(std::move(graph), schedule, options, progress).run();
}

CodegenOptions codegen_options(const Target& target, const Language& language) {
  CodegenOptions options;
  options.has_local = language.local_memory;
  if (language.grid && !is_language_of(target, language)) return options;
  options.vector_bits = target.vector.extensions ? static_cast<int>(target.vector.bits) : 0;
  options.integer_vectors = options.vector_bits > 0 && target.vector.integers;
  options.scalar_factors = options.vector_bits > 0 && target.vector.scalars;
  options.float_registers = static_cast<int>(options.vector_bits > 0 ? target.vector.registers : target.float_registers);
  options.integer_registers = static_cast<int>(target.integer_registers);
  options.register_tiles = !language.grid;
  options.cache_bytes = language.grid ? 0 : target.cache_bytes;
  options.first_cache_bytes = target.first_cache_bytes;
  options.in_order = target.in_order;
  for (const TargetInstruction& row : target.instructions)
    if (row.is_matrix() == language.grid) options.instructions.push_back(row);
  options.hides_equal = target.vector.hides_equal;
  options.no_rint = target.lacks("rintf");
  options.narrow_int = target.int_bits == 16;
  options.constant_space = target.constants.name;
  options.largest_object = target.constants.largest;
  options.library_math = target.library_math;
  options.native_math = true;
  for (const char* function : {"exp2f", "log2f", "powf", "logf", "log1pf", "asinhf", "acoshf", "atanhf"})
    options.native_math = options.native_math && !target.computes_in_double(function);
  return options;
}

}  // namespace etch
