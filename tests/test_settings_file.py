import json
from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman.cli.main import main
from dragoman.errors import ConfigError, TrainingError
from dragoman.settings_file import read_settings

FILE = """
[model]
d_model = 16
d_ff = 32
num_heads = 2
num_encoder_layers = 1
num_decoder_layers = 1
dropout = 0.25

[tokenizer]
vocabulary_size = 400

[training]
threads = 1
label_smoothing = 0.05
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text(FILE)
    return path


def test_settings_have_their_full_names(file: Path) -> None:
    settings = read_settings(file)
    assert settings["model.dropout"] == 0.25
    assert settings["tokenizer.vocabulary_size"] == 400
    assert len(settings) == 9


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[modle]\n", "there is no section 'modle': did you mean 'model'?"),
        (
            "[model]\ndropuot = 0.1\n",
            "there is no setting 'model.dropuot': did you mean 'model.dropout'?",
        ),
        (
            "dropout = 0.1\n",
            "dropout = 0.1 stands in no section: write it beneath one of [model], "
            "[tokenizer], [data], [training], [decoding]",
        ),
    ],
)
def test_unknown_names_are_answered_with_the_nearest(
    text: str, message: str, file: Path
) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError) as raised:
        read_settings(file)
    assert str(raised.value) == f"{file}: {message}"


def test_what_is_not_toml_or_not_there_is_said(file: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"cannot read the settings in .*/no\.toml \(No"
    ):
        read_settings(file.with_name("no.toml"))
    for content in (b"[model\n", b"a = \xff\n"):
        file.write_bytes(content)
        with pytest.raises(ConfigError, match=r"settings\.toml is not TOML \("):
            read_settings(file)


def settings_of(folder: Path) -> Any:
    return json.loads((folder / "run.json").read_text())["settings"]


def test_a_file_goes_before_the_preset_and_set_before_the_file(
    corpus: Any, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "model"
    command = [
        *("train", folder, "--source", corpus.train_source, "--config", file),
        *("--target", corpus.train_target, "--preset", "fast", "--quiet"),
        *("--set", "training.label_smoothing=0.2", "--steps"),
    ]
    assert main(list(map(str, [*command, 1]))) == 0
    settings = settings_of(folder)
    assert settings["model"]["dropout"] == 0.25  # the file's
    assert settings["training"]["label_smoothing"] == 0.2  # the command line's
    assert settings["training"]["optimizer"] == "muon"  # the preset's
    assert main(list(map(str, [*command, 2]))) == 0  # goes on
    file.write_text(FILE.replace("0.25", "0.3"))
    assert main(list(map(str, [*command, 3]))) == 1
    said = capsys.readouterr().err
    assert "holds a run with model.dropout = 0.25, and this command says 0.3" in said


def test_a_run_goes_on_without_its_file(
    corpus: Any, file: Path, tmp_path: Path
) -> None:
    text = {"source": corpus.train_source, "target": corpus.train_target}
    folder = tmp_path / "model"
    dragoman.train(folder, **text, config=file, preset=None, steps=1, quiet=True)
    settings = settings_of(folder)
    file.unlink()
    result = dragoman.train(folder, **text, steps=2, quiet=True)
    assert result.steps == 2
    assert settings_of(folder) == settings


def test_a_wrong_value_in_a_file_leaves_nothing(
    corpus: Any, file: Path, tmp_path: Path
) -> None:
    file.write_text("[model]\ndropout = 2\n")
    with pytest.raises((ConfigError, TrainingError), match=r"model\.dropout = 2"):
        dragoman.train(
            tmp_path / "model",
            source=corpus.train_source,
            target=corpus.train_target,
            config=file,
            quiet=True,
        )
    assert not (tmp_path / "model").exists()
