"""Teaches a model to copy placeholders, by putting them into some training pairs.

What both sides of a pair share (a number, an address, a tag) goes behind the same
placeholder on both. Corpora may have little of that, so in a small share of the other
pairs a word that both sides share, such as a name, is hidden or enclosed, or the
sentence's ends are. All of it is drawn from the pair itself: the same pair always comes
out the same way, in whatever order or portion it is met.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from random import Random

from dragoman.text.placeholders import MARKS, hide
from dragoman.text.spans import Kind, Span, find_spans

# Some are left to see: a sentence may hold more of them than there are marks, and
# numbers are shown first, because they may become words.
SHARE_OF_COMMON_SPANS = 0.5
_WORD = re.compile(r"\w{3,}")  # shorter ones are often alike by chance
_GROUPING = re.compile(r"(?<=\d)[.,'’](?=\d{3}(?!\d))")
_CLOSING = ".!?。！？…"

Marked = tuple[Span, str]
Marks = tuple[list[Marked], list[Marked]]  # those of the source, those of the target


def teach_copying(
    source: str, target: str, *, share: float, seed: int
) -> tuple[str, str]:
    """Give the pair with placeholders in it, or unchanged as most are."""
    first, second, random_seed = _draws(source, target, seed)
    common = _common(source, target) if first < SHARE_OF_COMMON_SPANS else []
    if not common and second >= share:
        return source, target
    random = Random(random_seed)
    chosen = common or _invented(source, target, random)
    # Drawn and not counted up from 1, so that all marks are learned alike.
    marks = random.sample(MARKS, len(MARKS))
    sides = _mark(chosen, marks)
    return hide(source, sides[0])[0], hide(target, sides[1])[0]


def _draws(source: str, target: str, seed: int) -> tuple[float, float, bytes]:
    """Draw two numbers from 0 up to 1, and a seed for more, from the pair itself."""
    content = f"{source}\t{target}".encode("utf-8", "surrogatepass")
    drawn = blake2b(content, digest_size=24, key=str(seed).encode()).digest()
    first, second = (int.from_bytes(drawn[i : i + 8]) / 2**64 for i in (0, 8))
    return first, second, drawn[16:]


def _common(source: str, target: str) -> list[tuple[Span, Span]]:
    """Pair the spans that both sides have, where each has them equally often."""
    spans = find_spans(source)
    others = find_spans(target) if spans else []
    counts = Counter(map(_meaning, spans)), Counter(map(_meaning, others))
    mates: dict[str, list[Span]] = {}
    for span in others:
        mates.setdefault(_meaning(span), []).append(span)
    return [
        (span, mates[meaning].pop(0))
        for span in spans
        if counts[0][meaning := _meaning(span)] == counts[1][meaning]
    ]


def _meaning(span: Span) -> str:
    """Give what is the same for "1,234" and "1.234", for "5%" and "5 %"."""
    if span.kind is not Kind.NUMBER:
        return span.text
    return "".join(_GROUPING.sub("", span.text).split())


def _mark(pairs: Sequence[tuple[Span, Span]], marks: Sequence[str]) -> Marks:
    marked = list(zip(pairs, marks, strict=False))
    return (
        _in_order((span, mark) for (span, _), mark in marked),
        _in_order((span, mark) for (_, span), mark in marked),
    )


def _in_order(marked: Iterable[Marked]) -> list[Marked]:
    return sorted(marked, key=lambda item: (item[0].start, item[0].end))


def _invented(source: str, target: str, random: Random) -> list[tuple[Span, Span]]:
    """Choose places that belong together: shared words, and the ends of a sentence."""
    places: list[tuple[Span, Span]] = []
    words = _shared_words(source, target)
    if words:
        (start, end), (mate_start, mate_end) = random.choice(words)
        if random.random() < 0.7:
            places.append(
                (_span(source, start, end), _span(target, mate_start, mate_end))
            )
        else:
            places.append(
                (_span(source, start, start), _span(target, mate_start, mate_start))
            )
            places.append((_span(source, end, end), _span(target, mate_end, mate_end)))
    if not words or random.random() < 0.3:
        places += _ends(source, target, random)
    return places


def _shared_words(
    source: str, target: str
) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Find the names and the like that stand exactly once on each side."""
    sides = []
    for text in (source, target):
        found = [w for w in _WORD.finditer(text) if not w[0].islower()]
        counts = Counter(word[0] for word in found)
        sides.append({w[0]: w.span() for w in found if counts[w[0]] == 1})
    return [(sides[0][word], sides[1][word]) for word in sides[0] if word in sides[1]]


def _ends(source: str, target: str, random: Random) -> list[tuple[Span, Span]]:
    """Choose the beginnings, the ends, or both, with the last full stop or without."""
    where = random.choice(("start", "end", "both"))
    places = []
    if where != "end":
        places.append((_span(source, 0, 0), _span(target, 0, 0)))
    if where != "start":
        stops = [text[-1:] in _CLOSING and len(text) > 1 for text in (source, target)]
        before_stop = int(all(stops) and random.random() < 0.3)
        ends = [len(text) - before_stop for text in (source, target)]
        places.append(
            (_span(source, ends[0], ends[0]), _span(target, ends[1], ends[1]))
        )
    return places


def _span(text: str, start: int, end: int) -> Span:
    return Span(start, end, text[start:end], Kind.TAG)
