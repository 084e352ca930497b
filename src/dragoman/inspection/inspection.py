"""Everything there is to see of one sentence and its translation."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from dragoman.inspection.attention import Kind
from dragoman.inspection.attribution import Attributions, attribute
from dragoman.inspection.beam_tree import BeamTree
from dragoman.inspection.capture import Capture, capture
from dragoman.inspection.change import Change
from dragoman.inspection.concerns import Concern, repetitions, unattended_words
from dragoman.inspection.head_profile import HeadProfile, head_profile
from dragoman.inspection.intervention_checks import check_tokens
from dragoman.inspection.interventions import Intervention, check_place
from dragoman.inspection.observation import Observation
from dragoman.inspection.reference import ReferenceVerdict, judge_reference
from dragoman.inspection.tokens import Tokens, make_tokens
from dragoman.inspection.translating import search
from dragoman.model.network import TranslationNetwork
from dragoman.special_tokens import BEGIN, END
from dragoman.text.normalization import normalize
from dragoman.text.tokenizer import Tokenizer
from dragoman.translator import Translator


@dataclass(frozen=True, kw_only=True)
class Inspection(Observation):
    """One sentence, one translation of it, and what happens between them.

    The decoder reads `target_in`, which begins with BEGIN, and is to predict
    `target_out`, which ends with END.
    """

    translator: Translator = field(repr=False)
    source_text: str
    target_text: str
    source: Tokens  # END comes last
    beam_size: int | None = None  # None: as in the model's settings
    prefix: tuple[int, ...] = ()  # how the model's own translation has to begin

    def __repr__(self) -> str:
        return f"Inspection({self.source_text!r} → {self.target_text!r})"

    @property
    def title(self) -> str:
        """The sentence."""
        return self.source_text

    @property
    def answer(self) -> str:
        """The model's own translation."""
        return self.translation

    @property
    def model(self) -> TranslationNetwork:
        """The network itself."""
        return self.translator.saved.model

    @property
    def tokenizer(self) -> Tokenizer:
        """That of the target's language."""
        return self.translator.tokenizers.target

    @property
    def first_kind(self) -> Kind:
        """Where the translation looks in the source."""
        return "cross"

    def rows(self, kind: Kind) -> Tokens:
        """Name the queries: source words, or the target words that are predicted."""
        return self.source if kind == "encoder" else self.target_out

    def columns(self, kind: Kind) -> Tokens:
        """Name the keys: source words, or the target words that have been read."""
        return self.target_in if kind == "decoder" else self.source

    def run(
        self, target_in: Sequence[int], interventions: Sequence[Intervention]
    ) -> Capture:
        """Run the model once more, on another target or changed otherwise."""
        return capture(self.model, self.source.ids, target_in, interventions)

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
        return self.tokenizer.decode(self.beam.result.tokens)

    # What a person can do besides.

    def force(self, prefix: str | Sequence[int]) -> Change["Inspection"]:
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
        begun = self.tokenizer.decode(ids)
        return Change(f"beginning with {begun!r}", self, after)

    def reference(self, text: str | Sequence[int]) -> ReferenceVerdict:
        """Say where a reference (text or ids) fell off the beam, and why."""
        seen = look(
            self.translator,
            self.source.ids[:-1],
            self._target_ids(text),
            interventions=self.interventions,
        )
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
        """Say by up to four rules which source tokens each prediction rests on."""
        if layer is not None or head is not None:
            check_place(self.model, "cross", layer or 0, head or 0)
        return attribute(
            self.model,
            self.capture,
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

    def _target_ids(self, target: str | Sequence[int]) -> list[int]:
        if isinstance(target, str):
            form = self.translator.config.data.normalization
            return self.tokenizer.encode(normalize(target, form))
        check_tokens(target, self.tokenizer.vocabulary_size)
        return list(target)


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
