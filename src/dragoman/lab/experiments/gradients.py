"""How much of a gradient arrives at a word many words back (§4)."""

from dataclasses import dataclass

import torch
from torch import Tensor

from dragoman.lab.contenders import GRU, LSTM, RNN, TRANSFORMER, contender
from dragoman.lab.experiment import Bench, Experiment
from dragoman.lab.findings import Claim, Curves, Findings, Line, Spread, Table
from dragoman.model.build import build_model
from dragoman.model.network import TranslationNetwork
from dragoman.model.recurrent import RecurrentModel
from dragoman.model.recurrent_cells import Cell, LSTMCell
from dragoman.model.recurrent_layers import ReadingLayer
from dragoman.special_tokens import NAMES

VOCABULARY = 200
WILD, KEEPING = "RNN, weights × 4", "LSTM, told to keep"
KINDS = {
    RNN: RNN,
    WILD: RNN,
    GRU: GRU,
    LSTM: LSTM,
    KEEPING: LSTM,
    TRANSFORMER: TRANSFORMER,
}
VANISHED = 1e-3  # of the gradient one word back
EXPLODED = 10.0
STEADY = 10.0  # a factor up or down that is still much the same
LEAST = 1e-30  # less than this is nothing


@dataclass(frozen=True)
class Size:
    """How far back, over how many sentences and seeds."""

    longest: int
    distances: tuple[int, ...]
    sentences: int
    d_model: int
    seeds: int


QUICK = Size(33, (1, 2, 4, 8, 16, 32), sentences=8, d_model=64, seeds=3)
FULL = Size(129, (1, 2, 4, 8, 16, 32, 64, 128), sentences=64, d_model=256, seeds=5)


def measure(bench: Bench, size: Size | None = None) -> Findings:
    """Follow the gradient of the encoder's last output back to every word."""
    size = size or (QUICK if bench.quick else FULL)
    seeds = bench.seeds_for(size.seeds)
    jobs = [(kind, seed) for kind in KINDS for seed in seeds]
    runs: dict[str, list[list[float]]] = {kind: [] for kind in KINDS}
    for kind, seed in bench.each(jobs, lambda job: f"{job[0]}, seed {job[1]}"):
        norms = gradient_norms(kind, seed, size)
        runs[kind].append([norms[distance] for distance in size.distances])
    found = {
        kind: [Spread.of(values) for values in zip(*lists, strict=True)]
        for kind, lists in runs.items()
    }
    return Findings(
        claims=claims(size.distances, found),
        table=Table(
            ("model", "distance", "seeds", "mean", "lowest", "highest"),
            tuple(
                (kind, distance, len(seeds), spread.mean, spread.low, spread.high)
                for kind, spreads in found.items()
                for distance, spread in zip(size.distances, spreads, strict=True)
            ),
        ),
        panels=(
            Curves(
                "How much of a gradient arrives",
                "words back",
                "‖∂ last output / ∂ word‖",
                tuple(
                    Line.of(kind, list(zip(size.distances, spreads, strict=True)))
                    for kind, spreads in found.items()
                ),
                log_x=True,
                log_y=True,
            ),
        ),
        caption=(
            "The length of the gradient of the encoder's output at the last word by "
            f"the embedding of a word so many words back, in untrained one-layer "
            f"encoders of width {size.d_model}."
        ),
        seeds=len(seeds),
    )


def gradient_norms(kind: str, seed: int, size: Size) -> list[float]:
    """Give the mean length of the gradient at each distance, from 0 on.

    In double precision: single precision ends where a gradient explodes in earnest.
    """
    torch.manual_seed(seed)
    model = _model(kind, size.d_model).double()
    source = torch.randint(len(NAMES), VOCABULARY, (size.sentences, size.longest))
    embedded: list[Tensor] = []

    def keep(module: object, inputs: object, output: Tensor) -> Tensor:
        output.retain_grad()
        embedded.append(output)
        return output

    hook = model.embed_source.register_forward_hook(keep)
    last = model.encode(source).output[:, -1]
    hook.remove()
    # A random direction: how far the output moves along it when a word moves.
    (last * torch.randn_like(last)).sum().backward()
    gradient = embedded[0].grad
    assert gradient is not None
    norms = gradient.norm(dim=-1).mean(dim=0).clamp_min(LEAST)
    return [float(norm) for norm in norms.flip(0)]


def _model(kind: str, d_model: int) -> TranslationNetwork:
    config = contender(KINDS[kind], d_model, 1, one_way=True).config()
    model = build_model(config.model, VOCABULARY)
    for cell in _reading_cells(model):
        with torch.no_grad():
            if kind == WILD:
                cell.from_state.weight.mul_(4)
            if kind == KEEPING:
                assert isinstance(cell, LSTMCell)
                cell.from_input.bias.chunk(4)[1].fill_(6.0)  # all but 1 after sigmoid
    return model


def _reading_cells(model: TranslationNetwork) -> list[Cell]:
    if not isinstance(model, RecurrentModel):
        return []
    return [
        layer.there for layer in model.encoder.layers if isinstance(layer, ReadingLayer)
    ]


def claims(
    distances: tuple[int, ...], found: dict[str, list[Spread]]
) -> tuple[Claim, ...]:
    """Judge what is left of each gradient at the far end."""
    left = {kind: spreads[-1].mean / spreads[0].mean for kind, spreads in found.items()}
    worst = {
        kind: max(spreads[-1].high / spreads[0].low, spreads[0].high / spreads[-1].low)
        for kind, spreads in found.items()
    }
    far = f"{distances[-1]} words back"
    return (
        Claim(
            "the gradient of a plain recurrent network vanishes",
            left[RNN] < VANISHED,
            f"{far} it is {left[RNN]:.1g} of what it is one word back",
        ),
        Claim(
            "with larger weights it explodes",
            left[WILD] > EXPLODED,
            f"{far} it is {left[WILD]:.1g} times as long",
        ),
        Claim(
            "gates let an LSTM keep more of it, and all if they are told to keep",
            left[LSTM] > left[RNN] and left[KEEPING] > 1 / STEADY,
            f"{left[LSTM]:.1g} is left, and {left[KEEPING]:.1g} with open keep gates",
        ),
        Claim(
            "attention is one step away from every word, however far back",
            worst[TRANSFORMER] < STEADY,
            f"the Transformer has {left[TRANSFORMER]:.2g} left",
        ),
    )


EXPERIMENT = Experiment(
    name="gradients",
    title="How far a gradient reaches",
    question="How much can a network learn from a word that stands many words back?",
    prediction=(
        "One key factor for learning long-range dependencies is the length of the "
        "paths that signals have to travel: n steps in a recurrent network, a constant "
        "number with self-attention (§4)."
    ),
    why=(
        "Going back one word, a gradient is multiplied by the recurrent matrix and by "
        "the slope of tanh. A product of many such factors shrinks to nothing or grows "
        "without bound, as the factors are a little below or above 1. An LSTM's "
        "memory is multiplied by its keep gate alone, which can be close to 1. "
        "Attention reaches each word by one weighted sum, so that distance does not "
        "come into it; what a word gets is its share among all words."
    ),
    measure=measure,
)
