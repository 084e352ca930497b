"""Why scores are divided by √d_k: what happens to softmax without it (§3.2.1)."""

from dataclasses import dataclass

from dragoman.inspection.why_attention import Saturation, saturation
from dragoman.lab.experiment import Bench, Experiment
from dragoman.lab.findings import Claim, Curves, Findings, Line, Spread, Table
from dragoman.lab.fits import growth

STEADY = 1.5  # what is scaled may change by this factor over all widths
DEAD = 0.2  # and what is not scaled must fall below this share of it


@dataclass(frozen=True)
class Size:
    """How wide, how often, from how many seeds."""

    widths: tuple[int, ...]
    draws: int
    seeds: int


QUICK = Size(widths=(4, 16, 64, 256, 1024), draws=200, seeds=3)
FULL = Size(widths=(4, 8, 16, 32, 64, 128, 256, 512, 1024), draws=2000, seeds=5)

FIELDS = ("entropy", "entropy_unscaled", "gradient", "gradient_unscaled")


def measure(bench: Bench, size: Size | None = None) -> Findings:
    """Draw random queries and keys of growing width, and look at their softmax."""
    size = size or (QUICK if bench.quick else FULL)
    seeds = bench.seeds_for(size.seeds)
    runs = [
        saturation(widths=size.widths, draws=size.draws, seed=seed)
        for seed in bench.each(seeds, lambda seed: f"seed {seed}")
    ]
    by_width = list(zip(*runs, strict=True))
    variance = [Spread.of([row.spread**2 for row in rows]) for rows in by_width]
    found = {field: [_spread(rows, field) for rows in by_width] for field in FIELDS}
    return Findings(
        claims=claims(size.widths, variance, found),
        table=Table(
            ("d_k", "seeds", "variance of q·k", *_columns()),
            tuple(
                (
                    width,
                    len(seeds),
                    variance[row].mean,
                    *(_means(found[field][row]) for field in FIELDS),
                )
                for row, width in enumerate(size.widths)
            ),
        ),
        panels=_panels(size.widths, variance, found),
        caption=(
            "Random queries and keys of width d_k: the variance of their dot product, "
            "the entropy of softmax over 32 keys, and the size of its gradient, with "
            "and without division by √d_k. Lines are means, bands the range of seeds."
        ),
        seeds=len(seeds),
    )


def _spread(rows: tuple[Saturation, ...], field: str) -> Spread:
    return Spread.of([float(getattr(row, field)) for row in rows])


def _means(spread: Spread) -> float:
    return spread.mean


def _columns() -> tuple[str, ...]:
    return tuple(field.replace("_unscaled", " without √d_k") for field in FIELDS)


def claims(
    widths: tuple[int, ...], variance: list[Spread], found: dict[str, list[Spread]]
) -> tuple[Claim, ...]:
    """Judge how scores and softmax behaved as d_k grew."""
    slope = growth(widths, [spread.mean for spread in variance])
    entropies = [spread.mean for spread in found["entropy"][1:]]
    ratio = max(entropies) / min(entropies)
    last = {field: spreads[-1].mean for field, spreads in found.items()}
    softness = last["entropy_unscaled"] / last["entropy"]
    gradient = last["gradient_unscaled"] / last["gradient"]
    return (
        Claim(
            "the variance of q·k grows in step with d_k",
            abs(slope - 1) < 0.1,
            f"it grows like d_k to the power of {slope:.2f}",
        ),
        Claim(
            "division by √d_k keeps softmax as soft for wide keys as for narrow ones",
            ratio < STEADY,
            f"its entropy changes by a factor of {ratio:.2f} from d_k = {widths[1]} "
            f"to {widths[-1]}",
        ),
        Claim(
            "without it softmax hardens and its gradient dies",
            softness < DEAD and gradient < DEAD,
            f"at d_k = {widths[-1]} entropy is {softness:.1%} and the gradient "
            f"{gradient:.1%} of what they are with it",
        ),
    )


def _panels(
    widths: tuple[int, ...], variance: list[Spread], found: dict[str, list[Spread]]
) -> tuple[Curves, ...]:
    def line(label: str, spreads: list[Spread]) -> Line:
        return Line.of(label, list(zip(widths, spreads, strict=True)))

    exact = Line("d_k", widths, widths, expected=True)
    return (
        Curves(
            "The variance of q·k is d_k",
            "d_k",
            "variance",
            (line("measured", variance), exact),
            log_x=True,
            log_y=True,
        ),
        Curves(
            "Softmax hardens without √d_k",
            "d_k",
            "entropy in nats",
            (
                line("with √d_k", found["entropy"]),
                line("without", found["entropy_unscaled"]),
            ),
            log_x=True,
        ),
        Curves(
            "and its gradient dies",
            "d_k",
            "mean ∂weight/∂score",
            (
                line("with √d_k", found["gradient"]),
                line("without", found["gradient_unscaled"]),
            ),
            log_x=True,
            log_y=True,
        ),
    )


EXPERIMENT = Experiment(
    name="scaling",
    title="Why scores are divided by √d_k",
    question="What do wide queries and keys do to softmax if nobody divides by √d_k?",
    prediction=(
        "If the components of q and k are independent with mean 0 and variance 1, q·k "
        "has variance d_k; large scores push softmax into regions where its gradient "
        "is extremely small, and dividing by √d_k prevents it (§3.2.1, footnote 4)."
    ),
    why=(
        "A dot product is a sum of d_k products, and the variances of independent "
        "terms add up. Softmax looks at differences of scores: when these are some ten "
        "apart, one weight is all but 1 and the others all but 0. The derivative of a "
        "weight w by its own score is w(1 − w), which is nothing at both ends, so such "
        "a head can no longer learn to look elsewhere. Divided by their standard "
        "deviation √d_k, the scores keep the same size whatever the width."
    ),
    measure=measure,
)
