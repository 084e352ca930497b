"""HTML and XML: a scanner that keeps every offset, and the segments it finds.

Only text between tags is touched. An element that formats words within a sentence is
an inline tag; any other ends the segment before it. What must not be translated (code,
`translate="no"`) is carried over whole.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

from dragoman.documents.document import Document, Split
from dragoman.documents.segment import DEEPEST, Segment, SegmentBuilder

INLINE = frozenset(
    [
        "a",
        "abbr",
        "acronym",
        "b",
        "bdi",
        "bdo",
        "big",
        "cite",
        "data",
        "del",
        "dfn",
        "em",
        "font",
        "i",
        "ins",
        "label",
        "mark",
        "nobr",
        "q",
        "rb",
        "s",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "time",
        "tt",
        "u",
    ]
)
SINGLE = frozenset(["br", "img", "wbr", "input", "embed"])
VOID = (
    frozenset(["area", "base", "col", "hr", "link", "meta", "param", "source", "track"])
    | SINGLE
)
OPAQUE = frozenset(
    [
        "code",
        "kbd",
        "samp",
        "var",
        "math",
        "svg",
        "button",
        "select",
        "object",
        "iframe",
        "canvas",
        "audio",
        "video",
        "ruby",
        "meter",
        "progress",
        "output",
    ]
)
UNTOUCHED = frozenset(["pre", "template", "noscript", "noembed", "noframes"])
RAW = frozenset(["script", "style", "textarea", "xmp"])  # their content is no markup
BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "caption",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "head",
        "header",
        "hr",
        "html",
        "legend",
        "li",
        "main",
        "nav",
        "ol",
        "option",
        "p",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "title",
        "tr",
        "ul",
    ]
)
MOST_BROKEN = 100  # tags without an end; from then on "<" is a character like others

_NAME = re.compile(r"[A-Za-z][^\s/>]*")
_STOP = re.compile(r"[\"'>]")
_CHARACTER = re.compile(
    r"&(?:[A-Za-z][A-Za-z0-9]{1,31}|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});"
)
_PIECE = re.compile(rf"{_CHARACTER.pattern}|[ \t\r\n\f]+|.", re.DOTALL)
_LEFT_ALONE = re.compile(
    r"\stranslate\s*=\s*[\"']?no\b|\sclass\s*=\s*(?:\"[^\"]*|'[^']*)\bnotranslate\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Token:
    """A stretch of the document: text, a tag, or what is neither."""

    kind: str  # "text", "open", "close", "single", "comment" or "other"
    start: int
    end: int
    name: str = ""


@dataclass(frozen=True)
class TagRules:
    """Which elements are what; XML has names of its own."""

    xml: bool = False
    ignored: frozenset[str] = frozenset()  # carried over whole, with their content
    splitting: frozenset[str] = frozenset()
    inline: frozenset[str] = frozenset()
    outline: bool = True  # in XML: elements named as HTML's blocks end a segment

    def is_inline(self, name: str) -> bool:
        """Whether an element stands within a sentence."""
        if name in self.splitting:
            return False
        if name in self.inline or name in self.ignored:
            return True
        if self.xml:
            return not (self.outline and name.lower() in BLOCKS)
        return name in INLINE or name in SINGLE or name in OPAQUE

    def is_opaque(self, name: str, tag: str) -> bool:
        """Whether an element is carried over with all that is in it."""
        if name in self.ignored or _LEFT_ALONE.search(tag):
            return True
        return not self.xml and name in OPAQUE

    def is_untouched(self, name: str, tag: str) -> bool:
        """Whether a block is left as it is."""
        return bool(_LEFT_ALONE.search(tag)) or (not self.xml and name in UNTOUCHED)


HTML_RULES = TagRules()


def parse_markup(text: str, split: Split, rules: TagRules = HTML_RULES) -> Document:
    """Find the segments of an HTML or XML document."""
    tokens = list(scan(text, rules))
    segments = list(_segments(text, tokens, rules))
    return Document(text, segments, escape, split)


def escape(text: str) -> str:
    """Write a text so that none of it is taken for markup."""
    return html.escape(text, quote=False)


def scan(text: str, rules: TagRules = HTML_RULES) -> Iterator[Token]:
    """Cut a document into tokens, which together are the document."""
    place = start = broken = 0
    while (place := text.find("<", place)) >= 0 and broken < MOST_BROKEN:
        token = _tag(text, place, rules)
        if token is None:
            broken += text[place + 1 : place + 2].isalpha()
            place += 1
            continue
        if start < place:
            yield Token("text", start, place)
        yield token
        place = start = token.end
        if token.kind == "open" and not rules.xml and token.name in RAW:
            closing = re.compile(rf"</{token.name}(?=[\s/>])", re.IGNORECASE)
            found = closing.search(text, place)
            place = found.start() if found else len(text)
            if start < place:
                yield Token("other", start, place)
            start = place
    if start < len(text):
        yield Token("text", start, len(text))


def _tag(text: str, start: int, rules: TagRules) -> Token | None:
    """Give the tag that begins here, or None if none does."""
    for opening, ending, kind in (
        ("<!--", "-->", "comment"),
        ("<![CDATA[", "]]>", "comment"),
        ("<?", "?>" if rules.xml else ">", "comment"),
        ("<!", ">", "other"),
    ):
        if text.startswith(opening, start):
            end = text.find(ending, start + len(opening))
            return Token(kind, start, end + len(ending)) if end >= 0 else None
    closing = text.startswith("</", start)
    name = _NAME.match(text, start + 1 + closing)
    end = _tag_end(text, name.end()) if name else -1
    if not name or end < 0:
        return None
    called = name[0] if rules.xml else name[0].lower()
    if closing:
        return Token("close", start, end, called)
    empty = text[end - 2] == "/" if rules.xml else called in VOID
    return Token("single" if empty else "open", start, end, called)


def _tag_end(text: str, place: int) -> int:
    while found := _STOP.search(text, place):
        if found[0] == ">":
            return found.end()
        place = text.find(found[0], found.end()) + 1
        if not place:
            return -1
    return -1


def _segments(text: str, tokens: list[Token], rules: TagRules) -> Iterator[Segment]:
    """Give the runs of text and inline tags that have words in them."""
    mates = _mates(tokens)
    run: list[int] = []
    number = 0
    while number < len(tokens):
        token = tokens[number]
        written = text[token.start : token.end]
        if token.kind in ("text", "comment"):
            run.append(number)
        elif token.kind in ("single", "open", "close") and rules.is_inline(token.name):
            run.append(number)
            if token.kind == "open" and rules.is_opaque(token.name, written):
                run += range(number + 1, mates.get(number, number) + 1)
                number = mates.get(number, number)
        else:
            yield from _segment(text, tokens, run, mates, rules)
            run = []
            if token.kind == "open" and rules.is_untouched(token.name, written):
                number = mates.get(number, number)
        number += 1
    yield from _segment(text, tokens, run, mates, rules)


def _mates(tokens: list[Token]) -> dict[int, int]:
    """Give the number of the closing tag for each that opens, where they nest."""
    waiting: dict[str, list[int]] = {}
    open_tags: list[int] = []
    mates: dict[int, int] = {}
    for number, token in enumerate(tokens):
        if token.kind == "open":
            open_tags.append(number)
            waiting.setdefault(token.name, []).append(number)
        elif token.kind == "close" and waiting.get(token.name):
            mate = waiting[token.name][-1]
            while open_tags[-1] != mate:  # left open within: closed by nobody
                waiting[tokens[open_tags.pop()].name].pop()
            open_tags.pop()
            waiting[token.name].pop()
            mates[mate] = number
    return mates


def _segment(
    text: str,
    tokens: list[Token],
    run: list[int],
    mates: dict[int, int],
    rules: TagRules,
) -> Iterator[Segment]:
    """Build the segments of a run; a tag whose mate is elsewhere ends one."""
    if not any(tokens[number].kind == "text" for number in run):
        return
    inside = set(run)
    partners = mates | {close: start for start, close in mates.items()}
    builder = SegmentBuilder(tokens[run[0]].start)
    depth_of: dict[int, bool] = {}  # whether a pair was opened in this segment
    place = 0
    while place < len(run):
        number = run[place]
        token, written = tokens[number], text[tokens[number].start : tokens[number].end]
        place += 1
        if token.kind == "text":
            add_text(builder, written)
        elif token.kind in ("single", "comment"):
            builder.single(written)
        elif partners.get(number) not in inside:
            if builder.has_words and not builder.depth:
                yield builder.build(token.start)
            if not builder.depth:
                builder = SegmentBuilder(token.end)
            else:  # left open within a pair: it goes where its neighbours go
                builder.single(written)
        elif token.kind == "open" and rules.is_opaque(token.name, written):
            end = mates[number]
            builder.add_opaque(text[token.start : tokens[end].end])
            place += end - number
        elif token.kind == "open" and builder.depth < DEEPEST:
            depth_of[number] = True
            builder.open(written)
        elif token.kind == "close" and depth_of.get(partners[number]):
            builder.close(written)
        else:  # deeper than any formatting
            builder.single(written)
    if builder.has_words:
        yield builder.build(tokens[run[-1]].end)


def add_text(builder: SegmentBuilder, written: str) -> None:
    """Add text as it is read: characters for references, one blank for many."""
    for found in _PIECE.finditer(written):
        piece = found[0]
        if piece[0] in " \t\r\n\f":
            builder.add(" ", piece)
        elif len(piece) > 1:
            builder.add(html.unescape(piece), piece)
        else:
            builder.add(piece)
