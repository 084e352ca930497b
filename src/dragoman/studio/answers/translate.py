"""The search for a translation, and what else could have come at each step."""

from dataclasses import asdict
from typing import Any

from dragoman.studio.asked import Asked
from dragoman.studio.desk import Desk, Question

ALTERNATIVES = 10


def translate(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Give the predictions at each step and the whole tree of the search."""
    inspection = desk.shown(Question.read(asked))
    tree = inspection.beam
    return {
        "predictions": [asdict(p) for p in inspection.predictions(ALTERNATIVES)],
        "tree": {
            "nodes": [asdict(node) for node in tree.nodes],
            "best": tree.best,
            "best_path": [node.number for node in tree.best_path],
            "beam_size": tree.beam_size,
            "alpha": tree.alpha,
        },
    }


def reference(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Say where a translation that a person likes fell off the beam, and why."""
    inspection = desk.shown(Question.read(asked))
    return asdict(inspection.reference(asked.text("reference")))
