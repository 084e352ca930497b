"""Without dropout for a while."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Trainable(Protocol):
    """What can be told to learn or not, as a `torch.nn.Module` can."""

    training: bool

    def train(self, mode: bool = True) -> object:
        """Choose between training and evaluation."""
        ...


@contextmanager
def evaluating(model: Trainable) -> Iterator[None]:
    """Without dropout, and afterwards as before: a trainer may be at work on it."""
    if not model.training:  # asking every part of it takes a while
        yield
        return
    model.train(False)
    try:
        yield
    finally:
        model.train(True)
