from pathlib import Path

import pytest

from dragoman.cli.corpus_options import corpora_of
from dragoman.cli.main import build_parser
from dragoman.errors import ConfigError
from dragoman.text.corpus import Corpus


def parsed(text: str) -> list[Corpus]:
    return corpora_of(build_parser().parse_args(["train", "m", *text.split()]))


def corpus(
    source: str, target: str | None = None, weight: float | None = None
) -> Corpus:
    return Corpus(Path(source), None if target is None else Path(target), weight)


@pytest.mark.parametrize(
    ("text", "corpora"),
    [
        ("--source a --target b", [corpus("a", "b")]),
        ("--target b --source a", [corpus("a", "b")]),
        ("--source a.tsv", [corpus("a.tsv")]),
        (
            "--source a --target b --weight 3 --source c.tsv --weight 1",
            [corpus("a", "b", 3.0), corpus("c.tsv", None, 1.0)],
        ),
        (
            "--target b --source a --target d --source c",
            [corpus("a", "b"), corpus("c", "d")],
        ),
        (
            "--source a --source c --target d",
            [corpus("a"), corpus("c", "d")],
        ),
    ],
)
def test_each_source_has_what_stands_beside_it(
    text: str, corpora: list[Corpus]
) -> None:
    assert parsed(text) == corpora


def test_what_belongs_to_no_source_is_said_in_one_line() -> None:
    message = "--target c belongs to no corpus: give it beside the --source"
    with pytest.raises(ConfigError, match=message):
        parsed("--source a --target b --target c")


def test_without_a_source_there_is_no_training() -> None:
    with pytest.raises(ConfigError, match="--target b belongs to no corpus"):
        parsed("--target b")
    with pytest.raises(ConfigError, match="there is nothing to learn from: give"):
        parsed("")
