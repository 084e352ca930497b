"""What a SentencePiece file says about itself, read as plain data.

The file is a Protocol Buffers message; only the few fields that matter here are looked
at, so that no generated code and no further package is needed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

# Field numbers of the ModelProto and TrainerSpec messages.
_PIECES, _TRAINER, _NORMALIZER = 1, 2, 3
_MODEL_TYPE, _VOCABULARY_SIZE = 3, 4
_KINDS = {1: "unigram", 2: "bpe", 3: "words", 4: "characters"}


@dataclass(frozen=True)
class SentencePieceFile:
    """The kind of a SentencePiece model and the number of its pieces."""

    kind: str
    num_pieces: int


def describe(content: bytes) -> SentencePieceFile:
    """Read a model's description; anything cut off or foreign raises ValueError."""
    num_pieces = 0
    parts: dict[int, int | bytes] = {}
    for field, value in _fields(content):
        num_pieces += field == _PIECES
        parts[field] = value
    match parts.get(_TRAINER), parts.get(_NORMALIZER):
        case bytes(trainer), bytes():
            spec = dict(_fields(trainer))
        case _:
            raise ValueError("its end is missing")
    match spec.get(_MODEL_TYPE, 1), spec.get(_VOCABULARY_SIZE):
        case int(kind), int(size) if kind in _KINDS and size == num_pieces:
            return SentencePieceFile(_KINDS[kind], num_pieces)
    raise ValueError("pieces are missing")


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the field number and value of each field, by its wire type."""
    place = 0
    while place < len(message):
        key, place = _number(message, place)
        match key & 7:
            case 0:
                number, place = _number(message, place)
                yield key >> 3, number
                continue
            case 1:
                size = 8
            case 2:
                size, place = _number(message, place)
            case 5:
                size = 4
            case _:
                raise ValueError("not a Protocol Buffers message")
        if place + size > len(message):
            raise ValueError("cut off")
        yield key >> 3, message[place : place + size]
        place += size


def _number(message: bytes, place: int) -> tuple[int, int]:
    """Read a number written seven bits to a byte, lowest first."""
    number = shift = 0
    while True:
        if place == len(message) or shift > 63:
            raise ValueError("cut off")
        byte = message[place]
        place += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, place
