"""`dragoman lab`: the paper's claims, measured on this machine."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dragoman.cli.parsers import (
    Subparsers,
    add_command,
    positive_float,
    positive_int,
)
from dragoman.errors import DragomanError, LabError

if TYPE_CHECKING:
    from dragoman.lab.experiment import Bench, Experiment
    from dragoman.lab.run import Run

DESCRIPTION = """\
Measure the claims of "Attention Is All You Need" on this machine.

Each experiment has a question, a prediction from the paper, a measurement with a plot
and a table, and a sentence that says whether the prediction held. Without a name, all
are listed. `all` runs every one; what is finished is kept, so the same command goes on
where it was interrupted. `report` gathers the results into one page (report.html)."""

EXAMPLES = """\
examples:
  dragoman lab
  dragoman lab scaling --quick
  dragoman lab all --data multi30k
  dragoman lab report
"""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command and its options."""
    parser = add_command(subparsers, "lab", DESCRIPTION, EXAMPLES)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="experiments, `all` or `report`; none: list the experiments",
    )
    parser.add_argument(
        "--quick", action="store_true", help="under a minute each, to try it out"
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("runs/lab"),
        metavar="DIR",
        help="results go to its folder NAME (default: runs/lab)",
    )
    parser.add_argument(
        "--again", action="store_true", help="measure anew what is finished"
    )
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="train, valid and test files in two languages for what trains translators "
        "(default: the demo's corpus; with --quick, Dragoman's own phrasebook)",
    )
    parser.add_argument("--seeds", type=positive_int, help="default: each one's own")
    parser.add_argument(
        "--steps", type=positive_int, help="updates of each translator it trains"
    )
    parser.add_argument(
        "--minutes",
        type=positive_float,
        help="of each translator, where equal times are compared",
    )
    parser.add_argument("--threads", type=positive_int, help="default: one per core")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """List, measure or report."""
    from dragoman.lab.catalogue import EXPERIMENTS, find

    if not options.names:
        for experiment in EXPERIMENTS:
            print(f"{experiment.name:12} {experiment.question}")
        return 0
    wanted: list[Experiment] = []
    for name in options.names:
        if name != "report":
            wanted += EXPERIMENTS if name == "all" else [find(name)]
    from dragoman.lab.experiment import LabStoppedError

    try:
        failed = _measure(wanted, options)
    except LabStoppedError as stopped:
        print("stopped and saved: the same command goes on", file=sys.stderr)
        return 128 + stopped.number
    if "report" in options.names:
        from dragoman.lab.report import write_report

        print(f"the report      {write_report(options.output)}")
    if failed:
        raise LabError(f"not measured, as said above: {', '.join(failed)}")
    return 0


def _measure(wanted: "list[Experiment]", options: argparse.Namespace) -> list[str]:
    """Run one after the other; one that cannot be done does not stop the rest."""
    from dragoman.lab.experiment import Bench

    if options.threads is not None:
        import torch

        torch.set_num_threads(options.threads)
    bench = Bench(
        folder=options.output,
        quick=options.quick,
        seeds=options.seeds,
        steps=options.steps,
        minutes=options.minutes,
        data=options.data,
    )
    failed = []
    for experiment in wanted:
        try:
            _show(_run_one(experiment, bench, options))
        except DragomanError as error:
            if len(wanted) == 1:
                raise
            print(f"dragoman: {experiment.name}: {error}", file=sys.stderr)
            failed.append(experiment.name)
    return failed


def _run_one(
    experiment: "Experiment", bench: "Bench", options: argparse.Namespace
) -> "Run":
    from dragoman.lab.progress import LabProgress
    from dragoman.lab.run import run as run_experiment

    progress = LabProgress(experiment.name)
    try:
        return run_experiment(
            experiment,
            options.output,
            replace(bench, on_progress=progress.show),
            again=options.again,
        )
    finally:
        progress.close()


def _show(done: "Run") -> None:
    from dragoman.lab.result import plain_table

    result = done.result
    kept = " (kept from before: --again measures anew)" if done.kept else ""
    print(f"\n== {result.name}: {result.title}{kept}")
    print(f"{result.question}\nThe paper: {result.prediction}\n")
    print(plain_table(result.table))
    print(f"\n{result.sentence}")
    if result.note:
        print(result.note)
    if result.quick:
        print("This was a quick run: a first look, not the full measurement.")
    print(f"see {done.folder}", flush=True)
