"""Hides spans behind placeholders before translating, and puts them back afterwards.

A placeholder is a word of its own with one token (⟦1⟧ … ⟦9⟧) that the model has learned
to copy. Where it would have stood against a letter, a space is put between so that the
words around it are spelled as always, and taken away again when the span comes back.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dragoman.text.spans import Kind, Span, find_spans
from dragoman.text.tokenizer import Tokenizer

MARKS = tuple(f"⟦{number}⟧" for number in range(1, 10))
_MARK = re.compile("⟦[1-9]⟧")


@dataclass(frozen=True)
class Hidden:
    """A span behind a placeholder, and how it stood against the words around it."""

    mark: str
    text: str
    joined_before: str  # the character that it stood against; "" for a space
    joined_after: bool  # to what begins a word: a letter, an opening quote


@dataclass(frozen=True)
class Protected:
    """A text with placeholders, and the spans: those hidden, those left as they are."""

    text: str
    hidden: tuple[Hidden, ...]
    left: tuple[Span, ...]


def placeholder_ids(tokenizer: Tokenizer) -> tuple[int, ...]:
    """Give the ids of ⟦1⟧ … ⟦9⟧, or none if the tokenizer was learned without them."""
    spelled = [tokenizer.encode(mark) for mark in MARKS]
    if any(len(ids) != 1 for ids in spelled):
        return ()
    return tuple(ids[0] for ids in spelled)


def protect(text: str, spans: Sequence[Span] | None = None) -> Protected:
    """Hide the spans of a text; more than nine share marks, and a last few are left.

    Where none are named, all that are found are meant.
    """
    spans = find_spans(text) if spans is None else spans
    marks = _choose_marks(spans)
    masked, hidden = hide(text, [(span, marks.get(span)) for span in spans])
    return Protected(masked, hidden, tuple(s for s in spans if s not in marks))


def _choose_marks(spans: Sequence[Span]) -> dict[Span, str]:
    if len(spans) <= len(MARKS):
        return dict(zip(spans, MARKS, strict=False))
    # What looks like a mark must never be left; there are only nine of those.
    by_need = sorted(spans, key=lambda span: span.kind is not Kind.MARK)
    mark_of: dict[str, str] = {}
    for span in by_need:
        if len(mark_of) < len(MARKS):
            mark_of.setdefault(span.text, MARKS[len(mark_of)])
    return {span: mark_of[span.text] for span in spans if span.text in mark_of}


def hide(
    text: str, marked: Iterable[tuple[Span, str | None]]
) -> tuple[str, tuple[Hidden, ...]]:
    """Put the mark in the place of each span that has one, set off by spaces."""
    parts: list[str] = []
    hidden = []
    end = 0
    for span, mark in marked:
        if mark is None:
            continue
        before = text[span.start - 1] if span.start else ""
        joined_before = "" if before in ("", " ") else before
        joined_after = _begins_word(text[span.end : span.end + 1])
        spaced = " " * bool(joined_before), " " * joined_after
        parts += [text[end : span.start], spaced[0], mark, spaced[1]]
        hidden.append(Hidden(mark, span.text, joined_before, joined_after))
        end = span.end
    return "".join([*parts, text[end:]]), tuple(hidden)


def _begins_word(character: str) -> bool:
    """Say whether a character would be spelled otherwise after a space."""
    if not character or character.isspace():
        return False
    closing = unicodedata.category(character) in ("Pe", "Pf", "Po")
    return character in "¿¡" or not closing


def restore(text: str, hidden: Sequence[Hidden]) -> str:
    """Put the spans back in the places of their marks.

    A mark that stands there more often than it should is left out the further times.
    """
    waiting = {mark: [h for h in hidden if h.mark == mark] for mark in MARKS}
    restored, end = "", 0
    for found in _MARK.finditer(text):
        restored += text[end : found.start()]
        end = found.end()
        spaced_after = text.startswith(" ", end)
        if not waiting[found[0]]:
            end += spaced_after and (not restored or restored[-1] == " ")
            continue
        span = waiting[found[0]].pop(0)
        if restored.endswith(" ") and _stays_joined(span.joined_before, restored[:-1]):
            restored = restored[:-1]
        restored += span.text
        end += spaced_after and span.joined_after
    return restored + text[end:]


def _stays_joined(in_source: str, before: str) -> bool:
    """Say whether a span stands against what is before it now, as "5.0" in "(5.0"."""
    if in_source.isspace():
        return before.endswith(in_source)
    return bool(in_source) and (in_source.isalnum() or not before[-1:].isalnum())
