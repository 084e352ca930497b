"""A document on its way: its segments, their sentences, and the text made of them.

It knows of no translator. Whoever has one gives the translation of each sentence, and
where tags are to be put back, which of its words stands for which.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from dragoman.documents.inline_tags import Escape, Translated, put_back
from dragoman.documents.segment import Segment
from dragoman.text.sentences import Piece, split_line
from dragoman.text.word_links import word_units


@dataclass(frozen=True)
class Sentence:
    """A sentence to translate, and whether its words are to be linked."""

    text: str
    needs_links: bool


@dataclass(frozen=True)
class Finished:
    """The translated document, and what had to be repaired in it."""

    text: str
    repairs: tuple[str, ...]


Split = Callable[[str], list[Piece]]


def sentences_of(language: str) -> Split:
    """Split a segment's text into the sentences of a language."""
    return lambda text: split_line(text, language)


def whole(text: str) -> list[Piece]:
    """Take a segment's text as one sentence, besides the blanks around it."""
    inner = text.strip()
    lead = text[: len(text) - len(text.lstrip())]
    pieces = [
        Piece(lead, False),
        Piece(inner, True),
        Piece(text[len(lead + inner) :], False),
    ]
    return [piece for piece in pieces if piece.text]


@dataclass
class Document:
    """A text, the segments of it that are translated, and how new text is written."""

    text: str
    segments: Sequence[Segment]
    escape: Escape
    split: Split
    _pieces: list[list[Piece]] = field(init=False)

    def __post_init__(self) -> None:
        self._pieces = [self.split(segment.text) for segment in self.segments]

    @property
    def sentences(self) -> list[Sentence]:
        """All that has to be translated, in the order of the document."""
        return [
            Sentence(piece.text, segment.needs_links)
            for segment, pieces in zip(self.segments, self._pieces, strict=True)
            for piece in pieces
            if piece.is_sentence
        ]

    def finish(self, translated: Sequence[Translated]) -> Finished:
        """Put the translated sentences where theirs stood; all else stays."""
        waiting = iter(translated)
        parts: list[str] = []
        repairs: list[str] = []
        end = 0
        for segment, pieces in zip(self.segments, self._pieces, strict=True):
            joined = _join(pieces, waiting)
            tagged = put_back(segment, joined, self.escape)
            written = tagged.written
            if segment.lines:
                written = in_lines(written, segment.lines)
            parts += [self.text[end : segment.start], written]
            repairs += tagged.repairs
            end = segment.end
        return Finished("".join([*parts, self.text[end:]]), tuple(repairs))


def _join(pieces: Sequence[Piece], waiting: Iterator[Translated]) -> Translated:
    """Put translated sentences and what is between them together again."""
    text: list[str] = []
    links: list[int | None] = []
    units_before = 0
    for piece in pieces:
        size = len(word_units(piece.text))
        if piece.is_sentence:
            one = next(waiting)
            text.append(one.text)
            links += [None if k is None else k + units_before for k in one.links]
        else:
            text.append(piece.text)
            links += range(units_before, units_before + size)
        units_before += size
    return Translated("".join(text), tuple(links))


def in_lines(text: str, lines: int) -> str:
    """Break a text into so many lines of like length, unless it has as many."""
    if text.count("\n") >= lines - 1:
        return text
    text = text.replace("\n", " ")
    blanks = [place for place, letter in enumerate(text) if letter == " "]
    for number in range(1, lines):
        if not blanks:
            break
        wanted = number * len(text) / lines
        nearest = min(blanks, key=lambda place: abs(place - wanted))
        blanks = [place for place in blanks if place > nearest]
        text = f"{text[:nearest]}\n{text[nearest + 1 :]}"
    return text
