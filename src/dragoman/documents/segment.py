"""A stretch of text that is translated as one, with the inline tags lifted off it.

What the translator reads is plain text. Each of its characters remembers how it is
written in the document ("&amp;", a line break with its indentation), and tags are kept
as a tree beside it: pairs with what they enclose, and single ones with their place.
"""

from dataclasses import dataclass, field
from typing import Self

DEEPEST = 100  # pairs within each other; what is deeper than that is no formatting


@dataclass
class Tag:
    """A pair of tags and what it encloses, or a single tag (with `closing` None)."""

    opening: str
    closing: str | None
    start: int
    end: int
    children: list[Self] = field(default_factory=list)


@dataclass(frozen=True)
class Segment:
    """Plain text, how each of its characters is written, and the tags over it.

    It stands from `start` to `end` in its document. `lines` is how many lines it has
    to fill there; 0 says that it does not matter.
    """

    start: int
    end: int
    text: str
    written: tuple[str, ...]
    tags: tuple[Tag, ...]
    opaque: tuple[str, ...]  # what is carried over whole, by number of its marker
    lines: int = 0

    @property
    def needs_links(self) -> bool:
        """Whether anything has to be put back over words."""
        return bool(self.tags)


class SegmentBuilder:
    """Puts a segment together, from left to right."""

    def __init__(self, start: int) -> None:
        self.start = start
        self._text: list[str] = []
        self._written: list[str] = []
        self._root = Tag("", None, 0, 0)
        self._open = [self._root]
        self._opaque: list[str] = []

    @property
    def depth(self) -> int:
        """How many pairs are open."""
        return len(self._open) - 1

    @property
    def has_words(self) -> bool:
        """Whether there is anything to translate."""
        return any(part.strip() and any(map(str.isalnum, part)) for part in self._text)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was added yet."""
        return not self._text and not self._root.children

    def add(self, text: str, written: str | None = None) -> None:
        """Add text; where it is written otherwise, say how."""
        if not text:
            return
        parts = list(text) if written is None else [written, *[""] * (len(text) - 1)]
        self._text += text
        self._written += parts

    def add_opaque(self, written: str) -> None:
        """Add something that is carried over as it is, for which a marker stands."""
        self._opaque.append(written)
        self.add(f'<x id="{len(self._opaque)}"/>', written)

    def single(self, written: str) -> None:
        """Add a tag that encloses nothing."""
        self._open[-1].children.append(self._tag(written, None))

    def open(self, written: str) -> None:
        """Open a pair; it must be closed."""
        tag = self._tag(written, "")
        self._open[-1].children.append(tag)
        self._open.append(tag)

    def close(self, written: str) -> None:
        """Close the pair that was opened last."""
        tag = self._open.pop()
        tag.closing, tag.end = written, len(self._text)

    def build(self, end: int, lines: int = 0) -> Segment:
        """Give the segment, which ends here in its document."""
        assert not self.depth, "every pair is closed"
        return Segment(
            self.start,
            end,
            "".join(self._text),
            tuple(self._written),
            tuple(self._root.children),
            tuple(self._opaque),
            lines,
        )

    def _tag(self, opening: str, closing: str | None) -> Tag:
        return Tag(opening, closing, len(self._text), len(self._text))
