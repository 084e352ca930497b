import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from dragoman.errors import TrainingError
from dragoman.model.weights import get_weights
from dragoman.training.checkpoints import read_checkpoint
from dragoman.training.debug_batch import DebugBatch
from dragoman.training.loop import Trainer, Update
from dragoman.training.train import TrainingResult, train

SMALL: dict[str, Any] = {
    "model.d_model": 16,
    "model.d_ff": 32,
    "model.num_heads": 2,
    "model.num_encoder_layers": 1,
    "model.num_decoder_layers": 1,
    "tokenizer.vocabulary_size": 380,
    "training.batch_tokens": 400,
    "training.threads": 1,
    "training.accumulate": 2,
}


@pytest.fixture
def run(corpus: Any, tmp_path: Path) -> Callable[..., TrainingResult]:
    def runner(steps: int = 8, **settings: Any) -> TrainingResult:
        return train(
            tmp_path / "m",
            source=corpus.train_source,
            target=corpus.train_target,
            preset="tiny",
            steps=steps,
            settings=SMALL | {f"training.{key}": v for key, v in settings.items()},
            quiet=True,
        )

    return runner


def poison(monkeypatch: pytest.MonkeyPatch, steps: set[int], number: float) -> None:
    """Spoil one number of one gradient, and check that the update leaves no trace."""
    update = Trainer._update

    def poisoned(self: Trainer, parts: Any, tokens: int) -> Update:
        if self.state.step + 1 not in steps:
            return update(self, parts, tokens)
        parameter = list(self.model.parameters())[self.state.step % 7]

        def spoil(gradient: torch.Tensor) -> torch.Tensor:
            spoiled = gradient.clone()
            spoiled.view(-1)[0] = number
            return spoiled

        handle = parameter.register_hook(spoil)
        kept = everything(self)
        try:
            return update(self, parts, tokens)
        finally:
            handle.remove()
            assert all(torch.equal(kept[n], t) for n, t in everything(self).items())
            assert all(p.grad is None for p in self.model.parameters())

    monkeypatch.setattr(Trainer, "_update", poisoned)


def everything(trainer: Trainer) -> dict[str, torch.Tensor]:
    both = get_weights(trainer.model) | trainer.optimizer.state()
    return {name: tensor.clone() for name, tensor in both.items()}


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_what_is_no_number_stops_the_run_before_the_update(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: float
) -> None:
    poison(monkeypatch, {5}, number)
    with pytest.raises(TrainingError, match="gradient is not a finite number") as e:
        run()
    said = str(e.value)
    assert "at step 5, so nothing was learned from it; saved after update 4" in said
    assert "\n" not in said
    file = tmp_path / "m" / "bad-batches" / "step-5.safetensors"
    assert f"--debug-batch {file}" in said
    kept = DebugBatch.read(file)
    saved = read_checkpoint(tmp_path / "m" / "checkpoints" / "step-4")
    assert (kept.step, len(kept.parts)) == (5, 2)
    assert all(torch.equal(kept.weights[n], w) for n, w in saved.weights.items())
    chance = saved.optimizer["random_state"]
    assert torch.equal(kept.random_state["random_state"], chance)


def test_no_checkpoint_is_claimed_where_there_is_none(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    poison(monkeypatch, {1}, math.nan)
    with pytest.raises(TrainingError, match="no update was made before it"):
        run()
    assert not (tmp_path / "m" / "checkpoints").exists()


def test_skipping_goes_on_and_counts(
    run: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    poison(monkeypatch, {2, 3, 6}, math.nan)
    assert run(on_nonfinite="skip", max_skipped=2).steps == 8
    lines = (tmp_path / "m" / "metrics.jsonl").read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    assert [r["step"] for r in records] == list(range(1, 9))
    assert [r["step"] for r in records if r["kind"] == "skipped"] == [2, 3, 6]
    assert capsys.readouterr().err.count("was skipped: its gradient is not") == 3


def test_too_many_in_a_row_stop_all_the_same(
    run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    poison(monkeypatch, set(range(2, 9)), math.nan)
    with pytest.raises(TrainingError, match=r"at step 6 \(5 in a row\)") as e:
        run(on_nonfinite="skip", max_skipped=4)
    assert "saved after update 5" in str(e.value)
    assert len(list((tmp_path / "m" / "bad-batches").iterdir())) == 3


def test_a_run_that_diverges_is_told_or_stopped(
    run: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dragoman.training.divergence.UPDATES_ABOVE", 3)
    monkeypatch.setattr("dragoman.training.divergence.SMOOTHING", 0.0)
    wild = {"learning_rate": 1.0, "divergence": 0.5, "save_every": 3}
    with pytest.raises(TrainingError, match="the run diverges") as e:
        run(12, on_divergence="stop", **wild)
    assert "lower training.learning_rate" in str(e.value)
    assert run(12, on_divergence="warn", **wild).steps == 12
    assert "the run diverges" in capsys.readouterr().err
