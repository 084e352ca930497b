"""What training takes on kinds of processors, as far as this machine can be them.

    python benchmarks/machines.py
    python benchmarks/machines.py --minutes 5

This processor with all of its instructions and held to AVX2 (to less, MKL cannot be
held on every processor), with all cores and with one: each is examined by `dragoman
doctor` in a process of its own. With --minutes, each also trains the demo's translator
for so long, as anybody would, and the row says which model was chosen, its updates and
its BLEU on the test set. Give it a machine that does nothing else. Prints a Markdown
table, as the README has it.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.text.corpus_folder import CorpusFiles
from dragoman.text.public_corpora import get

HEADINGS = ("processor", "cores", "GFLOP/s", "`tiny`", "`fast`")
DEMO_HEADINGS = ("model", "updates", "BLEU")
AVX2 = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "CT2_FORCE_CPU_ISA": "AVX2",
    "DRAGOMAN_KERNELS": "x86-64-v3",
}


@dataclass(frozen=True)
class Kind:
    """A processor that this one can stand in for."""

    name: str
    variables: dict[str, str]
    cores: int


def kinds() -> Iterator[Kind]:
    """List them, the quickest first."""
    cores = len(os.sched_getaffinity(0))
    for name, variables in (("whole", {}), ("AVX2", AVX2)):
        for number in sorted({cores, 1}, reverse=True):
            yield Kind(name, variables, number)


def ask(kind: Kind, *arguments: str | Path) -> str:
    """Run a command as on a processor of this kind; give what it prints."""
    cores = sorted(os.sched_getaffinity(0))[: kind.cores]
    bound = ["taskset", "--cpu-list", ",".join(map(str, cores))]
    command = [*bound, sys.executable, "-m", "dragoman", *map(str, arguments)]
    environment = os.environ | kind.variables
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout


def examined(kind: Kind) -> list[str]:
    """Give what the doctor measures: FLOP/s, and target tokens a second."""
    found: dict[str, Any] = json.loads(ask(kind, "doctor", "--json"))
    name = found["processor"]["name"]
    name = name if not kind.variables else f"{name}, held to {kind.name}"
    speeds, used = found["speeds"], found["precision"]["kind"]
    learning = [f"{speeds['learning'][preset]:,.0f}" for preset in ("tiny", "fast")]
    products = f"{speeds['products'][used] / 1e9:,.0f} ({used})"
    return [name, str(kind.cores), products, *learning]


def trained(kind: Kind, minutes: float, files: CorpusFiles, folder: Path) -> list[str]:
    """Train and score the demo's translator; give its model, updates and BLEU."""
    ask(
        kind,
        *("train", folder, "--minutes", str(minutes)),
        *("--source", files.train_source, "--target", files.train_target),
        *("--valid-source", files.valid_source, "--valid-target", files.valid_target),
    )
    asked = ("--source", files.test_source, "--reference", files.test_target)
    scores = json.loads(ask(kind, "evaluate", folder, *asked, "--json"))
    run = json.loads((folder / "run.json").read_text("utf-8"))
    width = f"d_model {run['settings']['model']['d_model']}"
    return [width, f"{run['steps']:,}", f"{scores['bleu']['score']:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, help="train the demo's model as well")
    parser.add_argument("--only", default="", help="kinds whose name contains this")
    options = parser.parse_args()
    headings = HEADINGS + (DEMO_HEADINGS if options.minutes else ())
    print(f"| {' | '.join(headings)} |")
    print("|---|" + "--:|" * (len(headings) - 1))
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        for number, kind in enumerate(kinds()):
            if options.only not in kind.name:
                continue
            cells = examined(kind)
            if options.minutes:
                files = get("tatoeba-en-es", Path("data/tatoeba-en-es"))
                cells += trained(kind, options.minutes, files, work / str(number))
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
