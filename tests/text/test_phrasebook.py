import unicodedata
from collections import Counter
from importlib import resources
from pathlib import Path

import pytest

from dragoman.text.public_corpora import get
from dragoman.text.splitting import comparable

BOOK = resources.files("dragoman") / "text" / "phrasebook" / "en-es.tsv"
PAIRS = [tuple(line.split("\t")) for line in BOOK.read_text("utf-8").splitlines()]


def test_it_has_hundreds_of_pairs_of_two_columns() -> None:
    assert len(PAIRS) >= 400
    assert {len(pair) for pair in PAIRS} == {2}


def test_it_says_how_to_get_going() -> None:
    assert ("Let's go!", "¡Vamos!") in PAIRS


@pytest.mark.parametrize("side", [0, 1])
def test_no_sentence_comes_twice(side: int) -> None:
    counts = Counter(comparable(pair[side]) for pair in PAIRS)
    assert [sentence for sentence, count in counts.items() if count > 1] == []


def test_every_pair_is_written_properly() -> None:
    assert [pair for pair in PAIRS if not written_properly(*pair)] == []


def written_properly(english: str, spanish: str) -> bool:
    return (
        all(text == " ".join(text.split()) for text in (english, spanish))
        and unicodedata.is_normalized("NFC", english + spanish)
        and english[0].isupper()
        and spanish.lstrip("¿¡")[0].isupper()
        and english[-1] in ".?!"
        and english[-1] == spanish[-1]
        and spanish.count("¿") == spanish.count("?")
        and spanish.count("¡") == spanish.count("!")
        and english.isascii()
    )


def test_it_is_got_without_pip_and_shares_no_sentence_with_its_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere")
    files = get("phrasebook-en-es", tmp_path / "book")
    assert files.train_pairs + files.valid_pairs + files.test_pairs == len(PAIRS)
    assert files.valid_pairs == files.test_pairs == 25
    train = set(files.train_source.read_text("utf-8").splitlines())
    held_out = (
        files.valid_source.read_text("utf-8") + files.test_source.read_text("utf-8")
    ).splitlines()
    assert not {comparable(text) for text in train} & set(map(comparable, held_out))
    notice = (tmp_path / "book" / "ATTRIBUTION.txt").read_text("utf-8")
    assert "Apache License 2.0" in notice
