"""The best share of a corpus, and the rest aside: every line goes to one of them."""

import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from dragoman.errors import EvaluationError
from dragoman.text.lines import read_lines

KEPT, ASIDE = "kept", "aside"


@dataclass(frozen=True)
class FilterReport:
    """What became of a corpus; `kept` + `aside` is what there was."""

    kept: int
    aside: int
    lowest_kept: float  # the score of the worst pair that was kept
    files: tuple[Path, ...]  # kept source and target, then those aside

    def sentence(self) -> str:
        """Say it in words."""
        kept, _, aside, _ = self.files
        return (
            f"{self.kept + self.aside:,} pairs: {self.kept:,} kept in {kept.parent} "
            f"(score at least {self.lowest_kept:.4f}), {self.aside:,} aside in "
            f"{aside.parent}"
        )


def output_files(source: Path, target: Path, folder: Path) -> tuple[Path, ...]:
    """Name the four files, after the two that they come from."""
    names = [path.name.removesuffix(".gz") for path in (source, target)]
    if names[0] == names[1]:
        raise EvaluationError(
            f"both files are called {names[0]}: give one of them another name: what "
            "is kept of each goes into one folder"
        )
    return tuple(folder / part / name for part in (KEPT, ASIDE) for name in names)


def filter_corpus(
    source: Path, target: Path, scores: Sequence[float], share: float, folder: Path
) -> FilterReport:
    """Write the best share of the pairs to kept/, the rest to aside/, in their order.

    Of equal scores the earlier pair is the better one.
    """
    files = output_files(source, target, folder)
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
    order = sorted(range(len(scores)), key=lambda index: (-scores[index], index))
    number = math.ceil(share * len(scores) - 1e-9)
    is_kept = bytearray(len(scores))
    for index in order[:number]:
        is_kept[index] = 1
    with ExitStack() as stack:
        outs = [
            stack.enter_context(path.open("w", encoding="utf-8", newline="\n"))
            for path in files
        ]
        pairs = zip(read_lines(source), read_lines(target), is_kept, strict=True)
        for left, right, kept in pairs:
            to_source, to_target = outs[:2] if kept else outs[2:]
            to_source.write(f"{left}\n")
            to_target.write(f"{right}\n")
    lowest = scores[order[number - 1]] if number else math.inf
    return FilterReport(number, len(scores) - number, lowest, files)
