"""What every tokenizer offers, and the one place where a kind is chosen."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from dragoman.config import TokenizerConfig
from dragoman.errors import TokenizerError

# Vocabulary sizes that have served corpora of so many pairs; between them, the size
# grows with the logarithm. Small ones leave room for a large alphabet all the same.
_SIZES = (
    (100, 1000),
    (1000, 2400),
    (5000, 4000),
    (30_000, 8000),
    (150_000, 8000),
    (500_000, 16_000),
    (2_000_000, 32_000),
)
_WORDS_FOR_SUBWORDS = 2


class Tokenizer(Protocol):
    """Turns text into token ids and back; the four special ids never stand for text."""

    @property
    def kind(self) -> str:
        """The `tokenizer.kind` it was learned as."""
        ...

    @property
    def vocabulary_size(self) -> int:
        """How many ids there are, special ones included."""
        ...

    def encode(self, text: str) -> list[int]:
        """Give the ids of a text, without BEGIN and END."""
        ...

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        """Give the ids of each text, faster than one by one."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """Give the text of ids; PAD, BEGIN and END are passed over."""
        ...

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Give a readable piece for each id, with a mark where a word begins."""
        ...

    def serialize(self) -> tuple[str, bytes]:
        """Give the suffix and the content of a file that `load_tokenizer` reads."""
        ...


def learn_tokenizer(
    settings: TokenizerConfig,
    sentences: Iterable[str],
    vocabulary_size: int,
    seed: int,
    reserved: Sequence[str] = (),
) -> Tokenizer:
    """Learn a tokenizer of about `vocabulary_size` pieces from sentences.

    Each of the `reserved` words has an id of its own, whatever the sentences hold.
    """
    if settings.kind == "imported":
        raise TokenizerError(
            'tokenizer.kind="imported" comes with a model that `dragoman import` '
            "made: tune that one with --from, or choose bpe or unigram"
        )
    if settings.kind == "wordpiece":
        from dragoman.text.wordpiece_tokenizer import learn_wordpiece

        return learn_wordpiece(sentences, vocabulary_size, reserved)
    from dragoman.text.sentencepiece_learning import learn_sentencepiece

    return learn_sentencepiece(
        settings.kind, sentences, vocabulary_size, seed, reserved
    )


def load_tokenizer(path: Path) -> Tokenizer:
    """Load a tokenizer: SentencePiece from `.model`, WordPiece from `.json`.

    That of an imported model comes from `.imported`.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise TokenizerError(
            f"cannot read the tokenizer {path} ({error.strerror or error}): "
            "copy the model folder again"
        ) from error
    match path.suffix:
        case ".model":
            from dragoman.text.sentencepiece_tokenizer import open_sentencepiece

            return open_sentencepiece(content, str(path))
        case ".json":
            from dragoman.text.wordpiece_tokenizer import open_wordpiece

            return open_wordpiece(content, str(path))
        case ".imported":
            from dragoman.text.imported_tokenizer import open_imported

            return open_imported(content, str(path))
    raise TokenizerError(
        f"{path} is not a tokenizer file: its name must end in .model or .json"
    )


def choose_vocabulary_size(num_sentences: int, kind: str) -> int:
    """Choose a vocabulary size that this many sentence pairs can fill."""
    import numpy as np  # not needed to translate, and a tenth of a second to load

    pairs, sizes = zip(*_SIZES, strict=True)
    size = float(np.interp(math.log(max(num_sentences, 1)), np.log(pairs), sizes))
    if kind == "words":
        size *= _WORDS_FOR_SUBWORDS
    return 8 * round(size / 8)
