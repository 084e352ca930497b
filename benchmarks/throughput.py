"""How many tokens a second training learns from, beside peers that do the same work.

    python benchmarks/throughput.py ../shared/data/multi30k

The same model shape, batches, places and rates of dropout, float32 and Adam for
everybody. Each peer has an environment of its own, made the first time; every round
asks all of them in turn. The FLOPs are those of the tokens alone: work on padding is
waste. Prints a Markdown table: medians over the rounds, with the lowest and highest.
"""

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from corpora import training_text
from environments import FOLDER, Environment, prepare
from peer_process import PeerProcess
from peers.training_protocol import TrainingJob
from table import Row, heading, ratios, spread

from dragoman.config import Config, load_preset
from dragoman.data.sampler import Sampler
from dragoman.data.token_store import TokenStore
from dragoman.model.flops import BatchShape, training_flops
from dragoman.planning.speed import product_speed
from dragoman.text.corpus import Corpus
from dragoman.training.preparation import prepare as prepare_corpus

PEERS = ("huggingface", "eole")
SCRIPTS = {name: f"train_{name}.py" for name in ("dragoman", *PEERS)}
VOCABULARY = 8000


@dataclass(frozen=True)
class Case:
    """A model's size, how much of it is done in a round, and what was aimed at."""

    preset: str
    batch_tokens: int
    batches: int
    limit: float  # times the fastest peer
    utilization: float  # of the measured matrix-multiply peak


def cases(short: bool) -> list[Case]:
    """List what is compared; the short version learns from fewer batches."""
    return [
        Case("tiny", 4096, 4 if short else 12, 2.0, 0.40),
        Case("base", 2048, 2 if short else 5, 1.15, 0.65),
    ]


def settings(case: Case) -> Config:
    """Give the preset as the paper has it: what everybody can do."""
    asked = {
        "model.norm": "post",
        "model.positions": "sinusoidal",
        "tokenizer.vocabulary_size": VOCABULARY,
        "training.batch_tokens": case.batch_tokens,
        "training.optimizer": "adam",
    }
    return load_preset(case.preset).with_settings(asked)


Pairs = list[list[tuple[list[int], list[int]]]]


def read_batches(store: TokenStore, case: Case) -> Pairs:
    """Give the tokens of some batches, sorted by length as training sorts them."""
    order = Sampler(store, batch_tokens=case.batch_tokens, seed=1).order(0)

    def rows(number: int) -> Iterator[tuple[list[int], list[int]]]:
        for index in order[number]:
            pair = np.array([index])
            source, target = store.sources(pair), store.targets(pair)
            yield source.tokens.tolist(), target.tokens.tolist()

    return [list(rows(number)) for number in range(min(case.batches, len(order)))]


def useful_flops(config: Config, vocabulary: int, batches: Pairs) -> float:
    """Count what learning from these tokens takes, without any padding."""
    shapes = [
        BatchShape(1, len(source) + 1, len(target) + 1, len(target) + 1)
        for batch in batches
        for source, target in batch
    ]
    counts = (training_flops(config.model, vocabulary, shape) for shape in shapes)
    return sum(count.total for count in counts)


def measure(options: argparse.Namespace) -> Iterator[Row]:
    """Compare in every case."""
    environments = {"dragoman": Environment(Path(sys.executable))}
    for name in options.peers:
        environments[name] = prepare(name, options.environments)
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        corpus = Corpus(*training_text(options.data))
        prepared = prepare_corpus(
            work / "prepared", [corpus], None, settings(cases(short=True)[0])
        )
        vocabulary = prepared.tokenizers.source.vocabulary_size
        for case in cases(options.short):
            if options.only not in case.preset:
                continue
            print(f"training {case.preset}", file=sys.stderr, flush=True)
            config, batches = settings(case), read_batches(prepared.store, case)
            job = TrainingJob(
                model=asdict(config.model),
                vocabulary=vocabulary,
                batches=batches,
                learning_rate=1e-4,
                label_smoothing=config.training.label_smoothing,
                clip_norm=config.training.clip_norm,
                threads=options.threads,
            )
            path = work / "job.json"
            path.write_text(json.dumps(asdict(job)), "utf-8")
            peers = [
                PeerProcess(name, environment, [SCRIPTS[name], str(path)], work / name)
                for name, environment in environments.items()
            ]
            peaks = take_turns(peers, options.rounds)
            flops = useful_flops(config, vocabulary, batches)
            yield from rows(case, peers, batches, flops, peaks)


def take_turns(peers: list[PeerProcess], rounds: int) -> list[float]:
    """Ask everybody once a round; give the machine's FLOP/s as each round found it."""
    peaks = []
    try:
        for _ in range(rounds):
            peaks.append(product_speed(torch.device("cpu")))
            for peer in peers:
                peer.go()
        for peer in peers:
            losses = peer.ask("outputs") or []
            mean = statistics.fmean(losses) if losses else float("nan")
            print(f"  {peer.name}: mean loss {mean:.2f}", file=sys.stderr)
    finally:
        for peer in peers:
            peer.stop()
    return peaks


def rows(
    case: Case,
    peers: list[PeerProcess],
    batches: Pairs,
    flops: float,
    peaks: list[float],
) -> Iterator[Row]:
    """Describe what the rounds of one case gave."""
    ours, *others = peers
    tokens = sum(len(target) + 1 for batch in batches for _, target in batch)
    what = f"training {case.preset}, {case.batch_tokens:,} tokens a batch"

    def speed(peer: PeerProcess) -> str:
        return f"{tokens / statistics.median(peer.seconds):,.0f} tokens/s"

    assert ours.problem is None, ours.problem
    faster = {
        peer.name: ratios(peer.seconds, ours.seconds)
        for peer in others
        if peer.problem is None
    }
    fastest = min(faster, key=lambda name: statistics.median(faster[name]), default="")
    for peer in others:
        if peer.name not in faster:
            yield Row(what, speed(ours), peer.name, peer.problem or "no answer")
            continue
        ratio = statistics.median(faster[peer.name])
        limited = peer.name == fastest
        yield Row(
            what,
            speed(ours),
            peer.name,
            speed(peer),
            spread(faster[peer.name]),
            f"{case.limit:g} × the fastest" if limited else "",
            ratio >= case.limit if limited else None,
        )
    shares = [
        flops / seconds / peak
        for seconds, peak in zip(ours.seconds, peaks, strict=True)
    ]
    yield Row(
        f"FLOPs utilisation, {case.preset}",
        f"{flops / statistics.median(ours.seconds) / 1e9:,.0f} GFLOP/s",
        "matrix product of 1,024",
        f"{statistics.median(peaks) / 1e9:,.0f} GFLOP/s",
        spread(shares),
        f"{case.utilization:.2f}",
        statistics.median(shares) >= case.utilization,
    )


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="a folder with train.en and the like")
    parser.add_argument("--short", action="store_true", help="about three minutes")
    parser.add_argument("--rounds", type=int, help="default: 5, or 3 with --short")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", help="tiny or base")
    parser.add_argument("--peers", nargs="*", default=PEERS, choices=PEERS)
    parser.add_argument("--environments", type=Path, default=FOLDER, metavar="DIR")
    options = parser.parse_args(arguments)
    options.rounds = options.rounds or (3 if options.short else 5)
    return options


def main() -> None:
    """Print the table."""
    options = parse()
    print(heading(), flush=True)
    for row in measure(options):
        print(row.line(), flush=True)


if __name__ == "__main__":
    main()
