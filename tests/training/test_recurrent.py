"""Recurrent models go through the same trainer, and keep its promises."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from dragoman import durable
from dragoman.config import load_preset
from dragoman.data.batching import Batch, make_batch
from dragoman.model.build import build_model
from dragoman.model.weights import get_weights
from dragoman.model_folder import load_model, save_model
from dragoman.training.loop import Trainer, Update
from dragoman.training.objective import Objective
from dragoman.training.train import TrainingResult
from dragoman.translator import Translator

Runner = Callable[..., TrainingResult]
TINY: dict[str, Any] = {
    "model.d_model": 16,
    "model.num_encoder_layers": 1,
    "model.num_decoder_layers": 2,
    "tokenizer.vocabulary_size": 380,
    "training.batch_tokens": 1500,
    "training.threads": 1,
    "training.save_every": 4,
    "training.valid_every": 5,
    "training.valid_sentences": 2,
}


@pytest.fixture
def run(train_toy: Runner) -> Runner:
    def runner(
        folder: Path, preset: str, steps: int, settings: dict[str, Any]
    ) -> TrainingResult:
        return train_toy(folder, preset, steps, TINY | settings)

    return runner


@pytest.mark.parametrize(
    ("preset", "settings"),
    [
        ("rnn", {}),
        ("gru", {"training.truncate": 5}),
        ("lstm-attention", {"training.optimizer": "adam", "training.r_drop": 1.0}),
    ],
)
def test_an_interrupted_run_ends_with_the_same_weights(
    run: Runner,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    preset: str,
    settings: dict[str, Any],
) -> None:
    run(tmp_path / "whole", preset, 8, settings)
    update = Trainer._update

    def signalled(self: Trainer, *arguments: Any) -> Update:
        if self.state.step + 1 == 6:
            signal.raise_signal(signal.SIGINT)
        return update(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_update", signalled)
        run(tmp_path / "parts", preset, 8, settings)
    run(tmp_path / "parts", preset, 8, settings)
    whole, parts = (tmp_path / n / "model.safetensors" for n in ("whole", "parts"))
    assert durable.sha256(whole) == durable.sha256(parts)


@pytest.mark.parametrize("preset", ["lstm-attention", "gru"])
def test_a_folder_gives_back_the_same_translator(
    preset: str, recurrent_folders: dict[str, Path], tmp_path: Path
) -> None:
    saved = load_model(recurrent_folders[preset])
    parts = (saved.tokenizers, saved.config, saved.languages)
    save_model(tmp_path / "again", saved.model, *parts, "# card\n", saved.profile)
    again = load_model(tmp_path / "again")
    assert again.config == saved.config
    for name, weight in get_weights(saved.model).items():
        assert torch.equal(get_weights(again.model)[name], weight)
    sentences = ["Good morning!", "Where is the station?", "Thank you."]
    together = Translator(again).translate(sentences)
    assert together == [Translator(saved).translate([one])[0] for one in sentences]


def batch() -> Batch:
    rows = [torch.tensor(row).numpy() for row in ([5, 6, 7, 8, 9], [4, 5])]
    return make_batch(rows, rows)


def test_truncation_changes_the_gradient_and_not_the_loss() -> None:
    found = []
    for truncate in (0, 2, 100):
        torch.manual_seed(1)
        settings = {"model.d_model": 8, "training.truncate": truncate}
        config = load_preset("lstm").with_settings(settings)
        objective = Objective(build_model(config.model, 12), config.training).eval()
        loss = objective(batch())
        loss.smoothed.backward()
        gradients = [p.grad for p in objective.parameters() if p.grad is not None]
        found.append((loss.smoothed.detach(), gradients))
    whole, cut, never = found
    torch.testing.assert_close(whole[0], cut[0])
    for one, other in zip(whole[1], never[1], strict=True):
        torch.testing.assert_close(one, other)
    pairs = zip(whole[1], cut[1], strict=True)
    assert not all(torch.allclose(one, other) for one, other in pairs)
