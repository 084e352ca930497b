import json
from pathlib import Path

import numpy as np
import pytest

from dragoman.cli.main import main
from dragoman.inspection.inspect import inspect
from dragoman.inspection.summary import summary

SENTENCE = "Where is the train station?"


def run(model: Path, *arguments: object) -> int:
    return main(["inspect", str(model), SENTENCE, *map(str, arguments)])


def test_without_a_file_it_prints_a_summary(
    model_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(model_folder, "--beam", 2) == 0
    expected = summary(inspect(model_folder, SENTENCE, beam_size=2))
    assert capsys.readouterr().out == expected + "\n"


def test_every_kind_of_file_can_be_written_at_once(
    model_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {form: tmp_path / f"seen.{form}" for form in ("html", "svg", "json", "npz")}
    options = [text for form, path in names.items() for text in (f"--{form}", path)]
    assert run(model_folder, "--target", "¿Dónde?", *options) == 0
    output = capsys.readouterr()
    assert output.out == ""
    assert all(f"wrote {path}\n" in output.err for path in names.values())
    page = names["html"].read_text("utf-8")
    assert "<!doctype html>" in page
    assert '"alignment": [[' in page  # the folder keeps validation text
    assert names["svg"].read_text("utf-8").startswith("<?xml")
    told = json.loads(names["json"].read_text("utf-8"))
    assert told["target"]["text"] == "¿Dónde?"
    with np.load(names["npz"]) as arrays:
        assert arrays["cross.0.weights"].shape[0] == 2


def test_json_can_go_to_standard_output(
    model_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(model_folder, "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["source"]["text"] == SENTENCE


def test_layers_and_heads_count_from_one(
    model_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "head.svg"
    choice = ("--svg", picture, "--kind", "encoder", "--layer", 1, "--head")
    assert run(model_folder, *choice, 2, "--pieces") == 0
    assert "layer 1, head 2" in picture.read_text("utf-8")
    capsys.readouterr()
    assert run(model_folder, *choice, 3) == 1
    assert capsys.readouterr().err == (
        "dragoman: there is no head 3: this model has 2 in each layer\n"
    )
    assert run(model_folder, "--svg", picture, "--layer", 2) == 1
    assert capsys.readouterr().err == (
        "dragoman: there is no layer 2: this model has 1 of cross attention\n"
    )
