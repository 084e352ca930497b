from pathlib import Path
from typing import Any

import pytest

from dragoman.config import load_preset
from dragoman.errors import CorpusError
from dragoman.special_tokens import END
from dragoman.text.corpus import Corpus
from dragoman.text.masks import mask_id
from dragoman.training.preparation import Prepared, prepare

LINES = [
    *(f"the {word} sat on the mat" for word in ("cat", "dog", "hen")),
    *("", "  ", "and   then\tit left"),
]


def prepared(folder: Path, content: bytes, **settings: Any) -> Prepared:
    file = folder / "text.txt"
    file.write_bytes(content)
    asked = {
        "model.kind": "language_model",
        "model.window": 5,
        "tokenizer.vocabulary_size": 320,
    }
    named = {name.replace("__", "."): value for name, value in settings.items()}
    config = load_preset("tiny").with_settings(asked | named)
    return prepare(folder / "prepared", [Corpus(file)], Corpus(file), config)


def test_windows_hold_the_whole_text_and_each_line_ends(tmp_path: Path) -> None:
    made = prepared(tmp_path, "\n".join(LINES).encode())
    stream = [int(t) for k in range(len(made.store)) for t in made.store.target(k)]
    lines: list[list[int]] = [[]]
    for token in stream:
        lines[-1].append(token)
        if token == END:
            lines.append([])
    said = [made.tokenizers.source.decode(line) for line in lines if line]
    assert said == [*LINES[:3], "and then it left"]
    assert set(made.store.target_lengths[:-1].tolist()) == {5}
    assert made.store.num_source_tokens == 0
    assert made.valid is not None
    assert made.valid.num_target_tokens == len(stream)


def test_the_report_speaks_of_lines_and_windows(tmp_path: Path) -> None:
    made = prepared(tmp_path, "\n".join(LINES).encode() + b"\nbad \xff byte\nnul \0\n")
    rows = [row.split(None, 2) for row in made.report.table().splitlines()]
    assert ["lines", "read", "8"] in rows
    assert ["windows", str(len(made.store)), "of 5 tokens"] in rows
    assert [row[1:] for row in rows if row[0] == "dropped:"] == [
        ["invalid", "UTF-8  1"],
        ["contains", "NUL   1"],
    ]
    assert "pairs" not in made.report.table()
    rejected = made.rejected.read_text().splitlines()[1:]
    assert [row.split("\t")[1:3] for row in rejected] == [
        ["7", "invalid UTF-8"],
        ["8", "contains NUL"],
    ]


def test_the_same_text_is_opened_and_another_window_is_prepared_anew(
    tmp_path: Path,
) -> None:
    content = "\n".join(LINES).encode()
    first = prepared(tmp_path, content)
    stamp = (tmp_path / "prepared" / "prepared.json").stat().st_mtime_ns
    file, config = tmp_path / "text.txt", load_preset("tiny")
    settings = {"model.kind": "language_model", "model.window": 5}
    settings |= {"tokenizer.vocabulary_size": 320}
    config = config.with_settings(settings)
    prepare(tmp_path / "prepared", [Corpus(file)], Corpus(file), config)
    assert (tmp_path / "prepared" / "prepared.json").stat().st_mtime_ns == stamp
    other = prepared(tmp_path, content, model__window=7)
    assert other.store.fingerprint != first.store.fingerprint


def test_only_a_masked_language_model_has_a_mask(tmp_path: Path) -> None:
    content = "\n".join(LINES).encode()
    kind = "masked_language_model"
    tokenizer = prepared(tmp_path, content, model__kind=kind).tokenizers.source
    mask = mask_id(tokenizer)
    assert mask in tokenizer.encode("the [MASK] sat")
    assert tokenizer.decode(tokenizer.encode("the [MASK] sat")) == "the [MASK] sat"


def test_a_file_without_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"no line of text in .*: give a file with"):
        prepared(tmp_path, b"\n \n\n")
