import math
from pathlib import Path

import pytest

from dragoman.errors import EvaluationError
from dragoman.evaluation.corpus_filter import filter_corpus

SCORES = [-1.0, -5.0, -0.5, -math.inf, -1.0]


@pytest.mark.parametrize(
    ("share", "kept"),
    [(0.0, ""), (0.2, "c"), (0.4, "ac"), (0.6, "ace"), (1.0, "abcde")],
)
def test_each_pair_is_kept_or_set_aside_in_its_order(
    tmp_path: Path, share: float, kept: str
) -> None:
    source, target = tmp_path / "web.en", tmp_path / "web.de"
    source.write_text("a\nb\nc\nd\ne\n")
    target.write_text("A\nB\nC\nD\nE\n")
    report = filter_corpus(source, target, SCORES, share, tmp_path / "out")
    texts = ["".join(path.read_text().split()) for path in report.files]
    aside = "".join(letter for letter in "abcde" if letter not in kept)
    assert texts == [kept, kept.upper(), aside, aside.upper()]
    assert (report.kept, report.aside) == (len(kept), 5 - len(kept))
    assert [path.relative_to(tmp_path).as_posix() for path in report.files] == [
        "out/kept/web.en",
        "out/kept/web.de",
        "out/aside/web.en",
        "out/aside/web.de",
    ]
    assert report.sentence().startswith(f"5 pairs: {len(kept)} kept in ")


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match=r"both files are called text: give one"):
        filter_corpus(
            tmp_path / "en" / "text", tmp_path / "de" / "text.gz", [], 0.5, tmp_path
        )
