"""What there is to see of one run of any model, and what can be done to it."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Self, get_args

import torch
from torch import Tensor

from dragoman.arguments import check_choice, check_whole
from dragoman.errors import InspectionError
from dragoman.inspection.attention import KINDS, Attention, Kind
from dragoman.inspection.attention_figure import (
    AttentionPicture,
    draw_attention,
    sharpest_layer,
)
from dragoman.inspection.capture import Capture
from dragoman.inspection.change import Change
from dragoman.inspection.head_profile import HeadProfile
from dragoman.inspection.intervention_checks import check_intervention
from dragoman.inspection.interventions import (
    Ablation,
    Edit,
    Intervention,
    Part,
    Temperature,
    Without,
    check_place,
    describe,
)
from dragoman.inspection.predictions import Prediction, predictions
from dragoman.inspection.stream import Stack, Sublayer
from dragoman.inspection.tokens import Tokens, merge_attention
from dragoman.model.network import TranslationNetwork
from dragoman.text.tokenizer import Tokenizer


@dataclass(frozen=True, kw_only=True)
class Observation(ABC):
    """One run: tokens that were read, one prediction for each, and all between them.

    Layers and heads count from 0. What costs time is worked out when first asked for.
    """

    target_in: Tokens  # what is read where something is predicted
    target_out: Tokens  # what is to be predicted there
    capture: Capture = field(repr=False)
    interventions: tuple[Intervention, ...] = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.title!r})"

    @property
    @abstractmethod
    def title(self) -> str:
        """The text that the model was given."""

    @property
    @abstractmethod
    def answer(self) -> str:
        """What the model itself says to that text."""

    @property
    @abstractmethod
    def model(self) -> TranslationNetwork:
        """The network itself."""

    @property
    @abstractmethod
    def tokenizer(self) -> Tokenizer:
        """What names the tokens that are predicted."""

    @property
    @abstractmethod
    def first_kind(self) -> Kind:
        """The kind of attention that is shown first."""

    @abstractmethod
    def rows(self, kind: Kind) -> Tokens:
        """Name the queries of one kind of attention."""

    @abstractmethod
    def columns(self, kind: Kind) -> Tokens:
        """Name the keys."""

    @abstractmethod
    def run(
        self, target_in: Sequence[int], interventions: Sequence[Intervention]
    ) -> Capture:
        """Run the model once more, on other tokens or changed otherwise."""

    def attention(self, kind: Kind) -> Tensor:
        """Give the weights (layer, head, query, key) of one kind of attention."""
        check_choice("kind of attention", kind, KINDS, InspectionError)
        return self.capture.weights(kind)

    def word_attention(self, kind: Kind) -> Tensor:
        """Give the same between words (layer, head, word, word) by `MERGE_RULE`."""
        weights = self.attention(kind)
        if not weights.numel():
            return weights  # of a model that has no attention
        return merge_attention(weights, self.rows(kind), self.columns(kind))

    def layers(self, kind: Kind) -> tuple[Attention, ...]:
        """Give every attention of one kind, first layer first."""
        check_choice("kind of attention", kind, KINDS, InspectionError)
        return self.capture.layers(kind)

    @property
    def logits(self) -> Tensor:
        """The model's logits (target_length, vocabulary)."""
        return self.capture.logits

    @cached_property
    def log_probabilities(self) -> Tensor:
        """The logarithm of the model's probabilities (target_length, vocabulary)."""
        return self.logits.log_softmax(dim=-1)

    @cached_property
    def target_log_probabilities(self) -> Tensor:
        """The log-probability of each token of `target_out` (target_length)."""
        tokens = torch.tensor(self.target_out.ids)
        return self.log_probabilities.gather(1, tokens[:, None])[:, 0]

    @property
    def log_probability(self) -> float:
        """The log-probability of the whole of `target_out`, END included."""
        return float(self.target_log_probabilities.double().sum())

    def predictions(self, count: int = 10) -> tuple[Prediction, ...]:
        """List the `count` likeliest tokens at each step, and the one that came."""
        check_whole("count", count)
        return predictions(
            self.log_probabilities,
            self.target_in.ids,
            self.target_out.ids,
            self.tokenizer,
            count,
        )

    def sublayers(self, stack: Stack) -> tuple[Sublayer, ...]:
        """Give the sublayers of a stack in their order, with the residual stream."""
        check_choice("stack", stack, get_args(Stack), InspectionError)
        return tuple(s for s in self.capture.sublayers if s.stack == stack)

    # What a person can do.

    def ablate(self, kind: Kind, layer: int, head: int) -> Change[Self]:
        """Let a head give nothing, and run everything after it again."""
        return self.intervene(Ablation(kind, layer, head))

    def without(self, part: Part) -> Change[Self]:
        """Take away "scaling" (the √d_k), "mask" or "positions"."""
        return self.intervene(Without(part))

    def set_temperature(
        self, kind: Kind, layer: int, head: int, temperature: float
    ) -> Change[Self]:
        """Divide a head's scores: above 1 it looks around more, below 1 less."""
        return self.intervene(Temperature(kind, layer, head, temperature))

    def edit(
        self, kind: Kind, layer: int, head: int, query: int, key: int, value: float
    ) -> Change[Self]:
        """Set one score of a head, after scaling and before the mask."""
        return self.intervene(Edit(kind, layer, head, query, key, value))

    def intervene(self, intervention: Intervention) -> Change[Self]:
        """Let the model compute differently, besides what was changed before."""
        check_intervention(
            self.model,
            intervention,
            lambda kind: (len(self.rows(kind)), len(self.columns(kind))),
        )
        changed = (*self.interventions, intervention)
        run = self.run(self.target_in.ids, changed)
        after = replace(self, capture=run, interventions=changed)
        return Change(describe(intervention), self, after)

    def draw(
        self,
        path: str | Path,
        kind: Kind | None = None,
        *,
        layer: int | None = None,
        head: int | None = None,
        words: bool = True,
    ) -> None:
        """Draw attention (.png, .svg, .pdf), by default the sharpest layer's mean."""
        kind = kind or self.first_kind
        check_place(self.model, kind, layer or 0, head or 0)
        rows, columns = self.rows(kind), self.columns(kind)
        weights = self.word_attention(kind) if words else self.attention(kind)
        picture = AttentionPicture(
            kind,
            weights,
            rows.names(words),
            columns.names(words),
            sharpest_layer(weights) if layer is None else layer,
            head,
        )
        draw_attention(picture, Path(path))

    def to_html(self, name: str = "", profile: HeadProfile | None = None) -> str:
        """Give one HTML page that holds all of it and needs no network."""
        from dragoman.inspection.html_page import html_page  # which shows this class

        return html_page(self, name, profile)

    def _repr_html_(self) -> str:
        """Show itself in a notebook."""
        from dragoman.inspection.html_page import notebook_frame

        return notebook_frame(self)
