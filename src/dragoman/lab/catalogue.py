"""All experiments, in the order in which they are best read."""

import difflib

from dragoman.errors import LabError
from dragoman.lab.experiment import Experiment
from dragoman.lab.experiments import (
    complexity,
    heads,
    norms,
    order,
    positions,
    scaling,
    table3,
)

EXPERIMENTS: tuple[Experiment, ...] = (
    order.EXPERIMENT,
    positions.EXPERIMENT,
    scaling.EXPERIMENT,
    complexity.EXPERIMENT,
    heads.EXPERIMENT,
    table3.EXPERIMENT,
    norms.EXPERIMENT,
)


def find(name: str) -> Experiment:
    """Find an experiment, or say which comes nearest."""
    names = [experiment.name for experiment in EXPERIMENTS]
    if name not in names:
        near = difflib.get_close_matches(name, [*names, "all", "report"], 1, cutoff=0)
        raise LabError(
            f"there is no experiment {name!r}: did you mean {near[0]!r}? "
            "`dragoman lab` lists them"
        )
    return EXPERIMENTS[names.index(name)]
