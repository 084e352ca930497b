"""A model folder from a stranger: whatever it asks for, it costs next to nothing."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.test_model_folder import resealed
from torch import Tensor

from dragoman.cli.main import main
from dragoman.errors import ModelFolderError
from dragoman.model_folder import load_model
from dragoman.weights_file import read_header

MOST_MEMORY = 200_000_000  # bytes beside what the process has

Edit = Callable[[Path], None]


def settings(**changed: Any) -> Edit:
    def edit(folder: Path) -> None:
        description = json.loads((folder / "config.json").read_text())
        for name, value in changed.items():
            section, _, key = name.partition("__")
            description["settings"][section][key] = value
        (folder / "config.json").write_text(json.dumps(description))

    return edit


def weights(change: Callable[[Tensor], Tensor]) -> Edit:
    def edit(folder: Path) -> None:
        path = folder / "model.safetensors"
        changed = {name: change(tensor) for name, tensor in load_file(path).items()}
        save_file(changed, path)

    return edit


def languages(named: Any) -> Edit:
    def edit(folder: Path) -> None:
        description = json.loads((folder / "config.json").read_text())
        description["languages"] = named
        (folder / "config.json").write_text(json.dumps(description))

    return edit


def config_text(text: str) -> Edit:
    def edit(folder: Path) -> None:
        (folder / "config.json").write_text(text)

    return edit


def header(entries: bytes) -> Edit:
    def edit(folder: Path) -> None:
        content = len(entries).to_bytes(8, "little") + entries
        (folder / "model.safetensors").write_bytes(content)

    return edit


HOSTILE = {
    "a billion layers": (settings(model__num_encoder_layers=10**9), "at most 1000"),
    "many layers": (settings(model__num_decoder_layers=900), "35 tensors for 901"),
    "one layer more": (settings(model__num_decoder_layers=2), "do not fit the model"),
    "a wide model": (settings(model__d_model=10**9), "do not fit the model"),
    "wider than memory": (
        settings(model__d_model=2**31 - 2, model__d_ff=2**31 - 1),
        "more than any machine holds",
    ),
    "a wide layer": (settings(model__d_ff=10**8), r"'.*' is \(64, 32\), not \(1000000"),
    "many positions": (
        settings(model__positions="learned", model__max_positions=10**9),
        "do not fit the model",
    ),
    "a wide beam": (settings(decoding__beam_size=10**6), "at most 1000"),
    "deep settings": (config_text("[" * 10_000 + "]" * 10_000), "nested too deep"),
    "long settings": (config_text(" " * 2_000_000), "more than 1,000,000 bytes"),
    "a strange language": (languages(["en", "../../x"]), "not the name of a language"),
    "no languages": (languages([["en"], "es"]), "not the name of a language"),
    "weights of no number": (weights(lambda t: t * torch.nan), "are not all numbers"),
    "infinite weights": (weights(lambda t: t + torch.inf), "are not all numbers"),
    "whole numbers": (weights(lambda t: t.to(torch.int32)), "are I32, not floats"),
    "a long header": (header(b"{" * 40_000_000), "does not begin with a header"),
    "a deep header": (header(b"[" * 100_000), "nested too deep"),
    "a header of a list": (header(b"[]"), "names no tensors"),
    "a header without shapes": (header(b'{"a": 1}'), "has no shape for 'a'"),
    "a header of negatives": (
        header(b'{"a": {"dtype": "F32", "shape": [-1]}}'),
        "has no shape for 'a'",
    ),
    "a header that promises": (
        header(
            b'{"a": {"dtype": "F32", "shape": [10]}, "b": {"dtype": "F32", '
            b'"shape": [1000000000, 1000000000]}}'
        ),
        "shorter than its header says",
    ),
}


@pytest.fixture
def folder(model_folder: Path, tmp_path: Path) -> Path:
    wanted = shutil.ignore_patterns("checkpoints", "prepared")
    return Path(shutil.copytree(model_folder, tmp_path / "model", ignore=wanted))


@pytest.mark.parametrize("what", HOSTILE)
def test_a_strangers_folder_gets_one_line_and_little_memory(
    what: str, folder: Path
) -> None:
    edit, message = HOSTILE[what]
    edit(folder)
    resealed(folder)
    before = _reset_peak()
    with pytest.raises(ModelFolderError, match=message) as caught:
        load_model(folder)
    assert "\n" not in str(caught.value)
    assert _peak() - before < MOST_MEMORY


@pytest.mark.parametrize("command", ["translate", "export", "inspect"])
def test_every_command_says_it_in_one_line(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights(lambda tensor: tensor * torch.nan)(folder)
    resealed(folder)
    given = ["--to", "ctranslate2"] if command == "export" else ["Let's go!"]
    assert main([command, str(folder), *given]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "are not all numbers: train the model again" in said


def test_weights_too_large_to_reckon_with_are_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights(lambda tensor: tensor * 1e36)(folder)
    resealed(folder)
    assert main(["translate", str(folder), "Let's go!"]) == 1
    assert "the model's weights give no numbers" in capsys.readouterr().err


def test_the_header_says_what_the_file_holds(model_folder: Path) -> None:
    path = model_folder / "model.safetensors"
    entries = read_header(path)
    tensors = load_file(path)
    assert {name: entry.shape for name, entry in entries.items()} == {
        name: tuple(tensor.shape) for name, tensor in tensors.items()
    }


def _reset_peak() -> int:
    """Let the peak of this process's memory begin anew; give where it begins."""
    Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> int:
    [line] = [
        line
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("VmHWM:")
    ]
    return 1024 * int(line.split()[1])
