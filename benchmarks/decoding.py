"""How fast Dragoman translates, beside its peers with the same weights in the same run.

    python benchmarks/decoding.py MODEL --source test.en --short

MODEL is a trained model folder (with a shared SentencePiece vocabulary); its weights
give the real outputs, its tokenizer the vocabulary of random models in the shapes of
`base` and `tiny`, whose outputs are forced to one length. Each peer runs in an
environment of its own, which is made the first time; each round asks all of them once,
in turn. Prints a Markdown table: the median of the rounds, and the lowest and highest.
"""

import argparse
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from environments import FOLDER, Environment, prepare
from peer_process import PeerProcess
from peers.protocol import Job
from table import Row, ratios, spread

from dragoman.config import Config, load_preset
from dragoman.interchange.ctranslate2 import export_ctranslate2
from dragoman.model.weights import get_weights
from dragoman.model_folder import build_for, load_model, save_model

PEERS = ("huggingface", "ctranslate2", "joeynmt", "marian")
SCRIPTS = {
    "dragoman": ("dragoman_tokens.py",),
    "huggingface": ("huggingface.py",),
    "ctranslate2": ("tokens.py",),
    "joeynmt": ("joeynmt_peer.py",),
    "marian": ("marian_peer.py",),
    "dragoman with ctranslate2": ("dragoman_text.py",),
    "ctranslate2 directly, best setting": ("direct.py", "best"),
    "ctranslate2 directly, plain call": ("direct.py", "plain"),
}
HEADINGS = (
    "engine",
    "sentences/s",
    "first one is faster by",
    "goal",
    "same translations",
)
SINUSOIDAL = {"model.positions": "sinusoidal"}
KNOW_SINUSOIDS_ONLY = ("huggingface", "joeynmt", "marian")
COLD_SENTENCE = "A man in a blue shirt is standing on a ladder."


@dataclass(frozen=True)
class Case:
    """One comparison: a model, sentences, and what was aimed at."""

    title: str
    model: str
    count: int  # sentences
    batch: int
    length: int | None
    first: str  # whose seconds the others' are divided by
    others: tuple[str, ...]
    goal: str
    quantization: str = "float32"


def cases(short: bool, scale: float) -> list[Case]:
    """List what is compared; the short version has fewer sentences."""
    peers = ("huggingface", "ctranslate2", "joeynmt", "marian")
    text = ("ctranslate2 directly, best setting", "ctranslate2 directly, plain call")
    sizes = (32, 64, 500) if short else (96, 320, 1000)
    few, some, many = (max(8, round(size * scale)) for size in sizes)
    return [
        Case("base, 30 tokens forced, batch 32", "base", few, 32, 30, "dragoman", peers,
             "1.7 × huggingface"),
        Case("base, 30 tokens forced, batch 1", "base", few // 8, 1, 30, "dragoman",
             peers, "1.5 × huggingface"),
        Case("tiny, 30 tokens forced, batch 32", "tiny", 2 * some, 32, 30, "dragoman",
             peers, "3 × huggingface"),
        Case("tiny, 30 tokens forced, batch 1", "tiny", some // 4, 1, 30, "dragoman",
             peers, "1.5 × huggingface"),
        Case("trained model, real outputs, batch 32", "trained", 2 * some, 32, None,
             "dragoman", peers, "3 × huggingface"),
        Case("trained model, real outputs, batch 1", "trained", some // 4, 1, None,
             "dragoman", peers, "1.5 × huggingface"),
        Case("trained model, text to text, int8", "trained", many, 32, None,
             "dragoman with ctranslate2", text, "0.95 × directly, best setting",
             "int8"),
        Case("base, text to text, int8", "base", few, 32, None,
             "dragoman with ctranslate2", text, "0.95 × directly, best setting",
             "int8"),
    ]  # fmt: skip


class Bench:
    """The models, sentences and environments that all cases share."""

    def __init__(self, options: argparse.Namespace, work: Path) -> None:
        self.options = options
        self.work = work
        self.saved = load_model(options.model)
        lines = options.source.read_text("utf-8").splitlines()
        self.lines = [line for line in lines if line.strip()]
        random.Random(1).shuffle(self.lines)
        self.environments = {
            name: prepare(name, options.environments) for name in options.peers
        }
        own = Environment(Path(sys.executable))
        self.environments |= {"dragoman": own, "dragoman with ctranslate2": own}
        for name in SCRIPTS:
            if name.startswith("ctranslate2 directly"):
                self.environments[name] = self.environments.get(
                    "ctranslate2", Environment(Path(), "left out")
                )

    def config(self, name: str) -> Config:
        """Give the settings of a model: a random one has sinusoids, which all know."""
        if name == "trained":
            return self.saved.config
        return load_preset(name).with_settings(SINUSOIDAL)

    def make(self, name: str) -> None:
        """Save a model, its exports and its weights as plain arrays, once."""
        torch.manual_seed(1)
        saved, folder = self.saved, self.work / name
        if folder.exists():
            return
        config, model = self.config(name), saved.model
        if name != "trained":
            model = build_for(config, saved.tokenizers)
        save_model(folder, model, saved.tokenizers, config, saved.languages, "")
        for quantization in ("float32", "int8"):
            export_ctranslate2(folder, quantization)
        arrays = {key: value.numpy() for key, value in get_weights(model).items()}
        np.savez(self.work / f"{name}.npz", **arrays)  # type: ignore[arg-type]

    def environment(self, case: Case, name: str) -> Environment:
        """Give where a peer runs, or why it cannot take part in a case."""
        positions = self.config(case.model).model.positions
        if name in KNOW_SINUSOIDS_ONLY and positions != "sinusoidal":
            problem = f"has no {positions} positions, as this model has"
            return Environment(Path(), problem)
        return self.environments.get(name, Environment(Path(), "left out"))

    def job(self, case: Case, name: str) -> Path:
        """Write down what is asked of a peer."""
        config = self.config(case.model)
        lines = (self.lines * (1 + case.count // len(self.lines)))[: case.count]
        encode = self.saved.tokenizers.source.encode_many
        sources = sorted(encode(lines), key=len, reverse=True)
        starts = range(0, len(sources), case.batch)
        folder = self.work / case.model
        if name != "dragoman with ctranslate2":
            folder /= f"ctranslate2-{case.quantization}"
        job = Job(
            model=asdict(config.model),
            weights=str(self.work / f"{case.model}.npz"),
            vocabulary=self.saved.tokenizers.source.vocabulary_size,
            batches=[sources[start : start + case.batch] for start in starts],
            beam_size=self.options.beam,
            length=case.length,
            max_extra_tokens=config.decoding.max_extra_tokens,
            length_penalty=config.decoding.length_penalty,
            threads=self.options.threads,
            folder=str(folder),
            texts=lines,
        )
        path = self.work / f"{name.replace(' ', '-')}.json"
        path.write_text(json.dumps(asdict(job)), "utf-8")
        return path


def start(bench: Bench, case: Case, name: str) -> PeerProcess:
    """Start a peer on a case."""
    environment = bench.environment(case, name)
    script, *arguments = SCRIPTS[name]
    job = "" if environment.problem else str(bench.job(case, name))
    command = [script, job, *arguments]
    return PeerProcess(name, environment, command, bench.work / "stderr")


def take_turns(bench: Bench, case: Case) -> list[PeerProcess]:
    """Compare, round by round, and give who took part, with what each answered."""
    print(case.title, file=sys.stderr, flush=True)
    bench.make(case.model)
    peers = [start(bench, case, name) for name in (case.first, *case.others)]
    try:
        for _ in range(bench.options.rounds):
            for peer in peers:
                peer.go()
        for peer in peers:
            peer.outputs = peer.ask("outputs")
    finally:
        for peer in peers:
            peer.stop()
    return peers


def run(bench: Bench, case: Case) -> list[str]:
    """Compare, and give the rows of the table."""
    peers = take_turns(bench, case)
    outputs = {peer.name: peer.outputs for peer in peers}
    return [row(case, peers[0], peer, outputs) for peer in peers]


def measure(options: argparse.Namespace) -> Iterator[Row]:
    """Give what the benchmark of everything shows of each case."""
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(options, Path(name))
        for case in cases(options.short, options.scale):
            if options.only in case.title:
                yield from beside(case, take_turns(bench, case))


def beside(case: Case, peers: list[PeerProcess]) -> Iterator[Row]:
    """Set each peer of a case beside the first."""
    first, *others = peers
    if not first.seconds:
        yield Row(f"decoding {case.title}", first.problem or "no answer")
        return

    def speed(peer: PeerProcess) -> str:
        return f"{case.count / statistics.median(peer.seconds):,.1f} sentences/s"

    for peer in others:
        what, ours = f"decoding {case.title}", speed(first)
        if len(peer.seconds) < len(first.seconds):
            yield Row(what, ours, peer.name, peer.problem or "no answer")
            continue
        faster = ratios(peer.seconds, first.seconds)
        limit = case.goal.split(" ×")[0] if concerns(case, peer) else ""
        met = statistics.median(faster) >= float(limit) if limit else None
        yield Row(what, ours, peer.name, speed(peer), spread(faster), limit, met)


def concerns(case: Case, peer: PeerProcess) -> bool:
    """Say whether a case's goal is about a peer."""
    name = peer.name.removeprefix("ctranslate2 ")
    return peer.name in case.goal or case.goal.endswith(name)


def row(
    case: Case, first: PeerProcess, peer: PeerProcess, outputs: dict[str, Any]
) -> str:
    """Describe one engine in one case."""
    cells = [case.title if peer is first else "", peer.name]
    if peer.problem is not None or not peer.seconds:
        return line([*cells, peer.problem or "no answer", "", "", ""])
    cells.append(f"{case.count / statistics.median(peer.seconds):,.1f}")
    if peer is first:
        return line([*cells, "1", "", ""])
    rounds = zip(peer.seconds, first.seconds, strict=True)
    ratios = sorted(theirs / ours for theirs, ours in rounds)
    cells.append(
        f"**{statistics.median(ratios):.2f}** [{ratios[0]:.2f}, {ratios[-1]:.2f}]"
    )
    cells.append(case.goal.split(" ×")[0] if concerns(case, peer) else "")
    cells.append(agreement(outputs[first.name], outputs[peer.name]))
    return line(cells)


def agreement(ours: list[Any] | None, theirs: list[Any] | None) -> str:
    """Count the translations that are the same."""
    if not ours or not theirs or type(ours[0]) is not type(theirs[0]):
        return ""
    if ours[0] and theirs[0] and type(ours[0][0]) is not type(theirs[0][0]):
        return ""  # pieces, not tokens
    same = sum(a == b for a, b in zip(ours, theirs, strict=True))
    return f"{same} of {len(ours)}"


def line(cells: list[str]) -> str:
    """Give a row of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def cold_start(bench: Bench) -> str:
    """Time processes from their start to the end of their first translation."""
    bench.make("trained")
    folder = bench.work / "cold"
    shutil.copytree(bench.work / "trained", folder)
    shutil.rmtree(folder / "ctranslate2-float32")
    command = [sys.executable, "-m", "dragoman", "translate", str(folder)]
    seconds = []
    for _ in range(1 + 2 * bench.options.rounds):
        start = time.perf_counter()
        subprocess.run([*command, COLD_SENTENCE], check=True, capture_output=True)
        seconds.append(time.perf_counter() - start)
    seconds = sorted(seconds[1:])  # the first finds nothing in the system's cache
    return (
        f"Cold start, process start to first translation, int8: "
        f"{statistics.median(seconds):.2f} s [{seconds[0]:.2f}, {seconds[-1]:.2f}] "
        "(goal: under 1.0 s)"
    )


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, metavar="MODEL")
    parser.add_argument("--source", type=Path, required=True, metavar="FILE")
    parser.add_argument("--short", action="store_true", help="under ten minutes")
    parser.add_argument("--rounds", type=int, help="default: 7, or 3 with --short")
    parser.add_argument("--scale", type=float, default=1.0, help="of the sentences")
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", help="cases whose title contains this")
    parser.add_argument("--peers", nargs="*", default=PEERS, choices=PEERS)
    parser.add_argument(
        "--environments",
        type=Path,
        default=FOLDER,
        metavar="DIR",
        help="where the peers are installed",
    )
    options = parser.parse_args(arguments)
    options.rounds = options.rounds or (3 if options.short else 7)
    return options


def main() -> None:
    """Run every case and print the table."""
    options = parse()
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(options, Path(name))
        print(line([f"case, beam {options.beam}", *HEADINGS]))
        print("|---|---|--:|--:|--:|--:|", flush=True)
        for case in cases(options.short, options.scale):
            if options.only in case.title:
                print("\n".join(run(bench, case)), flush=True)
        if options.only in "cold start":
            print(f"\n{cold_start(bench)}")


if __name__ == "__main__":
    main()
