"""What there is to learn from, in the numbers that decide what learning costs."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dragoman.config import Config
from dragoman.data.batching import Batch, read_batch
from dragoman.data.sampler import Position, Sampler
from dragoman.errors import ConfigError
from dragoman.model.flops import BatchShape
from dragoman.text.corpus import Corpus, RawPair, count_pairs, read_pairs
from dragoman.text.tokenizer import choose_vocabulary_size
from dragoman.training.preparation import Prepared, prepare
from dragoman.training.preparation_selection import Progress

SAMPLE_PAIRS = 20_000
TOKENS_PER_SENTENCE = 25  # about what news text has in subwords
MOST_BATCHES = 200  # whose shapes are looked at


@dataclass(frozen=True)
class Workload:
    """A corpus in numbers; END is counted as a token of each side."""

    pairs: int
    source_tokens: float
    target_tokens: float
    vocabulary: int
    batches: tuple[BatchShape, ...]  # some of an epoch's, alike to the rest
    origin: str

    @property
    def tokens_per_batch(self) -> float:
        """Target tokens of a mean batch."""
        tokens = sum(batch.target_tokens for batch in self.batches)
        return tokens / len(self.batches)

    @property
    def batches_per_epoch(self) -> float:
        """How many batches make a pass over the corpus."""
        return self.target_tokens / self.tokens_per_batch

    @property
    def largest(self) -> BatchShape:
        """The batch that takes the most memory."""
        return max(self.batches, key=lambda b: b.source_places + b.target_places)


def stated_workload(config: Config, pairs: int, tokens: int | None) -> Workload:
    """Take a corpus as someone describes it: `tokens` are those of its target side."""
    target_tokens = TOKENS_PER_SENTENCE * pairs if tokens is None else tokens
    if target_tokens < pairs:
        raise ConfigError(
            f"{pairs:,} pairs cannot have {target_tokens:,} target tokens: give at "
            "least one token for each pair"
        )
    length = target_tokens / pairs
    rows = max(1.0, config.training.batch_tokens / length)
    return Workload(
        pairs=pairs,
        source_tokens=target_tokens,
        target_tokens=target_tokens,
        vocabulary=vocabulary_for(config, pairs),
        batches=(BatchShape(rows, length, length, rows * length),),
        origin="as stated",
    )


def vocabulary_for(config: Config, pairs: int) -> int:
    """Give the vocabulary that is asked for, or the one that training would choose."""
    settings = config.tokenizer
    return settings.vocabulary_size or choose_vocabulary_size(pairs, settings.kind)


@contextmanager
def sample_of(
    corpora: Sequence[Corpus], config: Config, progress: Progress
) -> Iterator[tuple[Workload, Prepared]]:
    """Prepare a sample of the corpora, as training would prepare all of them."""
    lines = count_pairs(corpora)
    stride = -(-lines // SAMPLE_PAIRS)
    asked = {"tokenizer.vocabulary_size": vocabulary_for(config, lines)}
    with tempfile.TemporaryDirectory(prefix="dragoman-plan-") as place:
        folder = Path(place)
        sample = Corpus(folder / "sample.source", folder / "sample.target")
        _write_sample(corpora, sample, max(1, stride))
        prepared = prepare(
            folder / "prepared",
            [sample],
            None,
            config.with_settings(asked),
            progress=progress,
        )
        yield _scaled(prepared, config, lines), prepared


def _write_sample(corpora: Sequence[Corpus], sample: Corpus, stride: int) -> None:
    assert sample.target is not None
    number = 0
    with sample.source.open("wb") as sources, sample.target.open("wb") as targets:
        for corpus in corpora:
            for pair in read_pairs(corpus):
                if number % stride == 0:
                    # What cannot be read stays an empty line, so that it is counted.
                    whole = pair if isinstance(pair, RawPair) else RawPair(0, b"", b"")
                    sources.write(whole.source + b"\n")
                    targets.write(whole.target + b"\n")
                number += 1


def _scaled(prepared: Prepared, config: Config, lines: int) -> Workload:
    store, report = prepared.store, prepared.report
    settings = config.training
    order = Sampler(
        store, batch_tokens=settings.batch_tokens, seed=settings.seed
    ).order(0)
    looked_at = range(min(len(order), MOST_BATCHES))
    shapes = [shape_of(read_batch(store, order[number])) for number in looked_at]
    scale = lines / report.read
    vocabulary = max(report.source_vocabulary, report.target_vocabulary)
    whole = report.read == lines
    return Workload(
        pairs=round(scale * report.kept),
        source_tokens=scale * (report.source_tokens + report.kept),
        target_tokens=scale * (report.target_tokens + report.kept),
        # A sample can hold too few words for the vocabulary that the whole will fill.
        vocabulary=vocabulary if whole else vocabulary_for(config, lines),
        batches=tuple(shapes),
        origin="counted" if whole else f"estimated from {report.read:,} pairs",
    )


def shape_of(batch: Batch) -> BatchShape:
    """Give the size of a batch."""
    return BatchShape(
        batch.num_pairs,
        batch.source.shape[1],
        batch.target_out.shape[1],
        batch.num_target_tokens,
    )


def sample_batches(prepared: Prepared, config: Config, most: int) -> Iterator[Batch]:
    """Read real batches without end, each cut to about `most` target tokens."""
    settings, store = config.training, prepared.store
    sampler = Sampler(store, batch_tokens=settings.batch_tokens, seed=settings.seed)
    for indices, _ in sampler.batches(Position(0, 0)):
        longest = int(store.target_lengths[indices].max()) + 1
        yield read_batch(store, indices[: max(1, most // longest)])
