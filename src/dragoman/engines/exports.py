"""Exports of a model for CTranslate2: where they lie, and whether they still fit it.

An export is a folder beside the weights, `ctranslate2-int8` and the like, that any
CTranslate2 can use. Its manifest names the files it was made from, so
that one which training has overtaken is not mistaken for the model.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from dragoman.errors import ModelFolderError
from dragoman.model_files import (
    ALIGNMENT,
    CARD,
    CHECKSUMS,
    SHORTLIST,
    check_files,
    read_checksums,
    read_sums,
)

MANIFEST = "export.json"
FORMAT = 1
QUANTIZATIONS = ("int8", "int16", "float16", "float32")  # fastest first


@dataclass(frozen=True)
class Export:
    """A model in CTranslate2's format."""

    folder: Path
    quantization: str
    positions: int  # how many tokens a sentence may have on either side
    made_from: dict[str, str]  # the SHA-256 of weights, settings and tokenizers

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the manifest of an export, or say in one line what is wrong with it."""
        try:
            manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
            known = manifest["format"] == FORMAT
            export = cls(
                folder,
                str(manifest["quantization"]),
                int(manifest["positions"]),
                dict(manifest["made_from"]),
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelFolderError(
                f"{folder} does not hold an export of this program ({error}): "
                f"{_advice(folder.parent)}"
            ) from error
        if not known:
            raise ModelFolderError(
                f"{folder} is not of format {FORMAT}, the one this Dragoman reads: "
                f"{_advice(folder.parent)}"
            )
        return export

    def check(self) -> None:
        """Compare every file with its checksum."""
        if not (self.folder / CHECKSUMS).is_file():
            raise ModelFolderError(
                f"{self.folder} was not written to its end: "
                f"{_advice(self.folder.parent)}"
            )
        check_files(self.folder, read_sums(self.folder))


def export_folder(model: Path, quantization: str) -> Path:
    """Say where an export of a model lies unless asked otherwise."""
    return model / f"ctranslate2-{quantization}"


def fingerprint(model: Path) -> dict[str, str]:
    """Give the SHA-256 of all that a translation by CTranslate2 depends on."""
    sums = read_checksums(model)
    return {
        name: sums[name] for name in sums if name not in (CARD, SHORTLIST, ALIGNMENT)
    }


def find_export(model: Path) -> Export:
    """Give the fastest export that fits the model, or say why there is none."""
    folders = [export_folder(model, quantization) for quantization in QUANTIZATIONS]
    present = [folder for folder in folders if folder.is_dir()]
    if not present:
        raise ModelFolderError(
            f"{model} has not been exported for CTranslate2: {_advice(model)}"
        )
    made_from = fingerprint(model)
    exports = [Export.read(folder) for folder in present]
    for export in exports:
        if export.made_from == made_from:
            export.check()
            return export
    raise ModelFolderError(
        f"{present[0]} was exported before the model was trained again: "
        f"{_advice(model)}"
    )


def _advice(model: Path) -> str:
    return f"run `dragoman export {model} --to ctranslate2`"
