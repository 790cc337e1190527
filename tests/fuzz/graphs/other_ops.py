"""Quantisation, losses, signal processing."""

import numpy as np
from onnx import helper

from graphs.registry import operator
from graphs.values import F16, F32, I8, I32, I64, U8, is_float


def _scale(g, dtype, shape=()):
    """Scales that are powers of two half of the time: then values fall on ties of rounding."""
    exact = np.array([g.choice([0.125, 0.25, 0.5, 1.0]) for _ in range(int(np.prod(shape)))]).reshape(shape)
    odd = np.array([g.rng.uniform(0.01, 0.7) for _ in range(int(np.prod(shape)))]).reshape(shape)
    return g.leaf((exact if g.maybe() else odd).astype(dtype))


def _zero(g, dtype, shape=()):
    return g.fresh(dtype, shape, (0, 20) if dtype.kind == "u" else (-9, 9))


def _granularity(g, op, x, first_axis, block_opset):
    """(shape of scale and zero point, attributes): per tensor, per axis, per block."""
    choices = ["tensor"] + (["axis"] if g.opset >= first_axis and x.rank else []) + (["block"] if g.opset >= block_opset and x.rank else [])
    kind = g.choice(choices)
    if kind == "tensor":
        return g.choice([(), (1,)]) if x.rank == 1 and x.shape == (1,) else (), {}
    axis = g.axis(x.rank)
    if kind == "axis":
        return (x.shape[axis],), {"axis": axis}
    block = g.choice([1, 2, 3, max(x.shape[axis], 1)])
    shape = list(x.shape)
    shape[axis] = -(-shape[axis] // block)
    return tuple(shape), {"axis": axis, "block_size": block}


@operator("QuantizeLinear")
def quantize(g, op):
    x = g.tensor(g.dtype(op), (0, 4))
    shape, attributes = _granularity(g, op, x, 13, 21)
    scale = _scale(g, x.dtype if is_float(x.dtype) and g.opset >= 19 else F32, shape)
    to = g.choice(g.types(op, output=True))
    zero = _zero(g, to, shape) if g.maybe(0.8) or shape else None
    if g.opset >= 21 and zero is None and g.maybe():
        attributes["output_dtype"] = helper.np_dtype_to_tensor_dtype(to)
    return g.add(op, [x, scale, zero], attributes)


@operator("DequantizeLinear")
def dequantize(g, op):
    x = g.tensor(g.dtype(op), (0, 4))
    shape, attributes = _granularity(g, op, x, 13, 21)
    scale = _scale(g, g.choice([F32, F32, F16] if g.opset >= 19 else [F32]), shape)
    zero = _zero(g, x.dtype, shape) if g.maybe(0.7) else None
    if x.dtype == I32 and zero is not None:
        zero.array[...] = 0
    return g.add(op, [x, scale, zero], attributes)


@operator("DynamicQuantizeLinear")
def dynamic_quantize(g, op):
    return g.add(op, [g.tensor(F32, (1, 4), where=lambda a: a.size > 0)], outputs=3)


@operator("MatMulInteger")
def matmul_integer(g, op):
    a_dtype, b_dtype = g.choice([U8, I8]), g.choice([U8, I8])
    n, k, m = (g.choice([1, 2, 3, 5]) for _ in range(3))
    batch = g.shape(g.choice([0, 0, 1]), 4)
    a, b = g.tensor(a_dtype, shape=(*batch, n, k)), g.tensor(b_dtype, shape=(*batch, k, m))
    a_zero = _zero(g, a_dtype, g.choice([(), (), (1,)])) if g.maybe() else None
    b_zero = _zero(g, b_dtype, g.choice([(), (), (m,)])) if g.maybe() else None
    return g.add(op, [a, b, a_zero, b_zero])


@operator("QLinearMatMul")
def qlinear_matmul(g, op):
    a_dtype, b_dtype = g.choice([U8, I8]), g.choice([U8, I8])
    y_dtype = g.choice([a_dtype, U8, I8])
    scale = F32 if g.opset < 21 or g.maybe(0.7) else F16
    n, k, m = (g.choice([1, 2, 3, 5]) for _ in range(3))
    per = (m,) if g.maybe(0.3) else ()
    return g.add(op, [g.tensor(a_dtype, shape=(n, k)), _scale(g, scale), _zero(g, a_dtype), g.fresh(b_dtype, (k, m)), _scale(g, scale, per),
                      _zero(g, b_dtype, per), _scale(g, scale), _zero(g, y_dtype)])  # fmt: skip


@operator("QLinearConv")
def qlinear_conv(g, op):
    x_dtype, w_dtype = g.choice([(U8, U8), (U8, I8), (I8, I8)])  # the reference evaluator mistakes the fourth pair
    c, group = g.choice([(1, 1), (2, 1), (2, 2), (4, 2), (3, 1)])
    m = group * g.choice([1, 2])
    sizes = [g.choice([3, 4, 5, 7]) for _ in range(g.choice([1, 2, 2]))]
    kernel = [g.choice([1, 2, 3]) for _ in sizes]
    attributes = {"group": group} if group > 1 else {}
    if g.maybe():
        attributes["strides"] = [g.choice([1, 2]) for _ in sizes]
    if g.maybe():
        attributes["pads"] = [g.rng.randint(0, k - 1) for k in kernel * 2]
    elif g.maybe(0.3):
        attributes["auto_pad"] = g.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
    per = (m,) if g.maybe(0.4) else ()
    inputs = [g.tensor(x_dtype, shape=(g.choice([1, 2]), c, *sizes)), _scale(g, F32), _zero(g, x_dtype)]
    w_zero = _zero(g, w_dtype, per)
    if w_dtype == I8 and g.maybe():
        w_zero.array[...] = 0
    inputs += [g.fresh(w_dtype, (m, c // group, *kernel), constant=True), _scale(g, F32, per), w_zero, _scale(g, F32), _zero(g, x_dtype)]
    if g.maybe():
        inputs.append(g.fresh(I32, (m,)))
    return g.add(op, inputs, attributes)


# Losses.


@operator("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(g, op):
    classes = g.choice([1, 2, 3, 5])
    batch, rest = g.choice([1, 2, 3]), [g.choice([1, 2, 3]) for _ in range(g.choice([0, 0, 1, 2]))]
    x = g.tensor(g.dtype(op), shape=(batch, classes, *rest))
    target = g.fresh(g.choice([I32, I64]), (batch, *rest), (0, classes - 1))
    attributes = {"reduction": g.choice(["none", "mean", "sum"])} if g.maybe(0.8) else {}
    if g.maybe(0.4):
        attributes["ignore_index"] = g.choice([0, classes - 1, -1, 255])
        if attributes["ignore_index"] in (-1, 255) and g.maybe(0.7):
            target.array[(0,) * target.rank] = attributes["ignore_index"]
    weight = g.fresh(x.dtype, (classes,), "positive") if g.maybe(0.4) else None
    return g.add(op, [x, target, weight], attributes, outputs=2 if op[0] == "S" and g.maybe(0.4) else 1)


# Signals.


@operator("BlackmanWindow", "HammingWindow", "HannWindow")
def window(g, op):
    attributes = {"periodic": g.choice([0, 1])} if g.maybe(0.6) else {}
    if g.maybe(0.4):
        attributes["output_datatype"] = helper.np_dtype_to_tensor_dtype(g.choice(g.types(op, output=True)))
    return g.add(op, [g.const(g.choice([1, 2, 3, 8, 10]), g.choice([I32, I64]))], attributes)


@operator("DFT")
def dft(g, op):
    complex_in = g.maybe(0.4)
    shape = (g.choice([1, 2]), *[g.choice([1, 2, 3, 4, 5, 8]) for _ in range(g.choice([1, 1, 2]))], 2 if complex_in else 1)
    x = g.tensor(g.dtype(op), shape=shape)
    axis = g.rng.randint(1, len(shape) - 2) if g.maybe(0.7) or len(shape) == 3 else 0
    attributes = {}
    if g.maybe():
        attributes["inverse"] = g.choice([0, 1])
    if g.maybe():
        attributes["onesided"] = 0 if complex_in or attributes.get("inverse") else g.choice([0, 1])
    length = g.const(g.choice([shape[axis], 2, 4, 6]), g.choice([I32, I64])) if g.maybe(0.3) else None
    if g.opset < 20:
        return g.add(op, [x, length], {**attributes, "axis": axis})
    return g.add(op, [x, length, g.const(axis if g.maybe() else axis - len(shape))], attributes)


@operator("STFT")
def stft(g, op):
    frame, step = g.choice([2, 4, 8]), g.choice([1, 2, 3])
    length = frame + g.choice([0, 3, 8])
    x = g.tensor(g.dtype(op), shape=(g.choice([1, 2]), length, 1))
    window = g.fresh(x.dtype, (frame,)) if g.maybe(0.6) else None
    size = g.const(frame) if window is None or g.maybe() else None
    return g.add(op, [x, g.const(step), window, size], {"onesided": g.choice([0, 1])} if g.maybe() else {})


@operator("MelWeightMatrix")
def mel(g, op):
    attributes = {}
    if g.maybe(0.3):
        attributes["output_datatype"] = helper.np_dtype_to_tensor_dtype(g.choice(g.types(op, output=True)))
    index = g.choice([I32, I64])
    lower = g.choice([0.0, 20.0, 125.0])
    inputs = [g.const(g.choice([1, 4, 8]), index), g.const(g.choice([8, 16, 32]), index), g.const(8000, index), g.const(lower, F32),
              g.const(g.choice([1000.0, 3800.0]), F32)]  # fmt: skip
    return g.add(op, inputs, attributes)
