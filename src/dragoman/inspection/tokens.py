"""Pieces and the words they spell, and how attention between pieces becomes words'."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from dragoman.special_tokens import BEGIN, END
from dragoman.text.tokenizer import Tokenizer

BEGIN_SIGN = "▶"
END_SIGN = "●"  # both are in the font that pictures are drawn with
BLANK_MARK = "▁"
INSIDE_MARK = "##"

MERGE_RULE = (
    "Attention to a word is the sum over its pieces; attention from a word is the mean "
    "over its pieces. A word begins at a blank; signs at its edges stand alone, and so "
    "does each piece of a script that is written without blanks."
)

# Scripts that do not put blanks between words, as Unicode names their letters.
_WITHOUT_BLANKS = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")


@dataclass(frozen=True)
class Word:
    """Pieces that belong together: those from `start` up to, not including, `end`."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Tokens:
    """One side of a translation: token ids, their readable pieces, and their words."""

    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    words: tuple[Word, ...]

    def __len__(self) -> int:
        return len(self.ids)

    def names(self, words: bool) -> tuple[str, ...]:
        """Give the texts of the words, or else the pieces."""
        return tuple(word.text for word in self.words) if words else self.pieces


def make_tokens(tokenizer: Tokenizer, ids: Sequence[int]) -> Tokens:
    """Name the pieces of some ids and group them into words."""
    pieces = tuple(
        BEGIN_SIGN if id_ == BEGIN else END_SIGN if id_ == END else piece
        for id_, piece in zip(ids, tokenizer.pieces(ids), strict=True)
    )
    words = []
    for start, end in pairwise([*_word_starts(pieces), len(ids)]):
        text = tokenizer.decode(ids[start:end]).strip() or "".join(pieces[start:end])
        words.append(Word(text, start, end))
    return Tokens(tuple(ids), pieces, tuple(words))


def merge_attention(weights: Tensor, rows: Tokens, columns: Tokens) -> Tensor:
    """Turn attention (…, piece, piece) into (…, word, word) by `MERGE_RULE`."""
    to_words = weights @ _membership(columns).to(weights)  # (…, row, column word)
    sizes = torch.tensor([word.end - word.start for word in rows.words])
    from_words = _membership(rows).T.to(weights) / sizes[:, None].to(weights)
    return from_words @ to_words


def _membership(tokens: Tokens) -> Tensor:
    """Give 1 where a piece (row) belongs to a word (column)."""
    member = torch.zeros(len(tokens), len(tokens.words))
    for number, word in enumerate(tokens.words):
        member[word.start : word.end, number] = 1
    return member


def _word_starts(pieces: Sequence[str]) -> list[int]:
    """Give the places where words begin."""
    runs = [place for place in range(len(pieces)) if _begins_run(pieces, place)]
    return [
        start
        for run, end in pairwise([*runs, len(pieces)])
        for start in _starts_in_run(pieces, run, end)
    ]


def _begins_run(pieces: Sequence[str], place: int) -> bool:
    around = {pieces[place], pieces[max(place - 1, 0)]}
    is_edge = place == 0 or not around.isdisjoint((BEGIN_SIGN, END_SIGN))
    return is_edge or pieces[place].startswith(BLANK_MARK)


def _starts_in_run(pieces: Sequence[str], run: int, end: int) -> list[int]:
    """Part the signs at the edges of a run from the word between them."""
    if any(map(_without_blanks, pieces[run:end])):
        return list(range(run, end))
    spelling = [place for place in range(run, end) if _spells(pieces[place])]
    if not spelling:
        return [run]
    starts = {run, spelling[0], spelling[-1] + 1} - {end}
    if spelling[0] == run + 1 and not pieces[run].strip(BLANK_MARK):
        starts.remove(spelling[0])  # a blank on its own belongs to what it precedes
    return sorted(starts)


def _spells(piece: str) -> bool:
    """Say whether a piece holds a letter or a digit, not signs alone."""
    return any(character.isalnum() for character in piece)


def _without_blanks(piece: str) -> bool:
    bare = piece.removeprefix(INSIDE_MARK).strip(BLANK_MARK)
    return bool(bare) and unicodedata.name(bare[0], "").startswith(_WITHOUT_BLANKS)
