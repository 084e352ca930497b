"""Other ways to learn, from beginning to end: all of them resume exactly."""

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from dragoman import durable
from dragoman.errors import TrainingError
from dragoman.training.loop import Trainer, Update
from dragoman.training.train import TrainingResult, train

Runner = Callable[..., TrainingResult]


@pytest.fixture
def run(corpus: Any, tiny: dict[str, Any]) -> Runner:
    def runner(folder: Path, *, steps: int, settings: dict[str, Any]) -> TrainingResult:
        return train(
            folder,
            source=corpus.train_source,
            target=corpus.train_target,
            valid_source=corpus.valid_source,
            valid_target=corpus.valid_target,
            preset="tiny",
            steps=steps,
            settings=tiny | settings,
            quiet=True,
        )

    return runner


def stop_after(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """Interrupt this process in the middle of an update."""
    update = Trainer._update

    def signalled(self: Trainer, *arguments: Any) -> Update:
        if self.state.step + 1 == step:
            signal.raise_signal(signal.SIGINT)
        return update(self, *arguments)

    monkeypatch.setattr(Trainer, "_update", signalled)


def validations(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "metrics.jsonl").read_text("utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["kind"] == "valid"]


@pytest.mark.parametrize(
    "settings",
    [
        {"training.averaging": "ema", "training.ema_decay": 0.8},
        {"training.r_drop": 1.0},
        {"model.norm_kind": "batch", "model.positions": "alibi"},
        {
            "model.norm_kind": "rms",
            "model.activation": "swiglu",
            "model.positions": "rotary",
            "model.num_kv_heads": 1,
        },
    ],
)
def test_an_interrupted_run_ends_with_the_same_weights(
    run: Runner,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: dict[str, Any],
) -> None:
    run(tmp_path / "whole", steps=8, settings=settings)
    with monkeypatch.context() as patch:
        stop_after(patch, 3)
        run(tmp_path / "parts", steps=8, settings=settings)
    run(tmp_path / "parts", steps=8, settings=settings)
    whole, parts = (tmp_path / n / "model.safetensors" for n in ("whole", "parts"))
    assert durable.sha256(whole) == durable.sha256(parts)


def test_the_model_is_the_moving_average_that_was_validated(
    run: Runner, tmp_path: Path
) -> None:
    settings = {"training.averaging": "ema", "training.ema_decay": 0.8}
    result = run(tmp_path / "m", steps=5, settings=settings)
    saved = load_file(tmp_path / "m" / "model.safetensors")
    state = load_file(tmp_path / "m/checkpoints/step-5/optimizer.safetensors")
    last = load_file(tmp_path / "m/checkpoints/step-5/model.safetensors")
    assert all((saved[name] == state[f"ema.{name}"]).all() for name in saved)
    assert any((saved[name] != last[name]).any() for name in saved)
    assert result.validation is not None
    (while_training,) = validations(tmp_path / "m")
    assert while_training["loss"] == pytest.approx(result.validation.loss, abs=1e-6)
    card = (tmp_path / "m" / "README.md").read_text("utf-8")
    assert "Moving average of the weights, decay 0.8." in card


def test_a_mixture_of_corpora_resumes_exactly_and_is_on_the_card(
    corpus: Any, tiny: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mixed(folder: Path, weights: list[float]) -> TrainingResult:
        return train(
            folder,
            source=[corpus.valid_source, corpus.train_source],
            target=[corpus.valid_target, corpus.train_target],
            weights=weights,
            preset="tiny",
            steps=9,
            settings=tiny,
            quiet=True,
        )

    mixed(tmp_path / "whole", [3, 1])
    with monkeypatch.context() as patch:
        stop_after(patch, 5)
        mixed(tmp_path / "parts", [3, 1])
    with pytest.raises(TrainingError, match="a run on other data"):
        mixed(tmp_path / "parts", [1, 1])
    mixed(tmp_path / "parts", [3, 1])
    whole, parts = (tmp_path / n / "model.safetensors" for n in ("whole", "parts"))
    assert durable.sha256(whole) == durable.sha256(parts)
    card = (tmp_path / "whole" / "README.md").read_text("utf-8")
    assert f"- `{corpus.valid_source}` with `{corpus.valid_target}`, weight 3" in card
    shares = [float(share) for share in re.findall(r"([\d.]+)% of an epoch", card)]
    assert shares == pytest.approx([75, 25], abs=0.5)
