import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.lab.conftest import findings

from dragoman.errors import LabError
from dragoman.lab.catalogue import EXPERIMENTS
from dragoman.lab.experiment import Bench, Experiment
from dragoman.lab.report import write_report
from dragoman.lab.result import PLOTS
from dragoman.lab.run import run


@pytest.fixture(scope="module")
def page(meadow: Experiment, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("lab")
    run(meadow, folder, Bench(folder, quick=True))
    return write_report(folder).read_text("utf-8")


def test_the_page_tells_question_prediction_findings_and_reason(page: str) -> None:
    for words in ("Is grass green?", "It is.", "The prediction held.", "Chlorophyll."):
        assert words in page
    assert "<strong>Held:</strong>" in page
    assert "This was a quick run" in page


def test_what_was_not_measured_is_named(page: str) -> None:
    others = [e.name for e in EXPERIMENTS if e.name != "scaling"]
    assert f"Not measured yet: {', '.join(others)}." in page


def test_the_page_needs_no_network_and_runs_nothing(page: str) -> None:
    assert "<script" not in page
    assert not re.findall(r"""(?:src|href)=["'](?!data:|#)""", page)
    assert "url(" not in page
    assert "default-src 'none'" in page
    assert page.count("data:image/svg+xml;base64,") == 1


def test_text_stays_text(page: str) -> None:
    assert "<b>grass" not in page
    assert "&lt;b&gt;grass&lt;/b&gt;" in page
    assert 'alt="What grows in &quot;meadows&quot;."' in page


def test_a_failed_prediction_and_a_lost_picture_are_said(
    meadow: Experiment, bench: Bench, tmp_path: Path
) -> None:
    wrong = replace(meadow, measure=lambda bench: findings(held=False))
    run(wrong, tmp_path, replace(bench, quick=False))
    page = write_report(tmp_path).read_text("utf-8")
    assert "The prediction did not hold." in page
    assert "<strong>Did not hold:</strong>" in page
    assert "This was a quick run" not in page
    (tmp_path / "scaling" / PLOTS[0]).unlink()  # and a missing picture is said
    with pytest.raises(LabError, match=r"plot.svg is missing: .*lab scaling --again"):
        write_report(tmp_path)


def test_nothing_to_report_is_said(tmp_path: Path) -> None:
    with pytest.raises(LabError) as raised:
        write_report(tmp_path)
    assert str(raised.value) == (
        f"{tmp_path} holds no results yet: measure some with `dragoman lab all "
        "--quick`, or name their folder with --output"
    )
