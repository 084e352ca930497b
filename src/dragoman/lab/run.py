"""Run experiments one after the other; what is finished is kept."""

import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path

from dragoman.lab.drawing import require_drawing
from dragoman.lab.experiment import Bench, Experiment
from dragoman.lab.result import Result, read_result, write_result

WORK = "work"  # beside the result: models trained on the way to it


@dataclass(frozen=True)
class Run:
    """A result, and whether it was measured now or kept from before."""

    result: Result
    folder: Path
    kept: bool


def run(
    experiment: Experiment, output: Path, bench: Bench, *, again: bool = False
) -> Run:
    """Measure, and leave the result in the experiment's folder of `output`.

    A finished result is kept, unless it was a quick one and this one is not to be.
    """
    require_drawing()
    folder = output / experiment.name
    earlier = None if again else read_result(folder)
    if earlier is not None and (bench.quick or not earlier.quick):
        return Run(earlier, folder, kept=True)
    work = folder / WORK / ("quick" if bench.quick else "full")
    if again:
        shutil.rmtree(work, ignore_errors=True)
    bench = replace(bench, folder=work)
    began = time.perf_counter()
    findings = experiment.measure(bench)
    seconds = time.perf_counter() - began
    result = Result.of(experiment, findings, bench, seconds)
    write_result(folder, result, findings)
    return Run(result, folder, kept=False)
