"""Hides spans behind placeholders before translating, and puts them back afterwards.

A placeholder is a word of its own with one token (⟦1⟧ … ⟦9⟧) that the model has learned
to copy. Where it would have stood against a letter, a space is put between so that the
words around it are spelled as always, and taken away again when the span comes back.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dragoman.text.spans import Kind, Span, find_spans
from dragoman.text.tokenizer import Tokenizer
from dragoman.text.words import is_in_word

MARKS = tuple(f"⟦{number}⟧" for number in range(1, 10))
_MARK = re.compile("⟦[1-9]⟧")


@dataclass(frozen=True)
class Hidden:
    """A span behind a placeholder, and how it stood against the words around it."""

    mark: str
    span: Span
    joined_before: str  # the character that it stood against; "" for a space
    joined_after: str  # the same, if it begins a word: a letter, an opening quote
    blank_stays: bool = False  # the source has one beside a script without blanks

    @property
    def text(self) -> str:
        """The span as it stands in the source."""
        return self.span.text


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
        after = text[span.end : span.end + 1]
        joined_after = after if _begins_word(after) else ""
        spaced = " " * bool(joined_before), " " * bool(joined_after)
        parts += [text[end : span.start], spaced[0], mark, spaced[1]]
        near = text[: span.start].rstrip(" ")[-1:], text[span.end :].lstrip(" ")[:1]
        stays = any(map(_is_unspaced, near))
        hidden.append(Hidden(mark, span, joined_before, joined_after, stays))
        end = span.end
    return "".join([*parts, text[end:]]), tuple(hidden)


def _as_it_is(span: Span) -> str:
    return span.text


def _begins_word(character: str) -> bool:
    """Say whether a character would be spelled otherwise after a space."""
    if not character or character.isspace():
        return False
    closing = unicodedata.category(character) in ("Pe", "Pf", "Po")
    return character in "¿¡" or not closing


def restore(
    text: str, hidden: Sequence[Hidden], write: Callable[[Span], str] = _as_it_is
) -> str:
    """Put the spans back in the places of their marks, as `write` spells each.

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
        restored = _before(restored, span) + write(span.span)
        following = text[end + spaced_after : end + spaced_after + 1]
        if spaced_after:
            end += _joins_after(span, following)
        elif span.joined_after != following and _is_spaced_word(following):
            restored += " "  # "1.2.3" and "Los" were two words
    return restored + text[end:]


def _before(restored: str, span: Hidden) -> str:
    """Join a span to what is before it or set it off, as in the source."""
    if restored.endswith(" "):
        before = restored[:-1]
        return before if _joins_before(span, before) else restored
    if span.joined_before != restored[-1:] and _is_spaced_word(restored[-1:]):
        return restored + " "
    return restored


def _joins_before(span: Hidden, before: str) -> bool:
    """Say whether a span stands against what is before it now, as "5" in "(5"."""
    in_source = span.joined_before
    if in_source.isspace():
        return before.endswith(in_source)
    if not in_source:
        return not span.blank_stays and _is_unspaced(before[-1:])
    if in_source.isalnum():
        return span.span.kind is Kind.TAG or before.endswith(in_source)
    return not before[-1:].isalnum()


def _joins_after(span: Hidden, following: str) -> bool:
    """Say whether a span stands against what follows it now.

    A tag does if it did; of anything else only what it stood against, so that
    "10-minute" becomes "10 minutos" and "{n}x" stays "{n}x".
    """
    if span.span.kind is Kind.TAG:
        return bool(span.joined_after)
    if following and following == span.joined_after:
        return True
    return not span.blank_stays and _is_unspaced(following)


def _is_spaced_word(character: str) -> bool:
    return character.isalpha() and is_in_word(character)


def _is_unspaced(character: str) -> bool:
    return character.isalpha() and not is_in_word(character)
