"""Loops: runs of tokens that come again and again without anything between.

A translation may repeat a run as often as asked for, and as often as its own source
repeats one: "no, no, no, no!" stays as it is.
"""

from collections.abc import Sequence

from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.options import SearchOptions

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
