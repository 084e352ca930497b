"""Splits lines of documents into sentences, keeping every character around them.

`sentencex` (the extra "documents": small, maintained, offline) knows the abbreviations
of many languages; without it, a sentence ends at a full stop, a question mark or an
exclamation mark before a blank.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec

from dragoman.text.spans import Kind, find_spans

# Indentation, quoting and the mark of a list item are no part of a sentence.
_BEFORE = re.compile(
    r"[\s>]*(?:[-*+•‣·–—]\s+|\(?\d{1,3}[.)]\s+|\(?[A-Za-z]\)\s+|#{1,6}\s+)?"
)
_END = re.compile(r"[.!?…]+[\"'”’»)\]]*\s+|[。！？][」』”]*")


@dataclass(frozen=True)
class Piece:
    """A sentence, or text between sentences that stays as it is."""

    text: str
    is_sentence: bool


def has_splitter() -> bool:
    """Say whether the splitter that knows languages is installed."""
    return find_spec("sentencex") is not None


def split_line(line: str, language: str) -> list[Piece]:
    """Split a line into sentences and what is between; together they are the line."""
    start = _BEFORE.match(line)
    assert start, "it matches even nothing"
    pieces = [Piece(start[0], is_sentence=False)]
    for stretch in _stretches(line[start.end() :], language):
        sentence = stretch.strip()
        before, _, after = (
            stretch.partition(sentence) if sentence else (stretch, "", "")
        )
        pieces += [
            Piece(before, is_sentence=False),
            Piece(sentence, is_sentence=True),
            Piece(after, is_sentence=False),
        ]
    return [piece for piece in pieces if piece.text]


def _stretches(text: str, language: str) -> Iterator[str]:
    """Cut after each sentence, but never within a tag, an address or the like."""
    spans = find_spans(text)
    plain = text
    for span in spans:
        # Of the same length, so that the cuts are at the same places.
        stand_in = " " if span.kind is Kind.TAG else "X"
        width = span.end - span.start
        plain = plain[: span.start] + stand_in * width + plain[span.end :]
    start = place = 0
    for sentence in _sentences(plain, language):
        place += len(sentence)
        if not any(span.start < place < span.end for span in spans):
            yield text[start:place]
            start = place
    if start < len(text):
        yield text[start:]


def _sentences(text: str, language: str) -> list[str]:
    if has_splitter():
        parts = _known_to(language, text)
        if "".join(parts) == text:
            return parts
    ends = [found.end() for found in _END.finditer(text)]
    starts = [0, *ends]
    return [text[a:b] for a, b in zip(starts, [*ends, len(text)], strict=True) if a < b]


def _known_to(language: str, text: str) -> list[str]:
    import sentencex

    return list(sentencex.segment(language, text))
