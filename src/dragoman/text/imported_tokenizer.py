"""The tokenizer of another program's model: its pieces, and what cuts text into them.

Ids are ours: the four special ones first, then the pieces in the order of the model
that was imported. A piece that the vocabulary lacks is unknown, as it was there.
"""

import base64
import json
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import sentencepiece

from dragoman.errors import TokenizerError
from dragoman.special_tokens import BEGIN, END, NAMES, PAD, UNKNOWN

SEGMENTATIONS = ("sentencepiece", "characters", "words")
SUFFIX = ".imported"
_FORMAT = 1
_SILENT = (PAD, BEGIN, END)
_UNKNOWN_SPELLING = "⁇"
_TAG = re.compile(r">>[^<>\s]+<<")


class ImportedTokenizer:
    """Pieces by id, and a SentencePiece model, characters or words to cut text by."""

    kind = "imported"

    def __init__(
        self, segmentation: str, pieces: Sequence[str], model: bytes | None = None
    ) -> None:
        if segmentation not in SEGMENTATIONS:
            raise ValueError(f"the segmentation {segmentation!r} is unknown")
        if tuple(pieces[: len(NAMES)]) != NAMES:
            raise ValueError("the special tokens are missing")
        if (model is not None) != (segmentation == "sentencepiece"):
            raise ValueError("its SentencePiece model is missing, or is too much")
        self.segmentation = segmentation
        self.vocabulary = tuple(pieces)
        self._model = model
        # Of pieces that read alike, the first is meant; special names are no text.
        self._ids = {piece: i for i, piece in reversed([*enumerate(pieces)])}
        for name in NAMES:
            self._ids.pop(name, None)
        self._processor = None
        if model is not None:
            self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)

    @property
    def vocabulary_size(self) -> int:
        """How many ids there are, special ones included."""
        return len(self.vocabulary)

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The `>>xxx<<` that name a target language, where the model has any."""
        return tuple(piece for piece in self.vocabulary if _TAG.fullmatch(piece))

    def encode(self, text: str) -> list[int]:
        """Give the ids of a text, without BEGIN and END; `>>xxx<<` in front is one."""
        ids = []
        if (tag := _TAG.match(text)) and tag[0] in self._ids:
            ids.append(self._ids[tag[0]])
            text = text[tag.end() :]
        return ids + [self._ids.get(piece, UNKNOWN) for piece in self._cut(text)]

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        """Give the ids of each text."""
        return list(map(self.encode, texts))

    def decode(self, ids: Sequence[int]) -> str:
        """Give the text of ids; PAD, BEGIN and END are passed over."""
        said = [i for i in ids if i not in _SILENT]
        match self.segmentation:
            case "words":
                return " ".join(map(self._spell, said))
            case "characters":
                return "".join(map(self._spell, said))
        # Unknown words stand between what SentencePiece joins.
        runs: list[list[str]] = [[]]
        for i in said:
            runs.append([]) if i == UNKNOWN else runs[-1].append(self.vocabulary[i])
        return f" {_UNKNOWN_SPELLING}".join(map(self._join, runs)).strip(" ")

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Give a readable piece for each id; "▁" marks where a word begins."""
        return [self.vocabulary[i] for i in ids]

    def serialize(self) -> tuple[str, bytes]:
        """Give `.imported` and a JSON text with all of it."""
        model = None if self._model is None else base64.b64encode(self._model).decode()
        content = {
            "format": _FORMAT,
            "segmentation": self.segmentation,
            "pieces": list(self.vocabulary),
            "sentencepiece": model,
        }
        return SUFFIX, (json.dumps(content, ensure_ascii=False) + "\n").encode()

    @property
    def sentencepiece_model(self) -> bytes | None:
        """The content of its SentencePiece file, where it has one."""
        return self._model

    def _cut(self, text: str) -> Iterator[str]:
        match self.segmentation:
            case "words":
                return iter(text.split())
            case "characters":
                return iter(text)
        assert self._processor is not None
        clean = text.encode("utf-8", "replace").decode()
        pieces: list[str] = self._processor.encode(clean, out_type=str)
        return iter(pieces)

    def _spell(self, token: int) -> str:
        return _UNKNOWN_SPELLING if token == UNKNOWN else self.vocabulary[token]

    def _join(self, pieces: Sequence[str]) -> str:
        assert self._processor is not None
        joined: str = self._processor.decode_pieces(list(pieces)) if pieces else ""
        return joined


def open_imported(content: bytes, name: str) -> ImportedTokenizer:
    """Make a tokenizer of a file's content; `name` is for the error message."""
    try:
        return _read(json.loads(content))
    except (ValueError, TypeError, KeyError, RuntimeError) as error:
        said = " ".join(str(error).split())
        raise TokenizerError(
            f"{name} is not a whole tokenizer of an imported model ({said}): copy the "
            "model folder again"
        ) from error


def _read(values: dict[str, Any]) -> ImportedTokenizer:
    if values["format"] != _FORMAT:
        raise ValueError(f"its format is not {_FORMAT}")
    pieces = values["pieces"]
    if not isinstance(pieces, list) or not all(isinstance(p, str) for p in pieces):
        raise TypeError("its pieces are no texts")
    encoded = values["sentencepiece"]
    model = None if encoded is None else base64.b64decode(encoded, validate=True)
    return ImportedTokenizer(values["segmentation"], pieces, model)
