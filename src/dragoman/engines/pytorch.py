"""Translation of token sequences by a PyTorch model."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, Self

import torch
import torch.nn.functional as F  # noqa: N812 (the name everyone knows)
from torch import Tensor

from dragoman.config import DecodingConfig
from dragoman.decoding.beam import beam_search
from dragoman.decoding.choices import next_log_probabilities
from dragoman.decoding.close_calls import Judge
from dragoman.decoding.constrained import constrained_search
from dragoman.decoding.constraints import Constraints
from dragoman.decoding.greedy import greedy_search
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.largest import largest
from dragoman.decoding.loops import allowed_repeats, is_looping
from dragoman.decoding.narrowed import Narrowed
from dragoman.decoding.options import SearchOptions
from dragoman.decoding.repetition import NoLoops
from dragoman.decoding.rules import MinimumLength, NoRepeatedRun, Prefixes, Rule
from dragoman.decoding.sampling import sampling_search
from dragoman.decoding.shortlist import Shortlist
from dragoman.engines.batches import batches
from dragoman.engines.cross_attention import look
from dragoman.engines.exact_copy import ExactCopy
from dragoman.engines.sound_scores import refuse_unsound
from dragoman.errors import ConfigError
from dragoman.kernels.choice import kernels_if_any
from dragoman.model.contract import Memory, Predictor, State, TranslationModel
from dragoman.model.evaluating import evaluating
from dragoman.special_tokens import BEGIN, END, PAD


class PredictorModule(Predictor[Memory, State], Protocol):
    """A predictor that is a `torch.nn.Module` too."""

    training: bool

    def train(self, mode: bool = True) -> Self:
        """Choose between training and evaluation, as `torch.nn.Module` does."""
        ...

    def to(self, device: torch.device) -> Self:
        """Move the weights, as `torch.nn.Module` does."""
        ...


class TranslationModule(
    PredictorModule[Memory, State], TranslationModel[Memory, State], Protocol
):
    """A translation model that is a `torch.nn.Module` too."""


class PyTorchEngine:
    """Searches for translations, many sentences at a time, on one device.

    `settings.batch_tokens` bounds how many source positions are worked on at once:
    sentences × the longest of them, END and padding included, × the hypotheses held
    of each. A longer sentence is a batch of its own.

    The tokens of a translation depend on its source and the options alone, not on
    what else is translated, in which order or in what batches: see
    `decoding.close_calls`. Scores may differ in their last digits. `exact` settles
    them where the model itself is not a plain module that can be copied.
    """

    def __init__(
        self,
        model: PredictorModule[Any, Any],
        settings: DecodingConfig,
        device: torch.device | str = "cpu",
        exact: ExactCopy | None = None,
        shortlist: Shortlist | None = None,
    ) -> None:
        self.device = torch.device(device)
        self.model = model.to(self.device)
        self.settings = settings
        self._exact = exact or ExactCopy(self.model)
        self._shortlist = shortlist

    def translate(
        self,
        sources: Sequence[Sequence[int]],
        options: SearchOptions | None = None,
        prefixes: Sequence[Sequence[int]] | None = None,
        guarded: int | None = None,
    ) -> list[list[Hypothesis]]:
        """Give the best translations of each source, in the order they came.

        Without options they are as in the settings. Sources have neither BEGIN nor
        END; each translation begins with its prefix, where there are any. A sentence
        of which a translation (or one of the `guarded` best) loops, as by
        `options.max_repeats`, is searched once more with loops forbidden; the others
        are as they would be without that guard.
        """
        options = options or SearchOptions.of(self.settings)
        if options.shortlist and self._shortlist is None:
            raise ConfigError(
                "there is no shortlist for this: `dragoman shortlist MODEL` learns one "
                "for a model that translates by itself"
            )
        if options.shortlist and prefixes is not None and any(prefixes):
            raise ConfigError(
                "a shortlist may lack the tokens of a given beginning: leave out one "
                "of the two"
            )
        begun = [()] * len(sources) if prefixes is None else prefixes
        results = self._translate(sources, options, begun, guarded=False)
        looping = [
            index
            for index, (source, found) in enumerate(zip(sources, results, strict=True))
            if is_looping(source, found[:guarded], options)
        ]
        again = self._translate(
            [sources[index] for index in looping],
            options,
            [begun[index] for index in looping],
            guarded=True,
        )
        for index, found in zip(looping, again, strict=True):
            results[index] = found
        return results

    def _translate(
        self,
        sources: Sequence[Sequence[int]],
        options: SearchOptions,
        prefixes: Sequence[Sequence[int]],
        guarded: bool,
    ) -> list[list[Hypothesis]]:
        results: list[list[Hypothesis]] = [[] for _ in sources]
        with torch.inference_mode(), evaluating(self.model), kernels_if_any():
            for batch in batches(sources, self.settings.batch_tokens, options.num_rows):
                sentences = [sources[index] for index in batch]
                begun = [prefixes[index] for index in batch]
                rules = build_rules(sentences, options, begun, guarded)
                found = self._search(sentences, options, begun, rules)
                refuse_unsound(found)
                for index, hypotheses in zip(batch, found, strict=True):
                    results[index] = hypotheses
        return results

    def translate_constrained(
        self,
        sources: Sequence[Sequence[int]],
        constraints: Sequence[Constraints],
        options: SearchOptions | None = None,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        """Give the best translations that keep to each source's own constraints.

        It is done in double precision throughout, so company changes nothing.
        """
        options = options or SearchOptions.of(self.settings)
        begun = [()] * len(sources) if prefixes is None else prefixes
        results: list[list[Hypothesis]] = [[] for _ in sources]
        model = self._exact() if self._exact.is_needed else self.model
        guarded = options.max_repeats > 0
        with torch.inference_mode(), evaluating(model):
            rows = 4 * options.beam_size  # more or less, as there are banks
            for batch in batches(sources, self.settings.batch_tokens, rows):
                sentences = [sources[index] for index in batch]
                before = [begun[index] for index in batch]
                found = constrained_search(
                    model,
                    _pad(sentences).to(self.device),
                    [
                        options.limit(len(sentence), len(prefix))
                        for sentence, prefix in zip(sentences, before, strict=True)
                    ],
                    options,
                    [constraints[index] for index in batch],
                    build_rules(sentences, options, before, guarded),
                )
                for index, hypotheses in zip(batch, found, strict=True):
                    results[index] = hypotheses
        return results

    def _search(
        self,
        sentences: Sequence[Sequence[int]],
        options: SearchOptions,
        prefixes: Sequence[Sequence[int]],
        rules: Sequence[Rule],
    ) -> list[list[Hypothesis]]:
        source = _pad(sentences).to(self.device)
        limits = [
            options.limit(len(sentence), len(prefix))
            for sentence, prefix in zip(sentences, prefixes, strict=True)
        ]
        judge = Judge(self._exact, source) if self._exact.is_needed else None
        if not options.shortlist:
            return _search(self.model, source, limits, options, rules, judge)
        assert self._shortlist is not None, "refused earlier"
        words = self._shortlist, self._shortlist.tokens(source)
        model: Any = self.model  # one that has a shortlist can be trained too
        narrowed = Narrowed(model, *words)
        if judge is not None:
            judge = Judge(lambda: Narrowed(self._exact(), *words), source)
        found = _search(narrowed, source, limits, options, rules, judge)
        return [[narrowed.widen(one) for one in sentence] for sentence in found]

    def score(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[tuple[float, ...]]:
        """Give the log-probability of each token of each target, END's last."""
        results: list[tuple[float, ...]] = [()] * len(sources)
        pairs = list(zip(sources, targets, strict=True))
        longer = [max(pair, key=len) for pair in pairs]
        with torch.inference_mode(), evaluating(self.model):
            for batch in batches(longer, self.settings.batch_tokens):
                source = _pad([sources[index] for index in batch]).to(self.device)
                target = _pad([targets[index] for index in batch]).to(self.device)
                begin = torch.full_like(target[:, :1], BEGIN)
                target_in = torch.cat([begin, target[:, :-1]], dim=1)
                logits = self.model.forward(source, target_in)
                said = -F.cross_entropy(
                    logits.flatten(0, 1), target.flatten(), reduction="none"
                )
                for index, row in zip(
                    batch, said.view_as(target).tolist(), strict=True
                ):
                    results[index] = tuple(row[: len(targets[index]) + 1])
        return results

    def attended(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[list[float]]:
        """Give the most that any target token looked at each source token.

        In the layer that looked most, heads averaged; END is left out. A model without
        attention looked at everything.
        """
        results = [[1.0] * len(source) for source in sources]
        for index, weights in self._looks(sources, targets):
            said_something = bool(targets[index])
            most = weights.amax(dim=(0, 1)) if said_something else weights.sum((0, 1))
            results[index] = most.tolist()
        return results

    def alignments(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[list[list[float]]]:
        """Give how much each target token looked at each source token, layers averaged.

        None for a model without attention.
        """
        results: list[list[list[float]]] = [[] for _ in sources]
        for index, weights in self._looks(sources, targets):
            results[index] = weights.mean(dim=0).tolist()
        return results

    def _looks(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> Iterator[tuple[int, Tensor]]:
        """Yield (layer, target, source) of each pair, without END."""
        longer = [max(pair, key=len) for pair in zip(sources, targets, strict=True)]
        with torch.inference_mode(), evaluating(self.model):
            for batch in batches(longer, self.settings.batch_tokens):
                source = _pad([sources[index] for index in batch]).to(self.device)
                target = _pad([targets[index] for index in batch]).to(self.device)
                begin = torch.full_like(target[:, :1], BEGIN)
                target_in = torch.cat([begin, target[:, :-1]], dim=1)
                weights = look(self.model, source, target_in)
                if weights is None:
                    return
                for row, index in enumerate(batch):
                    said, read = len(targets[index]), len(sources[index])
                    yield index, weights[row, :, :said, :read]

    def next_tokens(
        self, source: Sequence[int], prefix: Sequence[int], count: int
    ) -> list[tuple[int, float]]:
        """Give the `count` likeliest tokens after a prefix, each with its chance."""
        read = _pad([source]).to(self.device)
        target_in = torch.tensor([[BEGIN, *prefix]], device=self.device)
        with torch.inference_mode(), evaluating(self.model):
            chances = next_log_probabilities(self.model.forward(read, target_in)[:, -1])
        best, tokens = largest(chances, count)
        return list(zip(tokens[0].tolist(), best[0].tolist(), strict=True))


def _search(
    model: Predictor[Any, Any],
    source: Tensor,
    limits: Sequence[int],
    options: SearchOptions,
    rules: Sequence[Rule],
    judge: Judge | None,
) -> list[list[Hypothesis]]:
    """Search as the options ask."""
    most = torch.tensor(limits)
    match options.method:
        case "beam" if options.beam_size == 1:
            found = greedy_search(model, source, most, options.penalty, rules, judge)
            return [[hypothesis] for hypothesis in found]
        case "beam":
            return beam_search(model, source, most, options, rules, judge)
        case _:
            options = replace(options, method="sampling", nbest=options.num_rows)
            return sampling_search(model, source, most, options, rules, judge)


def build_rules(
    sources: Sequence[Sequence[int]],
    options: SearchOptions,
    prefixes: Sequence[Sequence[int]],
    guarded: bool,
) -> tuple[Rule, ...]:
    """Give what the options ask for as rules; a prefix wins over all others."""
    rules: list[Rule] = []
    if any(prefixes):
        rules.append(Prefixes(tuple(map(tuple, prefixes))))
    if options.min_length:
        rules.append(MinimumLength(options.min_length))
    if options.no_repeat_ngram:
        rules.append(NoRepeatedRun(options.no_repeat_ngram))
    if guarded:
        allowed = [allowed_repeats(source, options.max_repeats) for source in sources]
        rules.append(NoLoops(tuple(allowed)))
    return tuple(rules)


def _pad(sentences: Sequence[Sequence[int]]) -> Tensor:
    length = max(map(len, sentences)) + 1
    rows = [
        [*sentence, END, *[PAD] * (length - len(sentence) - 1)]
        for sentence in sentences
    ]
    return torch.tensor(rows)
