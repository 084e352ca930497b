"""How likely a model finds given translations: to rerank them, to filter a corpus."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from dragoman.errors import EvaluationError
from dragoman.text.lines import read_lines
from dragoman.text.normalization import normalize
from dragoman.translator import Translator

PAIRS_AT_ONCE = 2000


@dataclass(frozen=True)
class PairScore:
    """The log-probability of a target given its source, piece by piece.

    A pair that the model cannot weigh, being blank or past its length on one side, has
    no pieces and the score -inf.
    """

    score: float  # mean log-probability of a token, the end included
    log_probability: float
    pieces: tuple[str, ...]
    piece_log_probabilities: tuple[float, ...]  # the end of the sentence comes last

    def to_dict(self) -> dict[str, Any]:
        """Give plain data for JSON, which has no infinity."""
        weighed = bool(self.piece_log_probabilities)
        return {
            "score": self.score if weighed else None,
            "log_probability": self.log_probability if weighed else None,
            "pieces": list(self.pieces),
            "piece_log_probabilities": list(self.piece_log_probabilities),
        }


UNWEIGHED = PairScore(-math.inf, -math.inf, (), ())


def score_pairs(
    translator: Translator, sources: Sequence[str], targets: Sequence[str]
) -> list[PairScore]:
    """Score each pair; what stands beside it changes no more than the last digits."""
    form, tokenizers = translator.config.data.normalization, translator.tokenizers
    source_ids = tokenizers.source.encode_many([normalize(s, form) for s in sources])
    target_ids = tokenizers.target.encode_many([normalize(t, form) for t in targets])
    longest = translator.config.data.max_tokens
    fit = [
        index
        for index, pair in enumerate(zip(source_ids, target_ids, strict=True))
        if all(0 < len(side) <= longest for side in pair)
    ]
    weighed = translator.engine.pytorch.score(
        [source_ids[index] for index in fit], [target_ids[index] for index in fit]
    )
    scores = [UNWEIGHED] * len(source_ids)
    for index, said in zip(fit, weighed, strict=True):
        total = math.fsum(said)
        pieces = tuple(tokenizers.target.pieces(target_ids[index]))
        scores[index] = PairScore(total / len(said), total, pieces, said)
    return scores


def read_pairs(source: Path, target: Path) -> Iterator[tuple[list[str], list[str]]]:
    """Read two files side by side, so many lines at a time."""
    sources: list[str] = []
    targets: list[str] = []
    lines = zip_longest(read_lines(source), read_lines(target))
    for number, (left, right) in enumerate(lines, 1):
        if left is None or right is None:
            shorter = source if left is None else target
            raise EvaluationError(
                f"{shorter} ends before line {number}, and the other file does not: "
                "each line needs its translation on the same line"
            )
        sources.append(left)
        targets.append(right)
        if len(sources) == PAIRS_AT_ONCE:
            yield sources, targets
            sources, targets = [], []
    if sources:
        yield sources, targets
