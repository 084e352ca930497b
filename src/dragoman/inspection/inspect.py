"""The way in: name a model and a sentence, and get everything there is to see."""

from pathlib import Path
from typing import overload

from dragoman.arguments import check_path, check_text, check_whole
from dragoman.errors import InspectionError
from dragoman.inspection.inspection import Inspection, look
from dragoman.inspection.text_inspection import TextInspection, look_at_text
from dragoman.inspection.translating import search
from dragoman.language_models.language_model import LanguageModel
from dragoman.language_models.masked_language_model import MaskedLanguageModel
from dragoman.model_files import ModelDescription
from dragoman.model_folder import SavedModel
from dragoman.text.normalization import normalize
from dragoman.translator import Translator

AnyReader = Translator | LanguageModel | MaskedLanguageModel


@overload
def inspect(
    model: Translator,
    source: str,
    target: str | None = None,
    *,
    beam_size: int | None = None,
) -> Inspection: ...
@overload
def inspect(
    model: LanguageModel | MaskedLanguageModel, source: str
) -> TextInspection: ...
@overload
def inspect(
    model: str | Path | SavedModel | AnyReader,
    source: str,
    target: str | None = None,
    *,
    beam_size: int | None = None,
) -> Inspection | TextInspection: ...
def inspect(
    model: str | Path | SavedModel | AnyReader,
    source: str,
    target: str | None = None,
    *,
    beam_size: int | None = None,
) -> Inspection | TextInspection:
    """Look at how a model deals with a sentence.

    A translator translates it (or takes the target as given); a language model reads
    it. The model is a folder, or what `dragoman.load`, `LanguageModel.load` or
    `MaskedLanguageModel.load` made of one.
    """
    check_text("source", source)
    if target is not None:
        check_text("target", target)
    if beam_size is not None:
        check_whole("beam_size", beam_size)
    reader = as_reader(model)
    if isinstance(reader, Translator):
        return _translated(reader, source, target, beam_size)
    if target is not None or beam_size is not None:
        raise InspectionError(
            "a language model reads one text and searches for no translation: leave "
            "out the target and the beam"
        )
    return look_at_text(reader, source)


def _translated(
    translator: Translator, source: str, target: str | None, beam_size: int | None
) -> Inspection:
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


def as_reader(
    model: str | Path | SavedModel | AnyReader, device: str = "auto"
) -> AnyReader:
    """Give what translates or reads with a model, loaded from its folder if need be."""
    if isinstance(model, AnyReader):
        return model
    if isinstance(model, SavedModel):
        return _kind_of(model.config.model.kind)(model, device)
    check_path("model", model)
    kind = ModelDescription.read(Path(model)).config.model.kind
    return _kind_of(kind).load(model, device)


def _kind_of(
    kind: str,
) -> type[Translator] | type[LanguageModel] | type[MaskedLanguageModel]:
    match kind:
        case "language_model":
            return LanguageModel
        case "masked_language_model":
            return MaskedLanguageModel
        case _:
            return Translator


def _check_length(translator: Translator, source_ids: list[int]) -> None:
    longest = translator.config.data.max_tokens
    if len(source_ids) > longest:
        raise InspectionError(
            f"the sentence has {len(source_ids)} tokens and the model was trained on "
            f"at most {longest}: inspect a part of it"
        )
