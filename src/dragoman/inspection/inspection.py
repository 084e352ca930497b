"""Everything there is to see of one sentence and its translation."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor

from dragoman.inspection.attention import Attention, Kind
from dragoman.inspection.attention_figure import (
    AttentionPicture,
    draw_attention,
    sharpest_layer,
)
from dragoman.inspection.attribution import Attributions, attribute
from dragoman.inspection.beam_tree import BeamTree
from dragoman.inspection.capture import Capture, capture
from dragoman.inspection.change import Change
from dragoman.inspection.concerns import Concern, repetitions, unattended_words
from dragoman.inspection.head_profile import HeadProfile, head_profile
from dragoman.inspection.intervention_checks import check_intervention, check_tokens
from dragoman.inspection.interventions import (
    Ablation,
    Edit,
    Intervention,
    Part,
    Temperature,
    Without,
    check_head,
    describe,
)
from dragoman.inspection.predictions import Prediction, predictions
from dragoman.inspection.reference import ReferenceVerdict, judge_reference
from dragoman.inspection.stream import Stack, Sublayer
from dragoman.inspection.tokens import Tokens, make_tokens, merge_attention
from dragoman.inspection.translating import search
from dragoman.model.network import TranslationNetwork
from dragoman.special_tokens import BEGIN, END
from dragoman.text.normalization import normalize
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
    prefix: tuple[int, ...] = ()  # how the model's own translation has to begin

    def attention(self, kind: Kind) -> Tensor:
        """Give the weights (layer, head, query, key) of one kind of attention."""
        return self.capture.weights(kind)

    def word_attention(self, kind: Kind) -> Tensor:
        """Give the same between words (layer, head, word, word) by `MERGE_RULE`."""
        weights = self.attention(kind)
        if not weights.numel():
            return weights  # of a model that has no attention
        return merge_attention(weights, self.rows(kind), self.columns(kind))

    def layers(self, kind: Kind) -> tuple[Attention, ...]:
        """Give every attention of one kind, first layer first."""
        return self.capture.layers(kind)

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
            self.translator,
            self.source.ids[:-1],
            self.beam_size,
            self.interventions,
            self.prefix,
        )

    @property
    def translation(self) -> str:
        """What the model itself translates, whatever target is looked at."""
        if len(self.source) == 1:
            return ""  # a blank stays blank
        return self.translator.tokenizers.target.decode(self.beam.result.tokens)

    @property
    def model(self) -> TranslationNetwork:
        """The network itself."""
        return self.translator.saved.model

    # What a person can do.

    def ablate(self, kind: Kind, layer: int, head: int) -> Change:
        """Let a head give nothing, and run everything after it again."""
        return self.intervene(Ablation(kind, layer, head))

    def without(self, part: Part) -> Change:
        """Take away "scaling" (the √d_k), "mask" or "positions"."""
        return self.intervene(Without(part))

    def set_temperature(
        self, kind: Kind, layer: int, head: int, temperature: float
    ) -> Change:
        """Divide a head's scores: above 1 it looks around more, below 1 less."""
        return self.intervene(Temperature(kind, layer, head, temperature))

    def edit(
        self, kind: Kind, layer: int, head: int, query: int, key: int, value: float
    ) -> Change:
        """Set one score of a head, after scaling and before the mask."""
        return self.intervene(Edit(kind, layer, head, query, key, value))

    def intervene(self, intervention: Intervention) -> Change:
        """Let the model compute differently, besides what was changed before."""
        check_intervention(
            self.model, intervention, len(self.source), len(self.target_out)
        )
        after = self._look_at(
            self.target_out.ids[:-1], (*self.interventions, intervention)
        )
        return Change(describe(intervention), self, after)

    def force(self, prefix: str | Sequence[int]) -> Change:
        """Let the translation begin with a text (or token ids), and search on."""
        ids, source = self._target_ids(prefix), self.source.ids[:-1]
        beam = search(self.translator, source, self.beam_size, self.interventions, ids)
        after = look(
            self.translator,
            source,
            beam.result.tokens,
            beam_size=self.beam_size,
            interventions=self.interventions,
            prefix=ids,
        )
        after.__dict__["beam"] = beam  # what was just searched need not be again
        begun = self.translator.tokenizers.target.decode(ids)
        return Change(f"beginning with {begun!r}", self, after)

    def reference(self, text: str | Sequence[int]) -> ReferenceVerdict:
        """Say where a reference (text or ids) fell off the beam, and why."""
        seen = self._look_at(self._target_ids(text), self.interventions)
        return judge_reference(
            self.beam,
            seen.target_text,
            seen.target_out.ids,
            seen.target_out.pieces,
            seen.log_probability,
        )

    def attributions(
        self, layer: int | None = None, head: int | None = None
    ) -> Attributions:
        """Say by four rules which source tokens each prediction rests on."""
        if layer is not None:
            check_head(self.model, "cross", layer, head or 0)
        return attribute(
            self.model,
            self.layers("cross"),
            self.source.ids,
            self.target_in.ids,
            self.target_out.ids,
            self.interventions,
            layer=layer,
            head=head,
        )

    @cached_property
    def concerns(self) -> tuple[Concern, ...]:
        """Warn of source words that nobody attended to, and of repetition."""
        words = self.word_attention("cross")
        means = words.mean(dim=1) if words.numel() else words
        return (
            *unattended_words(means, self.source.words),
            *repetitions(self.source.words, self.target_out.words),
        )

    def head_profile(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        aligned_on: Sequence[tuple[str, str]] = (),
        ablation: bool = True,
    ) -> HeadProfile:
        """Measure every head of this model on sentence pairs."""
        return head_profile(
            self.translator, pairs, aligned_on=aligned_on, ablation=ablation
        )

    def draw(
        self,
        path: str | Path,
        kind: Kind = "cross",
        *,
        layer: int | None = None,
        head: int | None = None,
        words: bool = True,
    ) -> None:
        """Draw attention (.png, .svg, .pdf), by default the sharpest layer's mean."""
        if kind != "cross" or self.capture.look is None:
            check_head(self.model, kind, layer or 0, head or 0)
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

    def _target_ids(self, target: str | Sequence[int]) -> list[int]:
        tokenizer = self.translator.tokenizers.target
        if isinstance(target, str):
            form = self.translator.config.data.normalization
            return tokenizer.encode(normalize(target, form))
        check_tokens(target, tokenizer.vocabulary_size)
        return list(target)

    def _look_at(
        self, target: Sequence[int], interventions: Sequence[Intervention]
    ) -> "Inspection":
        return look(
            self.translator,
            self.source.ids[:-1],
            target,
            beam_size=self.beam_size,
            interventions=interventions,
            prefix=self.prefix,
        )


def look(
    translator: Translator,
    source: Sequence[int],
    target: Sequence[int],
    *,
    beam_size: int | None = None,
    interventions: Sequence[Intervention] = (),
    prefix: Sequence[int] = (),
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
        prefix=tuple(prefix),
    )
