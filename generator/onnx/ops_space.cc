// Operators that move elements between space and channels, cut and pad about the centre, and add up patches.
#include <algorithm>

#include "ir/lazyop.h"
#include "onnx/limits.h"
#include "onnx/operators.h"
#include "onnx/ops_common.h"

namespace etch::operators {
namespace {

std::int64_t block_of(NodeContext& node, const Tensor& x) {
  if (x.rank() != 4) node.fail("its input has the shape " + shape_text(x.shape()) + ", [N, C, H, W] is expected");
  const std::int64_t block = node.attribute_int("blocksize");
  if (block < 1) node.fail("attribute blocksize is " + std::to_string(block), "it is at least 1");
  return block;
}

/// DCR: channels are [block, block, C]; CRD: [C, block, block].
std::string mode_of(NodeContext& node) {
  const std::string mode = node.attribute_string("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") node.fail("attribute mode is '" + mode + "'", "accepted are DCR and CRD");
  return mode;
}

void require_multiple(const NodeContext& node, const std::string& what, std::int64_t size, std::int64_t factor) {
  if (size % factor != 0) node.fail("its " + what + " " + std::to_string(size) + " is no multiple of " + std::to_string(factor));
}

std::vector<std::int64_t> listed(NodeContext& node, const std::string& name, std::size_t count, std::int64_t fallback) {
  const std::vector<std::int64_t> values = node.attribute_ints(name, std::vector<std::int64_t>(count, fallback));
  if (values.size() != count)
    node.fail("attribute " + name + " is " + list_text(values) + ", " + std::to_string(count) + " numbers are expected");
  return values;
}

}  // namespace

Outputs depth_to_space(NodeContext& node) {
  const Tensor x = node.input(0);
  const std::int64_t block = block_of(node, x), channels = fixed_dim(node, x, 1, "input");
  const std::string mode = node.opset() >= 11 ? mode_of(node) : "DCR";
  require_multiple(node, "number of channels", channels, block * block);
  const Sint n = x.dim(0), c = channels / (block * block), h = x.dim(2), w = x.dim(3);
  const Tensor blocks = mode == "DCR" ? x.reshape({n, block, block, c, h, w}).permute({0, 3, 4, 1, 5, 2})
                                      : x.reshape({n, c, block, block, h, w}).permute({0, 1, 4, 2, 5, 3});
  return {blocks.reshape({n, c, h * block, w * block})};
}

Outputs space_to_depth(NodeContext& node) {
  const Tensor x = node.input(0);
  const std::int64_t block = block_of(node, x);
  for (int axis : {2, 3}) {
    const Sint size = x.dim(axis);
    if (floormod(size, block).is_int(0)) continue;
    if (size.is_int()) require_multiple(node, axis == 2 ? "height" : "width", size.as_int(), block);
    node.fail("axis " + std::to_string(axis) + " of the input has the open size " + to_text(size) + ", which is no multiple of blocksize " +
                  std::to_string(block) + " at every value",
              node.size_help({size}));
  }
  const Sint h = floordiv(x.dim(2), block), w = floordiv(x.dim(3), block);
  const std::string mode = node.opset() >= 28 ? mode_of(node) : "DCR";
  const Tensor split = x.reshape({x.dim(0), x.dim(1), h, block, w, block});
  const Tensor blocks = mode == "DCR" ? split.permute({0, 3, 5, 1, 2, 4}) : split.permute({0, 1, 3, 5, 2, 4});
  return {blocks.reshape({x.dim(0), x.dim(1) * (block * block), h, w})};
}

/// Each axis is cut or padded with zeros to the given size, half on either side; an odd element goes to the end.
Outputs center_crop_pad(NodeContext& node) {
  require_inputs(node, 2, 2);
  Tensor x = node.input(0);
  const std::vector<std::int64_t> sizes = node.require_constant(1, "shape").ints();
  std::vector<int> axes;
  if (node.has_attribute("axes")) {
    for (std::int64_t axis : node.attribute_ints("axes")) axes.push_back(axis_of(node, axis, x.rank(), "attribute axes"));
  } else {
    for (int axis = 0; axis < x.rank(); axis++) axes.push_back(axis);
  }
  if (axes.size() != sizes.size()) {
    node.fail("its shape has " + std::to_string(sizes.size()) + " elements for " + std::to_string(axes.size()) + " axes");
  }
  for (std::size_t i = 0; i < axes.size(); i++) {
    const Sint size = x.dim(axes[i]);
    const std::int64_t wanted = sizes[i];
    if (wanted < 0) node.fail("its shape holds " + std::to_string(wanted), "sizes are 0 or more");
    const auto at = static_cast<std::size_t>(axes[i]);
    Padding ranges;
    for (const Sint& d : x.shape()) ranges.emplace_back(Sint(0), d);
    if (wanted <= size.min()) {
      const Sint start = floordiv(size - wanted, 2);
      ranges[at] = {start, start + wanted};
      x = x.shrink(ranges);
    } else if (wanted >= size.max()) {
      Padding pads(ranges.size(), {Sint(0), Sint(0)});
      pads[at].first = floordiv(wanted - size, 2);
      pads[at].second = wanted - size - pads[at].first;
      x = x.pad(pads);
    } else {
      node.fail("axis " + std::to_string(axes[i]) + " of the input has the open size " + to_text(size) + ", which is below " +
                    std::to_string(wanted) + " at some values and above at others",
                node.size_help({size}));
    }
  }
  return {x};
}

/// [N, C * k..., blocks] -> [N, C, image...]: overlapping patches add up, as in a transposed convolution.
Outputs col2im(NodeContext& node) {
  require_inputs(node, 3, 3);
  const Tensor x = node.input(0);
  const std::vector<std::int64_t> image = node.require_constant(1, "image_shape").ints(),
                                  block = node.require_constant(2, "block_shape").ints();
  const std::size_t count = image.size();
  if (x.rank() != 3) node.fail("its input has the shape " + shape_text(x.shape()) + ", 3 axes are expected");
  if (block.size() != count || count < 1 || count > 3)
    node.fail("image_shape is " + list_text(image) + " and block_shape " + list_text(block), "give 1 to 3 sizes in each");
  require_sane_shape(Shape(image.begin(), image.end()), node);
  require_sane_shape(Shape(block.begin(), block.end()), node);
  const std::vector<std::int64_t> strides = listed(node, "strides", count, 1), dilations = listed(node, "dilations", count, 1);
  const std::vector<std::int64_t> pads = listed(node, "pads", 2 * count, 0);
  std::int64_t patch = 1, blocks = 1;
  Shape spread{x.dim(0), x.dim(1)};
  std::vector<std::int64_t> rest;
  for (std::size_t i = 0; i < count; i++) {
    const std::int64_t free = image[i] + pads[i] + pads[count + i] - (dilations[i] * (block[i] - 1) + 1);
    if (strides[i] < 1 || dilations[i] < 1 || block[i] < 1 || free < 0)
      node.fail("block_shape " + list_text(block) + " does not fit image_shape " + list_text(image));
    rest.push_back(free % strides[i]);
    spread.push_back(free / strides[i] + 1);
    patch *= block[i];
    blocks *= spread.back().as_int();
  }
  const std::int64_t channels = fixed_dim(node, x, 1, "input");
  if (channels % patch != 0 || !x.dim(2).is_int(blocks)) {
    node.fail("its input has the shape " + shape_text(x.shape()) + ", [N, C * " + std::to_string(patch) + ", " + std::to_string(blocks) +
              "] is expected");
  }
  // Windows over the spread patches, backwards: element k of a window takes the patches' element k. It is selected, not multiplied by
  // 0 and 1, so that an infinite element does not spread NaN to other places.
  Tensor places = x.reshape(spread);
  Window inner{.kernel = block, .stride = std::vector<std::int64_t>(count, 1), .dilation = dilations, .pads = {}, .ceil = false};
  std::vector<int> backwards;
  Shape pairs{x.dim(0), channels / patch, patch};
  for (std::size_t i = 0; i < count; i++) {
    places = places.spread(static_cast<int>(i) + 2, strides[i]);
    const std::int64_t reach = dilations[i] * (block[i] - 1);
    inner.pads.emplace_back(reach - pads[i], reach - pads[count + i] + rest[i]);
    backwards.push_back(static_cast<int>(count + i) + 2);
    pairs.push_back(image[i]);
  }
  pairs.push_back(patch);
  const Tensor windows = places.windows(inner, 0).flip(backwards).reshape(pairs);
  return {windows.diagonal(2, windows.rank() - 1).sum({windows.rank() - 2}).cast(x.dtype())};
}

}  // namespace etch::operators
