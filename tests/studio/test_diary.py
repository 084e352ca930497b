import json
from pathlib import Path

from dragoman.studio.diary import read_diary


def write(path: Path, entries: list[dict[str, object]], tail: str = "") -> Path:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries) + tail)
    return path


def test_a_diary_is_read_as_columns(tmp_path: Path) -> None:
    path = write(
        tmp_path / "metrics.jsonl",
        [
            {"kind": "train", "step": 1, "loss": 2.5},
            {"kind": "train", "step": 2, "loss": float("inf"), "rate": 0.1},
            {"kind": "valid", "step": 2, "loss": 2.0},
        ],
        tail='{"kind": "train", "st',
    )
    diary = read_diary(path)
    assert diary is not None
    assert diary.train == {"step": [1, 2], "loss": [2.5, None], "rate": [None, 0.1]}
    assert diary.valid == {"step": [2], "loss": [2.0]}
    assert diary.entries == 2


def test_a_long_diary_keeps_its_first_and_last(tmp_path: Path) -> None:
    entries: list[dict[str, object]] = [
        {"kind": "train", "step": step} for step in range(1, 1001)
    ]
    diary = read_diary(write(tmp_path / "m.jsonl", entries), most_points=64)
    assert diary is not None
    steps = diary.train["step"]
    assert (steps[0], steps[-1], diary.entries) == (1, 1000, 1000)
    assert len(steps) <= 65


def test_no_diary_is_none(tmp_path: Path) -> None:
    assert read_diary(tmp_path / "metrics.jsonl") is None
