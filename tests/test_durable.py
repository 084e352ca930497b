import os
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from dragoman import durable


def test_replacing_leaves_the_new_text_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "LATEST"
    durable.replace_text(path, "one")
    durable.replace_text(path, "zwei ü")
    assert path.read_text("utf-8") == "zwei ü"
    assert list(tmp_path.iterdir()) == [path]


def test_names_that_are_no_text_are_written_with_escapes(tmp_path: Path) -> None:
    durable.write_text(tmp_path / "card", os.fsdecode(b"caf\xe9.en"))
    assert (tmp_path / "card").read_text("utf-8") == r"caf\udce9.en"


def test_a_renamed_folder_keeps_what_is_in_it(tmp_path: Path) -> None:
    written = tmp_path / "step-1.tmp"
    written.mkdir()
    durable.write_text(written / "a", "b")
    durable.rename_folder(written, tmp_path / "step-1")
    assert (tmp_path / "step-1" / "a").read_text() == "b"
    assert not written.exists()


def test_sha256_is_the_usual_one(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.touch()
    assert durable.sha256(path).startswith("e3b0c44298fc1c14")


def test_what_cannot_be_written_whole_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    durable.replace_tensors(path, {"a": torch.ones(2)})
    shared = torch.zeros(4)
    with pytest.raises(RuntimeError, match="share memory"):
        durable.replace_tensors(path, {"a": shared, "b": shared[1:]})
    assert load_file(path)["a"].tolist() == [1.0, 1.0]
    assert list(tmp_path.iterdir()) == [path]
