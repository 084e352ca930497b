"""Whatever is left on disk has the mode that any new file has: the umask decides."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from dragoman import durable
from dragoman.cli.main import main
from dragoman.data.batching import Batch
from dragoman.text.public_corpora import get
from dragoman.training.debug_batch import DebugBatch


@pytest.fixture(params=[0o022, 0o027, 0o002])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def modes_in(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mode & 0o777 for path in folder.rglob("*")}


def expected_in(folder: Path, umask: int) -> dict[str, int]:
    return {
        str(path): (0o777 if path.is_dir() else 0o666) & ~umask
        for path in folder.rglob("*")
    }


def test_tensors_follow_the_umask(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "a.safetensors"
    path.touch(0o600)  # as an older version left it
    durable.replace_tensors(path, {"a": torch.zeros(3)})
    assert modes_in(tmp_path) == expected_in(tmp_path, umask)


def test_every_file_of_a_model_follows_the_umask(
    train_toy: Any, ctranslate2: None, tmp_path: Path, umask: int
) -> None:
    settings = {"model.d_model": 16, "model.d_ff": 32, "tokenizer.vocabulary_size": 400}
    folder = tmp_path / "model"
    train_toy(folder, "fast", 2, settings | {"training.save_every": 1})
    for arguments in (
        ["export", folder, "--to", "ctranslate2"],
        ["shortlist", folder],
        ["inspect", folder, "Yes.", "--html", tmp_path / "seen.html"],
        ["inspect", folder, "Yes.", "--svg", tmp_path / "seen.svg"],
    ):
        assert main(list(map(str, arguments))) == 0
    made = {path.name for path in folder.rglob("*")}
    assert {"model.safetensors", "shortlist.safetensors", "model.bin"} <= made
    assert {"optimizer.safetensors", "run.json", "rejected.tsv", "LATEST"} <= made
    assert modes_in(tmp_path) == expected_in(tmp_path, umask)


def test_a_kept_batch_follows_the_umask(tmp_path: Path, umask: int) -> None:
    batch = Batch(*(torch.zeros(1, 2, dtype=torch.long) for _ in range(3)))
    kept = DebugBatch(1, 0.1, 1, "plain", [batch], {"w": torch.zeros(1)}, {})
    kept.write(tmp_path / "bad-batches" / "step-1.safetensors")
    assert modes_in(tmp_path) == expected_in(tmp_path, umask)


def test_a_fetched_corpus_follows_the_umask(tmp_path: Path, umask: int) -> None:
    get("phrasebook-en-es", tmp_path / "corpus")
    assert modes_in(tmp_path) == expected_in(tmp_path, umask)
