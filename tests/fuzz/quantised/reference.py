"""What quantised operators give, written from ONNX's definitions on whole numbers and float32 alone.

    real = (q - zero) * scale                                    DequantizeLinear
    q    = saturate(rint(real / scale) + zero)                   QuantizeLinear, rint: halves to even
    q    = saturate(rint(f32(sum) * M) + zero)                   sums of products, averages
    M    = f32(f32(sx * sw) / sy), f32(sx / f32(count * sy))

A sum is exact; f32(sum), each product and each quotient are rounded to float32. Where ONNX leaves the rounding open (exp), the result is
computed in float64; it is doubtful where it is that near to a half.
"""

import itertools

import numpy as np

F32, F64 = np.float32, np.float64
DOUBT = 1e-5  # relative: what a function of float32 may be off


def _saturate(rounded, dtype):
    info = np.iinfo(dtype)
    return np.clip(rounded, info.min, info.max).astype(dtype)


def quantise(x, scale, zero, dtype):
    """`x` in float32."""
    return _saturate(np.rint(F32(x) / F32(scale)).astype(F64) + zero, dtype)


def dequantise(q, scale, zero):
    return ((q.astype(np.int64) - zero).astype(F32) * F32(scale)).astype(F32)


def requantise(sums, factor, zero, dtype):
    """`sums` in int64, `factor` in float32, one number or an array that broadcasts to the sums."""
    if np.abs(sums).max(initial=0) >= 2**31:
        raise OverflowError("a sum does not fit int32")
    assert np.asarray(factor).dtype == F32, "the factor is rounded to float32"
    return _saturate(np.rint(sums.astype(F32) * factor).astype(F64) + zero, dtype)


def doubtful(real, scale, zero, dtype, error=0):
    """Where rounding of the exact `real` in float64 may go either way; `error`: what it may be off, beside what is relative."""
    quotient = real / F64(F32(scale))
    half = np.floor(quotient) + 0.5
    info = np.iinfo(dtype)
    margin = DOUBT * np.abs(quotient) + error / F64(F32(scale)) + 1e-12
    inside = (quotient + zero > info.min - 1) & (quotient + zero < info.max + 1)
    return inside & (np.abs(quotient - half) <= margin)


# Sums. All arguments are int64, zero points taken off.


def _windows(x, kernel, strides, dilations, pads, fill):
    """(slice of x at this offset of the window) for every offset; shape [N, C, *out]."""
    rank = len(kernel)
    padded = np.pad(x, [(0, 0), (0, 0)] + [(pads[a], pads[a + rank]) for a in range(rank)], constant_values=fill)
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    out = [(size - span) // s + 1 for size, span, s in zip(padded.shape[2:], spans, strides)]
    for offset in itertools.product(*map(range, kernel)):
        cut = tuple(slice(o * d, o * d + (n - 1) * s + 1, s) for o, d, n, s in zip(offset, dilations, out, strides))
        yield offset, padded[(slice(None), slice(None), *cut)]


def conv(x, w, group, strides, dilations, pads):
    """[N, C, ...] with [M, C / group, ...]"""
    n, c = x.shape[:2]
    m, cg = w.shape[:2]
    total = 0
    for offset, part in _windows(x, w.shape[2:], strides, dilations, pads, 0):
        grouped = part.reshape(n, group, cg, -1)
        weights = w[(slice(None), slice(None), *offset)].reshape(group, m // group, cg)
        total = total + np.einsum("ngcp,gmc->ngmp", grouped, weights).reshape(n, m, *part.shape[2:])
    return total


def average_sums(x, kernel, strides, pads, include_pad):
    """(sums, counts) of the windows."""
    ones = np.ones_like(x)
    dilations = [1] * len(kernel)
    sums = sum(part for _, part in _windows(x, kernel, strides, dilations, pads, 0))
    counts = sum(part for _, part in _windows(ones, kernel, strides, dilations, pads, int(include_pad)))
    return sums, counts


def largest(x, kernel, strides, dilations, pads):
    lowest = np.iinfo(np.int64).min
    return np.max([part for _, part in _windows(x, kernel, strides, dilations, pads, lowest)], axis=0)


def dynamic_quantise(x):
    """(y, scale, zero) of DynamicQuantizeLinear; x is not all zeros."""
    low, high = min(x.min(), F32(0)), max(x.max(), F32(0))
    scale = F32(F32(high - low) / F32(255))
    zero = int(_saturate(np.rint(F32(F32(0) - low) / scale), np.uint8))
    return quantise(x, scale, zero, np.uint8), np.asarray(scale), np.asarray(zero, np.uint8)
