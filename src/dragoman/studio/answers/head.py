"""One head, step by step."""

from dataclasses import fields
from typing import Any

from torch import Tensor

from dragoman.inspection.walk_through import walk_through
from dragoman.studio.asked import Asked
from dragoman.studio.desk import Desk, Question


def head(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Give the numbers of one query of one head, one key in close-up."""
    inspection = desk.shown(Question.read(asked))
    kind = asked.kind()
    weights = inspection.attention(kind)
    layers, heads, rows, columns = weights.shape
    walked = walk_through(
        inspection,
        kind,
        asked.number("layer", 0, layers - 1),
        asked.number("head", 0, heads - 1),
        asked.number("query", 0, rows - 1),
        asked.number("key", 0, columns - 1),
    )
    return {field.name: plain(getattr(walked, field.name)) for field in fields(walked)}


def plain(value: object) -> object:
    """Give a tensor as numbers for JSON, which knows no infinity."""
    if not isinstance(value, Tensor):
        return value
    if value.dim() == 0:
        return value.item()
    return [None if number == float("-inf") else number for number in value.tolist()]
