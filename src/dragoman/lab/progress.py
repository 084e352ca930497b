"""What a person sees while an experiment goes on: one bar, or plain lines in a log."""

import sys
import time

from tqdm import tqdm

LINE_EVERY_SECONDS = 30.0


class LabProgress:
    """Shows how much of an experiment is done, and what it does now."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.terminal = sys.stderr.isatty()
        self.last_line = time.monotonic()
        self.bar = tqdm(
            desc=name, disable=not self.terminal, leave=False, dynamic_ncols=True
        )

    def show(self, done: int, total: int, label: str) -> None:
        """Show that so many parts are done, and which one comes now."""
        if self.terminal:
            self.bar.total = total
            self.bar.n = done
            self.bar.set_postfix_str(label)
        elif time.monotonic() - self.last_line > LINE_EVERY_SECONDS:
            self.last_line = time.monotonic()
            line = f"{self.name}: {done} of {total} done, now {label or 'drawing'}"
            tqdm.write(line, file=sys.stderr)

    def close(self) -> None:
        """Take the bar away."""
        self.bar.close()
