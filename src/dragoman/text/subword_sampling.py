"""Other ways to spell a piece with smaller ones, drawn once and kept as plain data.

Training replaces pieces by such spellings at random, so that a model meets rare pieces
and parts of words: BPE-dropout (Provilkov et al. 2020) and subword regularization
(Kudo 2018), here within each piece.
"""

import math
from collections.abc import Mapping
from random import Random

from dragoman.errors import ConfigError
from dragoman.text.sentencepiece_tokenizer import SentencePieceTokenizer
from dragoman.text.tokenizer import Tokenizer

# Each piece with its id and its score.
Pieces = Mapping[str, tuple[int, float]]


def segmentations(
    tokenizer: Tokenizer, sampling: float, count: int, seed: int
) -> list[list[list[int]]]:
    """Draw `count` spellings of each id; what cannot be split stays itself."""
    if not isinstance(tokenizer, SentencePieceTokenizer) or tokenizer.kind not in (
        "bpe",
        "unigram",
    ):
        raise ConfigError(
            f"tokenizer.sampling = {sampling:g} does not go with tokenizer.kind = "
            f"{tokenizer.kind!r}: choose bpe or unigram, or set sampling to 0"
        )
    draw = _draw_merges if tokenizer.kind == "bpe" else _draw_paths
    pieces = tokenizer.scored_pieces()
    table = [[[i]] * count for i in range(tokenizer.vocabulary_size)]
    random = Random(seed)
    for piece, (i, _) in pieces.items():
        if sampling and len(piece) > 1 and all(part in pieces for part in piece):
            spellings = draw(piece, pieces, sampling, count, random)
            table[i] = [[pieces[part][0] for part in parts] for parts in spellings]
    return table


def _draw_merges(
    piece: str, pieces: Pieces, sampling: float, count: int, random: Random
) -> list[list[str]]:
    return [_merge(piece, pieces, sampling, random) for _ in range(count)]


def _merge(piece: str, pieces: Pieces, sampling: float, random: Random) -> list[str]:
    """Merge characters as BPE does, but drop each merge by chance at each step."""
    parts = list(piece)
    while len(parts) > 1:
        best, place = -math.inf, -1
        for left in range(len(parts) - 1):
            merged = pieces.get(parts[left] + parts[left + 1])
            if merged and merged[1] > best and random.random() >= sampling:
                best, place = merged[1], left
        if place < 0:
            break
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    return parts


def _draw_paths(
    piece: str, pieces: Pieces, sampling: float, count: int, random: Random
) -> list[list[str]]:
    """Keep the piece, or by chance split it, each way as likely as its pieces are."""
    # arcs[end]: the parts that may end there, with the summed probability of all ways
    # that come through them.
    arcs: list[list[tuple[int, float]]] = [[]]
    reached = [1.0]
    for end in range(1, len(piece) + 1):
        ways = [
            (start, reached[start] * math.exp(pieces[part][1]))
            for start in range(end)
            if (part := piece[start:end]) in pieces and part != piece
        ]
        arcs.append(ways)
        reached.append(sum(weight for _, weight in ways))
    return [
        _path(piece, arcs, random) if random.random() < sampling else [piece]
        for _ in range(count)
    ]


def _path(piece: str, arcs: list[list[tuple[int, float]]], random: Random) -> list[str]:
    parts = []
    end = len(piece)
    while end:
        starts, weights = zip(*arcs[end], strict=True)
        start = random.choices(starts, weights)[0]
        parts.append(piece[start:end])
        end = start
    return parts[::-1]
