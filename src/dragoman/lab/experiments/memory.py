"""What one vector can hold of a long sentence, and what attention adds (§1, §4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dragoman.lab.contenders import LOOKING_BACK, LSTM, TRANSFORMER, contender
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
from dragoman.lab.parallel_text import ParallelText, text_for
from dragoman.lab.toy_tasks import (
    Task,
    accuracy,
    learn,
    toy_batch,
    toy_batches,
)
from dragoman.lab.translators import Trained, Trial, train_translator

KINDS = (LSTM, LOOKING_BACK, TRANSFORMER)
TASKS: tuple[Task, ...] = ("first word", "copy")
LEARNED_ENOUGH = 0.9  # of the shortest sentences, or nothing is decided
FEW = 20  # sentences of a length, fewer of which make no BLEU worth comparing


@dataclass(frozen=True)
class Size:
    """How long toy sentences are, how long to learn, and the translators' budget."""

    lengths: Mapping[Task, tuple[int, ...]]
    toy_steps: int
    toy_tokens: int
    sentences: int
    d_model: int
    steps: int  # of each translator
    batch_tokens: int
    beam_size: int
    seeds: int


QUICK = Size(
    lengths={"first word": (2, 4, 8), "copy": (2, 4, 8)},
    toy_steps=60,
    toy_tokens=300,
    sentences=40,
    d_model=32,
    steps=20,
    batch_tokens=600,
    beam_size=1,
    seeds=1,
)
FULL = Size(
    lengths={"first word": (2, 4, 8, 16, 32, 64, 96), "copy": (2, 4, 8, 16, 24, 32)},
    toy_steps=2000,
    toy_tokens=1500,
    sentences=200,
    d_model=128,
    steps=1500,
    batch_tokens=2500,
    beam_size=4,
    seeds=2,
)

Recall = dict[str, list[Spread]]  # by model, one accuracy for each length
Buckets = dict[str, dict[str, Spread]]  # BLEU by model and number of source words


def measure(bench: Bench, size: Size | None = None) -> Findings:
    """Let each recall words of longer and longer sentences, then translate."""
    size = size or (QUICK if bench.quick else FULL)
    seeds = bench.seeds_for(size.seeds)
    recall = {task: _recall(bench, size, task, seeds) for task in TASKS}
    text = text_for(bench)
    buckets = _bleu_by_length(bench, size, text, seeds)
    return Findings(
        claims=claims(size, recall, buckets),
        table=_table(size, recall, buckets),
        panels=(
            _panel("Which word came first?", size, "first word", recall),
            _panel("Copy the sentence", size, "copy", recall),
            _bleu_panel(buckets, text),
        ),
        caption=(
            "The share of words recalled rightly by length, of the first word alone "
            "and of a whole copy, by a one-way LSTM with one vector for the sentence, "
            "one that looks back, and a Transformer; and BLEU by the length of the "
            f"source, of translators trained on {text.name}."
        ),
        seeds=len(seeds),
        note=(
            "The toy encoders read one way only: read backwards too, the first word "
            "would be the last one read. Translators read both ways, as they do in use."
        ),
    )


def _recall(bench: Bench, size: Size, task: Task, seeds: range) -> Recall:
    jobs = [(kind, seed) for kind in KINDS for seed in seeds]
    found: dict[str, list[list[float]]] = {kind: [] for kind in KINDS}
    for kind, seed in bench.each(jobs, lambda job: f"{task}: {job[0]}, seed {job[1]}"):
        config = contender(kind, size.d_model, 2, one_way=True).config()
        config = config.with_settings({"training.label_smoothing": 0.0})
        lengths = range(1, max(size.lengths[task]) + 1)
        batches = toy_batches(task, lengths, size.toy_tokens, seed)
        learned = learn(config, batches, size.toy_steps, seed)
        random = np.random.default_rng(1000 + seed)
        found[kind].append(
            [
                accuracy(learned, toy_batch(task, length, size.sentences, random))
                for length in size.lengths[task]
            ]
        )
    return {
        kind: [Spread.of(values) for values in zip(*runs, strict=True)]
        for kind, runs in found.items()
    }


def _bleu_by_length(
    bench: Bench, size: Size, text: ParallelText, seeds: range
) -> Buckets:
    jobs = [(kind, seed) for kind in KINDS for seed in seeds]
    runs: dict[str, list[Trained]] = {kind: [] for kind in KINDS}
    for kind, seed in bench.each(jobs, lambda job: f"training {job[0]}, seed {job[1]}"):
        runs[kind].append(
            train_translator(bench, text, _trial(bench, size, kind), seed)
        )
    return {kind: _by_length(trained) for kind, trained in runs.items()}


def _trial(bench: Bench, size: Size, kind: str) -> Trial:
    steps = bench.steps or size.steps
    network = contender(kind, 2 * size.d_model, 2, dropout=0.2)
    return Trial(
        name=kind,
        preset=network.preset,
        settings={
            **network.settings,
            "training.batch_tokens": size.batch_tokens,
            "training.valid_sentences": 0,
        },
        steps=steps,
        part="test",
        beam_size=size.beam_size,
    )


def _by_length(trained: Sequence[Trained]) -> dict[str, Spread]:
    """Gather BLEU by bucket; too few sentences make no score."""
    found: dict[str, list[float]] = {}
    for run in trained:
        for bucket in run.by_length:
            if bucket["count"] >= FEW:
                found.setdefault(bucket["words"], []).append(bucket["bleu"])
    return {words: Spread.of(values) for words, values in found.items()}


def claims(
    size: Size, recall: Mapping[Task, Recall], buckets: Buckets
) -> tuple[Claim, ...]:
    """Judge recall at the greatest length, and BLEU in long and short sentences."""
    return (
        _recalled("the first word", size.lengths["first word"], recall["first word"]),
        _recalled("the words", size.lengths["copy"], recall["copy"]),
        _translated(buckets),
    )


def _recalled(what: str, lengths: tuple[int, ...], found: Recall) -> Claim:
    last = {kind: spreads[-1].text(".0%") for kind, spreads in found.items()}
    return Claim(
        f"one vector loses {what} of a long sentence, and attention keeps more",
        _keeps_more(found),
        f"at {lengths[-1]} words the LSTM is right in {last[LSTM]}, with "
        f"attention in {last[LOOKING_BACK]}, the Transformer in {last[TRANSFORMER]}",
    )


def _keeps_more(found: Recall) -> bool | None:
    learned = min(spreads[0].mean for spreads in found.values())
    if learned < LEARNED_ENOUGH:
        return None
    verdicts = [
        larger(found[kind][-1], found[LSTM][-1]) for kind in (LOOKING_BACK, TRANSFORMER)
    ]
    if all(verdict is True for verdict in verdicts):
        return True
    return False if any(verdict is False for verdict in verdicts) else None


def _translated(buckets: Buckets) -> Claim:
    """Compare what attention adds to short sentences with what it adds to long ones."""
    expected = "in translation, attention helps long sentences most"
    both = [w for w in buckets[LSTM] if w in buckets[LOOKING_BACK]]
    if len(both) < 2:
        return Claim(expected, None, "there are too few sentences of other lengths")
    short, long = (
        _difference(buckets[LOOKING_BACK][words], buckets[LSTM][words])
        for words in (both[0], both[-1])
    )
    saw = (
        f"it adds {short.text('.1f')} BLEU at {both[0]} words and "
        f"{long.text('.1f')} at {both[-1]}"
    )
    return Claim(expected, larger(long, short), saw)


def _difference(one: Spread, other: Spread) -> Spread:
    """Give the range that a difference can have."""
    return Spread(
        one.mean - other.mean,
        one.low - other.high,
        one.high - other.low,
        min(one.count, other.count),
    )


def _table(size: Size, recall: Mapping[Task, Recall], buckets: Buckets) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (f"accuracy, {task}", kind, str(length), s.count, s.mean, s.low, s.high)
        for task, found in recall.items()
        for kind, spreads in found.items()
        for length, s in zip(size.lengths[task], spreads, strict=True)
    ]
    rows += [
        ("BLEU", kind, words, s.count, s.mean, s.low, s.high)
        for kind, found in buckets.items()
        for words, s in found.items()
    ]
    columns = ("measured", "model", "words", "seeds", "mean", "lowest", "highest")
    return Table(columns, tuple(rows))


def _panel(title: str, size: Size, task: Task, recall: Mapping[Task, Recall]) -> Curves:
    lines = tuple(
        Line.of(kind, list(zip(size.lengths[task], spreads, strict=True)))
        for kind, spreads in recall[task].items()
    )
    return Curves(title, "words", "share recalled", lines, log_x=True)


def _bleu_panel(buckets: Buckets, text: ParallelText) -> Curves:
    lines = tuple(
        Line.of(kind, [(_middle(words), s) for words, s in found.items()])
        for kind, found in buckets.items()
    )
    return Curves(f"Translation: {text.name}", "source words", "BLEU", lines)


def _middle(words: str) -> float:
    """Give a place on the axis to a range such as 6-10 or 51+."""
    low, _, high = words.rstrip("+").partition("-")
    return (float(low) + float(high or low)) / 2


EXPERIMENT = Experiment(
    name="memory",
    title="What one vector can hold",
    question="How much of a long sentence can one vector remember, and what does "
    "attention add?",
    prediction=(
        "Attention allows modelling of dependencies without regard to their distance "
        "in the input (§1), while signals in a recurrent network travel n steps (§4): "
        "without attention, the longer the sentence, the more of it is lost."
    ),
    why=(
        "An encoder without attention hands over one vector of fixed size, whether the "
        "sentence has three words or fifty. In “don't eat the delicious looking and "
        "smelling pizza” the first word turns everything round, and it is the one "
        "that was overwritten most often when the last one is read. Attention keeps a "
        "vector for every word and lets each target word look up the ones it needs, so "
        "that what is far away is as near as what is close."
    ),
    measure=measure,
)
