"""What is written down about scaling: curves, their plots, a page with paragraphs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scaling_point import Point, Question


@dataclass(frozen=True)
class Curve:
    """One thing that grows while all others stay: TINY, 4,000 tokens of length 16."""

    name: str
    title: str
    unit: str
    values: tuple[int, ...]
    changed: str  # a field of the question, or a setting

    def question(self, value: int, seconds: float, threads: int) -> Question:
        """Ask about one of its values."""
        asked: dict[str, Any] = {
            "preset": "tiny",
            "settings": {},
            "vocabulary": 8000,
            "tokens": 4000,
            "length": 16,
            "seconds": seconds,
            "threads": threads,
        }
        if self.changed == "model.d_model":
            wide = {"model.d_model": value, "model.d_ff": 2 * value}
            asked["settings"] = wide | {"model.num_heads": max(1, value // 32)}
        else:
            asked[self.changed] = value
        return Question(**asked)


@dataclass
class Page:
    """What is written down: sections of text, and the rows that have a limit."""

    folder: Path
    sections: list[str] = field(default_factory=list)

    def add(self, title: str, lines: Sequence[str], paragraph: str, plot: str) -> None:
        """Add a section and write the page anew, so that nothing is lost."""
        picture = f"![{title}]({plot})" if plot else ""
        parts = (f"## {title}", picture, "\n".join(lines), f"{paragraph}\n")
        self.sections.append("\n\n".join(part for part in parts if part))
        head = (
            "# How the cost of training grows\n\n"
            "Written by `python benchmarks/scaling.py`. If nothing else is said: "
            "`tiny` (4+4 layers, 128/256, Muon),\na vocabulary of 8,000, batches of "
            "4,000 target tokens in sentences of 16, two threads.\n"
        )
        page = "\n".join([head, *self.sections])
        (self.folder / "README.md").write_text(page, "utf-8")


@dataclass(frozen=True)
class Series:
    """What is plotted upwards, at one side of a plot."""

    label: str
    values: Sequence[float]


def draw_curve(curve: Curve, points: Sequence[Point], path: Path) -> None:
    """Plot tokens a second and memory against what grows."""
    speed = Series("target tokens/s", [point.tokens_per_second for point in points])
    memory = Series("peak memory, MB", [point.megabytes for point in points])
    draw(f"{curve.title.lower()}, {curve.unit}", curve.values, speed, memory, path)


def draw(
    label: str, places: Sequence[int], one: Series, other: Series, path: Path
) -> None:
    """Plot two series against what grows, each with an axis of its own."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, left = pyplot.subplots(figsize=(6, 3.2), layout="constrained")
    right = left.twinx()
    (first,) = left.plot(places, one.values, "o-", color="#1b6ca8")
    (second,) = right.plot(places, other.values, "s--", color="#b3541e")
    left.set_xscale("log", base=2)
    left.set_xticks(places, [f"{place:,}" for place in places])
    left.minorticks_off()
    left.set(xlabel=label, ylabel=one.label)
    right.set(ylabel=other.label)
    left.set_ylim(bottom=0)
    right.set_ylim(bottom=0)
    figure.legend(
        [first, second], [one.label, other.label], loc="outside upper center", ncols=2
    )
    figure.savefig(path)
    pyplot.close(figure)


def describe(curve: Curve, points: Sequence[Point]) -> str:
    """Say in words what a curve shows."""
    first, last = points[0], points[-1]
    grown = curve.values[-1] / curve.values[0]
    work = last.flops_per_token / first.flops_per_token
    time = first.tokens_per_second / last.tokens_per_second
    memory = last.megabytes / first.megabytes
    return (
        f"{grown:g} times the {curve.unit} ({curve.values[0]:,} to "
        f"{curve.values[-1]:,}) are {work:.2g} times the FLOPs for each token, take "
        f"{time:.2g} times the time for each\nand {memory:.2g} times the memory: "
        f"{first.tokens_per_second * first.flops_per_token / 1e9:,.0f} GFLOP/s at the "
        f"lower end, {last.tokens_per_second * last.flops_per_token / 1e9:,.0f} at the "
        "upper."
    )
