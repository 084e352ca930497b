import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError

from dragoman.errors import ModelFolderError
from dragoman.model.weights import get_weights
from dragoman.model_folder import load_model, save_model


@pytest.fixture
def folder(model_folder: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "model"
    shutil.copytree(model_folder, copy)
    return copy


def resealed(folder: Path) -> None:
    """Write checksums that fit, as an attacker would."""
    lines = []
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        name = line.split("  ")[1]
        digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        lines.append(f"{digest}  {name}\n")
    (folder / "SHA256SUMS").write_text("".join(lines))


def test_the_folder_holds_what_it_says(model_folder: Path) -> None:
    names = {path.name for path in model_folder.iterdir() if path.is_file()}
    assert names >= {
        "model.safetensors",
        "config.json",
        "tokenizer.model",
        "README.md",
        "SHA256SUMS",
    }
    subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=model_folder, check=True)


def test_saving_and_loading_again_changes_nothing(
    model_folder: Path, tmp_path: Path
) -> None:
    saved = load_model(model_folder)
    save_model(
        tmp_path / "again",
        saved.model,
        saved.tokenizers,
        saved.config,
        saved.languages,
        "# card\n",
    )
    again = load_model(tmp_path / "again")
    assert again.config == saved.config
    assert again.languages == saved.languages == ("en", "es")
    weights, other = get_weights(saved.model), get_weights(again.model)
    assert weights.keys() == other.keys()
    assert all(torch.equal(weights[name], other[name]) for name in weights)


def test_nothing_in_it_is_pickled(model_folder: Path) -> None:
    for path in model_folder.rglob("*"):
        if path.is_file():
            assert not path.read_bytes().startswith((b"\x80\x02", b"\x80\x04", b"PK"))


@pytest.mark.parametrize(
    "name", ["model.safetensors", "config.json", "tokenizer.model", "README.md"]
)
@pytest.mark.parametrize("damage", ["missing", "truncated", "altered"])
def test_damage_gets_one_clear_line(folder: Path, name: str, damage: str) -> None:
    path = folder / name
    content = bytearray(path.read_bytes())
    match damage:
        case "missing":
            path.unlink()
        case "truncated":
            path.write_bytes(content[:-1])
        case _:
            content[len(content) // 2] ^= 1
            path.write_bytes(content)
    with pytest.raises(ModelFolderError) as caught:
        load_model(folder)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_weights_of_another_shape_are_refused(folder: Path) -> None:
    description = json.loads((folder / "config.json").read_text())
    description["settings"]["model"]["d_ff"] = 128
    (folder / "config.json").write_text(json.dumps(description))
    resealed(folder)
    with pytest.raises(ModelFolderError, match="the weights do not fit the model"):
        load_model(folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[", "is not JSON"),
        ("[]", "is not of format 1"),
        ('{"format": 2}', "is not of format 1"),
        ('{"format": 1}', "does not hold a model: 'settings'"),
        ('{"format": 1, "settings": {"model": {}}}', "cannot be used: configuration"),
    ],
)
def test_a_strange_config_is_refused(folder: Path, content: str, message: str) -> None:
    (folder / "config.json").write_text(content)
    resealed(folder)
    with pytest.raises(ModelFolderError, match=message):
        load_model(folder)


def test_weights_that_are_no_tensors_are_refused(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"\x80\x04anything")
    resealed(folder)
    with pytest.raises(ModelFolderError, match="does not hold a model"):
        load_model(folder)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelFolderError, match="there is no model folder"):
        load_model(tmp_path / "nothing")


def test_a_folder_that_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelFolderError, match="is not a model folder"):
        load_model(tmp_path)


def test_an_unfinished_run_says_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "checkpoints").mkdir()
    with pytest.raises(ModelFolderError, match="run the same `dragoman train` command"):
        load_model(tmp_path)


def test_a_checksum_may_not_point_elsewhere(folder: Path) -> None:
    with (folder / "SHA256SUMS").open("a") as file:
        file.write(f"{'0' * 64}  ../secret\n")
    with pytest.raises(ModelFolderError, match="missing"):
        load_model(folder)


def test_cut_off_checksums_are_named(folder: Path) -> None:
    checksums = (folder / "SHA256SUMS").read_text()
    (folder / "SHA256SUMS").write_text(checksums[:50])
    with pytest.raises(ModelFolderError, match=r"SHA256SUMS was truncated or altered"):
        load_model(folder)


def test_a_full_disk_is_said_in_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise SafetensorError("I/O error: No space left on device (os error 28)")

    saved = load_model(folder)
    monkeypatch.setattr("dragoman.durable.replace_tensors", fail)
    with pytest.raises(ModelFolderError, match=r"No space left .* make room there"):
        save_model(
            folder, saved.model, saved.tokenizers, saved.config, saved.languages, ""
        )
