"""Two text files in, a translator out: the main job from beginning to end."""

import shlex
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from dragoman.arguments import check_flags, check_is, check_path
from dragoman.config import Config
from dragoman.errors import ConfigError
from dragoman.model.device import choose_device
from dragoman.model.freed_memory import keep_freed_memory
from dragoman.model_files import is_whole
from dragoman.model_folder import build_for
from dragoman.settings_file import read_settings
from dragoman.text.corpus import Corpus
from dragoman.training.agreement import (
    Settled,
    agree_on_settings,
    prepare_everywhere,
)
from dragoman.training.assembly import assemble
from dragoman.training.budget import Budget
from dragoman.training.collector import only_new_garbage
from dragoman.training.corpora import File, list_corpora
from dragoman.training.distributed import joined
from dragoman.training.finish import finish
from dragoman.training.interruption import Interruption
from dragoman.training.kernel_choice import chosen_kernels
from dragoman.training.lock import only_run_in
from dragoman.training.loop import Ending, Trainer
from dragoman.training.precision import refuse_precision
from dragoman.training.preparation import Prepared
from dragoman.training.progress import ProgressBar
from dragoman.training.request import Request
from dragoman.training.run_record import (
    RunRecord,
    read_record,
)
from dragoman.training.starting_point import StartingPoint
from dragoman.training.tasks import (
    KINDS,
    refuse_other_task,
    refuse_unfit_files,
    text_corpora,
)
from dragoman.training.trial import memory_advice
from dragoman.training.validation import Validation


@dataclass(frozen=True)
class TrainingResult:
    """How a run ended."""

    folder: Path
    ending: Ending
    steps: int
    seconds: float
    validation: Validation | None
    signal: int | None = None
    rank: int = 0  # which of the run's processes this is


def train(
    folder: str | Path,
    *,
    source: File | Sequence[File] | None = None,
    target: File | Sequence[File | None] | None = None,
    weights: Sequence[float | None] | None = None,
    valid_source: str | Path | None = None,
    valid_target: str | Path | None = None,
    task: str = "translation",
    text: File | Sequence[File] | None = None,
    valid_text: str | Path | None = None,
    start_from: str | Path | None = None,
    preset: str | None = None,
    minutes: float | None = None,
    steps: int | None = None,
    epochs: float | None = None,
    config: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    device: str = "auto",
    tensorboard: bool = False,
    quiet: bool = False,
    allow_changed: bool = False,
    allow_dropped: bool = False,
) -> TrainingResult:
    """Train a translator on parallel text and leave it in `folder`.

    `source` and `target` are two files whose lines are each other's translations; one
    .tsv or .jsonl file may hold both. Several corpora are given as lists, and with
    `weights` each of them gets its share of what is learned from. A run may
    `start_from` another model's folder, and then takes over all of it but its data.
    What `settings` say goes before the file `config`, and that before the preset.
    The tasks "lm" and "mlm" make language models from running `text` instead.
    Called again, it goes on where it stopped; with `allow_changed` even on other data,
    settings, threads, processes or kernels. A corpus of which more than a tenth is
    dropped (duplicates not counted) is refused unless `allow_dropped`.
    """
    _check_arguments(
        {
            "folder": folder,
            "valid_source": valid_source,
            "valid_target": valid_target,
            "valid_text": valid_text,
            "start_from": start_from,
            "config": config,
        },
        settings,
    )
    check_flags(
        tensorboard=tensorboard,
        quiet=quiet,
        allow_changed=allow_changed,
        allow_dropped=allow_dropped,
    )
    if valid_source is None and valid_target is not None:
        raise ConfigError("a validation target needs a validation source: give both")
    if start_from is not None and preset is not None:
        raise ConfigError(
            f"the preset {preset!r} was asked for, but the settings come from "
            f"{start_from}: leave the preset out, or do not start from a model"
        )
    settings = (read_settings(Path(config)) if config else {}) | dict(settings or {})
    refuse_unfit_files(task, pairs=(source, valid_source), text=(text, valid_text))
    if task in KINDS:
        corpora = text_corpora(text)
        settings |= {"model.kind": KINDS[task]}
        valid_source, valid_target = valid_text, None
    else:
        corpora = list_corpora(source or (), target, weights)
    chosen = choose_device(device)
    with joined(chosen) as processes:
        request = Request(
            folder=Path(folder),
            corpora=corpora,
            task=task,
            valid=None if valid_source is None else _corpus(valid_source, valid_target),
            preset=preset,
            budget=Budget(steps, epochs, minutes),
            settings=settings,
            tensorboard=tensorboard,
            quiet=quiet or not processes.first,
            device=processes.place(chosen),
            processes=processes,
            allow_changed=allow_changed,
            allow_dropped=allow_dropped,
            start=_starting_point(start_from, folder),
        )
        progress = ProgressBar(quiet=request.quiet)
        try:
            with only_run_in(request.folder) if processes.first else nullcontext():
                return _carry_out(request, progress)
        finally:
            progress.close()


def _check_arguments(
    paths: Mapping[str, object], settings: Mapping[str, Any] | None
) -> None:
    for name, path in paths.items():
        if path is not None or name == "folder":
            check_path(name, path)
    if settings is not None:
        check_is("settings", settings, Mapping, "a mapping of section.key to value")


def _starting_point(
    model: str | Path | None, folder: str | Path
) -> StartingPoint | None:
    return None if model is None else StartingPoint.load(Path(model), Path(folder))


def _corpus(source: str | Path, target: str | Path | None) -> Corpus:
    return Corpus(Path(source), None if target is None else Path(target))


def _carry_out(request: Request, progress: ProgressBar) -> TrainingResult:
    """Prepare, learn, average, save."""
    processes = request.processes
    earlier = read_record(request.folder) if processes.first else None
    settled = _settle(request, earlier, progress)
    config = settled.config
    budget = request.budget
    if not budget.given:
        budget = Budget(steps=config.training.max_steps)
    prepared = prepare_everywhere(request, config, earlier)
    started_from = None if request.start is None else request.start.fingerprint
    record = RunRecord(
        config,
        prepared.store.fingerprint,
        budget,
        started_from=started_from,
        speed=settled.speed,
    )
    if processes.tell(earlier is not None and _is_done(request, earlier, budget)):
        progress.say(f"{request.folder} is trained: give a larger budget to go on")
        steps, seconds = (earlier.steps, earlier.seconds) if earlier else (0, 0.0)
        return TrainingResult(
            request.folder, Ending.BUDGET, steps, seconds, None, rank=processes.rank
        )
    with chosen_kernels(config.training, request.device, progress.say):
        trainer, ending = _learn(request, record, prepared, progress)
    state = trainer.state
    result = TrainingResult(
        request.folder, ending, state.step, state.seconds, None, rank=processes.rank
    )
    if ending is Ending.INTERRUPTED:
        _say_how_to_go_on(trainer, progress)
        return replace(result, signal=trainer.stopped_by)
    if processes.first:
        validation = finish(
            request.folder,
            trainer,
            prepared,
            config,
            ending,
            _command(),
            request.corpora,
            request.start,
        )
        done = replace(record, finished=True, steps=state.step, seconds=state.seconds)
        done.write(request.folder)
        result = replace(result, validation=validation)
        behind = trainer.pace.outcome(state.step, state.seconds)
        if behind is not None:
            progress.warn(behind)
    processes.wait()
    return result


def _settle(
    request: Request, earlier: RunRecord | None, progress: ProgressBar
) -> Settled:
    """Agree on the settings, refuse what cannot be done, and make ready for it."""
    settled = agree_on_settings(request, earlier, progress)
    config = settled.config
    threads = request.processes.threads(config.training.threads)
    if threads:
        torch.set_num_threads(threads)
    keep_freed_memory()
    refuse_precision(config.training.precision, request.device)
    refuse_other_task(config, request.task)
    _refuse_batch_norm(config, request.processes.count)
    return settled


def _learn(
    request: Request, record: RunRecord, prepared: Prepared, progress: ProgressBar
) -> tuple[Trainer, Ending]:
    """Build the model and train it until the budget is spent or someone stops it."""
    config, processes = record.config, request.processes
    torch.manual_seed(config.training.seed)
    with memory_advice(config.training, "the model itself"):
        model = build_for(config, prepared.tokenizers)
        # The first process also validates, with the whole model.
        if processes.first or not processes.shards(config.training.sharding):
            model = model.to(request.device)
    if request.start is not None:
        request.start.give_weights(model)
    processes.seed(config.training.seed)
    with Interruption() as interruption:
        with memory_advice(config.training, "the optimizer's state"):
            trainer = assemble(request, record, prepared, model, progress, interruption)
        if processes.first:
            record.write(request.folder)
        try:
            with memory_advice(config.training, "an update"), only_new_garbage():
                return trainer, trainer.run()
        finally:
            if trainer.metrics is not None:
                trainer.metrics.close()


def _refuse_batch_norm(config: Config, processes: int) -> None:
    if config.model.norm_kind == "batch" and processes > 1:
        raise ConfigError(
            "model.norm_kind = 'batch' would learn other statistics in each of "
            f"{processes} processes: train in one, or choose layer or rms"
        )


def _is_done(request: Request, earlier: RunRecord, budget: Budget) -> bool:
    return earlier.finished and earlier.budget == budget and is_whole(request.folder)


def _say_how_to_go_on(trainer: Trainer, progress: ProgressBar) -> None:
    name = signal.Signals(trainer.stopped_by or signal.SIGINT).name
    progress.say(
        f"stopped by {name} and saved after update {trainer.state.step:,}: "
        "run the same command again to go on"
    )


def _command() -> str:
    """Give the command that made the model, for its card."""
    if Path(sys.argv[0]).name in ("dragoman", "__main__.py"):
        return shlex.join(["dragoman", *sys.argv[1:]])
    return "dragoman.train(...), called from Python"
