from pathlib import Path

import pytest
import torch

from dragoman.errors import ModelFolderError, StudioError
from dragoman.studio.shelf import Shelf, _names, at_checkpoint
from dragoman.training.checkpoints import read_weights


def test_a_folder_is_shown_with_its_checkpoints(model_folder: Path) -> None:
    shelf = Shelf([model_folder], "cpu")
    names = list(shelf.volumes)
    assert names[0] == model_folder.name
    steps = sorted(p.name for p in (model_folder / "checkpoints").glob("step-*"))
    assert sorted(names[1:]) == [f"{model_folder.name}@{step}" for step in steps]
    volume = shelf.volume(names[1])
    assert f"step-{volume.step}" in names[1]
    assert [v.name for v in shelf.checkpoints(shelf.volume(names[0]))] == names[1:]


def test_a_checkpoint_has_the_weights_of_its_moment(model_folder: Path) -> None:
    shelf = Shelf([model_folder], "cpu")
    volume = list(shelf.volumes.values())[-1]
    assert volume.checkpoint is not None
    saved = at_checkpoint(shelf.saved(volume), volume.checkpoint)
    weights = read_weights(volume.checkpoint)
    state = saved.model.state_dict()
    assert all(torch.equal(state[name], weights[name]) for name in weights)
    assert not saved.model.training


def test_a_model_is_loaded_once(model_folder: Path) -> None:
    shelf = Shelf([model_folder], "cpu")
    first = shelf.translator(model_folder.name)
    assert shelf.translator(model_folder.name) is first
    assert shelf.fresh(shelf.volume(model_folder.name)) is not first


def test_names_tell_folders_apart() -> None:
    assert _names([Path("/a/x"), Path("/a/y")]) == ["x", "y"]
    assert _names([Path("/a/x"), Path("/b/x")]) == ["a/x", "b/x"]


def test_what_is_not_there_is_said_in_a_line(model_folder: Path) -> None:
    with pytest.raises(StudioError, match=r"^a model was named twice: name each"):
        Shelf([model_folder, model_folder / ".." / model_folder.name])
    with pytest.raises(StudioError, match=r"^there is no model 'nothing' here: choose"):
        Shelf([model_folder]).translator("nothing")
    with pytest.raises(ModelFolderError, match="there is no model folder"):
        Shelf([model_folder / "none"]).translator("none")
