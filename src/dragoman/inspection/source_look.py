"""How a recurrent decoder looks at the source: one share of each word, per state."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from dragoman.inspection.attention import Recipe, settle
from dragoman.model.recurrent import RecurrentModel
from dragoman.model.source_attention import SourceAttention

# A look is one head of one layer, whose scores are not divided by √d_k.
LOOK = Recipe(scaling=False)


@dataclass(frozen=True)
class SourceLook:
    """The attention of a recurrent model, as it ran on one sentence."""

    states: Tensor  # (target_length, d_model): what the decoder looks from
    words: Tensor  # (source_length, d_model): what it looks at
    scores: Tensor  # (target_length, source_length): how well they fit
    weights: Tensor  # (target_length, source_length); each row sums to 1
    contexts: Tensor  # (target_length, d_model): what the model's own kernel gave
    w_context: Tensor = field(repr=False)  # (d_model, d_model): what reads a context

    @cached_property
    def value_norms(self) -> Tensor:
        """How much each word really gives each state (target_length, source_length)."""
        moved: Tensor = (self.words @ self.w_context).norm(dim=-1)  # (source_length)
        return self.weights * moved

    @cached_property
    def largest_error(self) -> float:
        """The largest |shown − model| over the context vectors."""
        return float((self.weights @ self.words - self.contexts).abs().max())


@dataclass
class RecurrentLog:
    """What hooks saw of a recurrent model; of others, nothing."""

    memory: list[Tensor] = field(default_factory=list)
    looks: list[SourceLook] = field(default_factory=list)


@contextmanager
def watched_look(model: nn.Module, recipe: Recipe = LOOK) -> Iterator[RecurrentLog]:
    """Note what a recurrent encoder gives, and where the decoder looks by a recipe."""
    log = RecurrentLog()

    def read(module: nn.Module, inputs: Any, output: Any) -> None:  # noqa: ANN401
        del module, inputs
        log.memory.append(_first(output[0]))

    def look(module: Any, inputs: tuple[Any, ...], output: Tensor) -> None:  # noqa: ANN401
        states, keys, words, mask = inputs
        scores = look_scores(module, states, keys, mask, recipe)
        seen = SourceLook(
            states=_first(states),
            words=_first(words),
            scores=_first(scores),
            weights=_first(scores.softmax(dim=-1)),
            contexts=_first(output),
            w_context=_reads_context(model),
        )
        log.looks.append(seen)

    with ExitStack() as hooks:
        if isinstance(model, RecurrentModel):
            hooks.callback(model.encoder.register_forward_hook(read).remove)
            if model.attention is not None:
                hooks.callback(model.attention.register_forward_hook(look).remove)
        yield log


@contextmanager
def changed_look(model: nn.Module, recipe: Recipe) -> Iterator[None]:
    """Let a recurrent decoder look by a recipe inside the block; no other does."""

    def change(module: Any, inputs: tuple[Any, ...], output: Tensor) -> Tensor:  # noqa: ANN401
        del output
        states, keys, words, mask = inputs
        scores = look_scores(module, states, keys, mask, recipe)
        looked: Tensor = scores.softmax(dim=-1) @ words
        return looked

    with ExitStack() as hooks:
        if (
            recipe != LOOK
            and isinstance(model, RecurrentModel)
            and model.attention is not None
        ):
            hooks.callback(model.attention.register_forward_hook(change).remove)
        yield


def look_scores(
    attention: SourceAttention,
    states: Tensor,
    keys: Tensor,
    mask: Tensor,
    recipe: Recipe,
) -> Tensor:
    """Give the scores (batch, state, source_length) by a recipe, masked."""
    one_head = attention.scores(states, keys)[:, None]
    return settle(one_head, mask[:, None], recipe)[:, 0]


def _reads_context(model: nn.Module) -> Tensor:
    """Give the half of W in tanh(W [context; state]) that reads the context."""
    assert isinstance(model, RecurrentModel)
    assert model.joined is not None
    weight = model.joined.linear.weight.detach()
    return weight[:, : weight.shape[1] // 2].T.to("cpu", torch.float32)


def _first(tensor: Tensor) -> Tensor:
    """Take away the batch of one."""
    return tensor[0].detach().to("cpu", torch.float32, copy=True)
