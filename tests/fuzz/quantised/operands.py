"""What layers are made of: images, matrices, windows, constant weights and biases."""

from dataclasses import dataclass

import numpy as np

from quantised.builder import INT8, UINT8, Rejected
from quantised.reference import F32

LAYERS = []  # (weight, function of a Graph)


def layer(weight):
    """Registers a function that appends a layer; of two, that with twice the weight is drawn twice as often."""

    def register(function):
        LAYERS.append((weight, function))
        return function

    return register


def wide_of(value):
    """The function from an array of `value` to its integers without the zero point."""
    return lambda array, zero=value.zero: array.astype(np.int64) - zero


def image(g, form="any", least=1):
    """[N, C, L] or [N, C, H, W]"""
    found = g.pick(lambda v: v.rank in (3, 4) and min(v.shape[2:]) >= least and (form == "any" or v.dtype.itemsize == 1))
    if found:
        return found
    spatial = [g.choice([1, 2, 3, 4, 5, 7, 8, 9, 11]) for _ in range(g.choice([1, 2, 2, 2]))]
    dtype = g.choice([INT8, UINT8]) if form != "any" and g.activation.itemsize == 2 else None
    return g.input([g.batch, g.choice([1, 2, 3, 4, 5, 8, 16]), *[max(s, least) for s in spatial]], dtype)


def matrix(g, form="any", rank=None):
    """[..., K]"""
    found = g.pick(lambda v: v.rank in (rank or (2, 3, 4)) and v.shape[-1] <= 64 and (form == "any" or v.dtype.itemsize == 1))
    if found:
        return found
    ranks = rank or (2, 2, 3, 4)
    shape = [g.batch, *[g.choice([1, 2, 3, 5, 7]) for _ in range(g.choice(ranks) - 2)], g.choice([1, 2, 3, 5, 8, 13, 16, 32, 40])]
    dtype = g.choice([INT8, UINT8]) if form != "any" and g.activation.itemsize == 2 else None
    return g.input(shape, dtype)


def window(g, sizes, kernel, dilated):
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


@dataclass
class Weights:
    array: np.ndarray
    zeros: np.ndarray  # one number, or one for each channel
    scales: np.ndarray  # in float32, the same
    axis: int  # of channels
    per_channel: bool

    @property
    def centred(self):
        """The integers without the zero points."""
        shape = [1] * self.array.ndim
        shape[self.axis] = -1
        return self.array.astype(np.int64) - self.zeros.reshape(shape)

    def dequantised(self, g):
        return g.dq_const(self.array, self.scales, self.zeros, self.axis if self.per_channel else None)

    def bias(self, g, bias, product):
        """The name of a bias in float: int32 with the scale of the products."""
        return g.dq_const(bias, product, np.zeros_like(self.zeros), 0 if self.per_channel else None)

    def quantised(self, g, x, scale, zero, dtype):
        """The inputs of a QLinear operator on `x`."""
        inputs = [x.name, g.const(x.scale), g.const(x.dtype.type(x.zero))]
        inputs += [g.const(self.array), g.const(self.scales), g.const(self.zeros.astype(self.array.dtype))]
        return [*inputs, g.const(scale), g.const(dtype.type(zero))]


def weights_of(g, shape, channels, axis):
    """Constant weights of 8 bits; some channels, or what some inputs are multiplied by, are perhaps 0."""
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
    column = [1] * len(shape)
    column[axis] = -1
    nothing = np.broadcast_to(np.array(zeros).reshape(column), shape)
    for a, chance in ((axis, 0.35), (1 - axis, 0.2)):
        if g.maybe(chance):
            dead = g.draw.random(shape[a]) < g.choice([0.2, 0.5, 0.8])
            index = tuple(dead if i == a else slice(None) for i in range(len(shape)))
            array[index] = nothing[index]
    if per_channel:
        return Weights(array, np.array(zeros), np.array(scales, F32), axis, True)
    return Weights(array, np.array(zeros[0]), F32(scales[0]), axis, False)


def bias_of(g, channels, room, spread):
    """int32: small, or as large as sums still fit, of all channels or of some; None for none."""
    if g.maybe(0.35):
        return None
    kind = g.rng.random()
    if kind < 0.7:
        bias = np.round(g.draw.normal(size=channels) * max(spread, 1)).clip(-room, room).astype(np.int32)
        if kind < 0.3:
            large = g.draw.random(channels) < 0.5
            bias[large] = g.draw.choice([-room, room])
        return bias
    if kind < 0.85:
        return g.draw.choice([-room, room, 0, room - 1], size=channels).astype(np.int32)
    return np.full(channels, g.rng.randint(-room, room), np.int32)


def reach(x, terms, weights):
    """The largest sum of this many products."""
    info = np.iinfo(x.dtype)
    most = max(abs(int(info.min) - x.zero), abs(int(info.max) - x.zero))
    return terms * most * int(np.abs(weights).max(initial=0))


def room_of(x, terms, weights):
    room = 2**31 - 1 - reach(x, terms, weights)
    if room < 1:
        raise Rejected("sums beyond int32")
    return room
