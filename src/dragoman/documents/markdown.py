"""Markdown: paragraphs, headings, list items and cells are segments; the rest stays.

Code, HTML blocks, front matter, rules and link definitions are left as they are.
Emphasis and links are inline tags, so they travel with their words.
"""

import re
from collections.abc import Iterator

from dragoman.documents.document import Document, Split
from dragoman.documents.segment import DEEPEST, Segment, SegmentBuilder

_LINE = re.compile(r"([^\n]*)(\n|\Z)")
_PREFIX = re.compile(
    r"(?:[ \t]*(?:>[ \t]?|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?|\d{1,9}[.)][ \t]+))*[ \t]*"
)
_HEADING = re.compile(r"#{1,6}[ \t]+")
_FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+)?(`{3,}|~{3,})")
_RULE = re.compile(r"[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|=+)\s*$")
_DEFINITION = re.compile(r"[ \t]{0,3}\[[^\]]+\]:")
_HTML = re.compile(r"[ \t]{0,3}<(?:[A-Za-z/!?])")
_DELIMITER_ROW = re.compile(
    r"[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?[ \t]*)?$"
)
_BREAK = re.compile(r"(?: {2,}|\\)$")
_INLINE = re.compile(
    r"(?P<escaped>\\[!-/:-@\[-`{-~])"
    r"|(?P<code>(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<whole>!\[[^\[\]]*\](?:\([^()\s]*(?:[ \n]\"[^\"]*\")?\)|\[[^\[\]]*\])"
    r"|\[\^[^\[\]\s]+\]|<[A-Za-z][A-Za-z0-9+.\-]*:[^<>\s]*>|<[^<>\s@]+@[^<>\s]+>"
    r"|</?[A-Za-z][^<>]*>|<!--.*?-->)"
    r"|(?P<link>\[)"
    r"|(?P<linkend>\](?:\([^()\s]*(?:[ \n]\"[^\"]*\")?\)|\[[^\[\]]*\]))"
    r"|(?P<mark>\*\*|__|\*|_|~~)"
    r"|(?P<newline>\n[^\S\n]*(?:>[ \t]?)*[^\S\n]*)"
    r"|(?P<text>[^\\`!\[\]<*_~\n]+|.)",
    re.DOTALL,
)


def parse_markdown(text: str, split: Split) -> Document:
    """Find the paragraphs and the like of a Markdown document."""
    segments = [
        segment
        for start, end in _stretches(text)
        if (segment := _segment(text, start, end)) is not None
    ]
    return Document(text, segments, str, split)


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """Give where each stretch of running text begins and ends."""
    lines = [(m.start(), m[1]) for m in _LINE.finditer(text)]
    number = _after_front_matter(lines)
    start = end = -1  # of the paragraph that is open; -1: none is
    after_blank = True
    while number < len(lines):
        at, line = lines[number]
        number += 1
        prefix = _PREFIX.match(line)
        assert prefix, "it matches even nothing"
        body = line[prefix.end() :].rstrip()
        fence = _FENCE.match(line)
        code = after_blank and re.match(r"(?: {4}|\t)", line) and not prefix[0].strip()
        html = after_blank and _HTML.match(line)
        table = number < len(lines) and "|" in line and _is_table(lines, number - 1)
        ends = _RULE.match(line) or _DEFINITION.match(line)
        special = bool(fence or code or html or table or not body or ends)
        heading = _HEADING.match(body)
        if start >= 0 and (special or heading or prefix[0].strip(" \t>")):
            yield start, end
            start = -1
        after_blank = not body
        if fence:
            number = _after_fence(lines, number, fence[1])
        elif html or code:
            number = _after_block(lines, number)
        elif table:
            while number <= len(lines) and "|" in lines[number - 1][1]:
                yield from _cells(*lines[number - 1])
                number += 1
            number -= 1
        elif special:
            continue
        elif heading:
            yield at + prefix.end() + heading.end(), at + prefix.end() + len(body)
        else:
            if start < 0:
                start = at + prefix.end()
            broken = _BREAK.search(line)
            end = at + (broken.start() if broken else len(line.rstrip()))
            if broken:
                yield start, end
                start = -1
    if start >= 0:
        yield start, end


def _after_front_matter(lines: list[tuple[int, str]]) -> int:
    if lines[0][1].rstrip() == "---":
        for number, (_, line) in enumerate(lines[1:], 1):
            if line.rstrip() in ("---", "..."):
                return number + 1
    return 0


def _after_fence(lines: list[tuple[int, str]], number: int, fence: str) -> int:
    for place in range(number, len(lines)):
        if lines[place][1].strip(" \t>").startswith(fence):
            return place + 1
    return len(lines)


def _after_block(lines: list[tuple[int, str]], number: int) -> int:
    while number < len(lines) and lines[number][1].strip():
        number += 1
    return number


def _is_table(lines: list[tuple[int, str]], number: int) -> bool:
    return bool(_DELIMITER_ROW.match(lines[number + 1][1].rstrip()))


def _cells(at: int, line: str) -> Iterator[tuple[int, int]]:
    if _DELIMITER_ROW.match(line.rstrip()):
        return
    for cell in re.finditer(r"(?:\\.|`[^`]*`|[^|\\])+", line):
        inner = cell[0].strip()
        if inner:
            start = at + cell.start() + cell[0].index(inner)
            yield start, start + len(inner)


def _segment(text: str, start: int, end: int) -> Segment | None:
    parts = list(_INLINE.finditer(text, start, end))
    pairs = _pairs(text, parts)
    builder = SegmentBuilder(start)
    for number, part in enumerate(parts):
        written = part[0]
        match part.lastgroup, pairs.get(number):
            case _, "open":
                builder.open(written)
            case _, "close":
                builder.close(written)
            case "escaped", _:
                builder.add(written[1], written)
            case ("code" | "ticks", _):
                builder.add_opaque(written)
            case "whole", _ if written.startswith(("</", "<!--")):
                builder.single(written)
            case "whole", _:
                builder.add_opaque(written)
            case "newline", _:
                builder.add(" ", written)
            case _:
                builder.add(written)
    return builder.build(end) if builder.has_words else None


def _pairs(text: str, parts: list[re.Match[str]]) -> dict[int, str]:
    """Say which marks open and close emphasis and links, properly nested."""
    waiting: list[tuple[str, int]] = []
    pairs: dict[int, str] = {}
    for number, part in enumerate(parts):
        kind = {"link": "[", "linkend": "["}.get(part.lastgroup or "", part[0])
        before, after = text[part.start() - 1 : part.start()], text[part.end() :][:1]
        closes = part.lastgroup == "linkend" or (
            part.lastgroup == "mark"
            and bool(before.strip())
            and not (part[0][0] == "_" and after.isalnum())
        )
        opens = part.lastgroup == "link" or (
            part.lastgroup == "mark"
            and bool(after.strip())
            and not (part[0][0] == "_" and before.isalnum())
        )
        place = next(
            (i for i in reversed(range(len(waiting))) if waiting[i][0] == kind), None
        )
        if closes and place is not None and waiting[place][1] < number - 1:
            pairs |= {waiting[place][1]: "open", number: "close"}
            del waiting[place:]
        elif opens and len(waiting) < DEEPEST:
            waiting.append((kind, number))
    return pairs
