"""Puts a pair of tags around the words that the model drew from those it enclosed.

A model copies the placeholders of tags, but may set them around other words. Where it
looked while it wrote each word tells better: of all stretches of the translation, the
one is taken that looked most at what the pair enclosed, and least at the rest.
"""

from collections.abc import Sequence

from dragoman.phrases import PhraseSpeller
from dragoman.text.demands import Demands
from dragoman.text.spans import Kind, tag_pairs
from dragoman.text.tokenizer import Tokenizer

Alignment = Sequence[Sequence[float]]  # [target token][source token]


def enclosing_marks(
    demands: Demands, speller: PhraseSpeller, source: Sequence[int]
) -> list[tuple[int, int]]:
    """Give the placeholders, as tokens, of pairs that enclose words in the source."""
    if not any(hidden.span.kind is Kind.TAG for hidden in demands.hidden):
        return []
    marks = [speller.mark_ids[hidden.mark] for hidden in demands.hidden]
    pairs = [
        (marks[start], marks[end])
        for start, end in tag_pairs([hidden.text for hidden in demands.hidden])
    ]
    once = [token for token in marks if source.count(token) == marks.count(token) == 1]
    return [pair for pair in pairs if pair[0] in once and pair[1] in once]


def place_tags(
    source: Sequence[int],
    target: Sequence[int],
    alignment: Alignment,
    pairs: Sequence[tuple[int, int]],
    tokenizer: Tokenizer,
) -> list[int]:
    """Give the target with its pairs around what was drawn from what they enclosed."""
    tags = {token for pair in pairs for token in pair}
    if not alignment or any(target.count(token) != 1 for token in tags):
        return list(target)
    kept = [place for place, token in enumerate(target) if token not in tags]
    words = [target[place] for place in kept]
    pieces = tokenizer.pieces(words)
    opened: dict[int, list[int]] = {}
    closed: dict[int, list[int]] = {}
    for first, last in pairs:
        inside = range(source.index(first) + 1, source.index(last))
        looks = [_share(alignment[place], inside, source, tags) for place in kept]
        start, end = _whole_words(*_best_stretch(looks), pieces)
        if start >= end:
            return list(target)
        opened.setdefault(start, []).insert(0, first)  # the outer pair comes later
        closed.setdefault(end, []).append(last)
    placed: list[int] = []
    for place in range(len(words) + 1):
        placed += closed.get(place, [])
        placed += opened.get(place, [])
        placed += words[place : place + 1]
    return placed


def _share(
    looks: Sequence[float], inside: range, source: Sequence[int], tags: set[int]
) -> float:
    """Give how much of a token's look at words was at those inside."""
    words = [place for place, token in enumerate(source) if token not in tags]
    total = sum(looks[place] for place in words)
    within = sum(looks[place] for place in words if place in inside)
    return within / total if total else 0.0


def _best_stretch(shares: Sequence[float]) -> tuple[int, int]:
    """Give the stretch with the most above one half and the least below."""
    best, start, found = 0.0, 0, (0, 0)
    total = 0.0
    for place, share in enumerate(shares):
        if total <= 0:
            total, start = 0.0, place
        total += share - 0.5
        if total > best:
            best, found = total, (start, place + 1)
    if found == (0, 0) and shares:  # none looked mostly there: take the one nearest
        place = max(range(len(shares)), key=shares.__getitem__)
        found = (place, place + 1)
    return found


def _whole_words(start: int, end: int, pieces: Sequence[str]) -> tuple[int, int]:
    """Widen a stretch to whole words, but not over the punctuation after them."""
    while start > 0 and not pieces[start].startswith("▁"):
        start -= 1
    while end < len(pieces) and not pieces[end].startswith("▁"):
        if not any(map(str.isalnum, pieces[end])):
            break
        end += 1
    while end > start + 1 and not any(map(str.isalnum, pieces[end - 1])):
        end -= 1
    return start, end
