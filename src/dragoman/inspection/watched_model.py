"""A model that answers a search as it always does, and notes what it was asked."""

from dataclasses import dataclass, field
from typing import Any, Self

from torch import Tensor

from dragoman.decoding.choices import (
    Choices,
    likeliest_tokens,
    next_log_probabilities,
)
from dragoman.decoding.rules import Live
from dragoman.inspection.wrapped_model import AnyModel, WrappedModel

ROOT = 0


@dataclass
class SearchLog:
    """Every hypothesis that a search let grow, in the order in which it asked."""

    parents: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    choices: list[Choices] = field(default_factory=list)  # what could follow each

    def add(self, parent: int, token: int, choices: Choices) -> int:
        """Note one hypothesis and what could follow it; give its number."""
        self.parents.append(parent)
        self.tokens.append(token)
        self.choices.append(choices)
        return len(self.tokens) - 1


@dataclass(frozen=True)
class WatchedState:
    """A decoder's state, and which noted hypothesis each of its rows is."""

    inner: Any
    rows: tuple[int, ...]

    def reorder(self, indices: Tensor) -> Self:
        """Keep the rows named by `indices`, in that order; a row may be repeated."""
        rows = tuple(self.rows[index] for index in indices.tolist())
        return type(self)(self.inner.reorder(indices), rows)


class WatchedModel(WrappedModel):
    """Any model that keeps the contract, one sentence at a time, watched."""

    def __init__(self, model: AnyModel, num_choices: int) -> None:
        super().__init__(model)
        self.num_choices = num_choices
        self.log = SearchLog()

    def encode(self, source: Tensor) -> Any:  # noqa: ANN401
        """Read the one source sentence."""
        assert len(source) == 1, "one sentence is watched at a time"
        return self.model.encode(source)

    def start(self, memory: Any) -> WatchedState:  # noqa: ANN401
        """Make the decoder's state before the first token."""
        return WatchedState(self.model.start(memory), (ROOT,))

    def step(
        self, last_tokens: Tensor, state: WatchedState
    ) -> tuple[Tensor, WatchedState]:
        """Give the model's own answer, and note question and answer."""
        logits, inner = self.model.step(last_tokens, state.inner)
        choices = likeliest_tokens(
            next_log_probabilities(logits),
            self.num_choices,
            (),
            Live.first(len(logits)),
        )
        rows = [
            self.log.add(parent, token, Choices(tokens, log_probabilities))
            for parent, token, tokens, log_probabilities in zip(
                state.rows,
                last_tokens.tolist(),
                choices.tokens,
                choices.log_probabilities,
                strict=True,
            )
        ]
        return logits, WatchedState(inner, tuple(rows))
