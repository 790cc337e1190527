// ONNX's "light" test models have one value in every weight (ConstantOfShape), so their expected outputs can't show wrong
// indexing. densify() gives every such weight pseudo-random values, by a rule that can be repeated bit for bit anywhere.
#pragma once

#include <string>

namespace etch {

/// The model with an initializer of the same name for each ConstantOfShape node. `name` ("light_resnet50") selects factors that
/// keep the outputs in a sensible range; unknown names have factors of 1. With u = seeded_values(tensor name):
///   Conv, Gemm weight          u * f32(sqrt(3 / fan_in) * gain), the last one also times the head's factor
///   bias, mean, Add            u * 0.03125
///   scale, variance, Mul       1 + u * 0.25
/// UserError where a weight is used in another way.
std::string densify(const std::string& bytes, const std::string& name);

}  // namespace etch
