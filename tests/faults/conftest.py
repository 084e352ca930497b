"""A nursery of runs that can be killed cheaply, and the table of what was found."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dragoman import durable
from dragoman.training.checkpoints import Checkpoints

HERE = Path(__file__).parent
TABLE = HERE.parent.parent / "benchmarks" / "faults.md"
STEPS, SAVE_EVERY = 16, 4
# Dropout, subword sampling, accumulation, several epochs, validation now and then.
SETTINGS = {
    "model.d_model": 16,
    "model.d_ff": 32,
    "model.num_heads": 2,
    "model.num_encoder_layers": 1,
    "model.num_decoder_layers": 1,
    "model.dropout": 0.1,
    "tokenizer.vocabulary_size": 380,
    "tokenizer.sampling": 0.1,
    "training.batch_tokens": 700,
    "training.accumulate": 2,
    "training.average_last": 3,
    "training.save_every": SAVE_EVERY,
    "training.valid_every": 6,
    "training.valid_sentences": 0,
    "training.threads": 1,
}


@dataclass(frozen=True)
class Ended:
    """How one run in the nursery ended."""

    code: int  # negative: the number of the signal that killed it
    seconds: float
    seconds_after_signal: float | None


class Nursery:
    """Toy runs on one small corpus, each in a process of its own."""

    def __init__(self, pairs: Path, folder: Path, preload: Path) -> None:
        self.pairs = pairs
        self.folder = folder
        environment = os.environ | {"LD_PRELOAD": str(preload), "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "nursery.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def train(
        self, folder: Path, settings: dict[str, Any] | None = None, **asked: Any
    ) -> Ended:
        """Run `dragoman train` in a folder, with whatever is to happen to it."""
        chosen = SETTINGS | (settings or {})
        arguments = [
            *("train", folder, "--source", self.pairs, "--valid-source", self.pairs),
            *("--preset", "tiny", "--steps", STEPS),
            *[f"--set={name}={value}" for name, value in chosen.items()],
        ]
        plain = {"arguments": list(map(str, arguments)), "log": str(self.log(folder))}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(plain | asked) + "\n")
        self.process.stdin.flush()
        return Ended(**json.loads(self.process.stdout.readline()))

    def log(self, folder: Path) -> Path:
        """Where a run says what it has to say."""
        return folder.with_name(folder.name + ".log")

    def said(self, folder: Path) -> str:
        return self.log(folder).read_text("utf-8")

    def prepared(self, folder: Path) -> Path:
        """Begin a run's folder with the corpus ready, which saves half its time."""
        shutil.copytree(self.folder / "whole" / "prepared", folder / "prepared")
        return folder

    def copy(self, of: Path, folder: Path) -> Path:
        """Begin a run's folder where another one stands."""
        shutil.copytree(of, folder)
        return folder

    def close(self) -> None:
        self.process.communicate(timeout=60)


@dataclass(frozen=True)
class Whole:
    """The run that nobody interrupted."""

    folder: Path
    fingerprint: tuple[str, ...]
    seconds: float


def fingerprint(folder: Path) -> tuple[str, ...]:
    """Give the hashes of what a run has learned: the last update's, and the mean."""
    last = folder / "checkpoints" / f"step-{STEPS}"
    return tuple(durable.sha256(f / "model.safetensors") for f in (folder, last))


def steps_noted(folder: Path) -> list[int]:
    """Give the updates that a run has written into its diary."""
    diary = folder / "metrics.jsonl"
    steps = []
    for line in diary.read_text("utf-8").splitlines() if diary.exists() else []:
        try:
            record = json.loads(line)
        except ValueError:  # cut off by a kill
            continue
        if record["kind"] == "train":
            steps.append(record["step"])
    return steps


def newest_step(folder: Path) -> int:
    """Give the update of the newest checkpoint that is whole."""
    found = Checkpoints(folder / "checkpoints", keep=3).latest()
    return found.step if found else 0


@pytest.fixture(scope="session")
def nursery(
    corpus: Any, tmp_path_factory: pytest.TempPathFactory, in_ci: bool
) -> Iterator[Nursery]:
    compiler = shutil.which("cc")
    if not sys.platform.startswith("linux") or not compiler:
        reason = "needs Linux and a C compiler, to be killed at any system call"
        pytest.fail(reason) if in_ci else pytest.skip(reason)
    folder = tmp_path_factory.mktemp("nursery")
    preload = folder / "dying.so"
    flags = ["-shared", "-fPIC", "-o", str(preload), str(HERE / "dying.c"), "-ldl"]
    subprocess.run([compiler or "cc", *flags], check=True)
    lines = [
        path.read_text("utf-8").splitlines()[:120]
        for path in (corpus.train_source, corpus.train_target)
    ]
    pairs = folder / "pairs.tsv"
    rows = (f"{one}\t{other}\n" for one, other in zip(*lines, strict=True))
    pairs.write_text("".join(rows), "utf-8")
    made = Nursery(pairs, folder, preload)
    yield made
    made.close()


@pytest.fixture(scope="session")
def whole(nursery: Nursery) -> Whole:
    folder = nursery.folder / "whole"
    ended = nursery.train(folder)
    assert ended.code == 0, nursery.said(folder)
    return Whole(folder, fingerprint(folder), ended.seconds)


@dataclass(frozen=True)
class Eve:
    """A run just before a save that also names the best and prunes the oldest."""

    folder: Path
    operations: int  # on the disk, that this save takes


@pytest.fixture(scope="session")
def eve(nursery: Nursery, whole: Whole) -> Eve:
    folder, trial = nursery.folder / "eve", nursery.folder / "trial"
    nursery.prepared(folder)
    # The first operation of the fourth save: after updates 4, 6, 8, at update 12.
    assert nursery.train(folder, die_at=1, save=4).code == -signal.SIGKILL
    counts = nursery.folder / "operations"
    ended = nursery.train(nursery.copy(folder, trial), counts=str(counts), save=1)
    assert ended.code == 0, nursery.said(trial)
    assert fingerprint(trial) == whole.fingerprint
    return Eve(folder, int(counts.read_text()))


Report = Callable[[str, int, str, str], None]


@pytest.fixture(scope="session")
def report() -> Report:
    """Write a row of the table in benchmarks/faults.md, in place of the one before."""

    def write(fault: str, trials: int, held: str, measured: str) -> None:
        row = f"| {fault} | {trials:,} | {held} | {measured} |"
        lines = TABLE.read_text("utf-8").splitlines()
        same = [k for k, line in enumerate(lines) if line.startswith(f"| {fault} |")]
        if same:
            lines[same[0]] = row
        else:
            last = max(k for k, line in enumerate(lines) if line.startswith("|"))
            lines.insert(last + 1, row)
        TABLE.write_text("\n".join(lines) + "\n", "utf-8")

    return write


@pytest.fixture(scope="session")
def look() -> Any:
    """What tests ask of a run's folder."""
    return Look


class Look:
    """What can be seen in a run's folder from outside."""

    fingerprint = staticmethod(fingerprint)
    steps_noted = staticmethod(steps_noted)
    newest_step = staticmethod(newest_step)
    save_every = SAVE_EVERY
    steps = STEPS
    settings = SETTINGS
