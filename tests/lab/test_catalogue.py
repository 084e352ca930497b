import re
from pathlib import Path

import pytest

from dragoman.errors import LabError
from dragoman.lab.catalogue import EXPERIMENTS, find


def test_every_experiment_is_found_by_its_name() -> None:
    names = [experiment.name for experiment in EXPERIMENTS]
    assert len(set(names)) == len(names)
    assert [find(name) for name in names] == list(EXPERIMENTS)


def test_every_experiment_asks_predicts_and_explains() -> None:
    for experiment in EXPERIMENTS:
        assert experiment.question.endswith("?")
        assert "§" in experiment.prediction or "Table" in experiment.prediction
        assert len(experiment.why) > 100


def test_a_wrong_name_gets_the_nearest() -> None:
    with pytest.raises(LabError) as raised:
        find("scalling")
    assert str(raised.value) == (
        "there is no experiment 'scalling': did you mean 'scaling'? "
        "`dragoman lab` lists them"
    )


def test_the_documentation_lists_every_question() -> None:
    text = (Path(__file__).parents[2] / "docs" / "lab.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.MULTILINE)
    assert rows == [(e.name, e.question) for e in EXPERIMENTS]
