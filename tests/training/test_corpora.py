from pathlib import Path
from typing import Any

import pytest

from dragoman.errors import ConfigError
from dragoman.text.corpus import Corpus
from dragoman.training.corpora import list_corpora


def test_one_corpus_is_two_files_or_one() -> None:
    assert list_corpora("a.en", "a.de", None) == (Corpus(Path("a.en"), Path("a.de")),)
    assert list_corpora(Path("a.tsv"), None, None) == (Corpus(Path("a.tsv")),)


def test_several_corpora_are_lists() -> None:
    assert list_corpora(["a.en", "b.tsv"], ["a.de", None], [3, 1]) == (
        Corpus(Path("a.en"), Path("a.de"), 3),
        Corpus(Path("b.tsv"), None, 1),
    )
    assert len(list_corpora(["a.tsv", "b.tsv"], None, None)) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a", "b"], ["c"], None), "2 source files, 1 target files and 2 weights do"),
        ((["a", "b"], None, [1.0]), "2 target files and 1 weights do not make"),
        ((["a", "b"], None, [1.0, None]), "1 of 2 corpora have a weight: give each"),
        ((["a"], None, [0.0]), "cannot have the weight 0: give a number above 0"),
        ((["a"], None, [float("nan")]), "cannot have the weight nan"),
    ],
)
def test_what_does_not_go_together_is_one_line(arguments: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as raised:
        list_corpora(*arguments)
    assert "\n" not in str(raised.value)
