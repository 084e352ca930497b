"""The tokens a search chose, step by step, and the way back through them."""

from itertools import accumulate

import torch
from torch import Tensor

from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.length_penalty import LengthPenalty
from dragoman.special_tokens import END

NOWHERE = -1


class History:
    """A tree of chosen tokens, each pointing back at the one before it.

    A search only ever adds to it; hypotheses are read once, from their last token
    back to NOWHERE, when the search is over.
    """

    def __init__(self) -> None:
        self._tokens: list[Tensor] = []
        self._log_probabilities: list[Tensor] = []
        self._parents: list[Tensor] = []
        self._size = 0

    def add(self, tokens: Tensor, log_probabilities: Tensor, parents: Tensor) -> Tensor:
        """Record the tokens of one step and number them, in their own shape."""
        self._tokens.append(tokens.flatten())
        self._log_probabilities.append(log_probabilities.flatten())
        self._parents.append(parents.flatten())
        first, self._size = self._size, self._size + tokens.numel()
        return torch.arange(first, self._size).view_as(tokens)

    def read(
        self, leaves: list[list[int]], penalty: LengthPenalty
    ) -> list[list[Hypothesis]]:
        """Follow each leaf back to the beginning; the leaves keep their places."""
        tokens = torch.cat(self._tokens).tolist()
        log_probabilities = torch.cat(self._log_probabilities).tolist()
        parents = torch.cat(self._parents).tolist()

        def hypothesis(node: int) -> Hypothesis:
            path = []
            while node != NOWHERE:
                path.append(node)
                node = parents[node]
            path.reverse()
            return _hypothesis(
                [tokens[node] for node in path],
                [log_probabilities[node] for node in path],
                penalty,
            )

        return [[hypothesis(leaf) for leaf in row] for row in leaves]


def _hypothesis(
    tokens: list[int], log_probabilities: list[float], penalty: LengthPenalty
) -> Hypothesis:
    finished = tokens[-1] == END
    # Added in the order of the search, so that the rounding is that of its ranking too.
    *_, log_probability = accumulate(log_probabilities)
    return Hypothesis(
        tokens=tuple(tokens[:-1] if finished else tokens),
        log_probability=log_probability,
        score=log_probability / penalty(len(tokens)),
        token_log_probabilities=tuple(log_probabilities),
        finished=finished,
    )
