"""What a person sees while a run goes on: one bar, or plain lines in a log file."""

import sys
import time
from types import TracebackType
from typing import Self

from tqdm import tqdm

LINE_EVERY_SECONDS = 30.0


class ProgressBar:
    """Shows how much of the budget is spent, the loss, speed, rate and time left."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self.terminal = sys.stderr.isatty()
        self.last_line = time.monotonic()
        self.bar = tqdm(
            total=100.0,
            disable=quiet or not self.terminal,
            bar_format="{percentage:3.0f}%|{bar}|",
            dynamic_ncols=True,
        )

    def show(
        self,
        *,
        step: int,
        progress: float,
        loss: float,
        tokens_per_second: float,
        rate: float,
        seconds_left: float,
    ) -> None:
        """Show how the run stands after an update."""
        text = (
            f"loss {loss:.3f}  {tokens_per_second:,.0f} tokens/s  "
            f"rate {rate:.2g}  {duration(seconds_left)} left"
        )
        if self.terminal:
            # The words are part of the format: tqdm's postfix begins with a comma.
            self.bar.bar_format = f"step {step:,} {{percentage:3.0f}}%|{{bar}}| {text}"
            self.bar.update(100 * progress - self.bar.n)
        elif time.monotonic() - self.last_line > LINE_EVERY_SECONDS:
            self.last_line = time.monotonic()
            self.say(f"step {step:,}  {progress:4.0%}  {text}")

    def say(self, text: str) -> None:
        """Print a line without breaking the bar."""
        if not self.quiet:
            tqdm.write(text, file=sys.stderr)

    def warn(self, text: str) -> None:
        """Print a line that matters even to someone who asked for quiet."""
        tqdm.write(f"dragoman: {text}", file=sys.stderr)

    def close(self) -> None:
        """Leave the bar as it stands."""
        self.bar.close()


class PreparationBar:
    """Shows how far the preparation of the corpus is, stage by stage."""

    def __init__(self, *, quiet: bool) -> None:
        self.disabled = quiet or not sys.stderr.isatty()
        self.bar: tqdm | None = None
        self.label = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.bar is not None:
            self.bar.close()

    def show(self, label: str, done: int, total: int | None) -> None:
        """Show that so many of a stage's items are done."""
        if self.bar is None or label != self.label:
            if self.bar is not None:
                self.bar.close()
            self.label = label
            self.bar = tqdm(
                desc=label,
                total=total,
                unit_scale=True,
                leave=False,
                disable=self.disabled,
            )
        self.bar.update(done - self.bar.n)


class Speedometer:
    """Tokens per second, smoothed over the last some twenty updates."""

    def __init__(self) -> None:
        self.last = time.monotonic()
        self.tokens = self.seconds = 0.0

    def after(self, tokens: int) -> float:
        """Give the speed, now that another update has taken in so many tokens."""
        now = time.monotonic()
        self.tokens = 0.95 * self.tokens + tokens
        self.seconds = 0.95 * self.seconds + now - self.last
        self.last = now
        return self.tokens / self.seconds


def duration(seconds: float) -> str:
    """Give a time as people say it: 1:05:09 or 4:07."""
    whole = round(max(0.0, seconds))
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
