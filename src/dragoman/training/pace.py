"""Whether a run with a budget of minutes learns as much in them as was expected."""

from collections.abc import Callable
from dataclasses import dataclass, field

from dragoman.machine.cores import Cores, cores_now

# Less than this share of what was expected is worth a word, once so many seconds show.
FAR_LESS = 0.6
SECONDS_TO_SHOW = 15.0
# What forward and backward passes alone would do, the optimizer takes a part of.
LEFT_BY_OPTIMIZER = 0.8


@dataclass
class Pace:
    """Compares the speed of a run with the one expected; says once if it is far less.

    Only what this process has seen counts: a run that goes on may do so on another day.
    """

    minutes: float | None
    speed: float  # target tokens a second that were expected
    look: Callable[[], Cores] = cores_now
    tokens: int = 0
    updates: int = 0
    began: float | None = field(default=None, repr=False)
    said: bool = False

    def start(self, seconds: float) -> None:
        """Begin to count, so many seconds into the run."""
        self.began = seconds

    def after(self, tokens: int, step: int, seconds: float) -> str | None:
        """Count an update; give the one line that it is time to say, if any."""
        self.tokens += tokens
        self.updates += 1
        share = self._share(seconds)
        if self.said or share is None or share >= FAR_LESS:
            return None
        self.said = True
        assert self.began is not None, "start was called"
        assert self.minutes is not None, "there is a share only with minutes"
        rate = self.updates / (seconds - self.began)
        left = max(0.0, 60 * self.minutes - seconds)
        reached = step + left * rate
        return (
            f"{self._why()}: {share * self.speed:,.0f} tokens/s where "
            f"{self.speed:,.0f} were expected. At its end the run will have made about "
            f"{reached:,.0f} updates, not {step + left * rate / share:,.0f}"
        )

    def outcome(self, step: int, seconds: float) -> str | None:
        """Say at the end what was missed, if much was, and how to make up for it."""
        share = self._share(seconds)
        if share is None or share >= FAR_LESS:
            return None
        assert self.minutes is not None, "there is a share only with minutes"
        return (
            f"the run learned from {share:.0%} of the text that was expected "
            f"({step:,} updates in {self.minutes:g} minutes), and knows less for it: "
            f"--minutes {2 * self.minutes:g} goes on for as long again"
        )

    def _share(self, seconds: float) -> float | None:
        """Give how much was learned from, of what was expected; None: too early."""
        if self.minutes is None or self.began is None:
            return None
        taken = seconds - self.began
        enough = taken >= SECONDS_TO_SHOW and self.updates > 1
        return self.tokens / taken / self.speed if enough else None

    def _why(self) -> str:
        cores = self.look()
        if cores.busy:
            return f"this machine is shared ({cores.describe_load()})"
        return "this machine is slower now than when the run was planned"
