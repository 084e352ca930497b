"""Text in, text out: the one place where text, model and search meet."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self, overload

from dragoman.config import Config
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.options import SearchOptions
from dragoman.engine_choice import EngineChoice
from dragoman.special_tokens import END
from dragoman.text.normalization import normalize
from dragoman.text.tokenizer_pair import TokenizerPair

if TYPE_CHECKING:
    from dragoman.model_folder import SavedModel


@dataclass(frozen=True)
class Translation:
    """One translation of one sentence, and how sure the model is of it."""

    text: str
    score: float  # log-probability after the length penalty: higher is better
    log_probability: float
    pieces: tuple[str, ...]
    piece_log_probabilities: tuple[float, ...]  # the end of the sentence comes last


@dataclass(frozen=True)
class Alternative:
    """What could come next after a prefix, and the translation that it leads to."""

    piece: str
    log_probability: float  # of this one piece
    translation: Translation


class Translator:
    """Translates sentences with one model, or with several that predict together."""

    def __init__(
        self,
        model: "SavedModel | EngineChoice",
        device: str = "auto",
        together_with: "Sequence[SavedModel]" = (),
    ) -> None:
        if not isinstance(model, EngineChoice):
            model = EngineChoice.of(model, device, together_with)
        self.engine = model

    @classmethod
    def load(
        cls,
        folder: str | Path,
        device: str = "auto",
        together_with: Sequence[str | Path] = (),
        *,
        engine: str = "auto",
        threads: int | None = None,
    ) -> Self:
        """Load a translator from its model folder, and others to predict with it.

        The engine is pytorch, ctranslate2, which needs an export (`dragoman export`),
        or auto: ctranslate2 where there is an export and it can do what is asked.
        """
        others = [Path(other) for other in together_with]
        return cls(EngineChoice.open(Path(folder), engine, device, threads, others))

    @property
    def saved(self) -> "SavedModel":
        """The model itself, in PyTorch, whatever engine translates."""
        return self.engine.saved

    @property
    def config(self) -> Config:
        """The settings that the model was trained with."""
        return self.engine.described.config

    @property
    def tokenizers(self) -> TokenizerPair:
        """The tokenizers of both languages."""
        return self.engine.described.tokenizers

    @property
    def options(self) -> SearchOptions:
        """How this model searches unless asked otherwise."""
        return SearchOptions.of(self.config.decoding)

    @overload
    def translate(  # type: ignore[overload-overlap]
        self,
        texts: str,
        *,
        beam_size: int | None = None,
        options: SearchOptions | None = None,
    ) -> str: ...

    @overload
    def translate(
        self,
        texts: Sequence[str],
        *,
        beam_size: int | None = None,
        options: SearchOptions | None = None,
    ) -> list[str]: ...

    def translate(
        self,
        texts: str | Sequence[str],
        *,
        beam_size: int | None = None,
        options: SearchOptions | None = None,
    ) -> str | list[str]:
        """Translate one sentence, or each of several; blank ones stay blank.

        The options are `self.options`, or what `dataclasses.replace` makes of them.
        """
        if isinstance(texts, str):
            return self.translate([texts], beam_size=beam_size, options=options)[0]
        options = replace(options or self.options, nbest=1)
        if beam_size is not None:
            options = replace(options, beam_size=beam_size)
        found = self._translate(texts, options, None, token_scores=False)
        return [best[0].text for best in found]

    def translate_nbest(
        self,
        texts: Sequence[str],
        nbest: int | None = None,
        beam_size: int | None = None,
        options: SearchOptions | None = None,
        prefixes: Sequence[str] | None = None,
    ) -> list[list[Translation]]:
        """Give the best translations of each sentence, best first.

        Each begins with its prefix, if there are prefixes.
        """
        options = options or self.options
        options = replace(
            options,
            nbest=options.nbest if nbest is None else nbest,
            beam_size=options.beam_size if beam_size is None else beam_size,
        )
        return self._translate(texts, options, prefixes, token_scores=True)

    def _translate(
        self,
        texts: Sequence[str],
        options: SearchOptions,
        prefixes: Sequence[str] | None,
        *,
        token_scores: bool,
    ) -> list[list[Translation]]:
        parts = [self._parts(text) for text in texts]
        sources = [part for sentence in parts for part in sentence]
        begun = None if prefixes is None else self._begun(parts, prefixes)
        found = iter(
            self.engine.translate(sources, options, begun, token_scores=token_scores)
        )
        return [
            _join([self._choose(next(found), options) for _ in sentence], options.nbest)
            for sentence in parts
        ]

    def alternatives(
        self,
        text: str,
        prefix: str = "",
        count: int = 5,
        options: SearchOptions | None = None,
    ) -> list[Alternative]:
        """Give what could come next after a prefix of the translation, likeliest first.

        Each alternative comes with the best translation that goes on from it.
        """
        options = replace(options or self.options, nbest=1)
        [source, *_] = self._parts(text) or [[]]
        begun = self._encode_prefix(prefix)
        after = self.engine.pytorch.next_tokens(source, begun, count)
        going_on = [(token, chance) for token, chance in after if token != END]
        prefixes = [[*begun, token] for token, _ in going_on]
        found = self.engine.translate([source] * len(prefixes), options, prefixes)
        translations = {
            token: self._readable(best)[0]
            for (token, _), best in zip(going_on, found, strict=True)
        }
        said = self.tokenizers.target
        ended = Translation(prefix, 0.0, 0.0, tuple(said.pieces(begun)), ())
        return [
            Alternative(
                piece="" if token == END else said.pieces([token])[0],
                log_probability=chance,
                translation=translations.get(token, ended),
            )
            for token, chance in after
        ]

    def _choose(
        self, hypotheses: Sequence[Hypothesis], options: SearchOptions
    ) -> list[Translation]:
        """Read what the search gave; of samples, choose those of the least risk."""
        found = self._readable(hypotheses)
        if options.method != "bayes-risk":
            return found
        from dragoman.decoding.bayes_risk import expected_chrf  # loads NumPy

        worth = expected_chrf([translation.text for translation in found])
        different = {
            translation.text: replace(translation, score=score)
            for translation, score in zip(found, worth, strict=True)
        }
        best = sorted(different.values(), key=lambda choice: -choice.score)
        return (best + found)[: options.nbest]  # fewer may differ than were asked for

    def _begun(
        self, parts: Sequence[Sequence[list[int]]], prefixes: Sequence[str]
    ) -> list[list[int]]:
        """Encode the prefixes; the first part of each sentence begins with its own."""
        begun: list[list[int]] = []
        for sentence, prefix in zip(parts, prefixes, strict=True):
            ids = self._encode_prefix(prefix)
            begun += [ids, *[[] for _ in sentence[1:]]][: len(sentence)]
        return begun

    def _encode_prefix(self, prefix: str) -> list[int]:
        form = normalize(prefix, self.config.data.normalization)
        return self.tokenizers.target.encode(form)

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
