"""Experiments on the paper's claims, run on this machine when a person asks."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from dragoman.inspection.why_attention import length_costs, order, saturation
from dragoman.studio.asked import Asked
from dragoman.studio.desk import Desk
from dragoman.studio.jobs import Job
from dragoman.studio.shelf import Volume
from dragoman.studio.validation_text import first_pairs

EXPERIMENTS = ("order", "scaling", "length")
SENTENCES = 20


def why(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Begin one of the experiments."""
    volume = desk.shelf.volume(asked.text("model"))
    experiment = asked.choice("experiment", EXPERIMENTS)
    work = _work(desk, volume, experiment)
    job = desk.jobs.start(("why", experiment, volume), work, again=asked.flag("again"))
    return job.to_dict()


def _work(desk: Desk, volume: Volume, experiment: str) -> Callable[[Job], object]:
    def measure_order(job: Job) -> dict[str, Any]:
        sources = [source for source, _ in first_pairs(volume.folder, SENTENCES)]
        return asdict(order(desk.shelf.fresh(volume), sources, job.report))

    def measure_scaling(job: Job) -> list[dict[str, Any]]:
        return [asdict(row) for row in saturation(job.report)]

    def measure_length(job: Job) -> list[dict[str, Any]]:
        rows = length_costs(desk.shelf.fresh(volume), job.report)
        return [asdict(row) for row in rows]

    match experiment:
        case "order":
            return measure_order
        case "scaling":
            return measure_scaling
        case _:
            return measure_length
