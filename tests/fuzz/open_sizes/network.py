"""Random small networks with open sizes, with what ONNX Runtime gives at each of four concrete sizes.

A network is built node by node. Each node is run by ONNX Runtime alone, at all four sizes, before it is kept: a node that
ONNX Runtime refuses at one of them (a kernel wider than the smallest image) is drawn again, so that every network is good
at every size. The same seed gives the same network.

    network = draw(seed)
    network.model()            # onnx.ModelProto; open axes are dim_params
    network.values["x"][2]     # the array at the third size
"""

import random

import numpy as np
import onnx
from onnx import helper, numpy_helper

import harness

SIZES = 4  # smallest, largest, two between
MOST_ELEMENTS = 40_000
OPSETS = (11, 13, 16, 18, 21)


class Rejected(Exception):
    """The node can't be built here: another one is drawn."""


REJECTIONS = (Rejected, harness.OracleRefuses)


def type_of(array):
    return helper.np_dtype_to_tensor_dtype(array.dtype)


class Network:
    """Nodes with the arrays of every value at each size."""

    def __init__(self, seed):
        self.seed = seed
        self.random = random.Random(seed)
        self.numpy = np.random.default_rng(seed)
        self.opset = self.random.choice(OPSETS)
        self.dims = {}  # name -> [size, ...]
        self.inputs = {}  # name -> [dim name or size, ...]
        self.values = {}  # name -> [array, ...]; of inputs and of what nodes give
        self.constants = {}  # name -> array
        self.nodes = []
        self._fresh = 0

    # --- building

    def name(self, stem):
        self._fresh += 1
        return f"{stem}{self._fresh}"

    def open_dim(self, name, low, high):
        """A dimension from low to high: the smallest, the largest and two sizes between."""
        if name not in self.dims:
            self.dims[name] = [low, high] + [self.random.randint(low, high) for _ in range(SIZES - 2)]
        return name

    def sizes_of(self, shape, k):
        return [self.dims[d][k] if isinstance(d, str) else d for d in shape]

    def input(self, name, shape, below=None):
        """Floats; with `below` integers from 0 to below - 1."""
        self.inputs[name] = shape
        shapes = [self.sizes_of(shape, k) for k in range(SIZES)]
        if below is None:
            self.values[name] = [self.floats(s) for s in shapes]
        else:
            self.values[name] = [self.numpy.integers(0, below, s).astype(np.int64) for s in shapes]
        return name

    def floats(self, shape, low=-1.0, high=1.0):
        return self.numpy.uniform(low, high, shape).astype(np.float32)

    def constant(self, array, stem="c"):
        name = self.name(stem)
        self.constants[name] = np.asarray(array)
        return name

    def weights(self, *shape):
        return self.constant(self.floats(shape), "w")

    def ints(self, values):
        return self.constant(np.array(values, dtype=np.int64), "i")

    def add(self, op, inputs, outputs=1, keep_names=None, **attributes):
        """Adds a node and gives the name of its first output (a list if there are several). Raises Rejected."""
        attributes = {k: v for k, v in attributes.items() if v is not None}
        outs = [self.name("v") for _ in range(outputs)]
        node = helper.make_node(op, inputs, outs, name=self.name(op.lower() + "_"), **attributes)
        results = self.run_node(node)
        for arrays in zip(*results):
            for a in arrays:
                if a.size == 0 or a.size > MOST_ELEMENTS:
                    raise Rejected("size")
                if a.dtype.kind == "f" and (not np.isfinite(a).all() or np.abs(a).max() > 1e5):
                    raise Rejected("values")
                if op == "ReduceProd" and np.abs(a).max() < 1e-20:  # 0 or not is a matter of the order of its factors
                    raise Rejected("underflow")
        for i, out in enumerate(outs):
            self.values[out] = [results[k][i] for k in range(SIZES)]
        self.nodes.append(node)
        return outs[0] if outputs == 1 else outs

    def run_node(self, node):
        used = [n for n in dict.fromkeys(node.input) if n]
        feeds = [n for n in used if n in self.values]
        infos = [
            helper.make_tensor_value_info(n, type_of(self.values[n][0]), [None] * self.values[n][0].ndim)
            for n in feeds
        ]
        outs = [onnx.ValueInfoProto(name=n) for n in node.output]
        consts = [numpy_helper.from_array(self.constants[n], n) for n in used if n in self.constants]
        model = self.wrap(helper.make_graph([node], "node", infos, outs, consts))
        session = harness.ort_session(model)
        try:
            return [session.run(None, {n: self.values[n][k] for n in feeds}) for k in range(SIZES)]
        except Exception as error:  # its exceptions have no common base but this
            raise Rejected(str(error)) from None

    def wrap(self, graph):
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=harness.IR_VERSION)

    # --- the finished network

    def outputs(self):
        """What no node reads, in the order in which it was made."""
        read = {n for node in self.nodes for n in node.input}
        return [n for node in self.nodes for n in node.output if n not in read]

    def data_sets(self):
        """(inputs, outputs) at each size."""
        return [([self.values[n][k] for n in self.inputs], [self.values[n][k] for n in self.outputs()]) for k in range(SIZES)]

    def model(self):
        infos = [
            helper.make_tensor_value_info(n, type_of(self.values[n][0]), shape) for n, shape in self.inputs.items()
        ]
        outs = [helper.make_tensor_value_info(n, type_of(self.values[n][0]), [None] * self.rank(n)) for n in self.outputs()]
        used = {n for node in self.nodes for n in node.input}
        consts = [numpy_helper.from_array(a, n) for n, a in self.constants.items() if n in used]
        return self.wrap(helper.make_graph(self.nodes, "network", infos, outs, consts))

    def only(self, output):
        """The part of the network that `output` needs, as a network of its own."""
        part = Network(self.seed)
        part.opset, part.dims, part.values, part.constants = self.opset, self.dims, self.values, self.constants
        wanted = {output}
        for node in reversed(self.nodes):
            if wanted & set(node.output):
                wanted |= set(node.input)
                part.nodes.insert(0, node)
        part.inputs = {n: shape for n, shape in self.inputs.items() if n in wanted}
        return part

    # --- what operators ask

    def rank(self, value):
        return self.values[value][0].ndim

    def dtype(self, value):
        return self.values[value][0].dtype

    def least(self, value, axis):
        return min(a.shape[axis] for a in self.values[value])

    def fixed(self, value, axis):
        """The size, or None where it differs between the four."""
        sizes = {a.shape[axis] for a in self.values[value]}
        return sizes.pop() if len(sizes) == 1 else None

    def open_axes(self, value):
        return [a for a in range(self.rank(value)) if self.fixed(value, a) is None]

    def same_shape(self, a, b):
        return all(x.shape == y.shape for x, y in zip(self.values[a], self.values[b]))


# --- where networks begin


def _range(r, *choices):
    return r.choice(choices)


def begin_image(g):
    r = g.random
    chosen = r.choice(("N", "H", "W", "HW", "HW", "NH", "NW", "NHW"))
    channels = r.randint(1, 4)
    if chosen in ("W", "H") and r.random() < 0.25:
        low, high, other, channels = 160, 640, r.randint(4, 8), min(channels, 2)
    else:
        low, high = _range(r, (8, 24), (5, 17), (16, 40), (4, 12), (8, 32))
        other = r.randint(5, 12)
    batch = g.open_dim("N", *_range(r, (1, 4), (1, 3), (2, 5))) if "N" in chosen else r.choice((1, 1, 2))
    spatial = []
    for axis in "HW":
        if axis in chosen:
            spatial.append(g.open_dim(axis, low, high))
            low, high = _range(r, (8, 24), (5, 17), (16, 40), (low, high))
        else:
            spatial.append(other)
    g.input("x", [batch, channels, *spatial])


def begin_signal(g):
    r = g.random
    chosen = r.choice(("T", "T", "NT", "N"))
    time = g.open_dim("T", *_range(r, (8, 64), (4, 40), (1, 32), (16, 100), (10, 30))) if "T" in chosen else r.randint(8, 20)
    batch = g.open_dim("N", *_range(r, (1, 4), (2, 6))) if "N" in chosen else 1
    g.input("x", [batch, r.choice((1, 2, 3, 4, 6, 8)), time])


def begin_features(g):
    r = g.random
    chosen = r.choice(("T", "NT", "NT", "N"))
    time = g.open_dim("T", *_range(r, (1, 32), (4, 40), (2, 16))) if "T" in chosen else r.randint(3, 12)
    batch = g.open_dim("N", *_range(r, (1, 4), (2, 6), (1, 16))) if "N" in chosen else r.choice((1, 2))
    g.input("x", [batch, time, r.choice((4, 6, 8, 12))])


def begin_tokens(g):
    r = g.random
    batch = g.open_dim("N", *_range(r, (1, 4), (1, 8))) if r.random() < 0.6 else 1
    time = g.open_dim("T", *_range(r, (1, 32), (4, 24)))
    words, width = r.randint(5, 30), r.choice((4, 6, 8))
    tokens = g.input("tokens", [batch, time], below=words)
    g.add("Gather", [g.weights(words, width), tokens])


def begin_rows(g):
    r = g.random
    g.input("x", [g.open_dim("N", *_range(r, (1, 16), (1, 4), (2, 64), (3, 7))), r.choice((3, 4, 8, 10))])


def begin_pair(g):
    """Two inputs that share some open axes."""
    r = g.random
    n, t = g.open_dim("N", 1, r.randint(2, 5)), g.open_dim("T", r.choice((1, 2, 4)), r.randint(8, 24))
    width = r.choice((2, 4, 6))
    g.input("x", [n, t, width])
    other = r.choice(([n, t, width], [n, 1, width], [1, t, width], [t, width], [n, g.open_dim("S", 2, 12), width]))
    g.input("y", other)


BEGINNINGS = ((begin_image, 9), (begin_signal, 5), (begin_features, 3), (begin_tokens, 2), (begin_rows, 1), (begin_pair, 2))


def draw(seed):
    """The network of this seed: one to eight nodes."""
    from open_sizes.operators import OPERATORS

    for attempt in range(50):
        g = Network(seed * 64 + attempt)
        g.seed = seed
        r = g.random
        begin = r.choices([b for b, _ in BEGINNINGS], [w for _, w in BEGINNINGS])[0]
        begin(g)
        count = r.choice((1, 2, 2, 3, 3, 4, 5, 6, 7, 8))
        for _ in range(count * 12):
            if len(g.nodes) >= count:
                break
            names = list(g.values)
            value = names[-1] if r.random() < 0.8 else r.choice(names)
            operator = r.choices([o for o, _ in OPERATORS], [w for _, w in OPERATORS])[0]
            kept = len(g.nodes)
            try:
                operator(g, value)
            except REJECTIONS:
                del g.nodes[kept:]
                for n in list(g.values):
                    if n not in g.inputs and not any(n in node.output for node in g.nodes):
                        del g.values[n]
        if g.nodes and any(g.open_axes(n) for n in g.inputs):
            return g
    raise AssertionError(f"seed {seed} gives no network")
