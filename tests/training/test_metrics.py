import json
import sys
from pathlib import Path
from typing import Any

import pytest

from dragoman.errors import MissingExtraError
from dragoman.training.metrics import MetricsLog


def write_steps(path: Path, first: int, last: int, resume_after: int = 0) -> None:
    log = MetricsLog(path, resume_after=resume_after, tensorboard=False)
    for step in range(first, last + 1):
        log.write("train", step, {"loss": 1 / step})
        if step % 2 == 0:
            log.write("valid", step, {"bleu": float(step)})
    log.close()


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def steps(path: Path) -> list[int]:
    return [entry["step"] for entry in read(path) if entry["kind"] == "train"]


@pytest.fixture
def diary(tmp_path: Path) -> Path:
    return tmp_path / "metrics.jsonl"


def test_every_entry_is_a_line_of_json_with_kind_and_step(diary: Path) -> None:
    write_steps(diary, 1, 2)
    assert read(diary) == [
        {"kind": "train", "step": 1, "loss": 1.0},
        {"kind": "train", "step": 2, "loss": 0.5},
        {"kind": "valid", "step": 2, "bleu": 2.0},
    ]


def test_an_entry_can_be_read_as_soon_as_it_is_written(diary: Path) -> None:
    log = MetricsLog(diary, resume_after=0, tensorboard=False)
    log.write("train", 1, {"loss": 3.0})
    assert steps(diary) == [1]
    log.close()


def test_what_was_written_after_the_checkpoint_is_dropped(diary: Path) -> None:
    write_steps(diary, 1, 7)
    write_steps(diary, 5, 9, resume_after=4)
    assert steps(diary) == list(range(1, 10))
    assert [e["step"] for e in read(diary) if e["kind"] == "valid"] == [2, 4, 6, 8]


def test_a_new_run_begins_a_new_diary(diary: Path) -> None:
    write_steps(diary, 1, 7)
    write_steps(diary, 1, 3)
    assert steps(diary) == [1, 2, 3]


def test_a_last_line_cut_off_anywhere_harms_no_other(diary: Path) -> None:
    write_steps(diary, 1, 3)
    content = diary.read_bytes()
    last = len(content.splitlines(keepends=True)[-1])
    for lost in range(1, last + 1):
        diary.write_bytes(content[:-lost])
        write_steps(diary, 4, 5, resume_after=3)
        kept = [1, 2, 3] if lost == 1 else [1, 2]  # 1: only the line's end is lost
        assert steps(diary) == [*kept, 4, 5]


@pytest.mark.parametrize(
    "rubbish", [b"\0" * 50, b"\xff\xfe", b"17\n", b'{"kind": "train"}\n', b"\n\n"]
)
def test_what_is_no_entry_is_dropped(diary: Path, rubbish: bytes) -> None:
    write_steps(diary, 1, 2)
    diary.write_bytes(diary.read_bytes() + rubbish)
    write_steps(diary, 3, 3, resume_after=2)
    assert steps(diary) == [1, 2, 3]


def test_tensorboard_gets_the_same_and_forgets_the_same(diary: Path) -> None:
    loader = pytest.importorskip(
        "tensorboard.backend.event_processing.event_file_loader"
    )
    for first, last in ((1, 4), (3, 5)):
        log = MetricsLog(diary, resume_after=first - 1, tensorboard=True)
        for step in range(first, last + 1):
            log.write("train", step, {"loss": 1 / step, "rate": 0.5})
        log.close()
    files = sorted((diary.parent / "tensorboard").glob("events.out.tfevents.*"))
    events = [e for file in files for e in loader.EventFileLoader(str(file)).Load()]
    named = [(v.tag, e.step) for e in events for v in e.summary.value]
    assert {tag for tag, _ in named} == {"train/loss", "train/rate"}
    assert {step for _, step in named} == {1, 2, 3, 4, 5}
    # A session that starts at a step hides what earlier ones wrote from there on.
    starts = [e.step for e in events if e.HasField("session_log")]
    assert starts == [1, 3]


def test_no_tensorboard_files_unless_asked(diary: Path) -> None:
    write_steps(diary, 1, 1)
    assert list(diary.parent.iterdir()) == [diary]


def test_missing_tensorboard_is_one_line_and_costs_no_diary(
    diary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_steps(diary, 1, 3)
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(MissingExtraError) as raised:
        MetricsLog(diary, resume_after=0, tensorboard=True)
    assert str(raised.value) == (
        "--tensorboard needs the package 'tensorboard', which is not installed: "
        "pip install 'dragoman[tensorboard]'"
    )
    assert steps(diary) == [1, 2, 3]
