"""Text in, text out: the one place where text, model and search meet."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self, overload

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
from dragoman.decoding.options import SearchOptions
from dragoman.engine_choice import EngineChoice
from dragoman.errors import ConfigError
from dragoman.special_tokens import END
from dragoman.text.demands import Demands, demands_of
from dragoman.text.glossary import Glossary
from dragoman.text.joining import join_texts
from dragoman.text.long_sentences import split_long
from dragoman.text.normalization import normalize
from dragoman.text.number_formats import NumberFormats
from dragoman.text.placeholders import placeholder_ids
from dragoman.text.sentence_ends import split_sentences
from dragoman.text.sentences import Piece, split_line
from dragoman.text.tokenizer_pair import TokenizerPair
from dragoman.text.unbroken import Stretch, part_by_unbroken
from dragoman.translation import NOTHING, Alternative, Translation, follow
from dragoman.verified_search import Part, VerifiedSearch

if TYPE_CHECKING:
    from dragoman.model_folder import SavedModel


_SHORTEST_TO_CUT = 8  # tokens: what is shorter has no parts worth translating alone


class Understand(Protocol):
    """Gives what a sentence asks of its translation."""

    def __call__(self, text: str, *, showing: bool = False) -> Demands:
        """Find it, and hide what can be hidden, but for numbers to be shown."""
        ...


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
        self._search = VerifiedSearch(model)

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
        split: bool = True,
        check: bool = True,
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
        split: bool = True,
        check: bool = True,
    ) -> list[str]: ...

    def translate(
        self,
        texts: str | Sequence[str],
        *,
        beam_size: int | None = None,
        options: SearchOptions | None = None,
        glossary: Glossary | None = None,
        protect: bool = True,
        split: bool = True,
        check: bool = True,
    ) -> str | list[str]:
        """Translate one line, or each of several; blank ones stay blank.

        The options are `self.options`, or what `dataclasses.replace` makes of them.
        A line of several sentences is translated sentence by sentence, unless not
        split. Numbers, addresses, variables, code, tags and a glossary's terms are
        looked for in every translation, which is searched anew if they are not there,
        or if another check fails; `translate_nbest` tells what still does.
        """
        if isinstance(texts, str):
            return self.translate(
                [texts],
                beam_size=beam_size,
                options=options,
                glossary=glossary,
                protect=protect,
                split=split,
                check=check,
            )[0]
        found = self.translate_nbest(
            texts,
            1,
            beam_size,
            options,
            glossary=glossary,
            protect=protect,
            token_scores=False,
            split=split,
            check=check,
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
        split: bool = True,
        check: bool = True,
    ) -> list[list[Translation]]:
        """Give the best translations of each line, best first.

        Each begins with its prefix, if there are prefixes (then nothing is split), and
        reports what it had to carry over and what seems wrong with it. Without the
        scores of single pieces it may be faster.
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
                split=split,
                check=check,
            )
            rest = iter(others)
            return [_with_unbroken(line, rest, options.nbest) for line in lines]
        understand = partial(self._demands, glossary=glossary, protect=protect)
        if prefixes is not None:
            prefixes = _as_many(texts_of("prefixes", prefixes), texts)
        split = split and prefixes is None
        parts = [self._parts(text, understand, split) for text in texts]
        begun = None if prefixes is None else self._begun(parts, prefixes)
        all_parts = [part for line in parts for part in line]
        searched = [p for p in all_parts if begun is not None or not _is_copied(p)]
        drafts = iter(
            self._search.search(
                searched,
                options,
                begun,
                partial(self._halves, understand=understand),
                checking=check,
                token_scores=token_scores,
            )
        )
        found = [
            [_copied(part)] * options.nbest
            if begun is None and _is_copied(part)
            else self._choose([d.translation for d in next(drafts)], options)
            for part in all_parts
        ]
        waiting = iter(found)
        return [
            _join(line, [next(waiting) for _ in line], options.nbest) for line in parts
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
                split=False,
            )
        )
        return [
            reduce(follow, (_piece(piece, found) for piece in line), NOTHING)
            for line in pieces
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
        parts = self._parts(text, understand, split=False)
        part = parts[0] if parts else Part(Demands("", ""), [])
        source = part.ids
        begun = self._encode_prefix(prefix)
        after = self.engine.pytorch.next_tokens(source, begun, count)
        going_on = [(token, chance) for token, chance in after if token != END]
        prefixes = [[*begun, token] for token, _ in going_on]
        found = self.engine.translate([source] * len(prefixes), options, prefixes)
        translations = {
            token: self._search.draft(part, best[0], checking=False).translation
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

    @cached_property
    def _has_placeholders(self) -> bool:
        source, target = self.tokenizers.source, self.tokenizers.target
        return bool(placeholder_ids(source) and placeholder_ids(target))

    def _demands(
        self,
        text: str,
        *,
        glossary: Glossary | None,
        protect: bool,
        showing: bool = False,
    ) -> Demands:
        return demands_of(
            text,
            self.config.data.normalization,
            protecting=protect,
            has_placeholders=self._has_placeholders,
            glossary=glossary,
            formats=self._formats,
            showing=showing,
        )

    @cached_property
    def _formats(self) -> NumberFormats:
        return NumberFormats(*self.engine.described.languages)

    @property
    def longest(self) -> int:
        """The tokens of a source that the model has learned to translate at once."""
        most, profile = self.config.data.max_tokens, self.engine.described.profile
        return most if profile is None else min(most, profile.longest_source)

    def _parts(self, text: str, understand: Understand, split: bool) -> list[Part]:
        """Make a line ready: its sentences, and parts of those too long to learn."""
        if not text or text.isspace():  # blanks of all kinds
            return []
        language = self.engine.described.languages[0]
        sentences = split_sentences(text, language) if split else [(text, "")]
        parts: list[Part] = []
        for sentence, gap in sentences:
            whole = self._read(sentence, gap, understand)
            if len(whole.ids) <= self.longest:
                parts += [whole] if whole.ids else []
            else:
                parts += self._cut(whole, self.longest, understand)
        return parts

    def _read(
        self, text: str, gap: str, understand: Understand, is_cut: bool = False
    ) -> Part:
        """Read a text as the model does, first with numbers that may become words."""
        encode = self.tokenizers.source.encode
        demands = understand(text)
        part = Part(demands, encode(demands.text), gap, is_cut)
        if not any(self._formats.words(hidden.span) for hidden in demands.hidden):
            return part
        shown = understand(text, showing=True)
        return Part(shown, encode(shown.text), gap, is_cut, part)

    def _cut(self, part: Part, longest: int, understand: Understand) -> list[Part]:
        """Cut a sentence into parts of at most so many tokens."""

        def fits(text: str) -> bool:
            return len(self._read(text, "", understand).ids) <= longest

        pieces = [p for p in split_long(part.demands.source, fits) if p.text]
        cut = [self._read(p.text, p.gap, understand, is_cut=True) for p in pieces]
        return [*cut[:-1], replace(cut[-1], gap=part.gap, is_cut=False)]

    def _halves(self, part: Part, *, understand: Understand) -> list[Part]:
        """Cut a sentence that failed as a whole, if it is long enough for that."""
        if len(part.ids) < _SHORTEST_TO_CUT:
            return []
        parts = self._cut(part, len(part.ids) * 2 // 3, understand)
        return parts if len(parts) > 1 else []


def _is_copied(part: Part) -> bool:
    return part.demands.only_spans


def _copied(part: Part) -> Translation:
    """Give a sentence that has nothing to translate as it is."""
    text = part.demands.source
    return replace(NOTHING, text=text, report=part.demands.report(text))


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
        joined = [
            follow(a, b, _gap(part, a.text))
            for a, b in zip(joined, later, strict=False)
        ]
    cuts = sum(part.is_cut for part in parts)
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
    if line and not any(stretch.is_unbroken for stretch in line):
        return next(found)  # as without company
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


def _gap(part: Part, before: str) -> str:
    """Give the blank after a part, in scripts that have blanks."""
    source = part.demands.source
    if not part.gap and join_texts(source, "") != source:  # cut within a word
        return ""
    return join_texts(before, "").removeprefix(before)


def _piece(piece: Piece, found: Iterator[list[Translation]]) -> Translation:
    """Give the next translation for a sentence, and other text as it is."""
    return next(found)[0] if piece.is_sentence else replace(NOTHING, text=piece.text)
