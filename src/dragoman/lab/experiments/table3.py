"""The paper's Table 3, row by row, at a size that trains here (§6.2)."""

from collections.abc import Mapping
from dataclasses import dataclass

from dragoman.lab.experiment import Bench, Experiment
from dragoman.lab.findings import Bars, Claim, Findings, Spread, Table
from dragoman.lab.parallel_text import text_for
from dragoman.lab.small_paper import SMALL, TOY, Shape, recipe
from dragoman.lab.table3_rows import BASE, Row, table3_rows
from dragoman.lab.translators import Trained, Trial, train_translator

NEARLY = 0.02  # of the base's perplexity


@dataclass(frozen=True)
class Size:
    """Which rows, of which model, trained how long; chance is judged by the base."""

    shape: Shape
    rows: tuple[str, ...] | None  # None: all of them
    steps: int
    batch_tokens: int
    beam_size: int
    base_seeds: int
    seeds: int


QUICK = Size(
    shape=TOY,
    rows=("h=1", "d_k=16", "N=2", "P_drop=0.0", "ε_ls=0.0", "learned positions"),
    steps=30,
    batch_tokens=800,
    beam_size=1,
    base_seeds=2,
    seeds=1,
)
FULL = Size(
    shape=SMALL,
    rows=None,
    steps=1000,
    batch_tokens=2500,
    beam_size=4,
    base_seeds=3,
    seeds=1,
)


def measure(bench: Bench, size: Size | None = None) -> Findings:
    """Train every row, and compare the order of effects with the paper's."""
    size = size or (QUICK if bench.quick else FULL)
    text = text_for(bench)
    rows = [
        row
        for row in table3_rows(size.shape)
        if size.rows is None or row.name in (BASE, *size.rows)
    ]
    jobs = [(row, seed) for row in rows for seed in _seeds(bench, size, row)]
    found: dict[str, list[Trained]] = {row.name: [] for row in rows}
    for row, seed in bench.each(jobs, lambda job: f"{job[0].name}, seed {job[1]}"):
        trial = _trial(bench, size, row)
        found[row.name].append(train_translator(bench, text, trial, seed))
    perplexity = {
        name: Spread.of([run.perplexity or 0.0 for run in runs])
        for name, runs in found.items()
    }
    return Findings(
        claims=claims(rows, perplexity),
        table=_table(rows, found, perplexity),
        panels=_panels(rows, perplexity),
        caption=(
            "What each row of Table 3 does to the perplexity of validation text, "
            "relative to the base model: in the paper (English to German, "
            f"newstest2013) and here ({text.name})."
        ),
        seeds=len(_seeds(bench, size, rows[1])),
        note=(
            f"The base model was trained from {len(found[BASE])} seeds; a difference "
            "counts only if it is larger than the range that these fill. Here d_k "
            "always equals d_v, so rows (B) narrow the values too, which the paper's "
            "do not; widths are a quarter of the paper's and layers about half."
        ),
    )


def _seeds(bench: Bench, size: Size, row: Row) -> range:
    seeds = bench.seeds_for(size.seeds)
    wanted = max(size.base_seeds, len(seeds)) if row.name == BASE else len(seeds)
    return range(1, wanted + 1)


def _trial(bench: Bench, size: Size, row: Row) -> Trial:
    steps = bench.steps or size.steps
    return Trial(
        name=f"{row.group} {row.name}",
        preset="base",
        settings={**recipe(size.shape, steps, size.batch_tokens), **row.settings},
        steps=steps,
        beam_size=size.beam_size,
    )


@dataclass(frozen=True)
class Effect:
    """Whether a row is worse than the base, better, or too close to say."""

    change: float  # of perplexity, as a share of the base's
    beyond_chance: bool

    def worse(self) -> bool | None:
        """Say whether it is worse, if chance alone could not have made it so."""
        return self.change > 0 if self.beyond_chance else None


def effect(perplexity: Mapping[str, Spread], name: str) -> Effect:
    """Compare a row with the base, whose seeds show what chance does."""
    base, other = perplexity[BASE], perplexity[name]
    noise = base.high - base.low
    beyond = base.count > 1 and abs(other.mean - base.mean) > noise
    return Effect(other.mean / base.mean - 1, beyond)


def claims(rows: list[Row], perplexity: Mapping[str, Spread]) -> tuple[Claim, ...]:
    """Judge each row by its distance from the base."""
    names = {row.name for row in rows}
    expected = [
        ("h=1", True, "(A) one head is worse than eight"),
        ("d_k=16", True, "(B) narrower keys hurt"),
        ("N=2", True, "(C) fewer layers are worse"),
        ("d_model=1024", False, "(C) wider models are better"),
        ("P_drop=0.0", True, "(D) without dropout it is worse"),
        ("ε_ls=0.0", False, "(D) without label smoothing perplexity is better"),
    ]
    claims = []
    for name, worse, words in expected:
        if name in names:
            seen = effect(perplexity, name)
            held = None if seen.worse() is None else seen.worse() is worse
            saw = f"perplexity {seen.change:+.1%}{_doubt(seen)}"
            claims.append(Claim(words, held, saw))
    if "learned positions" in names:
        seen = effect(perplexity, "learned positions")
        near = True if abs(seen.change) < NEARLY else None  # a wide range hides much
        claims.append(
            Claim(
                "(E) learned positions do nearly as well as sinusoids",
                False if seen.beyond_chance and not near else near,
                f"perplexity {seen.change:+.1%}{_doubt(seen)}",
            )
        )
    return (*claims, _order(rows, perplexity))


def _doubt(seen: Effect) -> str:
    return "" if seen.beyond_chance else ", which chance could have done"


def _order(rows: list[Row], perplexity: Mapping[str, Spread]) -> Claim:
    """Compare the order of all effects with the paper's, by rank."""
    ours = [perplexity[row.name].mean for row in rows]
    rank = rank_correlation([row.perplexity for row in rows], ours)
    decided = len(rows) >= 8
    return Claim(
        "the effects come in the paper's order",
        rank > 0.5 if decided else None,
        f"rank correlation {rank:.2f} over {len(rows)} rows, 1 being the same order",
    )


def rank_correlation(one: list[float], other: list[float]) -> float:
    """Give Spearman's ρ: 1 for the same order, −1 for the reverse; ties share ranks."""
    left, right = _ranks(one), _ranks(other)
    mean = (len(one) - 1) / 2
    over = sum((a - mean) * (b - mean) for a, b in zip(left, right, strict=True))
    under = sum((a - mean) ** 2 for a in left) * sum((b - mean) ** 2 for b in right)
    return over / under**0.5 if under else 0.0


def _ranks(values: list[float]) -> list[float]:
    below = [sum(other < value for other in values) for value in values]
    same = [values.count(value) for value in values]
    return [b + (s - 1) / 2 for b, s in zip(below, same, strict=True)]


def _table(
    rows: list[Row],
    found: Mapping[str, list[Trained]],
    perplexity: Mapping[str, Spread],
) -> Table:
    columns = (
        *("group", "row", "paper PPL", "paper BLEU"),
        *("parameters here", "PPL here", "BLEU here", "seeds"),
    )
    return Table(
        columns,
        tuple(
            (
                *(row.group, row.name, row.perplexity, row.bleu),
                found[row.name][0].parameters,
                perplexity[row.name].mean,
                Spread.of([run.bleu or 0.0 for run in found[row.name]]).mean,
                len(found[row.name]),
            )
            for row in rows
        ),
    )


def _panels(rows: list[Row], perplexity: Mapping[str, Spread]) -> tuple[Bars, ...]:
    others = [row for row in rows if row.name != BASE]
    paper = next(row.perplexity for row in rows if row.name == BASE)
    base = perplexity[BASE].mean
    labels = tuple(f"{row.group} {row.name}" for row in others)
    said = [Spread.of([100 * (row.perplexity / paper - 1)]) for row in others]
    seen = [_percent(perplexity[row.name], base) for row in others]
    x_label = "change of perplexity, %; left is better"
    return (
        Bars("In the paper", x_label, labels, tuple(said)),
        Bars("Here", x_label, labels, tuple(seen)),
    )


def _percent(spread: Spread, base: float) -> Spread:
    def percent(value: float) -> float:
        return 100 * (value / base - 1)

    low, high = percent(spread.low), percent(spread.high)
    return Spread(percent(spread.mean), low, high, spread.count)


EXPERIMENT = Experiment(
    name="table3",
    title="Table 3, row by row",
    question="Do the paper's variations of the base model matter as they did there?",
    prediction=(
        "(A) one head is worse, too many as well; (B) narrower keys hurt; (C) bigger "
        "models are better; (D) dropout is very helpful, and label smoothing hurts "
        "perplexity; (E) learned positions do nearly as well as sinusoids (§5.4, §6.2)."
    ),
    why=(
        "A small model on little text is not a large one on much: dropout helps when "
        "the same sentences come back often, and costs when there is hardly time to "
        "see them. Label smoothing teaches the model to be less sure, which perplexity "
        "punishes and BLEU forgives. What carries over from the paper's scale to "
        "yours, and what does not, is what these two columns show."
    ),
    measure=measure,
)
