"""Ctrl-C and SIGTERM ask the run to end after the update it is in."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Self


class Interruption:
    """Listens while a run goes on; a second signal stops at once, as without it."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self._previous: dict[int, signal.Handlers | object] = {}

    @property
    def requested(self) -> bool:
        """Whether someone asked the run to end."""
        return self.signal is not None

    def __enter__(self) -> Self:
        if threading.current_thread() is not threading.main_thread():
            return self  # only the main thread may listen
        for number in (signal.SIGINT, signal.SIGTERM):
            self._previous[number] = signal.getsignal(number)
            signal.signal(number, self._hear)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _hear(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self.requested:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        self.signal = number
