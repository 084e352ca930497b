"""The way in: name a model and a sentence, and get everything there is to see."""

from pathlib import Path

from dragoman.errors import InspectionError
from dragoman.inspection.inspection import Inspection, look
from dragoman.inspection.translating import search
from dragoman.model_folder import SavedModel
from dragoman.text.normalization import normalize
from dragoman.translator import Translator


def inspect(
    model: str | Path | Translator | SavedModel,
    source: str,
    target: str | None = None,
    *,
    beam_size: int | None = None,
) -> Inspection:
    """Translate a sentence (or take the target as given) and look at how it is done.

    The model is a folder, or what `dragoman.load` made of one.
    """
    translator = as_translator(model)
    form = translator.config.data.normalization
    source_ids = translator.tokenizers.source.encode(normalize(source, form))
    _check_length(translator, source_ids)
    if target is not None:
        target_ids = translator.tokenizers.target.encode(normalize(target, form))
        return look(translator, source_ids, target_ids, beam_size=beam_size)
    if not source_ids:  # a blank stays blank, and no model is asked
        return look(translator, source_ids, [], beam_size=beam_size)
    beam = search(translator, source_ids, beam_size)
    found = look(translator, source_ids, beam.result.tokens, beam_size=beam_size)
    found.__dict__["beam"] = beam  # what was just searched need not be again
    return found


def as_translator(model: str | Path | Translator | SavedModel) -> Translator:
    """Give the translator itself, or load it from its folder."""
    if isinstance(model, Translator):
        return model
    if isinstance(model, SavedModel):
        return Translator(model)
    return Translator.load(model)


def _check_length(translator: Translator, source_ids: list[int]) -> None:
    longest = translator.config.data.max_tokens
    if len(source_ids) > longest:
        raise InspectionError(
            f"the sentence has {len(source_ids)} tokens and the model was trained on "
            f"at most {longest}: inspect a part of it"
        )
