"""The last word: which of the hypotheses that a search found are best."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

import torch

from dragoman.decoding.close_calls import (
    Judge,
    said_log_probabilities,
)
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.length_penalty import LengthPenalty
from dragoman.decoding.rules import Live
from dragoman.special_tokens import END


def rank(
    found: Sequence[list[Hypothesis]],
    nbest: int,
    penalty: LengthPenalty,
    judge: Judge | None,
) -> list[list[Hypothesis]]:
    """Give each sentence's `nbest` best, those that ended before those that were cut.

    Of equal ones the earlier goes first. Where it is close, the judge weighs anew.
    """
    ranked = []
    for sentence, hypotheses in enumerate(found):
        best = _ordered(hypotheses)
        if judge is not None and _is_close(best, nbest, judge):
            weighed = [_weigh(judge, sentence, h, penalty) for h in hypotheses]
            best = _ordered(weighed)
        ranked.append(best[:nbest])
    return ranked


def _ordered(hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Sort them; what two groups of a diverse search have found comes again last."""
    best = sorted(hypotheses, key=lambda one: (not one.finished, -one.score))
    seen: set[tuple[tuple[int, ...], bool]] = set()
    first: list[Hypothesis] = []
    again: list[Hypothesis] = []
    for one in best:
        known = (one.tokens, one.finished) in seen
        (again if known else first).append(one)
        seen.add((one.tokens, one.finished))
    return first + again


def _is_close(best: Sequence[Hypothesis], nbest: int, judge: Judge) -> bool:
    return any(
        a.finished == b.finished
        and a.score - b.score < judge.tolerance(max(len(a.tokens), len(b.tokens)) + 1)
        for a, b in pairwise(best[: nbest + 1])
    )


def _weigh(
    judge: Judge, sentence: int, hypothesis: Hypothesis, penalty: LengthPenalty
) -> Hypothesis:
    tokens = [*hypothesis.tokens, END] if hypothesis.finished else hypothesis.tokens
    live = Live(torch.tensor([sentence]), torch.tensor([list(tokens)]))
    exact = said_log_probabilities(judge.log_probabilities(live), live)[0].tolist()
    *_, log_probability = accumulate(exact)
    return replace(
        hypothesis,
        log_probability=log_probability,
        score=log_probability / penalty(len(exact)),
        token_log_probabilities=tuple(exact),
    )
