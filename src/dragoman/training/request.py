"""What was asked of a run."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from dragoman.text.corpus import Corpus
from dragoman.training.budget import Budget
from dragoman.training.distributed import Processes
from dragoman.training.starting_point import StartingPoint


@dataclass(frozen=True)
class Request:
    """What was asked for: text, budget and settings."""

    folder: Path
    corpora: tuple[Corpus, ...]
    task: str
    valid: Corpus | None
    preset: str | None
    budget: Budget
    settings: Mapping[str, Any]
    tensorboard: bool
    quiet: bool
    device: torch.device
    processes: Processes
    allow_changed: bool
    allow_dropped: bool
    start: StartingPoint | None
