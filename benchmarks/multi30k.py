"""Multi30k English-German with the `tiny` preset: how good, in how long.

    python benchmarks/multi30k.py ../shared/data/multi30k runs/multi30k --seeds 1 2

Trains once for each seed and prints a Markdown row for each: BLEU on test_2016_flickr,
lowercased as the published 41.02 (Transformer-Tiny) is, and cased as sacreBLEU has it.
"""

import argparse
import json
from pathlib import Path

import dragoman
from dragoman.config import parse_settings
from dragoman.evaluation.report import EvaluationReport


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with train.en and so on")
    parser.add_argument("output", type=Path, help="where the models go")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--minutes", type=float, help="else the preset's own length")
    parser.add_argument("--steps", type=int, help="a length that load cannot change")
    parser.add_argument("--threads", type=int, default=0, help="0: one per core")
    parser.add_argument("--preset", default="tiny")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    options = parser.parse_args()
    print("| seed | updates | minutes | BLEU, lowercased | BLEU, cased | chrF2 |")
    print("|---|---|---|---|---|---|")
    for seed in options.seeds:
        print(run(options, seed), flush=True)


def run(options: argparse.Namespace, seed: int) -> str:
    """Train and score one model."""
    data, folder = options.data, options.output / f"{options.preset}-seed-{seed}"
    result = dragoman.train(
        folder,
        source=data / "train.en",
        target=data / "train.de",
        valid_source=data / "val.en",
        valid_target=data / "val.de",
        preset=options.preset,
        minutes=options.minutes,
        steps=options.steps,
        settings={
            "training.seed": seed,
            "training.threads": options.threads,
            **parse_settings(options.set),
        },
    )

    def score(lowercase: bool) -> EvaluationReport:
        return dragoman.evaluate(
            folder,
            source=data / "test_2016_flickr.en",
            reference=data / "test_2016_flickr.de",
            lowercase=lowercase,
        )

    cased, lowercased = score(lowercase=False), score(lowercase=True)
    (folder / "scores.json").write_text(
        json.dumps({"cased": cased.to_dict(), "lowercased": lowercased.to_dict()})
    )
    low, high = lowercased.scores.bleu.interval
    return (
        f"| {seed} | {result.steps:,} | {result.seconds / 60:.0f} "
        f"| {lowercased.scores.bleu.score:.1f} [{low:.1f}, {high:.1f}] "
        f"| {cased.scores.bleu.score:.1f} | {cased.scores.chrf.score:.1f} |"
    )


if __name__ == "__main__":
    main()
