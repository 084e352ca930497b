"""Argos Translate's packages, which LibreTranslate serves: in and out.

An `.argosmodel` is a zip of one folder: `metadata.json`, `sentencepiece.model` and a
CTranslate2 model in `model/`.
"""

import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from dragoman.errors import ExportError, ImportedModelError
from dragoman.interchange.ctranslate2 import export_ctranslate2
from dragoman.model_files import ModelDescription
from dragoman.text.imported_tokenizer import ImportedTokenizer

METADATA, SENTENCEPIECE, MODEL = "metadata.json", "sentencepiece.model", "model"
_LARGEST = 4 << 30  # of all files, unpacked


@contextmanager
def unpacked(package: Path) -> Iterator[tuple[Path, tuple[str, str]]]:
    """Unpack what is needed of a package for a while; give it and its languages."""
    with tempfile.TemporaryDirectory() as place:
        try:
            folder = _unpack(package, Path(place))
            values = json.loads((folder / METADATA).read_text("utf-8"))
            languages = str(values["from_code"]), str(values["to_code"])
        except OSError as error:
            raise ImportedModelError(
                f"cannot read {package} ({error.strerror or error})"
            ) from error
        except (ValueError, KeyError, TypeError, zipfile.BadZipFile, RuntimeError) as e:
            raise ImportedModelError(
                f"{package} is not a whole Argos package ({e}): fetch it again"
            ) from e
        yield folder, languages


def _unpack(package: Path, place: Path) -> Path:
    with zipfile.ZipFile(package) as archive:
        listed = archive.infolist()
        if sum(entry.file_size for entry in listed) > _LARGEST:
            raise ValueError("it would unpack to more than 4 GiB")
        homes = {PurePosixPath(entry.filename).parts[:1] for entry in listed}
        if len(homes) != 1:
            raise ValueError("it does not hold one folder")
        for entry in listed:
            parts = PurePosixPath(entry.filename).parts[1:]
            wanted = parts in ((METADATA,), (SENTENCEPIECE,)) or (
                len(parts) == 2 and parts[0] == MODEL and parts[1] not in ("", "..")
            )
            if not wanted or entry.is_dir():
                continue  # a sentence splitter, a README
            if entry.file_size > 200 * max(entry.compress_size, 1024):
                raise ValueError(f"{entry.filename} would swell to many times its size")
            to = place.joinpath(*parts)
            to.parent.mkdir(exist_ok=True)
            with archive.open(entry) as packed, to.open("wb") as file:
                shutil.copyfileobj(packed, file)
    if not (place / SENTENCEPIECE).is_file():
        raise ValueError(f"it has no {SENTENCEPIECE}; others cannot be imported")
    return place


def export_argos(
    model: str | Path, output: str | Path, quantization: str = "int8"
) -> Path:
    """Export a model folder as a package that `argospm install` takes."""
    package, folder = Path(output), Path(model)
    if package.suffix != ".argosmodel" or package.exists():
        raise ExportError(
            f"{package} is no place for an Argos package: give a new name that ends in "
            ".argosmodel with --output"
        )
    described = ModelDescription.read(folder)
    pieces = _sentencepiece(described)
    source, target = described.languages
    metadata = {
        "package_version": "1.0",
        "argos_version": "1.9",
        "from_code": source,
        "from_name": source,
        "to_code": target,
        "to_name": target,
    }
    name = f"translate-{source}_{target}-1_0"
    beside = package.with_name(package.name + ".tmp")
    with tempfile.TemporaryDirectory() as place:
        export = export_ctranslate2(folder, quantization, Path(place) / MODEL)
        try:
            with zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(f"{name}/{METADATA}", json.dumps(metadata, indent=1))
                archive.writestr(f"{name}/{SENTENCEPIECE}", pieces)
                for path in sorted(export.folder.iterdir()):
                    archive.write(path, f"{name}/{MODEL}/{path.name}")
            beside.rename(package)
        except OSError as error:
            raise ExportError(
                f"cannot write the export {package} ({error.strerror or error}): give "
                "a place that can be written with --output"
            ) from error
    return package


def _sentencepiece(described: ModelDescription) -> bytes:
    """Give the one SentencePiece file that an Argos package has room for."""
    source, target = described.tokenizers.source, described.tokenizers.target
    content = None
    if isinstance(source, ImportedTokenizer):
        content = source.sentencepiece_model
    elif source.kind in ("bpe", "unigram"):
        content = source.serialize()[1]
    if source is not target or content is None:
        raise ExportError(
            "a model with two tokenizers, or with one that is not SentencePiece, "
            "cannot be exported to Argos: train with tokenizer.shared_vocabulary=true "
            'and tokenizer.kind="bpe"'
        )
    return content
