"""What random graphs have in common: named tensors, and numbers drawn from a seed."""

import random
from dataclasses import dataclass

import numpy as np


@dataclass
class Tensor:
    """A value of the graph; `array` is its value for the first inputs."""

    name: str
    array: np.ndarray

    @property
    def dtype(self):
        return self.array.dtype

    @property
    def shape(self):
        return self.array.shape

    @property
    def rank(self):
        return self.array.ndim


class Draws:
    """Choices that depend on the seed alone, and names that no other value has."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.count = 0

    def maybe(self, p=0.5):
        return self.rng.random() < p

    def choice(self, items):
        return self.rng.choice(items)

    def name(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"
