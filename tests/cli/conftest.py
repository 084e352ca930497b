"""A real terminal, at which commands are run as a person would."""

import os
import pty
import select
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import pytest


class Terminal:
    """The person's side of a terminal."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.shown = ""

    def type(self, text: str) -> None:
        os.write(self.descriptor, text.encode())

    def read_until(self, wanted: str) -> str:
        """Wait for a text, and return what came before it."""
        end = time.monotonic() + 100
        while wanted not in self.shown:
            left = max(0.0, end - time.monotonic())
            ready, _, _ = select.select([self.descriptor], [], [], left)
            assert ready, f"{wanted!r} did not come in time, but {self.shown!r}"
            try:
                came = os.read(self.descriptor, 4096)
            except OSError:  # the command has ended
                came = b""
            assert came, f"{wanted!r} did not come, but {self.shown!r}"
            self.shown += came.decode("utf-8", "replace")
        before, self.shown = self.shown.split(wanted, 1)
        return before


AtTerminal = Callable[..., AbstractContextManager[Terminal]]


@pytest.fixture
def at_a_terminal() -> AtTerminal:
    """Run a command whose input and output are a terminal; it has to end well."""

    @contextmanager
    def run(command: Sequence[str], **variables: str) -> Iterator[Terminal]:
        mine, its = pty.openpty()
        process = subprocess.Popen(
            command,
            stdin=its,
            stdout=its,
            stderr=its,
            start_new_session=True,
            env=os.environ | variables,
        )
        os.close(its)
        try:
            yield Terminal(mine)
            assert process.wait(60) == 0
        finally:
            process.kill()
            process.wait()
            os.close(mine)

    return run
