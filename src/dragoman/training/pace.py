"""Whether a run with a budget of minutes learns as much in them as was expected."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from dragoman.machine.cores import Cores, cores_now

# Less than this share of what could be is worth a word, once so many seconds show.
FAR_LESS = 0.6
SECONDS_TO_SHOW = 15.0
# What forward and backward passes alone would do, the optimizer takes a part of.
LEFT_BY_OPTIMIZER = 0.8


@dataclass
class Pace:
    """Compares the speed of a run with what it could be; says once if it is far less.

    It could be what was expected when the run was planned, or, on a machine that was
    busy then already, what this process would do if it had its threads' time for
    itself. Only what this process has seen counts: a run may go on on another day.
    """

    minutes: float | None
    speed: float  # target tokens a second that were expected
    threads: int
    look: Callable[[], Cores] = cores_now
    used: Callable[[], float] = time.process_time
    tokens: int = 0
    updates: int = 0
    began: float = 0.0
    used_before: float = 0.0
    shared: bool = False
    said: bool = False

    def start(self, seconds: float) -> None:
        """Begin to count, so many seconds into the run."""
        self.began, self.used_before = seconds, self.used()

    def after(self, tokens: int, step: int, seconds: float) -> str | None:
        """Count an update; give the one line that it is time to say, if any."""
        self.tokens += tokens
        self.updates += 1
        share = None if self.said else self._share(seconds)
        if share is None or share >= FAR_LESS:
            return None
        self.said = True
        assert self.minutes is not None, "there is a share only with minutes"
        taken = seconds - self.began
        speed, rate = self.tokens / taken, self.updates / taken
        left = max(0.0, 60 * self.minutes - seconds)
        return (
            f"{self._why()}: {speed:,.0f} tokens/s instead of about "
            f"{speed / share:,.0f}. At its end the run will have made about "
            f"{step + left * rate:,.0f} updates, not {step + left * rate / share:,.0f}"
        )

    def outcome(self, step: int, seconds: float) -> str | None:
        """Say at the end what was missed, if much was, and how to make up for it."""
        share = self._share(seconds)
        if share is None or share >= FAR_LESS:
            return None
        assert self.minutes is not None, "there is a share only with minutes"
        return (
            f"the run had {share:.0%} of the speed that this machine can give "
            f"({step:,} updates in {self.minutes:g} minutes), and knows less for it: "
            f"--minutes {2 * self.minutes:g} goes on for as long again"
        )

    def _share(self, seconds: float) -> float | None:
        """Give how fast the run is, of what it could be; None: too early to say."""
        taken = seconds - self.began
        if self.minutes is None or taken < SECONDS_TO_SHOW or self.updates < 2:
            return None
        of_expected = self.tokens / taken / self.speed
        self.shared = self.shared or self.look().busy
        if not self.shared:
            return of_expected
        of_time = (self.used() - self.used_before) / taken / self.threads
        return min(of_expected, of_time)

    def _why(self) -> str:
        if self.shared:
            return f"this machine is shared ({self.look().describe_load()})"
        return "this machine is slower now than when the run was planned"
