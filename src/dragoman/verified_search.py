"""Searches, checks every translation, and searches again for those that fail.

The free search comes first, and most of what it finds is right. Where it is not, the
other hypotheses of the beam are looked at; then a search under constraints sees to what
must be there; then the sentence is translated in parts. Of all that was found, the one
with the fewest faults is given, and what is still wrong with it is told.
"""

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce

from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.options import SearchOptions
from dragoman.engine_choice import EngineChoice
from dragoman.phrases import PhraseSpeller
from dragoman.tag_alignment import enclosing_marks, place_tags
from dragoman.text.checks import Concern, Lengths, LineChecks
from dragoman.text.demands import Demands
from dragoman.translation import NOTHING, Translation, follow

HARDLY = 0.1  # a source word that no target word gives even this much was passed over
_LACKING = 10  # faults that one thing counts for which must be there and is not
_TELLING_LETTERS = 5  # of a word that is missed if it is passed over


@dataclass(frozen=True)
class Part:
    """A part of a sentence that is translated by itself, and the blanks after it."""

    demands: Demands
    ids: list[int]
    gap: str = ""
    is_cut: bool = False  # after it a sentence goes on that was too long
    hiding: "Part | None" = None  # the same with all numbers behind placeholders


Cut = Callable[[Part], Sequence[Part]]  # gives smaller parts, or none


@dataclass(frozen=True)
class Draft:
    """A hypothesis as text, and what is wrong with it."""

    hypothesis: Hypothesis
    translation: Translation
    num_faults: int

    @property
    def is_clean(self) -> bool:
        """Whether all checks are passed."""
        return not self.num_faults


class VerifiedSearch:
    """A search with one model, whose results are checked by the rules of its text."""

    def __init__(self, engine: EngineChoice) -> None:
        described = engine.described
        self.engine = engine
        self._tokenizers = described.tokenizers
        self._checks = LineChecks(described.languages, described.profile)

    @cached_property
    def speller(self) -> PhraseSpeller:
        """What spells demands in tokens."""
        return PhraseSpeller(self._tokenizers.target)

    def search(
        self,
        parts: Sequence[Part],
        options: SearchOptions,
        prefixes: Sequence[Sequence[int]] | None,
        cut: Cut,
        *,
        checking: bool = True,
        token_scores: bool = True,
    ) -> list[list[Draft]]:
        """Give the `options.nbest` best drafts of each part, the cleanest first.

        `cut` says how a part that fails as a whole is translated piece by piece.
        """
        parts = list(parts)
        found, drafts = self._free(parts, options, prefixes, checking)
        hidden = self._hide_numbers(parts, found, drafts, options, prefixes, checking)
        if checking:
            self._look_for_lost_words(parts, found, drafts, options)
        self._constrain(parts, drafts, options, prefixes, checking)
        if checking and options.nbest == 1 and prefixes is None:
            self._translate_in_parts(parts, drafts, options, cut)
            drafts = [
                [_noting(few[0], found[place][0], first=place not in hidden)]
                for place, few in enumerate(drafts)
            ]
        return self._scored(parts, drafts) if token_scores else drafts

    def _free(
        self,
        parts: Sequence[Part],
        options: SearchOptions,
        prefixes: Sequence[Sequence[int]] | None,
        checking: bool,
    ) -> tuple[list[list[Hypothesis]], list[list[Draft]]]:
        """Search without constraints, and choose among what a beam ends with."""
        sources = [part.ids for part in parts]
        found = self.engine.translate(
            sources, _whole_beam(options), prefixes, options.nbest
        )
        most = options.num_rows if options.method == "bayes-risk" else options.nbest
        drafts = [
            self._choose(part, hypotheses, most, checking)
            for part, hypotheses in zip(parts, found, strict=True)
        ]
        return found, drafts

    def _hide_numbers(
        self,
        parts: list[Part],
        found: list[list[Hypothesis]],
        drafts: list[list[Draft]],
        options: SearchOptions,
        prefixes: Sequence[Sequence[int]] | None,
        checking: bool,
    ) -> Container[int]:
        """Search again with placeholders for numbers that did not come out right.

        The places of these are given back.
        """
        again = {
            place: part.hiding
            for place, part in enumerate(parts)
            if part.hiding and any(_is_lacking(draft) for draft in drafts[place])
        }
        if not again:
            return again
        begun = None if prefixes is None else [prefixes[place] for place in again]
        results = self._free([*again.values()], options, begun, checking)
        for (place, part), hypotheses, few in zip(again.items(), *results, strict=True):
            parts[place], drafts[place] = part, few
            found[place] = hypotheses
        return again

    def draft(self, part: Part, hypothesis: Hypothesis, checking: bool) -> Draft:
        """Make a text of a hypothesis, and check it."""
        demands, target = part.demands, self._tokenizers.target
        text, report = demands.finish(target.decode(self._with_tags(part, hypothesis)))
        lengths = Lengths(len(part.ids), len(hypothesis.tokens))
        concerns = self._checks.concerns(demands, text, lengths) if checking else ()
        translation = Translation(
            text=text,
            score=hypothesis.score,
            log_probability=hypothesis.log_probability,
            pieces=tuple(target.pieces(hypothesis.tokens)),
            piece_log_probabilities=hypothesis.token_log_probabilities,
            report=report,
            concerns=concerns,
        )
        met = demands.are_met(target.decode(hypothesis.tokens))
        lost = sum(not carried.placed for carried in report) or not met
        return Draft(hypothesis, translation, _LACKING * lost + len(concerns))

    def _with_tags(self, part: Part, hypothesis: Hypothesis) -> Sequence[int]:
        """Give the tokens with tags around the words that they should enclose."""
        source, target = part.ids, hypothesis.tokens
        if not part.demands.hidden:
            return target
        pairs = enclosing_marks(part.demands, self.speller, source)
        if not pairs:
            return target
        [alignment] = self.engine.alignments([source], [target])
        tokenizer = self._tokenizers.target
        placed = place_tags(source, target, alignment, pairs, tokenizer)
        met = part.demands.are_met(tokenizer.decode(placed))
        return placed if met else target

    def _choose(
        self,
        part: Part,
        hypotheses: Iterable[Hypothesis],
        most: int,
        checking: bool,
    ) -> list[Draft]:
        """Give the best drafts, and look no further than needed for clean ones."""
        drafts: list[Draft] = []
        clean = 0
        for hypothesis in hypotheses:
            drafts.append(self.draft(part, hypothesis, checking))
            clean += drafts[-1].is_clean
            if clean == most:
                break
        return _cleanest(drafts, most)

    def _look_for_lost_words(
        self,
        parts: Sequence[Part],
        found: Sequence[Sequence[Hypothesis]],
        drafts: list[list[Draft]],
        options: SearchOptions,
    ) -> None:
        """Find words that nobody looked at in short translations.

        What is lost makes a translation short, so only those are looked at.
        """
        if options.nbest > 1 or options.method != "beam":
            return
        short = [
            place
            for place, few in enumerate(drafts)
            if self._is_short(parts[place], few[0])
        ]
        lost = self._lost_words(
            [(parts[place], drafts[place][0].hypothesis) for place in short]
        )
        again = [place for place, concern in zip(short, lost, strict=True) if concern]
        others = [
            (place, self.draft(parts[place], hypothesis, checking=True))
            for place in again
            for hypothesis in found[place]
        ]
        judged = self._lost_words([(parts[p], d.hypothesis) for p, d in others])
        for place in again:
            candidates = [
                _with_concern(draft, concern)
                for (its, draft), concern in zip(others, judged, strict=True)
                if its == place
            ]
            drafts[place] = _cleanest(candidates, 1)

    def _is_short(self, part: Part, draft: Draft) -> bool:
        lengths = Lengths(len(part.ids), len(draft.hypothesis.tokens))
        return self._checks.is_shortish(lengths)

    def _lost_words(
        self, pairs: Sequence[tuple[Part, Hypothesis]]
    ) -> list[Concern | None]:
        """Give, for each, a concern about a word that nobody looked at, if there is."""
        if not pairs:
            return []
        looks = self.engine.attended(
            [part.ids for part, _ in pairs], [h.tokens for _, h in pairs]
        )
        return [
            self._passed_over(part.ids, received)
            for (part, _), received in zip(pairs, looks, strict=True)
        ]

    def _passed_over(
        self, source: Sequence[int], received: Sequence[float]
    ) -> Concern | None:
        pieces = self._tokenizers.source.pieces(source)
        words: list[tuple[str, float]] = []
        for piece, look in zip(pieces, received, strict=True):
            if piece.startswith("▁") or not words:
                words.append((piece.removeprefix("▁"), look))
            else:
                words[-1] = words[-1][0] + piece, max(words[-1][1], look)
        for word, look in words:
            if look < HARDLY and sum(map(str.isalpha, word)) >= _TELLING_LETTERS:
                return Concern("passed over", f"{word!r} may be lost")
        return None

    def _constrain(
        self,
        parts: Sequence[Part],
        drafts: list[list[Draft]],
        options: SearchOptions,
        prefixes: Sequence[Sequence[int]] | None,
        checking: bool,
    ) -> None:
        """Search under constraints where something is not there that must be."""
        again = [
            place
            for place, few in enumerate(drafts)
            if parts[place].demands.anything
            and any(_is_lacking(draft) for draft in few)
        ]
        if not again:
            return
        better = self.engine.translate_constrained(
            [parts[place].ids for place in again],
            [self.speller.constraints(parts[place].demands) for place in again],
            options,
            None if prefixes is None else [prefixes[place] for place in again],
        )
        for place, hypotheses in zip(again, better, strict=True):
            most = len(drafts[place])
            new = self._choose(parts[place], hypotheses, most, checking)
            drafts[place] = _cleanest([*new, *drafts[place]], most)

    def _translate_in_parts(
        self,
        parts: Sequence[Part],
        drafts: list[list[Draft]],
        options: SearchOptions,
        cut: Cut,
    ) -> None:
        """Translate what still fails in smaller parts, and keep what is cleaner."""
        again = {
            place: smaller
            for place, few in enumerate(drafts)
            if not few[0].is_clean and (smaller := cut(parts[place]))
        }
        if not again:
            return
        smaller = [part for few in again.values() for part in few]
        found = iter(self.search(smaller, options, None, lambda _: ()))
        for place, few in again.items():
            pieces = [next(found)[0] for _ in few]
            whole = self._joined(parts[place], few, pieces)
            drafts[place] = _cleanest([*drafts[place], whole], 1)

    def _joined(
        self, part: Part, smaller: Sequence[Part], drafts: Sequence[Draft]
    ) -> Draft:
        """Put the drafts of smaller parts together and check them as a whole."""
        translations = [draft.translation for draft in drafts]
        texts = [
            replace(found, text=found.text + " " * bool(one.gap))
            for found, one in zip(translations, smaller, strict=True)
        ]
        joined = reduce(follow, texts, NOTHING)
        said = sum(len(draft.hypothesis.tokens) for draft in drafts)
        concerns = self._checks.concerns(
            part.demands, joined.text, Lengths(len(part.ids), said)
        )
        report = part.demands.report(joined.text)
        lost = sum(not carried.placed for carried in report)
        concerns += tuple(c for c in joined.concerns if c.kind == "passed over")
        translation = replace(joined, report=report, concerns=concerns)
        return Draft(drafts[0].hypothesis, translation, _LACKING * lost + len(concerns))

    def _scored(
        self, parts: Sequence[Part], drafts: Sequence[Sequence[Draft]]
    ) -> list[list[Draft]]:
        """Note the log-probability of each piece where the engine has not given it."""
        found = [[draft.hypothesis for draft in few] for few in drafts]
        scored = self.engine.with_token_scores([part.ids for part in parts], found)
        return [
            [_with_scores(*pair) for pair in zip(few, hypotheses, strict=True)]
            for few, hypotheses in zip(drafts, scored, strict=True)
        ]


def _whole_beam(options: SearchOptions) -> SearchOptions:
    """Ask for all that a beam ends with: what is not best may be what is right."""
    if options.method != "beam" or options.groups > 1:
        return options
    return replace(options, nbest=options.beam_size)


def _is_lacking(draft: Draft) -> bool:
    """Say whether something is not there that must be."""
    return draft.num_faults >= _LACKING


def _cleanest(drafts: Sequence[Draft], most: int) -> list[Draft]:
    return sorted(drafts, key=lambda draft: draft.num_faults)[:most]


def _with_concern(draft: Draft, concern: Concern | None) -> Draft:
    if concern is None:
        return draft
    translation = draft.translation
    concerns = (*translation.concerns, concern)
    return replace(
        draft,
        translation=replace(translation, concerns=concerns),
        num_faults=draft.num_faults + 1,
    )


def _noting(draft: Draft, preferred: Hypothesis, *, first: bool) -> Draft:
    """Note whether a draft is not what the first search preferred."""
    same = first and draft.hypothesis is preferred
    mended = draft.is_clean and not same
    return replace(draft, translation=replace(draft.translation, mended=mended))


def _with_scores(draft: Draft, scored: Hypothesis) -> Draft:
    translation = draft.translation
    if translation.piece_log_probabilities:
        return draft
    scores = scored.token_log_probabilities
    return replace(
        draft, translation=replace(translation, piece_log_probabilities=scores)
    )
