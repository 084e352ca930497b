"""What can be told of a translation by looking at it: what is lost or invented."""

import re
from collections import Counter
from dataclasses import dataclass

from dragoman.text.demands import Demands
from dragoman.text.number_words import number_words
from dragoman.text.profile import TextProfile, script_of

LONGEST_RUN = 4  # words that may be repeated as one
_REPEATS = 3  # from so many times in a row it is a loop
_COPIED_WORDS = 4  # words in small letters that a copied source must have
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Concern:
    """One reason to look at a translation, in a few words."""

    kind: str  # "short", "long", "repeated", "number", "script", "copied" …
    message: str

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Lengths:
    """How many tokens a source and its translation have."""

    source: int
    target: int

    @property
    def proportion(self) -> float:
        """Target tokens for each source token, END counted on both sides."""
        return (self.target + 1) / (self.source + 1)


class LineChecks:
    """The checks of every line, against what the model has learned from."""

    def __init__(self, languages: tuple[str, str], profile: TextProfile | None) -> None:
        self._languages = languages
        self._profile = profile
        self._number_words = number_words(languages[0])

    def concerns(
        self, demands: Demands, text: str, lengths: Lengths
    ) -> tuple[Concern, ...]:
        """Give what is wrong with a final text, as far as can be seen."""
        found = [
            self._length(lengths),
            _repeated(demands.source, text),
            self._invented_number(demands, text),
            self._foreign_script(demands.source, text),
            _copied(demands, text),
        ]
        return tuple(concern for concern in found if concern)

    def is_shortish(self, lengths: Lengths) -> bool:
        """Say whether a translation is so short that words may have been lost."""
        if self._profile is None:
            return False
        usual = self._profile.proportions_for(lengths.source)
        return lengths.proportion < usual.short

    def _length(self, lengths: Lengths) -> Concern | None:
        if self._profile is None:
            return None
        usual = self._profile.proportions_for(lengths.source)
        counts = f"{lengths.target} tokens for {lengths.source}"
        if lengths.proportion < usual.least:
            return Concern("short", f"shorter than any it learned from ({counts})")
        if lengths.proportion > usual.most:
            return Concern("long", f"longer than any it learned from ({counts})")
        return None

    def _invented_number(self, demands: Demands, text: str) -> Concern | None:
        """Find digits that come from nowhere, where we know the words for numbers."""
        numbers = _DIGITS.findall(text)
        if not numbers or not self._number_words:
            return None
        source = demands.source
        left = Counter(numbers) - Counter(_DIGITS.findall(source))
        if not left or self._number_words & set(_words(source)):
            return None
        # "1,234" may have become "1234" or "1 234", "3 p.m." 15.
        digits = "".join(_DIGITS.findall(source))
        strange = [number for number in left if number not in digits]
        if not strange or _is_later_hour(source, strange):
            return None
        return Concern("number", f"{strange[0]} is not in the source")

    def _foreign_script(self, source: str, text: str) -> Concern | None:
        if self._profile is None or not self._profile.scripts or text.isascii():
            return None
        known = {*self._profile.scripts, *map(script_of, source), "", "LATIN"}
        strange = next((c for c in text if script_of(c) not in known), None)
        if strange is None:
            return None
        return Concern("script", f"{strange!r} is {script_of(strange).lower()}")


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _is_later_hour(source: str, numbers: list[str]) -> bool:
    hours = {int(n) + 12 for n in _DIGITS.findall(source) if len(n) < 3}
    return all(len(number) < 3 and int(number) in hours for number in numbers)


def _repeated(source: str, text: str) -> Concern | None:
    """Find words that stand three times in a row or more, unlike in the source."""
    words = _words(text)
    if len(words) - len(set(words)) < _REPEATS - 1:
        return None
    for size in range(1, LONGEST_RUN + 1):
        start = _loop(words, size)
        if start >= 0 and _loop(_words(source), size) < 0:
            run = " ".join(words[start : start + size])
            return Concern("repeated", f"{run!r} is repeated")
    return None


def _loop(words: list[str], size: int) -> int:
    """Give where a run of `size` words begins that comes again and again, or −1."""
    length = size * (_REPEATS - 1)
    same = 0
    for place in range(len(words) - size):
        same = same + 1 if words[place] == words[place + size] else 0
        if same >= length:
            return place - length + 1
    return -1


def _copied(demands: Demands, text: str) -> Concern | None:
    source = demands.source
    if text.casefold() != source.casefold() or demands.only_spans:
        return None
    words = _WORD.findall(source)
    small = [word for word in words if word.isalpha() and word.islower()]
    if len(small) < _COPIED_WORDS:
        return None
    return Concern("copied", "the source was copied")
