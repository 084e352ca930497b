"""`dragoman plan`: what training will cost, before it is paid."""

import argparse
import json
import sys
from pathlib import Path

from dragoman.cli.parsers import (
    Subparsers,
    add_command,
    add_machine_options,
    positive_float,
    positive_int,
)
from dragoman.config import PRESETS, parse_settings

DESCRIPTION = """\
Say what training will cost in parameters, FLOPs, memory and time.

The corpus is files, of which a sample is prepared, or a number of pairs. The machine is
this one, measured by learning for some seconds, or one you describe by its FLOP/s."""

EXAMPLES = """\
examples:
  dragoman plan --source train.en --target train.de --preset small --epochs 20
  dragoman plan --pairs 30000 --preset tiny --json
  dragoman plan --pairs 4500000 --preset base --set tokenizer.vocabulary_size=37000 \\
      --processes 8 --flops 9.5e12 --memory 16 --minutes 720
"""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command and its options."""
    parser = add_command(subparsers, "plan", DESCRIPTION, EXAMPLES)
    text = parser.add_argument_group("the corpus: files, or numbers")
    text.add_argument("--source", type=Path, metavar="FILE")
    text.add_argument(
        "--target", type=Path, metavar="FILE", help="not with .tsv and .jsonl"
    )
    text.add_argument("--pairs", type=positive_int, metavar="N", help="sentence pairs")
    text.add_argument(
        "--tokens",
        type=positive_int,
        metavar="N",
        help="target tokens in all pairs (default: 25 for each)",
    )
    budget = parser.add_argument_group("budget (whichever ends first)")
    budget.add_argument("--minutes", type=positive_float)
    budget.add_argument("--steps", type=positive_int, help="updates")
    budget.add_argument("--epochs", type=positive_float, help="passes over the corpus")
    how = parser.add_argument_group("how")
    how.add_argument(
        "--preset", choices=PRESETS, help="default: the one that train would choose"
    )
    how.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="SECTION.KEY=VALUE",
        help="any other setting, such as model.d_ff=1024; may be repeated",
    )
    _add_machine(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def _add_machine(parser: argparse.ArgumentParser) -> None:
    machine = parser.add_argument_group("the machine (default: this one, measured)")
    machine.add_argument(
        "--flops", type=positive_float, help="FLOP/s of each process, as in 9.5e12"
    )
    machine.add_argument(
        "--utilization",
        type=positive_float,
        metavar="SHARE",
        help="of --flops that learning gets (default: 0.3, as in the paper's base run)",
    )
    machine.add_argument(
        "--memory", type=positive_float, metavar="GIB", help="for each process"
    )
    machine.add_argument("--nodes", type=positive_int, default=1, help="machines")
    machine.add_argument(
        "--processes",
        type=positive_int,
        default=1,
        help="on each machine; as fast as one measured here",
    )
    machine.add_argument(
        "--seconds",
        type=positive_float,
        default=10.0,
        help="to measure for (default: 10)",
    )
    add_machine_options(machine)


def run(options: argparse.Namespace) -> int:
    """Plan, and print the plan."""
    from dragoman.planning.plan import plan
    from dragoman.planning.report import plan_data, plan_table

    settings = parse_settings(options.set)
    if options.threads is not None:
        settings["training.threads"] = options.threads
    made = plan(
        source=options.source,
        target=options.target,
        pairs=options.pairs,
        tokens=options.tokens,
        preset=options.preset,
        minutes=options.minutes,
        steps=options.steps,
        epochs=options.epochs,
        settings=settings,
        flops=options.flops,
        utilization=options.utilization,
        memory=None if options.memory is None else options.memory * 2**30,
        nodes=options.nodes,
        processes=options.processes,
        device=options.device,
        seconds=options.seconds,
        quiet=not sys.stderr.isatty(),
    )
    print(json.dumps(plan_data(made), indent=2) if options.json else plan_table(made))
    return 0
