"""Ctrl-C and SIGTERM ask the run to end after the update it is in."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self


class Interrupted(Exception):  # noqa: N818 (no error, but news)
    """Someone asked for the end during work that need not be finished."""


class Interruption:
    """Listens while a run goes on; a second signal acts at once, as without it."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self._previous: dict[int, Any] = {}
        self._at_once = False

    @property
    def requested(self) -> bool:
        """Whether someone asked the run to end."""
        return self.signal is not None

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Break repeatable work off with `Interrupted` when someone asks."""
        if self.requested:
            raise Interrupted
        try:
            self._at_once = True
            yield
        finally:
            self._at_once = False

    def __enter__(self) -> Self:
        if threading.current_thread() is not threading.main_thread():
            return self  # only the main thread may listen
        for number in (signal.SIGINT, signal.SIGTERM):
            self._previous[number] = signal.signal(number, self._hear)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number in self._previous:
            self._restore(number)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self.requested:
            self._restore(number)
            signal.raise_signal(number)
        self.signal = number
        if self._at_once:
            raise Interrupted

    def _restore(self, number: int) -> None:
        # A handler that was not set from Python reads as None and cannot be set.
        signal.signal(number, self._previous[number] or signal.SIG_DFL)
