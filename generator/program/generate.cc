#include "program/generate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "codegen/horizontal.h"
#include "codegen/opt_table.h"
#include "codegen/passes.h"

namespace etch {

namespace {

void optimize_loops(Kernel& kernel, const std::vector<KernelArgument>& arguments) {
  const CodegenOptions& options = kernel.options();
  if (tensor_optimizations(kernel, arguments) || vector_optimizations(kernel, arguments)) return;
  if ((options.vector_bits > 0 || options.register_tiles) && tile_optimizations(kernel, arguments)) return;
  if (float_vector_optimizations(kernel, arguments)) return;
  hand_coded_optimizations(kernel);
}

// The loops with the steps that a search found; nullopt if it found none, or, with a note, if one of them can't be taken.
std::optional<Kernel> tuned_loops(const Kernel& plain, const std::vector<KernelArgument>& arguments, RowFound* found) {
  const CodegenOptions& options = plain.options();
  if (!options.tuned || !options.optimize) return std::nullopt;
  const TunedKernel* row = options.tuned->find(tuning_key(plain.ast(), arguments, options));
  if (row == nullptr) return std::nullopt;
  if (found != nullptr) found->row = {row->file, row->line};
  Kernel kernel = plain;
  for (const Opt& opt : row->opts) {
    const auto why = kernel.why_illegal(opt);
    if (why && found != nullptr)
      found->note = fmt::format("{}:{}: {} can't be applied ({}), the heuristics chose instead; etch tune finds new steps", row->file,
                                row->line, to_text(opt), *why);
    if (why) return std::nullopt;
    kernel.apply(opt);
  }
  return kernel;
}

// A constant in a new order may be longer, as parts of it are there twice.
std::vector<KernelArgument> laid_out(std::vector<KernelArgument> arguments, const std::vector<std::optional<Layout>>& layouts) {
  for (std::size_t i = 0; i < layouts.size(); i++)
    if (layouts[i]) arguments[i].elements = layouts[i]->from.size();
  return arguments;
}

}  // namespace

Kernel choose_opts(const LazyOp* ast, const std::vector<KernelArgument>& arguments, const CodegenOptions& options, RowFound* found) {
  Kernel kernel(ast, options);
  if (options.opts) {
    for (const Opt& opt : *options.opts) kernel.apply(opt);
    return kernel;
  }
  if (auto tuned = tuned_loops(kernel, arguments, found)) return std::move(*tuned);
  if (options.optimize) optimize_loops(kernel, arguments);
  if (options.overlap) order_for_overlap(kernel);
  return kernel;
}

LinearKernel linearize_kernel(const Kernel& kernel, const std::vector<KernelArgument>& arguments, const Language& language) {
  LinearKernel result;
  result.layouts = choose_layouts(kernel, arguments);
  result.arguments = laid_out(arguments, result.layouts);
  LinearizeOptions how{.arguments = result.arguments, .grid = language.grid, .limits = language.limits, .layouts = {}};
  for (const auto& layout : result.layouts) how.layouts.push_back(layout ? std::optional(layout->strides) : std::nullopt);
  result.linear = linearize(kernel, how);
  result.linear.uops = optimize(result.linear.uops);
  return result;
}

ProgramKernel render_kernel(const Kernel& kernel, LinearKernel made, KernelSignature signature, const Language& language) {
  signature.variables = std::move(made.linear.variables);
  for (const Sint& size : made.linear.local_size) signature.work_items *= size.max();
  if (made.linear.driver_groups) signature.work_items = kDriverItems;
  signature.overlaps = kernel.options().overlap && !language.grid;
  Rendered text = language.render(made.linear.uops, language, signature, kernel.options());
  ProgramKernel result;
  result.name = std::move(signature.function);
  result.ast = kernel.ast();
  result.shape_name = kernel.shape_name();
  result.opts = to_text(kernel.applied());
  result.uops = to_text(made.linear.uops);
  result.code = made.linear.uops;
  result.text = std::move(text);
  result.arguments = std::move(signature.arguments);
  for (std::size_t i = 0; i < made.layouts.size(); i++) {
    check(!made.layouts[i] || result.arguments[i].is_constant, "only constants are laid out anew");
    if (!made.layouts[i]) continue;
    result.arguments[i].layout = std::move(made.layouts[i]->from);
    result.arguments[i].in_words = made.layouts[i]->in_words;
  }
  result.variables = std::move(signature.variables);
  result.global_size = std::move(made.linear.global_size);
  result.local_size = std::move(made.linear.local_size);
  result.driver_groups = made.linear.driver_groups;
  result.backwards = kernel.options().backwards;
  result.shared = std::move(made.linear.shared);
  return result;
}

namespace {

void append_missing(std::vector<std::string>& names, const std::vector<std::string>& more) {
  for (const std::string& name : more)
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

void take_row(RowFound found, ProgramKernel& kernel) {
  if (found.row) kernel.rows.push_back(*std::move(found.row));
  if (kernel.note.empty()) kernel.note = std::move(found.note);
}

// Two trees, of which each buffer is read or written by one: what is made of both is put together argument by argument.
ProgramKernel generate_fused(const LazyOp* ast, KernelSignature signature, const Language& language, const CodegenOptions& options) {
  LazyOps ops;
  Kernel first(first_tree(ops, ast), options), second(second_tree(ast), options);
  RowFound rows[2];
  const bool are_together = options.optimize && tile_together(first, second, signature.arguments);
  if (!are_together) {  // each fills the registers by itself
    first = choose_opts(first.ast(), signature.arguments, options, &rows[0]);
    second = choose_opts(second.ast(), signature.arguments, options, &rows[1]);
  }
  LinearKernel made = linearize_kernel(first, signature.arguments, language);
  LinearKernel other = linearize_kernel(second, made.arguments, language);
  const std::int64_t indices_proved = prove_indices(made.linear, other.arguments) + prove_indices(other.linear, other.arguments);
  made.linear.uops = (are_together ? fuse_loops : one_after_the_other)(made.linear.uops, other.linear.uops);
  append_missing(made.linear.variables, other.linear.variables);
  for (std::size_t i = 0; i < made.layouts.size(); i++)
    if (other.layouts[i]) made.layouts[i] = std::move(other.layouts[i]);
  signature.arguments = made.arguments = std::move(other.arguments);
  ProgramKernel result = render_kernel(first, std::move(made), std::move(signature), language);
  result.ast = ast;
  result.shape_name += "+" + second.shape_name();
  result.opts += (are_together ? "; beside it: " : "; then: ") + to_text(second.applied());
  result.indices_proved = indices_proved;
  for (RowFound& found : rows) take_row(std::move(found), result);
  return result;
}

}  // namespace

ProgramKernel generate_kernel(const LazyOp* ast, KernelSignature signature, const Language& language, const CodegenOptions& options) {
  if (second_tree(ast) != nullptr) return generate_fused(ast, std::move(signature), language, options);
  RowFound found;
  const Kernel kernel = choose_opts(ast, signature.arguments, options, &found);
  ProgramKernel result = generate_kernel(kernel, std::move(signature), language);
  take_row(std::move(found), result);
  return result;
}

ProgramKernel generate_kernel(const Kernel& kernel, KernelSignature signature, const Language& language) {
  LinearKernel linear = linearize_kernel(kernel, signature.arguments, language);
  signature.arguments = linear.arguments;
  const std::int64_t indices_proved = prove_indices(linear.linear, signature.arguments);
  std::vector<ArgumentDistance> distances;
  if (kernel.options().overlap && !language.grid) distances = argument_distances(linear.linear, signature.arguments);
  ProgramKernel result = render_kernel(kernel, std::move(linear), std::move(signature), language);
  result.indices_proved = indices_proved;
  result.distances = std::move(distances);
  return result;
}

ProgramKernel kernel_of_ast(const LazyOp* ast, KernelSignature signature) {
  ProgramKernel result;
  result.name = std::move(signature.function);
  result.ast = ast;
  result.arguments = std::move(signature.arguments);
  return result;
}

}  // namespace etch
