"""Counters and times in the form that Prometheus reads; no keys, no addresses."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


@dataclass
class Metrics:
    """What the server counts."""

    counts: Counter[str] = field(default_factory=Counter)
    requests: Counter[tuple[str, int]] = field(default_factory=Counter)
    seconds: dict[str, list[int]] = field(default_factory=dict)
    total_seconds: Counter[str] = field(default_factory=Counter)

    def count(self, name: str, amount: int = 1) -> None:
        """Count something that happened."""
        self.counts[name] += amount

    def observe_batch(self, size: int) -> None:
        """Count a batch and the sentences in it."""
        self.counts["batches"] += 1
        self.counts["sentences"] += size

    def observe_request(self, api: str, status: int, seconds: float) -> None:
        """Count a request by API and status, and how long it took."""
        self.requests[api, status] += 1
        buckets = self.seconds.setdefault(api, [0] * (len(BOUNDS) + 1))
        buckets[bisect_left(BOUNDS, seconds)] += 1
        self.total_seconds[api] += seconds  # type: ignore[assignment]

    def text(self, gauges: Mapping[str, float]) -> str:
        """Write all of it down."""
        lines = []
        for (api, status), count in sorted(self.requests.items()):
            labels = f'api="{api}",status="{status}"'
            lines.append(f"dragoman_requests_total{{{labels}}} {count}")
        for name, count in sorted(self.counts.items()):
            lines.append(f"dragoman_{name}_total {count}")
        for name, value in gauges.items():
            lines.append(f"dragoman_{name} {value:g}")
        for api, buckets in sorted(self.seconds.items()):
            lines += _histogram(api, buckets, self.total_seconds[api])
        return "\n".join(lines) + "\n"


def _histogram(api: str, buckets: list[int], total: float) -> list[str]:
    name, lines, below = "dragoman_request_seconds", [], 0
    for bound, count in zip((*map(str, BOUNDS), "+Inf"), buckets, strict=True):
        below += count
        lines.append(f'{name}_bucket{{api="{api}",le="{bound}"}} {below}')
    lines.append(f'{name}_sum{{api="{api}"}} {total:.6f}')
    lines.append(f'{name}_count{{api="{api}"}} {below}')
    return lines
