"""Finds what must survive translation: tags, variables, code, addresses, numbers.

Each is found in the source as it stands; nothing is parsed beyond its own borders, and
the time taken grows with the length of the text alone.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from dragoman.text.number_spans import NUMBER

_LONGEST = 2000  # characters of a quoted value or of a variable in braces
_TAG = (
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>"
    r"|</?[A-Za-z][\w:.\-]*"
    rf"(?:\s(?:[^<>\"']|\"[^\"]{{0,{_LONGEST}}}\"|'[^']{{0,{_LONGEST}}}')*)?/?>"
    r"|&(?:[A-Za-z][A-Za-z0-9]{1,31}|\#\d{1,7}|\#[xX][0-9A-Fa-f]{1,6});"
)
_VARIABLE = (
    r"\{\{[^{}]*\}\}|\{%[^{}]*%\}|\{\#[^{}]*\#\}"
    r"|[$%\#]\{[^{}]*\}|%\([^()\s]*\)[\-+\#0]*[\d.]*[a-zA-Z]"
    r"|(?<![\w$])\$[A-Za-z_]\w*"  # $HOME
    # A number before "%" makes it a percentage: "100%sure" has no variable.
    r"|(?<![\d%])%(?:\d+\$)?[\-+\#0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?"
    r"(?:(?:hh|h|ll|l|L|q|j|z|t)?(?:[sd@]|[iufgxXc](?![A-Za-z]))|%)"
)
_CODE = (
    rf"```[^`]{{1,{_LONGEST}}}```|`[^`\n]{{1,{_LONGEST}}}`"
    r"|(?<!\w)[A-Za-z]:\\[^\s<>|\"?*]*"  # a path of Windows
    r"|(?<![\w./~])(?:~|\.{1,2})?(?:/[\w.\-]+){2,}/?"  # a path of Unix
    r"|(?<![^\W_])[A-Za-z0-9_]{0,64}_\w[\w.]{0,64}(?<!\.)"  # snake_case, report_2.pdf
)
_ADDRESS = (
    r"(?<![A-Za-z])(?:(?:https?|ftps?|file|ssh|git)://|www\.)[^\s<>{}\"|\\^`]+"
    r"|(?<![\w.+%\-])(?:mailto:)?[\w.+%\-]{1,64}@[\w\-]+(?:\.[\w\-]+)+"
    r"|(?<![\w.@/])@[A-Za-z_]\w*"  # @user
)
_FOUND = re.compile(
    rf"(?P<tag>{_TAG})|(?P<variable>{_VARIABLE})|(?P<address>{_ADDRESS})"
    rf"|(?P<code>{_CODE})|(?P<mark>⟦[1-9]⟧)|(?P<number>{NUMBER})|(?P<brace>\{{)",
    re.DOTALL,
)
# Most sentences have nothing of this, and looking for it is quick.
_HINT = re.compile(r"[<{%&@⟦\d`$\\_/]|www\.")
# "{name}", "{0}", "{n:.2f}" and ICU's "{n, plural, ...}", but not "{some words}".
_ARGUMENT = re.compile(r"\s*[\w.\-\[\]]*\s*(?:[,:!].*)?", re.DOTALL)
_TAG_NAME = re.compile(r"<(/?)([A-Za-z][\w:.\-]*)[^<]*?(/?)>", re.DOTALL)
# HTML's elements without an end.
_VOID = re.compile(
    "area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr", re.IGNORECASE
)


class Kind(StrEnum):
    """What a span is."""

    TAG = "tag"
    VARIABLE = "variable"
    ADDRESS = "address"
    CODE = "code"
    NUMBER = "number"
    MARK = "mark"  # what looks like one of our own placeholders


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text that must reach the translation as it is."""

    start: int
    end: int
    text: str
    kind: Kind


def find_spans(text: str) -> list[Span]:
    """Give the spans of a text from left to right; those that touch are one."""
    spans: list[Span] = []
    if not _HINT.search(text):
        return spans
    for start, end, kind in _places(text):
        if spans and spans[-1].end == start:
            before = spans.pop()
            start = before.start
            kind = before.kind if kind is not Kind.TAG else kind
        spans.append(Span(start, end, text[start:end], kind))
    return spans


def _places(text: str) -> Iterator[tuple[int, int, Kind]]:
    place = 0
    while found := _FOUND.search(text, place):
        start, end = found.span()
        match found.lastgroup:
            case "brace":
                end = _closing_brace(text, start)
                kind = Kind.VARIABLE
            case "address":
                end = start + len(_without_end_of_sentence(found[0]))
                kind = Kind.ADDRESS
            case group:
                assert group is not None, "every alternative has a name"
                kind = Kind(group)
        if end > start:
            yield start, end, kind
        place = max(end, start + 1)


def _closing_brace(text: str, start: int) -> int:
    """Give the end of a variable that opens at `start`, or `start` if it is none."""
    depth = 0
    for place in range(start, min(len(text), start + _LONGEST)):
        depth += (text[place] == "{") - (text[place] == "}")
        if not depth:
            inside = text[start + 1 : place]
            return place + 1 if _ARGUMENT.fullmatch(inside) else start
    return start


def _without_end_of_sentence(address: str) -> str:
    """Leave off the punctuation that goes on with the sentence after an address."""
    while address[-1] in ".,;:!?'’”»)]*_":
        if address[-1] == ")" and address.count("(") >= address.count(")"):
            break
        address = address[:-1]
    return address


def unpaired_tags(text: str) -> int:
    """Count the opening and closing tags that do not enclose each other properly."""
    open_tags: list[str] = []
    unpaired = 0
    for closing, name, empty in _TAG_NAME.findall(text):
        if empty or _VOID.fullmatch(name):
            continue
        if not closing:
            open_tags.append(name)
        elif open_tags and open_tags[-1] == name:
            open_tags.pop()
        else:
            unpaired += 1
    return unpaired + len(open_tags)


def has_tag(text: str) -> bool:
    """Say whether a span opens or closes an element."""
    return _TAG_NAME.search(text) is not None


def tag_pairs(spans: list[str]) -> list[tuple[int, int]]:
    """Give the places of spans that open and close the same element."""
    open_tags: list[tuple[str, int]] = []
    pairs = []
    for place, span in enumerate(spans):
        for closing, name, empty in _TAG_NAME.findall(span):
            if empty or _VOID.fullmatch(name):
                continue
            if not closing:
                open_tags.append((name, place))
            elif open_tags and open_tags[-1][0] == name:
                pairs.append((open_tags.pop()[1], place))
    return [(start, end) for start, end in pairs if start != end]
