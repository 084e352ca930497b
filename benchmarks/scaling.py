"""How the cost of training grows: with the model, the batch, the text and the corpus.

    python benchmarks/scaling.py ../shared/data/multi30k
    python benchmarks/scaling.py ../shared/data/multi30k --short

Each point is measured in a process of its own. Writes one plot for each curve, and a
page with a table and a paragraph for each, to `benchmarks/scaling/` (see --output).
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

from corpora import training_text
from scaling_page import Curve, Page, Series, describe, draw, draw_curve
from scaling_point import Point, Question
from scaling_runs import loading, sharing, start_up
from table import Row, heading

HERE = Path(__file__).parent
LOADING_LIMIT = 0.02
START_LIMIT = 3.0  # seconds, and on top of it what building the model takes


CURVES = (
    Curve("model", "Model size", "d_model", (64, 128, 256, 512), "model.d_model"),
    Curve("batch", "Batch size", "target tokens", (250, 1000, 4000, 16000), "tokens"),
    Curve("length", "Sequence length", "tokens", (8, 32, 128, 250), "length"),
    Curve("vocabulary", "Vocabulary", "subwords", (8000, 16000, 32000, 64000),
          "vocabulary"),
)  # fmt: skip
CORPORA = {True: (10_000, 50_000), False: (10_000, 100_000, 1_000_000, 5_000_000)}


def ask(question: Question) -> Point:
    """Measure one point in a process of its own."""
    command = [
        sys.executable,
        str(HERE / "scaling_point.py"),
        json.dumps(asdict(question)),
    ]
    run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Point(**json.loads(run.stdout.splitlines()[-1]))


def measure_curve(curve: Curve, options: argparse.Namespace, page: Page) -> Row:
    """Measure, plot and describe one curve."""
    print(curve.title, file=sys.stderr, flush=True)
    values = curve.values[:: len(curve.values) - 1] if options.short else curve.values
    curve = replace(curve, values=tuple(values))
    seconds = 1.0 if options.short else 5.0
    points = [
        ask(curve.question(value, seconds, options.threads)) for value in curve.values
    ]
    lines = [
        f"| {curve.unit} | parameters | MFLOPs a token | tokens/s | peak memory |",
        "|--:|--:|--:|--:|--:|",
    ]
    for value, point in zip(curve.values, points, strict=True):
        lines.append(
            f"| {value:,} | {point.parameters / 1e6:.1f} M "
            f"| {point.flops_per_token / 1e6:.1f} | {point.tokens_per_second:,.0f} "
            f"| {point.megabytes:,.0f} MB |"
        )
    draw_curve(curve, points, page.folder / f"{curve.name}.svg")
    page.add(curve.title, lines, describe(curve, points), f"{curve.name}.svg")
    reach = f"{curve.values[0]:,} to {curve.values[-1]:,} {curve.unit}"
    first, last = points[0].tokens_per_second, points[-1].tokens_per_second
    return Row(
        f"{curve.title.lower()}: {reach}", f"{first:,.0f} to {last:,.0f} tokens/s"
    )


def measure_corpora(options: argparse.Namespace, page: Page, work: Path) -> Row:
    """Measure what loading costs beside learning, for corpora of every size."""
    print("Corpus size", file=sys.stderr, flush=True)
    found = [
        loading(work / f"corpus-{pairs}", pairs, options.threads)
        for pairs in CORPORA[options.short]
    ]
    lines = [
        "| pairs | tokens/s | reading a batch | waiting for it | an update | lost |",
        "|--:|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {one.pairs:,} | {one.tokens_per_second:,.0f} "
        f"| {1000 * one.reading:.1f} ms | {1000 * one.waiting:.2f} ms "
        f"| {1000 * one.update:,.0f} ms | {one.share:.2%} |"
        for one in found
    ]
    worst = max(one.share for one in found)
    paragraph = (
        "Batches are read ahead on another thread from a memory-mapped store, whatever "
        f"its size: learning waits at\nmost {worst:.2%} of an update for them."
    )
    draw(
        "corpus size, pairs",
        [one.pairs for one in found],
        Series("an update, ms", [1000 * one.update for one in found]),
        Series("waiting for its batch, ms", [1000 * one.waiting for one in found]),
        page.folder / "corpus.svg",
    )
    page.add("Corpus size", lines, paragraph, "corpus.svg")
    return Row(
        f"waiting for data, up to {found[-1].pairs:,} pairs",
        f"{worst:.2%} of an update",
        limit=f"{LOADING_LIMIT:.0%}",
        met=worst <= LOADING_LIMIT,
    )


def measure_runs(options: argparse.Namespace, page: Page, work: Path) -> Iterator[Row]:
    """Measure whole commands: the first update, and two processes."""
    print("Whole runs", file=sys.stderr, flush=True)
    text = training_text(options.data)
    begun = start_up(work / "start", *text, "tiny")
    above = begun.total - begun.building
    said = f"{begun.total:.1f} s, of which the model {begun.building:.2f} s"
    page.add("Start-up", [], f"From the command to its first update: {said}.", "")
    yield Row(
        "start-up to the first update, corpus prepared",
        said,
        limit=f"{START_LIMIT:g} s + model",
        met=above <= START_LIMIT,
    )
    shared = sharing(work / "sharing", *text, 10 if options.short else 40)
    ratio = shared.two_processes / shared.one_process
    paragraph = (
        f"One process with two threads learns {shared.one_process:,.0f} tokens/s, two "
        f"processes with one thread each\n{shared.two_processes:,.0f}: {ratio:.2f} "
        "times as many."
    )
    page.add("Two processes or two threads", [], paragraph, "")
    yield Row(
        "two processes on two cores",
        f"{shared.two_processes:,.0f} tokens/s",
        "one process, two threads",
        f"{shared.one_process:,.0f} tokens/s",
        f"{ratio:.2f}",
    )


def measure(options: argparse.Namespace) -> Iterator[Row]:
    """Measure everything and write it down."""
    options.output.mkdir(parents=True, exist_ok=True)
    page = Page(options.output)
    for curve in CURVES:
        yield measure_curve(curve, options, page)
    with tempfile.TemporaryDirectory() as name:
        yield measure_corpora(options, page, Path(name))
        yield from measure_runs(options, page, Path(name))


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="a folder with train.en and the like")
    parser.add_argument("--short", action="store_true", help="about three minutes")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", type=Path, default=HERE / "scaling", metavar="DIR")
    return parser.parse_args(arguments)


def main() -> None:
    """Print the table."""
    options = parse()
    print(heading(), flush=True)
    for row in measure(options):
        print(row.line(), flush=True)


if __name__ == "__main__":
    main()
