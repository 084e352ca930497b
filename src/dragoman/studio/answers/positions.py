"""The geometry of positions, and words that change places."""

from dataclasses import asdict
from typing import Any

from starlette.responses import Response

from dragoman.inspection.order import (
    position_table,
    rotation,
    similarity_by_distance,
    swap_words,
)
from dragoman.studio.asked import Asked
from dragoman.studio.desk import Desk, Question
from dragoman.studio.tensors import tensor_response

POSITIONS = 64


def positions(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Give similarity by distance, and the rotation of one offset with its error."""
    translator = desk.shelf.translator(asked.text("model"))
    table = position_table(translator, POSITIONS)
    kind = translator.config.model.positions
    found: dict[str, Any] = {
        "kind": kind,
        "length": POSITIONS,
        "similarity": similarity_by_distance(table).tolist(),
    }
    if kind in ("sinusoidal", "rotary"):
        turned = rotation(table, asked.number("offset", 1, POSITIONS - 1))
        found["rotation"] = {
            "angles": turned.angles.tolist(),
            "errors": turned.errors.tolist(),
            "largest_error": turned.largest_error,
        }
    return found


def position_rows(desk: Desk, asked: Asked) -> Response:
    """Give what each position adds, or by what it turns (position, dimension)."""
    translator = desk.shelf.translator(asked.text("model"))
    return tensor_response(position_table(translator, POSITIONS))


def swap(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Exchange two words, and translate with positions and without."""
    inspection = desk.original(Question.read(asked))
    last = len(inspection.source.words) - 2
    first, second = asked.number("first", 0, last), asked.number("second", 0, last)
    return asdict(swap_words(inspection, first, second))
