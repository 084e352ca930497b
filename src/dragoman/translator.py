"""Text in, text out: the one place where text, model and search meet."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self, overload

from dragoman.config import Config
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.model.device import choose_device
from dragoman.model_folder import SavedModel, load_model
from dragoman.text.normalization import normalize
from dragoman.text.tokenizer_pair import TokenizerPair


@dataclass(frozen=True)
class Translation:
    """One translation of one sentence, and how sure the model is of it."""

    text: str
    score: float  # log-probability after the length penalty: higher is better
    log_probability: float
    pieces: tuple[str, ...]
    piece_log_probabilities: tuple[float, ...]  # the end of the sentence comes last


class Translator:
    """Translates sentences with one model."""

    def __init__(self, saved: SavedModel, device: str = "auto") -> None:
        self.saved = saved
        self.engine = PyTorchEngine(
            saved.model, saved.config.decoding, choose_device(device)
        )

    @classmethod
    def load(cls, folder: str | Path, device: str = "auto") -> Self:
        """Load a translator from its model folder."""
        return cls(load_model(Path(folder)), device)

    @property
    def config(self) -> Config:
        """The settings that the model was trained with."""
        return self.saved.config

    @property
    def tokenizers(self) -> TokenizerPair:
        """The tokenizers of both languages."""
        return self.saved.tokenizers

    @overload
    def translate(  # type: ignore[overload-overlap]
        self, texts: str, *, beam_size: int | None = None
    ) -> str: ...

    @overload
    def translate(
        self, texts: Sequence[str], *, beam_size: int | None = None
    ) -> list[str]: ...

    def translate(
        self, texts: str | Sequence[str], *, beam_size: int | None = None
    ) -> str | list[str]:
        """Translate one sentence, or each of several; blank ones stay blank."""
        if isinstance(texts, str):
            return self.translate([texts], beam_size=beam_size)[0]
        return [best[0].text for best in self.translate_nbest(texts, 1, beam_size)]

    def translate_nbest(
        self, texts: Sequence[str], nbest: int, beam_size: int | None = None
    ) -> list[list[Translation]]:
        """Give the best `nbest` translations of each sentence, best first."""
        parts = [self._parts(text) for text in texts]
        sources = [part for sentence in parts for part in sentence]
        found = iter(self.engine.translate(sources, beam_size=beam_size, nbest=nbest))
        return [
            _join([self._readable(next(found)) for _ in sentence], nbest)
            for sentence in parts
        ]

    def _parts(self, text: str) -> list[list[int]]:
        """Encode a sentence; one past the trained length is worked off in parts."""
        if text.isspace():  # blanks of all kinds, which normalisation may keep
            return []
        ids = self.tokenizers.source.encode(
            normalize(text, self.config.data.normalization)
        )
        longest = self.config.data.max_tokens
        return [ids[start : start + longest] for start in range(0, len(ids), longest)]

    def _readable(self, hypotheses: Sequence[Hypothesis]) -> list[Translation]:
        target = self.tokenizers.target
        return [
            Translation(
                text=target.decode(hypothesis.tokens),
                score=hypothesis.score,
                log_probability=hypothesis.log_probability,
                pieces=tuple(target.pieces(hypothesis.tokens)),
                piece_log_probabilities=hypothesis.token_log_probabilities,
            )
            for hypothesis in hypotheses
        ]


NOTHING = Translation("", 0.0, 0.0, (), ())


def _join(parts: Sequence[list[Translation]], nbest: int) -> list[Translation]:
    """Put the parts of one sentence together again, rank by rank."""
    if not parts:
        return [NOTHING] * nbest
    joined = list(parts[0])
    for part in parts[1:]:
        joined = [_concatenate(a, b) for a, b in zip(joined, part, strict=False)]
    return [replace(t, text=" ".join(t.text.split("\n"))) for t in joined]


def _concatenate(a: Translation, b: Translation) -> Translation:
    return Translation(
        text=f"{a.text} {b.text}",
        score=a.score + b.score,
        log_probability=a.log_probability + b.log_probability,
        pieces=a.pieces + b.pieces,
        piece_log_probabilities=a.piece_log_probabilities + b.piece_log_probabilities,
    )
