"""Random networks of images: what layouts, vectors, tiles and their ends have to be right for."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import harness
from random_graph import Draws

OPSET = 18
CHANNELS = (1, 2, 3, 4, 6, 8, 12, 15, 16, 17, 20, 24, 32, 34, 48, 64)
SIZES = (1, 2, 3, 5, 7, 8, 9, 11, 13, 14, 16, 17, 20, 28)
MOST_PRODUCTS = 4_000_000  # of one layer


class Images:
    """A network from one image to one output. `values` holds the images that later layers may read: (name, channels, rows, columns)."""

    def __init__(self, seed):
        self.draws = Draws(seed)
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights, self.values = [], [], []
        shape = (self.draws.choice((1, 1, 1, 2)), self.draws.choice(CHANNELS), self.draws.choice(SIZES), self.draws.choice(SIZES))
        self.batch, self.shape = shape[0], shape
        self.values.append(("x", *shape[1:]))
        for _ in range(self.draws.rng.randint(2, 7)):
            getattr(self, self.draws.choice(self.LAYERS))(*self.newest())
        self.end()

    LAYERS = ("convolution",) * 5 + ("depthwise",) * 3 + ("pool",) * 3 + (
        "activation", "activation", "residual", "residual", "joined", "joined", "shuffled", "normalised", "scaled", "widened", "split",
        "over_channels", "over_channels", "gated") + ("filtered",) * 4 + ("raised", "raised", "spaced")

    def newest(self):
        return self.values[-1] if self.draws.maybe(0.8) else self.draws.choice(self.values)

    def add(self, op, inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def numbers(self, *shape, scale=1.0):
        name = f"w{len(self.weights)}"
        array = (self.random.standard_normal(shape) * scale).astype(np.float32)
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def integers(self, values):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def window(self, rows, columns, largest):
        """Kernel, strides, pads and the size of the output."""
        size = [self.draws.choice([k for k in (1, 2, 3, 5, 7) if k <= largest]) for _ in range(2)]
        strides = [self.draws.choice((1, 1, 1, 2, 3)) for _ in range(2)]
        pads = [self.draws.rng.randint(0, k // 2) for k in size * 2]
        out = [(n + pads[i] + pads[i + 2] - size[i]) // strides[i] + 1 for i, n in enumerate((rows, columns))]
        return size, strides, pads, out

    def convolution(self, x, channels, rows, columns, groups=None):
        size, strides, pads, out = self.window(rows, columns, 7)
        groups = groups or self.draws.choice([g for g in (1, 1, 1, 1, 2, 3, 4) if channels % g == 0])
        outputs = self.draws.choice([c for c in CHANNELS if c % groups == 0] or [channels])
        if min(out) < 1 or outputs * channels // groups * size[0] * size[1] * out[0] * out[1] > MOST_PRODUCTS:
            return
        taken = channels // groups * size[0] * size[1]
        inputs = [x, self.numbers(outputs, channels // groups, *size, scale=taken**-0.5)]
        if self.draws.maybe(0.8):
            inputs.append(self.numbers(outputs))
        y = self.add("Conv", inputs, kernel_shape=size, strides=strides, pads=pads, group=groups)
        self.values.append((self.activated(y), outputs, *out))

    def filtered(self, x, channels, rows, columns):
        """A 3x3 (or 3x1, 1x3) between many channels, behind something larger: there is memory for other ways to compute it."""
        inner, outputs = self.draws.choice((16, 20, 32)), self.draws.choice((16, 24, 32, 48))
        wide = 4 * (inner + outputs)
        size = self.draws.choice(([3, 3], [3, 3], [3, 3], [3, 1], [1, 3], [3, 2]))
        pads = [self.draws.rng.randint(0, k // 2) for k in size * 2]
        out = [n + pads[i] + pads[i + 2] - size[i] + 1 for i, n in enumerate((rows, columns))]
        if min(out) < 1 or (channels + inner) * wide * rows * columns > 3 * MOST_PRODUCTS:
            return
        x = self.add("Relu", [self.add("Conv", [x, self.numbers(wide, channels, 1, 1, scale=channels**-0.5)])])
        x = self.add("Relu", [self.add("Conv", [x, self.numbers(inner, wide, 1, 1, scale=wide**-0.5)])])
        w = self.numbers(outputs, inner, *size, scale=(inner * size[0] * size[1]) ** -0.5)
        y = self.add("Conv", [x, w, self.numbers(outputs)], kernel_shape=size, pads=pads)
        if self.draws.maybe(0.3) and inner == outputs and out == [rows, columns]:
            y = self.add("Add", [x, y])
        self.values.append((self.activated(y), outputs, *out))

    def depthwise(self, x, channels, rows, columns):
        size, strides, pads, out = self.window(rows, columns, 5)
        times = self.draws.choice((1, 1, 1, 2))
        if min(out) < 1:
            return
        w = self.numbers(channels * times, 1, *size, scale=(size[0] * size[1]) ** -0.5)
        y = self.add("Conv", [x, w], kernel_shape=size, strides=strides, pads=pads, group=channels)
        self.values.append((self.activated(y), channels * times, *out))

    def activated(self, x):
        kind = self.draws.choice(("none", "Relu", "Relu", "clipped", "silu", "HardSwish", "LeakyRelu", "Sigmoid"))
        if kind == "none":
            return x
        if kind == "silu":
            return self.add("Mul", [x, self.add("Sigmoid", [x])])
        if kind == "clipped":
            return self.add("Min", [self.add("Relu", [x]), self.constant(6.0)])
        return self.add(kind, [x])

    def constant(self, value):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.array(value, np.float32), name))
        return name

    def activation(self, x, *shape):
        self.values.append((self.add(self.draws.choice(("Relu", "Sigmoid", "Tanh", "Exp", "Erf", "Softplus", "Elu")), [self.bounded(x)]), *shape))

    def bounded(self, x):
        return self.add("Clip", [x, self.constant(-6.0), self.constant(6.0)])

    def pool(self, x, channels, rows, columns):
        size, strides, pads, out = self.window(rows, columns, 5)
        if min(out) < 1:
            return
        if self.draws.maybe(0.6):
            y = self.add("MaxPool", [x], kernel_shape=size, strides=strides, pads=pads)
        else:
            y = self.add("AveragePool", [x], kernel_shape=size, strides=strides, pads=pads, count_include_pad=int(self.draws.maybe()))
        self.values.append((y, channels, *out))

    def residual(self, x, *shape):
        others = [v for v in self.values if v[1:] == shape]
        y = self.add(self.draws.choice(("Add", "Add", "Mul", "Sub", "Max")), [x, self.draws.choice(others)[0]])
        self.values.append((self.activated(y), *shape))

    def joined(self, x, channels, rows, columns):
        others = [v for v in self.values if v[2:] == (rows, columns)]
        parts = [(x, channels)] + [self.draws.choice(others)[:2] for _ in range(self.draws.rng.randint(1, 2))]
        y = self.add("Concat", [p[0] for p in parts], axis=1)
        self.values.append((y, sum(p[1] for p in parts), rows, columns))

    def split(self, x, channels, rows, columns):
        if channels < 2:
            return
        first = self.draws.rng.randint(1, channels - 1)
        begin, end = (0, first) if self.draws.maybe() else (first, channels)
        y = self.add("Slice", [x, self.integers([begin]), self.integers([end]), self.integers([1])])
        self.values.append((y, end - begin, rows, columns))

    def shuffled(self, x, channels, rows, columns):
        groups = [g for g in (2, 3, 4, 8) if channels % g == 0]
        if not groups:
            return
        n = self.draws.choice(groups)
        y = self.add("Reshape", [x, self.integers([self.batch, n, channels // n, rows, columns])])
        y = self.add("Reshape", [self.add("Transpose", [y], perm=[0, 2, 1, 3, 4]), self.integers([self.batch, channels, rows, columns])])
        self.values.append((y, channels, rows, columns))

    def normalised(self, x, channels, *sizes):
        inputs = [x, self.numbers(channels), self.numbers(channels), self.numbers(channels)]
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array((self.random.random(channels) + 0.5).astype(np.float32), name))
        self.values.append((self.activated(self.add("BatchNormalization", inputs + [name])), channels, *sizes))

    def scaled(self, x, channels, *sizes):
        self.values.append((self.add("Mul", [x, self.numbers(1, channels, 1, 1)]), channels, *sizes))

    def gated(self, x, channels, *sizes):
        mean = self.add("ReduceMean", [x, self.integers([2, 3])])
        self.values.append((self.add("Mul", [x, self.add("Sigmoid", [mean])]), channels, *sizes))

    def widened(self, x, channels, rows, columns):
        if rows * columns * channels > 8000:
            return
        scales = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), scales))
        y = self.add("Resize", [x, "", scales], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        self.values.append((y, channels, 2 * rows, 2 * columns))

    def raised(self, x, channels, rows, columns):
        """A transposed convolution."""
        size, strides, pads, _ = self.window(rows, columns, 5)
        groups = self.draws.choice([g for g in (1, 1, 1, 2) if channels % g == 0])
        outputs = self.draws.choice([c for c in CHANNELS if c % groups == 0])
        out = [(n - 1) * strides[i] + size[i] - pads[i] - pads[i + 2] for i, n in enumerate((rows, columns))]
        if min(out) < 1 or outputs * channels // groups * size[0] * size[1] * rows * columns > MOST_PRODUCTS or outputs * out[0] * out[1] > 60000:
            return
        inputs = [x, self.numbers(channels, outputs // groups, *size, scale=(channels // groups) ** -0.5)]
        if self.draws.maybe(0.8):
            inputs.append(self.numbers(outputs))
        y = self.add("ConvTranspose", inputs, kernel_shape=size, strides=strides, pads=pads, group=groups)
        self.values.append((self.activated(y), outputs, *out))

    def spaced(self, x, channels, rows, columns):
        """Channels that become pixels, or pixels that become channels."""
        n = self.draws.choice((2, 3))
        if channels % (n * n) == 0:
            y = self.add("DepthToSpace", [x], blocksize=n, mode=self.draws.choice(("CRD", "DCR")))
            self.values.append((y, channels // (n * n), rows * n, columns * n))
        elif rows % n == 0 and columns % n == 0 and channels <= 16:
            self.values.append((self.add("SpaceToDepth", [x], blocksize=n), channels * n * n, rows // n, columns // n))

    def over_channels(self, x, *shape):
        kind = self.draws.choice(("Softmax", "Softmax", "LayerNormalization", "LRN"))
        if kind == "Softmax":
            y = self.add("Softmax", [self.bounded(x)], axis=self.draws.choice((1, 3)))
        elif kind == "LRN":
            y = self.add("LRN", [x], size=self.draws.choice((1, 3, 5)), alpha=0.5, beta=self.draws.choice((0.5, 0.75, 1.0)), bias=1.0)
        else:
            y = self.add("LayerNormalization", [x, self.numbers(shape[2])], axis=3)
        self.values.append((y, *shape))

    def end(self):
        x, channels, rows, columns = self.values[-1]
        kind = self.draws.choice(("image", "image", "means", "dense", "rows"))
        if kind == "image" or channels * rows * columns > 20000:
            self.output, self.out_shape = x, [self.batch, channels, rows, columns]
        elif kind == "rows":
            self.output = self.add("Softmax", [self.add("Transpose", [self.bounded(x)], perm=[0, 2, 3, 1])], axis=-1)
            self.out_shape = [self.batch, rows, columns, channels]
        elif kind == "means":
            self.output, self.out_shape = self.add("GlobalAveragePool", [x]), [self.batch, channels, 1, 1]
        else:
            size, units = channels * rows * columns, self.draws.choice((1, 5, 10, 16, 33, 64))
            y = self.add("Gemm", [self.add("Flatten", [x]), self.numbers(units, size, scale=size**-0.5), self.numbers(units)], transB=1)
            self.output, self.out_shape = self.activated(y), [self.batch, units]

    def model(self):
        if self.output == "x":
            self.output = self.add("Relu", ["x"])
        given = helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)
        result = helper.make_tensor_value_info(self.output, TensorProto.FLOAT, self.out_shape)
        graph = helper.make_graph(self.nodes, "images", [given], [result], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=harness.IR_VERSION - 1)

    def data(self):
        """(inputs, outputs of ONNX Runtime)"""
        x = self.random.standard_normal(self.shape).astype(np.float32)
        return [x], harness.ort_run(self.model(), {"x": x})
