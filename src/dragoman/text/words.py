"""Where words begin and end, in scripts with spaces and in those without."""

import re
from collections.abc import Iterator
from functools import cache

from dragoman.text.tokenizer import Tokenizer

# Thai, Lao, Myanmar, Khmer, kana and Chinese characters: a word may end anywhere.
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
)
# Accents and vowel signs that stand by themselves go on with a word too.
_IN_WORD = rf"(?:[^\W{_UNSPACED}]|[\u0300-\u036f\u0900-\u0903\u093a-\u094f])"
_IN_WORD_PATTERN = re.compile(_IN_WORD)
_UNITS = re.compile(rf"{_IN_WORD}+|\S")


def is_in_word(character: str) -> bool:
    """Say whether a character goes on with a word that it stands against."""
    return _IN_WORD_PATTERN.match(character) is not None


def units(text: str) -> list[tuple[int, str]]:
    """Give the words and the other characters of a text, and where they begin."""
    return [(found.start(), found[0]) for found in _UNITS.finditer(text)]


@cache
def _whole(phrase: str) -> re.Pattern[str]:
    before = rf"(?<!{_UNSIGNED})" if is_in_word(phrase[0]) else ""
    after = rf"(?!{_IN_WORD})" if is_in_word(phrase[-1]) else ""
    return re.compile(before + re.escape(phrase) + after)


_UNSIGNED = rf"[^\W{_UNSPACED}]"  # of one width, as a look behind has to be


def whole_places(text: str, phrase: str) -> Iterator[int]:
    """Give where a phrase stands as whole words."""
    return (found.start() for found in _whole(phrase).finditer(text))


def inside_words(tokenizer: Tokenizer) -> tuple[frozenset[int], ...]:
    """Give the ids that begin in the middle of a word, that end in one, and blanks."""
    anchor = tokenizer.encode("-")
    base = tokenizer.decode(anchor)
    begins, ends, blanks = set(), set(), set()
    for token in range(tokenizer.vocabulary_size):
        text = tokenizer.decode([*anchor, token]).removeprefix(base)
        # Part of a character may be part of a letter.
        if text and (is_in_word(text[0]) or text[0] == "\N{REPLACEMENT CHARACTER}"):
            begins.add(token)
        if text and (is_in_word(text[-1]) or text[-1] == "\N{REPLACEMENT CHARACTER}"):
            ends.add(token)
        if not text.strip():
            blanks.add(token)
    return frozenset(begins), frozenset(ends), frozenset(blanks)
