"""Show that preparing and opening a corpus takes little memory whatever its size.

Run `python benchmarks/corpus_size.py --quick` (seconds) or `--full` (5 million pairs,
some minutes and about 3 GB of disk). Each size runs in a process of its own.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

SIZES = {"quick": (10_000, 100_000), "full": (10_000, 100_000, 1_000_000, 5_000_000)}
DIGITS = [
    ("zero", "null"),
    ("one", "eins"),
    ("two", "zwei"),
    ("three", "drei"),
    ("four", "vier"),
    ("five", "fünf"),
    ("six", "sechs"),
    ("seven", "sieben"),
    ("eight", "acht"),
    ("nine", "neun"),
]
SIGNS = [("plus", "plus"), ("minus", "minus"), ("times", "mal"), ("over", "durch")]
TEMPLATES = [
    ("What is {}?", "Was ist {}?"),
    ("Please work out {} before noon.", "Bitte rechne {} bis Mittag aus."),
    ("{} is more than I can do.", "{} ist mehr, als ich kann."),
    ("My sister says that {} is easy.", "Meine Schwester sagt, {} sei leicht."),
    ("They wrote {} on the old wall.", "Sie schrieben {} an die alte Wand."),
]


def sentence_pairs(seed: int) -> Iterator[tuple[str, str]]:
    """Give sums of one to a dozen numbers, spoken in two languages, no two alike."""
    chance = random.Random(seed)
    for first in count():
        words = []
        others = min(11, int(chance.expovariate(0.4)))
        for number in (first, *(chance.randrange(10_000) for _ in range(others))):
            words += [DIGITS[int(digit)] for digit in str(number)]
            words.append(chance.choice(SIGNS))
        source, target = (" ".join(side) for side in zip(*words[:-1], strict=True))
        frame = chance.choice(TEMPLATES)
        yield frame[0].format(source), frame[1].format(target)


def write_corpus(folder: Path, size: int) -> None:
    with (
        (folder / "train.en").open("w", encoding="utf-8") as english,
        (folder / "train.de").open("w", encoding="utf-8") as german,
    ):
        for source, target in islice(sentence_pairs(seed=1), size):
            english.write(source + "\n")
            german.write(target + "\n")


def peak_megabytes() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def measure(folder: Path) -> dict[str, float]:
    """Prepare what lies in the folder, or open it if that is done, and look."""
    from dragoman.config import load_preset
    from dragoman.data.sampler import Sampler
    from dragoman.text.corpus import Corpus
    from dragoman.training.preparation import prepare

    before = peak_megabytes()
    config = load_preset("base")
    learning: list[float] = []

    def watch(label: str, _done: int, _total: int | None) -> None:
        if label == "learning subwords":
            learning.append(time.perf_counter())

    start = time.perf_counter()
    corpus = Corpus(folder / "train.en", folder / "train.de")
    prepared = prepare(folder / "prepared", [corpus], None, config, progress=watch)
    opened = time.perf_counter()
    memory = peak_megabytes()
    settings = config.training
    sampler = Sampler(
        prepared.store, batch_tokens=settings.batch_tokens, seed=settings.seed
    )
    ordering = time.perf_counter()
    sampler.order(1)
    return {
        "imports": before,
        "memory": memory,
        "memory_with_order": peak_megabytes(),
        "seconds": opened - start,
        "learning": learning[-1] - learning[0] if learning else 0.0,
        "order": time.perf_counter() - ordering,
        "kept": prepared.report.kept,
        "tokens": prepared.report.source_tokens + prepared.report.target_tokens,
        "padding": prepared.report.padding_share,
    }


def in_own_process(folder: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", str(folder)]
    run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    values: dict[str, float] = json.loads(run.stdout)
    return values


def row(size: int) -> str:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus(folder, size)
        text = sum(path.stat().st_size for path in folder.iterdir()) / 2**20
        first, again = in_own_process(folder), in_own_process(folder)
    encoding = first["seconds"] - first["learning"]
    cells = [
        f"{size:,}",
        f"{text:,.0f} MB",
        f"{first['kept']:,.0f}",
        f"{first['tokens'] / 1e6:,.1f} M",
        f"{first['seconds']:.1f} s",
        f"{size / encoding / 1000:.0f}k",
        f"{first['memory']:.0f} MB",
        f"{again['seconds'] * 1000:.0f} ms",
        f"{again['memory']:.0f} MB",
        f"{again['order']:.2f} s",
        f"{again['memory_with_order']:.0f} MB",
        f"{first['padding']:.1%}",
    ]
    return "| " + " | ".join(cells) + " |"


HEADINGS = [
    "pairs",
    "text",
    "kept",
    "tokens",
    "preparation",
    "pairs/s without learning subwords",
    "peak memory preparing",
    "start-up when prepared",
    "peak memory then",
    "order of an epoch",
    "peak memory with it",
    "padding",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--quick", action="store_const", const="quick", dest="sizes")
    choice.add_argument("--full", action="store_const", const="full", dest="sizes")
    choice.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.measure)))
        return
    print("| " + " | ".join(HEADINGS) + " |")
    print("|" + " --: |" * len(HEADINGS), flush=True)
    for size in SIZES[arguments.sizes or "quick"]:
        print(row(size), flush=True)


if __name__ == "__main__":
    main()
