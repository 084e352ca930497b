import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman.engines.exports import export_folder, find_export
from dragoman.errors import ModelFolderError
from dragoman.model_files import CHECKSUMS, write_checksums


@pytest.fixture
def folder(exported_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(exported_folder, tmp_path / "toy"))


def message(folder: Path) -> str:
    with pytest.raises(ModelFolderError) as caught:
        find_export(folder)
    return str(caught.value)


def test_the_fastest_that_fits_is_found(folder: Path) -> None:
    assert find_export(folder).quantization == "float32"
    copy = export_folder(folder, "int8")
    shutil.copytree(export_folder(folder, "float32"), copy)
    assert find_export(folder).folder == copy


def test_none_is_said(folder: Path) -> None:
    shutil.rmtree(export_folder(folder, "float32"))
    assert message(folder) == (
        f"{folder} has not been exported for CTranslate2: run `dragoman export "
        f"{folder} --to ctranslate2`"
    )


def test_an_export_that_training_has_overtaken_is_noticed(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"other weights")
    names = ["config.json", "README.md", "model.safetensors", "tokenizer.model"]
    write_checksums(folder, [folder / name for name in names])
    assert message(folder) == (
        f"{export_folder(folder, 'float32')} was exported before the model was trained "
        f"again: run `dragoman export {folder} --to ctranslate2`"
    )


def test_another_card_is_no_other_model(folder: Path) -> None:
    (folder / "README.md").write_text("a better card")
    names = ["config.json", "README.md", "model.safetensors", "tokenizer.model"]
    write_checksums(folder, [folder / name for name in names])
    assert find_export(folder).quantization == "float32"


def damage_weights(export: Path) -> None:
    (export / "model.bin").write_bytes(b"")


def lose_checksums(export: Path) -> None:
    (export / CHECKSUMS).unlink()


def scribble(export: Path) -> None:
    (export / "export.json").write_text("{")


def outdate(export: Path) -> None:
    manifest = json.loads((export / "export.json").read_text())
    (export / "export.json").write_text(json.dumps(manifest | {"format": 99}))


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (damage_weights, "model.bin was truncated or altered"),
        (lose_checksums, "was not written to its end: run `dragoman export"),
        (scribble, "does not hold an export of this program"),
        (outdate, "is not of format 1, the one this Dragoman reads: run `dragoman"),
    ],
)
def test_a_damaged_export_is_noticed(
    folder: Path, damage: Callable[[Path], None], expected: str
) -> None:
    damage(export_folder(folder, "float32"))
    assert expected in message(folder)
