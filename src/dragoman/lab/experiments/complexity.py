"""Table 1, counted: operations, sequential steps and path lengths (§4)."""

import math
from dataclasses import dataclass

import torch
from torch.utils.flop_counter import FlopCounterMode

from dragoman.lab.experiment import Bench, Experiment
from dragoman.lab.findings import Claim, Curves, Findings, Line, Table
from dragoman.lab.fits import growth
from dragoman.lab.graph import longest_chain, shortest_path
from dragoman.lab.layer_kinds import LayerKind, Words, kinds

REACH, KERNEL = 4, 4
NEAR = 0.15  # how far a measured power may be from the one of Table 1
SHAPES: dict[str, tuple[str, float, float]] = {
    # what Table 1 says of the operations, and its powers of n and of d
    "self-attention": ("n²·d", 2, 1),
    "recurrent": ("n·d²", 1, 2),
    "convolutional, dilated": ("k·n·d²", 1, 2),
    "self-attention, restricted": ("r·n·d", 1, 1),
}


@dataclass(frozen=True)
class Size:
    """Sentence lengths n at one width, and widths d at one length."""

    lengths: tuple[int, ...]
    width: int
    widths: tuple[int, ...]
    length: int


QUICK = Size(lengths=(16, 32, 64), width=32, widths=(8, 16, 32, 64), length=32)
FULL = Size(
    lengths=(16, 32, 64, 128, 256), width=64, widths=(16, 32, 64, 128, 256), length=64
)


@dataclass(frozen=True)
class Count:
    """What one layer, and the stack that joins both ends, cost at one size."""

    kind: str
    n: int
    d: int
    operations: int  # of one layer, multiplications and additions
    sequential: int  # products of one layer that must wait for each other
    path: int  # products between the first and the last word, in the stack


def measure(bench: Bench, size: Size | None = None) -> Findings:
    """Run each kind of layer, count its operations and follow its recorded graph."""
    size = size or (QUICK if bench.quick else FULL)
    sizes = [(n, size.width) for n in size.lengths]
    sizes += [(size.length, d) for d in size.widths]
    jobs = [(kind, n, d) for kind in kinds(REACH, KERNEL) for n, d in sizes]
    counts = [
        count(kind, n, d)
        for kind, n, d in bench.each(jobs, lambda job: f"{job[0].name}, n = {job[1]}")
    ]
    by_length = {
        kind.name: [c for c in counts if c.kind == kind.name][: len(size.lengths)]
        for kind in kinds(REACH, KERNEL)
    }
    by_width = {
        kind.name: [c for c in counts if c.kind == kind.name][len(size.lengths) :]
        for kind in kinds(REACH, KERNEL)
    }
    return Findings(
        claims=claims(by_length, by_width),
        table=Table(
            (
                *("layer", "Table 1 says", "n", "d"),
                *("operations", "sequential steps", "path length"),
            ),
            tuple(
                (
                    *(c.kind, SHAPES[c.kind][0], c.n, c.d),
                    *(c.operations, c.sequential, c.path),
                )
                for c in counts
            ),
        ),
        panels=_panels(by_length, size),
        caption=(
            "Operations of one layer, matrix products that must wait for each other, "
            "and products between the first and the last word, by sentence length n "
            f"at d = {size.width}, for r = {2 * REACH + 1} and k = {KERNEL}."
        ),
        seeds=1,
        note=(
            "Operations and chains are counted, not timed: chance has no part in "
            "them, so there is one run. As in Table 1, the projections W_Q, W_K, W_V "
            "and W_O are left out; they add 8·n·d² operations to attention, twice "
            "what the plain recurrent layer needs in all and half of what an LSTM "
            "with its four gates does. With them an attention layer is cheaper than "
            "an LSTM's up to n = 2·d, and never cheaper than a plain recurrent one."
        ),
    )


def count(kind: LayerKind, n: int, d: int) -> Count:
    """Count one layer's operations and chains, and the path through the stack."""
    torch.manual_seed(1)
    words: Words = [torch.randn(1, d, requires_grad=True) for _ in range(n)]
    with FlopCounterMode(display=False) as counter:
        once = kind.layer(words, 0)
    stack, path, depth = once, shortest_path(once[-1], words[0]), 1
    while path is None:  # the last word does not see the first yet
        stack, depth = kind.layer(stack, depth), depth + 1
        path = shortest_path(stack[-1], words[0])
    return Count(
        kind=kind.name,
        n=n,
        d=d,
        operations=int(counter.get_total_flops()),
        sequential=longest_chain(once[-1]),
        path=path,
    )


def claims(
    by_length: dict[str, list[Count]], by_width: dict[str, list[Count]]
) -> tuple[Claim, ...]:
    """Judge the counts by the powers that Table 1 gives."""
    powers = {
        kind: (
            growth([c.n for c in by_length[kind]], _operations(by_length[kind])),
            growth([c.d for c in by_width[kind]], _operations(by_width[kind])),
        )
        for kind in SHAPES
    }
    right = all(
        abs(powers[kind][0] - n) < NEAR and abs(powers[kind][1] - d) < NEAR
        for kind, (_, n, d) in SHAPES.items()
    )
    said = "; ".join(f"{kind} n^{n:.2f}·d^{d:.2f}" for kind, (n, d) in powers.items())
    attention, recurrence = by_length["self-attention"], by_length["recurrent"]
    steps = growth([c.n for c in recurrence], [c.sequential for c in recurrence])
    paths = growth([c.n for c in recurrence], [c.path for c in recurrence])
    longest = attention[-1].n
    dilated, restricted = (
        by_length[kind]
        for kind in ("convolutional, dilated", "self-attention, restricted")
    )
    logarithms = [math.ceil(round(math.log(c.n, KERNEL), 9)) for c in dilated]
    along = growth([c.n for c in restricted], [c.path for c in restricted])
    return (
        Claim("operations grow as Table 1 says", right, said),
        Claim(
            "self-attention needs a constant number of sequential steps, recurrence "
            "one for each word",
            len({c.sequential for c in attention}) == 1 and abs(steps - 1) < NEAR,
            f"{attention[-1].sequential} against {recurrence[-1].sequential} at "
            f"n = {longest}",
        ),
        Claim(
            "any two words are a constant path apart for self-attention, while the "
            "path of recurrence grows with n",
            len({c.path for c in attention}) == 1 and abs(paths - 1) < NEAR,
            f"{attention[-1].path} against {recurrence[-1].path} at n = {longest}",
        ),
        Claim(
            "between the two lie log_k(n) for dilated convolution and n/r for "
            "restricted attention",
            [c.path for c in dilated] == logarithms and abs(along - 1) < NEAR,
            f"{dilated[-1].path} and {restricted[-1].path} at n = {longest}",
        ),
    )


def _operations(counts: list[Count]) -> list[float]:
    return [float(c.operations) for c in counts]


def _panels(by_length: dict[str, list[Count]], size: Size) -> tuple[Curves, ...]:
    def panel(title: str, y_label: str, field: str) -> Curves:
        lines = tuple(
            Line(
                kind,
                tuple(c.n for c in counts),
                tuple(float(getattr(c, field)) for c in counts),
            )
            for kind, counts in by_length.items()
        )
        return Curves(title, "n, words", y_label, lines, log_x=True, log_y=True)

    return (
        panel(f"Operations of a layer, d = {size.width}", "FLOPs", "operations"),
        panel("Steps that must wait", "products in a row", "sequential"),
        panel("From the first word to the last", "products on the way", "path"),
    )


EXPERIMENT = Experiment(
    name="complexity",
    title="Table 1, counted",
    question="What do attention, recurrence and convolution cost, and how far apart "
    "are two words in each?",
    prediction=(
        "Per layer, self-attention costs n²·d operations, recurrence n·d², convolution "
        "k·n·d² and restricted attention r·n·d; recurrence needs n sequential steps "
        "and the others a constant number; the longest path between two words is "
        "constant, n, log_k(n) and n/r (Table 1)."
    ),
    why=(
        "Attention compares each word with each: n² dot products of width d. "
        "Recurrence multiplies one d×d matrix per word, but each state waits for the "
        "last, so neither time nor a signal from the first word can take a shortcut. "
        "A signal that passes fewer steps is easier to learn from. Where sentences "
        "are shorter than vectors are wide (n < d), n²·d is also less work."
    ),
    measure=measure,
)
