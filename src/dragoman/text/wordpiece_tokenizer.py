"""WordPiece through Hugging Face `tokenizers`, over bytes so that nothing is unknown.

Each byte is written as one visible character, as GPT-2 does, and a piece that goes on
inside a word begins with "‿", which is none of them. The saved `tokenizer.json` can be
used with `tokenizers` directly; here only its vocabulary is read, and the rest is
always as built below.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

from dragoman.errors import MissingExtraError, TokenizerError
from dragoman.special_tokens import NAMES, UNKNOWN
from dragoman.text.wordwise import WordwiseTokenizer, learnable

try:
    import tokenizers
    from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers
except ImportError as error:
    raise MissingExtraError("WordPiece", "tokenizers", "wordpiece") from error

INSIDE = "‿"

# Letters with letters and signs with signs; long runs are cut, because the longest
# match is sought anew from each place in a run.
_RUNS = (
    r" ⟦[1-9]⟧"  # a placeholder
    r"| ?[\p{L}\p{M}\p{N}]{1,40}"
    r"| ?[^\s\p{L}\p{M}\p{N}]{1,40}"
    r"| "
    r"|[^\S ]{1,40}"
)


def _visible_letters() -> list[str]:
    """Give the visible character that stands for each byte."""
    itself = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in itself else next(others)) for byte in range(256)]


def _visible(text: str) -> str:
    """Write a text in visible letters, byte for byte."""
    return "".join(_LETTERS[byte] for byte in text.encode())


_LETTERS = _visible_letters()
_BYTE_OF_LETTER = {letter: byte for byte, letter in enumerate(_LETTERS)}
_FIXED = (*NAMES, *_LETTERS, *(INSIDE + letter for letter in _LETTERS))
SMALLEST_VOCABULARY = len(_FIXED) + 40


class WordPieceTokenizer(WordwiseTokenizer):
    """A learned WordPiece vocabulary: special tokens, bytes, longer pieces."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        if tuple(vocabulary[: len(_FIXED)]) != _FIXED:
            raise ValueError("the special tokens or the bytes are missing")
        spellings = [
            bytes(_BYTE_OF_LETTER[letter] for letter in piece.removeprefix(INSIDE))
            for piece in vocabulary[len(NAMES) :]
        ]
        super().__init__("wordpiece", [b""] * len(NAMES) + spellings)
        self._vocabulary = tuple(vocabulary)
        self._tokenizer = _assemble(self._vocabulary)

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Give a readable piece for each id; "▁" begins a word and "##" goes on."""
        return [self._readable(i) for i in ids]

    def serialize(self) -> tuple[str, bytes]:
        """Give `.json` and a content that Hugging Face `tokenizers` reads."""
        content: str = self._tokenizer.to_str()
        return ".json", content.encode()

    def _encode_word(self, word: str) -> list[int]:
        # The assembled tokenizer puts the space before a word, but not before nothing.
        if not word:
            return [self._vocabulary.index(_LETTERS[ord(" ")])]
        ids: list[int] = self._tokenizer.encode(word).ids
        return ids

    def _readable(self, token: int) -> str:
        if token < len(NAMES):
            return NAMES[token]
        prefix = "##" if self._vocabulary[token].startswith(INSIDE) else ""
        spelling = self._spellings[token]
        text = spelling.decode("utf-8", "replace").replace(" ", "▁")
        if "\N{REPLACEMENT CHARACTER}" in text or not text.isprintable():
            text = "".join(f"<0x{byte:02X}>" for byte in spelling)
        return prefix + text


def _assemble(vocabulary: Sequence[str]) -> tokenizers.Tokenizer:
    model = models.WordPiece(
        vocab={piece: i for i, piece in enumerate(vocabulary)},
        unk_token=NAMES[UNKNOWN],
        continuing_subword_prefix=INSIDE,
        max_input_chars_per_word=1000,
    )
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.normalizer = normalizers.Prepend(" ")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(tokenizers.Regex(_RUNS), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace(INSIDE, ""), decoders.ByteLevel()]
    )
    return tokenizer


def learn_wordpiece(
    sentences: Iterable[str], vocabulary_size: int, reserved: Sequence[str] = ()
) -> WordPieceTokenizer:
    """Learn a tokenizer of at most `vocabulary_size` pieces."""
    if vocabulary_size < SMALLEST_VOCABULARY:
        raise TokenizerError(
            f"a vocabulary of {vocabulary_size} is too small for WordPiece: "
            f"{len(_FIXED)} ids go to special tokens and bytes, so give at least "
            f"{SMALLEST_VOCABULARY}"
        )
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary_size,
        # Named beforehand, they get the same ids each time and are never left out.
        special_tokens=[*_FIXED, *(_visible(" " + word) for word in reserved)],
        continuing_subword_prefix=INSIDE,
        show_progress=False,
    )
    learner = _assemble(_FIXED)
    learner.train_from_iterator(learnable(sentences), trainer)
    return WordPieceTokenizer(_in_order(learner.get_vocab()))


def _in_order(ids: Mapping[str, int]) -> list[str]:
    vocabulary = sorted(ids, key=ids.__getitem__)
    if [ids[piece] for piece in vocabulary] != list(range(len(vocabulary))):
        raise ValueError("ids are missing")
    return vocabulary


def open_wordpiece(content: bytes, name: str) -> WordPieceTokenizer:
    """Make a tokenizer of a file's content; `name` is for the error message."""
    try:
        return WordPieceTokenizer(_in_order(json.loads(content)["model"]["vocab"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise TokenizerError(
            f"{name} is not a whole WordPiece tokenizer of this program: "
            "copy the model folder again"
        ) from error
