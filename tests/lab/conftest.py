from pathlib import Path

import pytest

from dragoman.lab.experiment import Bench, Experiment
from dragoman.lab.findings import (
    Bars,
    Claim,
    Findings,
    Spread,
    Table,
)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(folder=tmp_path / "work", quick=True)


def findings(held: bool | None = True) -> Findings:
    """Give findings that are quickly drawn."""
    spread = Spread.of([1.0, 2.0])
    return Findings(
        claims=(Claim("<b>grass</b> is green", held, "5 of 5 & more"),),
        table=Table(("where", "blades"), (("meadow", 3), ("desk", None))),
        panels=(Bars("bars", "x", ("one", "two"), (spread, spread), log=True),),
        caption='What grows in "meadows".',
        seeds=2,
    )


@pytest.fixture(scope="session")
def meadow() -> Experiment:
    return Experiment(
        name="scaling",  # a name that the report looks for
        title="Grass",
        question="Is grass green?",
        prediction="It is.",
        why="Chlorophyll.",
        measure=lambda bench: findings(),
    )
