"""How many minutes other programs need to learn what Dragoman learns in ten.

    python benchmarks/peers_to_quality.py ../shared/data/multi30k --bleu 33 --minutes 60

Each trains by its own command in its own environment, on the same corpus with as many
subwords, with what was published for Multi30k: Transformer-Tiny (4+4 layers, 128/256,
dropout 0.3), Adam, 4,096 tokens a batch, the paper's schedule with 2,000 updates of
warm-up up to a rate of 0.005. It is watched until greedy BLEU on the validation text is
reached, or the minutes are over; what it spends on validation does not count.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from environments import FOLDER, Environment, prepare
from peer_recipes import eole, joeynmt, learn_subwords
from table import Row, heading


@dataclass(frozen=True)
class Peer:
    """A program: how to start it, and what its lines say."""

    name: str
    commands: Callable[[Environment, Path, argparse.Namespace], list[list[str]]]
    began: str  # in the line after which it learns
    bleu: str  # a pattern that finds BLEU
    pause: str  # a pattern that finds seconds spent on validation


PEERS = {
    "joeynmt": Peer(
        "joeynmt",
        joeynmt,
        "EPOCH 1",
        r"Evaluation result.*bleu: *([\d.]+)",
        r"(?:Generation took|Evaluation result.*,) ([\d.]+)\[sec\]",
    ),
    "eole": Peer(
        "eole",
        eole,
        "Starting training",
        r"validation BLEU: ([\d.]+)",
        r"took *: ([\d.]+) s",
    ),
}


@dataclass(frozen=True)
class Watched:
    """How far a peer came: the minutes it learned, and its best BLEU."""

    minutes: float
    bleu: float
    problem: str | None = None


def watch(peer: Peer, environment: Environment, options: argparse.Namespace) -> Watched:
    """Let a peer learn until it is good enough or out of time."""
    if environment.problem is not None:
        return Watched(0.0, 0.0, environment.problem)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        learn_subwords(options.data, work)
        *before, command = peer.commands(environment, work, options)
        variables = os.environ | {"OMP_NUM_THREADS": str(options.threads)}
        for first in before:
            subprocess.run(first, check=True, capture_output=True, env=variables)
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=variables,
        )
        try:
            return listen(peer, process, options)
        finally:
            process.kill()
            process.wait()


def listen(
    peer: Peer, process: subprocess.Popen[str], options: argparse.Namespace
) -> Watched:
    """Read what a peer says, line by line."""
    assert process.stdout is not None
    began, pauses, minutes, best, last = None, 0.0, 0.0, 0.0, ""
    for line in process.stdout:
        last = line.strip() or last
        if began is None:
            began = time.monotonic() if peer.began in line else None
            continue
        pauses += sum(map(float, re.findall(peer.pause, line)))
        minutes = (time.monotonic() - began - pauses) / 60
        for found in re.findall(peer.bleu, line):
            best = max(best, float(found))
            said = f"  {peer.name}: BLEU {found} after {minutes:.1f} minutes"
            print(said, file=sys.stderr, flush=True)
        if best >= options.bleu or minutes >= options.minutes:
            return Watched(minutes, best)
    return Watched(minutes, best, f"ended by itself: {last[:120]}")


def row(peer: str, watched: Watched, options: argparse.Namespace) -> Row:
    """Say how many times longer a peer took."""
    what = f"minutes to BLEU {options.bleu:g} on validation text"
    ours = f"{options.own_minutes:g} min"
    if watched.problem is not None:
        return Row(what, ours, peer, watched.problem)
    reached = watched.bleu >= options.bleu
    ratio = watched.minutes / options.own_minutes
    theirs = f"{watched.minutes:.1f} min"
    if not reached:
        theirs = f"BLEU {watched.bleu:.1f} after {theirs}"
    met = ratio >= options.limit if reached or ratio >= options.limit else None
    over = "" if reached else "over "
    return Row(
        what, ours, peer, theirs, f"{over}{ratio:.1f}", f"{options.limit:g}", met
    )


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder of Multi30k")
    parser.add_argument(
        "--bleu", type=float, required=True, help="what is to be reached"
    )
    parser.add_argument(
        "--minutes", type=float, default=60, help="after which to give up"
    )
    parser.add_argument("--own-minutes", type=float, default=10, help="what we took")
    parser.add_argument("--limit", type=float, default=5, help="times longer, at least")
    parser.add_argument(
        "--every", type=int, default=200, help="updates to a validation"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=list(PEERS))
    parser.add_argument("--environments", type=Path, default=FOLDER, metavar="DIR")
    return parser.parse_args(arguments)


def main() -> None:
    """Print the table."""
    options = parse()
    print(heading(), flush=True)
    for name in options.peers:
        environment = prepare(name, options.environments)
        watched = watch(PEERS[name], environment, options)
        print(row(name, watched, options).line(), flush=True)


if __name__ == "__main__":
    main()
