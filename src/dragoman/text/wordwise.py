"""What all tokenizers here have in common: words one by one, ids spelled in bytes.

No piece crosses a space, so the ids of a text are those of its words, and a word that
was met before need not be worked out again. Each word carries the space before it; the
first word is given one too, which decoding takes away.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from dragoman.errors import TokenizerError
from dragoman.special_tokens import UNKNOWN

_LONGEST_SENTENCE = 1000

_UNKNOWN_SPELLING = "⁇".encode()
_SURROGATES = re.compile("[\ud800-\udfff]")
_MOST_WORDS = 1 << 17
_LONGEST_WORD = 64


class _Words(dict[str, list[int]]):
    """Remembers the ids of common words, so that most are looked up in C."""

    def __init__(self, work_out: Callable[[str], list[int]]) -> None:
        super().__init__()
        self._work_out = work_out

    def __missing__(self, word: str) -> list[int]:
        # Half a surrogate pair is no character and has no UTF-8.
        ids = self._work_out(_SURROGATES.sub("\N{REPLACEMENT CHARACTER}", word))
        if len(word) <= _LONGEST_WORD:
            if len(self) >= _MOST_WORDS:
                self.clear()
            self[word] = ids
        return ids


class WordwiseTokenizer(ABC):
    """A tokenizer that need only know how to encode a word and spell an id."""

    def __init__(self, kind: str, spellings: Sequence[bytes]) -> None:
        self._kind = kind
        self._spellings = list(spellings)
        self._spellings[UNKNOWN] = _UNKNOWN_SPELLING
        self._ids_of_word = _Words(self._encode_word).__getitem__

    @property
    def kind(self) -> str:
        """The `tokenizer.kind` it was learned as."""
        return self._kind

    @property
    def vocabulary_size(self) -> int:
        """How many ids there are, special ones included."""
        return len(self._spellings)

    @abstractmethod
    def _encode_word(self, word: str) -> list[int]:
        """Give the ids of a space and a word that has no space in it."""

    def encode(self, text: str) -> list[int]:
        """Give the ids of a text, without BEGIN and END."""
        if not text:
            return []
        return list(chain.from_iterable(map(self._ids_of_word, text.split(" "))))

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        """Give the ids of each text."""
        return list(map(self.encode, texts))

    def decode(self, ids: Sequence[int]) -> str:
        """Give the text of ids; PAD, BEGIN and END are passed over."""
        spelled = b"".join([self._spellings[i] for i in ids])
        return spelled.decode("utf-8", "replace").removeprefix(" ")


def learnable(sentences: Iterable[str]) -> list[str]:
    """Give the sentences that have text, cut so that learning has bounded memory."""
    cut = [
        sentence[:_LONGEST_SENTENCE]
        for sentence in sentences
        if sentence and not sentence.isspace()
    ]
    if not cut:
        raise TokenizerError(
            "there is no sentence to learn a tokenizer from: give a corpus with text"
        )
    return cut
