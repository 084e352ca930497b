"""Translated files that wait to be fetched: a few, for a while, in memory."""

import time
from collections import OrderedDict
from dataclasses import dataclass, field

KEPT_SECONDS = 3600.0
MOST_BYTES = 100_000_000


@dataclass
class Files:
    """Contents by name; the oldest go when there are too many."""

    _kept: "OrderedDict[str, tuple[float, bytes]]" = field(default_factory=OrderedDict)

    def put(self, name: str, content: bytes) -> None:
        """Keep a content for an hour."""
        self._kept[name] = (time.monotonic(), content)
        while sum(len(c) for _, c in self._kept.values()) > MOST_BYTES:
            self._kept.popitem(last=False)

    def get(self, name: str) -> bytes | None:
        """Give a content, if it is still there."""
        now = time.monotonic()
        for old in [n for n, (t, _) in self._kept.items() if now - t > KEPT_SECONDS]:
            del self._kept[old]
        found = self._kept.get(name)
        return found[1] if found else None

    def drop(self, name: str) -> None:
        """Let go of a content."""
        self._kept.pop(name, None)
