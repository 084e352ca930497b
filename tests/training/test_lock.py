from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman.errors import DragomanError, TrainingError
from dragoman.training.lock import only_run_in


def train_on_nothing(folder: Path) -> None:
    missing = folder.parent / "missing"
    dragoman.train(folder, source=missing, target=missing, steps=1, quiet=True)


def train_with_a_wrong_setting(folder: Path, corpus: Any) -> None:
    dragoman.train(
        folder,
        source=corpus.train_source,
        target=corpus.train_target,
        steps=1,
        settings={"model.dropuot": 0.1},
        quiet=True,
    )


def test_a_wrong_input_leaves_nothing(corpus: Any, tmp_path: Path) -> None:
    with pytest.raises(DragomanError, match="cannot read"):
        train_on_nothing(tmp_path / "one" / "model")
    with pytest.raises(DragomanError, match=r"did you mean 'model\.dropout'"):
        train_with_a_wrong_setting(tmp_path / "two" / "model", corpus)
    assert list(tmp_path.iterdir()) == []


def test_what_was_there_before_stays(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").touch()
    for name in ("empty", "mine", "mine/model"):
        with pytest.raises(DragomanError, match="cannot read"):
            train_on_nothing(tmp_path / name)
    assert (tmp_path / "empty").is_dir()
    assert (tmp_path / "mine" / "notes.txt").exists()
    assert not (tmp_path / "mine" / "model").exists()


def test_a_second_run_is_kept_out(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    with only_run_in(folder):
        with (
            pytest.raises(TrainingError, match="another run is at work"),
            only_run_in(folder),
        ):
            pass
        (folder / "run.json").touch()
    assert {path.name for path in folder.iterdir()} == {".lock", "run.json"}
