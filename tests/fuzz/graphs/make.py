"""A random model for each number: the same on every machine with the same packages."""

import random

from graphs import math_ops, nn_ops, other_ops, shape_ops  # noqa: F401: they register their operators
from graphs.builder import Graph, Rejected, schema_of
from graphs.registry import OPERATORS

OPSETS = range(7, 22)
NAMES = sorted(OPERATORS)
MOST_NODES = 12


def opsets_of(operator):
    return [o for o in OPSETS if (s := schema_of(operator, o)) and not s.deprecated]


OPSETS_OF = {name: opsets_of(name) for name in NAMES}


def _append(graph, operator):
    """Adds the operator and what it needs; False where no attempt was valid."""
    for _ in range(40):
        mark = graph.mark()
        try:
            OPERATORS[operator](graph, operator)
            return True
        except Rejected as error:
            graph.last_rejection = f"{operator}: {error}"
            graph.restore(mark)
    return False


def make(number):
    """The graph of this number: its first operator is the number's in the list of all, so that all come in turn."""
    for attempt in range(100):
        rng = random.Random(f"{number}/{attempt}")
        first = NAMES[number % len(NAMES)]
        opset = rng.choice(OPSETS_OF[first])
        graph = Graph(f"{number}/{attempt}", opset)
        nodes = rng.choice([1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
        if not _append(graph, first) or graph.size() > MOST_NODES:
            continue
        if graph.excuse() and not rng.random() < 0.1:
            continue
        there = [n for n in NAMES if opset in OPSETS_OF[n]]
        for _ in range(40):
            if graph.size() >= nodes or graph.excuse():
                break
            mark = graph.mark()
            if not _append(graph, rng.choice(there)) or graph.size() > MOST_NODES:
                graph.restore(mark)
            elif graph.excuse() and rng.random() < 0.9:
                graph.restore(mark)
        return graph
    raise AssertionError(f"no valid graph for {first}: {graph.last_rejection}")


def outputs_of(graph):
    """What nobody reads, and some of the rest."""
    read = graph.used_names()
    made = [v for v in graph.values if any(v.name in s.node.output for s in graph.steps)]
    ends = [v for v in made if v.name not in read]
    others = [v for v in made if v.name in read and graph.maybe(0.15)]
    return ends + others
