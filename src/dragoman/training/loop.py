"""The training loop: take a batch, learn from it, now and then validate and save."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from enum import Enum

import torch

from dragoman.config import TrainingConfig
from dragoman.data.batching import Batch
from dragoman.data.sampler import Position
from dragoman.errors import TrainingError
from dragoman.model.transformer import Transformer
from dragoman.model.weights import get_weights, set_weights
from dragoman.training.budget import Budget
from dragoman.training.checkpoints import Checkpoint, Checkpoints
from dragoman.training.interruption import Interruption
from dragoman.training.loss import translation_loss
from dragoman.training.metrics import MetricsLog
from dragoman.training.optimizer import Optimizer
from dragoman.training.progress import ProgressBar, Speedometer
from dragoman.training.schedule import Schedule
from dragoman.training.validation import Validation, describe_validation

RANDOM_STATE = "random_state"
GPU_RANDOM_STATE = "gpu_random_state"


class Ending(Enum):
    """Why a run came to its end."""

    BUDGET = "the budget is spent"
    PATIENCE = "validation no longer improves"
    INTERRUPTED = "interrupted"


@dataclass
class RunState:
    """Where the run stands; what a checkpoint keeps besides tensors."""

    step: int = 0
    epoch: int = 0
    batch: int = 0
    seconds: float = 0.0
    best_loss: float = math.inf
    validations_since_best: int = 0

    @property
    def position(self) -> Position:
        """The next batch to take."""
        return Position(self.epoch, self.batch)


@dataclass(frozen=True)
class Update:
    """What one update measured."""

    loss: float  # per target token, with label smoothing
    plain_loss: float  # per target token, without
    accuracy: float
    gradient_norm: float
    rate: float
    tokens: int


@dataclass
class Trainer:
    """Everything a run needs, put together; `run` is the run."""

    model: Transformer
    optimizer: Optimizer
    schedule: Schedule
    settings: TrainingConfig
    budget: Budget
    steps_per_epoch: int
    batches: Callable[[Position], Iterator[tuple[list[Batch], Position]]]
    validate: Callable[[], Validation] | None
    checkpoints: Checkpoints
    metrics: MetricsLog
    progress: ProgressBar
    interruption: Interruption
    state: RunState = field(default_factory=RunState)
    speedometer: Speedometer = field(default_factory=Speedometer)

    def run(self) -> Ending:
        """Learn until the budget is spent, patience runs out or someone stops it."""
        earlier, began = self.state.seconds, time.monotonic()
        self.model.train()
        for parts, after in self.batches(self.state.position):
            self.state.seconds = earlier + time.monotonic() - began
            if self._progress() >= 1:
                return self._end(Ending.BUDGET)
            update = self._update(parts)
            self.state.step += 1
            self.state.epoch, self.state.batch = after.epoch, after.batch
            self.state.seconds = earlier + time.monotonic() - began
            self._note(update)
            improved = self._due(self.settings.valid_every) and self._validate()
            if improved or self._due(self.settings.save_every):
                self.save(best=improved)
            if self.interruption.requested and self._progress() < 1:
                return self._end(Ending.INTERRUPTED)
            if self._out_of_patience():
                return self._end(Ending.PATIENCE)
        raise AssertionError("batches never end by themselves")

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go on exactly where a checkpoint was written."""
        set_weights(self.model, checkpoint.weights)
        tensors = dict(checkpoint.optimizer)
        torch.set_rng_state(tensors.pop(RANDOM_STATE))
        if GPU_RANDOM_STATE in tensors:
            torch.cuda.set_rng_state(tensors.pop(GPU_RANDOM_STATE))
        self.optimizer.load(tensors)
        known = asdict(RunState())
        kept = {key: checkpoint.state[key] for key in known}
        kept["best_loss"] = math.inf if kept["best_loss"] is None else kept["best_loss"]
        self.state = RunState(**kept)

    def save(self, *, best: bool = False, averaged: bool = True) -> None:
        """Write a checkpoint of this moment."""
        state = asdict(self.state)
        if math.isinf(state["best_loss"]):
            state["best_loss"] = None  # JSON has no infinity
        tensors = self.optimizer.state() | {RANDOM_STATE: torch.get_rng_state()}
        if self.model.output_weight.is_cuda:
            tensors[GPU_RANDOM_STATE] = torch.cuda.get_rng_state()
        weights = get_weights(self.model)
        checkpoint = Checkpoint(self.state.step, weights, tensors, state, averaged)
        self.checkpoints.save(checkpoint, best=best)

    def _update(self, parts: list[Batch]) -> Update:
        """Learn from one batch, in parts that together count as one."""
        rate = self.schedule.rate(self.state.step + 1, self._progress())
        tokens = sum(part.num_target_tokens for part in parts)
        smoothed = plain = correct = 0.0
        for part in parts:
            features = self.model.features(part.source, part.target_in)
            loss = translation_loss(
                features,
                self.model.output_weight,
                part.target_out,
                self.settings.label_smoothing,
            )
            (loss.smoothed / tokens).backward()
            smoothed += float(loss.smoothed.detach())
            plain += float(loss.plain)
            correct += float(loss.correct)
        norm = self.optimizer.clip()
        if not math.isfinite(smoothed) or not math.isfinite(norm):
            raise TrainingError(
                f"the loss or its gradient is not a number at update "
                f"{self.state.step + 1}: lower training.learning_rate (the last "
                f"checkpoint in {self.checkpoints.folder} is unharmed)"
            )
        self.optimizer.step(rate)
        self.optimizer.forget_gradients()
        return Update(
            smoothed / tokens, plain / tokens, correct / tokens, norm, rate, tokens
        )

    def _progress(self) -> float:
        return self.budget.progress(
            self.state.step, self.state.seconds, self.steps_per_epoch
        )

    def _note(self, update: Update) -> None:
        state, progress = self.state, self._progress()
        speed = self.speedometer.after(update.tokens)
        self.metrics.write(
            "train",
            state.step,
            {
                "epoch": state.step / self.steps_per_epoch,
                "seconds": round(state.seconds, 3),
                **asdict(update),
                "tokens_per_second": speed,
            },
        )
        self.progress.show(
            step=state.step,
            progress=progress,
            loss=update.plain_loss,
            tokens_per_second=speed,
            rate=update.rate,
            seconds_left=state.seconds * (1 - progress) / max(progress, 1e-9),
        )

    def _validate(self) -> bool:
        """Validate, and say whether it is the best so far."""
        if self.validate is None:
            return False
        result = self.validate()
        state = self.state
        improved = result.loss < state.best_loss
        state.best_loss = min(result.loss, state.best_loss)
        state.validations_since_best += 1
        if improved:
            state.validations_since_best = 0
        self.metrics.write("valid", state.step, result.to_dict())
        self.progress.say(f"step {state.step:,}  {describe_validation(result)}")
        return improved

    def _due(self, every: int) -> bool:
        return self.state.step % every == 0

    def _out_of_patience(self) -> bool:
        patience = self.settings.patience
        return 0 < patience <= self.state.validations_since_best

    def _end(self, ending: Ending) -> Ending:
        self.save(averaged=ending is not Ending.INTERRUPTED)
        return ending
