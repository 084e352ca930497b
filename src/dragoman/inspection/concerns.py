"""What a reader of a translation should be warned of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from dragoman.inspection.tokens import Word

HARDLY = 0.1  # a source word that no target word gives even this much was passed over
LONGEST_REPETITION = 4


@dataclass(frozen=True)
class Concern:
    """One warning: which words (by number) of which side it is about."""

    kind: Literal["unattended", "repetition"]
    words: tuple[int, ...]
    message: str


def unattended_words(
    attention: Tensor,  # (layer, target word, source word): the mean over heads
    source: Sequence[Word],
) -> tuple[Concern, ...]:
    """Find source words to which no target word gave 10 % in the mean of any layer.

    Signs and the end of the sentence are passed over.
    """
    if not attention.numel():
        return ()
    most = attention.amax(dim=(0, 1))
    return tuple(
        Concern(
            "unattended",
            (number,),
            f"no target word attends to {word.text!r} (at most {most[number]:.0%}): "
            "it may not have been translated",
        )
        for number, word in enumerate(source)
        if most[number] < HARDLY and any(map(str.isalnum, word.text))
    )


def repetitions(source: Sequence[Word], target: Sequence[Word]) -> tuple[Concern, ...]:
    """Find one to four target words that come twice in a row, unlike in the source."""
    words = [word.text.casefold() for word in target]
    original = [word.text.casefold() for word in source]
    found: list[Concern] = []
    covered = 0
    for start in range(len(words)):
        for size in range(1, LONGEST_REPETITION + 1):
            if start < covered or not _doubled(words, start, size):
                continue
            if any(_doubled(original, i, size) for i in range(len(original))):
                continue
            covered = start + 2 * size
            shown = " ".join(word.text for word in target[start : start + size])
            places = tuple(range(start, covered))
            found.append(Concern("repetition", places, f"{shown!r} is repeated"))
    return tuple(found)


def _doubled(words: Sequence[str], start: int, size: int) -> bool:
    first = words[start : start + size]
    again = words[start + size : start + 2 * size]
    return len(again) == size and first == again and any(map(_is_word, first))


def _is_word(text: str) -> bool:
    return any(map(str.isalnum, text))
