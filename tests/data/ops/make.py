#!/usr/bin/env python3
"""Writes the tables *.json of this folder: every operation of ops.def on every type it exists for, computed by numpy.

    python3 -m venv v && v/bin/pip install numpy ml_dtypes && v/bin/python make.py

A row: op, args (arrays: dtype, values), result (dtype, values), ulp (how far a float result may be off; 0 = equal bits,
but every NaN is as good as another), and for reductions shape and axes. Integers and bools are written as they are, floats
as the unsigned integer of their bits.
Float functions are computed in float64 and rounded to the type, so that no single-precision library is the measure.
"""
import json
import math
import os
import warnings

import ml_dtypes
import numpy as np

warnings.filterwarnings("ignore")
HERE = os.path.dirname(os.path.abspath(__file__))
BF16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = {"float16": np.dtype(np.float16), "bfloat16": BF16, "float32": np.dtype(np.float32), "float64": np.dtype(np.float64)}
INTS = {n: np.dtype(n) for n in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")}
BOOL = {"bool": np.dtype(np.bool_)}
ALL = {**BOOL, **INTS, **FLOATS}
rng = np.random.default_rng(20)


def name_of(a):
    return next(n for n, d in ALL.items() if d == a.dtype)


def pack(a):
    a = np.asarray(a)
    n = name_of(a)
    if n in FLOATS:
        values = a.reshape(-1).view({2: np.uint16, 4: np.uint32, 8: np.uint64}[a.dtype.itemsize]).tolist()
    else:
        values = [int(v) for v in a.reshape(-1).tolist()]
    return {"dtype": n, "values": values}


def row(op, args, result, ulp=0, **more):
    return {"op": op, "args": [pack(a) for a in args], "result": pack(result), "ulp": ulp, **more}


def round_to(values, dtype):
    """float64 to dtype, rounded once."""
    v = np.asarray(values, np.float64)
    if dtype != BF16:
        return v.astype(dtype)
    # ml_dtypes goes through float32: round to odd there first, so that the second rounding is right.
    f = v.astype(np.float32)
    back = f.astype(np.float64)
    bits = f.view(np.uint32).copy()
    inexact = np.isfinite(v) & np.isfinite(f) & (back != v) & ((bits & 1) == 0)
    toward = np.where(np.abs(back) < np.abs(v), 1, -1)
    bits = np.where(inexact, (bits.astype(np.int64) + toward).astype(np.uint32), bits)
    return bits.view(np.float32).astype(BF16)


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.140625, -7.25, 100.5, 0.0009765625, -1000.0, 12345.0, math.inf, -math.inf, math.nan]


def floats(dtype, extra=()):
    return round_to(np.concatenate([SPECIAL, list(extra), rng.normal(0, 3, 14), rng.uniform(-1, 1, 8)]), dtype)


def ints(dtype):
    i = np.iinfo(dtype)
    known = [0, 1, 2, 3, 7, 100, i.max, i.max - 1, i.min, i.min + 1, i.max // 2, i.max // 2 + 1]
    if i.min < 0:
        known += [-1, -2, -7, -100]
    if i.bits == 64:
        known += [2**53 + 1, 2**53 - 1, 2**62 + 3]
    return np.array([k for k in known], dtype)


def pairs(values):
    """Every value with every value."""
    return np.repeat(values, len(values)), np.tile(values, len(values))


def wide(a):
    return a.astype(np.float64)


def from_math(f):
    def g(x):
        out = []
        for v in x:
            try:
                out.append(f(v))
            except (ValueError, OverflowError):
                out.append(math.nan)
        return np.array(out)
    return g


UNARY = {  # function, ulp that a backend's library may be off, extra inputs
    "Neg": (np.negative, 0, ()), "Exp": (np.exp, 4, (10.0, -20.0)), "Exp2": (np.exp2, 4, (10.0, -20.0)), "Log": (np.log, 4, (10.0, 0.25)),
    "Log2": (np.log2, 4, (8.0, 0.25)), "Sin": (np.sin, 4, (1.5703125, 30.0)), "Cos": (np.cos, 4, (1.5703125, 30.0)), "Tan": (np.tan, 6, (0.75,)),
    "Asin": (np.arcsin, 4, ()), "Acos": (np.arccos, 4, ()), "Atan": (np.arctan, 5, ()), "Sinh": (np.sinh, 4, ()), "Cosh": (np.cosh, 4, ()),
    "Tanh": (np.tanh, 5, (10.0,)), "Asinh": (np.arcsinh, 4, ()), "Acosh": (np.arccosh, 4, (1.25,)), "Atanh": (np.arctanh, 5, (0.75,)),
    "Erf": (from_math(math.erf), 16, (4.0,)), "Sqrt": (np.sqrt, 0, (2.0,)), "Floor": (np.floor, 0, ()), "Ceil": (np.ceil, 0, ()),
    "Trunc": (np.trunc, 0, ()), "Rint": (np.rint, 0, (3.5, -3.5)),
    "RintSmall": (np.rint, 0, (3.5, -3.5, 4194304.0, -4194303.5)),
    "Expm1": (np.expm1, 4, (1e-6, -1e-9, 10.0, -20.0)), "Log1p": (np.log1p, 4, (1e-6, -1e-9, 0.25, -0.999)),
    "ExpNonPos": (np.exp, 4, (-10.0, -20.0, -87.5, -103.0)),
    "Gelu": (from_math(lambda v: v * 0.5 * math.erfc(-v / math.sqrt(2))), 5, (3.0, -4.0, -9.0)),
}


def unary(op):
    f, ulp, extra = UNARY[op]
    rows = []
    for dtype in FLOATS.values():
        a = floats(dtype, extra)
        if op in ("Sin", "Cos", "Tan"):  # argument reduction of huge values is a matter of its own
            a = a[~(np.abs(wide(a)) > 1000)]
        if op == "RintSmall":
            a = a[np.abs(wide(a)) <= 2**22]
        if op == "ExpNonPos":
            a = a[~(wide(a) > 0)]
        rows.append(row(op, [a], round_to(f(wide(a)), dtype), ulp))
    if op == "Neg":
        rows += [row(op, [ints(d)], np.negative(ints(d))) for d in INTS.values()]
    return rows


def fmax(a, b):
    return np.where(np.isnan(a) | np.isnan(b), np.nan, np.where(a < b, b, a))


def fmin(a, b):
    return np.where(np.isnan(a) | np.isnan(b), np.nan, np.where(b < a, b, a))


def exact_int(f):
    """f on Python integers, wrapped to the type."""
    def g(a, b):
        bits, signed = a.dtype.itemsize * 8, a.dtype.kind == "i"
        out = []
        for x, y in zip(a.tolist(), b.tolist()):
            v = f(x, y, bits, signed) & (2**bits - 1)
            out.append(v - 2**bits if signed and v >= 2**(bits - 1) else v)
        return np.array(out, a.dtype)
    return g


def divide(x, y, bits, signed):
    if y == 0:
        return 0
    q = abs(x) // abs(y)
    return q if (x < 0) == (y < 0) else -q


def remainder(x, y, bits, signed):
    return 0 if y == 0 else int(math.copysign(1, x)) * (abs(x) % abs(y))


BINARY = {  # on floats (in float64), on integers, on bools
    "Add": (np.add, lambda x, y, b, s: x + y, None), "Sub": (np.subtract, lambda x, y, b, s: x - y, None),
    "Mul": (np.multiply, lambda x, y, b, s: x * y, None), "Div": (np.divide, divide, None), "Mod": (np.fmod, remainder, None),
    "Max": (fmax, lambda x, y, b, s: max(x, y), np.logical_or), "Min": (fmin, lambda x, y, b, s: min(x, y), np.logical_and),
    "Pow": (np.power, None, None), "And": (None, lambda x, y, b, s: x & y, np.logical_and), "Or": (None, lambda x, y, b, s: x | y, np.logical_or),
    "Xor": (None, lambda x, y, b, s: x ^ y, np.logical_xor),
    "Shl": (None, lambda x, y, b, s: x << y if y < b else 0, None), "Shr": (None, lambda x, y, b, s: x >> min(y, b - 1) if s or y < b else 0, None),
}
COMPARE = {"CmpLt": np.less, "CmpEq": np.equal, "CmpNe": np.not_equal}


def float_pairs(op, dtype):
    a, b = pairs(round_to(np.array(SPECIAL), dtype))
    x, y = floats(dtype), rng.permutation(floats(dtype))
    a, b = np.concatenate([a, x]), np.concatenate([b, y])
    if op == "Pow":  # results near the ends of the range are rounded by libraries as they like
        with np.errstate(all="ignore"):
            p = np.abs(np.power(wide(a), wide(b)))
        keep = ~(np.isfinite(p) & (p != 0) & ((p > 1e4) | (p < 1e-4)))
        big = np.isfinite(wide(a)) & np.isfinite(wide(b)) & ~np.isfinite(p) & (wide(a) != 0)
        tiny = np.isfinite(wide(a)) & np.isfinite(wide(b)) & (p == 0) & (wide(a) != 0)
        keep &= ~big & ~tiny
        a, b = a[keep], b[keep]
    return a, b


def binary(op):
    on_floats, on_ints, on_bools = BINARY[op]
    rows = []
    if on_floats:
        for dtype in FLOATS.values():
            a, b = float_pairs(op, dtype)
            # numpy's own arithmetic in float32 and float64 is correctly rounded; the narrow types round the float64 result
            result = on_floats(a, b) if dtype.itemsize >= 4 and op != "Pow" else round_to(on_floats(wide(a), wide(b)), dtype)
            rows.append(row(op, [a, b], result.astype(dtype), 16 if op == "Pow" else 1 if dtype == BF16 and op in ("Add", "Sub", "Div") else 0))
    if on_ints:
        for dtype in INTS.values():
            a, b = pairs(ints(dtype))
            if op in ("Shl", "Shr"):
                amounts = np.array([0, 1, 3, dtype.itemsize * 8 - 1, dtype.itemsize * 8, dtype.itemsize * 8 + 1, 100], dtype)
                a, b = np.repeat(ints(dtype), len(amounts)), np.tile(amounts, len(ints(dtype)))
            rows.append(row(op, [a, b], exact_int(on_ints)(a, b)))
    if on_bools:
        a, b = pairs(np.array([False, True]))
        rows.append(row(op, [a, b], on_bools(a, b)))
    return rows


def compare(op):
    rows = []
    for dtype in FLOATS.values():
        a, b = float_pairs(op, dtype)
        rows.append(row(op, [a, b], COMPARE[op](wide(a), wide(b))))
    for dtype in INTS.values():
        a, b = pairs(ints(dtype))
        rows.append(row(op, [a, b], COMPARE[op](a, b)))
    a, b = pairs(np.array([False, True]))
    rows.append(row(op, [a, b], COMPARE[op](a, b)))
    return rows


def values_of(dtype):
    if dtype == np.bool_:
        return np.array([False, True, True, False])
    return ints(dtype) if dtype in INTS.values() else floats(dtype)


def cast(_):
    rows = []
    for a_type in ALL.values():
        for b_type in ALL.values():
            if a_type == b_type:
                continue
            a = values_of(a_type)
            if a_type in FLOATS.values():
                w = wide(a)
                if b_type in INTS.values():  # C leaves other values undefined
                    i = np.iinfo(b_type)
                    a = np.concatenate([a, round_to([3.75, -3.75 if i.min < 0 else 2.25, 126.5, 0.999], a_type)])
                    w = wide(a)
                    keep = np.isfinite(w) & (np.trunc(w) >= float(i.min)) & (np.trunc(w) < 2.0**(i.bits - (1 if i.min < 0 else 0)))
                    a, w = a[keep], w[keep]
                    result = np.array([int(v) for v in w], b_type)
                elif b_type == np.bool_:
                    result = w != 0
                else:
                    result = round_to(w, b_type)
            elif b_type in FLOATS.values():
                if a_type.itemsize >= 4:  # halfway between two numbers of a narrow type once it is a float
                    a = np.concatenate([a, np.array([2**24 + 2**16 + 1], a_type)])
                if a_type.itemsize == 8:  # just above halfway between two floats: by way of double it would be halfway
                    a = np.concatenate([a, np.array([2**53 + 2**29 + 1], a_type)])
                # to the narrow types by way of float32, as ONNX and C convert
                result = a.astype(b_type) if b_type.itemsize >= 4 else round_to(a.astype(np.float32).astype(np.float64), b_type)
            else:
                result = a.astype(b_type)
            rows.append(row("Cast", [a], result))
    return rows


def bitcast(_):
    rows = []
    for a_type in {**INTS, **FLOATS}.values():
        for b_type in {**INTS, **FLOATS}.values():
            if a_type != b_type and a_type.itemsize == b_type.itemsize:
                a = values_of(a_type)
                if a_type in FLOATS.values():
                    a = a[~np.isnan(wide(a))]  # which NaN it is may differ
                rows.append(row("Bitcast", [a], a.view(b_type)))
    for other in ("int8", "uint8"):
        rows.append(row("Bitcast", [np.array([False, True])], np.array([0, 1], other)))
        rows.append(row("Bitcast", [np.array([0, 1], other)], np.array([False, True])))
    return rows


def where(_):
    rows = []
    for dtype in ALL.values():
        b = values_of(dtype)
        c = b[::-1].copy()
        a = np.arange(len(b)) % 3 == 0
        rows.append(row("Where", [a, b, c], np.where(a, b, c)))
    return rows


def mulacc(_):
    rows = []
    for dtype in FLOATS.values():  # values whose products and sums are exact
        a, b = pairs(round_to([0, 1, -1, 0.5, 2, -3, 7, 1.5], dtype))
        c = round_to(np.arange(len(a)) % 5 - 2, dtype)
        rows.append(row("MulAcc", [a, b, c], round_to(wide(a) * wide(b) + wide(c), dtype)))
    for dtype in INTS.values():
        a, b = pairs(ints(dtype))
        c = np.resize(ints(dtype), len(a))
        rows.append(row("MulAcc", [a, b, c], exact_int(lambda x, y, _, s: x + y)(exact_int(lambda x, y, _, s: x * y)(a, b), c)))
    return rows


def reduce(op):
    rows = []
    for name, dtype in ALL.items():
        if dtype == np.bool_ and op in ("ReduceSum", "ReduceProd"):
            continue
        if dtype == np.bool_:
            a = np.array([[0, 0, 0], [0, 1, 0], [1, 1, 1]], np.bool_)
        elif dtype in INTS.values():
            v = ints(dtype)
            a = np.resize(v, (7, 13))
        else:
            # sums and products that are exact in every order
            a = round_to(np.resize([1, -2, 0.5, 4, 2, -1, 0.25, -0.5, 1, 1, 2, 8], (7, 11)), dtype)
            if op in ("ReduceMax", "ReduceMin"):
                a[2, 3] = np.nan
                a[4] = -np.inf
                a[5] = np.inf
                a[6] = -0.0
        for axes in ([1], [0], [0, 1]):
            if dtype in INTS.values() and op in ("ReduceSum", "ReduceProd"):
                f = (lambda x, y, _, s: x + y) if op == "ReduceSum" else (lambda x, y, _, s: x * y)
                r = np.full((1,), 0 if op == "ReduceSum" else 1, dtype)
                lines = a if axes == [1] else a.T if axes == [0] else a.reshape(1, -1)
                out = []
                for line in lines:
                    acc = np.array([0 if op == "ReduceSum" else 1], dtype)
                    for v in line:
                        acc = exact_int(f)(acc, np.array([v], dtype))
                    out.append(acc[0])
                r = np.array(out, dtype)
            else:
                f = {"ReduceSum": np.sum, "ReduceProd": np.prod, "ReduceMax": np.max, "ReduceMin": np.min}[op]
                w = wide(a) if dtype in FLOATS.values() else a
                r = f(w, axis=tuple(axes))
                r = round_to(r, dtype) if dtype in FLOATS.values() else np.asarray(r, dtype)
            rows.append(row(op, [a], np.atleast_1d(r), 0, shape=list(a.shape), axes=axes))
    return rows


LAST = ("Expm1", "Log1p", "RintSmall", "Gelu", "ExpNonPos")  # the tables before them keep their random numbers
TABLES = {**{op: unary for op in UNARY if op not in LAST}, **{op: binary for op in BINARY}, **{op: compare for op in COMPARE}, "Cast": cast, "Bitcast": bitcast,
          "Where": where, "MulAcc": mulacc, **{op: reduce for op in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd")},
          **{op: unary for op in LAST}}

if __name__ == "__main__":
    for op, make in TABLES.items():
        rows = make(op)
        with open(os.path.join(HERE, op + ".json"), "w") as file:
            file.write("[\n" + ",\n".join(json.dumps(r, separators=(",", ":")) for r in rows) + "\n]\n")
