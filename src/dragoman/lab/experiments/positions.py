"""The geometry of positions, and what happens past the longest sentence seen (§3.5)."""

import itertools
from dataclasses import dataclass

import numpy as np
import torch

from dragoman.inspection.order import rotation, similarity_by_distance
from dragoman.lab.experiment import Bench, Experiment
from dragoman.lab.findings import (
    Cell,
    Claim,
    Curves,
    Findings,
    Heatmap,
    Line,
    Spread,
    Table,
    larger,
)
from dragoman.lab.toy_tasks import accuracy, learn, toy_batch, toy_batches, toy_config
from dragoman.model.positions import sinusoids
from dragoman.setting_rules import CHOICES

WIDTH = 128
OFFSETS = (1, 2, 4, 8, 16, 32)
EXACT = 1e-5  # of a rotation, in single precision
LEARNED_ENOUGH = 0.9  # accuracy on lengths that were trained, or nothing is decided


@dataclass(frozen=True)
class Size:
    """How many positions to look at, and how long to learn which lengths."""

    positions: int
    longest: int  # sentence learned from
    tried: tuple[int, ...]  # lengths
    steps: int
    batch_tokens: int
    sentences: int  # of each length tried
    seeds: int


QUICK = Size(
    64, 10, (5, 10, 15, 20), steps=200, batch_tokens=600, sentences=50, seeds=1
)
FULL = Size(
    positions=128,
    longest=20,
    tried=(5, 10, 15, 20, 25, 30, 40, 60),
    steps=2000,
    batch_tokens=1500,
    sentences=200,
    seeds=3,
)


@dataclass(frozen=True)
class Reach:
    """Accuracy of copying by the kind of positions and the length."""

    accuracies: dict[str, list[Spread]]  # one for each length tried

    def at(self, kind: str, number: int) -> Spread:
        """Give the accuracy of a kind at one of the lengths."""
        return self.accuracies[kind][number]


def measure(bench: Bench, size: Size | None = None) -> Findings:
    """Look at the sinusoids, turn them, and let models copy longer and longer lines."""
    size = size or (QUICK if bench.quick else FULL)
    seeds = bench.seeds_for(size.seeds)
    table = sinusoids(size.positions, WIDTH).float()
    similarity = similarity_by_distance(table)
    offsets = [offset for offset in OFFSETS if offset < size.positions]
    errors = [max(rotation(table, offset).largest_error, 1e-9) for offset in offsets]
    # Nothing turns random vectors into each other: what an error looks like.
    chance = torch.randn(table.shape, generator=torch.Generator().manual_seed(1))
    misfit = [rotation(chance, offset).largest_error for offset in offsets]
    reach = _reach(bench, size, seeds)
    return Findings(
        claims=claims(size, max(errors), similarity.tolist(), reach),
        table=_table(size, offsets, errors, similarity.tolist(), reach),
        panels=(
            Heatmap(
                "Sinusoids: what is added to a word",
                "dimension",
                "position",
                tuple(tuple(row) for row in table.tolist()),
            ),
            Curves(
                "Near places are alike",
                "distance",
                "cosine",
                (
                    Line(
                        "PE(p) and PE(p + k)",
                        tuple(range(len(similarity))),
                        tuple(similarity.tolist()),
                    ),
                ),
            ),
            Curves(
                "PE(p + k) is PE(p), turned",
                "k",
                "largest error",
                (
                    Line("sinusoids", tuple(offsets), tuple(errors)),
                    Line("random vectors", tuple(offsets), tuple(misfit)),
                ),
                log_x=True,
                log_y=True,
            ),
            Curves(
                f"Copying, learned up to {size.longest} words",
                "words",
                "accuracy",
                tuple(
                    Line.of(kind, list(zip(size.tried, spreads, strict=True)))
                    for kind, spreads in reach.accuracies.items()
                ),
            ),
        ),
        caption=(
            "The table of sinusoids as colours; the cosine between positions by their "
            "distance; the error of turning PE(p) into PE(p + k); and how many words "
            "small models copy rightly, on lengths they learned and on longer ones."
        ),
        seeds=len(seeds),
        note=(
            "Rotary and ALiBi act inside self-attention; attention to the source is "
            "told nothing of places, so that with them a copy must find where it is by "
            "the words around it."
        ),
    )


def _reach(bench: Bench, size: Size, seeds: range) -> Reach:
    kinds = CHOICES["model.positions"]
    jobs = [(kind, seed) for kind in kinds for seed in seeds]
    found: dict[str, list[list[float]]] = {kind: [] for kind in kinds}
    for kind, seed in bench.each(jobs, lambda job: f"{job[0]}, seed {job[1]}"):
        settings = {
            "model.positions": kind,
            "model.max_positions": max(size.tried) + 2,
        }
        lengths = range(1, size.longest + 1)
        batches = toy_batches("copy", lengths, size.batch_tokens, seed)
        learned = learn(toy_config(settings), batches, size.steps, seed)
        random = np.random.default_rng(1000 + seed)
        found[kind].append(
            [
                accuracy(learned, toy_batch("copy", length, size.sentences, random))
                for length in size.tried
            ]
        )
    return Reach(
        {
            kind: [Spread.of(values) for values in zip(*runs, strict=True)]
            for kind, runs in found.items()
        }
    )


def claims(
    size: Size, error: float, similarity: list[float], reach: Reach
) -> tuple[Claim, ...]:
    """Judge the geometry, and how far copying reached."""
    near = all(a > b for a, b in itertools.pairwise(similarity[:5]))
    return (
        Claim(
            "PE(p + k) is a rotation of PE(p), the same for every p",
            error < EXACT,
            f"the largest error is {error:.1g}",
        ),
        Claim(
            "near positions are more alike than far ones",
            near and similarity[1] > max(similarity[5:]),
            f"the cosine falls from 1 to {similarity[1]:.2f} one place away and "
            f"{similarity[-1]:.2f} {len(similarity) - 1} places away",
        ),
        _extrapolation(size, reach),
    )


def _extrapolation(size: Size, reach: Reach) -> Claim:
    """Compare past the longest sentence, if what was learned was learned at all."""
    known = size.tried.index(size.longest)
    sines, learned = (reach.at(kind, -1) for kind in ("sinusoidal", "learned"))
    enough = min(reach.at(kind, known).mean for kind in ("sinusoidal", "learned"))
    best = max(reach.accuracies, key=lambda kind: reach.at(kind, -1).mean)
    return Claim(
        "sinusoids carry further than learned positions past the longest sentence",
        larger(sines, learned) if enough >= LEARNED_ENOUGH else None,
        f"at {size.tried[-1]} words after learning up to {size.longest}: sinusoidal "
        f"{sines.text('.0%')}, learned {learned.text('.0%')}, best is {best} with "
        f"{reach.at(best, -1).mean:.0%}; at {size.longest} words both have at least "
        f"{enough:.0%}",
    )


def _table(
    size: Size,
    offsets: list[int],
    errors: list[float],
    similarity: list[float],
    reach: Reach,
) -> Table:
    rows: list[tuple[Cell, ...]] = [
        ("error of the rotation", "sinusoidal", offset, error, error, error)
        for offset, error in zip(offsets, errors, strict=True)
    ]
    rows += [
        ("cosine at a distance", "sinusoidal", offset, *3 * (similarity[offset],))
        for offset in offsets
    ]
    rows += [
        ("accuracy of copying", kind, length, spread.mean, spread.low, spread.high)
        for kind, spreads in reach.accuracies.items()
        for length, spread in zip(size.tried, spreads, strict=True)
    ]
    columns = ("measured", "positions", "offset or length", "mean", "lowest", "highest")
    return Table(columns, tuple(rows))


EXPERIMENT = Experiment(
    name="positions",
    title="What sinusoids are good for",
    question="What do sinusoidal positions offer, and do they reach past training?",
    prediction=(
        "For any fixed offset k, PE(p + k) is a linear function of PE(p), which should "
        "make it easy to attend by relative positions; and sinusoids may allow the "
        "model to extrapolate to sequences longer than those seen in training (§3.5)."
    ),
    why=(
        "Sine and cosine of one frequency are a point on a circle, and k places "
        "further on it has turned by an angle that depends on k alone: a rotation, "
        "which a matrix can do. Rotary positions make that turn inside attention "
        "itself; ALiBi instead takes something off each score for every place of "
        "distance. Learned positions past the longest sentence were never touched by "
        "training and mean nothing. That sinusoids could reach further does not say "
        "that a model learns to use them so: the last panel shows what it did learn."
    ),
    measure=measure,
)
