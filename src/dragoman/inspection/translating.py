"""Searching for a translation with a model that was changed, and keeping the search."""

from collections.abc import Sequence

from dragoman.inspection.beam_tree import BeamTree, record_search
from dragoman.inspection.interventions import (
    Intervention,
    depends_on_place,
    intervening,
)
from dragoman.inspection.wrapped_model import AnyModel, ForcedModel, UncachedModel
from dragoman.translator import Translator


def search(
    translator: Translator,
    source: Sequence[int],
    beam_size: int | None = None,
    interventions: Sequence[Intervention] = (),
    prefix: Sequence[int] = (),
) -> BeamTree:
    """Translate one source (without END) and keep the search.

    The model computes as the interventions say, and the translation begins as the
    prefix says.
    """
    model: AnyModel = translator.saved.model
    if depends_on_place(interventions):
        model = UncachedModel(model)
    if prefix:
        model = ForcedModel(model, prefix)
    with intervening(translator.saved.model, interventions):
        return record_search(
            model,
            translator.config.decoding,
            translator.tokenizers.target,
            source,
            beam_size,
        )
