"""Cuts what is too long for a model into parts, where it hurts least."""

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

from dragoman.text.spans import find_spans

# Where to cut, from best to worst; the cut comes after what is matched.
_PLACES = tuple(
    map(
        re.compile,
        (
            r"[.!?…。！？][\"'”’»)\]]*(?:\s+|(?<=[。！？]))",
            r"[;:—–](?:\s+)|[；：]",
            r",\s+|[，、،]",
            r"\s+",
        ),
    )
)


@dataclass(frozen=True)
class Part:
    """A part of a sentence, and the blanks between it and the next."""

    text: str
    gap: str


def split_long(text: str, fits: Callable[[str], bool]) -> list[Part]:
    """Cut a text until each part fits; all characters are kept, in parts and gaps."""
    stripped = text.rstrip()
    gap = text[len(stripped) :]
    if len(stripped) < 2 or fits(stripped):
        return [Part(stripped, gap)]
    cut = _best_cut(stripped)
    return split_long(stripped[:cut], fits) + _with_gap(
        split_long(stripped[cut:], fits), gap
    )


def _with_gap(parts: list[Part], gap: str) -> list[Part]:
    return [*parts[:-1], Part(parts[-1].text, parts[-1].gap + gap)]


def _best_cut(text: str) -> int:
    """Give the cut of the best kind that is nearest to the middle."""
    spans = find_spans(text)
    starts = [span.start for span in spans]
    middle = len(text) // 2

    def allowed(cut: int) -> bool:
        inside = bisect_left(starts, cut) - 1  # the last span that began before
        return 0 < cut < len(text) and (inside < 0 or spans[inside].end <= cut)

    for pattern in _PLACES:
        cuts = [found.end() for found in pattern.finditer(text)]
        if good := [cut for cut in cuts if allowed(cut)]:
            return min(good, key=lambda cut: abs(cut - middle))
    anywhere = [cut for cut in range(1, len(text)) if allowed(cut)]
    return min(anywhere or [middle], key=lambda cut: abs(cut - middle))
