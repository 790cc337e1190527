"""The layers: each draws its attributes, makes its ONNX nodes and says what they give."""

import numpy as np

from quantised import reference
from quantised.builder import HOWS, INT8, UINT8, Rejected, Value
from quantised.finish import finish_float, finish_sums
from quantised.reference import F32, F64

LAYERS = []  # (weight, function of a Graph)


def layer(weight):
    def register(function):
        LAYERS.append((weight, function))
        return function

    return register


def _wide(value):
    """The function from an array of `value` to its integers without the zero point."""
    return lambda array, zero=value.zero: array.astype(np.int64) - zero


def _image(g, form="any", least=1):
    """[N, C, L] or [N, C, H, W]"""
    found = g.pick(lambda v: v.rank in (3, 4) and min(v.shape[2:]) >= least and (form == "any" or v.dtype.itemsize == 1))
    if found:
        return found
    spatial = [g.choice([1, 2, 3, 4, 5, 7, 8, 9, 11]) for _ in range(g.choice([1, 2, 2, 2]))]
    dtype = g.choice([INT8, UINT8]) if form != "any" and g.activation.itemsize == 2 else None
    return g.input([g.batch, g.choice([1, 2, 3, 4, 5, 8, 16]), *[max(s, least) for s in spatial]], dtype)


def _window(g, sizes, kernel, dilated, whole_pads=True):
    rank = len(sizes)
    strides = [g.choice([1, 2, 2, 3]) for _ in range(rank)] if g.maybe(0.4) else [1] * rank
    dilations = [g.choice([1, 2, 3]) for _ in range(rank)] if dilated and g.maybe(0.25) else [1] * rank
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    pads = [0] * 2 * rank
    if g.maybe(0.65):
        pads = [g.rng.randint(0, min(s - 1, 3)) if g.maybe(0.8) else 0 for s in spans * 2]
    if any(n + pads[a] + pads[a + rank] < s for a, (n, s) in enumerate(zip(sizes, spans))):
        raise Rejected("the window is larger than the padded input")
    attributes = {"kernel_shape": kernel}
    for name, values, default in (("strides", strides, 1), ("dilations", dilations, 1), ("pads", pads, 0)):
        if any(v != default for v in values) or (g.maybe(0.3) and (name != "dilations" or dilated)):
            attributes[name] = values
    return attributes, strides, dilations, pads


def _weights(g, shape, channels, axis, eight_bits=True):
    """(array, its zero points, scales, is per channel) of constant weights."""
    dtype = g.choice([INT8, INT8, INT8, UINT8])
    array = np.array(g.weights(shape, dtype))
    per_channel = g.maybe(0.45)
    count = channels if per_channel else 1
    middle = 0 if dtype == INT8 else 128
    zeros = [middle if g.maybe(0.7) else g.zero(dtype) for _ in range(count)]
    if dtype == INT8 and g.maybe(0.7):
        zeros = [0] * count
    base = float(g.scale())
    scales = [F32(base * (2.0 ** g.rng.randint(-2, 2) if g.powers else 10 ** g.rng.uniform(-1, 1))) for _ in range(count)]
    if per_channel and g.maybe(0.3):  # channels without weights
        index = [slice(None)] * len(shape)
        for c in range(channels):
            if g.maybe(0.4):
                index[axis] = c
                array[tuple(index)] = zeros[c]
    if per_channel:
        return array, np.array(zeros), np.array(scales, F32), True
    return array, np.array(zeros[0]), F32(scales[0]), False


def _bias(g, channels, room, product, spread):
    """int32: small, or as large as sums still fit; None for none."""
    if g.maybe(0.35):
        return None
    kind = g.rng.random()
    if kind < 0.7:
        return np.round(g.draw.normal(size=channels) * max(spread, 1)).clip(-room, room).astype(np.int32)
    if kind < 0.85:
        return g.draw.choice([-room, room, 0, room - 1], size=channels).astype(np.int32)
    return np.full(channels, g.rng.randint(-room, room), np.int32)


def _reach(x, terms, weights):
    """The largest sum of this many products."""
    info = np.iinfo(x.dtype)
    most = max(abs(int(info.min) - x.zero), abs(int(info.max) - x.zero))
    return terms * most * int(np.abs(weights).max(initial=0))


def _room(x, terms, weights):
    room = 2**31 - 1 - _reach(x, terms, weights)
    if room < 1:
        raise Rejected("sums beyond int32")
    return room


@layer(10)
def conv(g):
    form = g.choice(["qdq", "qdq", "qlinear"])
    x = _image(g, "any" if form == "qdq" else "bytes")
    c, spatial = x.shape[1], x.shape[2:]
    group = g.choice([1, 1, 1, c, c] + [d for d in range(1, c + 1) if c % d == 0])
    m = group * g.choice([1, 1, 2, 3, 4] if group > 1 else [1, 2, 3, 4, 5, 8, 16])
    kernel = [g.choice([1, 1, 2, 3, 3, 5]) for _ in spatial]
    attributes, strides, dilations, pads = _window(g, spatial, kernel, True)
    if group > 1 or g.maybe(0.3):
        attributes["group"] = group
    w, zeros, scales, per_channel = _weights(g, (m, c // group, *kernel), m, 0)
    centred = w.astype(np.int64) - zeros.reshape(-1, *[1] * (w.ndim - 1))
    room = _room(x, w[0].size, centred)
    product = x.scale * scales
    bias = _bias(g, m, room, product, _reach(x, w[0].size, centred) / 8)
    column = (-1, *[1] * len(spatial))
    wide = _wide(x)

    def sums(a):
        total = reference.conv(wide(a), centred, group, strides, dilations, pads)
        return total if bias is None else total + bias.astype(np.int64).reshape(column)

    def emit():
        inputs = [g.dq(x), g.dq_const(w, scales, zeros, 0 if per_channel else None)]
        if bias is not None:
            inputs.append(g.dq_const(bias, product, np.zeros_like(zeros), 0 if per_channel else None))
        return g.node("Conv", inputs, attributes)

    def quantised(scale, zero, dtype):
        inputs = [x.name, g.const(x.scale), g.const(x.dtype.type(x.zero)), g.const(w), g.const(scales), g.const(zeros.astype(w.dtype)),
                  g.const(scale), g.const(dtype.type(zero))]  # fmt: skip
        return g.node("QLinearConv", inputs + ([g.const(bias)] if bias is not None else []), attributes)

    shaped = product.reshape(column) if per_channel else product
    kind = ("QLinearConv" if form == "qlinear" else "Conv") + ("" if group == 1 else " depthwise" if group == c else " grouped")
    return finish_sums(g, kind, [x], sums, shaped, emit, x, quantised if form == "qlinear" else None)


def _matrix(g, form="any", rank=None):
    """[..., K]"""
    found = g.pick(lambda v: v.rank in (rank or (2, 3, 4)) and v.shape[-1] <= 64 and (form == "any" or v.dtype.itemsize == 1))
    if found:
        return found
    ranks = rank or (2, 2, 3, 4)
    shape = [g.batch, *[g.choice([1, 2, 3, 5, 7]) for _ in range(g.choice(ranks) - 2)], g.choice([1, 2, 3, 5, 8, 13, 16, 32, 40])]
    dtype = g.choice([INT8, UINT8]) if form != "any" and g.activation.itemsize == 2 else None
    return g.input(shape, dtype)


@layer(8)
def matmul(g):
    form = g.choice(["qdq", "qdq", "add", "qlinear"])
    x = _matrix(g, "bytes" if form == "qlinear" else "any")
    k, n = x.shape[-1], g.choice([1, 2, 3, 5, 8, 10, 16])
    w, zeros, scales, per_channel = _weights(g, (k, n), n, 1)
    centred = w.astype(np.int64) - zeros
    room = _room(x, k, centred)
    product = x.scale * scales
    bias = _bias(g, n, room, product, _reach(x, k, centred) / 8) if form == "add" else None
    wide = _wide(x)

    def sums(a):
        total = wide(a) @ centred
        return total if bias is None else total + bias.astype(np.int64)

    def emit():
        name = g.node("MatMul", [g.dq(x), g.dq_const(w, scales, zeros, 1 if per_channel else None)])
        if bias is None:
            return name
        addend = g.dq_const(bias, product, np.zeros_like(zeros), 0 if per_channel else None)
        return g.node("Add", [name, addend] if g.maybe() else [addend, name])

    def quantised(scale, zero, dtype):
        inputs = [x.name, g.const(x.scale), g.const(x.dtype.type(x.zero)), g.const(w), g.const(scales), g.const(zeros.astype(w.dtype)),
                  g.const(scale), g.const(dtype.type(zero))]  # fmt: skip
        return g.node("QLinearMatMul", inputs)

    kind = "QLinearMatMul" if form == "qlinear" else "MatMul" if bias is None else "MatMul+bias"
    return finish_sums(g, kind, [x], sums, product, emit, x, quantised if form == "qlinear" else None)


@layer(3)
def matmul_of_activations(g):
    form = g.choice(["qdq", "qdq", "qlinear"])
    x = _matrix(g, "bytes" if form == "qlinear" or g.activation.itemsize == 2 else "any", (3, 4))
    k, n = x.shape[-1], g.choice([1, 2, 3, 5])
    y = g.input([*x.shape[:-2], k, n], g.choice([INT8, UINT8]))
    if y.dtype.itemsize == 2 or x.dtype.itemsize == 2:
        raise Rejected("sums beyond int32")
    left, right = _wide(x), _wide(y)

    def emit():
        return g.node("MatMul", [g.dq(x), g.dq(y)])

    def quantised(scale, zero, dtype):
        inputs = [n for v in (x, y) for n in (v.name, g.const(v.scale), g.const(v.dtype.type(v.zero)))]
        return g.node("QLinearMatMul", [*inputs, g.const(scale), g.const(dtype.type(zero))])

    kind = "MatMul of two" if form == "qdq" else "QLinearMatMul of two"
    return finish_sums(g, kind, [x, y], lambda a, b: left(a) @ right(b), x.scale * y.scale, emit, x, quantised if form == "qlinear" else None)


@layer(4)
def gemm(g):
    x = _matrix(g, rank=(2,))
    k, n = x.shape[1], g.choice([1, 2, 3, 5, 8, 10, 16])
    transposed = g.maybe()
    w, zeros, scales, per_channel = _weights(g, (n, k) if transposed else (k, n), n, 0 if transposed else 1)
    centred = w.astype(np.int64) - (zeros.reshape(-1, 1) if transposed else zeros)
    centred = centred.T if transposed else centred
    product = x.scale * scales
    bias = _bias(g, n, _room(x, k, centred), product, _reach(x, k, centred) / 8)
    wide = _wide(x)

    def sums(a):
        total = wide(a) @ centred
        return total if bias is None else total + bias.astype(np.int64)

    def emit():
        inputs = [g.dq(x), g.dq_const(w, scales, zeros, (0 if transposed else 1) if per_channel else None)]
        if bias is not None:
            inputs.append(g.dq_const(bias, product, np.zeros_like(zeros), 0 if per_channel else None))
        return g.node("Gemm", inputs, {"transB": 1} if transposed else None)

    return finish_sums(g, "Gemm", [x], sums, product, emit, x)


@layer(3)
def integer_operator(g):
    """ConvInteger, MatMulInteger: int32, and perhaps a requantisation of it."""
    if g.maybe():
        x = _image(g, "bytes")
        c = x.shape[1]
        group = g.choice([1, 1, c])
        kernel = [g.choice([1, 2, 3]) for _ in x.shape[2:]]
        attributes, strides, dilations, pads = _window(g, x.shape[2:], kernel, True)
        attributes["group"] = group
        w, zeros, _, per_channel = _weights(g, (group * g.choice([1, 2, 3]), c // group, *kernel), 1, 0)
        centred = w.astype(np.int64) - zeros
        operator, sums = "ConvInteger", lambda a: reference.conv(_wide(x)(a), centred, group, strides, dilations, pads)
    else:
        x = _matrix(g, "bytes")
        attributes = None
        w, zeros, _, per_channel = _weights(g, (x.shape[-1], g.choice([1, 2, 3, 5, 8])), 1, 1)
        centred = w.astype(np.int64) - zeros
        operator, sums = "MatMulInteger", lambda a: _wide(x)(a) @ centred
    zero = int(np.max(zeros))
    names = [x.name, g.const(w), g.const(x.dtype.type(x.zero)) if x.zero or g.maybe() else "", g.const(w.dtype.type(zero)) if zero else ""]
    name = g.node(operator, names, attributes)
    if g.maybe(0.3):
        return g.result(operator, name, lambda how, a: (sums(a).astype(np.int32), None), [x], None, 0, 0)
    scale = g.scale()
    emit = lambda: g.node("DequantizeLinear", [name, g.const(scale)])  # noqa: E731
    return finish_sums(g, operator + "+requantised", [x], sums, scale, emit)


@layer(2)
def dynamic(g):
    """DynamicQuantizeLinear of a float, and a product with what it gives."""
    shape = [g.batch, g.choice([1, 2, 3]), g.choice([2, 3, 5, 8])]
    size = float(g.scale())
    x = g.outside(lambda draw, shape, kind: dynamic_input(draw, shape, kind, size), shape)
    y, scale, zero = g.node("DynamicQuantizeLinear", [x.name], outputs=3)
    made = g.result("DynamicQuantizeLinear", [y, scale, zero], lambda how, a: (reference.dynamic_quantise(a), None), [x], None, 0, 0)
    values = {v.name: v for v in g.values}
    w = g.weights((shape[-1], g.choice([1, 2, 3, 5])), g.choice([INT8, UINT8]))
    w_zero = g.zero(w.dtype)
    name = g.node("MatMulInteger", [y, g.const(w), zero, g.const(w.dtype.type(w_zero))])

    def function(how, a, z):
        return ((a.astype(np.int64) - int(z)) @ (w.astype(np.int64) - w_zero)).astype(np.int32), None

    g.result("MatMulInteger of a dynamic zero point", name, function, [made, values[zero]], None, 0, 0)
    return made


def dynamic_input(draw, shape, kind, size):
    if kind == "equal":
        return np.full(shape, draw.normal() * size, F32)
    array = draw.choice([-size, size], size=shape) if kind == "extreme" else draw.normal(size=shape) * size
    return array.astype(F32)


@layer(1)
def dequantise(g):
    """An output in float."""
    x = g.pick()
    if x is None:
        raise Rejected("nothing is quantised")
    name = g.node("DequantizeLinear", [x.name, g.const(x.scale), g.const(x.dtype.type(x.zero))])
    return g.result("DequantizeLinear", name, lambda how, a: (reference.dequantise(a, x.scale, x.zero), None), [x], None, 0, 0)


@layer(3)
def average_pool(g):
    x = _image(g)
    wide = _wide(x)
    if g.maybe(0.4):
        axes = tuple(range(2, x.rank))

        def sums(a):
            return wide(a).sum(axis=axes, keepdims=True), np.array(int(np.prod(a.shape[2:])))

        return finish_sums(g, "GlobalAveragePool", [x], sums, x.scale, lambda: g.node("GlobalAveragePool", [g.dq(x)]), x)
    kernel = [g.choice([1, 2, 2, 3, 3, 4, 7]) for _ in x.shape[2:]]
    attributes, strides, _, pads = _window(g, x.shape[2:], kernel, False)
    attributes.pop("dilations", None)
    attributes["count_include_pad"] = g.choice([0, 1])
    include = attributes["count_include_pad"]

    def windows(a):
        return reference.average_sums(wide(a), kernel, strides, pads, include)

    return finish_sums(g, "AveragePool", [x], windows, x.scale, lambda: g.node("AveragePool", [g.dq(x)], attributes), x)


@layer(2)
def reduce_mean(g):
    x = g.pick(lambda v: v.rank >= 2) or _image(g)
    free = list(range(1 if g.open else 0, x.rank))
    axes = sorted(g.rng.sample(free, g.rng.randint(1, len(free))))
    keep = 1 if g.open else g.choice([0, 1])
    wide = _wide(x)

    def sums(a):
        return wide(a).sum(axis=tuple(axes), keepdims=bool(keep)), np.array(int(np.prod([a.shape[i] for i in axes])))

    def emit():
        if g.opset >= 18:
            return g.node("ReduceMean", [g.dq(x), g.const(np.array(axes, np.int64))], {"keepdims": keep})
        return g.node("ReduceMean", [g.dq(x)], {"axes": axes, "keepdims": keep})

    return finish_sums(g, "ReduceMean", [x], sums, x.scale, emit, x)


def _mover(g, x, kind, move, emit, plain=True):
    """A layer that moves elements: on the integers as they are, or between two conversions; with the same scale or another."""
    wide = _wide(x)
    if plain and g.maybe(0.35):
        name = emit(x.name)
        return g.result(kind + " of integers", name, lambda how, a: (move(a), None), [x], x.scale, x.zero)
    if g.maybe(0.4):
        name = g.q(emit(g.dq(x)), x.scale, x.zero, x.dtype)
        return g.result(kind + " same scale", name, lambda how, a: (move(a), None), [x], x.scale, x.zero)
    return finish_sums(g, kind, [x], lambda a: wide(move(a)), x.scale, lambda: emit(g.dq(x)), x)


@layer(3)
def max_pool(g):
    x = _image(g)
    kernel = [g.choice([1, 2, 2, 3, 3]) for _ in x.shape[2:]]
    attributes, strides, dilations, pads = _window(g, x.shape[2:], kernel, True)

    def move(a):
        return reference.largest(a.astype(np.int64), kernel, strides, dilations, pads).astype(a.dtype)

    return _mover(g, x, "MaxPool", move, lambda n: g.node("MaxPool", [n], attributes), x.dtype.itemsize == 1)


@layer(4)
def movement(g):
    x = g.pick(lambda v: v.rank >= 2) or _image(g)
    kind = g.choice(["Transpose", "Reshape", "Flatten", "Resize", "Slice", "Pad"])
    if kind == "Transpose":
        order = list(range(1, x.rank))
        g.rng.shuffle(order)
        order = [0, *order]
        if not g.open and g.maybe(0.5):
            g.rng.shuffle(order)
        return _mover(g, x, kind, lambda a: a.transpose(order), lambda n: g.node("Transpose", [n], {"perm": order}))
    if kind == "Reshape":
        last = g.choice([d for d in range(1, 17) if int(np.prod(x.shape[1:])) % d == 0])
        shape = g.choice([[0, -1], [0, -1, last], [0, last, -1], [0, last, 1, -1]])
        shape_of = lambda a: [a.shape[0] if d == 0 else d for d in shape]  # noqa: E731
        return _mover(g, x, kind, lambda a: a.reshape(shape_of(a)), lambda n: g.node("Reshape", [n, g.const(np.array(shape, np.int64))]))
    if kind == "Flatten":
        return _mover(g, x, kind, lambda a: a.reshape(a.shape[0], -1), lambda n: g.node("Flatten", [n]))
    if kind == "Slice":
        axis = g.rng.randrange(1, x.rank)
        start = g.rng.randrange(x.shape[axis])
        end = g.rng.randint(start + 1, x.shape[axis])
        step = g.choice([1, 1, 2])
        constants = [np.array([v], np.int64) for v in (start, end, axis, step)]
        cut = tuple([slice(None)] * axis + [slice(start, end, step)])
        return _mover(g, x, kind, lambda a: a[cut], lambda n: g.node("Slice", [n, *map(g.const, constants)]))
    if kind == "Pad":
        pads = [0] + [g.choice([0, 1, 2]) for _ in x.shape[1:]] + [0] + [g.choice([0, 1, 2]) for _ in x.shape[1:]]
        pairs = list(zip(pads[: x.rank], pads[x.rank :]))
        wide = _wide(x)
        emit = lambda: g.node("Pad", [g.dq(x), g.const(np.array(pads, np.int64))])  # noqa: E731
        return finish_sums(g, "Pad", [x], lambda a: np.pad(wide(a), pairs), x.scale, emit, x)
    if x.rank < 3:
        raise Rejected("no image")
    factors = [1, 1] + [g.choice([1, 2, 2, 3]) for _ in x.shape[2:]]
    index = lambda a: np.ix_(*[np.arange(n * f) // f for n, f in zip(a.shape, factors)])  # noqa: E731
    attributes = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    emit_resize = lambda n: g.node("Resize", [n, "", g.const(np.array(factors, F32))], attributes)  # noqa: E731
    return _mover(g, x, kind, lambda a: a[index(a)], emit_resize)


def _span(dtype, zero):
    """Least and largest of q - zero."""
    return int(np.iinfo(dtype).min) - zero, int(np.iinfo(dtype).max) - zero


@layer(6)
def binary(g):
    x = g.pick(lambda v: v.rank >= 1) or _image(g)
    kind = g.choice(["Add", "Add", "Add", "Mul", "Sub"])
    y = g.pick(lambda v: v.shape == x.shape and v.name != x.name, 0.8) if g.maybe(0.8) else None
    constant = y is None and g.maybe(0.4)
    if constant:
        shape = [1] + [d if g.maybe(0.7) else 1 for d in x.shape[1:]]
        dtype = g.dtype()
        array, scale, zero = g.weights(shape, dtype), F32(float(x.scale) * g.choice([1, 0.5, 0.1, 2, 3])), g.zero(dtype)
        other = reference.dequantise(array, scale, zero)
        name = lambda: g.dq_const(array, scale, zero)  # noqa: E731
        inputs = [x]
    else:
        if y is None:
            y = g.input([x.shape[0], *[d if g.maybe(0.8) else 1 for d in x.shape[1:]]])
            if g.maybe(0.3) and y.name in {v.name for v in g.inputs}:  # the same scale, or nearly
                y.scale = F32(x.scale * F32(g.choice([1, 1, 1 + 2e-6])))
        inputs = [x, y]
        array, scale, zero, name = None, y.scale, y.zero, lambda: g.dq(y)
    left = _wide(x)

    def real(a, b=None):
        b = other if constant else b
        if kind == "Mul":
            return a * b
        b = -b if kind == "Sub" else b
        return a + b

    def contracted(how, a, b=None):
        """The sum where one of the two products is not rounded."""
        b = array if constant else b
        p = F64(x.scale) * left(a)
        q = F64(scale) * (b.astype(np.int64) - zero) * (-1 if kind == "Sub" else 1)
        return (p + F32(q) if how == HOWS[1] else F32(p) + q).astype(F32)

    def emit():
        names = [g.dq(x), name()]
        return g.node(kind, names)

    if kind == "Mul":
        reach = [_span(v.dtype, v.zero) for v in inputs]
        if constant:
            centred = array.astype(np.int64) - zero
            reach.append((int(centred.min()), int(centred.max())))
        if all(-(2**31) <= p * q < 2**31 for p in reach[0] for q in reach[1]):
            # A sum of one product: what a convolution by one weight gives, to the bit.
            sums = lambda a, b=None: left(a) * ((array if b is None else b).astype(np.int64) - zero)  # noqa: E731
            return finish_sums(g, "Mul" + (" of a constant" if constant else ""), inputs, sums, x.scale * scale, emit, x)
    near = abs(float(scale) / float(x.scale) - 1)
    suffix = " of a constant" if constant else " of one scale" if near == 0 else " of nearly one scale" if near < 1e-4 else ""
    return finish_float(
        g,
        kind + suffix,
        inputs,
        real,
        emit,
        exact=True,
        like=x,
        bounded=True,
        contracted=None if kind == "Mul" else contracted,
    )


@layer(2)
def concat(g):
    x = g.pick(lambda v: v.rank >= 2) or _image(g)
    axis = g.rng.randrange(1, x.rank)
    suits = lambda v: v.rank == x.rank and all(a == b for i, (a, b) in enumerate(zip(v.shape, x.shape)) if i != axis)  # noqa: E731
    others = [g.pick(lambda v: suits(v) and v.name != x.name, 0.7) for _ in range(g.choice([1, 1, 2]))]
    shape = list(x.shape)
    shape[axis] = g.choice([1, 2, 3])
    inputs = [x] + [v or g.input(shape) for v in others]
    g.rng.shuffle(inputs)

    def real(*floats):
        return np.concatenate(floats, axis)

    return finish_float(g, "Concat", inputs, real, lambda: g.node("Concat", [g.dq(v) for v in inputs], {"axis": axis}), True, x)


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _softmax(axis):
    def of(x):
        e = np.exp(x - x.max(axis=axis, keepdims=True))
        return e / e.sum(axis=axis, keepdims=True)

    return of


@layer(5)
def function_of_one(g):
    kind = g.choice(["Relu", "Clip", "Sigmoid", "Tanh", "HardSwish", "HardSigmoid", "LeakyRelu", "PRelu", "Softmax"])
    x = g.pick() or _image(g)
    if kind in ("Relu", "Clip"):
        wide = _wide(x)
        return finish_sums(g, "requantised", [x], wide, x.scale, lambda: g.node("Identity", [g.dq(x)]) if g.maybe(0.2) else g.dq(x), x)
    attributes, inputs, exact = {}, [], False
    if kind in ("Sigmoid", "Tanh", "Softmax", "HardSwish", "HardSigmoid") and not 1e-5 < x.scale * (np.iinfo(x.dtype).max - np.iinfo(x.dtype).min) < 1e3:
        raise Rejected("nothing happens there")
    if kind == "Sigmoid":
        real = lambda a: _sigmoid(F64(a))  # noqa: E731
    elif kind == "Tanh":
        real = lambda a: np.tanh(F64(a))  # noqa: E731
    elif kind == "HardSwish":
        if g.opset < 14:
            raise Rejected("since opset 14")
        real = lambda a: F64(a) * np.clip(F64(a) / 6 + 0.5, 0, 1)  # noqa: E731
    elif kind == "HardSigmoid":
        attributes = {"alpha": g.choice([0.2, 0.25, 0.5]), "beta": g.choice([0.5, 0.25])}
        real = lambda a: np.clip(F64(F32(attributes["alpha"])) * F64(a) + attributes["beta"], 0, 1)  # noqa: E731
    elif kind == "Softmax":
        attributes = {"axis": -1 if g.maybe(0.8) or x.rank < 2 else g.rng.randrange(1, x.rank)}
        real = lambda a: _softmax(attributes["axis"])(F64(a))  # noqa: E731
    else:
        exact = True
        if kind == "LeakyRelu":
            attributes = {"alpha": g.choice([0.01, 0.1, 0.25, 1.5])}
            slope = F32(attributes["alpha"])
        else:
            slope = g.draw.normal(size=[x.shape[1] if x.rank > 1 else 1] + [1] * max(x.rank - 2, 0)).astype(F32)
            inputs = [g.const(slope)]
        real = lambda a: np.where(a < 0, a * slope, a)  # noqa: E731
    emit = lambda: g.node(kind, [g.dq(x), *inputs], attributes)  # noqa: E731
    return finish_float(g, kind, [x], real, emit, exact)
