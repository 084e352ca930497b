import time
from threading import Event

import pytest

from dragoman.errors import CorpusError, StudioError
from dragoman.studio.jobs import Job, Jobs


def wait_for(job: Job) -> Job:
    for _ in range(500):
        if job.state != "running":
            return job
        time.sleep(0.01)
    raise AssertionError("the job never ended")


def test_work_gives_its_result_and_is_not_done_twice() -> None:
    jobs = Jobs()
    job = wait_for(jobs.start("sum", lambda job: 1 + 1))
    assert (job.state, job.result, job.error) == ("done", 2, None)
    assert jobs.start("sum", lambda job: 3) is job
    assert wait_for(jobs.start("sum", lambda job: 3, again=True)).result == 3
    assert jobs.find(job.number) is job


def test_work_can_be_watched_and_called_off() -> None:
    begun, go_on = Event(), Event()

    def work(job: Job) -> None:
        job.report(1, 10, ["first"])
        begun.set()
        go_on.wait(5)
        job.report(2, 10)

    jobs = Jobs()
    job = jobs.start("long", work)
    assert begun.wait(5)
    assert (job.done, job.total, job.result) == (1, 10, ["first"])
    job.called_off.set()
    go_on.set()
    assert wait_for(job).state == "cancelled"
    assert jobs.start("long", lambda job: None) is not job


def test_what_goes_wrong_is_said() -> None:
    def known(job: Job) -> None:
        raise CorpusError("no text")

    def unknown(job: Job) -> None:
        raise ZeroDivisionError("oh")

    jobs = Jobs()
    assert wait_for(jobs.start(1, known)).error == "no text"
    assert (
        wait_for(jobs.start(2, unknown)).error
        == "internal error: ZeroDivisionError: oh"
    )
    with pytest.raises(StudioError, match=r"^there is no job 99: begin it again$"):
        jobs.find(99)
