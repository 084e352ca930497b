"""Which word of a translation stands for which word of its source."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dragoman.text.words import units

# An element that is carried over whole is one unit, whatever characters it has.
MARKER = re.compile(r'<x id="\d+"/>')


@dataclass(frozen=True, slots=True)
class Unit:
    """A word, another sign, or a marker, and where it stands in its text."""

    start: int
    end: int
    text: str


Links = tuple[int | None, ...]  # for each unit of the target, that of the source


def word_units(text: str) -> list[Unit]:
    """Give the words, other signs and markers of a text from left to right."""
    found: list[Unit] = []
    place = 0
    for marker in MARKER.finditer(text):
        found += _plain(text[place : marker.start()], place)
        found.append(Unit(marker.start(), marker.end(), marker[0]))
        place = marker.end()
    return found + _plain(text[place:], place)


def _plain(text: str, at: int) -> list[Unit]:
    return [Unit(at + i, at + i + len(word), word) for i, word in units(text)]


def diagonal_links(source: Sequence[Unit], target: Sequence[Unit]) -> Links:
    """Link units at like places: all there is to go by without attention."""
    if not source:
        return (None,) * len(target)
    step = len(source) / max(len(target), 1)
    places = (int((number + 0.5) * step) for number in range(len(target)))
    return tuple(min(place, len(source) - 1) for place in places)


def with_equal_units(
    source: Sequence[Unit], target: Sequence[Unit], links: Links
) -> Links:
    """Link what stands on either side exactly once to itself, such as names."""
    counts = [Counter(unit.text for unit in side) for side in (source, target)]
    own = {unit.text: place for place, unit in enumerate(source)}
    return tuple(
        own[unit.text]
        if counts[0][unit.text] == 1 and counts[1][unit.text] == 1
        else link
        for unit, link in zip(target, links, strict=True)
    )


def equal_links(source: Sequence[Unit], target: Sequence[Unit]) -> Links | None:
    """Link a text to itself, word by word; None where the two differ."""
    if [unit.text for unit in source] != [unit.text for unit in target]:
        return None
    return tuple(range(len(target)))
