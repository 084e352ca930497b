"""A sentence pair on its way in: raw, kept, or set aside with a reason."""

from dataclasses import dataclass
from enum import StrEnum

SHOWN_CHARACTERS = 200

# Whatever could break a line or a column of a report is shown as an escape.
_ESCAPES = {
    code: ascii(chr(code))[1:-1]
    for code in (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029)
}


class Reason(StrEnum):
    """Why a pair is not fit to learn from."""

    EMPTY = "empty side"
    TOO_LONG = "too long"
    RATIO = "extreme length ratio"
    DUPLICATE = "duplicate"
    INVALID_UTF8 = "invalid UTF-8"
    NUL = "contains NUL"
    MALFORMED = "malformed line"


@dataclass(frozen=True, slots=True)
class RawPair:
    """Two sides as they were read, not yet decoded; `line` counts from 1."""

    line: int
    source: bytes
    target: bytes


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sides that are fit to learn from."""

    line: int
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Reject:
    """A pair that was set aside, its texts shortened and made safe to print."""

    line: int
    reason: Reason
    source: str
    target: str


def reject(
    line: int, reason: Reason, source: bytes | str, target: bytes | str = b""
) -> Reject:
    """Set a pair aside."""
    return Reject(line, reason, shown(source), shown(target))


def shown(text: bytes | str) -> str:
    """Shorten a text to one printable line, with escapes for what cannot be shown."""
    if isinstance(text, bytes):
        # A character has at most four bytes, so enough are looked at.
        head = text[: 4 * SHOWN_CHARACTERS + 4].decode("utf-8", "backslashreplace")
    else:
        head = text[: SHOWN_CHARACTERS + 1]
    printable = head.translate(_ESCAPES)
    if len(printable) <= SHOWN_CHARACTERS:
        return printable
    return printable[: SHOWN_CHARACTERS - 1] + "…"
