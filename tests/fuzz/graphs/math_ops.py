"""Elementwise operators, comparisons, reductions, products of matrices."""

from onnx import helper

from graphs.registry import operator
from graphs.values import BOOL, I32, I64, UNSIGNED, is_float

UNARY = ("Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor HardSwish Identity IsNaN Log Mish Neg Not Reciprocal Relu "
         "Round Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh BitwiseNot").split()  # fmt: skip


@operator(*UNARY)
def unary(g, op):
    dtype = g.dtype(op)
    return g.add(op, [g.tensor(dtype, kind=g.choice(["any", "any", "unit", "positive"]) if is_float(dtype) else "any")])


# Attributes with ranges that tests should cross, and their defaults by leaving them out.
ATTRIBUTES = {
    "Celu": {"alpha": (0.1, 3)}, "Elu": {"alpha": (-1, 3)}, "HardSigmoid": {"alpha": (-1, 1), "beta": (-1, 1)},
    "LeakyRelu": {"alpha": (-1, 2)}, "Selu": {"alpha": (0, 3), "gamma": (0, 3)}, "Shrink": {"bias": (-1, 2), "lambd": (0, 2)},
    "ThresholdedRelu": {"alpha": (-1, 2)},
}  # fmt: skip


@operator(*ATTRIBUTES)
def unary_with_attributes(g, op):
    attributes = {n: float(g.choice([low, high, 0, g.rng.uniform(low, high)])) for n, (low, high) in ATTRIBUTES[op].items() if g.maybe(0.7)}
    if op == "Celu" and attributes.get("alpha") == 0:
        attributes["alpha"] = 0.5
    return g.add(op, [g.tensor(g.dtype(op))], attributes)


@operator("Gelu")
def gelu(g, op):
    return g.add(op, [g.tensor(g.dtype(op))], g.choice([{}, {"approximate": "tanh"}, {"approximate": "none"}]))


@operator("IsInf")
def is_inf(g, op):
    attributes = {n: g.choice([0, 1]) for n in ("detect_negative", "detect_positive") if g.maybe(0.5)}
    return g.add(op, [g.tensor(g.dtype(op))], attributes)


@operator("Hardmax", "LogSoftmax", "Softmax")
def softmax(g, op):
    x = g.tensor(g.dtype(op), (1, 4))
    attributes = {"axis": g.axis(x.rank, negative=g.opset >= 11)} if g.maybe(0.7) else {}
    return g.add(op, [x], attributes)


@operator("Clip")
def clip(g, op):
    if g.opset < 11:
        attributes = {n: v for n, v in (("min", g.rng.uniform(-2, 0.5)), ("max", g.rng.uniform(0, 2))) if g.maybe(0.7)}
        return g.add(op, [g.tensor(g.dtype(op))], attributes)
    x = g.tensor(g.dtype(op))
    low = g.fresh(x.dtype, (), (0, 2)) if g.maybe(0.6) else None
    high = g.fresh(x.dtype, (), (1, 5)) if g.maybe(0.6) else None
    return g.add(op, [x, low, high])


@operator("Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater", "GreaterOrEqual", "Less",
          "LessOrEqual", "Mod", "Mul", "Or", "Sub", "Xor")  # fmt: skip
def binary(g, op):
    dtype = g.dtype(op)
    a = g.tensor(dtype)
    kind = "any"
    if dtype != BOOL and not is_float(dtype):
        kind = {"Div": "positive", "Mod": "positive", "BitShift": (0, 7)}.get(op, "any")
        if kind == "positive" and g.maybe(0.3) and dtype not in UNSIGNED:
            kind = (-9, -1)
    b = g.broadcastable(dtype, a.shape, kind)
    attributes = {}
    if op == "BitShift":
        attributes["direction"] = g.choice(["LEFT", "RIGHT"])
    if op == "Mod" and (is_float(dtype) or g.maybe(0.3)):
        attributes["fmod"] = 1
    if kind == "any" and g.maybe(0.5):
        a, b = b, a
    return g.add(op, [a, b], attributes)


@operator("Pow")
def power(g, op):
    dtype = g.dtype(op)
    a = g.tensor(dtype, kind=g.choice(["any", "positive"]))
    other = dtype if g.opset < 12 or g.maybe(0.5) else g.dtype(op, 1)
    integer = not is_float(dtype) or not is_float(other)
    return g.add(op, [a, g.broadcastable(other, a.shape, (0, 3) if integer or g.maybe(0.4) else "any")])


@operator("PRelu")
def prelu(g, op):
    x = g.tensor(g.dtype(op))
    slope = [1 if g.maybe(0.3) else d for d in x.shape]
    return g.add(op, [x, g.fresh(x.dtype, slope[g.rng.randint(0, x.rank) if g.maybe(0.3) else 0 :])])


@operator("Max", "Mean", "Min", "Sum")
def variadic(g, op):
    first = g.tensor(g.dtype(op))
    others = [g.broadcastable(first.dtype, first.shape) for _ in range(g.choice([0, 1, 1, 1, 2, 3]))]
    inputs = [first, *others]
    g.rng.shuffle(inputs)
    return g.add(op, inputs)


@operator("Where")
def where(g, op):
    condition = g.tensor(BOOL)
    a = g.broadcastable(g.dtype(op, 1), condition.shape)
    return g.add(op, [condition, a, g.broadcastable(a.dtype, g.broadcast(condition, a))])


@operator("Cast", "CastLike")
def cast(g, op):
    x = g.tensor(g.dtype(op))
    to = g.dtype_of(g.types(op, output=True)) if g.maybe(0.5) else g.choice(g.types(op, output=True))
    if op == "CastLike":
        return g.add(op, [x, g.tensor(to)])
    return g.add(op, [x], {"to": helper.np_dtype_to_tensor_dtype(to)})


# Reductions.


@operator("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
          "ReduceSumSquare")  # fmt: skip
def reduce(g, op):
    x = g.tensor(g.dtype(op), (0 if g.maybe(0.1) else 1, 4), kind=g.choice(["any", "any", "positive"]))
    attributes = {"keepdims": g.choice([0, 1])} if g.maybe(0.7) else {}
    axes = g.axes(x.rank, 0 if g.maybe(0.1) else 1) if g.maybe(0.8) else None
    if g.opset < 11 and axes is not None:
        axes = [a % x.rank for a in axes]
    if g.opset < (13 if op == "ReduceSum" else 18):
        if axes:
            attributes["axes"] = axes
        return g.add(op, [x], attributes)
    if g.maybe(0.3):
        attributes["noop_with_empty_axes"] = g.choice([0, 1])
    return g.add(op, [x, None if axes is None else g.const(axes)], attributes)


@operator("ArgMax", "ArgMin")
def arg(g, op):
    x = g.tensor(g.dtype(op), (1, 4))
    attributes = {"axis": g.axis(x.rank, negative=g.opset >= 11)} if g.maybe(0.8) else {}
    if g.maybe(0.6):
        attributes["keepdims"] = g.choice([0, 1])
    if g.opset >= 12 and g.maybe(0.5):
        attributes["select_last_index"] = g.choice([0, 1])
    return g.add(op, [x], attributes)


@operator("CumSum")
def cumsum(g, op):
    x = g.tensor(g.dtype(op), (1, 4))
    attributes = {n: g.choice([0, 1]) for n in ("exclusive", "reverse") if g.maybe(0.6)}
    return g.add(op, [x, g.const(g.axis(x.rank), g.choice([I32, I64]))], attributes)


@operator("TopK")
def top_k(g, op):
    x = g.tensor(g.dtype(op), (1, 4))
    axis = g.axis(x.rank, negative=g.opset >= 11)
    k = g.rng.randint(0 if g.maybe(0.1) else min(1, x.shape[axis]), x.shape[axis])
    attributes = {"axis": axis} if axis % x.rank != x.rank - 1 or g.maybe() else {}
    skip = g.choice([(), (), (0,), (1,)])
    if g.opset < 10:
        return g.add(op, [x], {**attributes, "k": k}, outputs=2, skip=skip)
    if g.opset >= 11 and g.maybe(0.6):
        attributes["largest"] = g.choice([0, 1])
    if g.opset >= 11 and g.maybe(0.3):
        attributes["sorted"] = 1
    return g.add(op, [x, g.const([k])], attributes, outputs=2, skip=skip)


# Products.


def _factors(g, dtype, b_dtype=None):
    """Two tensors that MatMul takes."""
    a = g.tensor(dtype, (1, 4))
    batch = [1 if g.maybe(0.3) else d for d in a.shape[:-2]]
    batch = batch[g.rng.randint(0, len(batch)) if g.maybe(0.4) else 0 :]
    k, n = a.shape[-1], g.choice([1, 2, 3, 5, 8])
    if g.maybe(0.1):
        return a, g.tensor(b_dtype or dtype, shape=(k,))
    return a, g.tensor(b_dtype or dtype, shape=(*batch, k, n))


@operator("MatMul")
def matmul(g, op):
    return g.add(op, [*_factors(g, g.dtype(op))])


@operator("Gemm")
def gemm(g, op):
    a = g.tensor(g.dtype(op), 2)
    attributes = {}
    for name in ("alpha", "beta"):
        if g.maybe(0.4):
            whole = not is_float(a.dtype)
            attributes[name] = float(g.choice([1, 2, 3])) if whole else g.choice([0.0, 0.5, -1.25, 2.0])
    for name in ("transA", "transB"):
        if g.maybe(0.5):
            attributes[name] = g.choice([0, 1])
    k, m = (a.shape[0], a.shape[1]) if attributes.get("transA") else (a.shape[1], a.shape[0])
    n = g.choice([1, 2, 3, 6, 9])
    b = g.tensor(a.dtype, shape=(n, k) if attributes.get("transB") else (k, n))
    shape = g.choice([None, (), (1,), (n,), (1, n), (m, 1), (m, n), (1, 1)])
    if shape is None and g.opset < 11:
        shape = (n,)
    return g.add(op, [a, b, None if shape is None else g.tensor(a.dtype, shape=shape)], attributes)


EQUATIONS = ("ij,jk->ik", "bij,bjk->bik", "ij->ji", "ij->i", "ii->i", "ij,ij->", "i,j->ij", "...ij,...jk->...ik", "bhwc,hkc->bhwk", "ij,kj",
             "bij, bjk, bkl -> bil", "ii->", "i->i", "ijk->", "abc,cd->abd", "...->...", "a...b->b...a")  # fmt: skip


@operator("Einsum")
def einsum(g, op):
    equation = g.choice(EQUATIONS)
    dtype = g.dtype(op)
    sizes = {c: g.choice([1, 2, 3, 4, 5]) for c in "abcdhijklw"}
    if g.empties and g.maybe(0.3):
        sizes[g.choice("ijk")] = 0
    ellipsis = [g.choice([1, 2, 3]) for _ in range(g.choice([0, 1, 2]))]
    inputs = []
    for term in equation.split("->")[0].split(","):
        shape = []
        for part in term.strip().replace("...", "."):
            shape += ellipsis if part == "." else [sizes[part]]
        inputs.append(g.tensor(dtype, shape=tuple(shape)))
    return g.add(op, inputs, {"equation": equation})


@operator("Det")
def det(g, op):
    n = g.choice([1, 2, 3, 4, 5])
    return g.add(op, [g.tensor(g.dtype(op), shape=(*g.shape(g.choice([0, 1, 2]), 12), n, n))])
