"""Translation of token sequences by CTranslate2, from an export of the model.

It searches as `decoding.beam` does: the same hypotheses grow, end and are ranked, with
single-precision sums. What it cannot do that way is left to the PyTorch engine. Nothing
here needs PyTorch.
"""

import json
import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dragoman.config import DecodingConfig
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.options import SearchOptions
from dragoman.engines.batches import batches
from dragoman.engines.exports import Export
from dragoman.engines.sound_scores import refuse_unsound
from dragoman.errors import ConfigError, MissingExtraError, ModelFolderError
from dragoman.special_tokens import END, NAMES

BATCHES_EACH = 3  # for a worker, at least
ON_A_CPU = 2000  # tokens of a batch, at most: larger ones leave the near caches


class CTranslate2Engine:
    """Searches for translations, many sentences at a time, with one worker per core.

    Workers with a thread each translate more sentences a second than threads that
    share a sentence, and a lone sentence is quicker on one thread than on threads that
    wait for each other. `settings.batch_tokens` bounds a batch as for PyTorch.
    """

    def __init__(
        self,
        export: Export,
        settings: DecodingConfig,
        device: str = "auto",
        workers: int | None = None,
    ) -> None:
        self.export = export
        self.settings = settings
        self.workers = workers or cores()
        self._source, self._target = _vocabularies(export.folder)
        self._target_ids = {piece: i for i, piece in enumerate(self._target)}
        self._translator = _open(export.folder, device, self.workers)

    @property
    def computes_in(self) -> str:
        """What it multiplies in here, which the export's quantization may not be."""
        return str(self._translator.compute_type).partition("_")[0]

    def __str__(self) -> str:
        """Name what it computes in, and why that is not what was exported, if so."""
        asked, real = self.export.quantization, self.computes_in
        why = "" if asked == real else f", as this processor does not do {asked}"
        workers = "1 worker" if self.workers == 1 else f"{self.workers} workers"
        return f"ctranslate2 ({real}{why}, {workers})"

    def why_not(self, options: SearchOptions, longest: int) -> str | None:
        """Say why sources of up to `longest` tokens cannot be searched so, if so."""
        plain = SearchOptions(
            beam_size=options.beam_size,
            length_penalty_kind=options.length_penalty_kind,
            length_penalty=options.length_penalty,
            max_extra_tokens=options.max_extra_tokens,
            max_repeats=options.max_repeats,  # the guard is our caller's affair
            nbest=options.nbest,
            max_length=options.max_length,
        )
        if options != plain:
            return "CTranslate2 has only greedy and plain beam search, over all tokens"
        if max(options.limit(longest), longest + 1) > self.export.positions:
            return f"this export has only {self.export.positions:,} positions"
        return None

    def translate(
        self,
        sources: Sequence[Sequence[int]],
        options: SearchOptions | None = None,
        *,
        token_scores: bool = False,
    ) -> list[list[Hypothesis]]:
        """Give the best translations of each source, in the order they came.

        The log-probability of each token costs extra, and is given where asked for.
        """
        options = options or SearchOptions.of(self.settings)
        longest = max(map(len, sources), default=0)
        if reason := self.why_not(options, longest):
            raise ConfigError(f"{reason}: use the engine pytorch for this")
        limits = [options.limit(len(source)) for source in sources]
        results = self._search(sources, options, limits)
        for index, found in enumerate(results):
            if any(_length(h) > limits[index] or not h.finished for h in found):
                results[index] = self._search_to_limit(
                    sources[index], options, limits[index]
                )
        best = [_ranked(found, options) for found in results]
        return self.with_token_scores(sources, best) if token_scores else best

    def _search_to_limit(
        self, source: Sequence[int], options: SearchOptions, limit: int
    ) -> list[Hypothesis]:
        """Search once more for what found no end, alone and within its own limit.

        A batch has one limit for all; and what is cut off there must not take the place
        of what ended, so everything is asked for, and the likeliest is taken here.
        """
        if options.beam_size == 1:
            [found] = self._search([source], options, [limit])
            return found
        [found] = self._search([source], options, [limit], options.beam_size * limit)
        found.sort(key=lambda h: (not h.finished, -h.log_probability))
        return found[: options.beam_size]

    def _search(
        self,
        sources: Sequence[Sequence[int]],
        options: SearchOptions,
        limits: Sequence[int],
        most: int | None = None,
    ) -> list[list[Hypothesis]]:
        """Give the likeliest hypotheses that ended for each source: a beam, or more."""
        running = [
            (batch, self._start(sources, batch, options, limits, most))
            for batch in self._batches(sources, options.beam_size)
        ]
        results: list[list[Hypothesis]] = [[] for _ in sources]
        for batch, started in running:
            for index, waiting in zip(batch, started, strict=True):
                results[index] = self._hypotheses(waiting.result())
        refuse_unsound(results)
        return results

    def _batches(
        self, sources: Sequence[Sequence[int]], beam_size: int
    ) -> Iterator[list[int]]:
        """Make batches within the budget, and several of them for every worker.

        With one each, all would wait for the one that has the longest sentences.
        """
        total = sum(len(source) + 1 for source in sources)
        share = -(-total // (BATCHES_EACH * self.workers))
        budget = min(self.settings.batch_tokens, share * beam_size)
        if self._translator.device == "cpu":
            budget = min(budget, ON_A_CPU)
        return batches(sources, budget, beam_size)

    def _start(
        self,
        sources: Sequence[Sequence[int]],
        batch: Sequence[int],
        options: SearchOptions,
        limits: Sequence[int],
        most: int | None,
    ) -> Any:  # noqa: ANN401 (CTranslate2 has no types)
        most = most or options.beam_size
        return self._translator.translate_batch(
            [[self._source[token] for token in sources[index]] for index in batch],
            asynchronous=True,
            beam_size=options.beam_size,
            # With no penalty of its own, it goes on until the likeliest hypothesis has
            # ended and as many as asked for; the ranking is ours.
            num_hypotheses=most,
            patience=most / options.beam_size,
            length_penalty=0,
            max_decoding_length=max(limits[index] for index in batch),
            min_decoding_length=0,
            max_input_length=0,
            return_scores=True,
            return_end_token=True,
        )

    def _hypotheses(self, result: Any) -> list[Hypothesis]:  # noqa: ANN401
        return [
            self._hypothesis(pieces, log_probability)
            for pieces, log_probability in zip(
                result.hypotheses, result.scores, strict=True
            )
        ]

    def _hypothesis(self, pieces: list[str], log_probability: float) -> Hypothesis:
        finished = bool(pieces) and pieces[-1] == NAMES[END]
        tokens = [self._target_ids[piece] for piece in pieces]
        return Hypothesis(
            tokens=tuple(tokens[:-1] if finished else tokens),
            log_probability=log_probability,
            score=log_probability,
            token_log_probabilities=(),
            finished=finished,
        )

    def alignments(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[list[list[float]]]:
        """Give how much each target token looked at each source token.

        CTranslate2 tells it of the last layer, and of targets that it writes itself: so
        each is forced on it, token by token.
        """
        results: list[list[list[float]]] = [[] for _ in sources]
        longer = [max(pair, key=len) for pair in zip(sources, targets, strict=True)]
        for batch in batches(longer, min(self.settings.batch_tokens, ON_A_CPU)):
            found = self._translator.translate_batch(
                [[self._source[token] for token in sources[index]] for index in batch],
                target_prefix=[
                    [self._target[token] for token in targets[index]] for index in batch
                ],
                beam_size=1,
                max_decoding_length=max(len(targets[index]) for index in batch) + 1,
                max_input_length=0,
                return_attention=True,
            )
            for index, result in zip(batch, found, strict=True):
                rows = result.attention[0][: len(targets[index])]
                results[index] = [row[: len(sources[index])] for row in rows]
        return results

    def with_token_scores(
        self, sources: Sequence[Sequence[int]], found: list[list[Hypothesis]]
    ) -> list[list[Hypothesis]]:
        """Let CTranslate2 read each translation once more, and note what it says."""
        pairs = [
            (source, hypothesis)
            for source, hypotheses in zip(sources, found, strict=True)
            for hypothesis in hypotheses
        ]
        scored = self._translator.score_batch(
            [[self._source[token] for token in source] for source, _ in pairs],
            [[self._target[token] for token in h.tokens] for _, h in pairs],
            max_batch_size=self.settings.batch_tokens,
            batch_type="tokens",
            max_input_length=0,
        )
        read = iter(scored)
        return [
            [
                replace(
                    h, token_log_probabilities=tuple(next(read).log_probs[: _length(h)])
                )
                for h in hypotheses
            ]
            for hypotheses in found
        ]


def _length(hypothesis: Hypothesis) -> int:
    """Count the tokens, END included."""
    return len(hypothesis.tokens) + hypothesis.finished


def _ranked(hypotheses: list[Hypothesis], options: SearchOptions) -> list[Hypothesis]:
    """Score with our own length penalty; what was cut comes after what ended."""
    scored = [
        replace(h, score=h.log_probability / options.penalty(max(1, _length(h))))
        for h in hypotheses
    ]
    scored.sort(key=lambda h: (not h.finished, -h.score))
    return scored[: options.nbest]


def cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _open(folder: Path, device: str, workers: int) -> Any:  # noqa: ANN401
    try:
        import ctranslate2
    except ImportError as error:
        raise MissingExtraError(
            "the engine ctranslate2", "ctranslate2", "ctranslate2"
        ) from error
    kind, _, index = device.partition(":")
    if kind == "auto":
        kind = "cuda" if ctranslate2.get_cuda_device_count() else "cpu"
    level = ctranslate2.get_log_level()
    ctranslate2.set_log_level(logging.ERROR)  # what it warns of, we say in our words
    try:
        return ctranslate2.Translator(
            str(folder),
            device=kind,
            device_index=int(index or 0),
            inter_threads=workers,
            intra_threads=1,
            max_queued_batches=-1,
        )
    except (RuntimeError, ValueError) as error:
        said = str(error).partition("\n")[0]
        raise ModelFolderError(
            f"CTranslate2 cannot use {folder} on {device} ({said}): export the model "
            "again, or use the engine pytorch"
        ) from error
    finally:
        ctranslate2.set_log_level(level)


def _vocabularies(folder: Path) -> tuple[list[str], list[str]]:
    """Read the pieces of source and target, which may be the same."""
    shared = folder / "shared_vocabulary.json"
    if shared.is_file():
        pieces = json.loads(shared.read_text("utf-8"))
        return pieces, pieces
    source, target = (
        json.loads((folder / f"{side}_vocabulary.json").read_text("utf-8"))
        for side in ("source", "target")
    )
    return source, target
