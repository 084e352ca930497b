"""Masks of a real batch, and the test that nothing leaks from the future."""

from typing import Any

from dragoman.inspection.leaks import batch_masks, leak_test
from dragoman.studio.asked import Asked
from dragoman.studio.desk import Desk, Question
from dragoman.studio.validation_text import first_sentences

COMPANIONS = 2


def masks(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Give the masks of the sentence in a batch with others, as 0 and 1."""
    question = Question.read(asked)
    folder = desk.shelf.volume(question.model).folder
    others = [
        desk.original(Question(question.model, text, None))
        for text in first_sentences(folder, COMPANIONS)
    ]
    found = batch_masks([desk.original(question), *others])
    return {
        "sources": found.sources,
        "targets": found.targets,
        "padding": found.padding.int().tolist(),
        "causal": found.causal.int().tolist(),
        "combined": found.combined.int().tolist(),
    }


def leak(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Exchange one target token, and say at which places the logits moved."""
    inspection = desk.shown(Question.read(asked))
    place = asked.number("place", 1, len(inspection.target_in) - 1)
    tested = leak_test(inspection, place)
    return {
        "place": tested.place,
        "before": tested.before,
        "after": tested.after,
        "differences": tested.differences.tolist(),
        "leak": tested.leak,
    }
