"""A random quantised graph, layer by layer: each layer appends ONNX nodes and the function of the reference that they stand for."""

from dataclasses import dataclass, field

import numpy as np
from onnx import helper, numpy_helper

import harness
from quantised import reference
from quantised.reference import F32
from random_graph import Draws, Tensor

LIMIT = 2000  # elements of one tensor
INT8, UINT8, INT16, UINT16 = (np.dtype(t) for t in ("int8", "uint8", "int16", "uint16"))


class Rejected(Exception):
    """The layer can't be made so."""


@dataclass
class Value(Tensor):
    """A quantised one has a scale and a zero point."""

    scale: np.float32 | None = None
    zero: int = 0
    fill: object = None  # of an input: function of (numpy's generator, shape, kind of KINDS) that gives another array


@dataclass
class Layer:
    """`function(*arrays)` gives the arrays of `outputs`, and where the first is doubtful (None: nowhere). `exact`: every rounding is
    pinned."""

    kind: str
    function: object
    inputs: list
    outputs: list
    nodes: list = field(default_factory=list)


KINDS = ("random", "extreme", "equal")  # of inputs


def _integers(draw, shape, kind, dtype):
    info = np.iinfo(dtype)
    if kind == "equal":
        return np.full(shape, draw.integers(info.min, info.max, endpoint=True)).astype(dtype)
    if kind == "extreme":
        return draw.choice([info.min, info.max], size=shape).astype(dtype)
    return draw.integers(info.min, info.max, size=shape, endpoint=True).astype(dtype)


def _floats(draw, shape, kind, scale, dtype):
    """Some of them half-way between two integers."""
    reach = float(np.iinfo(dtype).max)
    array = np.full(shape, draw.normal()) if kind == "equal" else draw.normal(size=shape)
    if kind == "extreme":
        array = np.sign(array) * 1e3
    array = array * reach / 2
    if draw.random() < 0.5:
        array = np.round(array * 2) / 2
    return (array * float(scale)).astype(F32)


class Graph(Draws):
    """Raises Rejected where a layer can't be; then `mark` and `restore` take back what was added for it."""

    def __init__(self, seed):
        super().__init__(seed)
        self.draw = np.random.default_rng(self.rng.getrandbits(32))
        self.opset = self.rng.choice([13, 17, 18, 21, 22])
        self.values, self.inputs, self.initializers, self.layers, self.nodes = [], [], [], [], []
        self.dequantised = {}
        self.activation = self.rng.choice([INT8, INT8, INT8, UINT8, UINT8, INT16, UINT16] if self.opset >= 21 else [INT8, INT8, UINT8])
        self.powers = self.maybe(0.25)  # all scales are powers of two: exact ties
        self.open = self.maybe(0.1)  # the batch is an open size
        self.batch = self.choice([2, 3] if self.open else [1, 1, 1, 2, 3])

    # Numbers.

    def scale(self):
        """Over many magnitudes."""
        if self.powers or self.maybe(0.15):
            return F32(2.0 ** self.rng.randint(-12, 4))
        if self.maybe(0.05):
            return F32(1)
        if self.maybe(0.04):
            return F32(10 ** self.rng.uniform(-14, -8))
        if self.maybe(0.04):
            return F32(10 ** self.rng.uniform(4, 9))
        return F32(10 ** self.rng.uniform(-4, 1))

    def zero(self, dtype):
        info = np.iinfo(dtype)
        middle = (int(info.min) + int(info.max) + 1) // 2
        return self.choice([middle, middle, 0, int(info.min), int(info.max), self.rng.randint(info.min, info.max)])

    def dtype(self):
        """Of a new value: mostly the graph's own."""
        if self.maybe(0.85) or self.activation.itemsize == 2:
            return self.activation
        return self.choice([INT8, UINT8])

    def parameters(self, spread, scale=None, zero=None):
        """(scale, zero, dtype) of a result whose real values spread like `spread` (a positive float)."""
        dtype = self.dtype()
        if scale is None or self.maybe(0.9):
            wanted = spread / (np.iinfo(dtype).max - np.iinfo(dtype).min) * self.choice([1, 1, 1, 2, 0.5, 8, 0.05])
            if self.maybe(0.04):
                wanted *= 10 ** self.rng.uniform(-8, 3)  # nearly everything saturates, or is the zero point
            if not np.isfinite(wanted) or wanted < 1e-30 or wanted > 1e30 or self.maybe(0.05):
                wanted = self.scale()
            elif self.powers or self.maybe(0.15):
                wanted = 2.0 ** np.round(np.log2(wanted))
            scale = F32(wanted)
        info = np.iinfo(dtype)
        if zero is None or not info.min <= zero <= info.max or self.maybe(0.7):
            zero = self.zero(dtype)
        return scale, zero, dtype

    def weights(self, shape, dtype):
        """Of that type: random, sparse, extreme, or all the same."""
        info = np.iinfo(dtype)
        kind = self.rng.random()
        if kind < 0.6:
            return self.draw.integers(info.min, info.max, size=shape, endpoint=True).astype(dtype)
        if kind < 0.8:
            return np.clip(self.draw.normal(size=shape) * 12, info.min, info.max).astype(dtype)
        if kind < 0.87:
            return self.draw.choice([info.min, 0, 64, info.min // 2, 32], size=shape).astype(dtype)  # ties
        if kind < 0.94:
            return self.draw.choice([info.min, info.max, 0, 1], size=shape).astype(dtype)
        return np.full(shape, self.rng.randint(info.min, info.max), dtype)

    # Tensors.

    def const(self, array):
        name = self.name("c")
        self.initializers.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def input(self, shape, dtype=None):
        """A new quantised value that comes from outside: as it is, or as a float that is quantised."""
        if not 0 < np.prod(shape) <= LIMIT:
            raise Rejected("too large")
        dtype = dtype or self.dtype()
        scale, zero = self.scale(), self.zero(dtype)
        if self.maybe(0.4):
            x = self.outside(lambda draw, shape, kind: _floats(draw, shape, kind, scale, dtype), shape)
            name = self.node("QuantizeLinear", [x.name, self.const(scale), self.const(dtype.type(zero))])
            return self.result("QuantizeLinear", name, lambda a: (reference.quantise(a, scale, zero, dtype), None), [x], scale, zero)
        x = self.outside(lambda draw, shape, kind: _integers(draw, shape, kind, dtype), shape)
        x.scale, x.zero = scale, zero
        self.values.append(x)
        return x

    def outside(self, fill, shape):
        """A new input of the model."""
        self.inputs.append(Value(self.name("x"), fill(self.draw, shape, "random"), fill=fill))
        return self.inputs[-1]

    def pick(self, where=lambda v: True, p=0.92):
        """A quantised value that suits, the last ones rather; None where there is none."""
        found = [v for v in self.values if v.scale is not None and v.dtype.itemsize <= 2 and where(v)]
        if not found or not self.maybe(p):
            return None
        return found[-1] if self.maybe(0.7) else self.choice(found)

    # Nodes.

    def node(self, operator, inputs, attributes=None, outputs=1):
        names = [self.name("t") for _ in range(outputs)]
        while inputs and not inputs[-1]:
            inputs = inputs[:-1]
        self.nodes.append(helper.make_node(operator, inputs, names, name=self.name("n"), **(attributes or {})))
        return names[0] if outputs == 1 else names

    def dq(self, value):
        """The name of the value in float; several readers may share the node."""
        if value.name in self.dequantised and self.maybe(0.6):
            self.nodes += [n for n in self.dequantised[value.name] if n not in self.nodes]
            return self.dequantised[value.name][0].output[0]
        zero = self.const(value.dtype.type(value.zero)) if value.zero or self.maybe(0.7) else ""
        name = self.node("DequantizeLinear", [value.name, self.const(value.scale), zero])
        self.dequantised[value.name] = [self.nodes[-1]]
        return name

    def dq_const(self, array, scale, zero, axis=None):
        """An initializer and its DequantizeLinear; scale and zero are numbers or, with an axis, vectors."""
        zeros = np.asarray(zero).astype(array.dtype)
        inputs = [self.const(array), self.const(np.asarray(scale, F32)), self.const(zeros) if zeros.any() or self.maybe() else ""]
        return self.node("DequantizeLinear", inputs, None if axis is None else {"axis": axis})

    def q(self, name, scale, zero, dtype):
        zero = self.const(dtype.type(zero)) if zero or dtype != UINT8 or self.maybe() else ""
        return self.node("QuantizeLinear", [name, self.const(scale), zero])

    def result(self, kind, names, function, inputs, scale, zero, quantised=1):
        """Appends the layer of the nodes that were made since the last one."""
        names = [names] if isinstance(names, str) else list(names)
        layer = Layer(kind, function, [v.name for v in inputs], names, self.nodes)
        self.nodes = []
        arrays, doubt = evaluate_layer(layer, [v.array for v in inputs])
        if any(a.size > LIMIT or a.size == 0 for a in arrays):
            raise Rejected("too large")
        self.layers.append(layer)
        made = [Value(n, a, scale if i < quantised else None, zero) for i, (n, a) in enumerate(zip(names, arrays))]
        self.values += made
        return made[0]

    # Whole graphs.

    def mark(self):
        return (self.values[:], self.inputs[:], self.initializers[:], self.layers[:], dict(self.dequantised))

    def restore(self, mark):
        self.values, self.inputs, self.initializers, self.layers = (items[:] for items in mark[:4])
        self.dequantised = dict(mark[4])
        self.nodes = []

    def ends(self):
        """What nobody reads, and some of the rest."""
        read = {n for layer in self.layers for n in layer.inputs}
        made = {n for layer in self.layers for n in layer.outputs}
        by_name = {v.name: v for v in self.values}
        return [v for n, v in by_name.items() if n in made and (n not in read or self.maybe(0.1))]

    def model(self, outputs, layers=None, inputs=None):
        """The ModelProto; `layers` and `inputs` for a part of it."""
        layers = self.layers if layers is None else layers
        inputs = self.inputs if inputs is None else inputs
        nodes = []
        for layer in layers:
            nodes += [n for n in layer.nodes if n not in nodes]
        read = {n for node in nodes for n in node.input}
        graph = helper.make_graph(
            nodes,
            "g",
            [self._info(v, True) for v in inputs],
            [self._info(v, False) for v in outputs],
            [i for i in self.initializers if i.name in read],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=harness.IR_VERSION)

    def _info(self, value, comes_in):
        shape = list(value.shape)
        if self.open and shape:
            shape = ["batch", *shape[1:]] if comes_in else [None] * len(shape)
        return helper.make_tensor_value_info(value.name, helper.np_dtype_to_tensor_dtype(value.dtype), shape)


def evaluate_layer(layer, arrays):
    """(arrays of its outputs, where the first one is doubtful)"""
    with np.errstate(all="ignore"):
        result, doubt = layer.function(*arrays)
    return (list(result) if isinstance(result, tuple) else [result]), doubt


def evaluate(layers, arrays):
    """({name: array}, {name: where it is doubtful}); arrays holds what comes in."""
    arrays, doubts = dict(arrays), {}
    for layer in layers:
        results, doubt = evaluate_layer(layer, [arrays[n] for n in layer.inputs])
        arrays.update(zip(layer.outputs, results))
        if doubt is not None and doubt.any():
            doubts[layer.outputs[0]] = doubt
    return arrays, doubts
