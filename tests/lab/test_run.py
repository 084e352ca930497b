import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.errors import MissingExtraError
from dragoman.lab.experiment import Bench, Experiment
from dragoman.lab.findings import Findings
from dragoman.lab.run import run


class Counted:
    """Measures, and counts how often it was asked to."""

    def __init__(self, experiment: Experiment) -> None:
        self.times = 0
        self.inner = experiment.measure
        self.experiment = replace(experiment, measure=self.measure)

    def measure(self, bench: Bench) -> Findings:
        self.times += 1
        bench.folder.mkdir(parents=True, exist_ok=True)
        (bench.folder / f"{self.times}").touch()
        return self.inner(bench)


def test_what_is_finished_is_kept(
    meadow: Experiment, bench: Bench, tmp_path: Path
) -> None:
    counted = Counted(meadow)
    first = run(counted.experiment, tmp_path, bench)
    second = run(counted.experiment, tmp_path, bench)
    assert (first.kept, second.kept, counted.times) == (False, True, 1)
    assert first.result == second.result
    assert first.folder == tmp_path / "scaling"


def test_again_measures_anew_from_nothing(
    meadow: Experiment, bench: Bench, tmp_path: Path
) -> None:
    counted = Counted(meadow)
    run(counted.experiment, tmp_path, bench)
    assert not run(counted.experiment, tmp_path, bench, again=True).kept
    left = [path.name for path in (tmp_path / "scaling" / "work" / "quick").iterdir()]
    assert left == ["2"]


def test_a_quick_result_gives_way_to_a_full_one_but_not_the_reverse(
    meadow: Experiment, bench: Bench, tmp_path: Path
) -> None:
    full = replace(bench, quick=False)
    run(meadow, tmp_path, bench)
    assert not run(meadow, tmp_path, full).kept
    kept = run(meadow, tmp_path, bench)
    assert kept.kept
    assert not kept.result.quick


def test_without_matplotlib_nothing_is_measured(
    meadow: Experiment, bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    counted = Counted(meadow)
    with pytest.raises(MissingExtraError) as raised:
        run(counted.experiment, tmp_path, bench)
    assert str(raised.value) == (
        "the lab needs the package 'matplotlib', which is not installed: "
        "pip install 'dragoman[inspection]'"
    )
    assert counted.times == 0


def test_progress_is_told_and_ends_whole(bench: Bench) -> None:
    told: list[tuple[int, int, str]] = []
    telling = replace(bench, on_progress=lambda *news: told.append(news))
    assert list(telling.each("ab", lambda letter: letter.upper())) == ["a", "b"]
    assert told == [(0, 2, "A"), (1, 2, "B"), (2, 2, "")]
