import json
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from dragoman import durable
from dragoman.config import load_preset
from dragoman.errors import ConfigError, ModelFolderError, TrainingError
from dragoman.model_folder import load_model
from dragoman.training.loop import Ending, Trainer, Update
from dragoman.training.schedule import Schedule
from dragoman.training.starting_point import (
    RATE_SHARE,
    StartingPoint,
    gentle_settings,
)
from dragoman.training.train import TrainingResult, train

Tuner = Callable[..., TrainingResult]


@pytest.fixture
def tune(corpus: Any, model_folder: Path) -> Tuner:
    def tuner(folder: Path, **options: Any) -> TrainingResult:
        return train(
            folder,
            source=corpus.valid_source,
            target=corpus.valid_target,
            quiet=True,
            **{"start_from": model_folder, "steps": 6, **options},
        )

    return tuner


def test_a_run_of_no_rate_ends_where_it_began(
    tune: Tuner, model_folder: Path, tmp_path: Path
) -> None:
    tune(tmp_path / "m", settings={"training.learning_rate": 0.0})
    before = load_file(model_folder / "model.safetensors")
    after = load_file(tmp_path / "m" / "model.safetensors")
    assert all((after[name] == before[name]).all() for name in before)


def test_tuning_takes_over_all_but_how_it_learns(
    tune: Tuner, model_folder: Path, tmp_path: Path
) -> None:
    tune(tmp_path / "m")
    old, new = load_model(model_folder), load_model(tmp_path / "m")
    assert new.config.model == old.config.model
    assert new.config.tokenizer == old.config.tokenizer
    assert new.tokenizers.source.serialize() == old.tokenizers.source.serialize()
    assert new.languages == old.languages
    assert new.config.training.learning_rate < old.config.training.learning_rate
    card = (tmp_path / "m" / "README.md").read_text("utf-8")
    assert f"Tuned from `{model_folder.name}`" in card
    assert durable.sha256(model_folder / "model.safetensors") in card


def test_an_interrupted_tuning_ends_with_the_same_weights(
    tune: Tuner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tune(tmp_path / "whole")
    update = Trainer._update

    def signalled(self: Trainer, *arguments: Any) -> Update:
        if self.state.step == 3:
            signal.raise_signal(signal.SIGINT)
        return update(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_update", signalled)
        assert tune(tmp_path / "parts").ending is Ending.INTERRUPTED
    assert tune(tmp_path / "parts").ending is Ending.BUDGET
    name = "model.safetensors"
    assert durable.sha256(tmp_path / "whole" / name) == durable.sha256(
        tmp_path / "parts" / name
    )


def test_going_on_from_another_model_is_refused(
    tune: Tuner, tmp_path: Path, model_folder: Path
) -> None:
    tune(tmp_path / "m", steps=1)
    with pytest.raises(TrainingError, match=r"began from another model.*--from none"):
        tune(tmp_path / "m", start_from=None)
    plain = tmp_path / "plain"
    plain.mkdir()
    record = json.loads((tmp_path / "m" / "run.json").read_text())
    del record["started_from"]  # as an earlier version would have left it
    (plain / "run.json").write_text(json.dumps(record))
    message = f"began from random weights, and this command says --from {model_folder}"
    with pytest.raises(TrainingError, match=message):
        tune(plain)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("model.d_model", 64),
        ("model.num_encoder_layers", 2),
        ("model.norm", "post"),
        ("tokenizer.vocabulary_size", 500),
    ],
)
def test_another_shape_is_refused_in_one_line(
    model_folder: Path, tmp_path: Path, setting: str, value: object
) -> None:
    start = StartingPoint.load(model_folder, tmp_path)
    message = f"{setting} = {value} was asked for, but .* tuning keeps its shape"
    with pytest.raises(ConfigError, match=message) as raised:
        start.config({setting: value})
    assert "\n" not in str(raised.value)


def test_what_no_weight_depends_on_may_be_changed(
    model_folder: Path, tmp_path: Path
) -> None:
    start = StartingPoint.load(model_folder, tmp_path)
    changed = {"model.dropout": 0.4, "tokenizer.sampling": 0.1, "training.seed": 7}
    config = start.config(changed)
    assert config.model.dropout == 0.4
    assert config.training.seed == 7


def test_a_preset_and_a_model_contradict_each_other(
    tune: Tuner, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="the preset 'tiny' was asked for, but"):
        tune(tmp_path / "m", preset="tiny")


def test_missing_damaged_and_own_folders_are_one_line(
    tune: Tuner, tmp_path: Path, model_folder: Path
) -> None:
    with pytest.raises(ModelFolderError, match="there is no model folder"):
        tune(tmp_path / "m", start_from=tmp_path / "nowhere")
    with pytest.raises(TrainingError, match="cannot begin from itself"):
        tune(model_folder, start_from=model_folder)
    copy = tmp_path / "copy"
    shutil.copytree(model_folder, copy)
    (copy / "model.safetensors").write_bytes(b"gone")
    with pytest.raises(ModelFolderError, match="was truncated or altered"):
        tune(tmp_path / "m", start_from=copy)


@pytest.mark.parametrize("preset", ["base", "tiny"])
def test_the_rate_is_a_share_of_the_highest_the_model_has_seen(preset: str) -> None:
    known = load_preset(preset)
    highest = max(
        Schedule(known.training, known.model.d_model, annealed=False).rate(step, 0.5)
        for step in (1, 100, known.training.warmup_steps, 100_000)
    )
    if known.training.schedule != "paper":
        highest = known.training.learning_rate
    tuned = known.with_settings(gentle_settings(known))
    assert tuned.training.learning_rate == pytest.approx(RATE_SHARE * highest)
    assert tuned.training.max_steps < known.training.max_steps
    rates = Schedule(tuned.training, known.model.d_model, annealed=True)
    assert rates.rate(1, 0.0) < rates.rate(500, 0.1)
    assert rates.rate(5000, 1.0) == pytest.approx(0)
