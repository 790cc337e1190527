"""Sums of products: convolutions, matrix products, in all their forms."""

import numpy as np

from quantised import reference
from quantised.builder import INT8, UINT8, Rejected
from quantised.finish import finish_sums
from quantised.operands import bias_of, image, layer, matrix, reach, room_of, weights_of, wide_of, window
from quantised.reference import F32


@layer(10)
def conv(g):
    form = g.choice(["qdq", "qdq", "qlinear"])
    x = image(g, "any" if form == "qdq" else "bytes")
    c, spatial = x.shape[1], x.shape[2:]
    group = g.choice([1, 1, 1, c, c] + [d for d in range(1, c + 1) if c % d == 0])
    m = group * g.choice([1, 1, 2, 3, 4] if group > 1 else [1, 2, 3, 4, 5, 8, 16])
    kernel = [g.choice([1, 1, 2, 3, 3, 5]) for _ in spatial]
    attributes, strides, dilations, pads = window(g, spatial, kernel, True)
    if group > 1 or g.maybe(0.3):
        attributes["group"] = group
    w = weights_of(g, (m, c // group, *kernel), m, 0)
    centred, product, terms = w.centred, x.scale * w.scales, w.array[0].size
    bias = bias_of(g, m, room_of(x, terms, centred), reach(x, terms, centred) / 8)
    column = (-1, *[1] * len(spatial))
    wide = wide_of(x)

    def sums(a):
        total = reference.conv(wide(a), centred, group, strides, dilations, pads)
        return total if bias is None else total + bias.astype(np.int64).reshape(column)

    def emit():
        inputs = [g.dq(x), w.dequantised(g)] + ([w.bias(g, bias, product)] if bias is not None else [])
        return g.node("Conv", inputs, attributes)

    def quantised(scale, zero, dtype):
        inputs = w.quantised(g, x, scale, zero, dtype) + ([g.const(bias)] if bias is not None else [])
        return g.node("QLinearConv", inputs, attributes)

    shaped = product.reshape(column) if w.per_channel else product
    kind = ("QLinearConv" if form == "qlinear" else "Conv") + ("" if group == 1 else " depthwise" if group == c else " grouped")
    return finish_sums(g, kind, [x], sums, shaped, emit, x, quantised if form == "qlinear" else None)


@layer(8)
def matmul(g):
    form = g.choice(["qdq", "qdq", "add", "qlinear"])
    x = matrix(g, "bytes" if form == "qlinear" else "any")
    k, n = x.shape[-1], g.choice([1, 2, 3, 5, 8, 10, 16])
    w = weights_of(g, (k, n), n, 1)
    centred, product = w.centred, x.scale * w.scales
    room = room_of(x, k, centred)
    bias = bias_of(g, n, room, reach(x, k, centred) / 8) if form == "add" else None
    wide = wide_of(x)

    def sums(a):
        total = wide(a) @ centred
        return total if bias is None else total + bias.astype(np.int64)

    def emit():
        name = g.node("MatMul", [g.dq(x), w.dequantised(g)])
        if bias is None:
            return name
        addend = w.bias(g, bias, product)
        return g.node("Add", [name, addend] if g.maybe() else [addend, name])

    def quantised(scale, zero, dtype):
        return g.node("QLinearMatMul", w.quantised(g, x, scale, zero, dtype))

    kind = "QLinearMatMul" if form == "qlinear" else "MatMul" if bias is None else "MatMul+bias"
    return finish_sums(g, kind, [x], sums, product, emit, x, quantised if form == "qlinear" else None)


@layer(3)
def padded_matmul(g):
    """Of an image with a border, flattened, or of a part of it: nothing is quantised in between."""
    x = image(g)
    before, after = ([0] + [g.choice([0, 0, 1, 2]) for _ in x.shape[1:]] for _ in range(2))
    cut = g.rng.randrange(x.shape[1]) if g.maybe(0.3) else 0  # channels in front
    sizes = [n + b + a for n, b, a in zip(x.shape[1:], before[1:], after[1:])]
    sizes[0] -= cut
    k, n = int(np.prod(sizes)), g.choice([1, 2, 5, 8])
    if k > 600:
        raise Rejected("large")
    w = weights_of(g, (k, n), n, 1)
    centred, product, wide = w.centred, x.scale * w.scales, wide_of(x)
    room_of(x, k, centred)

    def sums(a):
        return np.pad(wide(a), list(zip(before, after)))[:, cut:].reshape(a.shape[0], -1) @ centred

    def emit():
        padded = g.node("Pad", [g.dq(x), g.const(np.array(before + after, np.int64))])
        constants = [np.array([v], np.int64) for v in (cut, 2**31, 1)]
        part = g.node("Slice", [padded, *map(g.const, constants)]) if cut else padded
        return g.node("MatMul", [g.node("Flatten", [part]), w.dequantised(g)])

    return finish_sums(g, "MatMul of a border", [x], sums, product, emit, x)


@layer(3)
def matmul_of_activations(g):
    form = g.choice(["qdq", "qdq", "qlinear"])
    x = matrix(g, "bytes" if form == "qlinear" or g.activation.itemsize == 2 else "any", (3, 4))
    k, n = x.shape[-1], g.choice([1, 2, 3, 5])
    y = g.input([*x.shape[:-2], k, n], g.choice([INT8, UINT8]))
    if x.dtype.itemsize == 2:
        raise Rejected("sums beyond int32")
    left, right = wide_of(x), wide_of(y)

    def emit():
        return g.node("MatMul", [g.dq(x), g.dq(y)])

    def quantised(scale, zero, dtype):
        inputs = [n for v in (x, y) for n in (v.name, g.const(v.scale), g.const(v.dtype.type(v.zero)))]
        return g.node("QLinearMatMul", [*inputs, g.const(scale), g.const(dtype.type(zero))])

    sums = lambda a, b: left(a) @ right(b)  # noqa: E731
    kind = "MatMul of two" if form == "qdq" else "QLinearMatMul of two"
    return finish_sums(g, kind, [x, y], sums, x.scale * y.scale, emit, x, quantised if form == "qlinear" else None)


@layer(4)
def gemm(g):
    x = matrix(g, rank=(2,))
    k, n = x.shape[1], g.choice([1, 2, 3, 5, 8, 10, 16])
    transposed = g.maybe()
    w = weights_of(g, (n, k) if transposed else (k, n), n, 0 if transposed else 1)
    centred, product = w.centred.T if transposed else w.centred, x.scale * w.scales
    bias = bias_of(g, n, room_of(x, k, centred), reach(x, k, centred) / 8)
    wide = wide_of(x)

    def sums(a):
        total = wide(a) @ centred
        return total if bias is None else total + bias.astype(np.int64)

    def emit():
        inputs = [g.dq(x), w.dequantised(g)] + ([w.bias(g, bias, product)] if bias is not None else [])
        return g.node("Gemm", inputs, {"transB": 1} if transposed else None)

    return finish_sums(g, "Gemm", [x], sums, product, emit, x)


def _one_zero(g, shape):
    """(weights, their one zero point)"""
    w = weights_of(g, shape, 1, 0)
    return w, int(w.zeros.max())


@layer(3)
def integer_operator(g):
    """ConvInteger, MatMulInteger: int32, and perhaps a requantisation of it."""
    if g.maybe():
        x, operator = image(g, "bytes"), "ConvInteger"
        c = x.shape[1]
        group = g.choice([1, 1, c])
        kernel = [g.choice([1, 2, 3]) for _ in x.shape[2:]]
        attributes, strides, dilations, pads = window(g, x.shape[2:], kernel, True)
        attributes["group"] = group
        w, zero = _one_zero(g, (group * g.choice([1, 2, 3]), c // group, *kernel))
        sums = lambda a: reference.conv(wide(a), w.centred, group, strides, dilations, pads)  # noqa: E731
    else:
        x, operator, attributes = matrix(g, "bytes"), "MatMulInteger", None
        w, zero = _one_zero(g, (x.shape[-1], g.choice([1, 2, 3, 5, 8])))
        sums = lambda a: wide(a) @ w.centred  # noqa: E731
    wide = wide_of(x)
    zeros = [g.const(x.dtype.type(x.zero)) if x.zero or g.maybe() else "", g.const(w.array.dtype.type(zero)) if zero else ""]
    name = g.node(operator, [x.name, g.const(w.array), *zeros], attributes)
    if g.maybe(0.3):
        return g.result(operator, name, lambda a: (sums(a).astype(np.int32), None), [x], None, 0, 0)
    scale = g.scale()
    emit = lambda: g.node("DequantizeLinear", [name, g.const(scale)])  # noqa: E731
    return finish_sums(g, operator + "+requantised", [x], sums, scale, emit, moved=True)


@layer(2)
def dynamic(g):
    """DynamicQuantizeLinear of a float, and a product with what it gives."""
    shape = [g.batch, g.choice([1, 2, 3]), g.choice([2, 3, 5, 8])]
    size = float(g.scale())
    x = g.outside(lambda draw, shape, kind: dynamic_input(draw, shape, kind, size), shape)
    y, scale, zero = g.node("DynamicQuantizeLinear", [x.name], outputs=3)
    made = g.result("DynamicQuantizeLinear", [y, scale, zero], lambda a: (reference.dynamic_quantise(a), None), [x], None, 0, 0)
    values = {v.name: v for v in g.values}
    w = g.weights((shape[-1], g.choice([1, 2, 3, 5])), g.choice([INT8, UINT8]))
    w_zero = g.zero(w.dtype)
    name = g.node("MatMulInteger", [y, g.const(w), zero, g.const(w.dtype.type(w_zero))])

    def function(a, z):
        return ((a.astype(np.int64) - int(z)) @ (w.astype(np.int64) - w_zero)).astype(np.int32), None

    g.result("MatMulInteger of a dynamic zero point", name, function, [made, values[zero]], None, 0, 0)
    return made


def dynamic_input(draw, shape, kind, size):
    if kind == "equal":
        return np.full(shape, draw.normal() * size, F32)
    array = draw.choice([-size, size], size=shape) if kind == "extreme" else draw.normal(size=shape) * size
    return array.astype(F32)
