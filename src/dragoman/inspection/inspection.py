"""Everything there is to see of one sentence and its translation."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from dragoman.inspection.attention import Attention, Kind
from dragoman.inspection.beam_tree import BeamTree
from dragoman.inspection.capture import Capture, capture
from dragoman.inspection.interventions import Intervention
from dragoman.inspection.predictions import Prediction, predictions
from dragoman.inspection.stream import Stack, Sublayer
from dragoman.inspection.tokens import Tokens, make_tokens
from dragoman.inspection.translating import search
from dragoman.special_tokens import BEGIN, END
from dragoman.translator import Translator


@dataclass(frozen=True)
class Inspection:
    """One sentence, one translation of it, and what happens between them.

    Layers and heads count from 0. What costs time is worked out when first asked for.
    """

    translator: Translator = field(repr=False)
    source_text: str
    target_text: str
    source: Tokens  # END comes last
    target_in: Tokens  # what the decoder reads; BEGIN comes first
    target_out: Tokens  # what it is to predict there; END comes last
    capture: Capture = field(repr=False)
    beam_size: int | None = None  # None: as in the model's settings
    interventions: tuple[Intervention, ...] = ()

    def attention(self, kind: Kind) -> Tensor:
        """Give the weights (layer, head, query, key) of one kind of attention."""
        layers = self.layers(kind)
        if not layers:
            rows, columns = self.rows(kind), self.columns(kind)
            return torch.zeros(0, 0, len(rows), len(columns))
        return torch.stack([layer.weights for layer in layers])

    def layers(self, kind: Kind) -> tuple[Attention, ...]:
        """Give every attention of one kind, first layer first."""
        found = self.capture.attentions
        return tuple(attention for (of, _), attention in found.items() if of == kind)

    def rows(self, kind: Kind) -> Tokens:
        """Name the queries: source words, or the target words that are predicted."""
        return self.source if kind == "encoder" else self.target_out

    def columns(self, kind: Kind) -> Tokens:
        """Name the keys: source words, or the target words that have been read."""
        return self.target_in if kind == "decoder" else self.source

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
        """The log-probability of each target token, END last (target_length)."""
        tokens = torch.tensor(self.target_out.ids)
        return self.log_probabilities.gather(1, tokens[:, None])[:, 0]

    @property
    def log_probability(self) -> float:
        """The log-probability of the whole target, END included."""
        return float(self.target_log_probabilities.double().sum())

    def predictions(self, count: int = 10) -> tuple[Prediction, ...]:
        """List the `count` likeliest tokens at each step, and the one that came."""
        return predictions(
            self.log_probabilities,
            self.target_in.ids,
            self.target_out.ids,
            self.translator.tokenizers.target,
            count,
        )

    def sublayers(self, stack: Stack) -> tuple[Sublayer, ...]:
        """Give the sublayers of a stack in their order, with the residual stream."""
        return tuple(s for s in self.capture.sublayers if s.stack == stack)

    @cached_property
    def beam(self) -> BeamTree:
        """The search for the model's own translation, whole."""
        return search(
            self.translator, self.source.ids[:-1], self.beam_size, self.interventions
        )


def look(
    translator: Translator,
    source: Sequence[int],
    target: Sequence[int],
    *,
    beam_size: int | None = None,
    interventions: Sequence[Intervention] = (),
) -> Inspection:
    """Look at a source and a target given as token ids without BEGIN and END."""
    tokenizers = translator.tokenizers
    source_tokens = make_tokens(tokenizers.source, [*source, END])
    target_in = make_tokens(tokenizers.target, [BEGIN, *target])
    return Inspection(
        translator=translator,
        source_text=tokenizers.source.decode(source),
        target_text=tokenizers.target.decode(target),
        source=source_tokens,
        target_in=target_in,
        target_out=make_tokens(tokenizers.target, [*target, END]),
        capture=capture(
            translator.saved.model, source_tokens.ids, target_in.ids, interventions
        ),
        beam_size=beam_size,
        interventions=tuple(interventions),
    )
