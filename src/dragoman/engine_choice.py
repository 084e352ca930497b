"""Which engine translates: CTranslate2 where an export fits, else PyTorch.

PyTorch can do everything and takes a second or more to load, so it is only loaded when
it is needed.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from dragoman.arguments import check_choice, check_whole
from dragoman.config import TRANSLATOR_KINDS
from dragoman.decoding.constraints import Constraints
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.loops import is_looping
from dragoman.decoding.options import SearchOptions
from dragoman.engines.ctranslate2 import CTranslate2Engine
from dragoman.engines.exports import find_export
from dragoman.errors import ConfigError, MissingExtraError, ModelFolderError
from dragoman.model_files import ModelDescription, refuse_other_kind

if TYPE_CHECKING:
    from dragoman.engines.pytorch import PyTorchEngine
    from dragoman.model.ensemble import Ensemble
    from dragoman.model_folder import SavedModel

ENGINES = ("auto", "pytorch", "ctranslate2")


class EngineChoice:
    """A model and the engines that can run it; PyTorch is opened when first needed.

    `why_pytorch` says why CTranslate2 is not used, where that is so.
    """

    def __init__(
        self,
        described: ModelDescription,
        load: "Callable[[], SavedModel]",
        ctranslate2: CTranslate2Engine | None = None,
        why_pytorch: str | None = None,
        device: str = "auto",
        threads: int | None = None,
        *,
        load_others: "Callable[[], Sequence[SavedModel]]" = tuple,
        only: bool = False,
    ) -> None:
        self.described = described
        self.ctranslate2 = ctranslate2
        self.why_pytorch = why_pytorch
        self._load = load
        self._load_others = load_others
        self._device = device
        self._threads = threads
        self._only_ctranslate2 = only

    @classmethod
    def of(
        cls,
        saved: "SavedModel",
        device: str = "auto",
        others: "Sequence[SavedModel]" = (),
    ) -> Self:
        """Take a model that is in memory, and others to predict with it."""
        described = ModelDescription(
            saved.tokenizers, saved.config, saved.languages, saved.profile
        )
        choice = cls(
            described,
            lambda: saved,
            None,
            "the model is in memory",
            device,
            load_others=lambda: others,
        )
        _ = choice.pytorch
        return choice

    @classmethod
    def open(
        cls,
        folder: Path,
        engine: str = "auto",
        device: str = "auto",
        threads: int | None = None,
        others: Sequence[Path] = (),
    ) -> Self:
        """Take a model folder, and its export if there is one that fits.

        Only PyTorch can predict with several models together.
        """
        check_choice("engine", engine, ENGINES)
        if threads is not None:
            check_whole("threads", threads)
        described = ModelDescription.read(folder)
        refuse_other_kind(folder, described.config, TRANSLATOR_KINDS)
        found: CTranslate2Engine | None = None
        why_pytorch: str | None = "it was asked for"
        if others:
            why_pytorch = "CTranslate2 cannot predict with several models together"
            if engine == "ctranslate2":
                raise ConfigError(f"{why_pytorch}: use the engine pytorch for this")
        elif engine != "pytorch":
            try:
                export, settings = find_export(folder), described.config.decoding
                found = CTranslate2Engine(export, settings, device, threads)
                why_pytorch = None
            except (ModelFolderError, MissingExtraError) as error:
                if engine == "ctranslate2":
                    raise
                why_pytorch = str(error)
        choice = cls(
            described,
            lambda: _load(folder),
            found,
            why_pytorch,
            device,
            threads,
            load_others=lambda: [_load(other) for other in others],
            only=engine == "ctranslate2",
        )
        if found is None:
            _ = choice.pytorch  # what is wrong with the weights is said at once
        return choice

    @cached_property
    def saved(self) -> "SavedModel":
        """The model itself, in PyTorch."""
        return self._load()

    @cached_property
    def pytorch(self) -> "PyTorchEngine":
        """The engine that can do everything."""
        import torch

        from dragoman.engines.pytorch import PyTorchEngine
        from dragoman.model.device import choose_device
        from dragoman.model.freed_memory import keep_freed_memory

        keep_freed_memory()
        if self._threads is not None:
            torch.set_num_threads(self._threads)
        others, model = self._load_others(), self.saved.model
        together = predict_together(self.saved, others) if others else model
        settings, device = self.described.config.decoding, choose_device(self._device)
        shortlist = None if others else self.saved.shortlist
        return PyTorchEngine(together, settings, device, shortlist=shortlist)

    def translate(
        self,
        sources: Sequence[Sequence[int]],
        options: SearchOptions,
        prefixes: Sequence[Sequence[int]] | None = None,
        guarded: int | None = None,
    ) -> list[list[Hypothesis]]:
        """Translate with the faster engine that can do what is asked.

        The guard against loops looks at all hypotheses, or at so many of the best.
        CTranslate2 gives no scores of single tokens: see `with_token_scores`.
        """
        if self.ctranslate2 is not None:
            plain = replace(options, max_repeats=0)
            longest = max(map(len, sources), default=0)
            reason = self.ctranslate2.why_not(plain, longest)
            if prefixes is not None and any(prefixes):
                reason = "CTranslate2 cannot go on from a given beginning as we do"
            if reason is None:
                found = self.ctranslate2.translate(sources, plain)
                return self._without_loops(sources, found, options, guarded)
            if self._only_ctranslate2:
                raise ConfigError(f"{reason}: use the engine pytorch for this")
            self.why_pytorch = reason
        return self.pytorch.translate(sources, options, prefixes, guarded)

    def with_token_scores(
        self, sources: Sequence[Sequence[int]], found: list[list[Hypothesis]]
    ) -> list[list[Hypothesis]]:
        """Give the hypotheses with the log-probability of each token."""
        if self.ctranslate2 is None:
            return found
        lacking = [
            index
            for index, hypotheses in enumerate(found)
            if not all(h.token_log_probabilities for h in hypotheses)
        ]
        scored = self.ctranslate2.with_token_scores(
            [sources[index] for index in lacking], [found[index] for index in lacking]
        )
        result = list(found)
        for index, hypotheses in zip(lacking, scored, strict=True):
            result[index] = hypotheses
        return result

    def translate_constrained(
        self,
        sources: Sequence[Sequence[int]],
        constraints: Sequence[Constraints],
        options: SearchOptions,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        """Translate under constraints, which only PyTorch can."""
        return self.pytorch.translate_constrained(
            sources, constraints, options, prefixes
        )

    def attended(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[list[float]]:
        """Give the most that any target token looked at each source token."""
        if self.ctranslate2 is None:
            return self.pytorch.attended(sources, targets)
        return [
            [max(looks) for looks in zip(*rows, strict=True)] or [0.0] * len(source)
            for source, rows in zip(
                sources, self.ctranslate2.alignments(sources, targets), strict=True
            )
        ]

    def alignments(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[list[list[float]]]:
        """Give how much each target token looked at each source token, if known."""
        engine = self.ctranslate2 or self.pytorch
        return engine.alignments(sources, targets)

    def _without_loops(
        self,
        sources: Sequence[Sequence[int]],
        found: list[list[Hypothesis]],
        options: SearchOptions,
        guarded: int | None,
    ) -> list[list[Hypothesis]]:
        """Leave to PyTorch, which has the guard, the few sentences that loop."""
        looping = [
            index
            for index, source in enumerate(sources)
            if is_looping(source, found[index][:guarded], options)
        ]
        if looping:
            again = self.pytorch.translate([sources[i] for i in looping], options)
            for index, hypotheses in zip(looping, again, strict=True):
                found[index] = hypotheses
        return found

    @property
    def name(self) -> str:
        """The engine that translates, or did last."""
        other = self.ctranslate2 is None or self.why_pytorch is not None
        return "pytorch" if other else "ctranslate2"

    def __str__(self) -> str:
        """Name the engine for people, and say why it is this one."""
        if self.ctranslate2 is None or self.why_pytorch is not None:
            return f"pytorch ({self.why_pytorch})"
        return str(self.ctranslate2)


def _load(folder: Path) -> "SavedModel":
    from dragoman.model_folder import load_model

    saved = load_model(folder)
    saved.model.lay_out_for_steps()
    return saved


def predict_together(saved: "SavedModel", others: "Sequence[SavedModel]") -> "Ensemble":
    """Join models whose vocabularies are the same."""
    from dragoman.model.ensemble import Ensemble

    first = saved.tokenizers
    for other in others:
        for side in ("source", "target"):
            mine, its = getattr(first, side), getattr(other.tokenizers, side)
            if mine.serialize() != its.serialize():
                raise ConfigError(
                    "models that predict together need one vocabulary, and the "
                    f"{side} vocabularies of these differ: train them on the same "
                    "prepared text"
                )
    return Ensemble([saved.model, *[other.model for other in others]])
