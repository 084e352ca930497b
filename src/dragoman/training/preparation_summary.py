"""What came out of a preparation: counts for the report, shares for the sampler."""

from collections.abc import Mapping, Sequence

from dragoman.config import Config
from dragoman.data.mixture import Mixture
from dragoman.data.sampler import Sampler
from dragoman.data.statistics import EpochStatistics, epoch_statistics
from dragoman.data.token_store import TokenStore
from dragoman.errors import CorpusError
from dragoman.text.cleaning import Reason
from dragoman.text.corpus import Corpus
from dragoman.text.tokenizer_pair import TokenizerPair
from dragoman.training.preparation_report import CorpusReport, PreparationReport
from dragoman.training.preparation_selection import Selection


def mixture_of(corpora: Sequence[Corpus], kept: Sequence[int]) -> Mixture | None:
    """Give each corpus its share of an epoch, if the corpora have weights."""
    weights = [corpus.weight for corpus in corpora if corpus.weight is not None]
    if not weights:
        return None
    for corpus, count in zip(corpora, kept, strict=True):
        if not count:
            raise CorpusError(
                f"no pair of {corpus.source} is left to have a share of an epoch "
                "(what an earlier corpus has as well is dropped): leave it out"
            )
    return Mixture(tuple(kept), tuple(weights))


def summarize(
    train: Selection,
    held_out: Selection,
    tokenizers: TokenizerPair,
    store: TokenStore,
    config: Config,
    corpora: Sequence[Corpus],
) -> PreparationReport:
    """Count what came out of a preparation."""
    epoch = measure_epoch(store, config)
    return PreparationReport(
        read=train.read_count,
        kept=len(store),
        rejected=_by_reason(train.rejected),
        valid_read=held_out.read_count,
        valid_kept=held_out.kept_count,
        longest=train.longest,
        source_vocabulary=tokenizers.source.vocabulary_size,
        target_vocabulary=tokenizers.target.vocabulary_size,
        shared_vocabulary=tokenizers.shared,
        source_tokens=store.num_source_tokens,
        target_tokens=store.num_target_tokens,
        padding_share=epoch.padding_share,
        batches_per_epoch=epoch.num_batches,
        corpora=_corpus_reports(train, store, corpora),
    )


def _corpus_reports(
    train: Selection, store: TokenStore, corpora: Sequence[Corpus]
) -> tuple[CorpusReport, ...]:
    kept = [tally.kept for tally in train.tallies]
    counts = kept if store.mixture is None else store.mixture.counts
    return tuple(
        CorpusReport(
            str(corpus.source),
            tally.read,
            tally.kept,
            _by_reason(tally.rejected),
            per_epoch,
        )
        for corpus, tally, per_epoch in zip(corpora, train.tallies, counts, strict=True)
    )


def _by_reason(rejected: Mapping[Reason, int]) -> dict[str, int]:
    return {str(why): rejected[why] for why in Reason if why in rejected}


def measure_epoch(store: TokenStore, config: Config) -> EpochStatistics:
    """Find out what the batches of an epoch amount to."""
    settings = config.training
    sampler = Sampler(store, batch_tokens=settings.batch_tokens, seed=settings.seed)
    return epoch_statistics(
        sampler.order(0), store.source_lengths, store.target_lengths
    )
