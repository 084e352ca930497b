"""Long work: begin it, see how far it is, call it off."""

from typing import Any

from dragoman.studio.asked import Asked
from dragoman.studio.desk import Desk

MOST_JOBS = 1_000_000


def job(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Say how far a job is."""
    return desk.jobs.find(asked.number("number", 1, MOST_JOBS)).to_dict()


def cancel(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Call a job off."""
    found = desk.jobs.find(asked.number("number", 1, MOST_JOBS))
    found.called_off.set()
    return found.to_dict()
