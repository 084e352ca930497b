"""SentencePiece tokenizers: BPE, unigram, characters and words, each without loss.

Text is taken as it is, and a character without a piece of its own is spelled in bytes.
SentencePiece alone would not be exact: it writes a space as "▁" (U+2581) and so cannot
tell it from a typed "▁", and its word model loses the space before an unknown word.
"""

from collections.abc import Sequence

import sentencepiece

from dragoman.errors import TokenizerError
from dragoman.special_tokens import NAMES
from dragoman.text.sentencepiece_file import describe
from dragoman.text.wordwise import WordwiseTokenizer

SPACE = "▁"


class SentencePieceTokenizer(WordwiseTokenizer):
    """A learned SentencePiece model, given as the content of its file."""

    def __init__(self, content: bytes) -> None:
        kind = describe(content).kind
        self._content = content
        self._processor = sentencepiece.SentencePieceProcessor(model_proto=content)
        size = self._processor.vocab_size()
        self._pieces: list[str] = [self._processor.id_to_piece(i) for i in range(size)]
        if tuple(self._pieces[: len(NAMES)]) != NAMES:
            raise ValueError("the special tokens are missing")
        self._byte_ids: dict[int, int] = {}
        self._text_ids: dict[str, int] = {}
        spellings = [b""] * len(NAMES)
        for i, piece in enumerate(self._pieces[len(NAMES) :], len(NAMES)):
            if self._processor.is_byte(i):
                byte = int(piece[1:-1], 16)  # a byte's piece reads <0x41>
                self._byte_ids[byte] = i
                spellings.append(bytes([byte]))
            else:
                self._text_ids[piece] = i
                spellings.append(piece.replace(SPACE, " ").encode())
        if len(self._byte_ids) != 256:
            raise ValueError("the bytes are missing")
        # Words that were reserved come before the bytes, all others after.
        self._last_reserved = min(self._byte_ids.values()) - 1
        super().__init__(kind, spellings)

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Give a readable piece for each id; "▁" marks where a word begins."""
        return [self._pieces[i] for i in ids]

    def serialize(self) -> tuple[str, bytes]:
        """Give `.model` and a content that any SentencePiece library reads."""
        return ".model", self._content

    def scored_pieces(self) -> dict[str, tuple[int, float]]:
        """Give the id and the score of each piece learned from text."""
        return {
            piece: (i, self._processor.get_score(i))
            for piece, i in self._text_ids.items()
            if i > self._last_reserved
        }

    def _encode_word(self, word: str) -> list[int]:
        plain, mark, rest = word.partition(SPACE)
        return self._encode_plain(plain) + self._spell_out(mark + rest)

    def _encode_plain(self, word: str) -> list[int]:
        if self.kind == "words":
            return self._encode_known(word)
        if not word:
            return self._spell_out(" ")
        ids: list[int] = self._processor.encode(word)
        return ids

    def _encode_known(self, word: str) -> list[int]:
        """Look up a word, or a reserved word before what is spelled out."""
        known = self._text_ids.get(SPACE + word)
        if known is not None:
            return [known]
        for piece in self._pieces[len(NAMES) : self._last_reserved + 1]:
            if word.startswith(reserved := piece.removeprefix(SPACE)):
                rest = self._spell_out(word.removeprefix(reserved))
                return [self._text_ids[piece], *rest]
        return self._spell_out(" " + word)

    def _spell_out(self, text: str) -> list[int]:
        """Give ids character by character, in bytes where there is no piece."""
        ids = []
        for character in text:
            piece = SPACE if character == " " else character
            if character != SPACE and piece in self._text_ids:
                ids.append(self._text_ids[piece])
            else:
                ids.extend(self._byte_ids[byte] for byte in character.encode())
        return ids


def open_sentencepiece(content: bytes, name: str) -> SentencePieceTokenizer:
    """Make a tokenizer of a file's content; `name` is for the error message."""
    try:
        return SentencePieceTokenizer(content)
    except (ValueError, RuntimeError) as error:
        raise TokenizerError(
            f"{name} is not a whole SentencePiece model of this program "
            f"({' '.join(str(error).split())}): copy the model folder again"
        ) from error
