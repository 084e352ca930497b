"""A guard against "salad salad salad": loops that a model cannot find out of.

A loop is a run of tokens that comes again and again without anything between. A
translation may repeat a run as often as asked for, and as often as its own source
repeats one: "no, no, no, no!" stays as it is.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.options import SearchOptions
from dragoman.decoding.rules import Live

LONGEST_RUN = 16


def most_repeats(tokens: Sequence[int]) -> int:
    """Give how often at most a run of tokens stands there in a row; 1: no run twice."""
    most = min(1, len(tokens))
    for size in range(1, min(LONGEST_RUN, len(tokens) // 2) + 1):
        same = longest = 0  # tokens that equal the one `size` places before, in a row
        for earlier, later in zip(tokens, tokens[size:], strict=False):
            same = same + 1 if earlier == later else 0
            longest = max(longest, same)
        most = max(most, 1 + longest // size)
    return most


def allowed_repeats(source: Sequence[int], max_repeats: int) -> int:
    """Give how often a run may stand in a row in the translation of this source."""
    return max(max_repeats, most_repeats(source))


def is_looping(
    source: Sequence[int], found: Sequence[Hypothesis], options: SearchOptions
) -> bool:
    """Say whether one of a sentence's translations repeats a run too often."""
    if not options.max_repeats:
        return False
    repeats = max(most_repeats(hypothesis.tokens) for hypothesis in found)
    return repeats > options.max_repeats and repeats > most_repeats(source)


@dataclass(frozen=True)
class NoLoops:
    """No run of tokens stands in a row more often than its sentence allows."""

    allowed: tuple[int, ...]

    def __call__(self, log_probabilities: Tensor, live: Live) -> Tensor:
        """Take away each token that would complete one repetition too many."""
        ruled = log_probabilities.clone()
        rows = zip(live.sentences.tolist(), live.tokens.tolist(), strict=True)
        for row, (sentence, tokens) in enumerate(rows):
            for token in _closing(tokens, self.allowed[sentence]):
                ruled[row, token] = -math.inf
        return ruled


def _closing(tokens: Sequence[int], allowed: int) -> set[int]:
    """Find the tokens by which some run would stand `allowed` + 1 times in a row."""
    found = set()
    for size in range(1, LONGEST_RUN + 1):
        tail = tokens[-(size * (allowed + 1) - 1) :]
        if len(tail) < size * (allowed + 1) - 1:
            break
        if tail[size:] == tail[:-size]:
            found.add(tail[-size])
    return found
