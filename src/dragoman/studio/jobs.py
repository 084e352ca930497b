"""Long work beside the page: it can be watched, and called off."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from threading import Event, Lock, Thread
from typing import Any

from dragoman.errors import DragomanError, StudioError


class Cancelled(Exception):  # noqa: N818 (nothing went wrong)
    """Raised inside a job when the person called it off."""


@dataclass
class Job:
    """One piece of long work, as far as it has come."""

    number: int
    done: int = 0
    total: int = 0
    result: Any = None  # grows while the work goes on, where that makes sense
    state: str = "running"  # then "done", "cancelled" or "failed"
    error: str | None = None
    called_off: Event = field(default_factory=Event, repr=False)

    def report(self, done: int, total: int, result: object = None) -> None:
        """Say how far the work is; stop it here if it was called off."""
        if self.called_off.is_set():
            raise Cancelled
        self.done, self.total = done, total
        if result is not None:
            self.result = result

    def to_dict(self) -> dict[str, Any]:
        """Give plain data for the page."""
        return {
            "number": self.number,
            "done": self.done,
            "total": self.total,
            "result": self.result,
            "state": self.state,
            "error": self.error,
        }


Work = Callable[[Job], object]


class Jobs:
    """The work that was begun; the same work asked for again is the same job."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._jobs: dict[int, Job] = {}
        self._keys: dict[object, int] = {}
        self._lock = Lock()

    def start(self, key: object, work: Work, *, again: bool = False) -> Job:
        """Begin the work, unless it is under way, or done and not wanted again."""
        with self._lock:
            known = self._jobs.get(self._keys.get(key, 0))
            kept = ("running",) if again else ("running", "done")
            if known is not None and known.state in kept:
                return known
            job = Job(next(self._numbers))
            self._jobs[job.number] = job
            self._keys[key] = job.number
        Thread(target=_run, args=(job, work), daemon=True).start()
        return job

    def find(self, number: int) -> Job:
        """Find a job by its number."""
        try:
            return self._jobs[number]
        except KeyError:
            raise StudioError(f"there is no job {number}: begin it again") from None


def _run(job: Job, work: Work) -> None:
    try:
        job.result = work(job)
        job.state = "done"
    except Cancelled:
        job.state = "cancelled"
    except DragomanError as error:
        job.error, job.state = str(error), "failed"
    except Exception as error:
        job.error = f"internal error: {type(error).__name__}: {error}"
        job.state = "failed"
