"""What attention knows of the order of words, with and without positions (§3.5)."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from dragoman.config import ModelConfig, load_preset
from dragoman.lab.experiment import Bench, Experiment
from dragoman.lab.findings import Bars, Claim, Findings, Spread, Table
from dragoman.model.build import build_model
from dragoman.setting_rules import CHOICES
from dragoman.special_tokens import BEGIN, END, NAMES

VOCABULARY = 200
ROUNDING = 1e-4  # of a typical vector's length: what is below is arithmetic, not order
SEEN = 1e-2


@dataclass(frozen=True)
class Size:
    """How long the sentences are, how many, and from how many models."""

    words: int
    sentences: int
    seeds: int


QUICK = Size(words=12, sentences=16, seeds=3)
FULL = Size(words=24, sentences=100, seeds=10)


@dataclass(frozen=True)
class Change:
    """What shuffling the words changed, relative to what was there."""

    encoding: float  # of a word's vector, found again at its new place
    prediction: float  # of the probabilities of the first target word, 0 to 1


def measure(bench: Bench, size: Size | None = None) -> Findings:
    """Shuffle sentences and compare each word's encoding, found again, with before."""
    size = size or (QUICK if bench.quick else FULL)
    seeds = bench.seeds_for(size.seeds)
    kinds = CHOICES["model.positions"]
    jobs = [(kind, seed) for kind in kinds for seed in seeds]
    found: dict[str, list[Change]] = {kind: [] for kind in kinds}
    for kind, seed in bench.each(jobs, lambda job: f"{job[0]}, seed {job[1]}"):
        found[kind].append(_shuffle(kind, seed, size))
    encoding = {k: Spread.of([c.encoding for c in v]) for k, v in found.items()}
    prediction = {k: Spread.of([c.prediction for c in v]) for k, v in found.items()}
    return Findings(
        claims=claims(encoding, prediction),
        table=Table(
            ("positions", "seeds", "change of encodings", "change of prediction"),
            tuple(
                (kind, len(seeds), encoding[kind].mean, prediction[kind].mean)
                for kind in kinds
            ),
        ),
        panels=(
            Bars(
                "Shuffled words, found again",
                "change of a word's encoding, relative",
                kinds,
                tuple(encoding.values()),
                log=True,
            ),
            Bars(
                "and the first word predicted",
                "change of the probabilities, 0 to 1",
                kinds,
                tuple(prediction.values()),
                log=True,
            ),
        ),
        caption=(
            "Sentences whose words change places at random, read by untrained "
            "Transformers: the largest change of a word's encoding wherever the word "
            "now stands, and the change of what the decoder would say first."
        ),
        seeds=len(seeds),
    )


@torch.no_grad()
def _shuffle(kind: str, seed: int, size: Size) -> Change:
    torch.manual_seed(seed)
    model = build_model(_config(kind), VOCABULARY).eval()
    words = torch.randint(len(NAMES), VOCABULARY, (size.sentences, size.words))
    places = torch.rand(size.sentences, size.words).argsort(dim=1)
    before = model.encode(_ended(words)).output
    after = model.encode(_ended(words.gather(1, places))).output
    found_again = before[:, :-1].gather(1, places[..., None].expand(-1, -1, _width()))
    change = (after[:, :-1] - found_again).norm(dim=-1) / found_again.norm(dim=-1)
    begin = torch.full((size.sentences, 1), BEGIN)
    first = model(_ended(words), begin).softmax(dim=-1)
    then = model(_ended(words.gather(1, places)), begin).softmax(dim=-1)
    moved = 0.5 * (first - then).abs().sum(dim=-1)
    return Change(_visible(change.amax(dim=1).mean()), _visible(moved.mean()))


def _visible(value: Tensor) -> float:
    """Keep what is exactly nothing on a logarithmic axis."""
    return max(float(value), 1e-9)


def _ended(words: Tensor) -> Tensor:
    return torch.cat((words, torch.full((len(words), 1), END)), dim=1)


def _width() -> int:
    return load_preset("tiny").model.d_model


def _config(kind: str) -> ModelConfig:
    return replace(load_preset("tiny").model, positions=kind, dropout=0.0)


def claims(
    encoding: dict[str, Spread], prediction: dict[str, Spread]
) -> tuple[Claim, ...]:
    """Judge what shuffling changed."""
    blind = encoding["none"]
    seeing = {kind: spread for kind, spread in encoding.items() if kind != "none"}
    least = min(seeing, key=lambda kind: seeing[kind].low)
    return (
        Claim(
            "without positions, self-attention gives a shuffled sentence the same "
            "vectors, shuffled",
            blind.high < ROUNDING,
            f"they change by at most {blind.high:.1g} of their length, which is "
            "rounding"
            if blind.high < ROUNDING
            else f"they change by {blind.high:.1g} of their length",
        ),
        Claim(
            "the decoder then cannot know in which order the words stood",
            prediction["none"].high < ROUNDING,
            f"its first prediction moves by {prediction['none'].high:.1g}",
        ),
        Claim(
            "with any positions the vectors depend on where a word stands",
            seeing[least].low > SEEN,
            f"they change by at least {seeing[least].low:.2g} ({least})",
        ),
    )


EXPERIMENT = Experiment(
    name="order",
    title="What attention knows of order",
    question="Does self-attention notice when the words of a sentence change places?",
    prediction=(
        "Since the model contains no recurrence and no convolution, it needs "
        "positional encodings in order to make use of the order of the sequence "
        "(§3.5): without them, shuffled words give shuffled outputs and nothing else "
        "changes."
    ),
    why=(
        "A query compares itself with every key and takes a weighted mean of the "
        "values. A mean does not know in which order it was summed, so a word gets the "
        "same vector wherever it stands. Adding a position to each word makes the same "
        "word at another place another vector. (A decoder is not wholly blind even "
        "without positions: its mask lets the third word see two others, the fourth "
        "three.)"
    ),
    measure=measure,
)
