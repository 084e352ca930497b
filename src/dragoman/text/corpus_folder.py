"""A fetched corpus on disk: three sides, two languages, and a manifest that vouches."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from dragoman import durable
from dragoman.errors import FetchError

MANIFEST = "corpus-manifest.json"
UNFINISHED = ".unfinished"  # there from before the first file until after the last


@dataclass(frozen=True)
class CorpusFiles:
    """Where the sides of a corpus lie, and how many pairs each has."""

    folder: Path
    train_source: Path
    train_target: Path
    valid_source: Path
    valid_target: Path
    test_source: Path
    test_target: Path
    train_pairs: int
    valid_pairs: int
    test_pairs: int

    @property
    def texts(self) -> tuple[Path, ...]:
        """All six files of sentences."""
        return (
            *(self.train_source, self.train_target),
            *(self.valid_source, self.valid_target),
            *(self.test_source, self.test_target),
        )


@dataclass(frozen=True)
class CorpusContents:
    """All that a corpus folder is to hold: its files, as bytes, and their facts."""

    name: str
    source: str  # language codes, which are also the file endings
    target: str
    pairs: Mapping[str, int]  # of train, valid and test
    files: Mapping[str, bytes]


def refuse_foreign(folder: Path, files: Iterable[str]) -> None:
    """Refuse a place where fetching would overwrite files that were not fetched."""
    if folder.exists() and not folder.is_dir():
        raise FetchError(f"{folder} is a file: name a folder")
    if (folder / UNFINISHED).exists():
        return
    for name in files:
        if (folder / name).exists():
            raise FetchError(
                f"{folder} already holds a {name} that was not fetched: name another "
                "folder, or move it away"
            )


def write_corpus(folder: Path, contents: CorpusContents) -> None:
    """Write every file, and last the manifest, without which the rest is nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / UNFINISHED).touch()
    for name, content in contents.files.items():
        durable.replace_bytes(folder / name, content)
    manifest = {
        "corpus": contents.name,
        "languages": [contents.source, contents.target],
        "pairs": dict(contents.pairs),
        "sha256": {name: _sha256(content) for name, content in contents.files.items()},
    }
    content = (json.dumps(manifest, indent=2) + "\n").encode()
    durable.replace_bytes(folder / MANIFEST, content)
    (folder / UNFINISHED).unlink(missing_ok=True)


def open_corpus(folder: Path, name: str) -> CorpusFiles | None:
    """Find a whole corpus in a folder; None where there is none yet."""
    path = folder / MANIFEST
    if not path.exists():
        return None
    try:
        manifest = json.loads(path.read_text("utf-8"))
        held = str(manifest["corpus"])
        hashes = {str(file): str(sha) for file, sha in manifest["sha256"].items()}
        source, target = manifest["languages"]
        files = _corpus_files(folder, source, target, manifest["pairs"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FetchError(_altered(path)) from error
    if held != name:
        raise FetchError(
            f"{folder} already holds {held}: name another folder for {name}"
        )
    if not {text.name for text in files.texts} <= set(hashes):
        raise FetchError(_altered(path))
    for file, sha in hashes.items():
        if not (folder / file).is_file() or durable.sha256(folder / file) != sha:
            raise FetchError(_altered(folder / file))
    return files


def _corpus_files(
    folder: Path, source: str, target: str, pairs: Mapping[str, int]
) -> CorpusFiles:
    return CorpusFiles(
        folder=folder,
        train_source=folder / f"train.{source}",
        train_target=folder / f"train.{target}",
        valid_source=folder / f"valid.{source}",
        valid_target=folder / f"valid.{target}",
        test_source=folder / f"test.{source}",
        test_target=folder / f"test.{target}",
        train_pairs=pairs["train"],
        valid_pairs=pairs["valid"],
        test_pairs=pairs["test"],
    )


def _altered(path: Path) -> str:
    return (
        f"{path} is not as it was fetched: name another folder, or empty this one to "
        "fetch again"
    )


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
