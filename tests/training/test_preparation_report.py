import json
from dataclasses import replace

import pytest

from dragoman.data.statistics import EpochStatistics
from dragoman.training.preparation_report import (
    CorpusReport,
    LongestPair,
    PreparationReport,
)


@pytest.fixture
def report() -> PreparationReport:
    return PreparationReport(
        read=12_345,
        kept=12_000,
        rejected={"empty side": 300, "duplicate": 45},
        valid_read=100,
        valid_kept=99,
        longest=LongestPair("somewhere/train.en", 77, 41, 43),
        source_vocabulary=8000,
        target_vocabulary=6000,
        shared_vocabulary=False,
        source_tokens=150_000,
        target_tokens=160_000,
        padding_share=0.0312,
        batches_per_epoch=40,
        corpora=(CorpusReport("somewhere/train.en", 12_345, 12_000, {}, 12_000),),
    )


def test_table_tells_everything(report: PreparationReport) -> None:
    table = report.table([("memory", "about 1 GB")])
    rows = dict(line.split("  ", 1) for line in table.splitlines())
    values = {label.strip(): value.strip() for label, value in rows.items()}
    assert values == {
        "pairs read": "12,345",
        "pairs kept": "12,000",
        "dropped: empty side": "300",
        "dropped: duplicate": "45",
        "longest pair": "41 source, 43 target tokens (train.en, line 77)",
        "vocabulary": "8,000 source, 6,000 target",
        "tokens": "150,000 source, 160,000 target",
        "padding": "3.1%",
        "batches per epoch": "40",
        "validation pairs kept": "99 of 100",
        "memory": "about 1 GB",
    }


def test_table_is_aligned(report: PreparationReport) -> None:
    width = len("validation pairs kept") + 2
    for line in report.table().splitlines():
        assert line[width - 2 : width] == "  "
        assert line[width] != " "


def test_what_there_is_not_is_not_shown(report: PreparationReport) -> None:
    bare = replace(report, valid_read=0, rejected={}, shared_vocabulary=True)
    table = bare.table()
    assert "validation" not in table
    assert "dropped" not in table
    assert "8,000, shared" in table


def test_plain_data_and_back(report: PreparationReport) -> None:
    plain = json.loads(json.dumps(report.to_dict()))
    assert PreparationReport.from_dict(plain) == report


@pytest.mark.parametrize("values", [{}, {"longest": {}}, {"longest": None}, []])
def test_unfit_data_is_not_taken_for_a_report(values: dict[str, object]) -> None:
    with pytest.raises((TypeError, KeyError)):
        PreparationReport.from_dict(values)


def test_other_batches_change_only_what_they_touch(report: PreparationReport) -> None:
    statistics = EpochStatistics(7, 1, 2, 0.5, 3, 4, 5)
    other = report.with_epoch(statistics, [9000])
    assert (other.batches_per_epoch, other.padding_share) == (7, 0.5)
    assert other.corpora[0].per_epoch == 9000
    other = replace(other, corpora=report.corpora)
    assert replace(other, batches_per_epoch=40, padding_share=0.0312) == report


def test_several_corpora_have_a_row_each(report: PreparationReport) -> None:
    second = CorpusReport("elsewhere/web.en.gz", 5000, 4000, {"duplicate": 1000}, 4000)
    table = replace(report, corpora=(*report.corpora, second)).table()
    assert "web.en.gz" in table
    assert "4,000 of 5,000 pairs kept; 25.0% of an epoch, each 1 times" in table
