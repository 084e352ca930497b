"""How right a plan is: `dragoman plan` beside the real run that it is about.

    python benchmarks/plan.py train.en train.de

For each preset, plans and short real runs take turns, since the machine may be shared
and its speed may change from minute to minute. Prints a Markdown row for each preset:
target tokens per second and peak memory, planned and real (medians over the rounds).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

DRAGOMAN = [sys.executable, "-m", "dragoman"]
SKIPPED_STEPS = 2  # which pay for what later ones reuse


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--presets", nargs="+", default=["tiny", "fast", "small"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=20, help="of each real run")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    print("| preset | tokens/s planned | real | off by | MiB planned | real | off by |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for preset in options.presets:
        print(compare(preset, options), flush=True)


def compare(preset: str, options: argparse.Namespace) -> str:
    """Plan and train in turns; give one row of the table."""
    text = ["--source", str(options.source), "--target", str(options.target)]
    common = [*text, "--preset", preset, "--threads", str(options.threads)]
    planned, real = [], []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "model"
        run([*DRAGOMAN, "train", str(folder), *common, "--steps", "1", "--quiet"])
        for number in range(1, options.rounds + 1):
            planned.append(plan(common))
            steps = number * options.steps
            command = [*DRAGOMAN, "train", str(folder), *common, "--quiet"]
            memory = run([*command, "--steps", str(steps)])
            real.append((tokens_per_second(folder, steps - options.steps), memory))
    row = [preset]
    for what in (0, 1):
        guess, truth = (median(pair[what] for pair in side) for side in (planned, real))
        row += [f"{guess:,.0f}", f"{truth:,.0f}", f"{guess / truth - 1:+.0%}"]
    return f"| {' | '.join(row)} |"


def plan(common: list[str]) -> tuple[float, float]:
    """Give the planned target tokens per second and MiB."""
    command = [*DRAGOMAN, "plan", *common, "--json"]
    found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    speed = found["run"]["target_tokens_per_second"]
    return speed, found["memory"]["total"] / 2**20


def run(command: list[str]) -> float:
    """Run a command to its end, and give the most MiB that it held."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(command)}")
    return used.ru_maxrss / 1024


def tokens_per_second(folder: Path, after: int) -> float:
    """Give the speed of a run's updates after the first few that follow `after`."""
    lines = (folder / "metrics.jsonl").read_text("utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["kind"] == "train"]
    rows = [row for row in rows if row["step"] > after + SKIPPED_STEPS]
    seconds = rows[-1]["seconds"] - rows[0]["seconds"]
    return float(sum(row["tokens"] for row in rows[1:]) / seconds)


if __name__ == "__main__":
    main()
