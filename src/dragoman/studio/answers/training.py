"""How a run went, or is going."""

from pathlib import Path
from typing import Any

from dragoman.data.sampler import epoch_batches
from dragoman.data.statistics import epoch_statistics
from dragoman.data.token_store import TokenStore
from dragoman.errors import DragomanError, StudioError
from dragoman.studio.asked import Asked
from dragoman.studio.desk import Desk
from dragoman.studio.diary import read_diary
from dragoman.training.run_record import RunRecord, read_record
from dragoman.training.schedule import paper_rate


def training(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Give the curves of a run, with the paper's learning rate beside its own."""
    volume = desk.shelf.volume(asked.text("model"))
    diary = read_diary(volume.folder / "metrics.jsonl")
    if diary is None:
        raise StudioError(
            f"{volume.folder} keeps no metrics.jsonl: only a folder that was trained "
            "here knows how its training went"
        )
    config = desk.shelf.saved(volume).config
    warmup = float(max(1, config.training.warmup_steps))
    record = _record(volume.folder)
    steps = [int(step or 0) for step in diary.train.get("step", [])]
    return {
        "train": diary.train,
        "valid": diary.valid,
        "entries": diary.entries,
        "paper_rate": [paper_rate(s, config.model.d_model, warmup) for s in steps],
        "schedule": config.training.schedule,
        "warmup": warmup,
        "finished": None if record is None else record.finished,
        "padding_share": desk.keep(
            ("padding", volume.folder), lambda: _padding_share(volume.folder, record)
        ),
        "checkpoints": [one.name for one in desk.shelf.checkpoints(volume)],
    }


def _record(folder: Path) -> RunRecord | None:
    try:
        return read_record(folder)
    except (
        DragomanError
    ):  # written by another version: the curves are there all the same
        return None


def _padding_share(folder: Path, record: RunRecord | None) -> float | None:
    """Give the share of padding in the batches of the run's first epoch."""
    prepared = folder / "prepared" / "train"
    if record is None or not prepared.is_dir():
        return None
    store = TokenStore.open(prepared)
    lengths = store.source_lengths, store.target_lengths
    settings = record.config.training
    order = epoch_batches(
        *lengths, batch_tokens=settings.batch_tokens, seed=settings.seed, epoch=0
    )
    return epoch_statistics(order, *lengths).padding_share
