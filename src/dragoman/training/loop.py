"""The training loop: take a batch, learn from it, now and then validate and save."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from enum import Enum

import torch
from torch import Tensor, nn

from dragoman.config import TrainingConfig
from dragoman.data.batching import Batch
from dragoman.data.sampler import Position
from dragoman.errors import TrainingError
from dragoman.model.network import TranslationNetwork
from dragoman.model.weights import get_weights, set_weights
from dragoman.training.batch_growth import BatchGrowth
from dragoman.training.batch_source import Delivery
from dragoman.training.budget import Budget
from dragoman.training.checkpoints import Checkpoint, Checkpoints, step_of
from dragoman.training.circumstances import Circumstances
from dragoman.training.debug_batch import DebugBatch
from dragoman.training.distributed import Processes, accumulating, whole
from dragoman.training.dropout_growth import DropoutGrowth
from dragoman.training.guards import Guard, refusal
from dragoman.training.interruption import Interrupted, Interruption
from dragoman.training.loss_scale import LossScale
from dragoman.training.metrics import MetricsLog
from dragoman.training.optimizer import Optimizer
from dragoman.training.pace import Pace
from dragoman.training.progress import ProgressBar, Speedometer
from dragoman.training.randomness import (
    own_states,
    random_states,
    restore_random_states,
    take_up,
)
from dragoman.training.run_state import RunState
from dragoman.training.schedule import Schedule
from dragoman.training.validation import Validation, describe_validation


class Ending(Enum):
    """Why a run came to its end."""

    BUDGET = "the budget is spent"
    PATIENCE = "validation no longer improves"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Update:
    """What one update measured."""

    loss: float  # per target token, with label smoothing
    plain_loss: float  # per target token, without
    accuracy: float
    gradient_norm: float
    rate: float
    tokens: int

    @property
    def finite(self) -> bool:
        """Whether it can be learned from."""
        return math.isfinite(self.loss) and math.isfinite(self.gradient_norm)


@dataclass
class Trainer:
    """Everything a run needs, put together; `run` is the run.

    Each process of a run has its own, and all of them go through the same steps.
    """

    model: TranslationNetwork
    objective: nn.Module  # from a batch to its Loss
    processes: Processes
    optimizer: Optimizer
    schedule: Schedule
    dropout: DropoutGrowth
    batch_growth: BatchGrowth
    settings: TrainingConfig
    budget: Budget
    batches_per_epoch: int
    batches: Callable[[Position], Iterator[Delivery]]
    validate: Callable[[], Validation] | None
    checkpoints: Checkpoints
    metrics: MetricsLog | None  # the first process has one
    progress: ProgressBar
    interruption: Interruption
    guard: Guard
    circumstances: Circumstances
    pace: Pace
    state: RunState = field(default_factory=RunState)
    speedometer: Speedometer = field(default_factory=Speedometer)
    stopped_by: int | None = None  # the signal on which all processes agreed
    began: float = 0.0  # when the clock would have stood at zero

    def __post_init__(self) -> None:
        self.scale = LossScale(self.settings.precision)

    @property
    def device(self) -> torch.device:
        """Where learning takes place."""
        return next(iter(self.optimizer.parameters.values())).device

    def run(self) -> Ending:
        """Learn until the budget is spent, patience runs out or someone stops it."""
        self.began = time.monotonic() - self.state.seconds
        self.pace.start(self.state.seconds)
        self.objective.train()
        if self.state.unvalidated:
            self._validate_and_save()
        batches = self.batches(self.state.position)
        for parts, after in self.batch_growth.gather(batches, self._progress):
            tokens = self._agree(parts)
            if self.stopped_by:
                return self._end(Ending.INTERRUPTED)
            if self._progress() >= 1:
                return self._end(Ending.BUDGET)
            update = self._update(parts, tokens)
            self.state.step += 1
            self.state.epoch, self.state.batch = after.epoch, after.batch
            self._note(update)
            self._watch(update)
            self._validate_and_save()
            if self._out_of_patience():
                return self._end(Ending.PATIENCE)
        raise AssertionError("batches never end by themselves")

    def restore(self, checkpoint: Checkpoint | None) -> None:
        """Go on exactly where a checkpoint was written, which the first process has."""
        state, weights, tensors = None, None, None
        if checkpoint is not None:
            state, weights = dict(checkpoint.state), checkpoint.weights
            tensors = checkpoint.optimizer
        hand_out = self.processes.hand_out
        self.optimizer.set_weights(hand_out(self.optimizer.weights(), weights))
        self.optimizer.load(hand_out(self.optimizer.state(), tensors))
        self.scale.load(hand_out(self.scale.state(), tensors))
        restore_random_states(self.processes, self.device, tensors)
        self.state = RunState.from_dict(self.processes.tell(state))

    def save(self, *, best: bool = False, averaged: bool = True) -> None:
        """Write a checkpoint of this moment."""
        state = self.state.to_dict()
        state["circumstances"] = self.circumstances.to_dict()
        optimizer = self.optimizer.state().items()
        tensors = {
            **{name: whole(tensor) for name, tensor in optimizer},
            **self.scale.state(),
            **random_states(self.processes, self.device),
        }
        self.collect()
        weights = get_weights(self.model)
        if self.processes.first:
            self.checkpoints.save(
                Checkpoint(self.state.step, weights, tensors, state, averaged, best)
            )

    def collect(self) -> None:
        """Bring what was learned into the model, where processes hold slices of it."""
        if self.processes.shards(self.settings.sharding):
            learned = self.optimizer.weights().items()
            set_weights(self.model, {name: whole(weight) for name, weight in learned})

    def _agree(self, parts: list[Batch]) -> int:
        """Count the update's tokens over all processes, which also agree when to end.

        One clock, the first's, decides on the budget; a signal to any stops them all.
        """
        tokens = sum(part.num_target_tokens for part in parts)
        told = self.processes.exchange(
            tokens, self.interruption.signal or 0, time.monotonic() - self.began
        )
        self.stopped_by = int(told[:, 1].max()) or None
        self.state.seconds = float(told[0, 2])
        return int(told[:, 0].sum())

    def _update(self, parts: list[Batch], tokens: int) -> Update:
        """Learn from one batch, in parts that together count as one."""
        progress = self._progress()
        rate = self.schedule.rate(self.state.step + 1, progress)
        self.dropout.set(progress)
        chance = own_states(self.device)
        sums = torch.zeros(3, dtype=torch.float64)
        for number, part in enumerate(parts, 1):
            with accumulating(self.objective, last=number == len(parts)):
                loss = self.objective(part, progress)
                # Where several processes learn, their gradients are averaged.
                factor = self.scale.value * self.processes.count
                (loss.smoothed * factor / tokens).backward()
            sums += loss.sums()
        told = self.processes.exchange(*sums.tolist(), time.monotonic() - self.began)
        smoothed, plain, correct, _ = told.sum(dim=0).tolist()
        self.state.seconds = float(told[0, 3])
        self.scale.undo(self.optimizer.parameters.values())
        norm = self.optimizer.clip()
        update = Update(
            smoothed / tokens, plain / tokens, correct / tokens, norm, rate, tokens
        )
        if update.finite:
            self.optimizer.step(rate)
            self.scale.succeeded()
            self.state.skipped_in_a_row = 0
        self.optimizer.forget_gradients()
        if not update.finite and not self._overflowed(update):
            self._refuse(update, parts, chance, progress)
        return update

    def _overflowed(self, update: Update) -> bool:
        """Say whether float16 is to blame, whose loss is then scaled less."""
        return math.isfinite(update.loss) and self.scale.lowered()

    def _refuse(
        self,
        update: Update,
        parts: list[Batch],
        chance: dict[str, Tensor],
        progress: float,
    ) -> None:
        """Keep a batch that gave no number; end the run, unless it is to be skipped."""
        step, state = self.state.step + 1, self.state
        state.skipped_in_a_row += 1
        self.collect()
        kept = self.guard.keep(
            DebugBatch(
                step,
                progress,
                self.circumstances.threads,
                self.circumstances.kernels,
                parts,
                get_weights(self.model),
                chance,
            )
        )
        what = "gradient" if math.isfinite(update.loss) else "loss"
        if self.guard.skips(state.skipped_in_a_row):
            self._warn(f"update {step:,} was skipped: its {what} is not finite; {kept}")
            return
        in_a_row, state.skipped_in_a_row = state.skipped_in_a_row, 0
        if state.step:
            take_up(chance)  # as if the update had not been tried
            self.save(averaged=False)
            self.processes.wait()
        raise TrainingError(refusal(what, step, kept, state.step > 0, in_a_row))

    def _warn(self, line: str) -> None:
        if self.processes.first:
            self.progress.warn(line)

    def _progress(self) -> float:
        state = self.state
        passes = state.passes(self.batches_per_epoch)
        return self.budget.progress(state.step, state.seconds, passes)

    def _note(self, update: Update) -> None:
        if self.metrics is None:
            return
        state, progress = self.state, self._progress()
        speed = self.speedometer.after(update.tokens)
        behind = self.pace.after(update.tokens, state.step, state.seconds)
        if behind is not None:
            self._warn(behind)
        clock = {
            "epoch": state.passes(self.batches_per_epoch),
            "seconds": round(state.seconds, 3),
        }
        if not update.finite:  # JSON has no words for such numbers
            self.metrics.write("skipped", state.step, clock)
            return
        self.metrics.write(
            "train",
            state.step,
            {**clock, **asdict(update), "tokens_per_second": speed},
        )
        self.progress.show(
            step=state.step,
            progress=progress,
            loss=update.plain_loss,
            tokens_per_second=speed,
            rate=update.rate,
            seconds_left=state.seconds * (1 - progress) / max(progress, 1e-9),
        )

    def _watch(self, update: Update) -> None:
        """Say once that the run diverges, and end it if the settings ask for that."""
        margin, state = self.settings.divergence, self.state
        if (
            not margin
            or not update.finite
            or not state.level.diverges(update.plain_loss, state.step, margin)
        ):
            return
        good = [
            path.name
            for path in self.checkpoints.saved()
            if step_of(path) <= state.level.lowest_step
        ]
        back = f"{good[-1]} is from before" if good else "no checkpoint is from before"
        line = (
            f"{state.level.describe()} ({back}): lower training.learning_rate or "
            "lengthen the warm-up"
        )
        if self.settings.on_divergence == "stop":
            raise TrainingError(line)
        self._warn(line)

    def _validate_and_save(self) -> None:
        """Validate and save where one or the other is due."""
        improved = self._due(self.settings.valid_every) and self._validate()
        if improved or self._due(self.settings.save_every):
            self.save(best=improved)

    def _validate(self) -> bool:
        """Validate, and say whether it is the best so far."""
        if self.validate is None:
            return False
        self.collect()
        result = self._uninterrupted_validation() if self.processes.first else None
        told = self.processes.tell(None if result is None else asdict(result))
        self.state.unvalidated = told is None
        if told is None:
            return False
        result, state = Validation(**told), self.state
        improved = result.loss < state.best_loss
        state.best_loss = min(result.loss, state.best_loss)
        state.validations_since_best += 1
        if improved:
            state.validations_since_best = 0
        if self.metrics is not None:
            self.metrics.write("valid", state.step, result.to_dict())
        self.progress.say(f"step {state.step:,}  {describe_validation(result)}")
        return improved

    def _uninterrupted_validation(self) -> Validation | None:
        """Validate, which may take long: a signal breaks it off, to be repeated."""
        assert self.validate is not None, "there is text to validate on"
        try:
            with self.interruption.at_once():
                return self.validate()
        except Interrupted:
            return None

    def _due(self, every: int) -> bool:
        return self.state.step % every == 0

    def _out_of_patience(self) -> bool:
        patience = self.settings.patience
        return 0 < patience <= self.state.validations_since_best

    def _end(self, ending: Ending) -> Ending:
        self.save(averaged=ending is not Ending.INTERRUPTED)
        self.processes.wait()  # torchrun stops all as soon as one has left
        return ending
