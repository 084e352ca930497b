"""Dirty corpora: what goes in is kept or set aside with a reason; no pair shifts."""

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman.config import load_preset
from dragoman.errors import CorpusError
from dragoman.text.corpus import Corpus
from dragoman.training.preparation import prepare

CONFIG = load_preset("tiny").with_settings(
    {
        "tokenizer.vocabulary_size": 400,
        "data.placeholders": False,  # pairs are kept as they were read
        "data.join_share": 0.0,
    }
)
CLEAN = [
    (f"The {thing} number {k} is here.", f"El {cosa} número {k} está aquí.")
    for k in range(30)
    for thing, cosa in (("house", "casa"), ("tree", "árbol"), ("dog", "perro"))
]
# What makes a line dirty, as bytes; the reason it is set aside for, None: it is fine.
CASES = {
    "bad UTF-8": (b"caf\xe9 noir", "invalid"),
    "overlong UTF-8": (b"a \xc0\xaf b", "invalid"),
    "a NUL": (b"good \0 day", "NUL"),
    "a lone carriage return": (b"good\rday", None),
    "U+2028, the line separator": ("good\u2028day".encode(), None),
    "U+0085, the next line": ("good\u0085day".encode(), None),
    "an empty line": (b"", "empty"),
    "a line of blanks": (b" \t\xc2\xa0 ", "empty"),
    "a line of 1 MB": (b"long " * 200_000, "long"),
    "a line of 3 MB": (b"long " * 600_000, "long"),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("side", [0, 1])
def test_in_is_kept_and_rejected(case: str, side: int, tmp_path: Path) -> None:
    dirt, reason = CASES[case]
    place = len(CLEAN) // 2
    rows = [(one.encode(), other.encode()) for one, other in CLEAN]
    dirty = (dirt, rows[place][1]) if side == 0 else (rows[place][0], dirt)
    rows.insert(place, dirty)
    files = [tmp_path / "a.en", tmp_path / "a.es"]
    for k, file in enumerate(files):
        file.write_bytes(b"".join(row[k] + b"\n" for row in rows))
    prepared = prepare(tmp_path / "p", [Corpus(files[0], files[1])], None, CONFIG)
    report = prepared.report
    assert report.read == len(rows)
    assert report.read == report.kept + sum(report.rejected.values())
    if reason is None:
        assert report.rejected == {}
    else:
        listed = prepared.rejected.read_text("utf-8").split("\n")[1:-1]
        assert len(listed) == 1
        name, line, why, *_ = listed[0].split("\t")
        assert (name, int(line)) == (str(files[0]), place + 1)
        assert reason.lower() in why.lower()
    last = len(prepared.store) - 1
    for k in (0, last):  # before and after the dirty line, both sides are a pair
        source = prepared.tokenizers.source.decode(prepared.store.source(k).tolist())
        target = prepared.tokenizers.target.decode(prepared.store.target(k).tolist())
        assert (source, target) in CLEAN


@pytest.mark.parametrize("more", [0, 1])
def test_unequal_counts_are_refused_with_both_of_them(
    more: int, tmp_path: Path
) -> None:
    files = [tmp_path / "a.en", tmp_path / "a.es"]
    for k, file in enumerate(files):
        lines = [row[k] for row in CLEAN] + (["one more"] if k == more else [])
        file.write_text("\n".join(lines) + "\n", "utf-8")
    counts = [len(CLEAN) + (k == more) for k in range(2)]
    said = f"a.en has {counts[0]} lines but .*a.es has {counts[1]}"
    with pytest.raises(CorpusError, match=said):
        prepare(tmp_path / "p", [Corpus(files[0], files[1])], None, CONFIG)
    assert not (tmp_path / "p").exists()


@pytest.mark.faults
def test_all_of_them_at_once(nursery: Any, tmp_path: Path, report: Any) -> None:
    rows = [(one.encode(), other.encode()) for one, other in CLEAN]
    for number, (dirt, _) in enumerate(CASES.values()):
        rows.insert(7 * number, (dirt, rows[7 * number][1]))
        rows.insert(7 * number + 3, (rows[7 * number + 3][0], dirt))
    files = [tmp_path / "a.en", tmp_path / "a.es"]
    for k, file in enumerate(files):
        file.write_bytes(b"".join(row[k] + b"\n" for row in rows))
    arguments = ["train", tmp_path / "m", "--source", files[0], "--target", files[1]]
    arguments += ["--preset", "tiny", "--steps", "2"]
    arguments += ["--set=tokenizer.vocabulary_size=400", "--set=model.d_model=16"]
    plain = list(map(str, arguments))
    ended = nursery.train(tmp_path / "m", arguments=plain)
    assert ended.code == 0, nursery.said(tmp_path / "m")
    manifest = json.loads((tmp_path / "m" / "prepared" / "prepared.json").read_text())
    told = manifest["report"]
    rejected = sum(told["rejected"].values())
    assert told["read"] == len(rows) == told["kept"] + rejected
    report(
        "dirty corpus: " + ", ".join(CASES),
        2 * len(CASES),
        "in = kept + set aside, each with file, line and reason; no pair shifts",
        f"{len(rows)} lines in, {told['kept']} kept, {rejected} set aside",
    )
