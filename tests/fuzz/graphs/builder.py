"""A random graph, built node by node: each node is run as soon as it is there, so that the next one knows types, shapes and values."""

from dataclasses import dataclass

import numpy as np
import onnx
from onnx import helper, numpy_helper

import harness
from graphs import oracle
from graphs.oracle import Rejected
from graphs.values import ALL, F16, F32, F64, I64, SCHEMA_NAMES, random_array, random_shape
from random_graph import Draws, Tensor

LIMIT = 3000  # elements of one tensor


@dataclass
class Value(Tensor):
    constant: bool = False  # an initializer or the output of a Constant
    as_node: bool = False  # the output of a Constant


@dataclass
class Step:
    """A node with its inputs and outputs by name, and who says what it gives."""

    node: onnx.NodeProto
    oracle: str
    excuse: str | None


def schema_of(operator, opset):
    """The operator's definition at this opset; None where it has none."""
    try:
        return onnx.defs.get_schema(operator, opset, "")
    except onnx.defs.SchemaError:
        return None


class Graph(Draws):
    """Raises Rejected where a node can't be; then `mark` and `restore` take back what was added for it."""

    def __init__(self, seed, opset):
        super().__init__(seed)
        self.opset = opset
        self.values, self.inputs, self.initializers, self.steps = [], [], [], []
        self.float = self.rng.choice([F32] * 7 + [F64] * 2 + [F16])
        self.empties = self.rng.random() < 0.08  # some tensors have no elements
        self.edges = self.rng.random() < 0.12  # values at the edges of their types
        self.runtime = self.rng.choice([0.3, 0.7, 1.0])  # how many leaves are inputs

    # What is there.

    def mark(self):
        return len(self.values), len(self.inputs), len(self.initializers), len(self.steps)

    def restore(self, mark):
        for items, length in zip((self.values, self.inputs, self.initializers, self.steps), mark):
            del items[length:]

    def size(self):
        """How many nodes it has."""
        return len(self.steps) + sum(v.as_node for v in self.initializers)

    def excuse(self):
        """The name of the first excuse of its nodes; None where all results are defined."""
        return next((s.excuse for s in self.steps if s.excuse), None)

    # Types.

    def types(self, operator, index=0, output=False):
        """The element types that the standard accepts there at this opset, those that etch has and numpy knows."""
        schema = schema_of(operator, self.opset)
        formals = schema.outputs if output else schema.inputs
        formal = formals[min(index, len(formals) - 1)]
        return [t for n, t in SCHEMA_NAMES.items() if n in formal.types and t in ALL]

    def dtype_of(self, types):
        """One of them, the graph's float type rather than another."""
        types = list(types)
        if self.float in types and self.maybe(0.65):
            return self.float
        if F32 in types and self.maybe(0.2):
            return F32
        if I64 in types and self.maybe(0.3):
            return I64
        return self.choice(types)

    def dtype(self, operator, index=0):
        return self.dtype_of(self.types(operator, index))

    # Tensors.

    def leaf(self, array, constant=None):
        """A new input of the model, an initializer or a Constant. Its array may be changed until a node reads it."""
        array = np.asarray(array)
        if constant is None:
            constant = not self.maybe(self.runtime)
        value = Value(self.name("c" if constant else "x"), array, constant, constant and self.maybe(0.2))
        (self.initializers if constant else self.inputs).append(value)
        self.values.append(value)
        return value

    def const(self, array, dtype=I64):
        return self.leaf(np.asarray(array, dtype), constant=True)

    def fresh(self, dtype, shape, kind="any", constant=None):
        return self.leaf(random_array(self.rng, dtype, shape, kind, self.edges), constant)

    def shape(self, rank, limit=400):
        return random_shape(self.rng, rank, self.empties, limit)

    def tensor(self, dtype, rank=None, shape=None, kind="any", where=None, reuse=0.8):
        """A tensor of this type; `rank` is a number or a pair, `where` a condition on its array. Old ones rather than new ones."""
        low, high = (rank, rank) if isinstance(rank, int) else rank or (0, 5)

        def suits(v):
            if v.dtype != dtype or not low <= v.rank <= high or v.array.size > LIMIT:
                return False
            return (shape is None or v.shape == tuple(shape)) and (where is None or where(v.array))

        if kind == "any" and self.maybe(reuse):
            found = [v for v in self.values if suits(v)]
            if found:
                return found[-1] if self.maybe(0.6) else self.choice(found)
            if shape is None and where is None and self.maybe(0.5):
                adapted = self.reshaped(dtype, self.rng.randint(low, high))
                if adapted:
                    return adapted
        if shape is None:
            ranks = [r for r in (0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6) if low <= r <= high] or [high]
            for _ in range(50):
                made = random_array(self.rng, dtype, self.shape(self.choice(ranks)), kind, self.edges)
                if where is None or where(made):
                    return self.leaf(made)
            raise Rejected("no such tensor")
        return self.fresh(dtype, shape, kind)

    def reshaped(self, dtype, rank):
        """One of the tensors with another rank, by a Reshape; None where there is none."""
        found = [v for v in self.values if v.dtype == dtype and v.array.size <= 600 and not v.constant]
        if not found or rank == 0:
            return None
        value = self.choice(found[-3:])
        left, shape = value.array.size, []
        if left == 0:
            return None
        for _ in range(rank - 1):
            divisors = [d for d in range(1, left + 1) if left % d == 0]
            shape.append(self.choice(divisors))
            left //= shape[-1]
        shape.append(left)
        self.rng.shuffle(shape)
        return self.add("Reshape", [value, self.const(shape)])

    def broadcastable(self, dtype, shape, kind="any"):
        """A tensor that broadcasts with `shape` in both directions: sizes of 1 and missing axes."""
        found = [v for v in self.values if v.dtype == dtype and v.array.size <= LIMIT and _broadcasts(v.shape, shape)]
        if found and kind == "any" and self.maybe(0.5):
            return self.choice(found)
        other = [1 if self.maybe(0.25) else d for d in shape]
        if self.maybe(0.1):
            other = [d if d != 1 else self.choice([1, 2, 3]) for d in other]
        drop = self.rng.randint(0, len(other)) if self.maybe(0.3) else 0
        other = other[drop:]
        if self.maybe(0.05) and len(other) < 5:
            other = [self.choice([1, 2])] + other
        return self.fresh(dtype, other, kind)

    def broadcast(self, a, b):
        if not _broadcasts(a.shape, b.shape):
            raise Rejected("shapes that don't broadcast")
        return np.broadcast_shapes(a.shape, b.shape)

    def axis(self, rank, negative=True):
        axis = self.rng.randrange(rank)
        return axis - rank if negative and self.maybe(0.4) else axis

    def axes(self, rank, least=1):
        """Different axes, some of them negative, in any order."""
        chosen = self.rng.sample(range(rank), self.rng.randint(min(least, rank), rank))
        return [a - rank if self.maybe(0.3) else a for a in chosen]

    # Nodes.

    def add(self, operator, inputs, attributes=None, outputs=1, skip=()):
        """Appends a node and its values, run on the oracle. `inputs` holds Values and None; outputs in `skip` get no name."""
        names = [v.name if v is not None else "" for v in inputs]
        while names and not names[-1]:
            names.pop()
        results = ["" if i in skip else self.name("t") for i in range(outputs)]
        while not results[-1]:
            results.pop()
        try:
            node = helper.make_node(operator, names, results, name=self.name("n"), **(attributes or {}))
        except (TypeError, ValueError) as error:
            raise Rejected(str(error)) from None
        arrays = {v.name: v.array for v in inputs if v is not None}
        given, who, excuse = oracle.evaluate(node, arrays, self.opset)
        made = []
        for name in results:
            if not name:
                made.append(None)
                continue
            if given[name].size > LIMIT or given[name].ndim > 8:
                raise Rejected("too large")
            made.append(Value(name, given[name]))
        self.steps.append(Step(node, who, excuse))
        self.values += [v for v in made if v]
        return made[0] if outputs == 1 else made

    # The model.

    def used_names(self):
        return {n for s in self.steps for n in s.node.input}

    def model(self, outputs):
        """The ModelProto with these values as outputs."""
        used = self.used_names() | {v.name for v in outputs}
        inputs = [v for v in self.inputs if v.name in used]
        constants = [v for v in self.initializers if v.name in used]
        graph = helper.make_graph(
            [_constant(v) for v in constants if v.as_node] + [s.node for s in self.steps],
            "g",
            [_info(v) for v in inputs],
            [_info(v) for v in outputs],
            [numpy_helper.from_array(v.array, v.name) for v in constants if not v.as_node],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=harness.IR_VERSION)
        return model, [v.array for v in inputs]


def _constant(value):
    return helper.make_node("Constant", [], [value.name], value=numpy_helper.from_array(value.array, value.name))


def _info(value):
    return helper.make_tensor_value_info(value.name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)


def _broadcasts(a, b):
    try:
        return int(np.prod(np.broadcast_shapes(a, b))) <= LIMIT
    except ValueError:
        return False
