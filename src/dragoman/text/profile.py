"""What a model's training text was like: lengths, proportions and scripts."""

import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Self

# Proportions differ with the length, so they are kept for sources of up to so many
# tokens each; the last is for all longer ones.
LENGTHS = (2, 4, 7, 12, 20, 35)
_SCRIPT_SHARE = 0.001  # of the letters; less is a foreign name


@dataclass(frozen=True)
class Proportions:
    """Target tokens for each source token, END counted on both sides."""

    least: float
    short: float  # shorter than nineteen in twenty
    most: float


@dataclass(frozen=True)
class TextProfile:
    """The training text as far as a translation can be held against it."""

    longest_source: int  # tokens; hardly any source was longer
    proportions: tuple[Proportions, ...]  # for each of LENGTHS, and for longer ones
    scripts: tuple[str, ...]  # of the target text

    def proportions_for(self, source_tokens: int) -> Proportions:
        """Give what to expect of a source of so many tokens."""
        return self.proportions[bisect_left(LENGTHS, source_tokens)]

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read what `to_dict` gave."""
        rows = tuple(Proportions(**row) for row in values["proportions"])
        if len(rows) != len(LENGTHS) + 1:
            raise ValueError("the proportions of its training text are not whole")
        return cls(int(values["longest_source"]), rows, tuple(values["scripts"]))


def scripts_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Give the scripts that a text is written in, the commonest first."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(script for c in text if (script := script_of(c)))
    least = _SCRIPT_SHARE * counts.total()
    return tuple(script for script, count in counts.most_common() if count >= least)


@cache
def script_of(character: str) -> str:
    """Give the script of a letter, by the first word of its name; "" for the rest."""
    if not character.isalpha():
        return ""
    name = unicodedata.name(character, "").partition(" ")[0]
    return name.partition("-")[0]
