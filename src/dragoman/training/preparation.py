"""From parallel text to token stores: clean, learn subwords, encode, remember."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from dragoman import durable
from dragoman.config import Config
from dragoman.data.token_store import TokenStore, TokenStoreWriter
from dragoman.errors import CorpusError, TokenizerError, TrainingError
from dragoman.text.copying import teach_copying
from dragoman.text.corpus import Corpus
from dragoman.text.joining import join_sentences
from dragoman.text.placeholders import MARKS, placeholder_ids
from dragoman.text.tokenizer import Tokenizer, choose_vocabulary_size, learn_tokenizer
from dragoman.text.tokenizer_pair import TokenizerPair
from dragoman.training.preparation_manifest import Manifest, describe_request
from dragoman.training.preparation_report import PreparationReport
from dragoman.training.preparation_selection import (
    Encoded,
    Progress,
    Selection,
    Teach,
)
from dragoman.training.preparation_summary import (
    measure_epoch,
    mixture_of,
    summarize,
)
from dragoman.training.preparation_text import SIDES, KeptText, Portion
from dragoman.training.text_preparation import prepare_text

# Subwords hardly change with more sentences than this, but learning them would take
# memory and time without end.
SENTENCES_TO_LEARN_FROM = 400_000


@dataclass(frozen=True)
class Prepared:
    """A corpus ready to train on."""

    folder: Path
    tokenizers: TokenizerPair
    store: TokenStore
    valid: TokenStore | None
    report: PreparationReport

    @property
    def rejected(self) -> Path:
        """The file that lists every dropped pair with its line and the reason."""
        return self.folder / "rejected.tsv"

    def valid_text(self, side: str) -> list[str]:
        """Give the validation sentences of a side, "source" or "target", as text."""
        content = (self.folder / f"valid.{side}").read_bytes()
        return content.decode("utf-8").split("\n")[:-1]


def prepare(
    folder: Path,
    corpora: Sequence[Corpus],
    valid: Corpus | None,
    config: Config,
    *,
    tokenizers: TokenizerPair | None = None,
    progress: Progress | None = None,
    allow_dropped: bool = True,
) -> Prepared:
    """Prepare a corpus in `folder`, or open it at once if that has been done before.

    Everything is made under a temporary name first: what an interruption leaves behind
    is never taken for a prepared corpus. One of which more than a tenth is dropped is
    refused where that is not allowed.
    """
    request = describe_request(corpora, valid, config, tokenizers)
    found = _open(folder, request, corpora, config)
    if found:
        return found
    temporary = folder.with_name(folder.name + ".tmp")
    try:
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        report = _prepare_into(
            temporary,
            corpora,
            valid,
            config,
            tokenizers,
            progress or _silence,
            allow_dropped=allow_dropped,
        )
        weights, size = _weights(corpora), config.training.batch_tokens
        Manifest(request, size, weights, report).write(temporary)
        _put_in_place(temporary, folder)
    except OSError as error:
        raise TrainingError(
            f"cannot prepare the corpus in {folder} ({error.strerror or error}): "
            "make room there or choose another folder"
        ) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    made = _open(folder, request, corpora, config)
    assert made, "what was just prepared can be opened"
    return made


def open_prepared(
    folder: Path,
    corpora: Sequence[Corpus],
    valid: Corpus | None,
    config: Config,
    tokenizers: TokenizerPair | None = None,
) -> Prepared | None:
    """Open what was prepared from these very files and settings, or give nothing."""
    request = describe_request(corpora, valid, config, tokenizers)
    return _open(folder, request, corpora, config)


def open_same(
    folder: Path, fingerprint: str, corpora: Sequence[Corpus], config: Config
) -> Prepared | None:
    """Open what was prepared here from whatever files, if it is this very data."""
    manifest = Manifest.read(folder)
    found = _open(folder, manifest.request, corpora, config) if manifest else None
    return found if found and found.store.fingerprint == fingerprint else None


def _silence(_label: str, _done: int, _total: int | None) -> None:
    """Report nothing."""


def _open(
    folder: Path, request: dict[str, Any], corpora: Sequence[Corpus], config: Config
) -> Prepared | None:
    manifest = Manifest.read(folder)
    if not manifest or manifest.request != request:
        return None
    try:
        tokenizers = TokenizerPair.load(folder)
        store = TokenStore.open(folder / "train")
        valid = TokenStore.open(folder / "valid") if request["valid"] else None
    except (CorpusError, TokenizerError):
        return None  # damaged, so it is made anew
    has_text = (_has_lines(folder / f"valid.{s}", len(valid or ())) for s in SIDES)
    if valid and not config.model.reads_text and not all(has_text):
        return None
    report = manifest.report
    if len(report.corpora) != len(corpora):
        return None
    kept = [corpus.kept for corpus in report.corpora]
    store = store.mixed(mixture_of(corpora, kept))
    now = config.training.batch_tokens, _weights(corpora)
    if now != (manifest.batch_tokens, manifest.weights):
        counts = kept if store.mixture is None else store.mixture.counts
        report = report.with_epoch(measure_epoch(store, config), counts)
    return Prepared(folder, tokenizers, store, valid, report)


def _has_lines(path: Path, count: int) -> bool:
    return path.is_file() and path.read_bytes().count(b"\n") == count


def _prepare_into(
    folder: Path,
    corpora: Sequence[Corpus],
    valid: Corpus | None,
    config: Config,
    tokenizers: TokenizerPair | None,
    progress: Progress,
    *,
    allow_dropped: bool,
) -> PreparationReport:
    if config.model.reads_text:
        return prepare_text(
            folder,
            corpora,
            valid,
            config,
            tokenizers,
            progress,
            allow_dropped=allow_dropped,
        )
    with ExitStack() as files:
        rejects = files.enter_context(
            (folder / "rejected.tsv").open(
                "w", encoding="utf-8", errors="backslashreplace", newline="\n"
            )
        )
        rejects.write("file\tline\treason\tsource\ttarget\n")
        train = files.enter_context(Selection(folder, "training", corpora, rejects))
        held_out = files.enter_context(
            Selection(folder, "validation", [valid] if valid else [], rejects)
        )
        train.read(config.data, progress)
        if valid:
            # Scores mean little on a selection, so only the unusable is left out.
            whole = replace(config.data, deduplicate=False, max_ratio=float("inf"))
            held_out.read(whole, progress)
        if not allow_dropped:
            _refuse_many_dropped(train, held_out)
        if not tokenizers:
            tokenizers = _learn(train.text, config, progress)
        tokenizers.save(folder)
        most = config.data.max_tokens
        parts = train.encode(tokenizers, most, progress, _teaching(tokenizers, config))
        _store(parts, folder / "train", tokenizers)
        if valid:
            parts = held_out.encode(tokenizers, most, progress)
            _store(_saving_text(parts, folder), folder / "valid", tokenizers)
        if not allow_dropped:
            _refuse_many_dropped(train, held_out)  # of too many tokens
        mixture = mixture_of(corpora, [tally.kept for tally in train.tallies])
        store = TokenStore.open(folder / "train").mixed(mixture)
        return summarize(train, held_out, tokenizers, store, config, corpora)


def _refuse_many_dropped(*selections: Selection) -> None:
    for selection in selections:
        selection.refuse_many_dropped()


def _learn(text: KeptText, config: Config, progress: Progress) -> TokenizerPair:
    settings, seed = config.tokenizer, config.training.seed
    size = settings.vocabulary_size or choose_vocabulary_size(len(text), settings.kind)
    reserved = MARKS if config.data.placeholders else ()
    progress("learning subwords", 0, None)

    def learn(*sides: str) -> Tokenizer:
        most = SENTENCES_TO_LEARN_FROM // len(sides)
        sentences = chain.from_iterable(text.sample(side, most, seed) for side in sides)
        return learn_tokenizer(settings, sentences, size, seed, reserved)

    if settings.shared_vocabulary:
        shared = learn(*SIDES)
        pair = TokenizerPair(shared, shared)
    else:
        pair = TokenizerPair(*map(learn, SIDES))
    progress("learning subwords", 1, 1)
    return pair


def _teaching(tokenizers: TokenizerPair, config: Config) -> Teach:
    """Give what pairs teach: joined sentences, and copying if there are the marks."""
    data, seed = config.data, config.training.seed
    both = placeholder_ids(tokenizers.source) and placeholder_ids(tokenizers.target)
    copying = bool(data.placeholders and both)

    def teach(text: Portion) -> list[tuple[str, str]]:
        pairs = join_sentences(
            text.sources, text.targets, share=data.join_share, seed=seed
        )
        if not copying:
            return pairs
        share = data.placeholder_share
        return [teach_copying(*pair, share=share, seed=seed) for pair in pairs]

    return teach


def _store(parts: Iterable[Encoded], folder: Path, tokenizers: TokenizerPair) -> None:
    size = max(tokenizers.source.vocabulary_size, tokenizers.target.vocabulary_size)
    with TokenStoreWriter(folder, size) as writer:
        for part in parts:
            writer.add_many(part.sources, part.targets)


def _saving_text(parts: Iterable[Encoded], folder: Path) -> Iterator[Encoded]:
    """Write the text of what passes through, which scoring needs as it is."""
    source, target = (folder / f"valid.{side}" for side in SIDES)
    with source.open("wb") as sources, target.open("wb") as targets:
        for part in parts:
            sources.writelines(f"{text}\n".encode() for text in part.text.sources)
            targets.writelines(f"{text}\n".encode() for text in part.text.targets)
            yield part


def _weights(corpora: Sequence[Corpus]) -> list[float | None]:
    return [corpus.weight for corpus in corpora]


def _put_in_place(temporary: Path, folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
    durable.rename_folder(temporary, folder)
