"""A random quantised graph for each number, with its inputs: the same on every machine with the same packages."""

import numpy as np

from quantised import floats, moving, products  # noqa: F401: they register their layers
from quantised.builder import KINDS, Graph, Rejected, evaluate
from quantised.operands import LAYERS

MOST = 4  # an open size

FUNCTIONS = [f for _, f in LAYERS]
WEIGHTS = [w for w, _ in LAYERS]


class Case:
    """A graph, its outputs, and for each data set its inputs, the values of all tensors, and where outputs are doubtful."""

    def __init__(self, graph):
        self.graph = graph
        self.outputs = graph.ends()
        self.model = graph.model(self.outputs)
        self.data_sets = [self._inputs(kind) for kind in KINDS]

    def _inputs(self, kind):
        """Inputs for which nothing within the graph is doubtful."""
        g = self.graph
        read = {n for layer in g.layers for n in layer.inputs}
        for attempt in range(15):
            batch = g.rng.randint(1, MOST)
            inputs = {v.name: v.fill(g.draw, (batch, *v.shape[1:]) if g.open else v.shape, kind) for v in g.inputs}
            if kind == KINDS[0] and attempt == 0:
                inputs = {v.name: v.array for v in g.inputs}  # for which the scales were chosen
            try:
                values, doubts = evaluate(g.layers, inputs)
            except OverflowError as error:
                raise Rejected(str(error)) from None
            if not doubts.keys() & read and all(np.isfinite(a).all() for a in values.values()):
                return inputs, values, doubts
        raise Rejected("a rounding within the graph is doubtful")

    def written(self):
        """What harness.write_case takes."""
        return [([i[v.name] for v in self.graph.inputs], [values[v.name] for v in self.outputs]) for i, values, _ in self.data_sets]


def _append(graph):
    for _ in range(40):
        mark = graph.mark()
        try:
            return graph.rng.choices(FUNCTIONS, WEIGHTS)[0](graph)
        except Rejected:
            graph.restore(mark)
    raise Rejected("no layer fits")


def make(number):
    for attempt in range(60):
        graph = Graph(f"{number}/{attempt}")
        count = graph.choice([1, 1, 2, 2, 3, 4, 5, 6, 7, 8])
        try:
            for _ in range(count):
                _append(graph)
            return Case(graph)
        except Rejected as error:
            last = error
    raise AssertionError(f"no graph of number {number}: {last}")
