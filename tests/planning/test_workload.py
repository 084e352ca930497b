from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from dragoman.config import Config, load_preset
from dragoman.errors import ConfigError
from dragoman.planning import workload as workload_module
from dragoman.planning.workload import (
    sample_batches,
    sample_of,
    shape_of,
    stated_workload,
)
from dragoman.text.corpus import Corpus
from dragoman.training.learning_speed import random_batches
from dragoman.training.preparation import prepare


@pytest.fixture
def config() -> Config:
    few = {"tokenizer.vocabulary_size": 400, "training.batch_tokens": 600}
    return load_preset("tiny").with_settings(few)


@pytest.fixture
def text(corpus: Any) -> Corpus:
    return Corpus(corpus.train_source, corpus.train_target)


def silent(_label: str, _done: int, _total: int | None) -> None:
    pass


def test_a_sample_of_everything_is_what_training_will_prepare(
    text: Corpus, config: Config, tmp_path: Path
) -> None:
    report = prepare(tmp_path / "whole", [text], None, config).report
    with sample_of([text], config, silent) as (workload, _):
        pass
    assert workload.pairs == report.kept
    assert workload.target_tokens == report.target_tokens + report.kept
    assert workload.source_tokens == report.source_tokens + report.kept
    assert workload.vocabulary == report.source_vocabulary
    assert workload.batches_per_epoch == pytest.approx(report.batches_per_epoch)
    assert workload.origin == "counted"


def test_a_part_stands_for_the_whole(
    text: Corpus, config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = prepare(tmp_path / "whole", [text], None, config).report
    monkeypatch.setattr(workload_module, "SAMPLE_PAIRS", 120)
    with sample_of([text], config, silent) as (workload, prepared):
        assert prepared.report.read <= 120
    assert workload.origin == f"estimated from {prepared.report.read} pairs"
    assert workload.pairs == pytest.approx(report.kept, rel=0.1)
    assert workload.target_tokens == pytest.approx(report.target_tokens, rel=0.3)
    assert workload.vocabulary == 400


def test_a_line_that_cannot_be_read_is_counted_as_dropped(
    config: Config, tmp_path: Path
) -> None:
    table = tmp_path / "pairs.tsv"
    lines = [f"a house {n}\tuna casa {n}" for n in range(90)] + ["no columns"] * 10
    table.write_text("\n".join(lines) + "\n")
    with sample_of([Corpus(table)], config, silent) as (workload, _):
        assert workload.pairs == 90


def test_a_sample_leaves_nothing_behind(text: Corpus, config: Config) -> None:
    with sample_of([text], config, silent) as (_, prepared):
        assert prepared.folder.exists()
    assert not prepared.folder.exists()


def test_a_stated_corpus_fills_its_batches(config: Config) -> None:
    workload = stated_workload(config, pairs=1000, tokens=12_000)
    assert workload.tokens_per_batch == 600
    assert workload.batches_per_epoch == 20
    assert stated_workload(config, 1000, None).target_tokens == 25_000


def test_pairs_without_tokens_are_refused(config: Config) -> None:
    message = "1,000 pairs cannot have 10 target tokens: give at least one token"
    with pytest.raises(ConfigError, match=message):
        stated_workload(config, pairs=1000, tokens=10)


def test_batches_to_measure_are_cut_to_size(text: Corpus, config: Config) -> None:
    with sample_of([text], config, silent) as (_, prepared):
        whole = next(sample_batches(prepared, config, 600))
        cut = next(sample_batches(prepared, config, 100))
    assert 1 <= cut.num_pairs < whole.num_pairs
    assert cut.target_out.numel() <= 100


def test_made_up_batches_have_the_stated_shape(config: Config) -> None:
    workload = stated_workload(config, pairs=1000, tokens=12_000)
    for batch in islice(random_batches(workload.largest, 400, 10_000), 3):
        assert shape_of(batch) == workload.largest
    (cut,) = islice(random_batches(workload.largest, 400, 120), 1)
    assert cut.num_target_tokens == 120
