import json
from pathlib import Path

import pytest

from dragoman import durable
from dragoman.errors import FetchError
from dragoman.text.corpus_folder import (
    MANIFEST,
    CorpusContents,
    open_corpus,
    refuse_foreign,
    write_corpus,
)

NAMES = [
    f"{side}.{language}" for side in ("train", "valid", "test") for language in "ab"
]
CONTENTS = CorpusContents(
    name="toy",
    source="a",
    target="b",
    pairs={"train": 1, "valid": 1, "test": 1},
    files={name: f"{name}\n".encode() for name in NAMES},
)


def test_what_is_written_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    assert open_corpus(folder, "toy") is None
    write_corpus(folder, CONTENTS)
    files = open_corpus(folder, "toy")
    assert files is not None
    assert files.test_target.read_text() == "test.b\n"
    assert (files.train_pairs, files.valid_pairs, files.test_pairs) == (1, 1, 1)
    assert sorted(path.name for path in folder.iterdir()) == sorted([*NAMES, MANIFEST])


@pytest.mark.parametrize("survivors", range(len(NAMES) + 1))
def test_an_interrupted_writing_is_never_whole_and_can_be_redone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, survivors: int
) -> None:
    write = durable.replace_bytes
    written: list[Path] = []

    def write_or_die(path: Path, content: bytes) -> None:
        if len(written) == survivors:
            raise KeyboardInterrupt
        written.append(path)
        write(path, content)

    monkeypatch.setattr(durable, "replace_bytes", write_or_die)
    with pytest.raises(KeyboardInterrupt):
        write_corpus(tmp_path, CONTENTS)
    monkeypatch.undo()
    assert open_corpus(tmp_path, "toy") is None
    refuse_foreign(tmp_path, NAMES)
    write_corpus(tmp_path, CONTENTS)
    assert open_corpus(tmp_path, "toy") is not None


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("content", [None, b"", b"altered\n"])
def test_a_missing_truncated_or_altered_file_is_named(
    tmp_path: Path, name: str, content: bytes | None
) -> None:
    write_corpus(tmp_path, CONTENTS)
    (tmp_path / name).unlink()
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(FetchError) as raised:
        open_corpus(tmp_path, "toy")
    assert str(raised.value) == (
        f"{tmp_path / name} is not as it was fetched: name another folder, or empty "
        "this one to fetch again"
    )


@pytest.mark.parametrize(
    "manifest", ["", "[]", "{}", "null", '{"corpus": "toy", "languages": 3}', "\\x00"]
)
def test_a_damaged_manifest_is_named(tmp_path: Path, manifest: str) -> None:
    write_corpus(tmp_path, CONTENTS)
    (tmp_path / MANIFEST).write_text(manifest)
    with pytest.raises(FetchError, match=r"manifest\.json is not as it was fetched"):
        open_corpus(tmp_path, "toy")


def test_a_manifest_that_vouches_for_less_is_not_believed(tmp_path: Path) -> None:
    write_corpus(tmp_path, CONTENTS)
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    del manifest["sha256"]["test.b"]
    (tmp_path / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(FetchError, match=r"manifest\.json is not as it was fetched"):
        open_corpus(tmp_path, "toy")


def test_another_corpus_in_the_folder_is_named(tmp_path: Path) -> None:
    write_corpus(tmp_path, CONTENTS)
    with pytest.raises(FetchError) as raised:
        open_corpus(tmp_path, "other")
    assert str(raised.value) == (
        f"{tmp_path} already holds toy: name another folder for other"
    )


def test_nobodys_files_are_overwritten(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    refuse_foreign(tmp_path, NAMES)
    (tmp_path / "valid.b").write_text("mine")
    with pytest.raises(FetchError) as raised:
        refuse_foreign(tmp_path, NAMES)
    assert str(raised.value) == (
        f"{tmp_path} already holds a valid.b that was not fetched: name another "
        "folder, or move it away"
    )


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FetchError, match="file is a file: name a folder"):
        refuse_foreign(tmp_path / "file", NAMES)
