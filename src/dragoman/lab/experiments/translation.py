"""Recurrent translators and the Transformer, at equal time and at equal size (§6.1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dragoman.lab.contenders import LOOKING_BACK, LSTM, RNN, TRANSFORMER, contender
from dragoman.lab.experiment import Bench, Experiment
from dragoman.lab.findings import (
    Cell,
    Claim,
    Curves,
    Findings,
    Line,
    Spread,
    Table,
    larger,
)
from dragoman.lab.parallel_text import text_for
from dragoman.lab.translators import Trained, Trial, train_translator
from dragoman.model.build import build_model
from dragoman.model.weights import count_parameters

KINDS = (RNN, LSTM, LOOKING_BACK, TRANSFORMER)
EQUAL_TIME, EQUAL_SIZE = "equal time", "equal parameters"


@dataclass(frozen=True)
class Size:
    """How wide, how long, in minutes and in updates."""

    d_model: int
    layers: int
    vocabulary: int
    minutes: float
    steps: int
    batch_tokens: int
    valid_every: int
    beam_size: int
    seeds: int


QUICK = Size(32, 1, 400, 0.02, 20, 500, valid_every=10, beam_size=1, seeds=1)
FULL = Size(
    d_model=256,
    layers=2,
    vocabulary=8000,
    minutes=4.0,
    steps=1500,
    batch_tokens=2000,
    valid_every=100,
    beam_size=4,
    seeds=2,
)

Runs = dict[tuple[str, str], list[Trained]]  # by what is equal, and model


def measure(bench: Bench, size: Size | None = None) -> Findings:
    """Train each for the same time, and for the same updates at the same size."""
    size = size or (QUICK if bench.quick else FULL)
    seeds = bench.seeds_for(size.seeds)
    text = text_for(bench)
    jobs = [
        (equal, kind, seed)
        for equal in (EQUAL_TIME, EQUAL_SIZE)
        for kind in KINDS
        for seed in seeds
    ]
    runs: Runs = {}
    for equal, kind, seed in bench.each(
        jobs, lambda job: f"{job[0]}: {job[1]}, seed {job[2]}"
    ):
        trial = _trial(bench, size, equal, kind)
        trained = train_translator(bench, text, trial, seed)
        runs.setdefault((equal, kind), []).append(trained)
    return Findings(
        claims=claims(runs),
        table=_table(runs),
        panels=_panels(runs),
        caption=(
            f"BLEU of validation sentences, searched greedily, while networks learn "
            f"{text.name}: left for the same time, right for the same updates with "
            "about the same number of parameters. Curves are those of the first seed."
        ),
        seeds=len(seeds),
        note=(
            "All use the same text, vocabulary, optimizer, loss and search; BLEU in "
            "the table is that of the test text. Optimizer and rates are those that "
            "suit the presets; no contender was tuned beyond them."
        ),
    )


def _trial(bench: Bench, size: Size, equal: str, kind: str) -> Trial:
    in_time = equal == EQUAL_TIME
    width = size.d_model if in_time else equal_width(size, kind)
    network = contender(kind, width, size.layers, dropout=0.2)
    return Trial(
        name=f"{equal} {kind}",
        preset=network.preset,
        settings={
            **network.settings,
            "tokenizer.vocabulary_size": size.vocabulary,
            "training.batch_tokens": size.batch_tokens,
            "training.valid_every": size.valid_every,
        },
        minutes=(bench.minutes or size.minutes) if in_time else None,
        steps=None if in_time else bench.steps or size.steps,
        part="test",
        beam_size=size.beam_size,
    )


def equal_width(size: Size, kind: str) -> int:
    """Find the width at which a contender has about as many weights as the Transformer.

    It is a multiple of eight, so that heads and both directions get equal shares.
    """
    wanted = _parameters(size, TRANSFORMER, size.d_model)
    widths = range(8, 4 * size.d_model, 8)
    low, high = 0, len(widths) - 1
    while low < high:  # wider networks have more weights
        middle = (low + high) // 2
        if _parameters(size, kind, widths[middle]) < wanted:
            low = middle + 1
        else:
            high = middle
    nearest = widths[max(0, low - 1) : low + 1]
    return min(nearest, key=lambda w: abs(_parameters(size, kind, w) - wanted))


def _parameters(size: Size, kind: str, width: int) -> int:
    config = contender(kind, width, size.layers).config()
    return count_parameters(build_model(config.model, size.vocabulary))


def claims(runs: Runs) -> tuple[Claim, ...]:
    """Judge the contenders by BLEU at equal time and size, and by their time."""
    bleu = {
        key: Spread.of([_bleu(run) for run in found]) for key, found in runs.items()
    }
    seconds = {
        key: Spread.of([r.seconds for r in found]) for key, found in runs.items()
    }

    def compare(expected: str, one: tuple[str, str], other: tuple[str, str]) -> Claim:
        saw = (
            f"{one[1]} {bleu[one].text('.1f')} BLEU, "
            f"{other[1]} {bleu[other].text('.1f')}"
        )
        return Claim(expected, larger(bleu[one], bleu[other]), saw)

    size = (EQUAL_SIZE, TRANSFORMER), (EQUAL_SIZE, LOOKING_BACK)
    return (
        compare(
            "attention lifts the LSTM far above one vector for the whole sentence",
            (EQUAL_TIME, LOOKING_BACK),
            (EQUAL_TIME, LSTM),
        ),
        compare(
            "in the same time the Transformer learns more than the best recurrent one",
            (EQUAL_TIME, TRANSFORMER),
            (EQUAL_TIME, LOOKING_BACK),
        ),
        compare("it also does with as many weights and as many updates", *size),
        Claim(
            "it takes less time for these updates",
            larger(seconds[size[1]], seconds[size[0]]),
            f"{seconds[size[0]].text('.0f')} s against "
            f"{seconds[size[1]].text('.0f')} s with {LOOKING_BACK}",
        ),
    )


def _bleu(run: Trained) -> float:
    return run.bleu or 0.0


def _table(runs: Runs) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for (equal, kind), found in runs.items():
        bleu = Spread.of([_bleu(run) for run in found])
        rows.append(
            (
                *(equal, kind, found[0].parameters, len(found)),
                *(bleu.mean, bleu.low, bleu.high),
                Spread.of([run.perplexity or 0.0 for run in found]).mean,
                Spread.of([float(run.steps) for run in found]).mean,
                Spread.of([run.seconds for run in found]).mean,
            )
        )
    columns = ("equal", "model", "parameters", "seeds", "BLEU", "lowest", "highest")
    return Table((*columns, "perplexity", "updates", "seconds"), tuple(rows))


def _panels(runs: Runs) -> tuple[Curves, ...]:
    return (
        Curves(
            "For the same time",
            "seconds",
            "BLEU",
            _lines(runs, EQUAL_TIME, "seconds"),
        ),
        Curves(
            "With the same number of weights",
            "updates",
            "BLEU",
            _lines(runs, EQUAL_SIZE, "step"),
        ),
    )


def _lines(
    runs: Mapping[tuple[str, str], Sequence[Trained]], equal: str, x: str
) -> tuple[Line, ...]:
    lines = []
    for kind in KINDS:
        # A clock gives every seed its own points: the first seed's are drawn.
        curve = [p for p in runs[equal, kind][0].curve if p.bleu is not None]
        lines.append(
            Line(
                kind,
                tuple(float(getattr(point, x)) for point in curve),
                tuple(point.bleu or 0.0 for point in curve),
            )
        )
    return tuple(lines)


EXPERIMENT = Experiment(
    name="translation",
    title="Recurrence against attention",
    question="Does the Transformer translate better than what came before it, in the "
    "same time and at the same size?",
    prediction=(
        "The Transformer outperforms the best models before it at a fraction of the "
        "training cost (§6.1, Table 2)."
    ),
    why=(
        "One vector for the whole sentence is the bottleneck of the plain recurrent "
        "networks, and attention to the source removes it. What the Transformer adds "
        "is that reading, too, is attention: nothing waits for the word before, so "
        "that more is learned in the same time. On short sentences and two cores that "
        "advantage is smaller than on long ones and eight GPUs, and may not be there."
    ),
    measure=measure,
)
