"""What the page can ask; each answer takes the desk and the question."""

from collections.abc import Callable

from dragoman.studio.answers.attention import (
    agreement,
    attention,
    attributions,
    best_head,
    thumbnails,
)
from dragoman.studio.answers.compare import compare, compare_scores
from dragoman.studio.answers.examples import examples
from dragoman.studio.answers.head import head
from dragoman.studio.answers.heads import heads, profile
from dragoman.studio.answers.jobs import cancel, job
from dragoman.studio.answers.masks import leak, masks
from dragoman.studio.answers.models import models
from dragoman.studio.answers.positions import position_rows, positions, swap
from dragoman.studio.answers.run import run
from dragoman.studio.answers.stream import stream
from dragoman.studio.answers.training import training
from dragoman.studio.answers.translate import reference, translate
from dragoman.studio.answers.why import why
from dragoman.studio.asked import Asked
from dragoman.studio.desk import Desk

ANSWERS: dict[str, Callable[[Desk, Asked], object]] = {
    "agreement": agreement,
    "attention": attention,
    "attributions": attributions,
    "best_head": best_head,
    "cancel": cancel,
    "compare": compare,
    "compare_scores": compare_scores,
    "examples": examples,
    "head": head,
    "heads": heads,
    "inspect": run,
    "job": job,
    "leak": leak,
    "masks": masks,
    "models": models,
    "position_rows": position_rows,
    "positions": positions,
    "profile": profile,
    "reference": reference,
    "stream": stream,
    "swap": swap,
    "thumbnails": thumbnails,
    "training": training,
    "translate": translate,
    "why": why,
}
