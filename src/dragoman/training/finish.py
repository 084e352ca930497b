"""The end of a run: average the last checkpoints and save the model folder."""

from pathlib import Path

from dragoman.config import Config
from dragoman.model.weights import count_parameters, get_weights, set_weights
from dragoman.model_folder import save_model
from dragoman.text.corpus import Corpus
from dragoman.training.averaging import average_checkpoints
from dragoman.training.card import Card
from dragoman.training.disk import keeping, size_of
from dragoman.training.loop import Ending, Trainer
from dragoman.training.preparation import Prepared
from dragoman.training.progress import duration
from dragoman.training.validation import Validation, describe_validation


def finish(
    folder: Path,
    trainer: Trainer,
    prepared: Prepared,
    config: Config,
    ending: Ending,
    command: str,
    corpus: Corpus,
) -> Validation | None:
    """Save the averaged model; give its validation, if there is text for one."""
    settings = config.training
    window = trainer.checkpoints.window(settings.average_last)
    set_weights(trainer.model, average_checkpoints(window, settings.average_weights))
    validation = trainer.validate() if trainer.validate is not None else None
    described = None
    if validation is not None:
        described = f"averaged model: {describe_validation(validation)}"
        trainer.progress.say(described)
    state = trainer.state
    languages = guess_languages(corpus)
    files = [str(path) for path in (corpus.source, corpus.target) if path is not None]
    card = Card(
        name=folder.resolve().name,
        languages=languages,
        config=config,
        parameters=count_parameters(trainer.model),
        corpora=tuple(files),
        report=prepared.report.table(),
        command=command,
        training=(
            f"{state.step:,} updates in {duration(state.seconds)}; {ending.value}. "
            f"Checkpoints averaged: {len(window)}."
        ),
        validation=described,
    )
    with keeping(folder, size_of(get_weights(trainer.model))):
        save_model(
            folder, trainer.model, prepared.tokenizers, config, languages, card.text()
        )
    return validation


def guess_languages(corpus: Corpus) -> tuple[str, str]:
    """Take language codes from file names such as train.en and train.de.gz."""
    if corpus.target is None:
        return "source", "target"
    return _language(corpus.source, "source"), _language(corpus.target, "target")


def _language(path: Path, otherwise: str) -> str:
    suffixes = [s[1:] for s in path.suffixes if s != ".gz"]
    code = suffixes[-1] if suffixes else ""
    known = code.isalpha() and len(code) in (2, 3) and code != "txt"
    return code if known else otherwise
