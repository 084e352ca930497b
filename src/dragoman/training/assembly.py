"""The parts of a run, put together."""

import copy

from dragoman.config import TrainingConfig
from dragoman.model.network import TranslationNetwork
from dragoman.training.batch_growth import BatchGrowth
from dragoman.training.batch_source import BatchSource
from dragoman.training.check import check_table
from dragoman.training.checkpoints import Checkpoints
from dragoman.training.circumstances import Circumstances, going_on_under
from dragoman.training.compilation import compile_layers
from dragoman.training.dropout_growth import DropoutGrowth
from dragoman.training.guards import Guard
from dragoman.training.interruption import Interruption
from dragoman.training.loop import Trainer
from dragoman.training.metrics import MetricsLog
from dragoman.training.objective import Objective
from dragoman.training.optimizer import Optimizer
from dragoman.training.pace import LEFT_BY_OPTIMIZER, Pace
from dragoman.training.preparation import Prepared
from dragoman.training.progress import ProgressBar
from dragoman.training.request import Request
from dragoman.training.run_record import RunRecord
from dragoman.training.schedule import Schedule
from dragoman.training.trial import try_out
from dragoman.training.validation import Validator


def assemble(
    request: Request,
    record: RunRecord,
    prepared: Prepared,
    model: TranslationNetwork,
    progress: ProgressBar,
    interruption: Interruption,
) -> Trainer:
    """Put the parts of a run together, and go on where an earlier one stopped."""
    config, processes = record.config, request.processes
    settings = config.training
    source = BatchSource(
        prepared.store, prepared.tokenizers, config, request.device, processes
    )
    checkpoints = Checkpoints(
        request.folder / "checkpoints", keep=max(2, settings.average_last)
    )
    circumstances = Circumstances.now(
        prepared.store.fingerprint, config, processes.count
    )
    newest = None
    if processes.first:
        newest = going_on_under(
            circumstances,
            checkpoints.latest(progress.warn),
            allow_changed=request.allow_changed,
            warn=progress.warn,
        )
    step = processes.tell(newest.step if newest is not None else None)
    learner = _learner(model, request, settings)
    objective = processes.spread(Objective(learner, settings), settings.sharding)
    optimizer = Optimizer(learner, settings)
    tried = try_out(objective, source.largest(), settings)
    trainer = Trainer(
        model=model,
        objective=objective,
        processes=processes,
        optimizer=optimizer,
        schedule=Schedule(settings, config.model.d_model, request.budget.given),
        dropout=DropoutGrowth(learner, settings.dropout_growth),
        batch_growth=BatchGrowth(settings.batch_growth),
        settings=settings,
        budget=record.budget,
        batches_per_epoch=prepared.report.batches_per_epoch,
        batches=source.batches,
        validate=Validator.build(model, prepared, config, optimizer.average),
        checkpoints=checkpoints,
        metrics=MetricsLog(
            request.folder / "metrics.jsonl",
            resume_after=step or 0,
            tensorboard=request.tensorboard,
        )
        if processes.first
        else None,
        progress=progress,
        interruption=interruption,
        guard=Guard(request.folder, settings, processes.rank),
        circumstances=circumstances,
        pace=Pace(
            record.budget.minutes,
            record.speed or LEFT_BY_OPTIMIZER * processes.count / tried,
            circumstances.threads,
        ),
    )
    progress.say(check_table(prepared, objective, source, config, tried))
    if step is not None:
        trainer.restore(newest)
        progress.say(f"going on after update {step:,}")
    return trainer


def _learner(
    model: TranslationNetwork, request: Request, settings: TrainingConfig
) -> TranslationNetwork:
    """Give what learns: the model itself, or a twin that is then cut into slices."""
    learner = model
    if request.processes.shards(settings.sharding):
        learner = copy.deepcopy(model).to(request.device)
    if settings.compile:
        compile_layers(learner)
    return learner
