#include "renderer/generate.h"

#include "codegen/kernel.h"
#include "codegen/linearizer.h"
#include "codegen/passes.h"
#include "renderer/cstyle.h"

namespace etch {
namespace {

void choose_opts(Kernel& kernel, const std::vector<Sint>& elements, const std::vector<bool>& constants, const CodegenOptions& options) {
  if (options.opts) {
    for (const Opt& opt : *options.opts) kernel.apply(opt);
    return;
  }
  if (!options.optimize) return;
  if ((options.vector_bits > 0 || options.register_tiles) && tile_optimizations(kernel, elements, constants)) return;
  hand_coded_optimizations(kernel);
}

}  // namespace

GeneratedKernel generate_kernel(const LazyOp* ast, const std::vector<Sint>& buffer_elements, const std::vector<bool>& constants,
                                const KernelNames& names, const CodegenOptions& options, const std::vector<bool>& bounded) {
  const CStyle& style = style_named(options.language);
  Kernel kernel(ast, options);
  choose_opts(kernel, buffer_elements, constants, options);
  std::vector<std::optional<Layout>> layouts = choose_layouts(kernel, buffer_elements, constants);
  LinearizeOptions how{.buffer_elements = buffer_elements, .grid = style.grid, .layouts = {}, .bounded = bounded};
  for (const auto& layout : layouts) how.layouts.push_back(layout ? std::optional(layout->strides) : std::nullopt);
  Linearized linear = linearize(kernel, how);
  const UOpList uops = optimize(linear.uops);
  Rendered rendered = render(uops, style, names, linear.variables, options);
  GeneratedKernel result;
  result.shape_name = kernel.shape_name();
  result.opts = kernel.applied();
  result.uops = to_text(uops);
  result.source = std::move(rendered.source);
  result.variables = std::move(linear.variables);
  result.global_size = std::move(linear.global_size);
  result.local_size = std::move(linear.local_size);
  result.indices_proved = linear.indices_proved;
  result.helpers = std::move(rendered.helpers);
  for (auto& layout : layouts) result.relayout.push_back(layout ? std::optional(std::move(layout->from)) : std::nullopt);
  return result;
}

}  // namespace etch
