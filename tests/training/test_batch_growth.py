import json
from pathlib import Path
from typing import Any

import pytest

from dragoman.training.batch_growth import BatchGrowth
from dragoman.training.loop import Trainer, Update
from dragoman.training.train import train

STEPS = 12
GROWTH = 3


def run(folder: Path, corpus: Any, tiny: dict[str, Any], **budget: float) -> Path:
    """Train with batches that grow, and say where the model is."""
    settings = {"training.batch_growth": GROWTH} | tiny
    train(
        folder,
        source=corpus.train_source,
        target=corpus.train_target,
        preset="tiny",
        settings=settings,
        quiet=True,
        **budget,  # type: ignore[arg-type]  # steps are whole, epochs need not be
    )
    return folder


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many parts each update had."""
    counts: list[int] = []
    update = Trainer._update

    def counting(self: Trainer, parts: Any, tokens: int) -> Update:
        counts.append(len(parts))
        return update(self, parts, tokens)

    monkeypatch.setattr(Trainer, "_update", counting)
    return counts


@pytest.mark.parametrize(
    ("most", "progress", "batches"),
    [(1, 0.0, 1), (1, 0.99, 1), (4, 0.0, 1), (4, 0.3, 2), (4, 0.8, 4), (4, 1.0, 4)],
)
def test_each_number_of_batches_has_an_equal_share(
    most: int, progress: float, batches: int
) -> None:
    assert BatchGrowth(most).batches(progress) == batches


def test_updates_take_more_batches_as_the_run_goes_on(
    corpus: Any, tiny: dict[str, Any], tmp_path: Path, noted: list[int]
) -> None:
    folder = run(tmp_path / "model", corpus, tiny, steps=STEPS)
    assert noted == [1] * 4 + [2] * 4 + [3] * 4
    lines = (folder / "metrics.jsonl").read_text("utf-8").splitlines()
    updates = [json.loads(line) for line in lines if '"train"' in line]
    epochs = [update["epoch"] for update in updates]
    assert epochs == sorted(set(epochs)), "passes are told by batches, not by updates"


def test_passes_are_those_of_the_batches(
    corpus: Any, tiny: dict[str, Any], tmp_path: Path, noted: list[int]
) -> None:
    run(tmp_path / "model", corpus, tiny, epochs=3)
    grown, updates = sum(noted), len(noted)
    assert updates < grown
    noted.clear()
    run(tmp_path / "plain", corpus, tiny | {"training.batch_growth": 1}, epochs=3)
    assert abs(sum(noted) - grown) <= GROWTH
