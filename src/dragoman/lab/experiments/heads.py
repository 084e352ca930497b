"""How many heads are best when all of them together always cost the same (§3.2.2)."""

from dataclasses import dataclass, replace

from dragoman.lab.experiment import Bench, Experiment
from dragoman.lab.findings import Claim, Curves, Findings, Line, Spread, Table, larger
from dragoman.lab.parallel_text import text_for
from dragoman.lab.small_paper import SMALL, TOY, Shape, recipe
from dragoman.lab.translators import Trained, Trial, train_translator


@dataclass(frozen=True)
class Size:
    """Which numbers of heads, of which model, trained how long."""

    heads: tuple[int, ...]
    shape: Shape
    steps: int
    batch_tokens: int
    beam_size: int
    seeds: int


QUICK = Size((1, 4, 16), TOY, steps=40, batch_tokens=800, beam_size=1, seeds=1)
FULL = Size(
    (1, 2, 4, 8, 16, 32), SMALL, steps=1000, batch_tokens=2500, beam_size=4, seeds=2
)


def measure(bench: Bench, size: Size | None = None) -> Findings:
    """Train translators that differ in their number of heads alone."""
    size = size or (QUICK if bench.quick else FULL)
    seeds = bench.seeds_for(size.seeds)
    text = text_for(bench)
    jobs = [(heads, seed) for heads in size.heads for seed in seeds]
    found: dict[int, list[Trained]] = {heads: [] for heads in size.heads}
    for heads, seed in bench.each(jobs, lambda job: f"{job[0]} heads, seed {job[1]}"):
        found[heads].append(
            train_translator(bench, text, _trial(bench, size, heads), seed)
        )
    bleu = {h: Spread.of([t.bleu or 0.0 for t in runs]) for h, runs in found.items()}
    perplexity = {
        h: Spread.of([t.perplexity or 0.0 for t in runs]) for h, runs in found.items()
    }
    return Findings(
        claims=claims(perplexity),
        table=Table(
            ("heads", "d_k", "parameters", "seeds", "perplexity", "BLEU"),
            tuple(
                (
                    heads,
                    size.shape.d_model // heads,
                    runs[0].parameters,
                    len(seeds),
                    perplexity[heads].mean,
                    bleu[heads].mean,
                )
                for heads, runs in found.items()
            ),
        ),
        panels=(
            _panel("Perplexity, less is better", "perplexity", perplexity),
            _panel("BLEU, more is better", "BLEU", bleu),
        ),
        caption=(
            f"Translators of width {size.shape.d_model} with more and narrower heads, "
            f"trained for the same number of updates on {text.name}; validation text."
        ),
        seeds=len(seeds),
        note=(
            "All models have the same number of parameters and operations. In the "
            "paper, one head is 0.9 BLEU worse than eight and 32 are 0.4 worse."
        ),
    )


def _trial(bench: Bench, size: Size, heads: int) -> Trial:
    steps = bench.steps or size.steps
    shape = replace(size.shape, num_heads=heads)
    return Trial(
        name=f"{heads} heads",
        preset="base",
        settings=recipe(shape, steps, size.batch_tokens),
        steps=steps,
        beam_size=size.beam_size,
    )


def claims(perplexity: dict[int, Spread]) -> tuple[Claim, ...]:
    """Judge the perplexities by the number of heads."""
    one, most = min(perplexity), max(perplexity)
    between = {h: s for h, s in perplexity.items() if h not in (one, most)}
    best = min(between, key=lambda heads: between[heads].mean)
    seen = {h: perplexity[h].text(".2f") for h in (one, best, most)}
    return (
        Claim(
            f"several heads are better than {one}",
            larger(perplexity[one], between[best]),
            f"perplexity {seen[one]} with {one}, {seen[best]} with {best}",
        ),
        Claim(
            f"too many heads ({most}) are worse than fewer",
            larger(perplexity[most], between[best]),
            f"perplexity {seen[most]} with {most}, {seen[best]} with {best}",
        ),
    )


def _panel(title: str, y_label: str, spreads: dict[int, Spread]) -> Curves:
    line = Line.of("measured", list(spreads.items()))
    return Curves(title, "heads", y_label, (line,), log_x=True)


EXPERIMENT = Experiment(
    name="heads",
    title="How many heads",
    question="Are several narrow heads better than one wide one, at the same cost?",
    prediction=(
        "While single-head attention is 0.9 BLEU worse than the best setting, quality "
        "also drops off with too many heads (§6.2, Table 3, rows A)."
    ),
    why=(
        "One head makes one weighted mean for each word, in which whatever it looks at "
        "is blended. Several heads can look at several things at once, each in its own "
        "subspace, and W_O joins what they found. But the heads share d_model among "
        "them: too many, and each compares words by so few numbers that it can hardly "
        "tell them apart."
    ),
    measure=measure,
)
