import csv
from pathlib import Path

import pytest

from dragoman.errors import LabError
from dragoman.lab.experiment import Bench, Experiment
from dragoman.lab.result import (
    PLOTS,
    RESULT,
    TABLE,
    Result,
    plain_table,
    read_result,
    write_result,
)


@pytest.fixture
def result(meadow: Experiment, bench: Bench) -> Result:
    return Result.of(meadow, meadow.measure(bench), bench, seconds=1.25)


def test_a_result_is_read_as_it_was_written(
    result: Result, meadow: Experiment, bench: Bench, tmp_path: Path
) -> None:
    write_result(tmp_path, result, meadow.measure(bench))
    assert read_result(tmp_path) == result
    svg, png = (tmp_path / name for name in PLOTS)
    assert b"<svg" in svg.read_bytes()
    assert png.read_bytes().startswith(b"\x89PNG")
    rows = list(csv.reader((tmp_path / TABLE).read_text("utf-8").splitlines()))
    assert rows == [["where", "blades"], ["meadow", "3"], ["desk", ""]]


def test_the_same_numbers_give_the_same_picture(
    result: Result, meadow: Experiment, bench: Bench, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        write_result(tmp_path / name, result, meadow.measure(bench))
    one, two = (tmp_path / name / PLOTS[0] for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


def test_no_result_is_none_and_a_broken_one_is_said(tmp_path: Path) -> None:
    assert read_result(tmp_path / "order") is None
    (tmp_path / "order").mkdir()
    (tmp_path / "order" / RESULT).write_text("{", "utf-8")
    with pytest.raises(LabError) as raised:
        read_result(tmp_path / "order")
    assert str(raised.value) == (
        f"{tmp_path / 'order' / RESULT} is not a result of this lab: measure it again "
        "with `dragoman lab order --again`, or remove it"
    )


def test_a_table_as_text_is_aligned(result: Result) -> None:
    assert plain_table(result.table).splitlines() == [
        "where   blades",
        "meadow       3",
        "desk         –",
    ]
