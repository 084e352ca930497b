"""Plain text: each line is a segment; blank ones and line ends stay."""

import re

from dragoman.documents.document import Document, Split
from dragoman.documents.segment import Segment, SegmentBuilder

_LINE = re.compile(r"[^\r\n]+")


def parse_plain(text: str, split: Split) -> Document:
    """Find the lines of a text that have words."""
    segments = []
    for line in _LINE.finditer(text):
        segments += segment_of(line[0], line.start())
    return Document(text, segments, str, split)


def segment_of(text: str, start: int, lines: int = 0) -> list[Segment]:
    """Give the segment that a text is, or none if it has no words."""
    builder = SegmentBuilder(start)
    builder.add(text)
    return [builder.build(start + len(text), lines)] if builder.has_words else []
