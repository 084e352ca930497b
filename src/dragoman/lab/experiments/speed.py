"""What a longer sentence costs in training and in translation (§4)."""

import time
from dataclasses import dataclass

import numpy as np
import torch

from dragoman.data.batching import Batch, make_batch
from dragoman.lab.contenders import GRU, LSTM, RNN, TRANSFORMER, contender
from dragoman.lab.experiment import Bench, Experiment
from dragoman.lab.findings import Claim, Curves, Findings, Line, Spread, Table, larger
from dragoman.model.build import build_model
from dragoman.model.network import TranslationNetwork
from dragoman.special_tokens import BEGIN, NAMES
from dragoman.training.objective import Objective
from dragoman.training.optimizer import Optimizer

VOCABULARY = 500  # few, so that the layers are what is timed
KINDS = (RNN, GRU, LSTM, TRANSFORMER)
GROWN = 1.5


@dataclass(frozen=True)
class Size:
    """Which lengths, how wide, how many words at once, how often."""

    lengths: tuple[int, ...]
    d_model: int
    layers: int
    batch_tokens: int
    decoded_rows: int
    repeats: int


QUICK = Size((8, 32, 128), 64, 1, batch_tokens=512, decoded_rows=4, repeats=3)
FULL = Size(
    lengths=(8, 16, 32, 64, 128, 256, 512, 1024),
    d_model=256,
    layers=2,
    batch_tokens=2048,
    decoded_rows=8,
    repeats=5,
)

Times = dict[str, list[Spread]]  # microseconds for a word, one for each length


def measure(bench: Bench, size: Size | None = None) -> Findings:
    """Time an update and the translation of a word, in turns, at growing length."""
    size = size or (QUICK if bench.quick else FULL)
    training: Times = {kind: [] for kind in KINDS}
    decoding: Times = {kind: [] for kind in KINDS}
    jobs = [(length, kind) for length in size.lengths for kind in KINDS]
    for length, kind in bench.each(jobs, lambda job: f"{job[1]}, {job[0]} words"):
        learning, translating = _time(kind, length, size)
        training[kind].append(learning)
        decoding[kind].append(translating)
    return Findings(
        claims=claims(size, training, decoding),
        table=_table(size, training, decoding),
        panels=(
            _panel("Learning", size, training),
            _panel("Translating, word by word", size, decoding),
        ),
        caption=(
            "Microseconds for each word, by sentence length, of networks with "
            f"{size.layers}+{size.layers} layers of width {size.d_model}: in an update "
            f"of about {size.batch_tokens:,} words, and in writing the last words of a "
            f"translation that is as long as its source, {size.decoded_rows} at a time."
        ),
        seeds=size.repeats,
        note=(
            "Times are of this machine while it did whatever else it did; of all "
            "repeats the faster half is counted. On a machine with thousands of "
            "arithmetic units, such as a GPU, waiting for the last word costs "
            "recurrence far more."
        ),
    )


def _time(kind: str, length: int, size: Size) -> tuple[Spread, Spread]:
    torch.manual_seed(1)
    config = contender(kind, size.d_model, size.layers).config()
    model = build_model(config.model, VOCABULARY)
    objective = Objective(model, config.training)
    optimizer = Optimizer(model, config.training)
    batch = _batch(size, length)
    twice = range(2 * size.repeats)
    learning = [_update(objective, optimizer, batch) for _ in twice]
    writing = [_decode(model, length, size.decoded_rows) for _ in twice]
    return _faster_half(learning), _faster_half(writing)


def _faster_half(times: list[float]) -> Spread:
    """Leave out warming up, and what others did here, which only takes longer."""
    return Spread.of(sorted(times)[: len(times) // 2])


def _batch(size: Size, length: int) -> Batch:
    random = np.random.default_rng(1)
    rows = max(1, size.batch_tokens // length)
    words = random.integers(len(NAMES), VOCABULARY, (2, rows, length - 1))
    return make_batch(list(words[0]), list(words[1]))  # END makes it `length`


def _update(objective: Objective, optimizer: Optimizer, batch: Batch) -> float:
    """Give microseconds for a target word of one update, which changes nothing."""
    began = time.perf_counter()
    loss = objective(batch)
    (loss.smoothed / loss.tokens).backward()
    optimizer.clip()
    optimizer.step(rate=0.0)
    optimizer.forget_gradients()
    return 1e6 * (time.perf_counter() - began) / batch.num_target_tokens


@torch.inference_mode()
def _decode(model: TranslationNetwork, length: int, rows: int) -> float:
    """Give microseconds for a word near the end of a translation."""
    model.eval()
    state = model.start(model.encode(torch.full((rows, length), len(NAMES))))
    last = torch.full((rows,), BEGIN)
    timed = max(4, length // 8)
    for _ in range(max(0, length - timed)):
        _, state = model.step(last, state)
    began = time.perf_counter()
    for _ in range(timed):
        _, state = model.step(last, state)
    return 1e6 * (time.perf_counter() - began) / (timed * rows)


def claims(size: Size, training: Times, decoding: Times) -> tuple[Claim, ...]:
    """Judge who is faster where, and what grows."""
    short = [place for place, n in enumerate(size.lengths) if n < size.d_model]
    verdicts = [larger(training[LSTM][k], training[TRANSFORMER][k]) for k in short]
    slower = [size.lengths[k] for k in short if verdicts[short.index(k)] is False]
    own = [spread.mean for spread in training[TRANSFORMER]]
    growth = own[-1] / min(own)
    crossing = _crossing(size, decoding)
    last = {k: decoding[k][-1] for k in (LSTM, TRANSFORMER)}
    longest = size.lengths[-1]
    return (
        Claim(
            f"below {size.d_model} words (n < d) the Transformer learns faster than "
            "the LSTM",
            _all(verdicts),
            f"an LSTM's word takes {_ratios(size, training, short)} times as long"
            + (f"; the LSTM is faster at {_list(slower)} words" if slower else ""),
        ),
        Claim(
            "the n² of attention shows in long sentences",
            growth > GROWN if longest > 2 * size.d_model else None,
            f"at {longest} words each takes {growth:.1f} times as long as at best",
        ),
        Claim(
            "in translating, long sentences favour the LSTM, whose steps cost the same "
            "however far it is",
            larger(last[TRANSFORMER], last[LSTM]),
            f"at {longest} words {last[LSTM].text('.0f')} µs against "
            f"{last[TRANSFORMER].text('.0f')} µs; {crossing}",
        ),
    )


def _all(verdicts: list[bool | None]) -> bool | None:
    if all(verdict is True for verdict in verdicts):
        return True
    return False if any(verdict is False for verdict in verdicts) else None


def _ratios(size: Size, training: Times, places: list[int]) -> str:
    ratios = [training[LSTM][k].mean / training[TRANSFORMER][k].mean for k in places]
    return f"{min(ratios):.1f} to {max(ratios):.1f}"


def _list(lengths: list[int]) -> str:
    return ", ".join(map(str, lengths))


def _crossing(size: Size, decoding: Times) -> str:
    for place, length in enumerate(size.lengths):
        if decoding[LSTM][place].mean < decoding[TRANSFORMER][place].mean:
            return f"the LSTM's word is the cheaper one from {length} words on"
    return "the LSTM's word is nowhere the cheaper one"


def _table(size: Size, training: Times, decoding: Times) -> Table:
    columns = ("model", "words", "repeats", "learning, µs", "lowest", "highest")
    more = ("translating, µs", "lowest ", "highest ")
    return Table(
        (*columns, *more),
        tuple(
            (
                *(kind, length, size.repeats),
                *_numbers(training[kind][place]),
                *_numbers(decoding[kind][place]),
            )
            for kind in KINDS
            for place, length in enumerate(size.lengths)
        ),
    )


def _numbers(spread: Spread) -> tuple[float, float, float]:
    return spread.mean, spread.low, spread.high


def _panel(title: str, size: Size, times: Times) -> Curves:
    lines = tuple(
        Line.of(kind, list(zip(size.lengths, spreads, strict=True)))
        for kind, spreads in times.items()
    )
    return Curves(
        title, "words in a sentence", "µs for a word", lines, log_x=True, log_y=True
    )


EXPERIMENT = Experiment(
    name="speed",
    title="What a longer sentence costs",
    question="Who is faster, attention or recurrence, and from which length on?",
    prediction=(
        "Recurrence precludes parallel work within a sentence, which becomes critical "
        "at longer lengths (§1); self-attention layers are faster than recurrent ones "
        "when the sequence is shorter than the vectors are wide, n < d (§4). By Table "
        "1, the n-th word costs attention n·d and recurrence d², so that long outputs "
        "favour recurrence when they are written word by word."
    ),
    why=(
        "To learn, all target words are known, and attention reads them at once: a few "
        "large products, which is what machines are good at. A recurrent network makes "
        "n small ones, each waiting for the last. But each word of attention looks at "
        "all others, so its cost grows with n, and in translating word after word "
        "nothing can be done at once: there a recurrent step, whose state never grows, "
        "is the cheaper one once the sentence is long enough."
    ),
    measure=measure,
)
