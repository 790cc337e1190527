"""Whether outputs are those of the oracle, as far as the graph's own rounding leaves them defined."""

import numpy as np

from graphs import oracle
from graphs.values import BF16, EPSILON, F16, F32, F64, is_float

# (relative, relative to the largest value): a handful of roundings of the narrowest type that the graph computes in.
TOLERANCE = {F64: (1e-10, 1e-12), F32: (1e-5, 1e-6), F16: (4e-3, 1e-3), BF16: (3e-2, 1e-2)}

# Nodes that round nothing: they move, compare or select. All others may give a neighbour of the oracle's value.
EXACT = set("""Abs And ArgMax ArgMin BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast CastLike Ceil CenterCropPad Clip Compress
Concat Constant ConstantOfShape DepthToSpace Dropout Equal Expand EyeLike Flatten Floor Gather GatherElements GatherND GlobalMaxPool
Greater GreaterOrEqual Hardmax Identity IsInf IsNaN Less LessOrEqual Max MaxPool MaxUnpool Min Neg NonZero Not OneHot Or Pad ReduceMax
ReduceMin Relu Reshape ReverseSequence Round Scatter ScatterElements ScatterND Shape Sign Size Slice SpaceToDepth Split Squeeze TopK
Transpose Tile Trilu Unsqueeze Where Xor""".split())  # fmt: skip


# Nodes whose error goes with their largest value: coordinates, twiddle factors, tables of exponentials.
ABSOLUTE = set("AffineGrid BlackmanWindow DFT GRU GridSample HammingWindow HannWindow LSTM RNN Resize STFT Upsample".split())


def narrowest(graph):
    """The narrowest float type of the graph's tensors."""
    types = {v.dtype for v in graph.values if is_float(v.dtype)}
    if any(s.oracle == oracle.SINGLE for s in graph.steps):
        types.add(F32)
    return next((t for t in (BF16, F16, F32) if t in types), F64)


def _nudged(draw, array, absolute=False):
    """Each element one or two units in the last place away, `absolute`: of the largest one; zeros get a random sign."""
    if not is_float(array.dtype) or array.size == 0:
        return array
    wide = array.astype(np.float64)
    with np.errstate(all="ignore"):
        step = draw.uniform(-4, 4, size=array.shape) * EPSILON[array.dtype]
        finite = np.abs(wide[np.isfinite(wide)])
        moved = wide * (1 + step)
        if absolute and finite.size:
            moved += step * max(finite.max(), 1)
        moved = moved.astype(array.dtype)
    if absolute:
        return moved
    return np.where(array == 0, np.copysign(array, draw.uniform(-1, 1, size=array.shape)), moved).astype(array.dtype)


def _rerun(graph, draw):
    """All values by name when every node that rounds is nudged; None where the graph has no such run."""
    values = {v.name: v.array for v in graph.inputs + graph.initializers}
    for step in graph.steps:
        inputs = {n: values[n] for n in step.node.input if n}
        rounds = step.node.op_type not in EXACT
        if rounds:
            inputs = {n: _nudged(draw, a) for n, a in inputs.items()}
        try:
            outputs, _, _ = oracle.evaluate(step.node, inputs, graph.opset)
        except oracle.Rejected:
            return None
        values.update({n: _nudged(draw, a, step.node.op_type in ABSOLUTE) if rounds else a for n, a in outputs.items()})
    return values


def runs_nudged(graph, count=8):
    """What a different order of the same roundings may give: several runs on the oracle, with every rounding nudged."""
    runs = (_rerun(graph, np.random.default_rng(i)) for i in range(count))
    return [r for r in runs if r is not None]


def difference(got, value, nudged, tolerance):
    """"" if `got` is the oracle's array, or as near to it as the nudged runs are."""
    want = value.array
    if got.shape != want.shape:
        return f"{value.name} is {list(got.shape)}, expected {list(want.shape)}"
    others = [r[value.name] for r in nudged if r[value.name].shape == want.shape]
    if not is_float(want.dtype):
        wrong = got != want
        for other in others:
            wrong &= other == want
    else:
        g, w = got.astype(np.float64), want.astype(np.float64)
        with np.errstate(all="ignore"):
            finite = np.abs(w[np.isfinite(w)])
            allowed = tolerance[0] * np.abs(w) + tolerance[1] * (finite.max() if finite.size else 0)
            wrong = ~((g == w) | (np.isnan(g) & np.isnan(w)) | (np.isfinite(g) & np.isfinite(w) & (np.abs(g - w) <= allowed)))
            for other in others:
                o = other.astype(np.float64)
                spread = 4 * np.abs(o - w)
                wrong &= ~(np.isfinite(o) & np.isfinite(g) & np.isfinite(w) & (np.abs(g - w) <= allowed + spread))
                wrong &= ~(np.abs(o - w) > 0.5 * np.abs(w))  # no digit is left
                # A rounding decides whether it is finite.
                changed = (np.isfinite(o) != np.isfinite(w)) | (np.isnan(o) != np.isnan(w))
                wrong &= ~(changed | (np.isinf(o) & np.isinf(w) & (o != w)))
    if not wrong.any():
        return ""
    at = tuple(int(i[0]) for i in np.nonzero(wrong)) if wrong.ndim else ()
    return f"{value.name}{list(at)} is {got[at]}, expected {want[at]} ({int(wrong.sum())} of {wrong.size} elements)"
