"""The table of operators: a function for each, which adds one node to a graph (and what leads to it)."""

OPERATORS = {}


def operator(*names):
    """Registers `function(graph, name)` for these operators."""

    def register(function):
        for name in names:
            assert name not in OPERATORS, name
            OPERATORS[name] = function
        return function

    return register
