"""Chooses the head that aligns best, once, on validation text."""

from collections.abc import Sequence
from pathlib import Path

from dragoman.alignment import AlignmentHead
from dragoman.errors import InspectionError
from dragoman.inspection.head_profile import Pair, head_profile
from dragoman.inspection.validation_pairs import validation_pairs
from dragoman.translator import Translator

PAIRS = 200  # to choose by


def choose_alignment_head(
    translator: Translator, pairs: Sequence[Pair]
) -> AlignmentHead | None:
    """Measure all heads; None where the model has none or there is no text."""
    try:
        best = head_profile(translator, pairs, ablation=False).best_aligning
    except InspectionError:
        return None
    return AlignmentHead(best.layer, best.head, best.score)


def alignment_head(folder: Path, translator: Translator) -> AlignmentHead | None:
    """Give the choice a folder holds, else make it by the run's validation text."""
    found = AlignmentHead.read(folder)
    if found is not None:
        return found
    return choose_alignment_head(translator, validation_pairs(folder, PAIRS))
