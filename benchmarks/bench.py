"""A short version of every benchmark, in one table: ours, theirs, ratio, limit.

    python benchmarks/bench.py --shared ../shared/data

Takes some twelve minutes of a machine that does nothing else (fifteen where the peers'
environments have first to be made), five of which train the demo's translator, which is
then used for decoding and the studio. What cannot be measured here is said in its row.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import scaling
import throughput
import time_to_quality
from corpora import multi30k_or_demo
from environments import last_line
from table import Row, heading

import decoding

DEMO = time_to_quality.GOALS[0]
PAINTING_LIMIT = 300  # milliseconds from Enter to painted attention
# What compares engines: most know no rotary positions, which the demo's model has.
DECODED = ("tiny", "trained")
SHARE_OF_SENTENCES = "0.25"


def sections(
    options: argparse.Namespace, work: Path
) -> Iterator[tuple[str, Callable[[], Iterable[Row]]]]:
    """Name what is measured, in an order in which each finds what it needs."""
    text = str(multi30k_or_demo(options.shared))
    model = work / f"{DEMO.corpus}-{DEMO.minutes:g}-1"

    def quality() -> Iterable[Row]:
        asked = [str(options.shared), "--short", "--output", str(work)]
        return time_to_quality.measure(DEMO, time_to_quality.parse(asked), work)

    def decoded() -> Iterable[Row]:
        source = time_to_quality.files_of(DEMO.corpus, options.shared)
        asked = [str(model), "--source", str(source.pair(source.test)[0]), "--short"]
        asked += ["--scale", SHARE_OF_SENTENCES, "--only"]
        for cases in DECODED:
            yield from decoding.measure(decoding.parse([*asked, cases]))

    yield "training", lambda: throughput.measure(throughput.parse([text, "--short"]))
    yield "quality", quality
    yield "decoding", decoded
    yield "studio", lambda: painting(model)
    scaled = [text, "--short", "--output", str(work / "scaling")]
    yield "scaling", lambda: scaling.measure(scaling.parse(scaled))


def painting(model: Path) -> Iterator[Row]:
    """Time the studio's page, where there is a browser."""
    from studio import painting_times

    time_taken = statistics.median(painting_times(model))
    yield Row(
        "studio: Enter to painted attention",
        f"{time_taken:.0f} ms",
        limit=f"{PAINTING_LIMIT} ms",
        met=time_taken <= PAINTING_LIMIT,
    )


def main() -> None:
    """Print the table, row by row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", default="", help="sections whose name contains this")
    options = parser.parse_args()
    began = time.monotonic()
    print(heading(), flush=True)
    with tempfile.TemporaryDirectory() as name:
        for title, measure in sections(options, Path(name)):
            if options.only not in title:
                continue
            print(f"== {title}", file=sys.stderr, flush=True)
            try:
                for row in measure():
                    print(row.line(), flush=True)
            except Exception as error:  # the others are worth having all the same
                print(Row(title, f"not measured: {last_line(str(error))}").line())
    print(f"\n{(time.monotonic() - began) / 60:.0f} minutes in all")


if __name__ == "__main__":
    main()
