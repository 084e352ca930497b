import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dragoman.config import Config, load_preset
from dragoman.text.corpus import Corpus
from dragoman.training.preparation_manifest import (
    MANIFEST,
    Manifest,
    describe_request,
)
from dragoman.training.preparation_report import (
    CorpusReport,
    LongestPair,
    PreparationReport,
)

REPORT = PreparationReport(
    read=2,
    kept=1,
    rejected={"duplicate": 1},
    valid_read=0,
    valid_kept=0,
    longest=LongestPair("a", 1, 2, 3),
    source_vocabulary=9,
    target_vocabulary=9,
    shared_vocabulary=True,
    source_tokens=4,
    target_tokens=5,
    padding_share=0.1,
    batches_per_epoch=1,
    corpora=(CorpusReport("a", 2, 1, {"duplicate": 1}, 1),),
)


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    for name in ("a.en", "a.de"):
        (tmp_path / name).write_text("text\n")
    return Corpus(tmp_path / "a.en", tmp_path / "a.de")


def request_for(corpus: Corpus, config: Config) -> dict[str, Any]:
    return describe_request([corpus], None, config, None)


def test_what_was_written_is_read(tmp_path: Path, corpus: Corpus) -> None:
    request = request_for(corpus, load_preset("tiny"))
    manifest = Manifest(request, 4096, [2.0, None], REPORT)
    manifest.write(tmp_path)
    assert Manifest.read(tmp_path) == manifest


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff", b"[]", b"{}", b'{"request": {}, "batch_tokens": 1, "report": {}}'],
)
def test_nothing_readable_is_no_manifest(tmp_path: Path, content: bytes) -> None:
    assert Manifest.read(tmp_path) is None
    (tmp_path / MANIFEST).write_bytes(content)
    assert Manifest.read(tmp_path) is None


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("data.max_tokens", 9),
        ("data.normalization", "nfkc"),
        ("tokenizer.kind", "unigram"),
        ("tokenizer.vocabulary_size", 500),
        ("training.seed", 9),
    ],
)
def test_settings_that_matter(corpus: Corpus, setting: str, value: object) -> None:
    config = load_preset("tiny")
    other = config.with_settings({setting: value})
    assert request_for(corpus, config) != request_for(corpus, other)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("tokenizer.sampling", 0.1),
        ("training.batch_tokens", 99),
        ("model.dropout", 0.2),
    ],
)
def test_settings_that_do_not(corpus: Corpus, setting: str, value: object) -> None:
    config = load_preset("tiny")
    other = config.with_settings({setting: value})
    assert request_for(corpus, config) == request_for(corpus, other)


def test_files_that_changed(corpus: Corpus) -> None:
    config = load_preset("tiny")
    before = request_for(corpus, config)
    assert corpus.target
    os.utime(corpus.target, ns=(0, 0))
    touched = request_for(corpus, config)
    corpus.source.write_text("other text\n")
    assert len({str(before), str(touched), str(request_for(corpus, config))}) == 3


def test_files_are_the_same_however_they_are_named(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = load_preset("tiny")
    monkeypatch.chdir(corpus.source.parent)
    relative = Corpus(Path("a.en"), Path("a.de"))
    assert request_for(relative, config) == request_for(corpus, config)
    missing = replace(relative, source=Path("b.en"))
    assert request_for(missing, config) != request_for(corpus, config)
