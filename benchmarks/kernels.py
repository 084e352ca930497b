"""Each kernel beside its plain twin, at every level of instructions that is here.

    python benchmarks/kernels.py

Shapes are those of `fast` with 1,500 tokens a batch, and of `tiny` where that is said.
For each level a process of its own computes with kernels and without, in turns, with
two threads and with one; torch, oneDNN and MKL are held to the level too. Prints a
Markdown table: how many times as fast as its twin a kernel is. benchmarks/processors.md
keeps what came of it.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace

# What holds everybody else to a level: for torch, oneDNN and MKL.
HELD = {
    "x86-64-v2": ("default", "SSE41", "SSE4_2"),
    "x86-64-v3": ("avx2", "AVX2", "AVX2"),
    "x86-64-v4": ("avx512", "AVX512_CORE", "AVX512"),
}
VARIABLES = ("ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS")
BATCH, LENGTH, WIDTH, HEADS, INNER, VOCABULARY = 100, 15, 256, 4, 512, 8000
Work = Callable[[], object]


def main() -> None:
    """Print the table, level by level."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--levels", nargs="*", default=list(HELD), choices=list(HELD))
    parser.add_argument("--threads", nargs="*", type=int, default=[2, 1])
    parser.add_argument("--seconds", type=float, default=0.5, help="for each kernel")
    parser.add_argument("--here", action="store_true", help="measure in this process")
    options = parser.parse_args()
    if options.here:
        print(json.dumps(measure(options.threads[0], options.seconds)))
        return
    columns: dict[str, dict[str, float]] = {}
    for level in options.levels:
        for threads in options.threads:
            columns[f"{level}, {threads}"] = _ask(level, threads, options.seconds)
    print("| kernel | " + " | ".join(columns) + " |")
    print("|---|" + "--:|" * len(columns))
    for name in next(iter(columns.values())):
        found = [f"{column[name]:.2f}" for column in columns.values()]
        print(f"| {name} | " + " | ".join(found) + " |")


def _ask(level: str, threads: int, seconds: float) -> dict[str, float]:
    held = dict(zip(VARIABLES, HELD[level], strict=True)) | {"DRAGOMAN_KERNELS": level}
    command = [sys.executable, __file__, "--here", "--seconds", str(seconds)]
    done = subprocess.run(
        [*command, "--threads", str(threads)],
        env=os.environ | held,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    ratios: dict[str, float] = json.loads(done.stdout)
    return ratios


def measure(threads: int, seconds: float) -> dict[str, float]:
    """Return how many times as fast as its twin each kernel is."""
    import torch

    from dragoman.kernels.choice import kernels_named

    torch.set_num_threads(threads)
    torch.manual_seed(1)
    ratios = {}
    for name, work in works().items():
        taken: dict[str, list[float]] = {"plain": [], "native": []}
        end = time.perf_counter() + seconds
        while time.perf_counter() < end or len(taken["plain"]) < 3:
            for kernels, times in taken.items():
                with kernels_named(kernels):
                    began = time.perf_counter()
                    work()
                    times.append(time.perf_counter() - began)
        plain, native = (statistics.median(times) for times in taken.values())
        ratios[name] = plain / native
    return ratios


def works() -> dict[str, Work]:
    """Name what is computed, with its gradient where something learns from it."""
    return _parts() | _search() | _whole()


def _parts() -> dict[str, Work]:
    import torch

    from dragoman.config import load_preset
    from dragoman.model.attention import ScaledDotProductAttention
    from dragoman.model.dropout import Dropout
    from dragoman.model.layers import Residual
    from dragoman.model.linear import linear
    from dragoman.model.norms import LayerNorm
    from dragoman.model.relative_positions import Rotary
    from dragoman.training.loss import translation_loss

    x = torch.randn(BATCH, LENGTH, WIDTH, requires_grad=True)
    y = torch.randn(BATCH, LENGTH, WIDTH, requires_grad=True)
    wide = torch.randn(BATCH, LENGTH, INNER, requires_grad=True)
    heads = [
        torch.randn(BATCH, LENGTH, HEADS, WIDTH // HEADS, requires_grad=True).transpose(
            1, 2
        )
        for _ in range(3)
    ]
    words = torch.ones(BATCH, 1, 1, LENGTH, dtype=torch.bool)
    words[::2, ..., -3:] = False
    weight = torch.randn(INNER, WIDTH, requires_grad=True)
    bias = torch.randn(INNER, requires_grad=True)
    output = torch.randn(VOCABULARY, WIDTH, requires_grad=True)
    target = torch.randint(4, VOCABULARY, (BATCH, LENGTH))
    attention, norm, drop = (
        ScaledDotProductAttention(0.0),
        LayerNorm(WIDTH),
        Dropout(0.1),
    )
    config = load_preset("fast").model
    post = Residual(replace(config, norm="post", dropout=0.1))
    told = Rotary(WIDTH // HEADS)(x, 0, LENGTH)
    assert told.turn is not None
    turn = told.turn

    def learned(compute: Callable[[], torch.Tensor]) -> Work:
        return lambda: compute().sum().backward()

    return {
        "attention": learned(lambda: attention(*heads, words, False)),
        "layer norm": learned(lambda: norm(x)),
        "dropout in a residual": learned(lambda: drop.add(x, y)),
        "ReLU and dropout": learned(lambda: drop.of_rectified(wide)),
        "dropout, residual, norm": learned(lambda: post.after(x, y)),
        "rotary positions": learned(lambda: turn(heads[0])),
        "linear map": learned(lambda: linear(x, weight, bias)),
        "loss": lambda: translation_loss(x, output, target, 0.1).smoothed.backward(),
    }


def _search() -> dict[str, Work]:
    import torch

    from dragoman.decoding.choices import next_log_probabilities
    from dragoman.decoding.largest import largest

    logits = torch.randn(128, VOCABULARY)

    def quietly(compute: Work) -> Work:
        def work() -> None:
            with torch.no_grad():
                compute()

        return work

    return {
        "log softmax": quietly(lambda: next_log_probabilities(logits)),
        "largest": quietly(lambda: largest(logits, 8)),
    }


def _whole() -> dict[str, Work]:
    import torch

    from dragoman.config import load_preset
    from dragoman.data.batching import Batch
    from dragoman.model.build import build_model
    from dragoman.training.objective import Objective

    found: dict[str, Work] = {}
    for preset in ("fast", "tiny"):
        config = load_preset(preset)
        model = build_model(config.model, VOCABULARY)
        objective = Objective(model, config.training)
        source = torch.randint(4, VOCABULARY, (BATCH, LENGTH))
        target = torch.randint(4, VOCABULARY, (BATCH, LENGTH + 1))
        batch = Batch(source, target[:, :-1], target[:, 1:])

        def learn(objective: Objective = objective, batch: Batch = batch) -> None:
            objective.train()
            objective(batch).smoothed.backward()

        found[f"`{preset}`, forward and backward"] = learn
    return found


if __name__ == "__main__":
    main()
