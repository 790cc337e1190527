"""Layers that move, compare or average elements."""

from fractions import Fraction

import numpy as np

from quantised import reference
from quantised.builder import Rejected
from quantised.finish import finish_sums
from quantised.operands import image, layer, wide_of, window
from quantised.reference import F32


@layer(1)
def dequantise(g):
    """An output in float."""
    x = g.pick()
    if x is None:
        raise Rejected("nothing is quantised")
    name = g.node("DequantizeLinear", [x.name, g.const(x.scale), g.const(x.dtype.type(x.zero))])
    return g.result("DequantizeLinear", name, lambda a: (reference.dequantise(a, x.scale, x.zero), None), [x], None, 0, 0)


@layer(3)
def average_pool(g):
    x = image(g)
    wide = wide_of(x)
    if g.maybe(0.4):
        axes = tuple(range(2, x.rank))

        def sums(a):
            return wide(a).sum(axis=axes, keepdims=True), np.array(int(np.prod(a.shape[2:])))

        alone = all(n == 1 for n in x.shape[2:])  # an average of one element is that element
        return finish_sums(g, "GlobalAveragePool", [x], sums, x.scale, lambda: g.node("GlobalAveragePool", [g.dq(x)]), x, moved=alone)
    kernel = [g.choice([1, 2, 2, 3, 3, 4, 7]) for _ in x.shape[2:]]
    attributes, strides, _, pads = window(g, x.shape[2:], kernel, False)
    attributes.pop("dilations", None)
    attributes["count_include_pad"] = g.choice([0, 1])
    include = attributes["count_include_pad"]

    def windows(a):
        return reference.average_sums(wide(a), kernel, strides, pads, include)

    alone = all(k == 1 for k in kernel)

    def emit():
        return g.node("AveragePool", [g.dq(x)], attributes)

    return finish_sums(g, "AveragePool", [x], windows, x.scale, emit, x, moved=alone)


@layer(2)
def reduce_mean(g):
    x = g.pick(lambda v: v.rank >= 2) or image(g)
    free = list(range(1 if g.open else 0, x.rank))
    axes = sorted(g.rng.sample(free, g.rng.randint(1, len(free))))
    keep = 1 if g.open else g.choice([0, 1])
    wide = wide_of(x)

    def sums(a):
        return wide(a).sum(axis=tuple(axes), keepdims=bool(keep)), np.array(int(np.prod([a.shape[i] for i in axes])))

    def emit():
        if g.opset >= 18:
            return g.node("ReduceMean", [g.dq(x), g.const(np.array(axes, np.int64))], {"keepdims": keep})
        return g.node("ReduceMean", [g.dq(x)], {"axes": axes, "keepdims": keep})

    alone = all(x.array.shape[i] == 1 for i in axes)
    return finish_sums(g, "ReduceMean", [x], sums, x.scale, emit, x, moved=alone)


def _mover(g, x, kind, move, emit, plain=True):
    """A layer that moves elements: on the integers as they are, or between two conversions; with the same scale or another."""
    wide = wide_of(x)
    if plain and g.maybe(0.35):
        name = emit(x.name)
        return g.result(kind + " of integers", name, lambda a: (move(a), None), [x], x.scale, x.zero)
    if g.maybe(0.4):
        name = g.q(emit(g.dq(x)), x.scale, x.zero, x.dtype)
        return g.result(kind + " same scale", name, lambda a: (move(a), None), [x], x.scale, x.zero)
    return finish_sums(g, kind, [x], lambda a: wide(move(a)), x.scale, lambda: emit(g.dq(x)), x, moved=True)


@layer(3)
def max_pool(g):
    x = image(g)
    kernel = [g.choice([1, 2, 2, 3, 3]) for _ in x.shape[2:]]
    attributes, strides, dilations, pads = window(g, x.shape[2:], kernel, True)
    nothing = np.zeros((1, 1, *x.shape[2:]), np.int64)
    if reference.largest(nothing, kernel, strides, dilations, pads).min() < 0:
        raise Rejected("a window of nothing but padding has no largest element")

    def move(a):
        return reference.largest(a.astype(np.int64), kernel, strides, dilations, pads).astype(a.dtype)

    return _mover(g, x, "MaxPool", move, lambda n: g.node("MaxPool", [n], attributes), x.dtype.itemsize == 1)


@layer(4)
def movement(g):
    x = g.pick(lambda v: v.rank >= 2) or image(g)
    return g.choice([_transpose, _reshape, _flatten, _resize, _slice, _pad])(g, x)


def _transpose(g, x):
    order = list(range(1, x.rank))
    g.rng.shuffle(order)
    order = [0, *order]
    if not g.open and g.maybe(0.5):
        g.rng.shuffle(order)
    return _mover(g, x, "Transpose", lambda a: a.transpose(order), lambda n: g.node("Transpose", [n], {"perm": order}))


def _reshape(g, x):
    last = g.choice([d for d in range(1, 17) if int(np.prod(x.shape[1:])) % d == 0])
    shape = g.choice([[0, -1], [0, -1, last], [0, last, -1], [0, last, 1, -1]])

    def move(a):
        return a.reshape([a.shape[0] if d == 0 else d for d in shape])

    return _mover(g, x, "Reshape", move, lambda n: g.node("Reshape", [n, g.const(np.array(shape, np.int64))]))


def _flatten(g, x):
    return _mover(g, x, "Flatten", lambda a: a.reshape(a.shape[0], -1), lambda n: g.node("Flatten", [n]))


def _slice(g, x):
    axis = g.rng.randrange(1, x.rank)
    start = g.rng.randrange(x.shape[axis])
    end = g.rng.randint(start + 1, x.shape[axis])
    step = g.choice([1, 1, 2])
    constants = [np.array([v], np.int64) for v in (start, end, axis, step)]
    cut = tuple([slice(None)] * axis + [slice(start, end, step)])
    return _mover(g, x, "Slice", lambda a: a[cut], lambda n: g.node("Slice", [n, *map(g.const, constants)]))


def _pad(g, x):
    """With the real number 0, which the zero point stands for."""
    pads = [0] + [g.choice([0, 1, 2]) for _ in x.shape[1:]] + [0] + [g.choice([0, 1, 2]) for _ in x.shape[1:]]
    pairs = list(zip(pads[: x.rank], pads[x.rank :]))
    wide = wide_of(x)
    emit = lambda: g.node("Pad", [g.dq(x), g.const(np.array(pads, np.int64))])  # noqa: E731
    return finish_sums(g, "Pad", [x], lambda a: np.pad(wide(a), pairs), x.scale, emit, x, moved=True)


def _coordinate(kind, position, size, out, factor):
    if kind == "half_pixel":
        return (position + Fraction(1, 2)) / factor - Fraction(1, 2)
    if kind == "align_corners":
        return Fraction(position * (size - 1), out - 1) if out > 1 else Fraction(0)
    return Fraction(position) / factor


def _linear_weights(kind, size, factor):
    """[out, size] whole numbers, and what they are divided by."""
    out = size * factor
    weights = [[Fraction(0)] * size for _ in range(out)]
    for position in range(out):
        x = _coordinate(kind, position, size, out, factor)
        low = x.numerator // x.denominator
        for at, weight in ((low, 1 - (x - low)), (low + 1, x - low)):
            weights[position][min(max(at, 0), size - 1)] += weight
    parts = np.lcm.reduce([w.denominator for row in weights for w in row])
    return np.array([[int(w * int(parts)) for w in row] for row in weights], np.int64), int(parts)


def _linear_resize(g, x):
    """Weighted sums of integers: exact, and divided by the parts of the weights of all axes."""
    factors = [1, 1] + [g.choice([1, 2, 2, 3, 4]) for _ in x.shape[2:]]
    kind = g.choice(["half_pixel", "half_pixel", "align_corners", "asymmetric"])
    axes = [(axis, *_linear_weights(kind, n, f)) for axis, (n, f) in enumerate(zip(x.shape, factors)) if f > 1]
    parts = int(np.prod([p for _, _, p in axes], dtype=np.int64))
    if parts > 4096:
        raise Rejected("sums of more than 32 bits")
    wide = wide_of(x)

    def sums(a):
        total = wide(a)
        for axis, weights, _ in axes:
            total = np.moveaxis(np.tensordot(weights, total, (1, axis)), 0, axis)
        return total, None if parts == 1 else np.array(parts)

    attributes = {"mode": "linear", "coordinate_transformation_mode": kind}
    emit = lambda: g.node("Resize", [g.dq(x), "", g.const(np.array(factors, F32))], attributes)  # noqa: E731
    return finish_sums(g, "Resize (linear)", [x], sums, x.scale, emit, x, moved=parts == 1)


def _resize(g, x):
    if x.rank < 3:
        raise Rejected("no image")
    if x.rank <= 4 and not g.open and g.maybe(0.5):
        return _linear_resize(g, x)
    factors = [1, 1] + [g.choice([1, 2, 2, 3]) for _ in x.shape[2:]]
    attributes = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}

    def move(a):
        return a[np.ix_(*[np.arange(n * f) // f for n, f in zip(a.shape, factors)])]

    return _mover(g, x, "Resize", move, lambda n: g.node("Resize", [n, "", g.const(np.array(factors, F32))], attributes))
