"""The run's diary: JSON lines in metrics.jsonl, and TensorBoard if asked."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from dragoman import durable
from dragoman.errors import MissingExtraError
from dragoman.training.disk import keeping


class MetricsLog:
    """Appends measurements; on resuming, forgets what the lost updates had written."""

    def __init__(self, path: Path, *, resume_after: int, tensorboard: bool) -> None:
        self.path = path
        board = path.parent / "tensorboard"
        self.board = _open_board(board, resume_after) if tensorboard else None
        kept = _lines_up_to(path, resume_after) if path.exists() else []
        with keeping(path):
            durable.replace_text(path, "".join(kept))
        self.file = path.open("a", encoding="utf-8")

    def write(self, kind: str, step: int, values: dict[str, Any]) -> None:
        """Note what was measured at an update: "train", "valid" or "skipped"."""
        with keeping(self.path):
            self.file.write(json.dumps({"kind": kind, "step": step, **values}) + "\n")
            self.file.flush()
        if self.board is not None:
            for name, value in values.items():
                self.board.add_scalar(f"{kind}/{name}", value, step)

    def close(self) -> None:
        """Close the files."""
        with suppress(OSError):  # said when it was written, if the disk is full
            self.file.close()
        if self.board is not None:
            self.board.close()


def _lines_up_to(path: Path, step: int) -> list[str]:
    kept = []
    for line in path.read_text("utf-8", "replace").splitlines():
        try:
            if json.loads(line)["step"] <= step:
                kept.append(line + "\n")
        except (ValueError, KeyError, TypeError):  # the line that a crash cut off
            continue
    return kept


def _open_board(folder: Path, resume_after: int) -> Any:  # noqa: ANN401 (an optional package's class)
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        name = "tensorboard"
        raise MissingExtraError(f"--{name}", name, name) from error
    return SummaryWriter(str(folder), purge_step=resume_after + 1)
