"""Layer norm or another, before or after, with warm-up or without (§3.1, §5.3)."""

import math
from dataclasses import dataclass

from dragoman.lab.experiment import Bench, Experiment
from dragoman.lab.findings import (
    Bars,
    Claim,
    Curves,
    Findings,
    Line,
    Spread,
    Table,
    larger,
)
from dragoman.lab.parallel_text import text_for
from dragoman.lab.small_paper import Shape
from dragoman.lab.translators import Trained, Trial, train_translator

RATE, WARMUP = 0.004, 0.2  # high enough that how one begins matters


@dataclass(frozen=True)
class Variant:
    """A norm, where it stands, and how training begins."""

    kind: str
    place: str
    warmup: bool

    @property
    def name(self) -> str:
        """Give it in words."""
        began = "warm-up" if self.warmup else "no warm-up"
        return f"{self.place}-norm, {self.kind}, {began}"


POST, POST_COLD = Variant("layer", "post", True), Variant("layer", "post", False)
PRE, PRE_COLD = Variant("layer", "pre", True), Variant("layer", "pre", False)
BATCH, NONE = Variant("batch", "post", True), Variant("none", "post", True)
VARIANTS = (
    *(POST, POST_COLD, PRE, PRE_COLD),
    Variant("rms", "post", True),
    BATCH,
    Variant("batch", "pre", True),
    NONE,
    Variant("none", "post", False),
)


@dataclass(frozen=True)
class Size:
    """How deep and wide, trained how long, in which variants."""

    shape: Shape
    steps: int
    batch_tokens: int
    seeds: int
    variants: tuple[Variant, ...] = VARIANTS


QUICK = Size(Shape(32, 64, 2, 3), steps=60, batch_tokens=500, seeds=1)
FULL = Size(Shape(64, 256, 4, 6), steps=500, batch_tokens=1500, seeds=2)

Runs = dict[Variant, list[Trained]]


def measure(bench: Bench, size: Size | None = None) -> Findings:
    """Train the same deep translator with each norm, and see which of them learn."""
    size = size or (QUICK if bench.quick else FULL)
    seeds = bench.seeds_for(size.seeds)
    text = text_for(bench)
    jobs = [(variant, seed) for variant in size.variants for seed in seeds]
    runs: Runs = {variant: [] for variant in size.variants}
    for variant, seed in bench.each(jobs, lambda job: f"{job[0].name}, seed {job[1]}"):
        trial = _trial(bench, size, variant)
        runs[variant].append(train_translator(bench, text, trial, seed))
    losses = {variant: [_loss(run) for run in found] for variant, found in runs.items()}
    return Findings(
        claims=claims(losses),
        table=Table(
            ("norm", "place", "warm-up", "seeds", "failed", "validation loss", "BLEU"),
            tuple(_row(variant, found) for variant, found in runs.items()),
        ),
        panels=(_curves(runs), _bars(losses)),
        caption=(
            f"Validation loss of translators with {size.shape.num_layers}+"
            f"{size.shape.num_layers} layers on {text.name}, by the kind of norm, "
            "where it stands and how the learning rate begins. Runs whose numbers "
            "became infinite or undefined are left out of the picture and counted in "
            "the table."
        ),
        seeds=len(seeds),
    )


def _trial(bench: Bench, size: Size, variant: Variant) -> Trial:
    steps = bench.steps or size.steps
    return Trial(
        name=variant.name,
        preset="base",
        settings={
            **size.shape.settings(),
            "model.norm": variant.place,
            "model.norm_kind": variant.kind,
            "training.schedule": "linear",
            "training.learning_rate": RATE,
            "training.warmup_share": WARMUP if variant.warmup else 0.0,
            "training.batch_tokens": size.batch_tokens,
            "training.valid_every": max(1, steps // 10),
            "training.valid_sentences": 0,
            "training.save_every": steps,
            "training.average_last": 1,
            "data.placeholders": False,
            "data.join_share": 0.0,
        },
        steps=steps,
        beam_size=1,
        may_fail=True,
    )


def _loss(run: Trained) -> float:
    """Give the loss; what failed lost everything."""
    return math.inf if run.failed or run.loss is None else run.loss


def claims(losses: dict[Variant, list[float]]) -> tuple[Claim, ...]:
    """Judge the variants by the loss that they end with."""
    spread = {variant: Spread.of(values) for variant, values in losses.items()}
    saw = {v: spread[v].text(".2f").replace("inf", "failed") for v in losses}
    cost = {
        place: Spread.of(
            [_minus(c, w) for c, w in zip(losses[cold], losses[warm], strict=True)]
        )
        for place, cold, warm in (("post", POST_COLD, POST), ("pre", PRE_COLD, PRE))
    }
    return (
        Claim(
            "post-norm, as in the paper, learns worse without warm-up",
            larger(spread[POST_COLD], spread[POST]),
            f"loss {saw[POST_COLD]} without and {saw[POST]} with it",
        ),
        Claim(
            "pre-norm needs warm-up less",
            larger(cost["post"], cost["pre"]),
            f"loss {saw[PRE_COLD]} without and {saw[PRE]} with it",
        ),
        Claim(
            "layer norm is better than batch norm",
            larger(spread[BATCH], spread[POST]),
            f"loss {saw[BATCH]} with batch norm, {saw[POST]} with layer norm",
        ),
        Claim(
            "without any norm it learns worse, or not at all",
            larger(spread[NONE], spread[POST]),
            f"loss {saw[NONE]} without, {saw[POST]} with layer norm",
        ),
    )


def _minus(cold: float, warm: float) -> float:
    return math.inf if math.isinf(cold) else cold - warm


def _row(
    variant: Variant, found: list[Trained]
) -> tuple[str | int | float | None, ...]:
    whole = [run for run in found if not run.failed]
    loss = [run.loss for run in whole if run.loss is not None]
    bleu = [run.bleu for run in whole if run.bleu is not None]
    return (
        *(variant.kind, variant.place, "yes" if variant.warmup else "no"),
        *(len(found), len(found) - len(whole)),
        Spread.of(loss).mean if loss else None,
        Spread.of(bleu).mean if bleu else None,
    )


def _curves(runs: Runs) -> Curves:
    lines = []
    for variant in (POST, POST_COLD, PRE, PRE_COLD):
        curves = [run.curve for run in runs[variant] if not run.failed]
        points = [
            (at[0].step, Spread.of([point.loss for point in at]))
            for at in zip(*curves, strict=False)
        ]
        if points:
            lines.append(Line.of(variant.name, points))
    return Curves("Layer norm: how the loss falls", "updates", "loss", tuple(lines))


def _bars(losses: dict[Variant, list[float]]) -> Bars:
    finite = {
        variant: [loss for loss in values if math.isfinite(loss)]
        for variant, values in losses.items()
    }
    shown = {variant: values for variant, values in finite.items() if values}
    return Bars(
        "Where each ends",
        "validation loss, less is better",
        tuple(variant.name for variant in shown),
        tuple(Spread.of(values) for values in shown.values()),
    )


EXPERIMENT = Experiment(
    name="norms",
    title="Which norm, and where",
    question="Do layer norm, its place and warm-up matter as much as the recipe says?",
    prediction=(
        "The paper puts layer norm after each residual sum (§3.1) and lets the "
        "learning rate rise for 4,000 updates first (§5.3), as if the model would not "
        "learn otherwise; those who came after put the norm before the sublayer to do "
        "without warm-up, and leave batch norm to pictures."
    ),
    why=(
        "After the sum, a norm scales down whatever comes through the residual path, "
        "at every layer again, so that gradients are uneven at first and large steps "
        "do harm; before the sublayer, it leaves that path untouched. Batch norm "
        "divides by statistics of the whole batch: padding and batch mates change a "
        "word, and translating, with no batch to look at, must trust averages from "
        "training. Without any norm nothing keeps the numbers of a deep stack in "
        "bounds."
    ),
    measure=measure,
)
