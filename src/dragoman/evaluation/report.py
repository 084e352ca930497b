"""Translate a test set, score it, and say what came out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from dragoman.arguments import check_flags, check_path, check_whole
from dragoman.decoding.options import SearchOptions
from dragoman.errors import EvaluationError
from dragoman.evaluation.breakdown import LengthBucket, breakdown_table, by_length
from dragoman.evaluation.metrics import Scores, score
from dragoman.evaluation.significance import Comparison, compare
from dragoman.model_files import check_folder
from dragoman.text.corpus import read_lines
from dragoman.text.glossary import Glossary
from dragoman.translator import Translator

SENTENCES_AT_ONCE = 500
FEW_SENTENCES = 100  # too few for resampling them to say much


@dataclass(frozen=True)
class EvaluationReport:
    """Scores of a translator on a test set, and of another beside it if asked."""

    model: str
    sentences: int
    scores: Scores
    by_length: tuple[LengthBucket, ...]
    against: str | None
    against_scores: Scores | None
    comparisons: tuple[Comparison, ...]
    translations: tuple[str, ...]
    engine: str

    def to_dict(self) -> dict[str, Any]:
        """Give one plain object, for `--json`."""
        values: dict[str, Any] = {
            "model": self.model,
            "sentences": self.sentences,
            "engine": self.engine,
            **self.scores.to_dict(),
            "by_length": [bucket.to_dict() for bucket in self.by_length],
        }
        if self.against_scores is not None:
            values["against"] = {"model": self.against, **self.against_scores.to_dict()}
            values["comparison"] = [c.to_dict() for c in self.comparisons]
        return values

    def table(self) -> str:
        """Give the report as text."""
        parts = [
            f"{self.model}: {self.sentences:,} sentences",
            self.scores.table(),
            "by the number of words in the source:",
            breakdown_table(self.by_length),
        ]
        if self.against_scores is not None:
            parts += [f"{self.against}:", self.against_scores.table()]
            parts.append("\n".join(c.sentence() for c in self.comparisons))
        if self.sentences < FEW_SENTENCES:
            parts.append(
                f"fewer than {FEW_SENTENCES} sentences: intervals are rough, and a "
                "difference proves little"
            )
        return "\n\n".join(parts)


def plainly(options: SearchOptions) -> SearchOptions:
    """Search as the model does by itself, without the guard against loops."""
    return replace(options, max_repeats=0)


def evaluate(
    model: str | Path,
    *,
    source: str | Path,
    reference: str | Path,
    against: str | Path | None = None,
    beam_size: int | None = None,
    lowercase: bool = False,
    glossary: Glossary | None = None,
    protect: bool = True,
    split: bool = True,
    device: str = "auto",
    engine: str = "auto",
    threads: int | None = None,
    progress: bool = False,
    options: Callable[[SearchOptions], SearchOptions] = plainly,
) -> EvaluationReport:
    """Score a model folder on a test set, and compare it with another if given.

    `options` makes what is wanted of a model's own search options; as it is, only the
    guard against loops is off, so that a model is seen with its faults.
    """
    for name, path in (("model", model), ("source", source), ("reference", reference)):
        check_path(name, path)
    if beam_size is not None:
        check_whole("beam_size", beam_size)
    check_flags(lowercase=lowercase, protect=protect, progress=progress)
    for folder in (model, against):
        if folder is not None:
            check_folder(Path(folder))  # before the first of them takes its time
    sources, references = read_test_set(Path(source), Path(reference))

    def asked(own: SearchOptions) -> SearchOptions:
        wanted = options(own)
        return wanted if beam_size is None else replace(wanted, beam_size=beam_size)

    translator = Translator.load(model, device, engine=engine, threads=threads)
    translate = partial(
        _translate,
        sources=sources,
        asked=asked,
        glossary=glossary,
        protect=protect,
        split=split,
        progress=progress,
    )
    translations = translate(translator, str(model))
    others = None
    if against is not None:
        other = Translator.load(against, device, engine=engine, threads=threads)
        others = translate(other, str(against))
    return EvaluationReport(
        model=str(model),
        sentences=len(sources),
        scores=score(translations, references, lowercase=lowercase),
        by_length=tuple(
            by_length(sources, translations, references, lowercase=lowercase)
        ),
        against=None if against is None else str(against),
        against_scores=None
        if others is None
        else score(others, references, lowercase=lowercase),
        comparisons=()
        if others is None
        else tuple(compare(translations, others, references, lowercase=lowercase)),
        translations=tuple(translations),
        engine=str(translator.engine),
    )


def read_test_set(source: Path, reference: Path) -> tuple[list[str], list[str]]:
    """Read both files of a test set, which must have a line for each other's."""
    sources, references = list(read_lines(source)), list(read_lines(reference))
    if len(sources) != len(references):
        raise EvaluationError(
            f"{source} has {len(sources):,} lines but {reference} has "
            f"{len(references):,}: each line needs its reference on the same line"
        )
    if not sources:
        raise EvaluationError(f"{source} is empty: give at least one sentence")
    return sources, references


def _translate(
    translator: Translator,
    name: str,
    sources: Sequence[str],
    asked: Callable[[SearchOptions], SearchOptions],
    glossary: Glossary | None,
    protect: bool,
    split: bool,
    progress: bool,
) -> list[str]:
    options = asked(translator.options)
    translations: list[str] = []
    with tqdm(
        total=len(sources), desc=f"translating with {name}", disable=not progress
    ) as bar:
        for start in range(0, len(sources), SENTENCES_AT_ONCE):
            part = sources[start : start + SENTENCES_AT_ONCE]
            translations += translator.translate(
                part, options=options, glossary=glossary, protect=protect, split=split
            )
            bar.update(len(part))
    return translations
