"""Element types, shapes and values of random tensors."""

import ml_dtypes
import numpy as np

BF16 = np.dtype(ml_dtypes.bfloat16)
F16, F32, F64 = (np.dtype(t) for t in (np.float16, np.float32, np.float64))
I8, I16, I32, I64 = (np.dtype(t) for t in (np.int8, np.int16, np.int32, np.int64))
U8, U16, U32, U64 = (np.dtype(t) for t in (np.uint8, np.uint16, np.uint32, np.uint64))
BOOL = np.dtype(bool)

FLOATS = [F32, F64, F16]
SIGNED = [I8, I16, I32, I64]
UNSIGNED = [U8, U16, U32, U64]
INTS = SIGNED + UNSIGNED
ALL = FLOATS + INTS + [BOOL]

SCHEMA_NAMES = {
    "tensor(bfloat16)": BF16, "tensor(float16)": F16, "tensor(float)": F32, "tensor(double)": F64,
    "tensor(int8)": I8, "tensor(int16)": I16, "tensor(int32)": I32, "tensor(int64)": I64,
    "tensor(uint8)": U8, "tensor(uint16)": U16, "tensor(uint32)": U32, "tensor(uint64)": U64, "tensor(bool)": BOOL,
}  # fmt: skip

# Half of one unit in the last place, relative.
EPSILON = {BF16: 2.0**-9, F16: 2.0**-11, F32: 2.0**-24, F64: 2.0**-53}


def is_float(dtype):
    return dtype in EPSILON


def specials(dtype):
    """Values at the edges of a type."""
    if dtype == BOOL:
        return [False, True]
    if not is_float(dtype):
        info = np.iinfo(dtype)
        return [info.min, info.max, info.max - 1, 0, 1]
    info = ml_dtypes.finfo(dtype)
    return [0.0, -0.0, np.inf, -np.inf, np.nan, float(info.max), float(info.min), float(info.tiny), 1.0, -1.0]


def random_array(rng, dtype, shape, kind="any", edges=False):
    """Values of a kind that suits an operator:

    any       floats: multiples of 1/8 (ties, exact sums) or normally distributed; integers: small
    positive  above 0.25
    unit      in [-1, 1]
    A pair (lowest, highest) gives whole numbers of that range. `edges` mixes in the type's largest, infinities, NaN, -0.0.
    """
    n = int(np.prod(shape, dtype=np.int64))
    draw = np.random.default_rng(rng.getrandbits(32))
    if isinstance(kind, tuple):
        return draw.integers(kind[0], kind[1], size=shape, endpoint=True).astype(dtype)
    if dtype == BOOL:
        return draw.integers(0, 2, size=shape).astype(bool)
    if not is_float(dtype):
        low, high = (0, 12) if dtype in UNSIGNED or kind == "positive" else (-8, 8)
        array = draw.integers(low + (kind == "positive"), high, size=shape, endpoint=True).astype(dtype)
    elif rng.random() < 0.5:
        array = draw.integers(-32, 32, size=shape, endpoint=True) / 8.0
    else:
        array = draw.normal(size=shape) * rng.choice([0.5, 1, 3])
    if is_float(dtype):
        if kind == "positive":
            array = np.abs(array) + 0.25
        elif kind == "unit":
            array = np.clip(array / 4, -1, 1)
        array = array.astype(dtype)
    if edges and n and kind == "any":
        array = np.array(array)
        flat = array.reshape(-1)
        for i in range(n):
            if rng.random() < 0.1:
                flat[i] = rng.choice(specials(dtype))
    return np.asarray(array)


def random_dim(rng, empties):
    if empties and rng.random() < 0.25:
        return 0
    return rng.choice([1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 13, 16])


def random_shape(rng, rank, empties=False, limit=600):
    """A shape of that rank of at most `limit` elements."""
    while True:
        shape = tuple(random_dim(rng, empties) for _ in range(rank))
        if np.prod([max(d, 1) for d in shape]) <= limit:
            return shape
