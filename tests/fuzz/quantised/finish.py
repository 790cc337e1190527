"""How a layer ends: in a quantisation of a sum, with or without bounds before it, or in one of a float."""

import numpy as np

from quantised import reference
from quantised.builder import Rejected
from quantised.reference import F32, F64


def _normal(factor):
    return bool(np.all(np.isfinite(factor) & (factor > 1e-35) & (factor < 1e30)))


def _near_a_tie(g, real, scale, zero, dtype):
    """A scale near this one, for which one of the real values lies as near as can be to a half: there, each rounding on the way counts."""
    if g.powers or not g.maybe(0.8):
        return scale
    info = np.iinfo(dtype)
    quotients = np.abs(np.asarray(real, F64).reshape(-1)) / F64(scale)
    seen = np.asarray(real, F64).reshape(-1) / F64(scale) + zero
    found = quotients[(quotients > 0.6) & (seen > info.min) & (seen < info.max)]
    if found.size == 0:
        return scale
    quotient = float(g.draw.choice(found))
    tied = F32(float(scale) * quotient / (np.floor(quotient) + 0.5))
    for _ in range(g.choice([0, 0, 0, 1, 2])):
        tied = np.nextafter(tied, F32(g.choice([0, np.inf])), dtype=F32)
    return tied


def _bounds(g, spread):
    """(operator, low, high) of a Relu or Clip before the quantisation; None is no bound."""
    kind = g.choice(["", "", "", "Relu", "Relu", "Clip"])
    if kind == "":
        return None
    if kind == "Relu":
        return "Relu", F32(0), None
    low = F32(g.choice([0, 0, -1, -spread, -spread / 3, spread / 5]))
    high = F32(g.choice([6, 1, spread, spread / 2, 2 * spread]))
    low, high = min(low, high), max(low, high)
    return "Clip", None if g.maybe(0.2) else low, None if g.maybe(0.2) else high


def _bounded(g, name, bounds):
    """The name of the bounded tensor."""
    if bounds is None:
        return name
    operator, low, high = bounds
    inputs = [name]
    if operator == "Clip":
        inputs += [g.const(v) if v is not None else "" for v in (low, high)]
    return g.node(operator, inputs)


def _clamped(q, bounds, scale, zero):
    """The bounds of a real number, as bounds of what it is quantised to."""
    if bounds is None:
        return q
    _, low, high = bounds
    if low is not None:
        q = np.maximum(q, reference.quantise(low, scale, zero, q.dtype))
    if high is not None:
        q = np.minimum(q, reference.quantise(high, scale, zero, q.dtype))
    return q


def finish_sums(g, kind, inputs, sums, product, emit, like=None, quantised_operator=None, moved=False):
    """A layer that requantises sums.

    sums(*arrays) gives int64, or (int64, counts that divide); `product` is sx * sw in float32, of a shape that broadcasts to the sums.
    emit() makes the nodes of a float and gives its name; quantised_operator(scale, zero, dtype) makes one node that ends in integers.
    `like`: a value whose scale and zero point the result may have. `moved`: no sums, but elements of the inputs: the scales are applied in
    turn.
    """

    def parts(arrays):
        found = sums(*arrays)
        return found if isinstance(found, tuple) else (found, None)

    with np.errstate(all="ignore"):
        first, counts = parts([v.array for v in inputs])
        if first.size == 0:
            raise Rejected("empty")
        real = first * F64(product) / (1 if counts is None else counts)
    spread = float(np.abs(real).max()) or float(np.max(product))
    scale, zero, dtype = g.parameters(2 * spread, like.scale if like else None, like.zero if like else None)
    scale = _near_a_tie(g, real, scale, zero, dtype)
    if quantised_operator and dtype.itemsize == 2:
        raise Rejected("operators of this form have 8 bits")

    def factor(counts):
        return product / scale if counts is None else product / (counts.astype(F32) * scale)

    if not _normal(product) or not _normal(factor(counts)) or not _normal(scale):
        raise Rejected("factors out of float32")
    bounds = None if quantised_operator else _bounds(g, spread)
    if quantised_operator:
        name = quantised_operator(scale, zero, dtype)
    else:
        name = g.q(_bounded(g, emit(), bounds), scale, zero, dtype)

    def function(*arrays):
        total, counts = parts(arrays)
        if moved and np.abs(total).max(initial=0) < 2**31:
            return _clamped(reference.quantise(total.astype(F32) * product, scale, zero, dtype), bounds, scale, zero), None
        return _clamped(reference.requantise(total, factor(counts), zero, dtype), bounds, scale, zero), None

    suffix = "" if bounds is None else f"+{bounds[0]}"
    return g.result(kind + suffix, name, function, inputs, scale, zero)


def finish_float(g, kind, inputs, real, emit, exact, like=None, bounded=False, error=0):
    """A layer that dequantises, computes in float and quantises.

    real(*arrays of float32): float32, of which every rounding is pinned if `exact`; else the exact result in float64, of which float32 may
    be `error` off beside what is relative to it.
    """

    def floats(arrays):
        return [reference.dequantise(a, v.scale, v.zero) for a, v in zip(arrays, inputs)]

    with np.errstate(all="ignore"):
        first = real(*floats([v.array for v in inputs]))
    spread = float(np.abs(first).max()) or 1.0
    if not np.isfinite(first).all() or spread > 1e30 or spread < 1e-25:
        raise Rejected("out of float32")
    scale, zero, dtype = g.parameters(2 * spread, like.scale if like else None, like.zero if like else None)
    scale = _near_a_tie(g, first, scale, zero, dtype) if exact else scale
    if not _normal(scale) or not _normal(F32(spread) / scale):
        raise Rejected("factors out of float32")
    bounds = _bounds(g, spread) if bounded else None
    name = g.q(_bounded(g, emit(), bounds), scale, zero, dtype)

    def function(*arrays):
        result = real(*floats(arrays))
        q = reference.quantise(F32(result), scale, zero, dtype)
        doubt = None if exact else reference.doubtful(F64(result), scale, zero, dtype, error)
        return _clamped(q, bounds, scale, zero), doubt

    suffix = "" if bounds is None else f"+{bounds[0]}"
    return g.result(kind + suffix, name, function, inputs, scale, zero)
