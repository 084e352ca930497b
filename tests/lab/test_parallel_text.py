from pathlib import Path

import pytest

from dragoman.errors import LabError
from dragoman.lab.experiment import Bench
from dragoman.lab.parallel_text import find_text, text_for


def write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_text("a\n", "utf-8")


def test_english_is_read_and_parts_are_found_by_what_they_begin_with(
    tmp_path: Path,
) -> None:
    names = [
        f"{part}.{code}"
        for part in ("train", "val", "test_2016")
        for code in ("de", "en", "fr")
    ]
    write(tmp_path, *names, "README.md")
    text = find_text(tmp_path)
    assert [path.name for path in text.train] == ["train.en", "train.de"]
    assert [path.name for path in text.valid] == ["val.en", "val.de"]
    assert [path.name for path in text.test] == ["test_2016.en", "test_2016.de"]
    assert text.name == f"{tmp_path.name}, en to de"


def test_a_folder_that_lacks_a_part_is_said(tmp_path: Path) -> None:
    write(tmp_path, "train.en", "train.de", "test.en", "test.de")
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(LabError) as raised:
            find_text(folder)
        assert str(raised.value) == (
            f"{folder} has no train, valid and test files of two languages: name them "
            "as in train.en, train.de, valid.en, valid.de, test.en, test.de"
        )


def test_a_quick_run_takes_the_phrasebook(bench: Bench) -> None:
    text = text_for(bench)
    assert text.name == "phrasebook-en-es"
    assert all(path.exists() for path in (*text.train, *text.valid, *text.test))
