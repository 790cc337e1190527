// Pictures that the project draws by itself, to train networks on: ten digits and a few shapes, white on black, by strokes of a pen. They
// differ in place, size, slant, rotation, thickness, brightness and noise. Everything is computed in integers from a seed and the picture's
// number, so a picture is the same bytes on every machine, whatever was drawn before it.
//
//   const DrawingBatch train = draw_batch(64 * step, 64, {.seed = 1});   // pictures [64, 1, 28, 28], labels [64]
//   const DrawingBatch fresh = draw_batch(0, 1000, {.seed = 2});         // others, for the accuracy
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/array.h"

namespace etch {

enum class DrawingSet : std::uint8_t {
  Digits,  // 0 to 9
  Shapes,  // circle, square, triangle, cross, plus, diamond
};

struct DrawingOptions {
  DrawingSet set = DrawingSet::Digits;
  std::int64_t height = 28, width = 28;  // pixels, 8 to 96
  std::uint64_t seed = 0;
  int noise = 24;      // levels of 255 by which a pixel is darker or lighter at most
  bool plain = false;  // all in the middle, upright, without noise: picture number n is of class n modulo the number of classes
};

struct Drawing {
  int label = 0;                        // the class
  std::vector<std::uint8_t> grey = {};  // height * width, row by row, 0 is black
};

struct DrawingBatch {
  Array pictures;  // float32 [N, 1, height, width], grey / 255
  Array labels;    // int32 [N]
};

/// The names of the classes, by label: "0", "circle".
const std::vector<std::string>& drawing_names(DrawingSet set);
/// UserError for a size or noise that is not accepted, or a number below 0.
Drawing draw(std::int64_t number, const DrawingOptions& options = {});
/// Pictures number first to first + count - 1. UserError likewise.
DrawingBatch draw_batch(std::int64_t first, std::int64_t count, const DrawingOptions& options = {});

}  // namespace etch
