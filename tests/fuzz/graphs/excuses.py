"""Where ONNX's text leaves the result open, and where ONNX Runtime gives something else than the text says.

A node that an excuse names is not compared (the graph still must not crash the tool); a node of REFERENCE_INSTEAD is compared
with the reference evaluator. The standard's words are looked up in its definitions by the test.
"""

from dataclasses import dataclass
from typing import Callable

import numpy as np
import onnx
from onnx import helper

from graphs.values import is_float


def attribute(node, name, default=None):
    for a in node.attribute:
        if a.name == name:
            return helper.get_attribute_value(a)
    return default


@dataclass
class Excuse:
    name: str
    operators: tuple
    applies: Callable  # of (node, input arrays, opset)
    quote: str  # the standard's words, as "Operator-opset: words"
    why: str  # why they leave the result open, or what ONNX Runtime does instead
    dangerous: bool = False  # the oracle's process may die of it: the node is never made


def _integer_division_by_zero(node, inputs, opset):
    a, b = inputs
    if is_float(b.dtype):
        return node.op_type == "Mod" and attribute(node, "fmod", 0) == 0
    return bool((b == 0).any()) or bool(np.iinfo(b.dtype).min < 0 and (b == -1).any() and (a == np.iinfo(a.dtype).min).any())


def _cast_out_of_range(node, inputs, opset):
    x = inputs[0]
    to = np.dtype(helper.tensor_dtype_to_np_dtype(attribute(node, "to"))) if node.op_type == "Cast" else inputs[1].dtype
    if not is_float(x.dtype) or is_float(to) or to == bool:
        return False
    info = np.iinfo(to)
    wide = x.astype(np.float64)
    with np.errstate(invalid="ignore"):
        whole = np.trunc(wide)
        return not bool(np.all(np.isfinite(wide) & (whole >= float(info.min)) & (whole <= float(info.max)) & (whole < 2.0**63)))


def _shift_beyond_width(node, inputs, opset):
    return bool((inputs[1] >= inputs[1].dtype.itemsize * 8).any())


def _has_nan(*arrays):
    return any(a is not None and is_float(a.dtype) and bool(np.isnan(a).any()) for a in arrays)


def _gemm_factors(node, inputs, opset):
    factors = attribute(node, "alpha", 1.0), attribute(node, "beta", 1.0)
    large = any(a is not None and bool((np.abs(a.astype(float)) > 1e4).any()) for a in inputs)
    return not is_float(inputs[0].dtype) and factors != (1.0, 1.0) and large


def _finite(*arrays):
    return all(a is None or not is_float(a.dtype) or bool(np.isfinite(a).all()) for a in arrays)


def _huge(*arrays):
    """Whether a sum of products of these could leave the type's range on the way."""
    largest = {2: 1e2, 4: 1e15, 8: 1e140}
    floats = [a for a in arrays if a is not None and is_float(a.dtype)]
    return any(bool((np.isfinite(a) & (np.abs(a) > largest[a.dtype.itemsize])).any()) for a in floats)


def _one_pixel(node, inputs, opset):
    return attribute(node, "align_corners", 0) == 1 and 1 in inputs[1][2:]


def _same_with_small_kernel(node, inputs, opset):
    kernel, strides = inputs[1].shape[2:], attribute(node, "strides", [1] * 9)
    dilations = attribute(node, "dilations", [1] * 9)
    same = attribute(node, "auto_pad", b"NOTSET").startswith(b"SAME")
    return same and any((k - 1) * d + 1 < s for k, s, d in zip(kernel, strides, dilations))


def _whole_window(node, inputs, opset):
    return attribute(node, "output_datatype", 1) not in (1, 10, 11, 16)


def _window_of_one(node, inputs, opset):
    return attribute(node, "periodic", 1) == 0 and int(inputs[0]) == 1


def _large_power(node, inputs, opset):
    a, b = inputs
    if is_float(a.dtype):
        return False
    with np.errstate(all="ignore"):
        return not bool((np.abs(np.power(a.astype(np.float64), b.astype(np.float64))) < float(np.iinfo(a.dtype).max)).all())


def _scales(node, inputs, opset):
    """(size, scale) of the axes that a Resize or Upsample names scales for."""
    at = 1 if opset < 11 else 2
    scales = attribute(node, "scales") or (inputs[at] if len(inputs) > at else None)
    axes = attribute(node, "axes") or range(inputs[0].ndim)
    return [] if scales is None else [(inputs[0].shape[a], np.float32(s)) for a, s in zip(axes, scales)]


def _same_size(node, inputs, opset):
    scales = _scales(node, inputs, opset)
    return all(int(np.floor(d * s)) == d for d, s in scales) and any(s != 1 for _, s in scales)


def _part_of_an_element(node, inputs, opset):
    by_length = attribute(node, "coordinate_transformation_mode", b"") in (b"align_corners", b"tf_crop_and_resize")
    return by_length and any(d * s != np.floor(d * s) for d, s in _scales(node, inputs, opset))


def _between_two(node, inputs, opset):
    """Whether a coordinate is on the border between two elements but for its rounding."""
    if attribute(node, "mode", b"nearest") != b"nearest":
        return False
    scales = [(d, float(s), int(np.floor(d * s))) for d, s in _scales(node, inputs, opset)]
    if not scales and len(inputs) > 3:
        axes = attribute(node, "axes") or range(inputs[0].ndim)
        scales = [(d, o / d, int(o)) for a, o in zip(axes, inputs[3]) if (d := inputs[0].shape[a]) > 0]
    for size, scale, out in scales:
        if np.log2(scale) % 1 == 0:
            continue  # exact
        i = np.arange(out, dtype=np.float64)
        for x in ((i + 0.5) / scale - 0.5, i / scale, (i + 0.5) / scale, i * (size - 1) / max(out - 1, 1)):
            if (np.abs(2 * x - np.round(2 * x))[x != 0] < 1e-4).any():
                return True
    return False


def _integers_without_kernel(node, inputs, opset):
    """Whether integers are interpolated that ONNX Runtime has no kernel for: the reference rounds, ONNX Runtime cuts off."""
    return inputs[0].dtype.kind in "iu" and inputs[0].dtype not in (np.int8, np.uint8, np.int32) and attribute(node, "mode", b"nearest") != b"nearest"


def _channel_of_minus_infinities(node, inputs, opset):
    x = inputs[0]
    return bool(np.isneginf(x).all(axis=tuple(range(2, x.ndim))).any())


SUMS = tuple("""AveragePool BatchNormalization Col2Im Conv ConvTranspose CumSum DFT Einsum Gemm GlobalAveragePool GlobalLpPool
GroupNormalization InstanceNormalization LayerNormalization LpNormalization LpPool MatMul Mean MeanVarianceNormalization ReduceL1
ReduceL2 ReduceMean ReduceSum ReduceSumSquare STFT Sum""".split())  # fmt: skip

EXCUSES = [
    Excuse("integer division by zero", ("Div", "Mod"), _integer_division_by_zero,
           "Div-14: For integer inputs, the result is computed using truncating division",
           "nothing is said of division by 0, nor of lowest / -1", dangerous=True),
    Excuse("cast out of range", ("Cast", "CastLike"), _cast_out_of_range,
           "Cast-19: fixed point: undefined if OOR", "said in words"),
    Excuse("shift beyond the width", ("BitShift",), _shift_beyond_width,
           "BitShift-11: moves its binary representation", "not said what a shift by the width or more gives"),
    Excuse("mask of Dropout before opset 12", ("Dropout",), lambda node, inputs, opset: opset < 12 and len(node.output) > 1,
           "Dropout-10: The output mask.", "no value for test mode is said; since opset 12 it is all true"),
    Excuse("order of NaN", ("ArgMax", "ArgMin", "TopK", "Hardmax", "GlobalMaxPool", "MaxPool", "ReduceMax", "ReduceMin",
                            "DynamicQuantizeLinear", "QuantizeLinear"), lambda node, inputs, opset: _has_nan(inputs[0]),
           "ArgMax-13: Computes the indices of the max elements of the input tensor's element",
           "whether NaN is larger than a number is not said"),
    Excuse("NaN in a scattered maximum", ("ScatterElements", "ScatterND"),
           lambda node, inputs, opset: attribute(node, "reduction") in (b"max", b"min") and _has_nan(*inputs),
           "ScatterElements-18: reduction using the maximum operation", "whether NaN is larger than a number is not said"),
    Excuse("NaN in a pool of powers", ("LpPool",), lambda node, inputs, opset: _has_nan(inputs[0]),
           "LpPool-11: applies Lp pooling across", "the reference evaluator pads by NaN, and leaves out NaNs of the input as well"),
    Excuse("infinite filter", ("Conv", "ConvTranspose"), lambda node, inputs, opset: not _finite(inputs[1]),
           "Conv-11: Padding for the beginning and ending along each spatial axis", "whether 0 * infinity is taken there is not said"),
    Excuse("infinite or NaN state", ("RNN", "GRU", "LSTM"), lambda node, inputs, opset: not _finite(*inputs),
           "LSTM-14: If not specified - assumed to be 0", "whether 0 * infinity is taken, and where a clipped NaN goes, is not said"),
    Excuse("interpolation of infinities", ("Resize", "Upsample", "GridSample"),
           lambda node, inputs, opset: attribute(node, "mode", b"") != b"nearest" and not _finite(*inputs) or _huge(*inputs),
           "Resize-11: Resize the input tensor", "whether a neighbour of weight 0 is taken times infinity is not said"),
    Excuse("infinite determinant", ("Det",), lambda node, inputs, opset: not _finite(*inputs) or _huge(*inputs),
           "Det-11: calculates determinant of a square matrix", "the order of products, so where infinity - infinity comes, is not said"),
    Excuse("infinite signal", ("DFT", "STFT"), lambda node, inputs, opset: not _finite(*inputs),
           "DFT-17: Computes the discrete Fourier", "whether 0 * infinity is taken, and the order of sums, are not said"),
    Excuse("infinite range of quantisation", ("DynamicQuantizeLinear",), lambda node, inputs, opset: not _finite(*inputs) or _huge(*inputs),
           "DynamicQuantizeLinear-11: y_scale = (maximum(0, max(x)) - minimum(0, min(x))) / (qmax - qmin)",
           "an infinite range gives 0 * infinity"),
    Excuse("sum beyond the range on the way", SUMS, lambda node, inputs, opset: _huge(*inputs),
           "ReduceSum-13: Computes the sum of the input tensor's elements", "the order, so whether it overflows on the way, is not said"),
    Excuse("integer power beyond the type", ("Pow",), _large_power,
           "Pow-15: f(x) = x^exponent", "what an integer power too large for the type gives is not said"),
    Excuse("infinity within the default limits", ("Clip",), lambda node, inputs, opset: not _finite(*inputs),
           "Clip-13: They default to numeric_limits::lowest() and numeric_limits::max()", "while its function leaves a missing limit out"),
    Excuse("factors of Gemm on large integers", ("Gemm",), _gemm_factors,
           "Gemm-13: Scalar multiplier for the product of input tensors", "in which type an integer is multiplied by a float is not said"),
    Excuse("irrational reductions as integers", ("ReduceL2", "ReduceLogSum", "ReduceLogSumExp"),
           lambda node, inputs, opset: not is_float(inputs[0].dtype),
           "ReduceL2-13: Computes the L2 norm of the input tensor's elements", "how it becomes an integer is not said"),
    Excuse("windows as integers", ("BlackmanWindow", "HammingWindow", "HannWindow", "MelWeightMatrix"), _whole_window,
           "HannWindow-17: The data type of the output tensor", "how a number just below 1 becomes an integer is not said"),
    Excuse("symmetric window of one sample", ("BlackmanWindow", "HammingWindow", "HannWindow"), _window_of_one,
           "HannWindow-17: If 0, return a symmetric window", "its function divides 0 by 0 for a length of 1"),
    Excuse("corners of one pixel", ("AffineGrid",), _one_pixel,
           "AffineGrid-20: consider -1 and 1 to refer to the centers of the corner pixels", "one pixel can't be at both"),
    Excuse("SAME with a kernel smaller than the stride", ("ConvTranspose",), _same_with_small_kernel,
           "ConvTranspose-11: output_shape[i] = input_shape[i] * strides[i]", "needs negative pads; ONNX Runtime gives fewer elements"),
    Excuse("SAME and dilations", ("AveragePool", "LpPool", "MaxPool"),
           lambda node, inputs, opset: attribute(node, "auto_pad", b"").startswith(b"SAME") and max(attribute(node, "dilations", [1])) > 1,
           "MaxPool-12: output_shape[i] = ceil(input_shape[i] / strides[i])", "ONNX Runtime gives fewer; a window may be padding alone"),
    Excuse("scale that leaves the size", ("Resize", "Upsample"), _same_size,
           "Resize-11: x_original = x_resized / scale", "ONNX Runtime copies the input where the output has its shape"),
    Excuse("nearest of two", ("Resize", "Upsample"), _between_two,
           "Resize-11: round_prefer_floor", "in which precision x_original is rounded before that is not said"),
    Excuse("fractions of integers", ("Resize", "Upsample"), _integers_without_kernel,
           "Resize-11: Resize the input tensor", "whether the fraction of an interpolated integer is rounded or cut off is not said"),
    Excuse("nothing but minus infinity", ("GlobalMaxPool",), _channel_of_minus_infinities,
           "GlobalMaxPool-1: applies max pooling across the values in the same channel",
           "ONNX Runtime starts from the lowest finite number"),
    Excuse("infinite logits", ("LogSoftmax", "Softmax"), lambda node, inputs, opset: bool(np.isposinf(inputs[0]).any()),
           "LogSoftmax-13: LogSoftmax(input, axis) = Log(Softmax(input, axis=axis))",
           "infinity / infinity; the function that defines it subtracts the maximum first, which makes every element NaN"),
    Excuse("infinite neighbours of LRN", ("LRN",), lambda node, inputs, opset: not _finite(*inputs),
           "LRN-13: square_sum[n, c, d1, ..., dk] = sum(X[n, i, d1, ..., dk] ^ 2)",
           "ONNX Runtime carries NaN on to the channels behind it"),
]  # fmt: skip


def _max_unpool_shape(node, inputs, opset):
    x, shape = inputs[0], inputs[2] if len(inputs) > 2 else None
    if shape is None:
        return False
    kernel, strides = attribute(node, "kernel_shape"), attribute(node, "strides", [1] * (x.ndim - 2))
    return [(d - 1) * s + k for d, s, k in zip(x.shape[2:], strides, kernel)] != list(shape[2:])


def _axes_out_of_order(node, inputs, opset):
    axes = attribute(node, "axes") or (list(inputs[1]) if len(inputs) > 1 and inputs[1] is not None else [])
    axes = [int(a) % max(inputs[0].ndim, 1) for a in axes]
    return inputs[0].size == 0 or axes != sorted(axes)


def _constant_rows(node, inputs, opset):
    x = inputs[0].astype(np.float64)
    axes = tuple(attribute(node, "axes", [0, 2, 3]))
    return bool((x.std(axis=axes, keepdims=True) <= 1e-4 * np.abs(x).max(axis=axes, keepdims=True, initial=0)).any())


REDUCTIONS = tuple("Reduce" + n for n in "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare".split())

REFERENCE_INSTEAD = [
    Excuse("MaxUnpool with output_shape", ("MaxUnpool",), _max_unpool_shape,
           "MaxUnpool-11: output tensor of known/predictable size",
           "the standard's test maxunpool_export_with_output_shape counts indices in the size without output_shape"),
    Excuse("scales that make a part of an element", ("Resize",), _part_of_an_element,
           "Resize-11: length_resized as the length of the resized tensor in axis x",
           "the standard's test resize_downsample_scales_linear_align_corners counts that part, ONNX Runtime does not"),
    Excuse("Shrink in double", ("Shrink",), lambda node, inputs, opset: inputs[0].dtype == np.float64,
           "Shrink-9: y = x - bias", "ONNX Runtime rounds x to single precision"),
    Excuse("axes out of order", REDUCTIONS, _axes_out_of_order,
           "ReduceSum-11: A list of integers, along which to reduce",
           "ONNX Runtime mistakes negative ones out of order, and those of an empty input"),
    Excuse("patches", ("Col2Im",), lambda node, inputs, opset: True,
           "Col2Im-18: rearranges column blocks back into a multidimensional image", "ONNX Runtime mistakes dilations of three axes"),
    Excuse("rows without variance", ("MeanVarianceNormalization",), _constant_rows,
           "MeanVarianceNormalization-13: using formula", "its function adds 1e-9 to the deviation, ONNX Runtime divides 0 by 0"),
    Excuse("instances", ("InstanceNormalization",), lambda node, inputs, opset: True,
           "InstanceNormalization-6: y = scale * (x - mean) / sqrt(variance + epsilon) + B",
           "ONNX Runtime takes x * factor + other, which loses digits"),
    Excuse("product of integers", ("ReduceProd",), lambda node, inputs, opset: not is_float(inputs[0].dtype),
           "ReduceProd-13: Computes the product of the input tensor's elements", "ONNX Runtime computes int64 in double"),
]  # fmt: skip

def _one_element_of_halves(node, inputs, opset):
    """Whether an axis has one element left, which lies at 0 by the text."""
    if attribute(node, "coordinate_transformation_mode") != b"pytorch_half_pixel":
        return False
    sizes = inputs[3] if len(inputs) > 3 and inputs[3] is not None else [np.floor(d * s) for d, s in _scales(node, inputs, opset)]
    return 1 in sizes


# The reference evaluator's own mistakes, where they depend on the node.
REFERENCE_WRONG_WHERE = {"Resize": _one_element_of_halves}  # takes it from -0.5

# Its mistakes at all nodes: these types are run by ONNX Runtime in single precision.
REFERENCE_WRONG = {
    "AveragePool": "leaves NaN out",
    "ConvTranspose": "accepts an output_shape that no input gives",
    "Erf": "rounds doubles to single precision",
    "GRU": "ignores sequence_lens",
    "Gelu": "rounds doubles to single precision",
    "GlobalMaxPool": "takes the maximum over the wrong axes where there is one spatial axis",
    "Hardmax": "does not flatten before opset 13",
    "LRN": "sums over channels by the number of images",
    "LSTM": "ignores sequence_lens",
    "RNN": "ignores sequence_lens",
}

# Computed in single precision, or by constants of single precision, although the type is double: by ONNX Runtime, some by both.
SINGLE_IN_DOUBLE = ("DFT", "Gelu", "GridSample", "HardSwish", "LayerNormalization", "Resize", "STFT", "Upsample")


def _first(table, node, inputs, opset):
    return next((e for e in table if node.op_type in e.operators and e.applies(node, inputs, opset)), None)


def missing_quotes():
    """Names of the excuses whose words are not in the standard."""
    missing = []
    for excuse in EXCUSES + REFERENCE_INSTEAD:
        place, words = excuse.quote.split(": ", 1)
        operator, opset = place.split("-")
        schema = onnx.defs.get_schema(operator, int(opset), "")
        parts = [*schema.attributes.values(), *schema.inputs, *schema.outputs]
        text = " ".join([schema.doc, *(p.description for p in parts)])
        if words not in " ".join(text.split()):
            missing.append(excuse.name)
    return missing


def excuse_of(node, inputs, opset):
    """The Excuse of a node with these input arrays (None for a missing one); None where its result is defined."""
    return _first(EXCUSES, node, inputs, opset)


def is_reference_wrong(node, inputs, opset):
    where = REFERENCE_WRONG_WHERE.get(node.op_type)
    return node.op_type in REFERENCE_WRONG or (where is not None and where(node, inputs, opset))


def is_for_reference(node, inputs, opset):
    """Whether ONNX Runtime is known to be wrong there."""
    return _first(REFERENCE_INSTEAD, node, inputs, opset) is not None
