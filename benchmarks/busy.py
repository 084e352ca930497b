"""How much of its speed a training keeps beside busy programs, and so its peers.

    python benchmarks/busy.py ../shared/data/multi30k

Everybody learns from the same batches with two threads: alone, beside one and beside
three programs that never rest, and beside a second training of its own. All take turns
in one run, so that an hour in which the machine is slow is slow for everybody. What is
fair: threads that all get the same share would keep 0.67, 0.40 and 0.50 of their speed.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from threading import Thread

import torch
from corpora import training_text
from environments import FOLDER, Environment, prepare
from peer_process import PeerProcess
from peers.training_protocol import TrainingJob
from table import Row, heading, spread
from throughput import PEERS, SCRIPTS, Case, read_batches, settings

from dragoman.text.corpus import Corpus
from dragoman.training.preparation import prepare as prepare_corpus

CASE = Case("fast", 1500, 6, limit=0, utilization=0)
RESTLESS = "while True: pass"
LIMITS = {1: 0.60, 3: 0.36}
TWIN = "a second training"


@contextmanager
def busy_programs(count: int) -> Iterator[None]:
    """Let so many programs compute without a rest."""
    command = [sys.executable, "-c", RESTLESS]
    programs = [subprocess.Popen(command) for _ in range(count)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def seconds_of(peer: PeerProcess) -> float:
    """Return how long a peer takes for its batches."""
    peer.go()
    return peer.seconds[-1]


def seconds_beside_a_twin(peer: PeerProcess, twin: PeerProcess) -> float:
    """Return how long a peer takes while another process does the same."""
    other = Thread(target=twin.go)
    other.start()
    taken = seconds_of(peer)
    other.join()
    return taken


def measure(options: argparse.Namespace) -> Iterator[Row]:
    """Take turns: everybody alone and in every company, again and again."""
    environments = {"dragoman": Environment(Path(sys.executable))}
    for name in options.peers:
        environments[name] = prepare(name, options.environments)
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        job = _job(work, options)
        peers = [
            PeerProcess(name, environment, [SCRIPTS[name], str(job)], work / name)
            for name, environment in environments.items()
        ]
        ours = [SCRIPTS["dragoman"], str(job)]
        twin = PeerProcess("twin", environments["dragoman"], ours, work / "twin")
        try:
            yield from _rows(peers, twin, options.rounds)
        finally:
            for peer in (*peers, twin):
                peer.stop()


def _job(work: Path, options: argparse.Namespace) -> Path:
    config = settings(CASE)
    corpus = Corpus(*training_text(options.data))
    prepared = prepare_corpus(work / "prepared", [corpus], None, config)
    job = TrainingJob(
        model=asdict(config.model),
        vocabulary=prepared.tokenizers.source.vocabulary_size,
        batches=read_batches(prepared.store, CASE),
        learning_rate=1e-4,
        label_smoothing=config.training.label_smoothing,
        clip_norm=config.training.clip_norm,
        threads=options.threads,
    )
    path = work / "job.json"
    path.write_text(json.dumps(asdict(job)), "utf-8")
    return path


def _rows(peers: list[PeerProcess], twin: PeerProcess, rounds: int) -> Iterator[Row]:
    kept: dict[tuple[str, str], list[float]] = {}
    for _ in range(rounds):
        for peer in peers:
            if peer.problem is not None:
                continue
            alone = seconds_of(peer)
            for count in LIMITS:
                with busy_programs(count):
                    share = alone / seconds_of(peer)
                kept.setdefault((peer.name, _company(count)), []).append(share)
            if peer.name == "dragoman":
                share = alone / seconds_beside_a_twin(peer, twin)
                kept.setdefault((peer.name, TWIN), []).append(share)
    limits = {_company(count): limit for count, limit in LIMITS.items()}
    for (name, company), shares in kept.items():
        limit = limits.get(company) if name == "dragoman" else None
        yield Row(
            f"{name} beside {company}",
            f"{statistics.median(shares):.2f} of its speed",
            ratio=spread(shares),
            limit="" if limit is None else f"{limit:.2f}",
            met=None if limit is None else statistics.median(shares) >= limit,
        )


def _company(count: int) -> str:
    return f"{count} busy program{'s' if count > 1 else ''}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="a folder with train.en and the like")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peers", nargs="*", default=PEERS, choices=PEERS)
    parser.add_argument("--environments", type=Path, default=FOLDER, metavar="DIR")
    options = parser.parse_args()
    print(heading(), flush=True)
    for row in measure(options):
        print(row.line(), flush=True)


if __name__ == "__main__":
    main()
