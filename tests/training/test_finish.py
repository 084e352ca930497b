from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor

from dragoman.config import Config
from dragoman.model.weights import get_weights
from dragoman.model_folder import SavedModel, load_model
from dragoman.text.corpus import Corpus
from dragoman.training.batch_growth import BatchGrowth
from dragoman.training.budget import Budget
from dragoman.training.checkpoints import Checkpoints
from dragoman.training.circumstances import Circumstances
from dragoman.training.distributed import Processes
from dragoman.training.dropout_growth import DropoutGrowth
from dragoman.training.finish import finish, guess_languages
from dragoman.training.guards import Guard
from dragoman.training.interruption import Interruption
from dragoman.training.loop import Ending, Trainer
from dragoman.training.metrics import MetricsLog
from dragoman.training.objective import Objective
from dragoman.training.optimizer import Optimizer
from dragoman.training.pace import Pace
from dragoman.training.preparation import Prepared
from dragoman.training.progress import ProgressBar
from dragoman.training.schedule import Schedule
from dragoman.training.validation import Validator

CORPUS = Corpus(Path("corpus/train.en"), Path("corpus/train.es.gz"))


@pytest.fixture
def config(saved: SavedModel) -> Config:
    return saved.config.with_settings({"training.average_last": 3})


@pytest.fixture
def trainer(
    saved: SavedModel, prepared: Prepared, config: Config, tmp_path: Path
) -> Iterator[Trainer]:
    """A run at its end, as if it had been made in `tmp_path`."""
    settings = config.training
    metrics = MetricsLog(tmp_path / "m.jsonl", resume_after=0, tensorboard=False)
    made = Trainer(
        model=saved.model,
        objective=Objective(saved.model, settings),
        processes=Processes(),
        optimizer=Optimizer(saved.model, settings),
        schedule=Schedule(settings, config.model.d_model, annealed=True),
        dropout=DropoutGrowth(saved.model, 0.0),
        batch_growth=BatchGrowth(1),
        settings=settings,
        budget=Budget(steps=5),
        batches_per_epoch=1,
        batches=lambda _: iter(()),
        validate=Validator.build(saved.model, prepared, config),
        checkpoints=Checkpoints(tmp_path / "checkpoints", keep=3),
        metrics=metrics,
        progress=ProgressBar(quiet=False),
        interruption=Interruption(),
        guard=Guard(tmp_path, settings),
        circumstances=Circumstances.now(prepared.store.fingerprint, config),
        pace=Pace(None, 1.0, threads=1),
    )
    yield made
    metrics.close()


def save_checkpoint(trainer: Trainer, step: int, averaged: bool) -> dict[str, Tensor]:
    """Let the run be at an update, with all weights a little further on."""
    with torch.no_grad():
        for parameter in trainer.model.parameters():
            parameter.add_(0.01 * torch.randn_like(parameter))
    trainer.state.step = step
    trainer.save(averaged=averaged)
    return {name: w.clone() for name, w in get_weights(trainer.model).items()}


def test_what_is_saved_is_the_mean_of_the_last_checkpoints(
    trainer: Trainer, prepared: Prepared, config: Config, tmp_path: Path
) -> None:
    weights = {n: save_checkpoint(trainer, n, averaged=n != 4) for n in range(1, 6)}
    finish(tmp_path, trainer, prepared, config, Ending.BUDGET, "a command", [CORPUS])
    for name, weight in get_weights(load_model(tmp_path).model).items():
        mean = (weights[2][name] + weights[3][name] + weights[5][name]) / 3
        torch.testing.assert_close(weight, mean)


def test_the_saved_model_is_the_one_that_was_validated(
    trainer: Trainer,
    prepared: Prepared,
    config: Config,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    save_checkpoint(trainer, 1, averaged=True)
    save_checkpoint(trainer, 2, averaged=True)
    given = finish(
        tmp_path, trainer, prepared, config, Ending.BUDGET, "a command", [CORPUS]
    )
    loaded = load_model(tmp_path)
    again = Validator.build(loaded.model, prepared, config)
    assert again is not None
    assert again() == given
    assert capsys.readouterr().err.startswith("averaged model: validation loss")


def test_the_card_tells_of_the_run(
    trainer: Trainer, prepared: Prepared, config: Config, tmp_path: Path
) -> None:
    trainer.state.seconds = 125.0
    save_checkpoint(trainer, 1200, averaged=True)
    finish(tmp_path, trainer, prepared, config, Ending.PATIENCE, "a command", [CORPUS])
    card = (tmp_path / "README.md").read_text("utf-8")
    for told in (
        f"# {tmp_path.name}\n",
        "1,200 updates in 2:05; validation no longer improves.",
        "Checkpoints averaged: 1.",
        "```\na command\n```",
        "- `corpus/train.en` with `corpus/train.es.gz`",
        prepared.report.table(),
    ):
        assert told in card
    assert load_model(tmp_path).languages == ("en", "es")


def test_without_validation_text_there_is_nothing_to_give(
    trainer: Trainer, prepared: Prepared, config: Config, tmp_path: Path
) -> None:
    trainer.validate = None
    save_checkpoint(trainer, 1, averaged=True)
    ending = Ending.BUDGET
    assert finish(tmp_path, trainer, prepared, config, ending, "c", [CORPUS]) is None
    assert "No validation text was given." in (tmp_path / "README.md").read_text()


@pytest.mark.parametrize(
    ("source", "target", "languages"),
    [
        ("train.en", "train.de", ("en", "de")),
        ("train.en.gz", "train.deu.gz", ("en", "deu")),
        ("news.2019.fi", "news.2019.et", ("fi", "et")),
        ("english.txt", "german.txt", ("source", "target")),
        ("english", "german", ("source", "target")),
        ("pairs.tsv.gz", None, ("source", "target")),
        ("train.1", "train.2", ("source", "target")),
    ],
)
def test_languages_are_read_off_file_names(
    source: str, target: str | None, languages: tuple[str, str]
) -> None:
    corpus = Corpus(Path(source), None if target is None else Path(target))
    assert guess_languages(corpus) == languages
