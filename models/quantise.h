// Post-training quantisation of the zoo's networks, for tests and figures of integer networks: batch normalisation goes into the weights,
// ranges come from a few runs on numbers made from a name.
#pragma once

#include <string>

namespace etch {

/// The model with int8 inputs and outputs, and QuantizeLinear and DequantizeLinear around its operators: weights symmetric, a scale for
/// each output channel; activations asymmetric; a bias in int32; Relu in the integers of what it follows. It knows Conv and Gemm with
/// constant weights, and BatchNormalization behind them; other operators keep their form. UserError where a model is not of this kind.
std::string quantised(const std::string& bytes);

}  // namespace etch
