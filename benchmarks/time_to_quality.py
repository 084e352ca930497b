"""How good a translator is after so many minutes of training, corpus by corpus.

    python benchmarks/time_to_quality.py ../shared/data
    python benchmarks/time_to_quality.py ../shared/data --only multi30k --minutes 10

Trains with `--minutes` and without a preset, once for each seed, so that what is
measured is the recipe which anybody gets; then scores the test set, cased, with a beam.
Tatoeba English-Spanish is fetched as the demo fetches it; the others must lie in the
folder that is named. Prints a Markdown row for each run, and one for each goal.
"""

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from table import Row, heading, spread

import dragoman
from dragoman.text.public_corpora import get


@dataclass(frozen=True)
class Files:
    """The sides of a corpus; each is named without its language."""

    train: Path
    valid: Path
    test: Path
    source: str
    target: str

    def pair(self, part: Path) -> tuple[Path, Path]:
        """Give the two files of a part."""
        source, target = (f"{part.name}.{side}" for side in (self.source, self.target))
        return part.with_name(source), part.with_name(target)


@dataclass(frozen=True)
class Goal:
    """What was aimed at in so many minutes: cased BLEU, and perhaps lowercased."""

    corpus: str
    minutes: float
    cased: float
    lowercased: float | None = None


GOALS = (
    Goal("tatoeba-en-es", 5, 36),
    Goal("tatoeba-en-es", 20, 45),
    Goal("multi30k", 10, 33),
    Goal("multi30k", 60, 39, 42),
    Goal("tatoeba-en-de", 30, 35),
)


def files_of(corpus: str, shared: Path) -> Files:
    """Find a corpus, or fetch it."""
    folder = shared / corpus
    match corpus:
        case "tatoeba-en-es":
            folder = Path("data") / corpus
            get(corpus, folder, on_message=print)
            parts = ("train", "valid", "test", "en", "es")
        case "multi30k":
            parts = ("train", "val", "test_2016_flickr", "en", "de")
        case _:
            parts = ("train", "dev", "test", "en", "de")
    train, valid, test, source, target = parts
    return Files(folder / train, folder / valid, folder / test, source, target)


@dataclass(frozen=True)
class Run:
    """What one seed gave."""

    updates: int
    cased: float
    lowercased: float


def train_and_score(
    files: Files, minutes: float, seed: int, threads: int, folder: Path
) -> Run:
    """Train for so long, as anybody would, and score what came out."""
    source, target = files.pair(files.train)
    valid_source, valid_target = files.pair(files.valid)
    result = dragoman.train(
        folder,
        source=source,
        target=target,
        valid_source=valid_source,
        valid_target=valid_target,
        minutes=minutes,
        settings={"training.seed": seed, "training.threads": threads},
    )
    source, target = files.pair(files.test)
    cased, lowercased = (
        dragoman.evaluate(folder, source=source, reference=target, lowercase=lower)
        for lower in (False, True)
    )
    return Run(result.steps, cased.scores.bleu.score, lowercased.scores.bleu.score)


def measure(goal: Goal, options: argparse.Namespace, work: Path) -> Iterator[Row]:
    """Give a row for each seed, then what they say of the goal together."""
    files = files_of(goal.corpus, options.shared)
    what = f"{goal.corpus}, {goal.minutes:g} min"
    runs = []
    for seed in options.seeds:
        folder = work / f"{goal.corpus}-{goal.minutes:g}-{seed}"
        run = train_and_score(files, goal.minutes, seed, options.threads, folder)
        runs.append(run)
        scores = f"BLEU {run.cased:.1f}, lowercased {run.lowercased:.1f}"
        yield Row(f"{what}, seed {seed}, {run.updates:,} updates", scores)
    together = f"{what}, {len(runs)} seed{'s' * (len(runs) > 1)}"
    yield verdict(together, "cased", [run.cased for run in runs], goal.cased)
    if goal.lowercased is not None:
        lowercased = [run.lowercased for run in runs]
        yield verdict(together, "lowercased", lowercased, goal.lowercased)


def verdict(what: str, kind: str, scores: list[float], goal: float) -> Row:
    """Say whether the seeds reached a goal together."""
    return Row(
        what,
        f"BLEU {kind} {spread(scores, 1)}",
        limit=f"{goal:g}",
        met=statistics.fmean(scores) >= goal,
    )


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shared", type=Path, help="where multi30k/ and the like lie")
    parser.add_argument("--only", default="", help="corpora whose name contains this")
    parser.add_argument("--minutes", type=float, help="this budget alone")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--threads", type=int, default=0, help="0: one per core")
    parser.add_argument("--output", type=Path, help="keep the models here")
    parser.add_argument("--short", action="store_true", help="the demo alone, once")
    options = parser.parse_args(arguments)
    if options.short:
        options.only, options.minutes, options.seeds = "en-es", 5, [1]
    return options


def chosen(options: argparse.Namespace) -> list[Goal]:
    """Give the goals that were asked for."""
    return [
        goal
        for goal in GOALS
        if options.only in goal.corpus and options.minutes in (None, goal.minutes)
    ]


def main() -> None:
    """Print the table."""
    options = parse()
    print(heading(), flush=True)
    with tempfile.TemporaryDirectory() as name:
        for goal in chosen(options):
            for row in measure(goal, options, options.output or Path(name)):
                print(row.line(), flush=True)


if __name__ == "__main__":
    main()
