"""A run's diary, read while it may still be written."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MOST_POINTS = 1500


@dataclass(frozen=True)
class Diary:
    """What was measured at training and at validation, as columns by name."""

    train: dict[str, list[float | None]]
    valid: dict[str, list[float | None]]
    entries: int  # how many updates the diary holds; the columns may be thinned


def read_diary(path: Path, most_points: int = MOST_POINTS) -> Diary | None:
    """Read metrics.jsonl; of a long run, as many updates as a curve can show."""
    if not path.is_file():
        return None
    entries: dict[str, list[dict[str, Any]]] = {"train": [], "valid": []}
    for line in path.read_text("utf-8", "replace").splitlines():
        try:
            entry = json.loads(line)
            entries[entry["kind"]].append(entry)
        except (ValueError, KeyError, TypeError):  # a line that is being written
            continue
    return Diary(
        train=_columns(_thinned(entries["train"], most_points)),
        valid=_columns(entries["valid"]),
        entries=len(entries["train"]),
    )


def _thinned(entries: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    every = -(-len(entries) // most) if entries else 1
    kept = entries[::every]
    return kept if not entries or kept[-1] is entries[-1] else [*kept, entries[-1]]


def _columns(entries: list[dict[str, Any]]) -> dict[str, list[float | None]]:
    names = sorted({name for entry in entries for name in entry} - {"kind"})
    return {name: [_number(entry.get(name)) for entry in entries] for name in names}


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < float("inf") else None
