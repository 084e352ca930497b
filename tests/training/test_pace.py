import pytest

from dragoman.machine.cores import Cores
from dragoman.training.pace import FAR_LESS, SECONDS_TO_SHOW, Pace

QUIET, BUSY = Cores(2, 2, None, 1.0), Cores(2, 2, None, 8.25)


class Clock:
    """Time that a process was given: a share of each second."""

    def __init__(self, share: float) -> None:
        self.share, self.seconds = share, 0.0

    def __call__(self) -> float:
        return self.share * self.seconds


def paced(cores: Cores = QUIET, minutes: float | None = 5.0) -> Pace:
    """A run of which 1,000 target tokens a second were expected."""
    pace = Pace(minutes, 1000.0, threads=2, look=lambda: cores, used=lambda: 1e9)
    pace.start(0.0)
    pace.used_before = 0.0  # so that it has had all the time there is
    return pace


def lines(pace: Pace, speed: float, seconds: int) -> list[str]:
    """Make an update each second; give what was said."""
    said = (pace.after(round(speed), second, second) for second in range(1, seconds))
    return [line for line in said if line is not None]


def test_a_shared_machine_is_said_once_and_what_to_expect() -> None:
    assert lines(paced(BUSY), 200, 200) == [
        "this machine is shared (load 8.2 on 2 cores): 200 tokens/s instead of about "
        "1,000. At its end the run will have made about 300 updates, not 1,440"
    ]


def test_a_machine_that_was_busy_from_the_first_is_seen_by_the_time_it_gives() -> None:
    clock = Clock(share=0.5)  # of two threads' time
    pace = Pace(5.0, 1000.0, threads=2, look=lambda: BUSY, used=clock)
    pace.start(0.0)
    said = []
    for second in range(1, 30):
        clock.seconds = second
        said.append(pace.after(1000, second, second))
    (line,) = filter(None, said)
    assert "1,000 tokens/s instead of about 4,000" in line
    outcome = pace.outcome(29, 29.0)
    assert outcome is not None
    assert outcome.startswith("the run had 25% of the speed that this machine can give")


def test_time_not_used_is_no_one_elses_where_nobody_waits() -> None:
    pace = Pace(5.0, 1000.0, threads=2, look=lambda: QUIET, used=Clock(share=0.5))
    pace.start(0.0)
    assert lines(pace, 1000, 60) == []


def test_a_machine_without_company_is_only_called_slower() -> None:
    (line,) = lines(paced(QUIET), 200, 60)
    assert line.startswith("this machine is slower now than when the run was planned:")


@pytest.mark.parametrize("share", [FAR_LESS + 0.05, 1.0, 3.0])
def test_nothing_is_said_of_a_run_about_as_fast_as_expected(share: float) -> None:
    pace = paced(BUSY)
    assert lines(pace, 1000 * share, 300) == []
    assert pace.outcome(299, 299.0) is None


def test_nothing_is_said_before_there_is_something_to_see() -> None:
    pace = paced(BUSY)
    assert lines(pace, 1, int(SECONDS_TO_SHOW)) == []
    assert pace.outcome(2, SECONDS_TO_SHOW - 1) is None


def test_a_run_without_minutes_has_no_pace() -> None:
    pace = paced(BUSY, minutes=None)
    assert lines(pace, 1, 100) == []
    assert pace.outcome(100, 100.0) is None


def test_only_what_this_process_saw_counts() -> None:
    pace = Pace(10.0, 1000.0, threads=2, look=lambda: QUIET)
    pace.start(300.0)
    said = [pace.after(900, step, step) for step in range(301, 400)]
    assert set(said) == {None}
    assert pace.outcome(399, 399.0) is None


def test_the_end_says_what_was_missed_and_how_to_go_on() -> None:
    pace = paced()
    lines(pace, 200, 300)
    assert pace.outcome(299, 299.0) == (
        "the run had 20% of the speed that this machine can give (299 updates in 5 "
        "minutes), and knows less for it: --minutes 10 goes on for as long again"
    )
