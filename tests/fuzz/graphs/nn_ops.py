"""Convolutions, pooling, normalisation, resampling, recurrent networks."""

import numpy as np

from graphs.builder import Rejected
from graphs.registry import operator
from graphs.values import F32, I32, is_float


def _window(g, op, sizes, kernel, dilatable=True, strides=True, pads=True, auto=True):
    """Attributes of a sliding window over axes of these sizes."""
    rank = len(sizes)
    attributes = {}
    if strides and g.maybe(0.6):
        attributes["strides"] = [g.choice([1, 2, 2, 3]) for _ in range(rank)]
    if dilatable and g.maybe(0.35):
        attributes["dilations"] = [g.choice([1, 2, 3]) for _ in range(rank)]
    choice = g.choice(["none", "pads", "pads", "pads", "SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
    if choice in ("pads", "NOTSET") and pads:
        span = [(k - 1) * d + 1 for k, d in zip(kernel, attributes.get("dilations", [1] * rank))]
        attributes["pads"] = [g.rng.randint(0, min(s - 1, 3)) if g.maybe(0.7) else 0 for s in span * 2]
    if choice not in ("none", "pads") and auto:
        attributes["auto_pad"] = choice
    return attributes


def _fits(sizes, kernel, attributes):
    rank = len(sizes)
    if attributes.get("auto_pad", "NOTSET").startswith("SAME"):
        return True
    pads = attributes.get("pads", [0] * 2 * rank)
    dilations = attributes.get("dilations", [1] * rank)
    return all(d + pads[a] + pads[a + rank] >= (k - 1) * e + 1 for a, (d, k, e) in enumerate(zip(sizes, kernel, dilations)))


def _image(g, dtype, channels=None, rank=None, least=1):
    """A [N, C, ...] tensor, or its sizes if `dtype` is None."""
    rank = rank or g.choice([1, 2, 2, 2, 3])
    found = [v for v in g.values if v.dtype == dtype and v.rank == rank + 2 and min(v.shape) >= least and v.array.size <= 1500]
    if channels is None and found and g.maybe(0.7):
        return found[-1]
    n, c = g.choice([1, 1, 2, 3]), channels or g.choice([1, 2, 3, 4, 6])
    if g.empties and g.maybe(0.2):
        n = 0
    sizes = [g.choice([1, 2, 3, 4, 5, 7, 8, 9] if rank > 2 else [1, 3, 4, 5, 7, 8, 10, 12]) for _ in range(rank)]
    return g.tensor(dtype, shape=(n, c, *[max(s, least) for s in sizes]), reuse=0.2)


@operator("Conv", "ConvInteger")
def conv(g, op):
    x = _image(g, g.dtype(op))
    c = x.shape[1]
    group = g.choice([1, 1, c] + [d for d in range(1, c + 1) if c % d == 0])
    m = group * g.choice([1, 1, 2, 3])
    kernel = [g.choice([1, 2, 3, 3, 5]) for _ in x.shape[2:]]
    attributes = _window(g, op, x.shape[2:], kernel)
    if not _fits(x.shape[2:], kernel, attributes):
        raise Rejected("the window is larger than the padded input")
    if group != 1 or g.maybe(0.3):
        attributes["group"] = group
    if g.maybe():
        attributes["kernel_shape"] = kernel
    if op == "Conv":
        w = g.fresh(x.dtype, (m, c // group, *kernel), constant=True if g.maybe(0.7) else None)
        return g.add(op, [x, w, g.fresh(x.dtype, (m,)) if g.maybe() else None], attributes)
    w = g.fresh(g.choice(g.types(op, 1)), (m, c // group, *kernel))
    x_zero = g.fresh(x.dtype, (), constant=True) if g.maybe() else None
    w_zero = g.fresh(w.dtype, (), constant=True) if g.maybe() else None
    return g.add(op, [x, w, x_zero, w_zero], attributes)


@operator("ConvTranspose")
def conv_transpose(g, op):
    x = _image(g, g.dtype(op))
    c = x.shape[1]
    group = g.choice([1, 1, 1, c])
    m = g.choice([1, 2, 3])
    kernel = [g.choice([1, 2, 3, 4]) for _ in x.shape[2:]]
    attributes = _window(g, op, x.shape[2:], kernel)
    strides = attributes.get("strides", [1] * len(kernel))
    if group != 1:
        attributes["group"] = group
    if g.maybe(0.3) and "auto_pad" not in attributes:
        attributes["output_padding"] = [g.rng.randint(0, s - 1) for s in strides]
    elif g.maybe(0.2):
        attributes["output_shape"] = [d * s + g.choice([0, 0, 1]) for d, s in zip(x.shape[2:], strides)]
        attributes.pop("pads", None)
    w = g.fresh(x.dtype, (c, m, *kernel))
    return g.add(op, [x, w, g.fresh(x.dtype, (m * group,)) if g.maybe() else None], attributes)


@operator("AveragePool", "LpPool", "MaxPool")
def pool(g, op):
    x = _image(g, g.dtype(op))
    kernel = [g.choice([1, 2, 2, 3, 3, 4]) for _ in x.shape[2:]]
    dilations = g.opset >= {"AveragePool": 19, "LpPool": 18, "MaxPool": 10}[op]
    attributes = {"kernel_shape": kernel, **_window(g, op, x.shape[2:], kernel, dilations)}
    if not _fits(x.shape[2:], kernel, attributes):
        raise Rejected("the window is larger than the padded input")
    if g.opset >= (18 if op == "LpPool" else 10) and g.maybe(0.5):
        attributes["ceil_mode"] = g.choice([0, 1])
    if op == "AveragePool" and g.maybe(0.5):
        attributes["count_include_pad"] = g.choice([0, 1])
    if op == "LpPool" and g.maybe(0.6):
        attributes["p"] = g.choice([1, 2, 3])
    if op == "MaxPool" and g.opset >= 8 and g.maybe(0.3):
        if g.maybe(0.4):
            attributes["storage_order"] = g.choice([0, 1])
        return g.add(op, [x], attributes, outputs=2)
    return g.add(op, [x], attributes)


@operator("MaxUnpool")
def max_unpool(g, op):
    sizes = [g.choice([4, 5, 6]) for _ in range(g.choice([1, 2]))]
    x = g.tensor(F32, shape=(g.choice([1, 2]), g.choice([1, 2]), *sizes))
    kernel = [2] * (x.rank - 2)
    y, indices = g.add("MaxPool", [x], {"kernel_shape": kernel, "strides": kernel}, outputs=2)
    size = g.const(x.shape) if any(d % 2 for d in x.shape[2:]) or g.maybe(0.3) else None
    return g.add(op, [y, indices, size], {"kernel_shape": kernel, "strides": kernel})


@operator("GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool")
def global_pool(g, op):
    attributes = {"p": g.choice([1, 2, 3])} if op == "GlobalLpPool" and g.maybe(0.7) else {}
    return g.add(op, [_image(g, g.dtype(op))], attributes)


def _epsilon(g):
    return {"epsilon": g.choice([1e-5, 1e-3, 0.1])} if g.maybe() else {}


@operator("BatchNormalization")
def batch_normalization(g, op):
    x = g.tensor(g.dtype(op), (2, 4), where=lambda a: a.shape[1] > 0)
    c = (x.shape[1],)
    other = x.dtype if g.opset < 15 else g.choice([x.dtype, x.dtype, g.dtype(op, 3)])
    scale = x.dtype if g.opset < 15 else g.choice([x.dtype, g.dtype(op, 1)])
    inputs = [x, g.fresh(scale, c), g.fresh(scale, c), g.fresh(other, c), g.fresh(other, c, "positive")]
    attributes = _epsilon(g)
    if g.maybe(0.3):
        attributes["momentum"] = 0.7
    return g.add(op, inputs, attributes)


@operator("InstanceNormalization")
def instance_normalization(g, op):
    x = g.tensor(g.dtype(op), (3, 4), where=lambda a: a.size > 0)
    return g.add(op, [x, g.fresh(x.dtype, (x.shape[1],)), g.fresh(x.dtype, (x.shape[1],))], _epsilon(g))


@operator("GroupNormalization")
def group_normalization(g, op):
    groups = g.choice([1, 2, 3])
    c = groups * g.choice([1, 2, 3])
    x = _image(g, g.dtype(op), channels=c)
    n = (c if g.opset >= 21 else groups,)
    return g.add(op, [x, g.fresh(x.dtype, n), g.fresh(x.dtype, n)], {"num_groups": groups, **_epsilon(g)})


@operator("LayerNormalization")
def layer_normalization(g, op):
    x = g.tensor(g.dtype(op), (1, 4), where=lambda a: a.size > 0)
    axis = g.axis(x.rank)
    shape = x.shape[axis % x.rank :]
    if g.maybe(0.2):
        shape = tuple(1 if g.maybe(0.4) else d for d in shape)
    attributes = {**({"axis": axis} if axis != -1 or g.maybe() else {}), **_epsilon(g)}
    inputs = [x, g.fresh(x.dtype, shape), g.fresh(x.dtype, shape) if g.maybe(0.7) else None]
    return g.add(op, inputs, attributes, outputs=g.choice([1, 1, 3]))


@operator("LRN")
def lrn(g, op):
    attributes = {"size": g.choice([1, 2, 3, 4, 5])}
    for name, values in (("alpha", [0.0001, 0.5, 2.0]), ("beta", [0.75, 0.5, 1.5]), ("bias", [1.0, 2.0])):
        if g.maybe():
            attributes[name] = g.choice(values)
    return g.add(op, [_image(g, g.dtype(op))], attributes)


@operator("LpNormalization")
def lp_normalization(g, op):
    x = g.tensor(g.dtype(op), (1, 4))
    attributes = {"axis": g.axis(x.rank)} if g.maybe(0.7) else {}
    return g.add(op, [x], {**attributes, **({"p": g.choice([1, 2])} if g.maybe(0.6) else {})})


@operator("MeanVarianceNormalization")
def mvn(g, op):
    x = g.tensor(g.dtype(op), 4)
    return g.add(op, [x], {"axes": g.axes(4)} if g.maybe(0.7) else {})


# Resampling.

MODES = ("nearest", "linear", "cubic")
NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


def _coordinates(g):
    names = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
    names += ["tf_half_pixel_for_nn"] if g.opset < 13 else []
    names += ["tf_crop_and_resize"] if g.maybe(0.5) else []
    names += ["half_pixel_symmetric"] if g.opset >= 19 else []
    return g.choice(names)


@operator("Resize")
def resize(g, op):
    x = _image(g, g.dtype(op), rank=g.choice([1, 2, 2, 2, 3]))
    mode = g.choice(MODES if g.opset >= 11 and x.rank == 4 else MODES[:2])
    spatial = list(range(2, x.rank))
    scales = [1.0] * 2 + [g.choice([0.5, 2.0, 2.0, 1.5, 3.0, 0.75, 1.0, 0.6, 1.3]) for _ in spatial]
    if g.opset < 11:
        return g.add(op, [x, g.const(scales, F32)], {"mode": g.choice(MODES[:2])} if g.maybe(0.8) else {})
    attributes = {"mode": mode} if mode != "nearest" or g.maybe() else {}
    if g.maybe(0.7):
        attributes["coordinate_transformation_mode"] = _coordinates(g)
    if mode == "nearest" and g.maybe(0.6):
        attributes["nearest_mode"] = g.choice(NEAREST)
    if mode == "cubic":
        choices = {"cubic_coeff_a": [-0.5, -0.75], "exclude_outside": [0, 1]}
        attributes.update({name: g.choice(values) for name, values in choices.items() if g.maybe(0.5)})
    if g.opset >= 18 and mode != "nearest" and g.maybe(0.4):
        attributes["antialias"] = g.choice([0, 1])
    roi = None
    axes = spatial if g.opset >= 18 and g.maybe(0.4) else list(range(x.rank))
    if attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize":
        starts = [0.0, 0.0] + [g.choice([0.0, 0.25, -0.2]) for _ in spatial]
        ends = [1.0, 1.0] + [g.choice([1.0, 0.75, 1.25]) for _ in spatial]
        roi = g.const([starts[a] for a in axes] + [ends[a] for a in axes], F32)
        if g.maybe():
            attributes["extrapolation_value"] = 2.0
    if len(axes) < x.rank:
        attributes["axes"] = axes
    if g.maybe(0.5):
        return g.add(op, [x, roi or _no_roi(g), g.const([scales[a] for a in axes], F32)], attributes)
    sizes = [x.shape[a] if a < 2 else g.choice([1, 2, 3, 5, 8, x.shape[a]]) for a in axes]
    if g.opset >= 18 and g.maybe(0.4):
        attributes["keep_aspect_ratio_policy"] = g.choice(["stretch", "not_larger", "not_smaller"])
        if attributes["keep_aspect_ratio_policy"] != "stretch" and len(axes) == x.rank:
            attributes["keep_aspect_ratio_policy"] = "stretch"
    return g.add(op, [x, roi or _no_roi(g), None if g.opset >= 13 else g.const([], F32), g.const(sizes)], attributes)


def _no_roi(g):
    return g.const([], F32) if g.opset < 13 else None


@operator("Upsample")
def upsample(g, op):
    if g.opset > 9:
        raise Rejected("deprecated")
    x = _image(g, g.dtype(op), rank=2)
    scales = [1.0, 1.0, g.choice([1.0, 2.0, 3.0, 1.5]), g.choice([1.0, 2.0, 2.5])]
    attributes = {"mode": g.choice(MODES[:2])} if g.maybe(0.8) else {}
    if g.opset < 9:
        return g.add(op, [x], {**attributes, "scales": scales})
    return g.add(op, [x, g.const(scales, F32)], attributes)


@operator("GridSample")
def grid_sample(g, op):
    x = _image(g, g.dtype(op), rank=2 if g.opset < 20 else g.choice([2, 2, 3]))
    rank = x.rank - 2
    sizes = [g.choice([1, 2, 3, 4]) for _ in range(rank)]
    grid = g.fresh(g.choice([F32, F32, x.dtype if is_float(x.dtype) else F32]), (x.shape[0], *sizes, rank))
    if is_float(grid.dtype) and g.maybe(0.7):
        grid.array[...] = np.clip(grid.array / 3, -1.3, 1.3)
    old = ["bilinear", "nearest", "bicubic"]
    attributes = {}
    if g.maybe(0.8):
        attributes["mode"] = g.choice(old if g.opset < 20 else ["linear", "nearest"] + (["cubic"] if rank == 2 else []))
    if g.maybe(0.7):
        attributes["padding_mode"] = g.choice(["zeros", "border", "reflection"])
    if g.maybe(0.6):
        attributes["align_corners"] = g.choice([0, 1])
    return g.add(op, [x, grid], attributes)


@operator("AffineGrid")
def affine_grid(g, op):
    rank = g.choice([2, 3])
    n = g.choice([1, 2])
    size = g.const([n, g.choice([1, 2]), *[g.choice([1, 2, 3, 4]) for _ in range(rank)]])
    theta = g.tensor(g.dtype(op), shape=(n, rank, rank + 1))
    return g.add(op, [theta, size], {"align_corners": g.choice([0, 1])} if g.maybe(0.7) else {})


@operator("Col2Im")
def col2im(g, op):
    rank = g.choice([1, 2, 2, 3])
    image = [g.choice([3, 4, 5, 6]) for _ in range(rank)]
    block = [g.choice([1, 2, 3]) for _ in range(rank)]
    attributes = {}
    strides, dilations, pads = [1] * rank, [1] * rank, [0] * 2 * rank
    if g.maybe():
        strides = attributes["strides"] = [g.choice([1, 2]) for _ in range(rank)]
    if g.maybe(0.3):
        dilations = attributes["dilations"] = [g.choice([1, 2]) for _ in range(rank)]
    if g.maybe():
        pads = attributes["pads"] = [g.choice([0, 1]) for _ in range(2 * rank)]
    counts = [(image[a] + pads[a] + pads[a + rank] - dilations[a] * (block[a] - 1) - 1) // strides[a] + 1 for a in range(rank)]
    if min(counts) < 1:
        raise Rejected("the block is larger than the image")
    shape = (g.choice([1, 2]), g.choice([1, 2, 3]) * int(np.prod(block)), int(np.prod(counts)))
    return g.add(op, [g.tensor(g.dtype(op), shape=shape), g.const(image), g.const(block)], attributes)


# Recurrent networks.

ACTIVATIONS = "Relu Tanh Sigmoid HardSigmoid Elu Softsign Softplus LeakyRelu ThresholdedRelu ScaledTanh Affine".split()
WITH_ALPHA = ("HardSigmoid", "Elu", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "Affine")
WITH_BETA = ("HardSigmoid", "ScaledTanh", "Affine")
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


@operator("GRU", "LSTM", "RNN")
def recurrent(g, op):
    dtype = g.choice(g.types(op) if g.maybe(0.2) else [F32])
    gates = GATES[op]
    steps, batch, size, hidden = (g.choice([1, 2, 3, 4]) for _ in range(4))
    layout = 1 if g.opset >= 14 and g.maybe(0.2) else 0
    direction = g.choice(["forward", "reverse", "bidirectional"])
    d = 2 if direction == "bidirectional" else 1
    attributes = {"hidden_size": hidden}
    if direction != "forward" or g.maybe():
        attributes["direction"] = direction
    if layout:
        attributes["layout"] = 1
    if g.maybe(0.2):
        attributes["clip"] = g.choice([0.5, 2.0])
    if op == "GRU" and g.maybe(0.5):
        attributes["linear_before_reset"] = g.choice([0, 1])
    if op == "LSTM" and g.maybe(0.2):
        attributes["input_forget"] = g.choice([0, 1])
    if g.maybe(0.3):
        count = {"RNN": 1, "GRU": 2, "LSTM": 3}[op] * d
        attributes["activations"] = [g.choice(ACTIVATIONS[:3] if g.maybe() else ACTIVATIONS) for _ in range(count)]
        for name, users in (("activation_alpha", WITH_ALPHA), ("activation_beta", WITH_BETA)):
            values = [g.choice([0.25, 0.5, 1.0]) for a in attributes["activations"] if a in users]
            if values:
                attributes[name] = values
    x = g.tensor(dtype, shape=(batch, steps, size) if layout else (steps, batch, size))
    # Small weights: what ONNX Runtime's sigmoid is off by, 3e-8, must not be multiplied by thousands.
    inputs = [x, g.fresh(dtype, (d, gates * hidden, size), "unit"), g.fresh(dtype, (d, gates * hidden, hidden), "unit")]
    state = (batch, d, hidden) if layout else (d, batch, hidden)
    inputs.append(g.fresh(dtype, (d, 2 * gates * hidden)) if g.maybe() else None)
    inputs.append(g.fresh(I32, (batch,), (1, steps)) if g.maybe(0.3) else None)
    inputs.append(g.fresh(dtype, state) if g.maybe(0.4) else None)
    if op == "LSTM":
        inputs.append(g.fresh(dtype, state) if g.maybe(0.4) else None)
        inputs.append(g.fresh(dtype, (d, 3 * hidden)) if g.maybe(0.3) else None)
    outputs = 3 if op == "LSTM" else 2
    return g.add(op, inputs, attributes, outputs=outputs, skip=g.choice([(), (0,), (1,)]))
