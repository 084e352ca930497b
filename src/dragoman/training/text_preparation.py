"""From running text to a store of windows: what language models learn from."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TextIO

import numpy as np

from dragoman.config import Config
from dragoman.data.token_store import TokenStore, TokenStoreWriter
from dragoman.data.windows import cut_windows
from dragoman.errors import CorpusError
from dragoman.text.corpus import Corpus
from dragoman.text.lines import LINE_LIMIT, capped_lines
from dragoman.text.masks import MASK
from dragoman.text.normalization import normalize
from dragoman.text.pairs import Reason, shown
from dragoman.text.tokenizer import Tokenizer, choose_vocabulary_size, learn_tokenizer
from dragoman.text.tokenizer_pair import TokenizerPair
from dragoman.training.dropped_share import Tally, refuse_many_dropped
from dragoman.training.preparation_report import (
    CorpusReport,
    LongestPair,
    PreparationReport,
)
from dragoman.training.preparation_selection import Progress
from dragoman.training.preparation_summary import measure_epoch

LINES_AT_ONCE = 10_000
WINDOWS_AT_ONCE = 1000
LINES_TO_LEARN_FROM = 400_000


@dataclass
class TextFile:
    """One file of running text, and what became of its lines so far."""

    path: Path
    normalization: str
    tally: Tally = field(default_factory=Tally)
    windows: int = 0

    def lines(self, rejects: TextIO | None = None) -> Iterator[str]:
        """Stream the lines that hold text; what cannot be read goes to the rejects."""
        self.tally = Tally()
        for number, line in enumerate(capped_lines(self.path), 1):
            self.tally.read = number
            text = _fit(line, self.normalization)
            if not isinstance(text, Reason):
                yield text
                continue
            if text is Reason.EMPTY:
                continue  # as between paragraphs, which loses nothing
            self.tally.set_aside(text, number)
            if rejects is not None:
                rejects.write(f"{self.path}\t{number}\t{text}\t{shown(line)}\t\n")


def _fit(line: bytes, normalization: str) -> str | Reason:
    if len(line) > LINE_LIMIT:
        return Reason.TOO_LONG
    try:
        text = normalize(line.decode("utf-8"), normalization)
    except UnicodeDecodeError:
        return Reason.INVALID_UTF8
    if "\0" in text:
        return Reason.NUL
    return text if text and not text.isspace() else Reason.EMPTY


def prepare_text(
    folder: Path,
    corpora: Sequence[Corpus],
    valid: Corpus | None,
    config: Config,
    tokenizers: TokenizerPair | None,
    progress: Progress,
    *,
    allow_dropped: bool,
) -> PreparationReport:
    """Learn a tokenizer, encode the text and cut it into windows on disk."""
    files = [TextFile(corpus.source, config.data.normalization) for corpus in corpora]
    sample = _sample(folder, files, config.training.seed, progress)
    if not allow_dropped:
        _refuse_many_dropped(files)
    if tokenizers is None:
        tokenizer = _learn(sample, config, progress)
        tokenizers = TokenizerPair(tokenizer, tokenizer)
    tokenizers.save(folder)
    _store(folder / "train", files, tokenizers.source, config, progress)
    held_out = None
    if valid is not None:
        held_out = TextFile(valid.source, config.data.normalization)
        _store(folder / "valid", [held_out], tokenizers.source, config, progress)
        if not allow_dropped:
            _refuse_many_dropped([held_out])
    store = TokenStore.open(folder / "train")
    return _report(files, held_out, tokenizers, store, config)


def _refuse_many_dropped(files: Sequence[TextFile]) -> None:
    for file in files:
        refuse_many_dropped("lines", file.tally, [file.path])


def _sample(
    folder: Path, files: Sequence[TextFile], seed: int, progress: Progress
) -> list[str]:
    """Read everything once; keep lines to learn subwords from, all equally likely."""
    random = np.random.default_rng(seed)
    kept: list[str] = []
    count = 0
    with (folder / "rejected.tsv").open(
        "w", encoding="utf-8", errors="backslashreplace", newline="\n"
    ) as rejects:
        rejects.write("file\tline\treason\tsource\ttarget\n")
        for file in files:
            for line in file.lines(rejects):
                count += 1
                if count % LINES_AT_ONCE == 0:
                    progress("reading text", count, None)
                if len(kept) < LINES_TO_LEARN_FROM:
                    kept.append(line)
                elif (place := int(random.integers(count))) < LINES_TO_LEARN_FROM:
                    kept[place] = line
    if not kept:
        raise CorpusError(
            f"there is no line of text in {files[0].path}: give a file with text"
        )
    return kept


def _learn(sample: Sequence[str], config: Config, progress: Progress) -> Tokenizer:
    settings = config.tokenizer
    size = settings.vocabulary_size
    size = size or choose_vocabulary_size(len(sample), settings.kind)
    reserved = (MASK,) if config.model.kind == "masked_language_model" else ()
    progress("learning subwords", 0, None)
    tokenizer = learn_tokenizer(settings, sample, size, config.training.seed, reserved)
    progress("learning subwords", 1, 1)
    return tokenizer


def _store(
    folder: Path,
    files: Sequence[TextFile],
    tokenizer: Tokenizer,
    config: Config,
    progress: Progress,
) -> None:
    with TokenStoreWriter(folder, tokenizer.vocabulary_size) as writer:
        for file in files:
            encoded = _encoded(file, tokenizer, progress)
            windows = cut_windows(encoded, config.model.window)
            while portion := list(islice(windows, WINDOWS_AT_ONCE)):
                writer.add_many([[]] * len(portion), portion)
                file.windows += len(portion)
    if not any(file.windows for file in files):
        raise CorpusError(
            f"there is no line of text in {files[0].path}: give a file with text"
        )


def _encoded(
    file: TextFile, tokenizer: Tokenizer, progress: Progress
) -> Iterator[list[int]]:
    lines, done = file.lines(), 0
    while portion := list(islice(lines, LINES_AT_ONCE)):
        yield from tokenizer.encode_many(portion)
        done += len(portion)
        progress(f"encoding {file.path.name}", done, None)


def _report(
    files: Sequence[TextFile],
    held_out: TextFile | None,
    tokenizers: TokenizerPair,
    store: TokenStore,
    config: Config,
) -> PreparationReport:
    epoch = measure_epoch(store, config)
    size = tokenizers.source.vocabulary_size
    rejected = sum((file.tally.rejected for file in files), Counter[Reason]())
    return PreparationReport(
        read=sum(file.tally.read for file in files),
        kept=len(store),
        rejected=_by_reason(rejected),
        valid_read=held_out.tally.read if held_out else 0,
        valid_kept=held_out.windows if held_out else 0,
        longest=LongestPair("", 0, 0, int(store.target_lengths.max())),
        source_vocabulary=size,
        target_vocabulary=size,
        shared_vocabulary=True,
        source_tokens=0,
        target_tokens=store.num_target_tokens,
        padding_share=epoch.padding_share,
        batches_per_epoch=epoch.num_batches,
        corpora=tuple(
            CorpusReport(
                str(file.path),
                file.tally.read,
                file.windows,
                _by_reason(file.tally.rejected),
                file.windows,
            )
            for file in files
        ),
        window=config.model.window,
    )


def _by_reason(rejected: Counter[Reason]) -> dict[str, int]:
    return {str(why): rejected[why] for why in Reason if rejected[why]}
