"""What besides the settings decides the bits of a run, kept in every checkpoint."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import torch

from dragoman.config import Config, load_preset
from dragoman.errors import TrainingError
from dragoman.kernels.choice import kernels_now
from dragoman.training.checkpoints import Checkpoint
from dragoman.training.run_record import learned_settings


@dataclass(frozen=True)
class Circumstances:
    """Under what a run goes on; other ones end in other weights."""

    threads: int
    processes: int
    data: str  # the prepared corpus, as a SHA-256
    settings: str  # those that decide what is learned, as a SHA-256
    kernels: str = "plain"  # or "native", "bfloat16": each rounds in its own way

    @classmethod
    def now(cls, data: str, config: Config, processes: int = 1) -> Self:
        """Look at this process and what it was given."""
        threads, kernels = torch.get_num_threads(), kernels_now()
        return cls(threads, processes, data, _digest(config), kernels)

    def to_dict(self) -> dict[str, Any]:
        """Give plain data for a checkpoint."""
        return asdict(self)

    def changes(self, earlier: Mapping[str, Any]) -> list[str]:
        """Say, a few words each, what a checkpoint was written under and is not now."""
        return [
            f"{earlier[name]} {name} then, {now} now"
            if isinstance(now, int) or name == "kernels"
            else f"other {name}"
            for name, now in asdict(self).items()
            if earlier.get(name, now) != now
        ]

    def same_batches(self, earlier: Mapping[str, Any]) -> bool:
        """Say whether a place among the batches means the same as then."""
        return all(
            earlier.get(name, now) == now
            for name, now in (("data", self.data), ("settings", self.settings))
        )


def _digest(config: Config) -> str:
    # Only what differs from base: a setting that a later version brings is no change.
    usual = learned_settings(load_preset("base"))
    own = {
        name: value
        for name, value in learned_settings(config).items()
        if value != usual[name]
    }
    return hashlib.sha256(json.dumps(own, sort_keys=True).encode()).hexdigest()


def going_on_under(
    now: Circumstances,
    checkpoint: Checkpoint | None,
    *,
    allow_changed: bool,
    warn: Callable[[str], None],
) -> Checkpoint | None:
    """Say in one line what has changed since a checkpoint; go on only if allowed.

    Where its batches are no longer what they were, the run goes on with a new epoch.
    """
    if checkpoint is None:
        return None
    earlier = checkpoint.state.get("circumstances", {})
    changes = now.changes(earlier)
    if not changes:
        return checkpoint
    line = (
        f"this run was saved under other circumstances ({'; '.join(changes)}), so its "
        "weights will not be those of an uninterrupted run"
    )
    if not allow_changed:
        raise TrainingError(
            f"{line}: restore them, or give --allow-changed (allow_changed=True in "
            "Python) to go on anyway"
        )
    warn(line)
    if now.same_batches(earlier):
        return checkpoint
    next_epoch = {"epoch": checkpoint.state["epoch"] + 1, "batch": 0}
    return replace(checkpoint, state={**checkpoint.state, **next_epoch})
