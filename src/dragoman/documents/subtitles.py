"""Subtitles, SRT and WebVTT: only the words of cues change, never times or settings.

A cue is translated as one text, whatever its lines, and fills as many lines again.
Lines that begin with a dash are different speakers, each with a segment of their own.
"""

import re
from collections.abc import Iterator

from dragoman.documents.document import Document, Split
from dragoman.documents.markup import add_text, escape
from dragoman.documents.segment import Segment, SegmentBuilder

_TIME = re.compile(r"(?:\d+:)?\d\d?:\d\d[.,]\d+\s*-->\s*(?:\d+:)?\d\d?:\d\d[.,]\d+")
_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
_TAG = re.compile(r"<(/?)([A-Za-z][\w.]*)?([^<>\n]*)>|\{\\[^{}\n]*\}")
_SPEAKER = re.compile(r"\s*[-–—]\s*")


def parse_subtitles(text: str, split: Split, *, vtt: bool) -> Document:
    """Find the texts of the cues."""
    segments = [
        segment
        for start, end in _cues(text)
        for segment in _segments(text, start, end, vtt)
    ]
    return Document(text, segments, escape if vtt else str, split)


def _cues(text: str) -> Iterator[tuple[int, int]]:
    """Give where the text of each cue begins and ends."""
    start = end = -1  # -1: not within a cue
    for line in _LINE.finditer(text):
        if _TIME.match(line[1].strip()):
            start = end = line.end()
        elif not line[1].strip():
            if start >= 0 and end > start:
                yield start, end
            start = -1
        elif start >= 0:
            end = line.end(1)
        if line.end() == len(text):
            break
    if start >= 0 and end > start:
        yield start, end


def _segments(text: str, start: int, end: int, vtt: bool) -> Iterator[Segment]:
    lines = [
        (start + line.start(), start + line.end(1))
        for line in _LINE.finditer(text[start:end])
        if line[1]
    ]
    speakers = [begin for begin, stop in lines if _SPEAKER.match(text[begin:stop])]
    groups = [[line] for line in lines] if len(speakers) > 1 else [lines]
    for group in groups:
        first, last = group[0][0], group[-1][1]
        dash = _SPEAKER.match(text, first, last) if len(speakers) > 1 else None
        begin = dash.end() if dash else first
        builder = SegmentBuilder(begin)
        _fill(builder, text[begin:last], vtt)
        if builder.has_words:
            yield builder.build(last, len(group) if len(group) > 1 else 0)


def _fill(builder: SegmentBuilder, written: str, vtt: bool) -> None:
    """Add words and tags; a tag without its mate is a single one."""
    found = list(_TAG.finditer(written))
    pairs = _pairs(found)
    add = add_text if vtt else _add_lines
    place = 0
    for number, tag in enumerate(found):
        add(builder, written[place : tag.start()])
        place = tag.end()
        match pairs.get(number):
            case "open":
                builder.open(tag[0])
            case "close":
                builder.close(tag[0])
            case _:
                builder.single(tag[0])
    add(builder, written[place:])


def _pairs(tags: list[re.Match[str]]) -> dict[int, str]:
    waiting: list[int] = []
    pairs: dict[int, str] = {}
    for number, tag in enumerate(tags):
        name = (tag[2] or "").partition(".")[0]
        if name and not tag[1]:
            waiting.append(number)
        elif name and waiting:
            opened = tags[waiting[-1]][2].partition(".")[0]
            if opened == name:
                pairs |= {waiting.pop(): "open", number: "close"}
    return pairs


def _add_lines(builder: SegmentBuilder, written: str) -> None:
    for part in re.findall(r"\r\n|\n|\r|[^\r\n]+", written):
        if part[0] in "\r\n":
            builder.add(" ", part)
        else:
            builder.add(part)
