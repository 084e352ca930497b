"""Text in, text out: the one place where text, model and search meet."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Self, overload

from dragoman.arguments import (
    check_flags,
    check_is,
    check_path,
    check_text,
    check_whole,
    paths_of,
    texts_of,
)
from dragoman.config import Config
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.options import SearchOptions
from dragoman.engine_choice import EngineChoice
from dragoman.errors import ConfigError
from dragoman.phrases import PhraseSpeller
from dragoman.special_tokens import END
from dragoman.text.demands import Demands, demands_of
from dragoman.text.glossary import Glossary
from dragoman.text.long_sentences import split_long
from dragoman.text.normalization import normalize
from dragoman.text.placeholders import placeholder_ids
from dragoman.text.sentences import Piece, split_line
from dragoman.text.tokenizer_pair import TokenizerPair
from dragoman.text.unbroken import Stretch, part_by_unbroken
from dragoman.translation import NOTHING, Alternative, Translation, follow

if TYPE_CHECKING:
    from dragoman.model_folder import SavedModel


@dataclass(frozen=True)
class Part:
    """A part of a sentence that is translated by itself, and the blanks after it."""

    demands: Demands
    ids: list[int]
    gap: str


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
        check_path("folder", folder)
        check_text("device", device)
        others = paths_of("together_with", together_with)
        return cls(EngineChoice.open(Path(folder), engine, device, threads, others))

    def __repr__(self) -> str:
        source, target = self.engine.described.languages
        return f"Translator({source} → {target}, {self.engine.name})"

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
        glossary: Glossary | None = None,
        protect: bool = True,
    ) -> str: ...

    @overload
    def translate(
        self,
        texts: Sequence[str],
        *,
        beam_size: int | None = None,
        options: SearchOptions | None = None,
        glossary: Glossary | None = None,
        protect: bool = True,
    ) -> list[str]: ...

    def translate(
        self,
        texts: str | Sequence[str],
        *,
        beam_size: int | None = None,
        options: SearchOptions | None = None,
        glossary: Glossary | None = None,
        protect: bool = True,
    ) -> str | list[str]:
        """Translate one sentence, or each of several; blank ones stay blank.

        The options are `self.options`, or what `dataclasses.replace` makes of them.
        The translations of a glossary's terms are in the translations of sentences
        that have the terms. Numbers, addresses, variables and tags come through
        unharmed, unless not protected.
        """
        if isinstance(texts, str):
            return self.translate(
                [texts],
                beam_size=beam_size,
                options=options,
                glossary=glossary,
                protect=protect,
            )[0]
        found = self.translate_nbest(
            texts,
            1,
            beam_size,
            options,
            glossary=glossary,
            protect=protect,
            token_scores=False,
        )
        return [best[0].text for best in found]

    def translate_nbest(
        self,
        texts: Sequence[str],
        nbest: int | None = None,
        beam_size: int | None = None,
        options: SearchOptions | None = None,
        prefixes: Sequence[str] | None = None,
        glossary: Glossary | None = None,
        protect: bool = True,
        token_scores: bool = True,
    ) -> list[list[Translation]]:
        """Give the best translations of each sentence, best first.

        Each begins with its prefix, if there are prefixes, and reports what it had to
        carry over. Without the scores of single pieces it may be faster.
        """
        texts = texts_of("texts", texts)
        _check_demands(options, glossary, protect=protect)
        options = options or self.options
        options = replace(
            options,
            nbest=options.nbest if nbest is None else nbest,
            beam_size=options.beam_size if beam_size is None else beam_size,
        )
        lines = [part_by_unbroken(text) for text in texts]
        if any(stretch.is_unbroken for line in lines for stretch in line):
            between, beginnings = _between_unbroken(lines, prefixes)
            others = self.translate_nbest(
                between,
                options=options,
                prefixes=beginnings,
                glossary=glossary,
                protect=protect,
                token_scores=token_scores,
            )
            rest = iter(others)
            return [_with_unbroken(line, rest, options.nbest) for line in lines]
        understand = partial(self._demands, glossary=glossary, protect=protect)
        parts = [self._parts(text, understand) for text in texts]
        if prefixes is not None:
            prefixes = _as_many(texts_of("prefixes", prefixes), texts)
        begun = None if prefixes is None else self._begun(parts, prefixes)
        all_parts = [part for sentence in parts for part in sentence]
        found = iter(self._search(all_parts, options, begun, token_scores=token_scores))
        return [
            _join(sentence, [next(found) for _ in sentence], options.nbest)
            for sentence in parts
        ]

    def translate_document(
        self,
        text: str,
        *,
        beam_size: int | None = None,
        options: SearchOptions | None = None,
        glossary: Glossary | None = None,
        protect: bool = True,
    ) -> str:
        """Translate a text sentence by sentence; its lines and blanks stay."""
        check_text("text", text)
        found = self.translate_lines(
            text.split("\n"),
            beam_size=beam_size,
            options=options,
            glossary=glossary,
            protect=protect,
        )
        return "\n".join(line.text for line in found)

    def translate_lines(
        self,
        lines: Sequence[str],
        *,
        beam_size: int | None = None,
        options: SearchOptions | None = None,
        glossary: Glossary | None = None,
        protect: bool = True,
    ) -> list[Translation]:
        """Translate lines of a document, each of which may hold several sentences."""
        lines = texts_of("lines", lines)
        language = self.engine.described.languages[0]
        pieces = [split_line(line, language) for line in lines]
        sentences = [p.text for line in pieces for p in line if p.is_sentence]
        found = iter(
            self.translate_nbest(
                sentences,
                1,
                beam_size,
                options,
                glossary=glossary,
                protect=protect,
                token_scores=False,
            )
        )
        return [
            reduce(follow, (_piece(piece, found) for piece in line), NOTHING)
            for line in pieces
        ]

    def _search(
        self,
        parts: Sequence[Part],
        options: SearchOptions,
        prefixes: Sequence[Sequence[int]] | None,
        *,
        token_scores: bool,
    ) -> list[list[Translation]]:
        """Search freely first; where a demand is not met, search under constraints.

        What meets all demands freely is the best that meets them, so most sentences
        need no more, and those without demands are not touched by those with.
        """
        sources = [part.ids for part in parts]
        demands = [part.demands for part in parts]
        found = self.engine.translate(
            sources, options, prefixes, token_scores=token_scores
        )
        again = [
            place
            for place, hypotheses in enumerate(found)
            if not all(self._meets(demands[place], h) for h in hypotheses)
        ]
        if again:
            better = self.engine.translate_constrained(
                [sources[place] for place in again],
                [self._speller.constraints(demands[place]) for place in again],
                options,
                None if prefixes is None else [prefixes[place] for place in again],
            )
            for place, hypotheses in zip(again, better, strict=True):
                found[place] = hypotheses
        return [
            self._choose([self._readable(h, demand) for h in hypotheses], options)
            for hypotheses, demand in zip(found, demands, strict=True)
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
        check_text("text", text)
        check_text("prefix", prefix)
        check_whole("count", count)
        _check_demands(options, None, protect=False)
        options = replace(options or self.options, nbest=1)
        understand = partial(self._demands, glossary=None, protect=False)
        parts = self._parts(text, understand)
        source, demands = (
            (parts[0].ids, parts[0].demands) if parts else ([], Demands("", ""))
        )
        begun = self._encode_prefix(prefix)
        after = self.engine.pytorch.next_tokens(source, begun, count)
        going_on = [(token, chance) for token, chance in after if token != END]
        prefixes = [[*begun, token] for token, _ in going_on]
        found = self.engine.translate([source] * len(prefixes), options, prefixes)
        translations = {
            token: self._readable(best[0], demands)
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
        self, found: list[Translation], options: SearchOptions
    ) -> list[Translation]:
        """Give what the search found; of samples, choose those of the least risk."""
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
        self, parts: Sequence[Sequence[Part]], prefixes: Sequence[str]
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

    def _meets(self, demands: Demands, hypothesis: Hypothesis) -> bool:
        return not demands.anything or demands.are_met(
            self.tokenizers.target.decode(hypothesis.tokens)
        )

    @cached_property
    def _speller(self) -> PhraseSpeller:
        return PhraseSpeller(self.tokenizers.target)

    @cached_property
    def _has_placeholders(self) -> bool:
        source, target = self.tokenizers.source, self.tokenizers.target
        return bool(placeholder_ids(source) and placeholder_ids(target))

    def _demands(
        self, text: str, *, glossary: Glossary | None, protect: bool
    ) -> Demands:
        return demands_of(
            text,
            self.config.data.normalization,
            protecting=protect,
            has_placeholders=self._has_placeholders,
            glossary=glossary,
        )

    def _parts(self, text: str, understand: Callable[[str], Demands]) -> list[Part]:
        """Make a sentence ready; one past the trained length is worked off in parts."""
        if not text or text.isspace():  # blanks of all kinds
            return []

        def read(text: str, gap: str = "") -> Part:
            demands = understand(text)
            return Part(demands, self.tokenizers.source.encode(demands.text), gap)

        longest = self.config.data.max_tokens
        whole = read(text)
        if len(whole.ids) <= longest:
            return [whole] if whole.ids else []
        parts = split_long(text, lambda part: len(read(part).ids) <= longest)
        return [read(part.text, part.gap) for part in parts if part.text]

    def _readable(self, hypothesis: Hypothesis, demands: Demands) -> Translation:
        target = self.tokenizers.target
        text, report = demands.finish(target.decode(hypothesis.tokens))
        return Translation(
            text=text,
            score=hypothesis.score,
            log_probability=hypothesis.log_probability,
            pieces=tuple(target.pieces(hypothesis.tokens)),
            piece_log_probabilities=hypothesis.token_log_probabilities,
            report=report,
        )


def _check_demands(
    options: SearchOptions | None, glossary: Glossary | None, *, protect: bool
) -> None:
    if options is not None:
        check_is("options", options, SearchOptions, "made from `translator.options`")
    if glossary is not None:
        check_is("glossary", glossary, Glossary, "a dragoman.Glossary")
    check_flags(protect=protect)


def _as_many(prefixes: list[str], texts: Sequence[str]) -> list[str]:
    if len(prefixes) != len(texts):
        raise ConfigError(
            f"{len(prefixes)} prefixes cannot begin {len(texts)} translations: give "
            'one for each text, "" where none is wanted'
        )
    return prefixes


def _join(
    parts: Sequence[Part], found: Sequence[list[Translation]], nbest: int
) -> list[Translation]:
    """Put the parts of one sentence together again, rank by rank."""
    if not parts:
        return [NOTHING] * nbest
    joined = list(found[0])
    for part, later in zip(parts, found[1:], strict=False):
        gap = " " if part.gap else ""
        joined = [follow(a, b, gap) for a, b in zip(joined, later, strict=False)]
    cuts = len(parts) - 1
    return [
        replace(t, text=" ".join(t.text.split("\n")), num_cuts=cuts) for t in joined
    ]


def _between_unbroken(
    lines: Sequence[Sequence[Stretch]], prefixes: Sequence[str] | None
) -> tuple[list[str], list[str] | None]:
    """List what is to be translated beside endless runs, and how it is to begin."""
    texts = [[s.text for s in line if not s.is_unbroken] for line in lines]
    between = [text for line in texts for text in line]
    if prefixes is None:
        return between, None
    begun = [
        "" if number else prefix
        for line, prefix in zip(texts, prefixes, strict=True)
        for number, _ in enumerate(line)
    ]
    return between, begun


def _with_unbroken(
    line: Sequence[Stretch], found: Iterator[list[Translation]], nbest: int
) -> list[Translation]:
    """Put endless runs, as they are, between the translations of what is around."""
    joined = [NOTHING] * nbest
    for stretch in line:
        text = stretch.text
        if stretch.is_unbroken:
            copy = replace(NOTHING, text=text, num_copied=len(text))
            joined = [follow(before, copy) for before in joined]
            continue
        start, end = (" " if edge.isspace() else "" for edge in (text[0], text[-1]))
        start = "" if text.isspace() else start
        joined = [
            follow(before, replace(after, text=f"{start}{after.text}{end}"))
            for before, after in zip(joined, next(found), strict=True)
        ]
    return [replace(best, text=best.text.strip()) for best in joined]


def _piece(piece: Piece, found: Iterator[list[Translation]]) -> Translation:
    """Give the next translation for a sentence, and other text as it is."""
    return next(found)[0] if piece.is_sentence else replace(NOTHING, text=piece.text)
