"""Where a reference fell off the beam, and whether search or model is to blame."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dragoman.inspection.beam_tree import FINISHED, KEPT, BeamTree

Blame = Literal["found", "search error", "model error"]


@dataclass(frozen=True)
class ReferenceVerdict:
    """How the search treated a translation that a person would have liked."""

    text: str
    blame: Blame
    step: int | None  # where it fell off the beam, from 1; None where it did not
    piece: str | None  # the token that was not kept there
    rank: int | None  # its rank there; None where it was not weighed at all
    fate: str  # why
    log_probability: float
    score: float
    best_log_probability: float
    best_score: float


def judge_reference(
    beam: BeamTree,
    text: str,
    tokens: Sequence[int],  # END last
    pieces: Sequence[str],
    log_probability: float,
) -> ReferenceVerdict:
    """Follow a reference through a search.

    It is a search error when the model scores the reference higher than what the
    search came back with, and a model error when it does not.
    """
    score = log_probability / beam.penalty(len(tokens))
    best = beam.nodes[beam.best]
    followed = beam.find(tokens)
    lost = next((n for n in followed if n.fate not in (KEPT, FINISHED)), None)
    step, fate, rank = None, "on the beam to the end", None
    if lost is not None:
        step, fate, rank = lost.step, lost.fate, lost.rank
    elif len(followed) < len(tokens):
        step = len(followed) + 1
        fate = f"not among the {beam.beam_size} likeliest continuations"
    if followed and followed[-1].number == beam.best:
        blame: Blame = "found"
        fate = "this is what the search found"
    else:
        blame = "search error" if score > best.score else "model error"
    return ReferenceVerdict(
        text=text,
        blame=blame,
        step=step,
        piece=None if step is None else pieces[step - 1],
        rank=rank,
        fate=fate,
        log_probability=log_probability,
        score=score,
        best_log_probability=best.log_probability,
        best_score=best.score,
    )
