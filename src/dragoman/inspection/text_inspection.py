"""Everything there is to see of a language model that reads one text."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import torch

from dragoman.decoding.choices import next_log_probabilities
from dragoman.errors import InspectionError
from dragoman.inspection.attention import Kind
from dragoman.inspection.capture import Capture, capture
from dragoman.inspection.interventions import Intervention, intervening
from dragoman.inspection.observation import Observation
from dragoman.inspection.tokens import Tokens, make_tokens
from dragoman.language_models.language_model import LanguageModel
from dragoman.language_models.masked_language_model import MaskedLanguageModel
from dragoman.model.evaluating import evaluating
from dragoman.model.network import TranslationNetwork
from dragoman.special_tokens import BEGIN, END
from dragoman.text.tokenizer import Tokenizer

CONTINUED = 12  # tokens that a text goes on for, to see what a change does to it


@dataclass(frozen=True, kw_only=True, repr=False)
class TextInspection(Observation):
    """One text, and what a language model makes of it."""

    reader: LanguageModel | MaskedLanguageModel = field(repr=False)
    text: str

    @property
    def title(self) -> str:
        """The text."""
        return self.text

    @property
    def model(self) -> TranslationNetwork:
        """The network itself."""
        return self.reader.model

    @property
    def tokenizer(self) -> Tokenizer:
        """That of the text."""
        return self.reader.tokenizer

    def columns(self, kind: Kind) -> Tokens:
        """Name the keys: the tokens that are read."""
        del kind
        return self.target_in


@dataclass(frozen=True, kw_only=True, repr=False)
class ContinuedText(TextInspection):
    """A text whose every token was predicted from those before it.

    Row t reads `target_in[t]`, BEGIN first, and is to predict `target_out[t]`: what
    came next, and at last that the line ends.
    """

    reader: LanguageModel = field(repr=False)
    first_kind: ClassVar[Kind] = "decoder"

    def rows(self, kind: Kind) -> Tokens:
        """Name the queries: the tokens that are predicted."""
        del kind
        return self.target_out

    def run(
        self, target_in: Sequence[int], interventions: Sequence[Intervention]
    ) -> Capture:
        """Run the model once more, on other tokens or changed otherwise."""
        return capture(self.model, [END], target_in, interventions)

    @cached_property
    def answer(self) -> str:
        """The text and how it goes on, likeliest token by token, to the line's end."""
        ids = torch.tensor([self.target_in.ids], device=self.model.output_weight.device)
        window = self.reader.config.model.window
        with (
            torch.no_grad(),
            evaluating(self.model),
            intervening(self.model, self.interventions),
        ):
            for _ in range(min(CONTINUED, window - ids.shape[1])):
                # The whole text anew: a changed score has its place there.
                logits = self.model(ids, ids)[:, -1]
                token = next_log_probabilities(logits).argmax(dim=-1, keepdim=True)
                if int(token) == END:
                    break
                ids = torch.cat([ids, token], dim=1)
        return self.reader.decode(ids[0, 1:].tolist())


@dataclass(frozen=True, kw_only=True, repr=False)
class FilledText(TextInspection):
    """A text whose every token is predicted from all of it; gaps are what matters.

    Row t reads `target_in[t]` and predicts the token at the same place: in
    `target_out`, gaps hold what the model puts there.
    """

    reader: MaskedLanguageModel = field(repr=False)
    first_kind: ClassVar[Kind] = "encoder"

    @property
    def gaps(self) -> tuple[int, ...]:
        """The places of [MASK]."""
        ids = self.target_in.ids
        return tuple(p for p, token in enumerate(ids) if token == self.reader.mask)

    def rows(self, kind: Kind) -> Tokens:
        """Name the queries: the tokens that are read."""
        del kind
        return self.target_in

    def run(
        self, target_in: Sequence[int], interventions: Sequence[Intervention]
    ) -> Capture:
        """Run the model once more, on other tokens or changed otherwise."""
        return capture(self.model, target_in, target_in, interventions)

    @cached_property
    def answer(self) -> str:
        """The text with its gaps filled, by this run."""
        filled = fill(self.reader, self.target_in.ids, self.capture)
        return self.tokenizer.decode(filled[:-1])


def look_at_text(
    reader: LanguageModel | MaskedLanguageModel, text: str
) -> TextInspection:
    """Run a language model over a text, and keep everything."""
    if isinstance(reader, LanguageModel):
        return _continued(reader, text)
    return _filled(reader, text)


def _continued(reader: LanguageModel, text: str) -> ContinuedText:
    ids, window = reader.encode(text), reader.config.model.window
    if len(ids) >= window:
        raise InspectionError(
            f"the text has {len(ids)} tokens and the model reads fewer than {window} "
            "at once: inspect a part of it"
        )
    target_in = make_tokens(reader.tokenizer, [BEGIN, *ids])
    return ContinuedText(
        reader=reader,
        text=reader.decode(ids),
        target_in=target_in,
        target_out=make_tokens(reader.tokenizer, [*ids, END]),
        capture=capture(reader.model, [END], target_in.ids),
    )


def _filled(reader: MaskedLanguageModel, text: str) -> FilledText:
    ids = reader.encode(text)
    read = make_tokens(reader.tokenizer, [*ids, END])
    seen = capture(reader.model, read.ids, read.ids)
    return FilledText(
        reader=reader,
        text=reader.tokenizer.decode(ids),
        target_in=read,
        target_out=make_tokens(reader.tokenizer, fill(reader, read.ids, seen)),
        capture=seen,
    )


def fill(reader: MaskedLanguageModel, ids: Sequence[int], seen: Capture) -> list[int]:
    """Put the likeliest word into each gap; special tokens are no words."""
    logits = seen.logits.clone()
    logits[:, : END + 1] = logits[:, reader.mask] = -torch.inf
    best = logits.argmax(dim=-1).tolist()
    return [
        best[place] if token == reader.mask else token
        for place, token in enumerate(ids)
    ]
