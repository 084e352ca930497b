"""The end of a run: average the last checkpoints and save the model folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from torch import Tensor

from dragoman.config import Config, TrainingConfig
from dragoman.inspection.alignment_head import PAIRS, choose_alignment_head
from dragoman.inspection.validation_pairs import validation_pairs
from dragoman.model.weights import count_parameters, get_weights, set_weights
from dragoman.model_folder import load_translator, save_model
from dragoman.text.corpus import Corpus
from dragoman.text.profile import TextProfile
from dragoman.training.averaging import average_checkpoints
from dragoman.training.card import Card
from dragoman.training.checkpoints import Checkpoints
from dragoman.training.disk import keeping, size_of
from dragoman.training.loop import Ending, Trainer
from dragoman.training.optimizer import moving_average
from dragoman.training.preparation import Prepared
from dragoman.training.progress import duration
from dragoman.training.starting_point import StartingPoint
from dragoman.training.text_profile import learn_profile
from dragoman.training.validation import Validation, describe_validation
from dragoman.translator import Translator


def finish(
    folder: Path,
    trainer: Trainer,
    prepared: Prepared,
    config: Config,
    ending: Ending,
    command: str,
    corpora: Sequence[Corpus],
    start: StartingPoint | None = None,
) -> Validation | None:
    """Save the averaged model; give its validation, if there is text for one."""
    settings = config.training
    weights, made = final_weights(trainer.checkpoints, settings)
    set_weights(trainer.model, weights)
    validation = trainer.validate() if trainer.validate is not None else None
    described = None
    if validation is not None:
        described = f"averaged model: {describe_validation(validation)}"
        trainer.progress.say(described)
    state = trainer.state
    languages = guess_languages(corpora[0])
    if start is not None:
        made = f"{made} {start.describe()}"
        languages = start.saved.languages
    card = Card(
        name=folder.resolve().name,
        languages=languages,
        config=config,
        parameters=count_parameters(trainer.model),
        corpora=tuple(corpora),
        report=prepared.report.table(),
        command=command,
        training=(
            f"{state.step:,} updates in {duration(state.seconds)}; {ending.value}. "
            f"{made}"
        ),
        validation=described,
    )
    with keeping(folder, size_of(get_weights(trainer.model))):
        save_model(
            folder,
            trainer.model,
            prepared.tokenizers,
            config,
            languages,
            card.text(),
            _profile(prepared, config),
        )
        keep_alignment_head(folder, config)
    return validation


def keep_alignment_head(folder: Path, config: Config) -> None:
    """Note in the model folder which head aligns best, where there is text to ask.

    The model is read back, as the one that was trained may be spread over processes.
    """
    pairs = validation_pairs(folder, PAIRS)
    if config.model.kind != "transformer" or not pairs:
        return
    translator = Translator(load_translator(folder), "cpu")
    head = choose_alignment_head(translator, pairs)
    if head is not None:
        head.write(folder)


def _profile(prepared: Prepared, config: Config) -> TextProfile | None:
    if config.model.reads_text:
        return None
    return learn_profile(prepared.store, prepared.tokenizers)


def final_weights(
    checkpoints: Checkpoints, settings: TrainingConfig
) -> tuple[Mapping[str, Tensor], str]:
    """Average the weights as the settings ask, and say in a sentence how."""
    if settings.averaging == "ema":
        last = checkpoints.latest()
        assert last is not None, "a run saves a checkpoint when it ends"
        said = f"Moving average of the weights, decay {settings.ema_decay}."
        return moving_average(last.optimizer), said
    window = checkpoints.window(settings.average_last)
    averaged = average_checkpoints(window, settings.average_weights)
    return averaged, f"Checkpoints averaged: {len(window)}."


def guess_languages(corpus: Corpus) -> tuple[str, str]:
    """Take language codes from file names such as train.en and train.de.gz."""
    if corpus.target is None:
        return "source", "target"
    return _language(corpus.source, "source"), _language(corpus.target, "target")


def _language(path: Path, otherwise: str) -> str:
    suffixes = [s[1:].lower() for s in path.suffixes if s.lower() != ".gz"]
    code = suffixes[-1] if suffixes else ""
    known = code.isalpha() and len(code) in (2, 3) and code != "txt"
    return code if known else otherwise
