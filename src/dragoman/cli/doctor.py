"""`dragoman doctor`: what this machine is, and what will be used of it."""

import argparse
import json

from dragoman.cli.parsers import Subparsers, add_command

DESCRIPTION = """\
Say what this machine is, what is used of it, and what would make it faster.

One screen: processor, cores and their load, memory, torch, kernels, precision, engines
and extras, and a measured speed. It takes some seconds. Put it into a bug report."""

EXAMPLES = """\
examples:
  dragoman doctor
  dragoman doctor --json > machine.json
"""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command and its options."""
    parser = add_command(subparsers, "doctor", DESCRIPTION, EXAMPLES)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Examine this machine, and print what was found."""
    from dragoman.doctor.examination import examine
    from dragoman.doctor.report import plain_data, screen

    found = examine()
    print(json.dumps(plain_data(found), indent=2) if options.json else screen(found))
    return 0
