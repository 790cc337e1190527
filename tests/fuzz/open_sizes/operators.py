"""What a random network with open sizes is made of: each function adds one operator (or the few nodes of a common idiom) to a
value of the network, or raises Rejected where the value is not of the rank or type that it takes."""

import numpy as np

from open_sizes.network import Rejected

FLOAT = np.dtype(np.float32)


def need(condition):
    if not condition:
        raise Rejected("precondition")


def need_float(g, v, *ranks):
    need(g.dtype(v) == FLOAT and (not ranks or g.rank(v) in ranks))


def fixed_or_reject(g, v, axis):
    size = g.fixed(v, axis)
    need(size is not None)
    return size


# --- windows


def window(g, spatial, kernels, strides, dilations=(1,)):
    """Attributes of a convolution or pooling over `spatial` axes."""
    r = g.random
    kernel = [r.choice(kernels) for _ in range(spatial)]
    attributes = {"kernel_shape": kernel}
    if r.random() < 0.7:
        attributes["strides"] = [r.choice(strides) for _ in range(spatial)]
    if len(dilations) > 1 and r.random() < 0.3:
        attributes["dilations"] = [r.choice(dilations) for _ in range(spatial)]
    # ONNX Runtime pads for SAME as if there were no dilations.
    dilated = any(d > 1 for d in attributes.get("dilations", ()))
    kind = r.random()
    if kind < 0.5:
        if r.random() < 0.6:
            attributes["pads"] = [k // 2 for k in kernel] * 2
        else:
            attributes["pads"] = [r.randint(0, k - 1) for k in kernel * 2]
    elif kind < 0.65:
        attributes["auto_pad"] = r.choice(("VALID",) if dilated else ("SAME_UPPER", "SAME_LOWER", "VALID"))
    return attributes


def conv(g, v):
    need_float(g, v, 3, 3, 4, 5)
    r, channels = g.random, fixed_or_reject(g, v, 1)
    groups = r.choice([d for d in range(1, channels + 1) if channels % d == 0])
    out = groups * r.randint(1, 3)
    attributes = window(g, g.rank(v) - 2, (1, 2, 3, 3, 3, 5), (1, 1, 2, 2, 3), (1, 2, 3))
    inputs = [v, g.weights(out, channels // groups, *attributes["kernel_shape"])]
    if r.random() < 0.5:
        inputs.append(g.weights(out))
    g.add("Conv", inputs, group=groups, **attributes)


def conv_transpose(g, v):
    need_float(g, v, 3, 4)
    r, channels, spatial = g.random, fixed_or_reject(g, v, 1), g.rank(v) - 2
    groups = r.choice([d for d in range(1, channels + 1) if channels % d == 0])
    strides = [r.choice((1, 2, 2, 3)) for _ in range(spatial)]
    kernel = [r.choice((1, 2, 3, 4)) for _ in range(spatial)]
    attributes = {"kernel_shape": kernel, "strides": strides, "group": groups}
    if r.random() < 0.5:
        attributes["pads"] = [r.randint(0, min(k - 1, 1)) for k in kernel * 2]
    if r.random() < 0.3:
        attributes["output_padding"] = [r.randint(0, s - 1) for s in strides]
    if r.random() < 0.2:
        attributes["dilations"] = [r.choice((1, 2)) for _ in range(spatial)]
    inputs = [v, g.weights(channels, r.randint(1, 2), *kernel)]
    if r.random() < 0.5:
        inputs.append(g.weights(inputs_out := groups * g.constants[inputs[1]].shape[1]))
        need(inputs_out > 0)
    g.add("ConvTranspose", inputs, **attributes)


def pool(g, v):
    need_float(g, v, 3, 4, 4)
    r = g.random
    op = r.choice(("MaxPool", "MaxPool", "AveragePool", "AveragePool", "LpPool"))
    dilated = op == "MaxPool" or g.opset >= (19 if op == "AveragePool" else 18)
    attributes = window(g, g.rank(v) - 2, (1, 2, 2, 3, 3, 4), (1, 2, 2, 3), (1, 2) if dilated else (1,))
    if r.random() < 0.25 and "auto_pad" not in attributes and (op != "LpPool" or g.opset >= 18):
        attributes["ceil_mode"] = 1
    # ONNX Runtime gives an output for a window that does not fit, ONNX's formula none.
    pads, spatial = attributes.get("pads", [0] * 6), g.rank(v) - 2
    for i, kernel in enumerate(attributes["kernel_shape"]):
        extent = (kernel - 1) * attributes.get("dilations", [1] * 3)[i] + 1
        need("SAME" in attributes.get("auto_pad", "") or g.least(v, i + 2) + pads[i] + pads[i + spatial] >= extent)
    if op == "AveragePool":
        attributes["count_include_pad"] = r.choice((0, 0, 1))
    if op == "LpPool":
        attributes["p"] = r.choice((1, 2, 3))
    g.add(op, [v], **attributes)


def global_pool(g, v):
    need_float(g, v, 3, 4)
    g.add(g.random.choice(("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")), [v])


def resize(g, v):
    need_float(g, v, 3, 4, 4)
    r = g.random
    scales = [1.0, 1.0] + [r.choice((2.0, 2.0, 0.5, 3.0, 1.5, 1.0)) for _ in range(g.rank(v) - 2)]
    mode = r.choice(("nearest", "nearest", "linear", "cubic"))
    need(mode != "cubic" or g.rank(v) == 4)
    attributes = {"mode": mode}
    attributes["coordinate_transformation_mode"] = r.choice(
        ("half_pixel", "asymmetric", "asymmetric", "align_corners", "pytorch_half_pixel")
    )
    if mode == "nearest":
        attributes["nearest_mode"] = r.choice(("floor", "round_prefer_floor", "ceil", "round_prefer_ceil"))
    roi = "" if g.opset >= 13 else g.constant(np.zeros(0, np.float32))
    g.add("Resize", [v, roi, g.constant(np.array(scales, np.float32))], **attributes)


def space_to_depth(g, v):
    need_float(g, v, 4)
    block = 2 if g.random.random() < 0.8 else 3
    if g.random.random() < 0.5:
        need(fixed_or_reject(g, v, 1) % (block * block) == 0)
        mode = g.random.choice(("DCR", "CRD"))
        g.add("DepthToSpace", [v], blocksize=block, mode=mode)
        return
    if any(a.shape[i] % block for a in g.values[v] for i in (2, 3)):  # make it so
        v = g.add("Resize", [v, "" if g.opset >= 13 else g.constant(np.zeros(0, np.float32)),
                             g.constant(np.array([1, 1, block, block], np.float32))],
                  mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    g.add("SpaceToDepth", [v], blocksize=block)


def lrn(g, v):
    need_float(g, v, 3, 4)
    need(g.rank(v) == 4)
    g.add("LRN", [v], size=g.random.choice((1, 3, 5)), alpha=0.5, beta=0.75, bias=1.0)


# --- movement


def slice_(g, v):
    r, rank = g.random, g.rank(v)
    need(rank > 0)
    axes = r.sample(range(rank), r.choice((1, 1, 1, 2)) if rank > 1 else 1)
    starts, ends, steps = [], [], []
    for axis in axes:
        least = g.least(v, axis)
        if r.random() < 0.7:
            step = r.choice((1, 1, 1, 2, 3))
            starts.append(r.choice((0, 0, r.randint(0, least - 1), -r.randint(1, least), -(2**31))))
            ends.append(r.choice((least, r.randint(1, least), -1, -2, 2**31 - 1, 2**62, least + 3)))
        else:
            step = r.choice((-1, -1, -2))
            starts.append(r.choice((-1, -1, least - 1, 2**31 - 1, -2)))
            ends.append(r.choice((-(2**31), -(2**62), 0, -least)))
        steps.append(step)
    inputs = [v, g.ints(starts), g.ints(ends), g.ints([a - rank if r.random() < 0.3 else a for a in axes])]
    if any(s != 1 for s in steps) or r.random() < 0.5:
        inputs.append(g.ints(steps))
    g.add("Slice", inputs)


def gather(g, v):
    r, rank = g.random, g.rank(v)
    need(rank > 0)
    axis = r.randrange(rank)
    least = g.least(v, axis)
    index = lambda: r.choice((0, -1, r.randint(0, least - 1), -r.randint(1, least)))  # noqa: E731
    indices = index() if r.random() < 0.6 else [index() for _ in range(r.randint(1, 3))]
    g.add("Gather", [v, g.ints(indices)], axis=axis)


def tile(g, v):
    r = g.random
    need(g.rank(v) > 0)
    repeats = [r.choice((1, 1, 2, 3)) for _ in range(g.rank(v))]
    g.add("Tile", [v, g.ints(repeats)])


def pad(g, v):
    need_float(g, v)
    r, rank = g.random, g.rank(v)
    need(rank > 0)
    modes = ["constant", "constant", "reflect", "edge"] + (["wrap"] if g.opset >= 19 else [])
    mode = r.choice(modes)
    pads = [0] * (2 * rank)
    for axis in r.sample(range(rank), min(rank, r.choice((1, 2)))):
        most = g.least(v, axis) - 1 if mode in ("reflect", "wrap") else 3
        for side in (axis, axis + rank):
            pads[side] = r.randint(0, max(0, min(3, most)))
        if mode == "constant" and r.random() < 0.2:
            pads[axis] = -r.randint(0, min(2, g.least(v, axis) - 1))
    need(any(pads))
    inputs = [v, g.ints(pads)]
    if mode == "constant" and r.random() < 0.5:
        inputs.append(g.constant(np.float32(r.choice((0.5, -1.0)))))
    g.add("Pad", inputs, mode=mode)


def concat(g, v):
    r, rank = g.random, g.rank(v)
    need(rank > 0)
    axis = r.randrange(rank)
    others = [
        n for n in g.values
        if g.rank(n) == rank and g.dtype(n) == g.dtype(v)
        and all(a.shape[:axis] + a.shape[axis + 1:] == b.shape[:axis] + b.shape[axis + 1:] for a, b in zip(g.values[n], g.values[v]))
    ]
    parts = [v, r.choice(others)]
    if r.random() < 0.3:
        parts.append(r.choice(others))
    r.shuffle(parts)
    if r.random() < 0.2 and all(g.fixed(v, a) is not None for a in range(rank) if a != axis) and g.dtype(v) == FLOAT:
        shape = list(g.values[v][0].shape)
        shape[axis] = r.randint(1, 3)
        parts.append(g.weights(*shape))
    g.add("Concat", parts, axis=axis if r.random() < 0.7 else axis - rank)


def split(g, v):
    r, rank = g.random, g.rank(v)
    need(rank > 0)
    axis = r.randrange(rank)
    size = fixed_or_reject(g, v, axis)
    need(size > 1)
    if r.random() < 0.5 and size % 2 == 0:
        g.add("Split", [v], outputs=2, axis=axis, num_outputs=2 if g.opset >= 18 else None)
        return
    first = r.randint(1, size - 1)
    if g.opset >= 13:
        g.add("Split", [v, g.ints([first, size - first])], outputs=2, axis=axis)
    else:
        g.add("Split", [v], outputs=2, axis=axis, split=[first, size - first])


def transpose(g, v):
    need(g.rank(v) > 1)
    order = list(range(g.rank(v)))
    g.random.shuffle(order)
    g.add("Transpose", [v], perm=order)


def reshape(g, v):
    """Merges two neighbours by 0 and -1, or cuts a fixed axis."""
    r, rank = g.random, g.rank(v)
    need(rank > 1)
    kind = r.random()
    if kind < 0.6:
        at = r.randrange(rank - 1)
        shape = [0] * at + [-1]
        for axis in range(at + 2, rank):
            shape.append(fixed_or_reject(g, v, axis))
    elif kind < 0.8:
        at = r.randrange(rank)
        size = fixed_or_reject(g, v, at)
        parts = [d for d in range(1, size + 1) if size % d == 0]
        first = r.choice(parts)
        shape = [0] * at + [first, size // first]
        rest = list(range(at + 1, rank))
        unknown = [a for a in rest if g.fixed(v, a) is None]
        need(len(unknown) <= 1)
        shape += [-1 if a in unknown else g.fixed(v, a) for a in rest]
    else:
        last = fixed_or_reject(g, v, rank - 1)
        shape = [-1, last]
    g.add("Reshape", [v, g.ints(shape)])


def flatten(g, v):
    g.add("Flatten", [v], axis=g.random.randint(0, g.rank(v)))


def squeeze(g, v):
    axes = [a for a in range(g.rank(v)) if g.fixed(v, a) == 1]
    need(axes)
    axis = g.random.choice(axes)
    if g.opset >= 13:
        g.add("Squeeze", [v, g.ints([axis])])
    else:
        g.add("Squeeze", [v], axes=[axis])


def unsqueeze(g, v):
    need(g.rank(v) < 5)
    axis = g.random.randint(0, g.rank(v))
    if g.opset >= 13:
        g.add("Unsqueeze", [v, g.ints([axis])])
    else:
        g.add("Unsqueeze", [v], axes=[axis])


# --- shapes computed from sizes


def shape_part(g, v, axis):
    """The size of one axis, as a tensor of one element."""
    shape = g.add("Shape", [v])
    if g.random.random() < 0.5:
        return g.add("Gather", [shape, g.ints([axis])], axis=0)
    return g.add("Slice", [shape, g.ints([axis]), g.ints([axis + 1]), g.ints([0])])


def shape_reshape(g, v):
    """view(x.size(0), -1, ...) as exporters write it."""
    r, rank = g.random, g.rank(v)
    need(rank > 1)
    first = shape_part(g, v, 0)
    if r.random() < 0.5:
        target = g.add("Concat", [first, g.ints([-1])], axis=0)
    else:
        size = fixed_or_reject(g, v, rank - 1)
        parts = [d for d in range(1, size + 1) if size % d == 0]
        heads = r.choice(parts)
        target = g.add("Concat", [first, g.ints([-1, heads, size // heads])], axis=0)
    g.add("Reshape", [v, target])


def shape_expand(g, v):
    need_float(g, v)
    rank = g.rank(v)
    need(rank > 0)
    axis = g.random.randrange(rank)
    size = fixed_or_reject(g, v, axis)
    shape = g.add("Shape", [v])
    row = g.weights(*[size if a == axis else 1 for a in range(rank)])
    expanded = g.add("Expand", [row, shape])
    g.add("Mul", [expanded, v])


def shape_constant(g, v):
    need_float(g, v)
    need(g.rank(v) > 0)
    shape = g.add("Shape", [v])
    ones = g.add("ConstantOfShape", [shape])
    g.add("Sub", [v, ones])


def positions(g, v):
    """Range over an axis, as a position embedding."""
    need_float(g, v, 2, 3)
    r, axis = g.random, g.rank(v) - 2
    size = g.add("Squeeze", [shape_part(g, v, axis)] + ([g.ints([0])] if g.opset >= 13 else []), axes=None if g.opset >= 13 else [0])
    steps = g.add("Range", [g.ints(0), size, g.ints(1)])
    most = max(a.shape[axis] for a in g.values[v])
    if r.random() < 0.5:
        width = fixed_or_reject(g, v, axis + 1)
        g.add("Add", [v, g.add("Gather", [g.weights(most, width), steps])])
        return
    scaled = g.add("Cast", [steps], to=1)
    column = g.add("Unsqueeze", [scaled] + ([g.ints([1])] if g.opset >= 13 else []), axes=None if g.opset >= 13 else [1])
    g.add("Add", [v, g.add("Mul", [column, g.constant(np.float32(0.125))])])


def shape_scaled(g, v):
    """Arithmetic on a size: half of an axis is cut off."""
    need_float(g, v)
    need(g.rank(v) > 0)
    axis = g.random.randrange(g.rank(v))
    need(g.least(v, axis) > 1)
    half = g.add("Div", [shape_part(g, v, axis), g.ints([2])])
    if g.random.random() < 0.5:
        g.add("Slice", [v, g.ints([0]), half, g.ints([axis])])
    else:
        g.add("Slice", [v, half, g.ints([2**31 - 1]), g.ints([axis])])


# --- sums


def matmul(g, v):
    need_float(g, v, 2, 3, 3, 4)
    size = fixed_or_reject(g, v, g.rank(v) - 1)
    g.add("MatMul", [v, g.weights(size, g.random.choice((1, 3, 4, 8)))])


def attention(g, v):
    need_float(g, v, 3, 4)
    order = list(range(g.rank(v)))
    order[-1], order[-2] = order[-2], order[-1]
    scores = g.add("MatMul", [v, g.add("Transpose", [v], perm=order)])
    if g.random.random() < 0.7:
        scores = g.add("Softmax", [scores], axis=-1 if g.opset >= 13 else g.rank(v) - 1)
        g.add("MatMul", [scores, v])


def gemm(g, v):
    need_float(g, v, 2)
    r = g.random
    turned = int(r.random() < 0.3)
    size, out = fixed_or_reject(g, v, 0 if turned else 1), r.choice((1, 3, 5))
    right = int(r.random() < 0.5)
    inputs = [v, g.weights(out, size) if right else g.weights(size, out)]
    if r.random() < 0.7:
        inputs.append(g.weights(*r.choice(((out,), (1, out), (1,)))))
    g.add("Gemm", inputs, transA=turned, transB=right, alpha=r.choice((1.0, 0.5)), beta=r.choice((1.0, 2.0)))


def reduce(g, v):
    need_float(g, v)
    r, rank = g.random, g.rank(v)
    need(rank > 0)
    op = r.choice(("ReduceMean", "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare",
                   "ReduceLogSumExp", "ReduceProd"))
    axes = sorted(r.sample(range(rank), r.randint(1, min(2, rank))))
    keep = int(r.random() < 0.5)
    if r.random() < 0.15:
        g.add(op, [v], keepdims=keep)
    elif g.opset >= 18 or (op == "ReduceSum" and g.opset >= 13):
        g.add(op, [v, g.ints(axes)], keepdims=keep)
    else:
        g.add(op, [v], axes=axes, keepdims=keep)


def arg(g, v):
    need_float(g, v)
    r, rank = g.random, g.rank(v)
    need(rank > 0)
    axis = r.randrange(rank)
    kind = r.random()
    if kind < 0.5:
        g.add(r.choice(("ArgMax", "ArgMin")), [v], axis=axis, keepdims=int(r.random() < 0.5))
    elif kind < 0.75:
        g.add("CumSum", [v, g.constant(np.array(axis, np.int64))], exclusive=int(r.random() < 0.3), reverse=int(r.random() < 0.3))
    else:
        g.add("TopK", [v, g.ints([r.randint(1, min(3, g.least(v, axis)))])], outputs=2, axis=axis)


# --- normalisations


def softmax(g, v):
    need_float(g, v)
    need(g.rank(v) > 0)
    op = g.random.choice(("Softmax", "Softmax", "LogSoftmax", "Hardmax"))
    g.add(op, [v], axis=g.random.randrange(g.rank(v)))


def need_spread(g, v, axes):
    """Values that hardly differ along `axes` are mostly rounding once they are normalised."""
    for a in g.values[v]:
        deviation, mean = a.std(axis=axes), np.abs(a.mean(axis=axes))
        need(np.all(deviation > 0.05 * mean) or all(a.shape[i] == 1 for i in axes))


def normalise(g, v):
    need_float(g, v)
    r, rank = g.random, g.rank(v)
    need(rank > 1)
    op = r.choice(("BatchNormalization", "InstanceNormalization", "LayerNormalization", "GroupNormalization", "LpNormalization",
                   "MeanVarianceNormalization"))
    if op == "LpNormalization":
        g.add(op, [v], axis=r.randrange(rank), p=r.choice((1, 2)))
        return
    if op == "MeanVarianceNormalization":
        need(rank == 4)
        need_spread(g, v, (0, 2, 3))
        g.add(op, [v])
        return
    if op == "LayerNormalization":
        need(g.opset >= 17)
        need_spread(g, v, (rank - 1,))
        g.add(op, [v, g.weights(fixed_or_reject(g, v, rank - 1))], axis=-1)
        return
    channels = fixed_or_reject(g, v, 1)
    if op == "BatchNormalization":
        variance = g.constant(g.floats((channels,), 0.5, 1.5))
        g.add(op, [v, g.weights(channels), g.weights(channels), g.weights(channels), variance])
        return
    need(rank > 2)
    need_spread(g, v, tuple(range(2, rank)))
    if op == "InstanceNormalization":
        g.add(op, [v, g.weights(channels), g.weights(channels)])
        return
    need(g.opset >= 21)
    groups = r.choice([d for d in range(1, channels + 1) if channels % d == 0])
    g.add(op, [v, g.weights(channels), g.weights(channels)], num_groups=groups)


# --- elements


def unary(g, v):
    need_float(g, v)
    r = g.random
    op = r.choice(("Relu", "Relu", "Relu", "Sigmoid", "Tanh", "Abs", "Neg", "LeakyRelu", "Elu", "HardSigmoid", "Softplus", "Exp", "Floor",
                   "Erf", "Identity", "Clip"))
    if op == "Clip":
        g.add(op, [v, g.constant(np.float32(-0.5)), g.constant(np.float32(0.75))])
        return
    g.add(op, [v])


def binary(g, v):
    need_float(g, v)
    r, rank = g.random, g.rank(v)
    op = r.choice(("Add", "Add", "Mul", "Sub", "Max", "Min"))
    others = [n for n in g.values if g.dtype(n) == FLOAT and n != v]
    kind = r.random()
    if kind < 0.5 and others:
        other = r.choice(others)
    elif kind < 0.8 and rank > 0:
        axis = r.randrange(rank)
        other = g.weights(fixed_or_reject(g, v, axis), *[1] * (rank - 1 - axis))
    else:
        other = g.constant(np.float32(r.choice((0.5, -2.0, 3.0))))
    g.add(op, [v, other] if r.random() < 0.7 else [other, v])


def where(g, v):
    need_float(g, v)
    mask = g.add("Greater", [v, g.constant(np.float32(0.1))])
    others = [n for n in g.values if n != mask and g.dtype(n) == FLOAT and g.same_shape(n, v)]
    other = g.random.choice(others) if g.random.random() < 0.4 else g.constant(np.float32(-1.0))
    g.add("Where", [mask, v, other])


def prelu(g, v):
    need_float(g, v)
    need(g.rank(v) > 1)
    g.add("PRelu", [v, g.weights(fixed_or_reject(g, v, 1), *[1] * (g.rank(v) - 2))])


def triangle(g, v):
    need_float(g, v, 2, 3, 4)
    need(g.opset >= 14)
    g.add("Trilu", [v, g.ints(g.random.choice((0, 1, -1)))], upper=g.random.choice((0, 1)))


def squeeze_excite(g, v):
    need_float(g, v, 4)
    channels = fixed_or_reject(g, v, 1)
    pooled = g.add("GlobalAveragePool", [v])
    gate = g.add("Sigmoid", [g.add("Conv", [pooled, g.weights(channels, channels, 1, 1)])])
    g.add("Mul", [v, gate])


def recurrent(g, v):
    need_float(g, v, 3)
    op, gates = g.random.choice((("LSTM", 4), ("GRU", 3), ("RNN", 1)))
    width, hidden = fixed_or_reject(g, v, 2), g.random.choice((2, 3))
    need(max(a.shape[0] for a in g.values[v]) <= 8)
    g.add(op, [v, g.weights(1, gates * hidden, width), g.weights(1, gates * hidden, hidden)], hidden_size=hidden)


def crop(g, v):
    need_float(g, v)
    need(g.opset >= 18 and g.rank(v) > 0)
    axis = g.random.randrange(g.rank(v))
    g.add("CenterCropPad", [v, g.ints([max(1, g.least(v, axis) - g.random.randint(0, 2))])], axes=[axis])


OPERATORS = (
    (conv, 14), (conv_transpose, 5), (pool, 9), (global_pool, 2), (resize, 6), (space_to_depth, 3), (lrn, 2),
    (slice_, 7), (gather, 5), (tile, 3), (pad, 6), (concat, 5), (split, 3), (transpose, 4), (reshape, 5), (flatten, 2), (squeeze, 2),
    (unsqueeze, 2), (shape_reshape, 3), (shape_expand, 2), (shape_constant, 1), (positions, 2), (shape_scaled, 1),
    (matmul, 4), (attention, 2), (gemm, 2), (reduce, 4), (arg, 2), (softmax, 3), (normalise, 4),
    (unary, 8), (binary, 7), (where, 1), (prelu, 1), (triangle, 1), (squeeze_excite, 1), (recurrent, 1), (crop, 1),
)
