"""What a person may ask of a model: a place that exists, a number that can be."""

import math
from collections.abc import Callable, Sequence

from torch import nn

from dragoman.arguments import nearest
from dragoman.errors import InspectionError
from dragoman.inspection.attention import Kind
from dragoman.inspection.interventions import (
    PARTS,
    Ablation,
    Edit,
    Intervention,
    Temperature,
    Without,
    check_head,
    check_place,
    refuse_recurrent,
)
from dragoman.model.encoder_only import EncoderOnly
from dragoman.special_tokens import BEGIN, PAD


def check_intervention(
    model: nn.Module,
    intervention: Intervention,
    shape: Callable[[Kind], tuple[int, int]],
) -> None:
    """Refuse what cannot be done to this model and this sentence.

    `shape` says how many queries and keys attention of a kind has there.
    """
    match intervention:
        case Without(part):
            refuse_recurrent(model)
            if part not in PARTS:
                raise InspectionError(
                    f"{part!r} cannot be taken away{nearest(part, PARTS)}: choose "
                    "scaling, mask or positions"
                )
            if part == "mask" and isinstance(model, EncoderOnly):
                raise InspectionError(
                    "a masked language model hides no place from another: there is no "
                    "mask to take away; choose scaling or positions"
                )
        case Ablation(kind, layer, head):
            check_head(model, kind, layer, head)
        case Temperature(kind, layer, head, temperature):
            check_place(model, kind, layer, head)
            if not 0 < temperature < math.inf:
                raise InspectionError(
                    f"a temperature of {temperature:g} is not allowed: choose one "
                    "above 0"
                )
        case Edit(kind, layer, head, query, key, value):
            check_place(model, kind, layer, head)
            _check_score(query, key, value, *shape(kind))


def _check_score(query: int, key: int, value: float, rows: int, columns: int) -> None:
    if not (0 <= query < rows and 0 <= key < columns):
        raise InspectionError(
            f"there is no score at ({query}, {key}): there are {rows} queries and "
            f"{columns} keys here, counted from 0"
        )
    if not math.isfinite(value):
        raise InspectionError(
            f"a score of {value:g} is not allowed: choose a finite one"
        )


def check_tokens(ids: Sequence[int], vocabulary_size: int) -> None:
    """Refuse ids that no translation can have."""
    for token in ids:
        if not 0 <= token < vocabulary_size or token in (PAD, BEGIN):
            raise InspectionError(
                f"{token} is no token that a translation can have: choose ids below "
                f"{vocabulary_size}, without those of padding and beginning"
            )
