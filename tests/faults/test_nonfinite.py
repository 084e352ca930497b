"""A loss or gradient that is no number: nothing is learned from it."""

import math
import random
from pathlib import Path
from typing import Any

import pytest
import torch

from dragoman.errors import TrainingError
from dragoman.model.weights import get_weights
from dragoman.training.debug_batch import DebugBatch
from dragoman.training.loop import Trainer, Update
from dragoman.training.train import train


def inject(
    nursery: Any, look: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Spoil a number of a gradient or of a layer's output at some update."""
    chance = random.Random(seed)
    step, forward = chance.randrange(1, 11), chance.random() < 0.5
    # A rectifier may well turn a negative infinity into nothing.
    number = math.nan if forward else chance.choice((math.nan, math.inf, -math.inf))
    update = Trainer._update
    unchanged: list[bool] = []

    def spoil(tensor: torch.Tensor) -> torch.Tensor:
        spoiled = tensor.clone()
        if forward:
            spoiled[..., 0] = number  # a single place might be padding
        else:
            spoiled.view(-1)[chance.randrange(spoiled.numel())] = number
        return spoiled

    def poisoned(self: Trainer, parts: Any, tokens: int) -> Update:
        if self.state.step + 1 != step:
            return update(self, parts, tokens)
        if forward:
            norm = torch.nn.LayerNorm
            layers = [m for m in self.model.modules() if isinstance(m, norm)]
            handle = chance.choice(layers).register_forward_hook(
                lambda _module, _given, output: spoil(output)
            )
        else:
            handle = chance.choice(list(self.model.parameters())).register_hook(spoil)
        state = get_weights(self.model) | self.optimizer.state()
        before = {name: tensor.clone() for name, tensor in state.items()}
        try:
            return update(self, parts, tokens)
        finally:
            handle.remove()
            after = get_weights(self.model) | self.optimizer.state()
            unchanged.append(all(torch.equal(before[n], t) for n, t in after.items()))

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_update", poisoned)
        with pytest.raises(TrainingError, match=f"finite number at step {step},"):
            train(
                nursery.prepared(folder),
                source=nursery.pairs,
                valid_source=nursery.pairs,
                preset="tiny",
                steps=look.steps,
                settings=look.settings,
                quiet=True,
            )
    assert unchanged == [True]
    kept = DebugBatch.read(folder / "bad-batches" / f"step-{step}.safetensors")
    assert kept.step == step
    assert nursery.train(folder).code == 0


@pytest.mark.parametrize("seed", [1, 4])
def test_what_is_no_number_changes_nothing(
    nursery: Any,
    whole: Any,
    look: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
) -> None:
    inject(nursery, look, tmp_path / "run", monkeypatch, seed)
    assert look.fingerprint(tmp_path / "run") == whole.fingerprint


@pytest.mark.faults
def test_twenty_injected_numbers_that_are_none(
    nursery: Any,
    whole: Any,
    look: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    report: Any,
) -> None:
    for seed in range(20):
        inject(nursery, look, tmp_path / f"run-{seed}", monkeypatch, seed)
        assert look.fingerprint(tmp_path / f"run-{seed}") == whole.fingerprint
    report(
        "NaN injected into a layer's output, or NaN or ±infinity into a gradient",
        20,
        "caught before the update, weights and moments unchanged, batch kept; without "
        "it, the run went on to the same SHA-256",
        "20 of 20",
    )
