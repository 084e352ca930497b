"""Toy tasks whose answer is known, and a short way to learn them.

The model, the loss, the optimizer and the schedule are those of real training; only
the sentences are made up, so that any length can be had in any number.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch

from dragoman.config import Config, load_preset
from dragoman.data.batching import Batch, make_batch
from dragoman.model.build import build_model
from dragoman.model.network import TranslationNetwork
from dragoman.special_tokens import NAMES, PAD
from dragoman.training.objective import Objective
from dragoman.training.optimizer import Optimizer
from dragoman.training.schedule import Schedule

SYMBOLS = 16
VOCABULARY = len(NAMES) + SYMBOLS

Task = Literal["copy", "first word"]


def toy_config(settings: Mapping[str, Any]) -> Config:
    """Give settings with which a small model learns a toy task in seconds."""
    small = {
        "model.d_model": 64,
        "model.d_ff": 128,
        "model.num_heads": 4,
        "model.num_encoder_layers": 2,
        "model.num_decoder_layers": 2,
        "model.dropout": 0.0,
        "model.positions": "sinusoidal",
        "training.label_smoothing": 0.0,
    }
    return load_preset("fast").with_settings({**small, **settings})


def toy_batch(task: Task, length: int, rows: int, random: np.random.Generator) -> Batch:
    """Make random sentences of one length, and what the task wants of each."""
    words = random.integers(len(NAMES), VOCABULARY, (rows, length))
    wanted = words if task == "copy" else words[:, :1]
    return make_batch(list(words), list(wanted))


def toy_batches(task: Task, lengths: range, tokens: int, seed: int) -> Iterator[Batch]:
    """Make batches without end, each of a random length and about so many tokens."""
    random = np.random.default_rng(seed)
    while True:
        length = int(random.integers(lengths.start, lengths.stop))
        yield toy_batch(task, length, max(1, tokens // length), random)


@dataclass(frozen=True)
class Learned:
    """A model that was taught a task."""

    model: TranslationNetwork
    losses: tuple[float, ...]  # per target token, one for each update


def learn(config: Config, batches: Iterator[Batch], steps: int, seed: int) -> Learned:
    """Teach a new model for so many updates."""
    torch.manual_seed(seed)
    model = build_model(config.model, VOCABULARY).train()
    objective = Objective(model, config.training)
    optimizer = Optimizer(model, config.training)
    schedule = Schedule(config.training, config.model.d_model, annealed=True)
    losses = []
    for step in range(1, steps + 1):
        loss = objective(next(batches))
        (loss.smoothed / loss.tokens).backward()
        optimizer.clip()
        optimizer.step(schedule.rate(step, step / (steps + 1)))
        optimizer.forget_gradients()
        losses.append(float(loss.plain) / loss.tokens)
    return Learned(model.eval(), tuple(losses))


@torch.no_grad()
def accuracy(learned: Learned, batch: Batch) -> float:
    """Give the share of target words, END aside, that the model finds most probable.

    It is told the words before each, so that one mistake does not bring the next.
    """
    guessed = learned.model(batch.source, batch.target_in).argmax(dim=-1)
    words = (batch.target_out != PAD) & (batch.target_out >= len(NAMES))
    return float((guessed == batch.target_out)[words].double().mean())
