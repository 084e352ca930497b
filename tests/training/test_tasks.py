"""Language models are trained, stopped and gone on with as translators are."""

import signal
from pathlib import Path
from typing import Any

import pytest

from dragoman import durable
from dragoman.config import load_preset
from dragoman.errors import ConfigError, TrainingError
from dragoman.model_folder import load_model
from dragoman.planning.plan import plan
from dragoman.training.loop import Trainer, Update
from dragoman.training.tasks import refuse_other_task
from dragoman.training.train import TrainingResult, train


@pytest.fixture(scope="session")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("text") / "text.txt"
    lines = [f"{a} and {b} went to {c}" for a in "abcdef" for b in "ghi" for c in "jkl"]
    file.write_text("\n".join(lines) + "\n")
    return file


def learn(
    folder: Path, task: str, text: Path, tiny: Any, **asked: Any
) -> TrainingResult:
    settings = tiny | {"model.window": 16, "tokenizer.vocabulary_size": 320}
    settings |= {"training.batch_tokens": 200, "training.valid_every": 3}
    return train(
        folder,
        task=task,
        text=text,
        valid_text=text,
        preset="tiny",
        quiet=True,
        settings=settings | asked.pop("settings", {}),
        **{"steps": 8, **asked},
    )


@pytest.mark.parametrize("task", ["lm", "mlm"])
def test_an_interrupted_run_ends_with_the_same_weights(
    task: str, text: Path, tiny: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = learn(tmp_path / "whole", task, text, tiny)
    assert whole.validation is not None
    assert whole.validation.bleu is None
    update = Trainer._update

    def signalled(self: Trainer, *arguments: Any) -> Update:
        if self.state.step + 1 == 4:
            signal.raise_signal(signal.SIGINT)
        return update(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_update", signalled)
        learn(tmp_path / "parts", task, text, tiny)
    learn(tmp_path / "parts", task, text, tiny)
    files = [tmp_path / n / "model.safetensors" for n in ("whole", "parts")]
    assert durable.sha256(files[0]) == durable.sha256(files[1])
    card = (tmp_path / "whole" / "README.md").read_text("utf-8")
    assert (
        "dragoman generate whole" if task == "lm" else "dragoman fill whole"
    ) in card
    assert "translator" not in card


def test_a_language_model_is_tuned_and_its_text_is_not_exchanged_unnoticed(
    text: Path, tiny: Any, tmp_path: Path
) -> None:
    learn(tmp_path / "first", "lm", text, tiny, steps=2)
    other = tmp_path / "other.txt"
    other.write_text("a and h went to l\n" * 30)
    tuned = tmp_path / "tuned"
    train(
        tuned, task="lm", text=other, start_from=tmp_path / "first", steps=2, quiet=True
    )
    assert load_model(tuned).config.model.kind == "language_model"
    with pytest.raises(TrainingError, match="holds a run on other data"):
        learn(tmp_path / "first", "lm", other, tiny, steps=4)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"task": "lm"},
            "the task lm learns from running text: give text, and no source and target",
        ),
        (
            {"task": "mlm", "text": "a.txt", "source": "a.en"},
            "the task mlm learns from running text: give text, and no source and "
            "target",
        ),
        (
            {"text": "a.txt"},
            "running text teaches no translation: choose the task lm or mlm for it, or "
            "give source and target",
        ),
        ({}, "there is nothing to learn from: give source and target"),
        (
            {"task": "lm", "valid_text": "a.txt"},
            "the task lm learns from running text: give text, and no source and target",
        ),
        (
            {"valid_source": "a.en"},
            "there is nothing to learn from: give source and target",
        ),
        (
            {"task": "lm", "text": "a.txt", "valid_source": "a.en"},
            "the task lm learns from running text: give text, and no source and target",
        ),
        (
            {"task": "poetry", "text": "a.txt"},
            "there is no task 'poetry': choose one of translation, lm, mlm",
        ),
    ],
)
def test_files_that_do_not_fit_the_task_are_refused_in_one_line(
    asked: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as caught:
        train(tmp_path / "m", **asked)
    assert str(caught.value) == message


def test_a_kind_that_the_task_does_not_make_is_refused() -> None:
    config = load_preset("base").with_settings({"model.kind": "language_model"})
    refuse_other_task(config, "lm")
    refuse_other_task(load_preset("base"), "translation")
    for settings, task in ((config, "translation"), (load_preset("base"), "mlm")):
        with pytest.raises(ConfigError, match="leave the setting out, and choose the"):
            refuse_other_task(settings, task)


def test_learned_positions_must_reach_across_the_window() -> None:
    few = {"model.positions": "learned", "model.max_positions": 100}
    with pytest.raises(ConfigError) as caught:
        load_preset("base").with_settings({"model.kind": "language_model"} | few)
    assert str(caught.value) == (
        "model.max_positions = 100 learned positions are too few for model.window = "
        "128: set as many, or a smaller window"
    )


def test_running_text_is_not_spelled_anew() -> None:
    asked = {"model.kind": "language_model", "tokenizer.sampling": 0.1}
    with pytest.raises(ConfigError) as caught:
        load_preset("base").with_settings(asked)
    assert str(caught.value) == (
        "tokenizer.sampling = 0.1 spells sentence pairs anew, and model.kind = "
        "'language_model' reads running text: set tokenizer.sampling=0"
    )


def test_a_plan_is_for_translators() -> None:
    with pytest.raises(
        ConfigError, match="a plan is for translators: `dragoman train`"
    ):
        plan(pairs=1000, settings={"model.kind": "language_model"}, flops=1e9)
