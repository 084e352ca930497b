"""Translators that need no model: what they do to a sentence is known exactly."""

import re
from collections.abc import Callable

import pytest

from dragoman.documents.document import Document, Finished
from dragoman.documents.inline_tags import Translated
from dragoman.text.word_links import word_units

Translate = Callable[[str], Translated]


def identity(sentence: str) -> Translated:
    return Translated(sentence, tuple(range(len(word_units(sentence)))))


def reverse(sentence: str) -> Translated:
    """Turn the order of words round, each with what stands against it."""
    units = word_units(sentence)
    numbers = list(reversed(range(len(units))))
    return Translated(" ".join(units[n].text for n in numbers), tuple(numbers))


def shout(sentence: str) -> Translated:
    """Change every word, and keep the order and the markers."""
    text = re.sub(r"<x id=\"\d+\"/>|\w", lambda m: _louder(m[0]), sentence)
    return Translated(text, tuple(range(len(word_units(sentence)))))


def _louder(part: str) -> str:
    return part if part.startswith("<") else part.upper()


def finished(document: Document, translate: Translate) -> Finished:
    return document.finish([translate(s.text) for s in document.sentences])


@pytest.fixture
def translators() -> dict[str, Translate]:
    return {"identity": identity, "reverse": reverse, "shout": shout}
