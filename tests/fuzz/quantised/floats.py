"""Functions of floats between a dequantisation and a quantisation."""

import numpy as np

from quantised import reference
from quantised.builder import Rejected, Value
from quantised.finish import finish_float, finish_sums
from quantised.operands import image, layer, wide_of
from quantised.reference import F32, F64


def _span(integers):
    return int(integers.min()), int(integers.max())


def _ends(value):
    """The least and the largest integer of the value's type, without the zero point."""
    info = np.iinfo(value.dtype)
    return np.array([info.min, info.max], np.int64) - value.zero


def _other(g, x):
    """The second operand: another value, or a constant that is not in the graph yet."""
    y = g.pick(lambda v: v.shape == x.shape and v.name != x.name, 0.8) if g.maybe(0.8) else None
    if y is not None:
        return y, False
    if g.maybe(0.4):
        array = g.weights([1] + [d if g.maybe(0.7) else 1 for d in x.shape[1:]], g.dtype())
        return Value("", array, F32(float(x.scale) * g.choice([1, 0.5, 0.1, 2, 3])), g.zero(array.dtype)), True
    y = g.input([x.shape[0], *[d if g.maybe(0.8) else 1 for d in x.shape[1:]]])
    if g.maybe(0.5) and y.name in {v.name for v in g.inputs}:  # the same scale, or nearly
        y.scale = F32(x.scale * F32(g.choice([1, 1, 1 + 2e-6])))
    return y, False


@layer(6)
def binary(g):
    x = g.pick(lambda v: v.rank >= 1) or image(g)
    kind = g.choice(["Add", "Add", "Add", "Mul", "Sub"])
    y, constant = _other(g, x)
    inputs = [x] if constant else [x, y]

    def emit():
        return g.node(kind, [g.dq(x), g.dq_const(y.array, y.scale, y.zero) if constant else g.dq(y)])

    if kind == "Mul":
        return _product(g, x, y, constant, emit)

    def sum_of(p, q):
        return p - q if kind == "Sub" else p + q

    def real(a, b=None):
        return sum_of(a, reference.dequantise(y.array, y.scale, y.zero) if b is None else b)

    near = abs(float(y.scale) / float(x.scale) - 1)
    suffix = " of a constant" if constant else " of one scale" if near == 0 else " of nearly one scale" if near < 1e-4 else ""
    return finish_float(g, kind + suffix, inputs, real, emit, exact=True, like=x, bounded=True)


def _product(g, x, y, constant, emit):
    """Mul: a sum of one product, as of a convolution by one weight, if the products fit int32; else the product of two floats."""
    inputs, kind = ([x], "Mul of a constant") if constant else ([x, y], "Mul")
    left, right = wide_of(x), wide_of(y)
    spans = _span(_ends(x)), _span(right(y.array) if constant else _ends(y))
    if all(-(2**31) <= p * q < 2**31 for p in spans[0] for q in spans[1]):
        sums = lambda a, b=None: left(a) * right(y.array if b is None else b)  # noqa: E731
        return finish_sums(g, kind, inputs, sums, x.scale * y.scale, emit, x)

    def real(a, b=None):
        return a * (reference.dequantise(y.array, y.scale, y.zero) if b is None else b)

    return finish_float(g, kind, inputs, real, emit, exact=True, like=x, bounded=True)


@layer(2)
def concat(g):
    x = g.pick(lambda v: v.rank >= 2) or image(g)
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


def _softmax(axis):
    def of(x):
        e = np.exp(x - x.max(axis=axis, keepdims=True))
        return e / e.sum(axis=axis, keepdims=True)

    return of


# Functions whose float32 ONNX does not pin down: (operator, least opset, attributes drawn from, exact function in float64).
INEXACT = (
    ("Sigmoid", 13, {}, lambda x: 1 / (1 + np.exp(-x))),
    ("Tanh", 13, {}, np.tanh),
    ("HardSwish", 14, {}, lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    (
        "HardSigmoid",
        13,
        {"alpha": [0.2, 0.25, 0.5], "beta": [0.5, 0.25]},
        lambda x, alpha, beta: np.clip(F64(F32(alpha)) * x + F64(F32(beta)), 0, 1),
    ),
    ("Softmax", 13, {"axis": [-1, -1, -1, 1]}, lambda x, axis: _softmax(axis)(x)),
)


@layer(3)
def inexact_function(g):
    x = g.pick(lambda v: v.rank >= 2) or image(g)
    if not 1e-5 < x.scale * (np.iinfo(x.dtype).max - np.iinfo(x.dtype).min) < 1e3:
        raise Rejected("nothing happens there")
    kind, opset, choices, function = g.choice(INEXACT)
    if g.opset < opset:
        raise Rejected("not yet defined")
    attributes = {name: g.choice(values) for name, values in choices.items()}
    real = lambda a: function(F64(a), **attributes)  # noqa: E731
    return finish_float(g, kind, [x], real, lambda: g.node(kind, [g.dq(x)], attributes), exact=False)


@layer(3)
def normalised(g):
    """Layer and instance normalisation."""
    x = g.pick(lambda v: v.rank >= 2) or image(g)
    kind = g.choice(["LayerNormalization", "LayerNormalization", "InstanceNormalization"])
    if (kind == "LayerNormalization" and g.opset < 17) or (kind == "InstanceNormalization" and x.rank < 3):
        raise Rejected("not defined")
    first = 2 if kind == "InstanceNormalization" else x.rank - g.rng.randint(1, x.rank - 1)
    axes = tuple(range(first, x.rank))
    shape = [x.shape[1]] if first == 2 and kind == "InstanceNormalization" else x.shape[first:]
    scale, bias = ((g.draw.normal(size=shape) * size).astype(F32) for size in (1, g.choice([0, 0.5, 3])))
    epsilon = F32(g.choice([1e-5, 1e-5, 1e-3, 1]))
    attributes = {"epsilon": float(epsilon)} | ({"axis": first} if kind == "LayerNormalization" else {})
    # As they are added to all elements of x.
    seen = [v.astype(F64).reshape([1, -1] + [1] * (x.rank - 2)) if len(v.shape) == 1 and kind != "LayerNormalization" else F64(v)
            for v in (scale, bias)]

    def real(a):
        distance = F64(a) - F64(a).mean(axis=axes, keepdims=True)
        return distance / np.sqrt(np.square(distance).mean(axis=axes, keepdims=True) + F64(epsilon)) * seen[0] + seen[1]

    if not 1e-5 < x.scale * (np.iinfo(x.dtype).max - np.iinfo(x.dtype).min) < 1e3:
        raise Rejected("nothing happens there")
    count = np.prod([x.shape[a] for a in axes])
    error = 1e-6 * (np.sqrt(count) * np.abs(scale).max() + np.abs(bias).max())
    emit = lambda: g.node(kind, [g.dq(x), g.const(scale), g.const(bias)], attributes)  # noqa: E731
    return finish_float(g, kind, [x], real, emit, exact=False, error=error, bounded=True)


@layer(3)
def bounded(g):
    """A requantisation, mostly with a Relu or Clip."""
    x = g.pick() or image(g)
    emit = lambda: g.node("Identity", [g.dq(x)]) if g.maybe(0.2) else g.dq(x)  # noqa: E731
    return finish_sums(g, "requantised", [x], wide_of(x), x.scale, emit, x, moved=True)


@layer(2)
def slopes(g):
    """LeakyRelu, PRelu: one product that is rounded."""
    x = g.pick(lambda v: v.rank >= 1) or image(g)
    if g.maybe():
        kind, inputs, attributes = "LeakyRelu", [], {"alpha": g.choice([0.01, 0.1, 0.25, 1.5])}
        slope = F32(attributes["alpha"])
    else:
        slope = g.draw.normal(size=[x.shape[1] if x.rank > 1 else 1] + [1] * max(x.rank - 2, 0)).astype(F32)
        kind, inputs, attributes = "PRelu", [g.const(slope)], None
    real = lambda a: np.where(a < 0, a * slope, a)  # noqa: E731
    return finish_float(g, kind, [x], real, lambda: g.node(kind, [g.dq(x), *inputs], attributes), exact=True)
