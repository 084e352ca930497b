"""All experiments, in the order in which they are best read."""

import difflib

from dragoman.errors import LabError
from dragoman.lab.experiment import Experiment
from dragoman.lab.experiments import (
    complexity,
    gradients,
    heads,
    memory,
    norms,
    order,
    positions,
    scaling,
    speed,
    table3,
    translation,
)

EXPERIMENTS: tuple[Experiment, ...] = (
    speed.EXPERIMENT,
    gradients.EXPERIMENT,
    memory.EXPERIMENT,
    order.EXPERIMENT,
    scaling.EXPERIMENT,
    positions.EXPERIMENT,
    heads.EXPERIMENT,
    table3.EXPERIMENT,
    norms.EXPERIMENT,
    complexity.EXPERIMENT,
    translation.EXPERIMENT,
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
