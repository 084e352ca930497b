from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError

from dragoman.errors import TrainingError
from dragoman.training.averaging import average_checkpoints, checkpoint_weights
from dragoman.training.checkpoints import Checkpoint, Checkpoints, read_checkpoint


def checkpoint(step: int) -> Checkpoint:
    return Checkpoint(
        step=step,
        weights={"w": torch.full((2, 3), float(step))},
        optimizer={"m": torch.arange(3.0)},
        state={"epoch": 1, "best_loss": 2.5},
    )


def test_what_was_saved_is_read_again(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path / "c", keep=3)
    checkpoints.save(checkpoint(7))
    read = checkpoints.latest()
    assert read is not None
    assert read.step == 7
    assert read.state["best_loss"] == 2.5
    assert torch.equal(read.weights["w"], torch.full((2, 3), 7.0))
    assert (tmp_path / "c" / "LATEST").read_text() == "step-7\n"


def test_no_folder_means_no_checkpoint(tmp_path: Path) -> None:
    assert Checkpoints(tmp_path / "none", keep=1).latest() is None


def test_old_ones_are_pruned_but_the_best_is_kept(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=2)
    for step in (1, 2, 3, 4, 10):
        checkpoints.save(replace(checkpoint(step), best=step == 2))
    assert [path.name for path in checkpoints.saved()] == [
        "step-2",
        "step-4",
        "step-10",
    ]
    assert checkpoints.best() == tmp_path / "step-2"


@pytest.mark.parametrize(
    "name",
    ["model.safetensors", "optimizer.safetensors", "state.json", "manifest.json"],
)
@pytest.mark.parametrize("damage", ["truncate", "flip", "remove"])
def test_a_damaged_newest_one_is_passed_over(
    tmp_path: Path, name: str, damage: str
) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    checkpoints.save(checkpoint(1))
    newest = checkpoints.save(checkpoint(2))
    content = bytearray((newest / name).read_bytes())
    match damage:
        case "truncate":
            (newest / name).write_bytes(content[: len(content) // 2])
        case "flip":
            content[len(content) // 2] ^= 1
            (newest / name).write_bytes(content)
        case _:
            (newest / name).unlink()
    with pytest.raises(TrainingError, match="step-2"):
        read_checkpoint(newest)
    read = checkpoints.latest()
    assert read is not None
    assert read.step == 1


def test_a_damaged_one_is_written_anew_when_the_run_comes_there_again(
    tmp_path: Path,
) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    checkpoints.save(checkpoint(1))
    newest = checkpoints.save(checkpoint(2))
    (newest / "model.safetensors").write_bytes(b"")
    checkpoints.save(checkpoint(2))
    assert read_checkpoint(newest).step == 2


def test_the_end_of_a_run_counts_where_an_interruption_was_saved(
    tmp_path: Path,
) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    checkpoints.save(replace(checkpoint(2), averaged=False))
    assert checkpoints.window(3) == []
    ending = checkpoints.save(checkpoint(2))
    assert checkpoints.window(3) == [ending]
    checkpoints.save(replace(checkpoint(2), averaged=False))
    assert checkpoints.window(3) == [ending]


def test_a_folder_of_another_kind_is_no_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "step-by-step").mkdir()
    checkpoints = Checkpoints(tmp_path, keep=3)
    saved = checkpoints.save(checkpoint(1))
    assert checkpoints.saved() == [saved]
    assert (tmp_path / "step-by-step").exists()


def test_a_full_disk_is_said_in_one_line_and_harms_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise SafetensorError("I/O error: No space left on device (os error 28)")

    checkpoints = Checkpoints(tmp_path, keep=3)
    checkpoints.save(checkpoint(1))
    monkeypatch.setattr("dragoman.durable.replace_tensors", fail)
    with pytest.raises(TrainingError, match=r"step-2 .*No space left.* make room"):
        checkpoints.save(checkpoint(2))
    newest = checkpoints.latest()
    assert newest is not None
    assert newest.step == 1


def test_nothing_whole_is_said_in_one_line(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    path = checkpoints.save(checkpoint(1))
    (path / "state.json").write_text("{}")
    with pytest.raises(TrainingError, match=r"no checkpoint in .* is whole") as caught:
        checkpoints.latest()
    assert "\n" not in str(caught.value)


def test_what_an_interruption_saved_is_not_averaged(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=2)
    for step in (1, 2, 3, 4):
        saved = replace(checkpoint(step), averaged=step != 3)
        checkpoints.save(saved)
    assert [path.name for path in checkpoints.window(2)] == ["step-2", "step-4"]
    newest = checkpoints.latest()
    assert newest is not None
    assert newest.averaged


def test_an_unfinished_one_is_no_checkpoint_and_is_cleared_away(tmp_path: Path) -> None:
    (tmp_path / "step-9.tmp").mkdir()
    checkpoints = Checkpoints(tmp_path, keep=3)
    assert checkpoints.latest() is None
    checkpoints.save(checkpoint(1))
    assert [path.name for path in checkpoints.saved()] == ["step-1"]
    assert not (tmp_path / "step-9.tmp").exists()


def test_averaging_is_the_weighted_mean(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=5)
    for step in (1, 2, 6):
        checkpoints.save(checkpoint(step))
    uniform = average_checkpoints(checkpoints.window(5), "uniform")
    linear = average_checkpoints(checkpoints.window(2), "linear")
    assert torch.allclose(uniform["w"], torch.full((2, 3), 3.0))
    assert torch.allclose(linear["w"], torch.full((2, 3), (2 * 1 + 6 * 2) / 3))


def test_a_damaged_one_is_never_averaged(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=5)
    damaged, _ = (checkpoints.save(checkpoint(step)) for step in (1, 2))
    content = bytearray((damaged / "model.safetensors").read_bytes())
    content[-1] ^= 1
    (damaged / "model.safetensors").write_bytes(content)
    with pytest.raises(TrainingError, match=r"altered: delete .*step-1 and") as caught:
        average_checkpoints(checkpoints.window(5), "uniform")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("shape", ["uniform", "linear"])
def test_shares_add_up_to_one_and_newer_ones_weigh_no_less(shape: str) -> None:
    shares = checkpoint_weights(7, shape)
    assert sum(shares) == pytest.approx(1.0)
    assert shares == sorted(shares)


def test_what_is_passed_over_is_named(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    newest = [checkpoints.save(checkpoint(step)) for step in (1, 2, 3)]
    (newest[1] / "state.json").unlink()
    (newest[2] / "model.safetensors").write_bytes(b"")
    said: list[str] = []
    read = checkpoints.latest(said.append)
    assert read is not None
    assert read.step == 1
    assert len(said) == 2
    assert str(newest[2]) in said[0]
    assert str(newest[1]) in said[1]
    assert all(line.endswith(": going on from step-1 instead") for line in said)
    assert (tmp_path / "LATEST").read_text() == "step-1\n"


def test_nothing_is_pruned_before_the_new_one_was_read_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints = Checkpoints(tmp_path, keep=1)
    for step in (1, 2):
        checkpoints.save(checkpoint(step))

    def lose_a_bit(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)

    monkeypatch.setattr("dragoman.durable.forget_cached", lose_a_bit)
    with pytest.raises(TrainingError, match="does not give back what was written"):
        checkpoints.save(checkpoint(3))
    read = checkpoints.latest()
    assert read is not None
    assert read.step == 2
    assert [path.name for path in checkpoints.saved()] == ["step-1", "step-2", "step-3"]


def test_a_damaged_later_one_is_cleared_away_by_the_next(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=2)
    for step in (1, 2, 4):
        checkpoints.save(checkpoint(step))
    (tmp_path / "step-4" / "model.safetensors").unlink()
    checkpoints.save(replace(checkpoint(3), averaged=False))
    assert [path.name for path in checkpoints.saved()] == ["step-2", "step-3"]


def test_half_a_replacement_is_undone(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=2)
    checkpoints.save(replace(checkpoint(2), averaged=False))
    (tmp_path / "step-2").rename(tmp_path / "step-2.old")
    read = checkpoints.latest()
    assert read is not None
    assert read.step == 2
    checkpoints.save(checkpoint(2))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["LATEST", "step-2"]


def test_the_best_is_known_though_the_power_failed_before_it_was_named(
    tmp_path: Path,
) -> None:
    checkpoints = Checkpoints(tmp_path, keep=2)
    checkpoints.save(replace(checkpoint(1), best=True))
    best = checkpoints.save(replace(checkpoint(2), best=True))
    (tmp_path / "BEST").write_text("step-1\n")
    checkpoints.latest()
    assert checkpoints.best() == best


def test_each_one_tells_which_would_be_averaged(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=2)
    for step in (1, 2, 3, 4):
        checkpoints.save(replace(checkpoint(step), averaged=step != 3))
    windows = [
        read_checkpoint(path).state["averaging_window"] for path in checkpoints.saved()
    ]
    assert windows == [[1, 2], [1, 2], [2, 4]]


def test_a_full_disk_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints = Checkpoints(tmp_path, keep=2)
    checkpoints.save(checkpoint(1))
    before = sorted(tmp_path.rglob("*"))

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dragoman.durable.write_text", fail)
    with pytest.raises(TrainingError, match=r"it needs about 36 bytes, .* free"):
        checkpoints.save(checkpoint(2))
    assert sorted(tmp_path.rglob("*")) == before
