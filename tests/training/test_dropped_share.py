import re
from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman.cli.main import main
from dragoman.errors import CorpusError, DragomanError
from dragoman.text.pairs import Reason
from dragoman.training.dropped_share import Tally, refuse_many_dropped

SMALL = {
    "model.d_model": 16,
    "model.d_ff": 32,
    "tokenizer.vocabulary_size": 400,
    "training.threads": 1,
}


def tally_of(read: int, **rejected: int) -> Tally:
    tally = Tally(read)
    for name, count in rejected.items():
        for line in range(count):
            tally.set_aside(Reason[name], line + 5)
    return tally


def test_a_tenth_may_be_dropped_and_no_more() -> None:
    refuse_many_dropped("pairs", tally_of(100, EMPTY=6, RATIO=4), [Path("a")])
    with pytest.raises(CorpusError) as raised:
        refuse_many_dropped("pairs", tally_of(100, EMPTY=7, RATIO=4), [Path("a")])
    assert str(raised.value) == (
        "11 of 100 pairs of a would be dropped, more than a tenth (7 empty side, 4 "
        "extreme length ratio; see line 5): look whether both sides belong together, "
        "line by line, or give --allow-dropped to learn from the rest"
    )


def test_duplicates_are_not_lost() -> None:
    refuse_many_dropped("pairs", tally_of(100, DUPLICATE=90, NUL=9), [Path("a")])


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        ("EMPTY", "both sides belong together"),
        ("RATIO", "both sides belong together"),
        ("TOO_LONG", "raise data.max_tokens"),
        ("MALFORMED", "two columns in a .tsv file"),
        ("INVALID_UTF8", "convert the text to UTF-8"),
        ("NUL", "convert the text to UTF-8"),
    ],
)
def test_each_reason_has_its_advice(reason: str, advice: str) -> None:
    with pytest.raises(CorpusError, match=re.escape(advice)):
        refuse_many_dropped("pairs", tally_of(1, **{reason: 1}), [Path("a")])


@pytest.fixture
def latin1_target(corpus: Any, tmp_path: Path) -> Path:
    path = tmp_path / "latin.es"
    text = corpus.train_target.read_text("utf-8")
    path.write_bytes(text.encode("latin-1", "replace"))
    return path


def test_a_latin1_target_stops_before_the_first_update(
    corpus: Any, latin1_target: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "models" / "new" / "model"
    with pytest.raises(DragomanError) as raised:
        dragoman.train(
            folder,
            source=corpus.train_source,
            target=latin1_target,
            steps=1,
            settings=SMALL,
            quiet=True,
        )
    assert re.fullmatch(
        rf"\d+ of \d+ training pairs of {corpus.train_source} would be dropped, more "
        rf"than a tenth \(\d+ invalid UTF-8.*; see line \d+\): {latin1_target} is "
        r"probably WINDOWS-1252, convert it \(`iconv -f WINDOWS-1252 -t UTF-8`\), or "
        "give --allow-dropped to learn from the rest",
        str(raised.value),
    )
    assert not (tmp_path / "models").exists()


def test_a_latin1_validation_target_stops_too(
    corpus: Any, latin1_target: Path, tmp_path: Path
) -> None:
    with pytest.raises(DragomanError, match=r"validation pairs of .* probably WINDOWS"):
        dragoman.train(
            tmp_path / "model",
            source=corpus.train_source,
            target=corpus.train_target,
            valid_source=corpus.train_source,
            valid_target=latin1_target,
            steps=1,
            settings=SMALL,
            quiet=True,
        )
    assert not (tmp_path / "model").exists()


def test_latin1_running_text_stops_too(latin1_target: Path, tmp_path: Path) -> None:
    with pytest.raises(DragomanError, match=r"lines of .* is probably WINDOWS-1252"):
        dragoman.train(
            tmp_path / "model",
            task="lm",
            text=latin1_target,
            steps=1,
            settings=SMALL,
            quiet=True,
        )
    assert not (tmp_path / "model").exists()


def test_what_is_left_can_be_learned_from_and_gone_on_with(
    corpus: Any, latin1_target: Path, tmp_path: Path
) -> None:
    command = [
        *("train", tmp_path / "model", "--quiet", "--allow-dropped"),
        *("--source", corpus.train_source, "--target", latin1_target),
        *[f"--set={name}={value}" for name, value in SMALL.items()],
    ]
    assert main(list(map(str, [*command, "--steps", 1]))) == 0
    assert main(list(map(str, [*command, "--steps", 2]))) == 0
    assert (tmp_path / "model" / "model.safetensors").exists()
